"""`mozaic watch`: a page on a training run that is running or has ended."""

import argparse
from argparse import Namespace

from mozaic_env.cli.options import add_server_options
from mozaic_env.core.extras import need


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    parser.epilog = "example: mozaic watch runs/quick"
    parser.add_argument("run_folder", metavar="RUN", help="the folder of a run, running or ended")
    parser.add_argument("--once", metavar="FILE", help="write the page as it is now into one HTML file instead")
    add_server_options(parser)


def run(arguments: Namespace) -> int:
    """Serves the page, or writes it into a file."""
    from mozaic_env.core.storage.files import atomic_write
    from mozaic_env.core.storage.outputs import check_output_file
    from mozaic_env.web.watch.run_data import RunFolder
    from mozaic_env.web.watch.watcher import Watcher, snapshot

    if arguments.once is None:
        need("the page", "starlette", "uvicorn")
    folder = RunFolder(arguments.run_folder)
    watcher = Watcher(folder)
    if arguments.once is not None:
        check_output_file(arguments.once)
        with atomic_write(arguments.once) as file:
            file.write(snapshot(watcher))
        print(f"wrote {arguments.once}")
        return 0
    from mozaic_env.web.server.app import application  # needs starlette, and a snapshot does not
    from mozaic_env.web.server.serve import serve
    from mozaic_env.web.watch.routes import WATCH, watch_routes

    app = application([WATCH], watch_routes(watcher), host=arguments.host, names=arguments.allow_host)
    serve(app, arguments.host, arguments.port, browser=arguments.browser, what=f"watch {folder.name}")
    return 0
