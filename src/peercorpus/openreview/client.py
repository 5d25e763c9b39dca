"""HTTP client for both OpenReview APIs: timeouts, request budget, token and errors a user can act on.

Every request waits for its turn in the budget of its route, is retried as `Patience` allows, and is bounded in size and
time. Other modules request JSON, a PDF or an archive and get the response or one of the errors in `peercorpus.errors`.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import count
from ssl import SSLContext
from types import TracebackType
from typing import Protocol, Self, TypeVar

import httpx2
import msgspec
import stamina

from peercorpus.errors import (
    BusyError,
    NotGivenError,
    NotJsonError,
    SignInError,
    SourceError,
    TokenRefusedError,
    UnreachableError,
)
from peercorpus.openreview.budget import THIS_MACHINE, Budget, OtherClients, SystemClock
from peercorpus.openreview.response_body import MEGABYTE, check_json, read_members, receive, split_members
from peercorpus.openreview.retries import Patience, check
from peercorpus.openreview.time_limit import TimeLimit, limit_reads
from peercorpus.workspace.harvest_state import BudgetState

_log = logging.getLogger(__name__)

URL_V1 = "https://api.openreview.net"
URL_V2 = "https://api2.openreview.net"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
TIMEOUT = httpx2.Timeout(connect=10, read=120, write=30, pool=10)
WITHIN_S = 1800.0
"""Time limit for one file, in seconds."""

JSON_WITHIN_S = 300.0
"""Time limit for one JSON response, in seconds; a page that takes longer is requested in smaller parts."""

UNREADABLE_ATTEMPTS = 3
"""Number of attempts for a response with invalid JSON: it may have been truncated in transit, or always be invalid."""

MOST_JSON_BYTES = 512 * MEGABYTE
"""Largest JSON response accepted."""
MOST_FILE_BYTES = 200 * MEGABYTE
"""Largest PDF accepted: four times the upload limit of venues on OpenReview."""

MOST_ZIP_BYTES = 2000 * MEGABYTE
"""Largest archive accepted."""
SLICE_S = 5.0
"""Seconds between two messages about the time left of a long wait."""

Params = Mapping[str, str | int]
AnswerT = TypeVar("AnswerT")


class Account(Protocol):
    """Source of the token that the client sends."""

    def token(self) -> str:
        """Return the token to send now, renewed first if it would soon expire.

        Raises:
            SignInError: There is no longer a token.
        """
        ...

    def renewed(self, refused: str) -> str | None:
        """Return a token to replace the one that OpenReview refused; None if there is no other."""
        ...


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """One JSON response.

    Attributes:
        source: The request URL; it never contains a token.
        members: The members of the JSON object, each as received; the value of a member may be invalid JSON.
    """

    source: str
    body: bytes
    members: Mapping[str, msgspec.Raw]


@dataclass(frozen=True, slots=True)
class _Request:
    """One API request, without the token.

    Attributes:
        most_bytes: Largest response body accepted.
        within_s: Time limit for the whole response, in seconds.
        body: JSON to send; None sends a GET request.
        keep: Receives the body in chunks; None keeps it in memory.
        begin: Called before the first chunk of each attempt.
    """

    api: int
    path: str
    params: Params
    most_bytes: int
    within_s: float = WITHIN_S
    body: Mapping[str, object] | None = None
    keep: Callable[[bytes], object] | None = None
    begin: Callable[[], object] | None = None

    @property
    def max_counted(self) -> int:
        """Upper bound on the number of requests this counts as: an archive may count once, or once per file."""
        return str(self.params.get("ids", "")).count(",") + 1


@cache
def _read_certificates(*, trust_env: bool) -> SSLContext:
    """Return a context with the trusted certificates, which are over a hundred and read once per process."""
    return httpx2.create_ssl_context(trust_env=trust_env)


class Client:
    """Client for both APIs of one OpenReview service, safe to share between threads.

    The token is sent to the two base URLs only.
    """

    def __init__(
        self,
        base_url_v1: str = URL_V1,
        base_url_v2: str = URL_V2,
        account: Account | str | None = None,
        *,
        patience: Patience | None = None,
        budget_state: BudgetState | None = None,
        on_wait: Callable[[str], None] = lambda _: None,
        tally: OtherClients | None = None,
        clock: SystemClock = THIS_MACHINE,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        """Create a client; nothing is sent yet.

        Args:
            base_url_v1: Base URL of API v1.
            base_url_v2: Base URL of API v2.
            account: Source of the token, or the token itself; None sends requests as a guest.
            patience: How long to keep trying; None means the default `Patience`.
            budget_state: Where the request budget is stored between runs; None keeps it in memory.
            on_wait: Receives a sentence stating why the client waits, repeatedly during a long wait.
            tally: Counts the use of the same budget by other clients; None ignores them.
            clock: Source of the time, and of waiting.
            transport: Replaces the network, in tests.

        Raises:
            SignInError: The token is malformed, or the address is not https.
            SourceError: A base URL is not an http or https address.
        """
        self._urls = {1: _check_url(base_url_v1), 2: _check_url(base_url_v2)}
        self.patience = Patience() if patience is None else patience
        self._on_wait = on_wait
        self._clock = clock
        self._failed_contacts = 0
        self._was_reached = False
        self._account = account
        if account is not None:
            self._check_account(account)
        is_loopback = all(httpx2.URL(url).host in LOOPBACK for url in self._urls.values())
        self._http = httpx2.Client(
            timeout=TIMEOUT,
            transport=transport,
            trust_env=not is_loopback,
            verify=_read_certificates(trust_env=not is_loopback),
        )
        self._limit = TimeLimit(on_wait)
        limit_reads(self._http, self._limit)
        self._lock = threading.Lock()
        self.budget = Budget(budget_state, clock.now)
        self._tally = OtherClients() if tally is None else tally
        self.requests = 0
        """Requests sent so far, repeated ones included."""

    def _check_account(self, account: Account | str) -> None:
        for url in map(httpx2.URL, self._urls.values()):
            if url.scheme != "https" and url.host not in LOOPBACK:
                raise SignInError(f"The token is not sent to {url.host} over plain http; use an https address.")
        if isinstance(account, str):
            _check_token(account)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def route(self, api: int, path: str) -> str:
        """Return the name of a path's request budget: OpenReview counts the requests to each path separately."""
        return f"{httpx2.URL(self._urls[api]).netloc.decode()}{path}"

    def get_json(self, api: int, path: str, params: Params) -> JsonAnswer:
        """Request JSON.

        Raises:
            NotGivenError: The object does not exist, is not readable by this account, or is too large.
            SignInError: A token is needed, or was refused.
            NotJsonError: Every attempt returned invalid JSON.
            BusyError: OpenReview failed every attempt, or asks for a wait longer than `Patience` allows.
            SourceError: OpenReview could not be reached, or refused the request.
        """
        request = _Request(api, path, params, MOST_JSON_BYTES, JSON_WITHIN_S)
        return self._retry(partial(self._fetch_json, request, count(1)))

    def post_json(self, api: int, path: str, body: Mapping[str, object]) -> JsonAnswer:
        """Send JSON and return the JSON response; only for queries and sign-in, which are safe to repeat.

        Raises the errors of `get_json`.
        """
        request = _Request(api, path, {}, MOST_JSON_BYTES, JSON_WITHIN_S, body)
        return self._retry(partial(self._fetch_json, request, count(1)))

    def get_file(self, api: int, path: str, params: Params) -> bytes:
        """Request a PDF; one without an end is requested again, and accepted if the same bytes come twice.

        Raises the errors of `get_json`; a file that is cut off, or is not a PDF, counts as not given.
        """
        request = _Request(api=api, path=path, params=params, most_bytes=MOST_FILE_BYTES)
        content = self._retry(lambda: self._fetch(request)).content
        if not is_pdf(content):
            raise NotGivenError(f"{self._urls[api]}{path} did not send a PDF.", NO_PDF)
        if not is_whole(content):
            again = self._retry(lambda: self._fetch(request)).content
            if again != content and not (is_pdf(again) and is_whole(again)):
                raise NotGivenError(f"{self._urls[api]}{path} sent a PDF that is cut off.", CUT_OFF)
            return again
        return content

    def get_archive(
        self, api: int, path: str, params: Params, begin: Callable[[], object], keep: Callable[[bytes], object]
    ) -> None:
        """Request a file of any kind; raises the errors of `get_json`.

        Args:
            api: 1 or 2.
            path: Path of the API.
            params: Query parameters.
            begin: Called before the first chunk of each attempt.
            keep: Receives each chunk.
        """
        request = _Request(api=api, path=path, params=params, most_bytes=MOST_ZIP_BYTES, keep=keep, begin=begin)
        self._retry(lambda: self._fetch(request))

    def pause(self, seconds: float, why: str) -> None:
        """Wait, reporting the reason and the time left."""
        ends_at = self._clock.elapsed() + seconds
        while (left_s := ends_at - self._clock.elapsed()) > 0:
            if seconds >= 1:
                self._on_wait(f"{why}; {_describe_left(left_s)} left to wait.")
            self._clock.sleep(min(left_s, SLICE_S))

    def _fetch_json(self, request: _Request, attempts: Iterator[int]) -> JsonAnswer:
        attempt = next(attempts)
        response = self._fetch(request)
        try:
            body = check_json(response.content)
            members: Mapping[str, msgspec.Raw] = read_members(body)
        except ValueError as error:
            body = response.content
            # The unreadable part may be one object of many, which another request would return in the same form.
            members = {name: msgspec.Raw(value) for name, value in split_members(body)}
            if not members:
                sentence = f"OpenReview's answer to {response.url} cannot be read: {error}"
                if attempt < min(UNREADABLE_ATTEMPTS, self.patience.attempts):
                    raise BusyError(sentence) from None
                raise NotJsonError(sentence, str(response.url), response.content) from None
        return JsonAnswer(str(response.url), body, members)

    def _fetch(self, request: _Request) -> httpx2.Response:
        if not isinstance(self._account, str | None):
            token = self._account.token()
            try:
                return self._exchange(request, token)
            except TokenRefusedError:
                other = self._account.renewed(token)
                if other is None:
                    raise
                return self._exchange(request, other)
        return self._exchange(request, self._account)

    def _exchange(self, request: _Request, token: str | None) -> httpx2.Response:
        route = self.route(request.api, request.path)
        self._tally.check()
        self._await_turn(route, request.path)
        with self._lock:
            self.requests += 1
        began = time.monotonic()
        headers = {"Accept": "application/json, application/pdf;q=0.9, */*;q=0.5"}
        if token is not None:
            headers["Authorization"] = f"Bearer {_check_token(token)}"
        with (
            self._tally.under_way(request.max_counted) as sent,
            self._limit.within(request.within_s, f"OpenReview's answer to {request.path}"),
            self._http.stream(
                "GET" if request.body is None else "POST",
                self._urls[request.api] + request.path,
                params=dict(request.params) or None,
                json=request.body,
                headers=headers,
            ) as streamed,
        ):
            self._was_reached = True
            self._tally.learn(sent, route, request.path, self.budget.learn(route, streamed.headers))
            if request.begin is not None:
                request.begin()
            response = receive(streamed, request.most_bytes, request.within_s, request.keep)
        asked = f"{response.request.method} {response.url}"
        _log.info("%s: %d, %.2f s", asked, response.status_code, time.monotonic() - began)
        try:
            check(response)
        except BusyError as error:
            if error.wait_s is not None:
                self.budget.refuse(route, error.wait_s + self.patience.first_wait_s / 10)
            raise
        return response

    def _await_turn(self, route: str, path: str) -> None:
        """Wait until the budget allows the next request."""
        while True:
            turn = self.budget.reserve(route)
            if turn.wait_s > self.patience.longest_wait_s:
                raise BusyError(f"OpenReview allows no more requests to {path} for now.", turn.wait_s)
            self.pause(
                turn.wait_s, f"OpenReview's budget for {path} is used up" if not turn.is_granted else "Spacing requests"
            )
            if turn.is_granted:
                return

    def _retry(self, fetch: Callable[[], AnswerT]) -> AnswerT:
        patience = self.patience
        tries = stamina.retry_context(
            on=self._wait_after,
            attempts=patience.attempts,
            timeout=None,
            wait_initial=patience.first_wait_s,
            wait_max=min(60.0, patience.longest_wait_s),
            wait_jitter=patience.first_wait_s,
        )
        try:
            for attempt in tries:
                with attempt:
                    return fetch()
        except httpx2.RequestError as error:
            raise self._to_source_error(error) from None
        except NotJsonError:
            raise
        except BusyError as error:
            sentence = str(error)
            if error.wait_s is not None:
                sentence += (
                    f" Everything received is kept: run the same command again after {_describe_end(error.wait_s)}."
                )
            raise BusyError(sentence, error.wait_s) from None
        raise AssertionError("stamina gives at least one attempt")

    def _to_source_error(self, error: httpx2.RequestError) -> SourceError:
        if isinstance(error, httpx2.ConnectError) and not self._was_reached:
            return UnreachableError(f"{_describe_host(error)} cannot be reached; check the network and the address.")
        what = "did not answer in time" if isinstance(error, httpx2.TimeoutException) else "broke the connection"
        return BusyError(f"{_describe_host(error)} {what}, {self.patience.attempts} times; try again later.")

    def _wait_after(self, error: Exception) -> bool | float:
        """Return whether to retry after an error: True waits as usual; a number is the seconds to wait.

        If OpenReview states a wait, the budget waits before the next attempt, so hardly any time is left here.
        """
        if isinstance(error, NotJsonError):
            return False
        if isinstance(error, BusyError):
            if error.wait_s is None:
                self._on_wait("OpenReview reports an internal error; trying again.")
                return True
            return 0.001 if error.wait_s <= self.patience.longest_wait_s else False
        if not isinstance(error, httpx2.RequestError):
            return False
        self._failed_contacts += not self._was_reached
        if not self._was_reached and self._failed_contacts >= self.patience.first_contact:
            return False
        self._on_wait(f"{_describe_host(error)} does not respond; trying again.")
        return True


NO_PDF = "not a PDF"
CUT_OFF = "cut off"


def is_pdf(content: bytes) -> bool:
    """Return whether content begins as a PDF.

    Readers look for the header in the first kilobyte (ISO 32000, annex H).
    """
    return b"%PDF-" in content[:1024]


def is_whole(content: bytes) -> bool:
    """Return whether content ends as a PDF, with `%%EOF` in its last four kilobytes, where readers look for it."""
    return b"%%EOF" in content[-4096:]


def _check_url(url: str) -> str:
    address = httpx2.URL(url)
    if address.scheme not in {"http", "https"} or not address.host:
        raise SourceError(f"Invalid API address '{url}': expected https://HOST, or http://HOST on this machine.")
    return url.rstrip("/")


def _check_token(token: str) -> str:
    bare = token.strip().removeprefix("Bearer ")
    if not bare or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise SignInError(
            "The token is not valid: it is empty, or contains spaces or other invalid characters; copy it again."
        )
    return bare


def _describe_end(wait_s: float) -> str:
    """Return the end of a wait that begins now, to the minute; with its date unless that is today."""
    now = datetime.now(UTC)
    ends = now + timedelta(seconds=wait_s + 59)
    return f"{ends:%H:%M} UTC" if ends.date() == now.date() else f"{ends:%Y-%m-%d %H:%M} UTC"


def _describe_left(left_s: float) -> str:
    """Return the remaining time of a wait in the largest suitable unit.

    >>> _describe_left(89), _describe_left(5400), _describe_left(86400), _describe_left(20 * 86400)
    ('89 s', '90 min', '24 h', '20 days')
    """
    if left_s < 90:
        return f"{left_s:.0f} s"
    if left_s < 2 * 3600:
        return f"{left_s / 60:.0f} min"
    return f"{left_s / 3600:.0f} h" if left_s < 2 * 86400 else f"{left_s / 86400:.0f} days"


def _describe_host(error: httpx2.RequestError) -> str:
    return f"OpenReview ({error.request.url.host})"
