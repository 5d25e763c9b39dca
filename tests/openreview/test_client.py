"""The client: what it sends and retries, its errors when OpenReview refuses, and PDFs that come cut off."""

import gzip
import random
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError
from peercorpus.openreview.budget import Budget
from peercorpus.openreview.client import Client
from peercorpus.openreview.retries import Patience
from peercorpus.workspace.harvest_state import Window
from peercorpus.workspace.workspace import open_workspace

TOKEN = "aaaa.bbbb.cccc"
HASTY = Patience(attempts=3, first_wait_s=0.001, longest_wait_s=5)
CHALLENGE = {"name": "ChallengeRequiredError", "message": "Challenge verification required", "status": 403}
PAGE = "<html><head><title>Verifying your browser | OpenReview</title></head></html>"

Answer = httpx2.Response | Exception


def client_of(*answers: Answer, token: str | None = None) -> Client:
    """A client that receives these responses in order, then repeats the last one."""
    transport = httpx2.MockTransport(_Script(answers))
    return Client(account=token, patience=HASTY, transport=transport)


class _Script:
    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self._answers = iter(answers)
        self._last: Answer = answers[-1]

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        answer = next(self._answers, self._last)
        if isinstance(answer, Exception):
            raise answer
        copy = httpx2.Response(answer.status_code, headers=answer.headers.raw, content=answer.content)
        copy.request = request
        return copy


def good() -> httpx2.Response:
    return httpx2.Response(200, json={"notes": [], "count": 0})


def too_many(**details: str) -> httpx2.Response:
    body = {"name": "RateLimitError", "message": "Too many requests", "status": 429, "details": details}
    return httpx2.Response(429, json=body)


def in_words(words: str) -> httpx2.Response:
    return httpx2.Response(429, json={"name": "RateLimitError", "message": words, "status": 429})


@pytest.mark.parametrize(
    "fault",
    [
        httpx2.Response(500, json={"name": "InternalServerError"}),
        httpx2.Response(502, html="<html>Bad gateway</html>"),
        httpx2.Response(503, content=b""),
        httpx2.Response(200, content=b'{"notes":[{"id":"a"'),
        httpx2.Response(200, content=b""),
        httpx2.Response(200, json=["not", "an", "object"]),
        httpx2.Response(429, headers={"Retry-After": "0"}),
        httpx2.Response(
            429, headers={"Retry-After": "0", "Content-Encoding": "gzip"}, content=gzip.compress(b'{"status":429}')
        ),
        too_many(resetTime=(datetime.now(UTC) - timedelta(seconds=1)).isoformat()),
        too_many(),
        in_words("Please try again in 0 seconds (2026-01-01-1)"),
        httpx2.ConnectError("refused"),
        httpx2.RemoteProtocolError("cut off"),
        httpx2.ReadTimeout("slow"),
    ],
)
def test_a_temporary_fault_is_retried(fault: Answer) -> None:
    client = client_of(fault, good())
    assert client.get_json(2, "/notes", {"id": "a"}).body == b'{"notes":[],"count":0}'
    assert client.requests == 2


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (httpx2.Response(500, json={}), "answered 500"),
        (httpx2.Response(200, content=b'{"notes":[{"id":"a"'), "cut off"),
        (httpx2.ConnectError("[Errno 111]"), "cannot be reached"),
        (httpx2.ReadTimeout("slow"), "in time"),
        (httpx2.ReadError("reset"), "connection"),
    ],
)
def test_lasting_fault_names_the_host(fault: Answer, sentence: str) -> None:
    client = client_of(fault, token=TOKEN)
    with pytest.raises(SourceError, match=sentence) as caught:
        client.get_json(2, "/notes", {})
    assert client.requests == 3
    assert "api2.openreview.net" in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_long_wait_ends_the_run() -> None:
    client = client_of(in_words("You have made 37 requests. Please try again in 60 minutes and 13 seconds (x)"))
    with pytest.raises(SourceError, match=r"again after (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC"):
        client.get_json(2, "/notes", {})
    assert client.requests == 1


def test_wait_of_days_has_its_date() -> None:
    client = client_of(httpx2.Response(429, headers={"Retry-After": str(20 * 86_400)}))
    day = (datetime.now(UTC) + timedelta(days=20)).date()
    with pytest.raises(SourceError, match=rf"again after ({day}|{day + timedelta(days=1)}) \d\d:\d\d UTC"):
        client.get_json(2, "/notes", {})


@pytest.mark.fault("service", "A wait of centuries, in any form", "It counts as not stated: a retry, then one sentence")
@pytest.mark.parametrize(
    "fault",
    [
        *(
            httpx2.Response(429, headers={header: number})
            for header in ("Retry-After", "ratelimit-reset")
            for number in ("999999999999", "9" * 400, "9" * 5000)
        ),
        httpx2.Response(429, headers=[(b"Retry-After", "\u00b2".encode("latin-1"))]),
        httpx2.Response(429, headers={"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}),
        httpx2.Response(429, headers={"Retry-After": f"Fri, 31 Dec {'9' * 30} 23:59:59 GMT"}),
        *(in_words(f"Please try again in {'9' * digits} minutes and 1 seconds") for digits in (12, 400, 5000)),
        too_many(resetTime="9999-12-31T23:59:59Z"),
        *(
            httpx2.Response(
                429, headers={"ratelimit-limit": number, "ratelimit-remaining": "0", "ratelimit-reset": number}
            )
            for number in ("999999999999", "9" * 400, "9" * 5000)
        ),
        httpx2.Response(429, headers={"ratelimit-policy": f"{'9' * 5000};w={'9' * 5000}"}),
    ],
)
def test_absurd_wait_counts_as_unstated(fault: httpx2.Response) -> None:
    client = client_of(fault, good())
    assert client.get_json(2, "/notes", {}).body
    with pytest.raises(BusyError, match="refused") as caught:
        client_of(fault).get_json(2, "/notes", {})
    assert caught.value.wait_s is None


def test_stored_absurd_window_is_forgotten(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        assert workspace.budget_state is not None
        workspace.budget_state.set_window("route", Window(None, 0, 1e12, 1.0, None))
        assert Budget(workspace.budget_state).reserve("route").is_granted


@pytest.mark.fault("service", "A 429 to the first request of a new workspace", "The next run waits before it asks")
def test_a_refused_first_request_is_remembered(tmp_path: Path) -> None:
    refusal = httpx2.Response(429, headers={"Retry-After": "3600"})

    def ask() -> None:
        with open_workspace(tmp_path / "corpus", create=True) as workspace:
            transport = httpx2.MockTransport(_Script((refusal,)))
            client = Client(patience=HASTY, budget_state=workspace.budget_state, transport=transport)
            try:
                client.get_json(2, "/notes", {})
            except BusyError:
                asked.append(client.requests)
                raise

    asked: list[int] = []
    for _ in range(2):
        with pytest.raises(BusyError):
            ask()
    assert asked == [1, 0]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (httpx2.Response(403, json=CHALLENGE), "PEERCORPUS_TOKEN"),
        (httpx2.Response(302, headers={"Location": "https://openreview.net/challenge"}), "PEERCORPUS_TOKEN"),
        (httpx2.Response(200, html=PAGE), "PEERCORPUS_TOKEN"),
        (httpx2.Response(401, json={"name": "TokenExpiredError"}), "PEERCORPUS_TOKEN, --token-file"),
    ],
)
def test_refused_caller_gets_advice(answer: Answer, sentence: str) -> None:
    for fetch in (Client.get_json, Client.get_file):
        client = client_of(answer, token=TOKEN)
        with pytest.raises(SignInError, match=sentence) as caught:
            fetch(client, 2, "/pdf", {"id": "a"})
        assert client.requests == 1
        assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (httpx2.Response(404, json={"name": "NotFoundError"}), "404 NotFound"),
        (httpx2.Response(403, json={"name": "ForbiddenError"}), "403 Forbidden"),
        (httpx2.Response(403, html="<html>no</html>"), "403 refused"),
        (httpx2.Response(200, html="<html>moved</html>"), "not a PDF"),
        (httpx2.Response(200, content=b""), "not a PDF"),
    ],
)
def test_unavailable_file_has_a_reason(answer: Answer, reason: str) -> None:
    with pytest.raises(NotGivenError) as caught:
        client_of(answer).get_file(2, "/pdf", {"id": "a"})
    assert caught.value.reason == reason


def test_refused_request_is_not_repeated() -> None:
    client = client_of(httpx2.Response(400, json={"name": "ValidationError", "message": "limit must be <= 1000"}))
    with pytest.raises(SourceError, match="limit must be <= 1000"):
        client.get_json(2, "/notes", {"limit": 1001})
    assert client.requests == 1


def test_lone_surrogate_loses_no_page() -> None:
    client = client_of(httpx2.Response(200, content=b'{"notes":["cut \\ud83d"]}'))
    assert "cut \ufffd" in client.get_json(2, "/notes", {}).body.decode()


def test_token_goes_to_openreview_only() -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(302, headers={"Location": "https://elsewhere.example.org/"})

    with Client(account=f" {TOKEN}\n", transport=httpx2.MockTransport(answer)) as client, pytest.raises(SignInError):
        client.get_json(1, "/notes", {"id": "a"})
    assert [request.url.host for request in seen] == ["api.openreview.net"]
    assert seen[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in str(seen[0].url)


@pytest.mark.parametrize("token", ["", "  ", "two words", "line\nbreak", "\u00e9"])
def test_invalid_token_is_not_shown(token: str) -> None:
    with pytest.raises(SignInError, match=r"^The token ") as caught:
        Client(account=token)
    assert not token.strip() or token not in str(caught.value)


def test_token_needs_https() -> None:
    with pytest.raises(SignInError, match="plain http"):
        Client("http://mirror.example.org", "http://mirror.example.org", TOKEN)
    Client("http://127.0.0.1:1", "http://localhost:2", TOKEN).close()


@pytest.mark.parametrize("url", ["api.openreview.net", "ftp://api.openreview.net", ""])
def test_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(SourceError, match=f"'{re.escape(url)}'.* https://"):
        Client(url)


@pytest.mark.fault("service", "A server that sends a byte now and then", "It is said what is waited for; then a retry")
@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"])
def test_dripping_server_is_given_up(head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.openreview.client.JSON_WITHIN_S", 0.3)
    monkeypatch.setattr("peercorpus.openreview.time_limit.SLOW_S", 0.1)
    said: list[str] = []
    once = Patience(attempts=1, first_wait_s=0.001)
    with _dripping(head) as url, Client(url, url, patience=once, on_wait=said.append) as client:
        began = time.monotonic()
        with pytest.raises(BusyError, match="did not answer in time"):
            client.get_json(2, "/notes", {})
        assert time.monotonic() - began < 5
    assert any("OpenReview's answer to /notes" in sentence for sentence in said)


@contextmanager
def _dripping(head: bytes) -> Iterator[str]:
    """A server that sends a head at once, and then a byte of a header or body every few hundredths of a second."""
    is_over = threading.Event()

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(head or b"HTTP/1.1 200 OK\r\nX-Long: ")
            for byte in gzip.compress(random.Random(0).randbytes(2_000)) if head else b"x" * 2_000:
                if is_over.wait(0.02):
                    return
                connection.sendall(bytes([byte]))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        is_over.set()
        thread.join(5)


WHOLE = b"%PDF-1.7\n" + b"A kite.\n" * 1_000 + b"%%EOF\n"
SHORT, SHORTER = WHOLE[:5_000], WHOLE[:3_000]


class Sending:
    """A service that sends these files in order, each as if it were complete."""

    def __init__(self, *files: bytes) -> None:
        self._files = iter(files)
        self.asked = 0

    def __call__(self, _: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        return httpx2.Response(200, content=next(self._files))


def asked_for(service: Sending) -> bytes:
    with Client(transport=httpx2.MockTransport(service)) as client:
        return client.get_file(2, "/pdf", {"id": "a"})


@pytest.mark.fault(
    "service", "a PDF that comes cut off, each time elsewhere", "it is not taken; the next harvest asks again", times=3
)
@pytest.mark.parametrize("files", [(SHORT, SHORTER), (SHORTER, SHORT), (SHORT, b"<html>Bad gateway</html>")])
def test_pdf_cut_twice_is_not_taken(files: tuple[bytes, bytes]) -> None:
    service = Sending(*files)
    with pytest.raises(NotGivenError) as caught:
        asked_for(service)
    assert (caught.value.reason, service.asked) == ("cut off", 2)


@pytest.mark.parametrize(("files", "taken"), [((WHOLE,), WHOLE), ((SHORT, WHOLE), WHOLE), ((SHORT, SHORT), SHORT)])
def test_whole_or_repeated_pdf_is_stored(files: tuple[bytes, ...], taken: bytes) -> None:
    service = Sending(*files)
    assert asked_for(service) == taken
    assert service.asked == len(files)
