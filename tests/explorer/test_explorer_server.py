"""What the explorer's server answers, refuses and drops, and who waits for whom."""

import asyncio
import html
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import pytest
import tantivy
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message

from commands import Run, assert_refused
from explored import ATTACKS, LIVELY, explored, hostile, known, tags_of
from invented_tables import ICLR, paper
from peercorpus.explorer import server
from peercorpus.explorer.index_documents import read_row
from peercorpus.explorer.pages import Explorer
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.server import _bind, serve_explorer

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


def connect(address: Address) -> socket.socket:
    return socket.create_connection(address, timeout=5)


def read_answer(connection: socket.socket) -> bytes:
    """Return the bytes up to the end of an answer, whose head and body may arrive separately."""
    answer = b""
    while not answer.endswith(b"apers") and (part := connection.recv(10_000)):
        answer += part
    return answer


def trickle(connection: socket.socket) -> None:
    for byte in HEAD * 100:
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def is_dropped(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.slow
@pytest.mark.fault("input", "the head of a request to the explorer", "the connection is closed", lost="nothing")
@pytest.mark.parametrize("sent", [b"", b"G", HEAD, WHOLE + HEAD])
def test_incomplete_heads_are_dropped(address: Address, sent: bytes) -> None:
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


def test_log_files_stay_open(handler: logging.FileHandler, address: Address) -> None:
    with closing(connect(address)) as connection:
        connection.sendall(WHOLE)
        assert b"Papers" in read_answer(connection)
    assert handler.stream is not None, "uvicorn closed it"


@pytest.mark.slow
def test_trickling_heads_are_dropped(address: Address) -> None:
    with closing(connect(address)) as connection, pytest.raises((BrokenPipeError, ConnectionResetError)):
        trickle(connection)


@pytest.mark.slow
def test_slow_requests_are_answered(address: Address) -> None:
    with closing(connect(address)) as connection:
        connection.sendall(WHOLE.replace(b"/ ", b"/slow ", 1))
        assert b"Slow papers" in read_answer(connection)


@pytest.mark.fault("service", "more connections to the explorer than it keeps", "it answers the next", lost="nothing")
def test_the_oldest_waiting_connection_makes_room(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_bodies_do_not_wait_for_acknowledgement() -> None:
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


def test_slow_exports_block_no_page(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_files_in_memory_wait_for_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_pages_are_compressed(client: TestClient) -> None:
    packed = client.get(f"/paper/{LIVELY}", headers={"accept-encoding": "gzip"})
    plain = client.get(f"/paper/{LIVELY}", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert packed.content == plain.content
    assert "Accept-Encoding" in plain.headers["vary"]


def test_each_document_is_read_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def count(document: tantivy.Document) -> PaperRow:
        row = read_row(document)
        read.append(row.forum_id)
        return row

    for module in ("search_index", "search"):
        monkeypatch.setattr(f"peercorpus.explorer.{module}.read_row", count)
    for page in (f"/paper/{LIVELY}?points=none", "/?q=kites+wind+zzyzx"):
        read.clear()
        assert client.get(page).status_code == 200
        assert len(read) == len(set(read)) > 0, page


POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)


def hostile_pages() -> list[str]:
    """Return the address of every page that shows a text of the hostile corpus."""
    pages = [
        "/",
        "/venues",
        "/?q=click",
        "/?q=script",
        "/?q=pwned",
        "/points?kind=all",
        "/points?q=pwned",
        "/points?q=click&kind=all",
        "/export.csv",
        "/?where=" + quote("keyword=" + ATTACKS[0]),
    ]
    for venue_id, records in hostile().items():
        pages.append("/venue/" + quote(venue_id, safe=""))
        forum_id = quote(records[0].forum_id, safe="")  # type: ignore[attr-defined]
        pages += [f"/{kind}/{forum_id}" for kind in ("paper", "text", "changes", "record")]
    return pages


@pytest.mark.slow
@pytest.mark.fault(
    "input",
    "scripts, markup and control characters in every text, on each page of the explorer",
    "they are shown as text",
    times=45,
)
@pytest.mark.parametrize("page", hostile_pages())
def test_hostile_texts_add_no_tag(hostile_client: TestClient, page: str) -> None:
    answer = hostile_client.get(page)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == POLICY
    if not answer.headers["content-type"].startswith("text/html"):
        assert answer.headers["x-content-type-options"] == "nosniff"
        return
    assert "\0" not in answer.text
    assert "\u202e" not in answer.text
    read = tags_of(answer.text)
    assert read.bad == []
    assert read.tags.count("script") == 1
    assert [read.tags.count(name) for name in ("html", "head", "body", "main")] == [1, 1, 1, 1]
    assert read.tags.count("title") == 1


@pytest.mark.slow
def test_a_hostile_query_is_shown_as_text(hostile_client: TestClient) -> None:
    for attack in ATTACKS:
        for page in ("/?q={0}&where={0}", "/points?q={0}&kind={0}&venue={0}&year={0}", "/points?q={0}&{0}"):
            read = tags_of(hostile_client.get(page.format(quote(attack))).text)
            assert read.bad == []
            assert read.tags.count("script") == 1


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.7", ""])
def test_other_host_names_are_refused(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "kites" not in answer.text.lower()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_no_request_can_write(client: TestClient, method: str) -> None:
    answer = client.request(method, "/")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "page", ["/", f"/paper/{LIVELY}", "/nowhere", "/static/keys.js", f"/record/{LIVELY}", "/export.csv"]
)
def test_every_answer_has_the_headers(client: TestClient, page: str) -> None:
    headers = client.get(page).headers
    assert headers["content-security-policy"] == POLICY
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")


def test_no_page_has_inline_scripts(client: TestClient) -> None:
    for page in ("/", f"/paper/{LIVELY}", f"/text/{LIVELY}", "/points", "/venues", "/about"):
        told = client.get(page).text
        assert re.findall(r"<script[^>]*>(.+?)</script>", told, re.DOTALL) == []
        assert " style=" not in told
        assert set(re.findall(r'(?:src|href)="((?:https?:)?//[^"]*)"', told)) == set()


@pytest.mark.slow
def test_a_takedown_stops_all_pages(tmp_path: Path) -> None:
    with explored(tmp_path / "corpus", known()) as opened:
        assert opened.get(f"/paper/{LIVELY}").status_code == 200
        (tmp_path / "corpus" / "takedown.txt").write_text(f"{LIVELY}\n")
        answer = opened.get(f"/paper/{LIVELY}")
        assert answer.status_code == 503
        assert answer.headers["content-type"].startswith("text/plain")
    assert LIVELY not in answer.text


def test_a_port_in_use_is_reported(known_folder: Path, client: TestClient, run: Run) -> None:
    assert client.get("/").status_code == 200
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert_refused(run("explore", "-w", known_folder, "--port", port, "--no-browser"), port, "--port 0")


@pytest.mark.slow
@pytest.mark.parametrize(("host", "is_warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_the_server_prints_address_and_warning(
    known_folder: Path, client: TestClient, host: str, *, is_warned: bool
) -> None:
    assert client.get("/").status_code == 200
    command = [sys.executable, "-m", "peercorpus", "explore", "-w", str(known_folder)]
    options = ["--host", host, "--port", "0", "--no-browser"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        found = re.search(r"http://\S+:(\d+)/", said)
        assert found, said
        with urlopen(f"http://127.0.0.1:{found[1]}/about") as answer:
            assert b"About this corpus" in answer.read()
        server.send_signal(signal.SIGINT)
        _, told = server.communicate(timeout=30)
    assert ("WARNING" in told) is is_warned
    assert "Traceback" not in told


@pytest.mark.slow
def test_masked_keywords_still_find_papers(tmp_path: Path) -> None:
    for keyword in ("ada@example.org", "~Ada_Example1"):
        records: list[object] = [paper("f1", keywords=("kites", keyword)), paper("f2")]
        with explored(tmp_path / keyword, {ICLR: records}) as opened:
            page = opened.get("/paper/f1").text
            assert keyword not in page
            assert quote(keyword) not in page
            assert quote(keyword, safe="") not in page
            links = [html.unescape(link) for link in re.findall(r'href="(/papers\?where=[^"]+)"', page)]
            assert len(links) == 2
            for link in links:
                found = opened.get(link).text
                assert "/paper/f1" in found
                assert "/paper/f2" not in found
