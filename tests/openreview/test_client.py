"""The client: what it sends, what it retries, and what it says when OpenReview refuses."""

import gzip
import re
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from peercorpus.errors import NotGivenError, SignInError, SourceError
from peercorpus.openreview.client import Client
from peercorpus.openreview.retries import Patience

TOKEN = "aaaa.bbbb.cccc"
HASTY = Patience(attempts=3, first_wait_s=0.001, longest_wait_s=5)
CHALLENGE = {"name": "ChallengeRequiredError", "message": "Challenge verification required", "status": 403}
PAGE = "<html><head><title>Verifying your browser | OpenReview</title></head></html>"

Answer = httpx2.Response | Exception


def client_of(*answers: Answer, token: str | None = None) -> Client:
    """A client that gets these answers, one after the other, the last one again and again."""
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
        copy = httpx2.Response(answer.status_code, headers=answer.headers, content=answer.content)
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
def test_a_passing_fault_is_retried(fault: Answer) -> None:
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
def test_a_lasting_fault_is_one_sentence_that_names_the_host(fault: Answer, sentence: str) -> None:
    client = client_of(fault, token=TOKEN)
    with pytest.raises(SourceError, match=sentence) as caught:
        client.get_json(2, "/notes", {})
    assert client.requests == 3
    assert "api2.openreview.net" in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_a_long_wait_ends_the_run_at_once_and_says_when_to_go_on() -> None:
    client = client_of(in_words("You have made 37 requests. Please try again in 60 minutes and 13 seconds (x)"))
    with pytest.raises(SourceError, match=r"again after \d\d:\d\d UTC"):
        client.get_json(2, "/notes", {})
    assert client.requests == 1


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (httpx2.Response(403, json=CHALLENGE), "PEERCORPUS_TOKEN"),
        (httpx2.Response(302, headers={"Location": "https://openreview.net/challenge"}), "PEERCORPUS_TOKEN"),
        (httpx2.Response(200, html=PAGE), "PEERCORPUS_TOKEN"),
        (httpx2.Response(401, json={"name": "TokenExpiredError"}), "PEERCORPUS_TOKEN, --token-file"),
    ],
)
def test_a_refused_guest_or_token_is_told_what_to_do(answer: Answer, sentence: str) -> None:
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
def test_a_file_that_is_not_given_says_why(answer: Answer, reason: str) -> None:
    with pytest.raises(NotGivenError) as caught:
        client_of(answer).get_file(2, "/pdf", {"id": "a"})
    assert caught.value.reason == reason


def test_a_request_that_is_refused_is_not_repeated() -> None:
    client = client_of(httpx2.Response(400, json={"name": "ValidationError", "message": "limit must be <= 1000"}))
    with pytest.raises(SourceError, match="limit must be <= 1000"):
        client.get_json(2, "/notes", {"limit": 1001})
    assert client.requests == 1


def test_a_half_character_does_not_lose_the_page() -> None:
    client = client_of(httpx2.Response(200, content=b'{"notes":["cut \\ud83d"]}'))
    assert "cut \ufffd" in client.get_json(2, "/notes", {}).body.decode()


def test_the_token_goes_into_one_header_and_to_nobody_else() -> None:
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
def test_a_token_no_header_can_hold_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(SignInError, match=r"^The token ") as caught:
        Client(account=token)
    assert not token.strip() or token not in str(caught.value)


def test_the_token_is_not_sent_over_plain_http() -> None:
    with pytest.raises(SignInError, match="plain http"):
        Client("http://mirror.example.org", "http://mirror.example.org", TOKEN)
    Client("http://127.0.0.1:1", "http://localhost:2", TOKEN).close()


@pytest.mark.parametrize("url", ["api.openreview.net", "ftp://api.openreview.net", ""])
def test_an_address_that_is_none_is_one_sentence(url: str) -> None:
    with pytest.raises(SourceError, match=f"'{re.escape(url)}'.* https://"):
        Client(url)


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as taken:
        # Bound and not listening: every connection is refused, and nobody else can take the port.
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_a_refused_connection_names_the_host(closed_port: int) -> None:
    url = f"http://127.0.0.1:{closed_port}"
    with Client(url, url, TOKEN, patience=HASTY) as client, pytest.raises(SourceError, match=r"127\.0\.0\.1.*reached"):
        client.get_json(2, "/groups", {"id": "V"})
