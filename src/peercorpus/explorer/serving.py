"""The server: routes, the guard before them, and the port on which it listens."""

import errno
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from peercorpus.errors import PeercorpusError
from peercorpus.explorer.guard import METHODS, Guard
from peercorpus.explorer.pages import Explorer
from peercorpus.explorer.search_index import open_index
from peercorpus.explorer.steady_tables import SteadyTables
from peercorpus.progress import Show
from peercorpus.publish.takedown import read_takedown
from peercorpus.publish.takedown_list import LIST
from peercorpus.workspace import Workspace


def open_explorer(workspace: Workspace, show: Show) -> Explorer:
    """The pages over a workspace's tables, with an index of what they hold now.

    Raises:
        TableError: The tables are not built.
        PeercorpusError: A line of `takedown.txt` can be no id.
    """
    takedown = read_takedown(workspace)
    opened = open_index(workspace, takedown, show)
    return Explorer(workspace.folder, SteadyTables(workspace.tables), takedown, opened)


def _listed(folder: Path) -> bytes:
    try:
        return (folder / LIST).read_bytes()
    except FileNotFoundError:
        return b""


def make_app(explorer: Explorer, host: str) -> Guard:
    """The web page as an ASGI application.

    Args:
        explorer: The pages.
        host: What the server is bound to.
    """
    routes = {
        "/": explorer.search,
        "/export.{kind}": explorer.export,
        "/paper/{forum_id:path}": explorer.paper,
        "/text/{forum_id:path}": explorer.text,
        "/changes/{forum_id:path}": explorer.changes,
        "/record/{forum_id:path}": explorer.record,
        "/venues": explorer.venues,
        "/venue/{venue_id:path}": explorer.venue,
        "/about": explorer.about,
        "/static/{name}": explorer.asset,
        "/favicon.ico": lambda _: Response(status_code=204),
    }
    app = Starlette(
        routes=[Route(path, answer, methods=[*METHODS]) for path, answer in routes.items()],
        exception_handlers={HTTPException: explorer.refused, Exception: explorer.refused},
    )
    listed = _listed(explorer.folder)
    return Guard(app, host, lambda: _listed(explorer.folder) == listed)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise PeercorpusError(f"Port {port} is in use; name another with --port, or any with --port 0.") from None
        raise PeercorpusError(f"'{host}' port {port} cannot be listened on: {error.strerror or error}.") from None
    return listening


def serve(explorer: Explorer, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Answer requests until the process is stopped.

    Args:
        explorer: The pages.
        host: The address to listen on.
        port: 0 for any that is free.
        ready: Told the address of the first page before the first request is answered.

    Raises:
        PeercorpusError: Nothing can listen there.
    """
    with _bound(host, port) as listening:
        listening.listen(128)
        name = f"[{host}]" if ":" in host else host
        ready(f"http://{name}:{listening.getsockname()[1]}/")
        options = uvicorn.Config(
            make_app(explorer, host),
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            lifespan="off",
        )
        uvicorn.Server(options).run(sockets=[listening])
