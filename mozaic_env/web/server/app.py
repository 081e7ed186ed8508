"""The web application: pages from `static/`, and messages about games. Further pages join by `Page` and routes."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

from mozaic_env.core.extras import importing
from mozaic_env.web.play.game_server import GameServer
from mozaic_env.web.server.guard import Guard
from mozaic_env.web.server.messages import Refused

with importing("the page"):
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import FileResponse, JSONResponse, Response
    from starlette.routing import BaseRoute, Mount, Route
    from starlette.staticfiles import StaticFiles


STATIC = Path(str(files("mozaic_env.web") / "static"))
LARGEST_MESSAGE = 128 * 1024  # bytes
MESSAGE_S = 10  # in which a message has to come
TOKEN_HEADER = "x-session"  # not a cookie, so that no other page's requests can carry it

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Page:
    """A page of the server.

    Attributes:
        path: where it is, such as "/".
        title: in the list of pages, which every page shows if there is more than one.
        file: in `static/`.
    """

    path: str
    title: str
    file: str


PLAY = Page("/", "Play", "play.html")


def application(pages: Sequence[Page], routes: Sequence[BaseRoute], *, host: str, names: Sequence[str] = ()) -> Guard:
    """The ASGI application of a server.

    Args:
        pages: to show, the main one first.
        routes: what they talk to.
        host: the address that the server listens at.
        names: more host names by which it may be asked for.
    """

    async def list_pages(request: Request) -> Response:
        return JSONResponse([{"path": page.path, "title": page.title} for page in pages])

    found = [
        *(Route(page.path, _file_endpoint(page.file)) for page in pages),
        Route("/pages", list_pages),
        *routes,
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    app = Starlette(routes=found, exception_handlers={HTTPException: _plain_error, Exception: _internal_error})
    return Guard(app, host, names)


def _file_endpoint(name: str) -> Any:
    async def page(request: Request) -> Response:
        return FileResponse(STATIC / name)

    return page


def play_routes(games: GameServer) -> list[BaseRoute]:
    """What the page to play talks to: POST /message, JSON in and out; see `mozaic_env.web.play.game_server`."""

    async def message(request: Request) -> Response:
        try:
            content = _parse(await _body(request))
            return _json(await games.answer(request.headers.get(TOKEN_HEADER), content))
        except Refused as refused:
            state = {} if refused.state is None else {"state": refused.state}
            return _json({"error": str(refused)} | state, refused.status)
        except asyncio.CancelledError:  # Ctrl-C while an agent thinks; uvicorn would print a traceback
            return _json({"error": "the server is ending"}, 503)
        except Exception:
            logger.exception("a message could not be answered")
            return _json({"error": "something went wrong on the server, which has noted it"}, 500)

    return [Route("/message", message, methods=["POST"])]


async def _body(request: Request) -> bytes:
    """The body of a message; Refused if it is too long, too slow or not JSON by its header."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        # A form of another page cannot have this type, and its scripts have to ask first.
        raise Refused(415, "a message is sent as application/json")
    try:
        return await asyncio.wait_for(_collect(request), MESSAGE_S)
    except asyncio.TimeoutError:
        raise Refused(408, f"a message has to come within {MESSAGE_S} seconds") from None
    except ClientDisconnect:
        raise Refused(400, "the message broke off") from None


async def _collect(request: Request) -> bytes:
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > LARGEST_MESSAGE:
            raise Refused(413, f"a message has at most {LARGEST_MESSAGE} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Refused(400, "a message is JSON") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)  # NaN and Infinity are no JSON


def _json(content: Any, status: int = 200) -> Response:
    # Escaped, so that half a surrogate pair in what came does no harm in what goes.
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return Response(text, status, {"Cache-Control": "no-store"}, "application/json")


async def _plain_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "something went wrong"
    return _json({"error": detail}, status)


async def _internal_error(request: Request, error: Exception) -> Response:
    return _json({"error": "something went wrong on the server, which has noted it"}, 500)
