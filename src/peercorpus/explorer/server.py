"""Serve the explorer over HTTP: routes, checks of each request, and the listening socket.

The server only answers requests that read, under its own name. It shows the tables as they were when it was started.
"""

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from peercorpus.corpus.takedown import LIST, read_takedown
from peercorpus.errors import PeercorpusError, TryLaterError
from peercorpus.execution.executor import Executor
from peercorpus.execution.progress import Show
from peercorpus.explorer.pages import Explorer
from peercorpus.explorer.search_index import digest_state, name_index, open_index
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.workspace import Workspace

HEAD_TIMEOUT_S = 10.0
"""Seconds in which the head of a request must arrive, after the connection or the last answer."""
MAX_CONNECTIONS = 200
"""Open connections; a browser opens six to one server."""
_order = count()


class BoundedConnection(H11Protocol):
    """A connection that is closed if the head of a request does not arrive in time.

    If `MAX_CONNECTIONS` are open, a new one closes the oldest of those that wait for a request; if none waits, it
    is closed itself.
    """

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 -- what uvicorn passes on
        super().__init__(*args, **options)
        self._number = next(_order)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()
        if len(self.connections) > MAX_CONNECTIONS:
            waiting = [one for one in self.connections if isinstance(one, BoundedConnection) and one.is_waiting]
            min(waiting, key=lambda one: one._number, default=self).transport.abort()

    @property
    def is_waiting(self) -> bool:
        """Whether no request is being answered, and the connection is not closed."""
        return self._deadline is not None and not self.transport.is_closing()

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(HEAD_TIMEOUT_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def handle_events(self) -> None:
        """Take what has arrived; a whole head ends the wait until its request is answered."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        self._wait_for_head()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)


POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}
METHODS = ("GET", "HEAD")
_COMPRESSED_BYTES = 1_000
"""Shorter answers are not compressed."""
_COMPRESSION_LEVEL = 5
"""Level of gzip: pages of papers shrink to a seventh in a third of a millisecond; level 9 gains little."""
_AT_ONCE = 2
"""Pages made at the same time. Python makes one at a time whatever their number, but another can be made while tantivy
searches; with a thread for each request all of them would wait for the last."""
_CHANGED = "The take-down list has changed since the explorer was started; stop the explorer and start it again."


def is_loopback(host: str) -> bool:
    """Return whether an address or name can only be reached from this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _read_name(host_header: str) -> str:
    """Return the name in a `Host` header in lower case, without the port.

    >>> _read_name("[::1]:80"), _read_name("Localhost:8642")
    ('::1', 'localhost')
    """
    if host_header.startswith("["):
        return host_header[1:].partition("]")[0]
    return host_header.rpartition(":")[0].lower() if ":" in host_header else host_header.lower()


def is_allowed_host(host_header: str, bound_to: str) -> bool:
    """Return whether a request may use this `Host`: an IP address or the name the server is bound to.

    Any other name could belong to a web page that points it here to read the answers (DNS rebinding).

    >>> [is_allowed_host(name, "127.0.0.1") for name in (
    ...     "127.0.0.1:8642", "localhost", "evil.example:8642", "10.0.0.7", "")]
    [True, True, False, False, False]
    >>> is_allowed_host("10.0.0.7:8642", "0.0.0.0"), is_allowed_host("evil.example", "0.0.0.0")
    (True, False)
    """
    name = _read_name(host_header)
    if is_loopback(name) or name == bound_to.lower():
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return not is_loopback(bound_to)


class Guard:
    """Middleware that rejects other methods and other host names, and adds the security headers to every answer."""

    def __init__(self, app: ASGIApp, bound_to: str, is_current: Callable[[], bool]) -> None:
        self._app = app
        self._bound_to = bound_to
        self._is_current = is_current

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                names = {name.lower() for name, _ in headers}
                message["headers"] = headers + [
                    (name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in names
                ]
            await send(message)

        # Threads are taken in the order of the requests, for each part of an export anew.
        current_default_thread_limiter().total_tokens = _AT_ONCE
        refusal = self._refuse(scope)
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refuse(self, scope: Scope) -> PlainTextResponse | None:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not is_allowed_host(hosts[0], self._bound_to):
            return PlainTextResponse("The explorer does not answer to this name.\n", 421)
        if scope["method"] not in METHODS:
            return PlainTextResponse(
                "The explorer is read only; use GET or HEAD.\n", 405, {"allow": ", ".join(METHODS)}
            )
        return None if self._is_current() else PlainTextResponse(f"{_CHANGED}\n", 503)


def open_explorer(workspace: Workspace, show: Show, spread: Executor | None = None) -> Explorer:
    """Open the pages over the tables of a workspace, and build the index if necessary, as `open_index` does.

    Raises:
        TableError: The tables have not been built.
        TryLaterError: The tables changed while the index was made.
        PeercorpusError: A line of `takedown.txt` is not an id.
    """
    takedown = read_takedown(workspace)
    opened = open_index(workspace, takedown, show, spread)
    # Opening a table takes longer than reading the rows of a paper. As a rule, a later build leaves replaced files.
    tables = workspace.tables
    steady = Tables(tables.folder, tables.scratch, tables.logs, is_steady=True)
    steady.venues("set-aside")
    if name_index(digest_state(steady, workspace.folder)) != opened.folder.name:
        raise TryLaterError("The tables changed while the explorer was started; run the same command again.")
    return Explorer(workspace.folder, steady, takedown, opened)


def _read_list(folder: Path) -> bytes:
    try:
        return (folder / LIST).read_bytes()
    except FileNotFoundError:
        return b""


def make_app(explorer: Explorer, host: str) -> Guard:
    """Return the explorer as an ASGI application that is bound to this name or address."""
    routes = {
        "/": explorer.home,
        "/papers": explorer.search,
        "/export.{kind}": explorer.export,
        "/paper/{forum_id:path}": explorer.paper,
        "/text/{forum_id:path}": explorer.text,
        "/changes/{forum_id:path}": explorer.changes,
        "/record/{forum_id:path}": explorer.record,
        "/points": explorer.points,
        "/venues": explorer.venues,
        "/venue/{venue_id:path}": explorer.venue,
        "/about": explorer.about,
        "/static/{name}": explorer.asset,
        "/favicon.ico": explorer.no_icon,
    }
    app = Starlette(
        routes=[Route(path, answer, methods=[*METHODS]) for path, answer in routes.items()],
        exception_handlers=dict.fromkeys((HTTPException, PeercorpusError, OSError, Exception), explorer.refused),
    )
    listed = _read_list(explorer.folder)
    compressed = GZipMiddleware(app, minimum_size=_COMPRESSED_BYTES, compresslevel=_COMPRESSION_LEVEL)
    return Guard(compressed, host, lambda: _read_list(explorer.folder) == listed)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With no protocol named, asyncio leaves Nagle's algorithm on: the body of each answer would wait 40 ms for the
    # acknowledgement of its head.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise PeercorpusError(
                f"Port {port} is in use; name another with --port, or use any free one with --port 0."
            ) from None
        raise PeercorpusError(
            f"Cannot listen on '{host}' port {port}: {error.strerror or error}. Name another with --host and --port."
        ) from None
    return listening


def serve_explorer(explorer: Explorer, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve the explorer until the process is stopped; port 0 takes any free one.

    `ready` is called with the address of the first page before the first request is answered.

    Raises:
        PeercorpusError: The address or the port cannot be listened on.
    """
    with _bind(host, port) as listening:
        listening.listen(128)
        name = f"[{host}]" if ":" in host else host
        ready(f"http://{name}:{listening.getsockname()[1]}/")
        options = uvicorn.Config(
            make_app(explorer, host),
            log_level="error",
            log_config=None,  # Otherwise uvicorn closes every handler of this process, even those of others.
            access_log=False,
            server_header=False,
            http=BoundedConnection,
            timeout_graceful_shutdown=2,
            lifespan="off",
        )
        uvicorn.Server(options).run(sockets=[listening])
