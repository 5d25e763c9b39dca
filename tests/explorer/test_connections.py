"""The explorer drops connections without a complete request, and answers others meanwhile."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from socket import create_connection, socket

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from peercorpus.explorer import server
from peercorpus.explorer.server import serve_explorer

HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = HEAD + b"\r\n"
Address = tuple[str, int]


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    """The address of an explorer with a timeout of a fifth of a second and at most three connections."""
    monkeypatch.setattr(server, "HEAD_TIMEOUT_S", 0.2)
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 3)
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("Papers")), Route("/slow", _answer_slowly)])
    monkeypatch.setattr(server, "make_app", lambda *_: app)
    with _serving(monkeypatch) as served:
        yield served


async def _answer_slowly(_: object) -> PlainTextResponse:
    await asyncio.sleep(0.5)
    return PlainTextResponse("Slow papers")


@contextmanager
def _serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    servers: list[uvicorn.Server] = []
    started = threading.Event()
    places: list[str] = []
    make = uvicorn.Server

    def remember(options: uvicorn.Config) -> uvicorn.Server:
        servers.append(make(options))
        return servers[0]

    monkeypatch.setattr(uvicorn, "Server", remember)

    def ready(place: str) -> None:
        places.append(place)
        started.set()

    thread = threading.Thread(target=serve_explorer, args=(None, "127.0.0.1", 0, ready))
    thread.start()
    try:
        assert started.wait(10)
        yield "127.0.0.1", int(places[0].rstrip("/").rpartition(":")[2])
    finally:
        servers[0].should_exit = True
        thread.join(10)


def connect(address: Address) -> socket:
    return create_connection(address, timeout=5)


def read_answer(connection: socket) -> bytes:
    """Return the bytes up to the end of an answer, whose head and body may arrive separately."""
    answer = b""
    while not answer.endswith(b"apers") and (part := connection.recv(10_000)):
        answer += part
    return answer


def trickle(connection: socket) -> None:
    for byte in HEAD * 100:
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def is_dropped(connection: socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.slow
@pytest.mark.fault("input", "the head of a request to the explorer", "the connection is closed", lost="nothing")
@pytest.mark.parametrize("sent", [b"", b"G", HEAD, WHOLE + HEAD])
def test_a_connection_without_complete_headers_is_dropped(address: Address, sent: bytes) -> None:
    with closing(connect(address)) as connection:
        if sent:
            connection.sendall(sent)
        if sent.startswith(WHOLE):
            assert b"Papers" in read_answer(connection)
        assert is_dropped(connection)


@pytest.fixture
def handler() -> Iterator[logging.FileHandler]:
    """A log of the program that serves the explorer."""
    with closing(logging.FileHandler(os.devnull)) as opened:
        yield opened


def test_log_files_of_the_serving_program_stay_open(handler: logging.FileHandler, address: Address) -> None:
    with closing(connect(address)) as connection:
        connection.sendall(WHOLE)
        assert b"Papers" in read_answer(connection)
    assert handler.stream is not None, "uvicorn closed it"


@pytest.mark.slow
def test_a_connection_whose_headers_trickle_in_is_dropped_too(address: Address) -> None:
    with closing(connect(address)) as connection, pytest.raises((BrokenPipeError, ConnectionResetError)):
        trickle(connection)


@pytest.mark.slow
def test_a_request_is_answered_however_long_it_takes(address: Address) -> None:
    with closing(connect(address)) as connection:
        connection.sendall(WHOLE.replace(b"/ ", b"/slow ", 1))
        assert b"Slow papers" in read_answer(connection)


@pytest.mark.fault("service", "more connections to the explorer than it keeps", "it answers the next", lost="nothing")
def test_the_oldest_waiting_connection_makes_room_for_a_new_one(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEAD_TIMEOUT_S", 60)
    held = [connect(address) for _ in range(9)]
    try:
        with closing(connect(address)) as connection:
            connection.sendall(WHOLE)
            assert b"Papers" in read_answer(connection)
        assert [is_dropped(one) for one in held[:7]] == [True] * 7
        held[8].sendall(WHOLE)
        assert b"Papers" in read_answer(held[8])
    finally:
        for one in held:
            one.close()
