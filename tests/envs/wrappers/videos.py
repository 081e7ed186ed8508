"""Videos kept as frames: moviepy, which encodes them, wants an older pillow than the project has, so it is missing."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest


class Clip:
    """In the place of moviepy's ImageSequenceClip."""

    made: list[Clip] = []

    def __init__(self, frames: list[np.ndarray], fps: float) -> None:
        self.frames, self.fps = frames, fps
        self.made.append(self)

    def write_videofile(self, path: str, **options: Any) -> None:
        Path(path).write_bytes(b"".join(frame.tobytes() for frame in self.frames))


def kept(monkeypatch: pytest.MonkeyPatch) -> list[Clip]:
    """The clips that Gymnasium will make from now on."""
    sequence = types.ModuleType("moviepy.video.io.ImageSequenceClip")
    sequence.ImageSequenceClip = Clip  # type: ignore[attr-defined]
    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, sequence.__name__, sequence)
    monkeypatch.setattr(Clip, "made", [])
    return Clip.made
