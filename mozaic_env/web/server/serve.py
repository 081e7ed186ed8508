"""Runs an application for a browser: finds a port, says where, opens the page."""

import contextlib
import errno
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from typing import Any

from mozaic_env.core.extras import importing

USUAL_PORT = 8000
CONNECTIONS = 2000  # at once; more are told to come back later
IDLE_S = 30  # after which an idle connection is closed


def serve(app: Any, host: str, port: int | None, *, browser: bool, what: str) -> None:
    """Serves until it is interrupted.

    Args:
        app: the ASGI application.
        host: address or name to listen at.
        port: 0 for any; None for the usual one, or any if that is taken.
        browser: whether to open a page.
        what: there is to do there, such as "play".

    Raises:
        ValueError: the address or the port cannot be had.
    """
    with importing("the page"):
        import uvicorn

    with listening(host, port) as sock:
        url = address(host, sock.getsockname()[1])
        print(f"{what} at {url}  (Ctrl-C ends it)", flush=True)
        if browser and has_display():
            # Some browsers' starters come back only when the browser is closed.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            limit_concurrency=CONNECTIONS,
            timeout_keep_alive=IDLE_S,
            timeout_graceful_shutdown=3,
        )
        uvicorn.Server(config).run(sockets=[sock])


@contextlib.contextmanager
def listening(host: str, port: int | None) -> Iterator[socket.socket]:
    """A socket that listens; ValueError if it cannot."""
    wanted = USUAL_PORT if port is None else port
    if not 0 <= wanted <= 65535:
        raise ValueError(f"port {port}; accepted: 0 (any) to 65535")
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, wanted, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
            0
        ]
    except OSError as error:
        raise ValueError(f"cannot listen at {host!r}: {error.strerror}") from None
    with socket.socket(family, kind) as sock:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            _bind(sock, place, any_port=port is None)
            sock.listen(2048)
        except OSError as error:
            taken = "; choose another with --port" if error.errno == errno.EADDRINUSE else ""
            raise ValueError(f"cannot listen at {host} port {wanted}: {error.strerror}{taken}") from None
        yield sock


def _bind(sock: socket.socket, place: tuple[Any, ...], any_port: bool) -> None:
    try:
        sock.bind(place)
    except OSError as error:
        if not any_port or error.errno != errno.EADDRINUSE:
            raise
        sock.bind((place[0], 0, *place[2:]))


def address(host: str, port: int) -> str:
    """The address to type into a browser on this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def has_display() -> bool:
    """Whether a browser would have a window to open; without one some take over the terminal."""
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
