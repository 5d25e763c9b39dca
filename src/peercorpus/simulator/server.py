"""The simulated OpenReview over HTTP: API v1 and API v2 on two loopback ports, without any network beyond them."""

import logging
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from urllib.parse import parse_qs, urlsplit

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.accounts import read_caller
from peercorpus.simulator.answers import Answer, ApiError, challenge_required, invalid
from peercorpus.simulator.budget import Budget
from peercorpus.simulator.calls import Call
from peercorpus.simulator.faults import Fault, Faults
from peercorpus.simulator.holdings import Json, World
from peercorpus.simulator.routes import is_open_to_guests, route_of
from peercorpus.simulator.shelves import Shelves

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in."""

    method: str
    api: str
    path: str
    query: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Service:
    """A running simulator.

    Attributes:
        base_url_v1: Where API v1 answers.
        base_url_v2: Where API v2 answers.
        requests: Every request so far, live.
        reindex: Call it after a change of the world: requests are answered from indexes, which are built once.
    """

    base_url_v1: str
    base_url_v2: str
    requests: list[Request]
    reindex: Callable[[], None]


@contextmanager
def serve(
    world: World,
    port: int = 0,
    *,
    sign_in_required: bool = False,
    faults: Faults | None = None,
    budget: Budget | None = None,
) -> Iterator[Service]:
    """Run the simulator while the context lasts.

    Args:
        world: What it holds.
        port: Of API v1; API v2 takes the next one. 0: any two free ports.
        sign_in_required: Answer guests with a challenge on notes and files, as the live service does.
        faults: What goes wrong, by request.
        budget: How many requests it allows; None: more than a test makes.

    Raises:
        PeercorpusError: The port is taken.
    """
    desk = _Desk(world, sign_in_required, faults, budget or Budget())
    with _running(desk, "v1", port) as url_v1, _running(desk, "v2", port + 1 if port else 0) as url_v2:
        yield Service(url_v1, url_v2, desk.requests, desk.reindex)


def serve_forever(world: World, port: int, ready: Callable[[Service], None], *, sign_in_required: bool = False) -> None:
    """Run the simulator until it is interrupted; `ready` is called once it answers."""
    with serve(world, port, sign_in_required=sign_in_required) as service, suppress(KeyboardInterrupt):
        ready(service)
        Event().wait()


@dataclass(slots=True)
class _Desk:
    """What both ports share: the indexes, the log, and the way from a request to its answer."""

    world: World
    sign_in_required: bool
    faults: Faults | None
    budget: Budget
    requests: list[Request] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)
    shelves: dict[str, Shelves] = field(init=False)

    def __post_init__(self) -> None:
        self.reindex()

    def reindex(self) -> None:
        self.shelves = {"v1": Shelves("v1", self.world.v1), "v2": Shelves("v2", self.world.v2)}

    def fault_of(self, request: Request) -> Fault | None:
        with self.lock:
            self.requests.append(request)
            n = len(self.requests)
        return self.faults(request.api, request.path, request.query, n) if self.faults is not None else None

    def answer(self, request: Request, authorization: str | None, body: bytes) -> Answer:
        headers, used = self.budget.spend(request.api, request.path)
        try:
            self.budget.check(headers, used)
            answer = self._answer(request, authorization, body)
        except ApiError as error:
            answer = error.answer()
        return Answer(answer.body, answer.status, answer.content_type, {**headers, **answer.headers})

    def _answer(self, request: Request, authorization: str | None, body: bytes) -> Answer:
        route = route_of(request.api, request.method, request.path)
        if request.path == "/login":
            # Who signs in again may still send the token that has expired.
            authorization = None
        caller = read_caller(self.world, authorization, self.shelves.values())
        if self.sign_in_required and caller.user is None and not is_open_to_guests(request.path):
            raise challenge_required()
        for name, value in request.query.items():
            if not value:
                raise invalid(name, value, "must NOT have fewer than 1 characters")
        return route(Call(self.world, self.shelves[request.api], caller, request.query, _read_body(body)))


def _read_body(body: bytes) -> Json:
    try:
        content = msgspec.json.decode(body) if body else {}
    except msgspec.DecodeError:
        raise invalid("body", None, "must be JSON") from None
    if not isinstance(content, dict):
        raise invalid("body", None, "must be object")
    return content


@contextmanager
def _running(desk: _Desk, api: str, port: int) -> Iterator[str]:
    try:
        server = _Server(desk, api, port)
    except OSError as error:
        message = (
            f"Port {port} for API {api} cannot be used ({error.strerror}); choose another, or 0 for any that is free"
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

    def __init__(self, desk: _Desk, api: str, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.desk, self.api = desk, api
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
        """End what clients keep alive, so that no thread waits for a next request."""
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        # A client that goes away is no defect; anything else is one of ours.
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
        """Stay quiet: what came in stands in `Service.requests`."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        query = {name: ",".join(values) for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        request = Request(self.command, self.server.api, url.path, query)
        fault = self.server.desk.fault_of(request) or Fault()
        time.sleep(fault.delay_s)
        if fault.drops:
            self.close_connection = True
            return
        answer = fault.answer or self.server.desk.answer(request, self.headers.get("Authorization"), body)
        self._send(fault.damage(answer), fault.cuts)

    def _send(self, answer: Answer, cuts: bool) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body[: len(answer.body) // 2] if cuts else answer.body)
        self.close_connection = self.close_connection or cuts
