"""Who waits for whom: an answer leaves at once, exports take turns with pages, and files in memory wait for none."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import Message

from explored import LIVELY, explored, known
from peercorpus.explorer import server
from peercorpus.explorer.pages import Explorer
from peercorpus.explorer.server import _bind


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


def test_a_page_is_made_while_a_client_reads_an_export_slowly(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_AT_ONCE", 1)

    read: list[str] = []

    async def wait() -> Message:
        await asyncio.Event().wait()
        return {}

    async def ask(path: str, take: Callable[[Message], Awaitable[None]]) -> None:
        headers = [(b"host", b"localhost")]
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
        await client.app(scope, wait, take)

    async def take_page(message: Message) -> None:
        read.append(f"page {message['type']}")

    async def take_export(message: Message) -> None:
        if message.get("body"):
            await asyncio.wait_for(ask("/about", take_page), 20)
            read.append("export")

    asyncio.run(ask("/export.jsonl", take_export))
    assert read == ["page http.response.start", "page http.response.body", "export"]


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
