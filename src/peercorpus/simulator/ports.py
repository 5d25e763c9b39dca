"""The two loopback ports of the simulated service, and HTTP on them."""

import gzip
import logging
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.answers import JSON, Answer
from peercorpus.simulator.calls import Request
from peercorpus.simulator.desk import Desk

SMALLEST_GZIP_BYTES = 1024
_ZEROS = bytes(1 << 20)

logger = logging.getLogger(__name__)


@contextmanager
def open_port(desk: Desk, api: str, port: int) -> Iterator[str]:
    """Answer for one API while the context lasts; gives its base URL.

    Raises:
        PeercorpusError: The port is taken.
    """
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

    def __init__(self, desk: Desk, api: str, port: int) -> None:
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
        desk, authorization = self.server.desk, self.headers.get("Authorization")
        request, fault = desk.receive(self._request(authorization is not None))
        time.sleep(fault.delay_s)
        if fault.drops:
            self.close_connection = True
            return
        answer = fault.damage(desk.answer(request, fault, authorization, body))
        self._send(_encoded(answer, self.headers.get("Accept-Encoding", "")), fault.cuts)

    def _request(self, has_token: bool) -> Request:
        url = urlsplit(self.path)
        query = {name: ",".join(values) for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        takes_html = "text/html" in self.headers.get("Accept", "")
        return Request(self.command, self.server.api, url.path, query, has_token=has_token, takes_html=takes_html)

    def _send(self, answer: Answer, cuts: bool) -> None:
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


def _encoded(answer: Answer, accepted: str) -> Answer:
    """The answer as the client may get it: JSON of more than a kilobyte is sent compressed."""
    is_long_json = answer.content_type == JSON and len(answer.body) > SMALLEST_GZIP_BYTES
    if not is_long_json or "gzip" not in accepted or "Content-Encoding" in answer.headers:
        return answer
    body = gzip.compress(answer.body, compresslevel=1, mtime=0)
    return replace(answer, body=body, headers={**answer.headers, "Content-Encoding": "gzip"})
