"""What the page on a training run talks to."""

from mozaic_env.core.extras import importing
from mozaic_env.web.server.app import Page
from mozaic_env.web.watch.watcher import Watcher

with importing("the page"):
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import BaseRoute, Route


WATCH = Page("/", "Training", "watch.html")
_HEADERS = {"Cache-Control": "no-store"}


def watch_routes(watcher: Watcher) -> list[BaseRoute]:
    """GET /run: the page's parts; GET /game: the game to look at; POST /game: another one. All answer JSON."""

    async def state(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(watcher.state), headers=_HEADERS)

    async def game(request: Request) -> Response:
        ask = watcher.another if request.method == "POST" else watcher.game
        return JSONResponse(await run_in_threadpool(ask), headers=_HEADERS)

    return [Route("/run", state), Route("/game", game, methods=["GET", "POST"])]
