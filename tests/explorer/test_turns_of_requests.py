"""Who waits for whom: an answer leaves at once, exports take turns with pages, and files in memory wait for none."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from explored import LIVELY, explored, known
from peercorpus.explorer import server
from peercorpus.explorer.pages import Explorer
from peercorpus.explorer.server import _bind, _take_turns


def test_a_response_body_does_not_wait_for_the_acknowledgement_of_its_headers() -> None:
    """Where this option is off, every page over one connection takes 40 ms longer (Nagle, delayed acknowledgement)."""

    async def look() -> list[int]:
        seen: list[int] = []

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = _bind("127.0.0.1", 0)
        async with await asyncio.start_server(answer, sock=listening):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            await reader.read()
            writer.close()
        return seen

    assert all(asyncio.run(look()))


def test_the_batches_of_an_export_take_turns_and_release_them_while_the_client_reads() -> None:
    made: list[tuple[str, int]] = []
    turns = asyncio.Semaphore(1)

    def parts() -> Iterator[bytes]:
        for number in range(2):
            made.append(("part", turns._value))
            yield b"%d" % number

    async def read() -> list[bytes]:
        endpoint = _take_turns(lambda _: StreamingResponse(parts()), turns)
        response = await endpoint(Request({"type": "http"}))
        assert isinstance(response, StreamingResponse)
        got = []
        async for part in response.body_iterator:
            made.append(("read", turns._value))
            got.append(bytes(part))  # type: ignore[arg-type]
        return got

    assert asyncio.run(read()) == [b"0", b"1"]
    assert made == [("part", 0), ("read", 1)] * 2
    assert turns._value == 1


def test_files_in_memory_are_answered_while_all_turns_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, ended = threading.Event(), threading.Event()

    def wait(_: Explorer, __: Request) -> Response:
        started.set()
        assert ended.wait(20)
        return Response("")

    monkeypatch.setattr(server, "_AT_ONCE", 1)
    monkeypatch.setattr(Explorer, "about", wait)
    with explored(tmp_path / "corpus", known()) as client:
        waiting = threading.Thread(target=client.get, args=("/about",))
        waiting.start()
        try:
            assert started.wait(20)
            assert client.get("/static/style.css").status_code == 200
        finally:
            ended.set()
            waiting.join(20)
        assert client.get(f"/paper/{LIVELY}").status_code == 200
