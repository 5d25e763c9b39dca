"""Run the simulated service: two loopback ports, a log of requests and a request budget."""

import gc
import gzip
import logging
import math
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from urllib.parse import parse_qs, urlsplit

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.server.damage import Event, Fault
from peercorpus.simulator.server.faults import Faults
from peercorpus.simulator.server.index import Shelves
from peercorpus.simulator.server.requests import Accounts, Call, Request, gives_file
from peercorpus.simulator.server.responses import (
    JSON,
    ApiError,
    Response,
    browser_check,
    challenge_required,
    invalid,
    too_many_requests,
)
from peercorpus.simulator.server.routes import is_open_to_guests, route_of
from peercorpus.simulator.world.holdings import Json, World

LOGIN_WINDOW_S = 60


@dataclass(slots=True)
class ServiceBudget:
    """Limits the requests to each route within a window; a request counts once, however many files it returns.

    The live service stated `500;w=3600` for an account's notes (read 2026-09-27), refused the 37th PDF in an hour
    (2026-08-31) and the fourth login in a minute; whether it counts a zip once is not known. The defaults, except for
    logins, are so large that only tests with their own limits reach them.

    Attributes:
        limit: Maximum requests per window to each first part of a path (`/notes` and `/notes/edits` together).
        window_s: Length of a window in seconds; it begins with the first request in it.
        file_limit: Maximum requests per window to each route that serves files; None means `limit`.
    """

    limit: int = 100_000
    window_s: int = 3600
    file_limit: int | None = None
    login_limit: int = 3
    now: Callable[[], float] = time.time
    _windows: dict[tuple[str, str], tuple[float, int]] = field(init=False, default_factory=dict)
    _lock: Lock = field(init=False, default_factory=Lock)

    def spend(self, api: str, path: str) -> tuple[dict[str, str], ApiError | None]:
        """Count one request.

        Returns:
            The headers that state the budget, and the refusal if the budget is used up.
        """
        route, limit, window_s = self._policy(path)
        now = self.now()
        with self._lock:
            end, used = self._windows.get((api, route), (0.0, 0))
            if end <= now:
                end = now + window_s
                used = 0
            used += 1
            self._windows[api, route] = (end, used)
        headers = _headers(limit, window_s, used, end, now)
        if used <= limit:
            return headers, None
        wait_s = math.ceil(end - now)
        return headers | {"Retry-After": str(wait_s)}, too_many_requests(limit, used, wait_s)

    def _policy(self, path: str) -> tuple[str, int, int]:
        """Return the route that a path counts towards, its limit and its window in seconds."""
        if path == "/login":
            return path, self.login_limit, LOGIN_WINDOW_S
        if gives_file(path):
            route = "/pdf" if path.startswith("/pdf/") else path
            return route, self.limit if self.file_limit is None else self.file_limit, self.window_s
        return path.split("/")[1], self.limit, self.window_s


def _headers(limit: int, window_s: int, used: int, end: float, now: float) -> dict[str, str]:
    remaining = str(max(0, limit - used))
    return {
        "ratelimit-policy": f"{limit};w={window_s}",
        "ratelimit-limit": str(limit),
        "ratelimit-remaining": remaining,
        "ratelimit-reset": str(math.ceil(end - now)),
        "x-ratelimit-limit": str(limit),
        "x-ratelimit-remaining": remaining,
        "x-ratelimit-reset": str(math.ceil(end)),
    }


SIGNS_IN = frozenset({"/login", "/mfa/challenge", "/mfa/verify"})


@dataclass(slots=True, repr=False)
class Dispatcher:
    """The service behind both ports.

    Attributes:
        world: The original world; faults change a copy.
    """

    world: World
    accounts: Accounts
    budget: ServiceBudget
    faults: Faults | None = None
    sign_in_required: bool = False
    requests: list[Request] = field(init=False, default_factory=list)
    _shelves: dict[str, Shelves] = field(init=False)
    _events: list[Event] = field(init=False, default_factory=list)
    _lock: Lock = field(init=False, default_factory=Lock)

    def __post_init__(self) -> None:
        self.reindex()

    def reindex(self) -> None:
        """Index the current world, including changes by faults."""
        world = self.world.copy() if self._events else self.world
        for event in self._events:
            event(world)
        self._shelves = {"v1": Shelves("v1", world.v1), "v2": Shelves("v2", world.v2)}

    def receive(self, request: Request) -> tuple[Request, Fault]:
        """Number and log a request.

        Returns:
            The request with its number, and its fault, which may be empty.
        """
        with self._lock:
            request = replace(request, number=len(self.requests) + 1)
            self.requests.append(request)
        return request, (self.faults(request) if self.faults is not None else None) or Fault()

    def answer(self, request: Request, fault: Fault, authorization: str | None, body: bytes) -> Response:
        """Return the response to a request, before a fault changes it."""
        if fault.answer is not None:
            return fault.answer
        headers, refusal = self.budget.spend(request.api, request.path)
        try:
            if refusal is not None:
                raise refusal
            answer = self._answer(request, fault, authorization, body)
        except ApiError as error:
            answer = error.answer()
        return replace(answer, headers={**headers, **answer.headers})

    def _answer(self, request: Request, fault: Fault, authorization: str | None, body: bytes) -> Response:
        route = route_of(request.api, request.method, request.path)
        # A client that signs in again may still send the expired token.
        authorization = None if request.path in SIGNS_IN else authorization
        caller = self.accounts.caller(authorization, self._shelves.values())
        if self.sign_in_required and caller.user is None and not is_open_to_guests(request.path):
            if request.takes_html:
                return browser_check()
            raise challenge_required()
        query = fault.asks(request.query) if fault.asks is not None else request.query
        for name, value in query.items():
            if not value:
                raise invalid(name, value, "must NOT have fewer than 1 characters")
        call = Call(
            accounts=self.accounts,
            shelves=self._shelves[request.api],
            caller=caller,
            query=query,
            body=_read_body(body),
        )
        if fault.happens is not None:
            event = fault.happens(call)
            with self._lock:
                self._events.append(event)
                self.reindex()
            call = replace(call, shelves=self._shelves[request.api])
        return route(call)


def _read_body(body: bytes) -> Json:
    try:
        content = msgspec.json.decode(body) if body else {}
    except msgspec.DecodeError:
        raise invalid("body", None, "must be JSON") from None
    if not isinstance(content, dict):
        raise invalid("body", None, "must be object")
    return content


SMALLEST_GZIP_BYTES = 1024
_ZEROS = bytes(1 << 20)

logger = logging.getLogger(__name__)


@contextmanager
def open_port(dispatcher: Dispatcher, api: str, port: int) -> Iterator[str]:
    """Serve one API while the context is open; yield its base URL.

    Raises:
        PeercorpusError: The port is taken.
    """
    try:
        server = _Server(dispatcher, api, port)
    except OSError as error:
        message = (
            f"Port {port} for API {api} cannot be used ({error.strerror}); choose another, or 0 for any free port."
        )
        raise PeercorpusError(message) from error
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.close_connections()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, dispatcher: Dispatcher, api: str, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.dispatcher, self.api = dispatcher, api
        self.connections: set[socket.socket] = set()

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        if isinstance(request, socket.socket):
            self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        if isinstance(request, socket.socket):
            self.connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Close connections kept alive by clients, so that no thread waits for another request."""
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        # A disconnecting client is not a defect; any other error is a defect of the simulator.
        if not isinstance(sys.exception(), ConnectionError):
            logger.exception("The simulator failed on a request")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Log nothing, since the requests are in `Service.requests`."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        dispatcher = self.server.dispatcher
        authorization = self.headers.get("Authorization")
        url = urlsplit(self.path)
        request, fault = dispatcher.receive(
            Request(
                method=self.command,
                api=self.server.api,
                path=url.path,
                query={name: ",".join(values) for name, values in parse_qs(url.query, keep_blank_values=True).items()},
                has_token=authorization is not None,
                takes_html="text/html" in self.headers.get("Accept", ""),
            )
        )
        time.sleep(fault.delay_s)
        if fault.drops:
            self.close_connection = True
            return
        answer = fault.damage(dispatcher.answer(request, fault, authorization, body))
        if fault.drip_s:
            self._drip(answer, fault.drip_s)
            return
        self._send(_compress_json(answer, self.headers.get("Accept-Encoding", "")), fault.cuts)

    def _drip(self, answer: Response, drip_s: float) -> None:
        head = f"HTTP/1.1 {answer.status} Dripping\r\nContent-Type: {answer.content_type}\r\n"
        for byte in f"{head}Content-Length: {len(answer.body)}\r\n\r\n".encode() + answer.body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(drip_s)

    def _send(self, answer: Response, cuts: bool) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body) + answer.padding_bytes))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body[: len(answer.body) // 2] if cuts else answer.body)
        for sent in range(0, answer.padding_bytes, len(_ZEROS)):
            self.wfile.write(_ZEROS[: answer.padding_bytes - sent])
        self.close_connection = self.close_connection or cuts


def _compress_json(answer: Response, accepted: str) -> Response:
    """Compress a JSON response of more than a kilobyte if the client accepts that."""
    is_long_json = answer.content_type == JSON and len(answer.body) > SMALLEST_GZIP_BYTES
    if not is_long_json or "gzip" not in accepted or "Content-Encoding" in answer.headers:
        return answer
    body = gzip.compress(answer.body, compresslevel=1, mtime=0)
    return replace(answer, body=body, headers={**answer.headers, "Content-Encoding": "gzip"})


@dataclass(frozen=True, slots=True)
class Service:
    """A running simulator.

    Attributes:
        requests: Every request so far; grows while the service runs.
        reindex: Must be called after a change of the world, because responses come from indexes that are built once.
    """

    base_url_v1: str
    base_url_v2: str
    requests: list[Request]
    reindex: Callable[[], None]


@contextmanager
def serve_simulator(
    world: World,
    port: int = 0,
    *,
    sign_in_required: bool = False,
    mfa: bool = False,
    faults: Faults | None = None,
    budget: ServiceBudget | None = None,
) -> Iterator[Service]:
    """Run the simulator while the context is open.

    Args:
        world: The world to serve.
        port: Port of API v1; API v2 uses the next one. 0 uses any two free ports.
        sign_in_required: Answer guests with a challenge on notes and files, as the live service does.
        mfa: Require a second factor for signing in.
        faults: Chooses the fault of each request.
        budget: Request limits; None allows more requests than tests make, except for logins.

    Raises:
        PeercorpusError: The port is taken.
    """
    dispatcher = Dispatcher(
        world=world,
        accounts=Accounts(world, mfa=mfa),
        budget=budget or ServiceBudget(),
        faults=faults,
        sign_in_required=sign_in_required,
    )
    with open_port(dispatcher, "v1", port) as url_v1, open_port(dispatcher, "v2", port + 1 if port else 0) as url_v2:
        yield Service(base_url_v1=url_v1, base_url_v2=url_v2, requests=dispatcher.requests, reindex=dispatcher.reindex)


def serve_forever(running: AbstractContextManager[Service], ready: Callable[[Service], None]) -> None:
    """Run the simulator until it is interrupted; `ready` is called once it accepts requests."""
    with running as service, suppress(KeyboardInterrupt):
        # The world lives as long as the process, so garbage collection need not traverse it.
        gc.freeze()
        ready(service)
        threading.Event().wait()
