"""The window of ``render_mode="human"``, by pygame, which is imported when the first picture is shown."""

import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import DependencyNotInstalled

from mozaic_env.core.extras import MissingExtra, is_installed, need


class NoWindow(DependencyNotInstalled, ValueError):
    """No window can be opened: pygame is missing, or there is no display."""


def require_pygame() -> None:
    """NoWindow if pygame is not installed; does not import it."""
    try:
        need("render_mode='human'", "pygame")
    except MissingExtra as error:
        raise NoWindow(str(error)) from None


def is_likely() -> bool:
    """Whether a window could probably be opened on this machine; tries nothing."""
    displays = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    return is_installed("pygame") and (
        not sys.platform.startswith("linux") or any(os.environ.get(name) for name in displays)
    )


class Window:
    """Shows frames at a steady pace. When the user has closed it, it stays closed."""

    def __init__(self, title: str, fps: float) -> None:
        """Opens nothing yet.

        Args:
            title: of the window.
            fps: frames per second; `show` waits as long as that takes.
        """
        self._title, self._fps = title, fps
        self._pygame: Any = None
        self._screen: Any = None
        self._clock: Any = None
        self._closed_by_user = False

    def show(self, frame: npt.NDArray[np.uint8]) -> None:
        """Shows a frame, uint8, shape (height, width, 3).

        Raises:
            NoWindow: pygame is missing, or there is no display.
        """
        if self._closed_by_user:
            return
        if self._pygame is None or self._pygame.display.get_surface() is not self._screen:
            self._open(frame.shape[1], frame.shape[0])  # also when another environment has taken or closed it
        pygame = self._pygame
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            self._closed_by_user = True
            return
        pygame.surfarray.blit_array(self._screen, frame.swapaxes(0, 1))
        pygame.display.flip()
        self._clock.tick(self._fps)

    def _open(self, width: int, height: int) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # else importing it prints a greeting
        require_pygame()
        import pygame

        try:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._screen = pygame.display.set_mode((width, height))
        except pygame.error as error:
            raise NoWindow(
                f"render_mode='human' can't open a window ({error}); render_mode='rgb_array' needs no display"
            ) from None
        self._clock = pygame.time.Clock()
        self._pygame = pygame

    def close(self) -> None:
        """Closes the window if it is open."""
        if self._pygame is not None:
            self._pygame.display.quit()
        self._pygame = self._screen = self._clock = None
