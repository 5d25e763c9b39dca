"""The only door to OpenReview: timeouts, the budget, retries, the token, and errors a user can act on."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Protocol, Self, TypeVar

import httpx2
import msgspec
import stamina

from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError, TokenRefusedError
from peercorpus.ledger import BudgetLedger
from peercorpus.openreview.budget import Budget
from peercorpus.openreview.jsontext import checked, read_members
from peercorpus.openreview.others import Tally
from peercorpus.openreview.refusals import check
from peercorpus.openreview.transfer import MEGABYTE, receive

URL_V1 = "https://api.openreview.net"
URL_V2 = "https://api2.openreview.net"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
TIMEOUT = httpx2.Timeout(connect=10, read=120, write=30, pool=10)
WITHIN_S = 1800.0
"""How long one answer may take in all."""

MOST_JSON_BYTES = 512 * MEGABYTE
MOST_FILE_BYTES = 200 * MEGABYTE
"""Four times what venues of OpenReview let authors upload."""

MOST_ZIP_BYTES = 2000 * MEGABYTE
SLICE_S = 5.0
"""How often a long wait says how much of it is left."""

Params = Mapping[str, str | int]
AnswerT = TypeVar("AnswerT")


class Account(Protocol):
    """Where the client gets its token."""

    def token(self) -> str:
        """The token to send now, renewed first where it would soon expire.

        Raises:
            SignInError: There is none any more.
        """
        ...

    def renewed(self, refused: str) -> str | None:
        """Another token in place of the one OpenReview refused; None where there is no other."""
        ...


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """One answer.

    Attributes:
        source: The request, without a token.
        body: The JSON text as received.
        members: Its members, each as received.
    """

    source: str
    body: bytes
    members: Mapping[str, msgspec.Raw]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to keep trying.

    Attributes:
        attempts: Requests for one thing, the first included.
        first_contact: Attempts to reach a service that has not answered once: the address may be wrong.
        first_wait_s: Before the second; it doubles from there.
        longest_wait_s: Longer than this no single wait lasts: where OpenReview asks for more, the run ends with a
            sentence that says when to go on. Its budgets are by the hour.
        pauses_s: Rests of a harvest whose requests fail one after the other, before it gives up.
    """

    attempts: int = 6
    first_contact: int = 3
    first_wait_s: float = 1.0
    longest_wait_s: float = 7200.0
    pauses_s: tuple[float, ...] = (60.0, 300.0, 900.0, 1800.0)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request, but for the token."""

    api: int
    path: str
    params: Params
    most_bytes: int
    body: Mapping[str, object] | None = None
    keep: Callable[[bytes], object] | None = None
    begin: Callable[[], object] = lambda: None

    @property
    def most(self) -> int:
        """As how many requests OpenReview may count it: whether several files in one are one is not known."""
        return str(self.params.get("ids", "")).count(",") + 1


class Client:
    """Both APIs of one OpenReview. The token goes to these two addresses only. Threads may share it."""

    def __init__(
        self,
        base_url_v1: str = URL_V1,
        base_url_v2: str = URL_V2,
        account: Account | str | None = None,
        *,
        patience: Patience = Patience(),
        ledger: BudgetLedger | None = None,
        on_wait: Callable[[str], None] = lambda _: None,
        tally: Tally | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        """Take the addresses and the account.

        Args:
            base_url_v1: Where API v1 answers.
            base_url_v2: Where API v2 answers.
            account: Where the token comes from, or the token itself; None asks as a guest.
            patience: How long to keep trying.
            ledger: Where the request budget outlives the run; None: it does not.
            on_wait: Told in a sentence why it waits, again and again while it does.
            tally: What is done where others spend the same budget; None: nothing.
            transport: For tests.

        Raises:
            SignInError: The token cannot be sent: it has characters no header can hold, or the address is not https.
        """
        self._urls = {1: _address(base_url_v1), 2: _address(base_url_v2)}
        self.patience, self._on_wait = patience, on_wait
        self._failed_contacts, self._was_reached = 0, False
        self._account = account
        if account is not None:
            _check_addresses(self._urls.values())
        if isinstance(account, str):
            _sendable(account)
        self._http = httpx2.Client(timeout=TIMEOUT, transport=transport, trust_env=not self._is_loopback())
        self._lock = threading.Lock()
        self.budget = Budget(ledger)
        self._tally = Tally() if tally is None else tally
        self.requests = 0
        """Requests sent so far, repeated ones included."""

    def _is_loopback(self) -> bool:
        return all(httpx2.URL(url).host in LOOPBACK for url in self._urls.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def route(self, api: int, path: str) -> str:
        """What the budget of a path is known by: OpenReview counts the requests of each path for itself."""
        return f"{httpx2.URL(self._urls[api]).netloc.decode()}{path}"

    def get_json(self, api: int, path: str, params: Params) -> JsonAnswer:
        """Ask for JSON.

        Raises:
            NotGivenError: There is no such thing, or not for this account, or it is too large.
            SignInError: A token is needed, or was refused.
            BusyError: OpenReview did not answer properly, however often it was asked, or asks to wait for hours.
            SourceError: OpenReview could not be reached, or refused the request.
        """
        return self._patiently(lambda: self._fetch_json(_Asked(api, path, params, MOST_JSON_BYTES)))

    def post_json(self, api: int, path: str, body: Mapping[str, object]) -> JsonAnswer:
        """Send JSON and get JSON; for questions and sign-in only, which do no harm when they arrive twice.

        Raises:
            As `get_json`.
        """
        return self._patiently(lambda: self._fetch_json(_Asked(api, path, {}, MOST_JSON_BYTES, body)))

    def get_file(self, api: int, path: str, params: Params) -> bytes:
        """Ask for a PDF; one without its end is asked for again, and taken if it comes again as it was.

        Raises:
            NotGivenError: There is no such file, it is not for this account, is too large, or is no whole PDF.
            SignInError: A token is needed, or was refused.
            BusyError: As `get_json`.
            SourceError: OpenReview could not be reached.
        """
        asked = _Asked(api, path, params, MOST_FILE_BYTES)
        content = self._patiently(lambda: self._fetch(asked)).content
        if not is_pdf(content):
            raise NotGivenError(f"{self._urls[api]}{path} sent something that is no PDF.", NO_PDF)
        if not is_whole(content):
            again = self._patiently(lambda: self._fetch(asked)).content
            if again != content and not (is_pdf(again) and is_whole(again)):
                raise NotGivenError(f"{self._urls[api]}{path} sent a PDF that is cut off.", CUT_OFF)
            return again
        return content

    def get_archive(
        self, api: int, path: str, params: Params, begin: Callable[[], object], keep: Callable[[bytes], object]
    ) -> None:
        """Ask for a file of any kind, part by part.

        Args:
            api: 1 or 2.
            path: Where it is.
            params: What is asked for.
            begin: Called before the first part, and again before the first part of another attempt.
            keep: Takes each part.

        Raises:
            As `get_file`.
        """
        asked = _Asked(api, path, params, MOST_ZIP_BYTES, keep=keep, begin=begin)
        self._patiently(lambda: self._fetch(asked))

    def pause(self, seconds: float, why: str) -> None:
        """Wait, saying why and how much of it is left."""
        ends_at = time.monotonic() + seconds
        while (left_s := ends_at - time.monotonic()) > 0:
            if seconds >= 1:
                self._on_wait(f"{why}; {_in_words(left_s)} left to wait.")
            time.sleep(min(left_s, SLICE_S))

    def _fetch_json(self, asked: _Asked) -> JsonAnswer:
        response = self._fetch(asked)
        try:
            body = checked(response.content)
            members = read_members(body)
        except ValueError as error:
            raise BusyError(f"OpenReview's answer to {response.url} cannot be read: {error}") from None
        return JsonAnswer(str(response.url), body, members)

    def _fetch(self, asked: _Asked) -> httpx2.Response:
        if not isinstance(self._account, str | None):
            token = self._account.token()
            try:
                return self._exchange(asked, token)
            except TokenRefusedError:
                other = self._account.renewed(token)
                if other is None:
                    raise
                return self._exchange(asked, other)
        return self._exchange(asked, self._account)

    def _exchange(self, asked: _Asked, token: str | None) -> httpx2.Response:
        route = self.route(asked.api, asked.path)
        self._tally.check()
        self._await_turn(route, asked.path)
        with self._lock:
            self.requests += 1
        with (
            self._tally.under_way(asked.most) as sent,
            self._http.stream(
                "GET" if asked.body is None else "POST",
                self._urls[asked.api] + asked.path,
                params=dict(asked.params) or None,
                json=asked.body,
                headers=_headers(token),
            ) as streamed,
        ):
            self._was_reached = True
            self._tally.learn(sent, route, asked.path, self.budget.learn(route, streamed.headers))
            asked.begin()
            response = receive(streamed, asked.most_bytes, WITHIN_S, asked.keep)
        try:
            check(response)
        except BusyError as error:
            if error.wait_s is not None:
                self.budget.refuse(route, error.wait_s + self.patience.first_wait_s / 10)
            raise
        return response

    def _await_turn(self, route: str, path: str) -> None:
        """Wait until the budget allows the next request.

        Raises:
            BusyError: That is too long.
        """
        while True:
            turn = self.budget.reserve(route)
            if turn.wait_s > self.patience.longest_wait_s:
                raise BusyError(f"OpenReview allows no more requests to {path} for now.", turn.wait_s)
            self.pause(
                turn.wait_s, f"OpenReview's budget for {path} is used up" if not turn.is_granted else "Spacing requests"
            )
            if turn.is_granted:
                return

    def _patiently(self, fetch: Callable[[], AnswerT]) -> AnswerT:
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
            raise self._explained(error) from None
        except BusyError as error:
            raise BusyError(_last_word(error), error.wait_s) from None
        raise AssertionError("stamina gives at least one attempt")

    def _explained(self, error: httpx2.RequestError) -> SourceError:
        if isinstance(error, httpx2.ConnectError) and not self._was_reached:
            return SourceError(f"{_host(error)} cannot be reached; check the network and the address.")
        what = "did not answer in time" if isinstance(error, httpx2.TimeoutException) else "broke the connection"
        return BusyError(f"{_host(error)} {what}, {self.patience.attempts} times; try again later.")

    def _wait_after(self, error: Exception) -> bool | float:
        """Whether to try again after an error: True for the usual wait; next to nothing where the budget waits."""
        if isinstance(error, BusyError):
            if error.wait_s is None:
                self._on_wait("OpenReview is out of order for the moment; trying again.")
                return True
            return 0.001 if error.wait_s <= self.patience.longest_wait_s else False
        if not isinstance(error, httpx2.RequestError):
            return False
        self._failed_contacts += not self._was_reached
        if not self._was_reached and self._failed_contacts >= self.patience.first_contact:
            return False
        self._on_wait(f"{_host(error)} does not answer; trying again.")
        return True


NO_PDF = "not a PDF"
CUT_OFF = "cut off"


def is_pdf(content: bytes) -> bool:
    """Whether it begins as a PDF; readers look for the header in the first kilobyte (ISO 32000, annex H)."""
    return b"%PDF-" in content[:1024]


def is_whole(content: bytes) -> bool:
    """Whether it ends as a PDF: `%%EOF` stands in the last kilobytes, where readers look for it."""
    return b"%%EOF" in content[-4096:]


def _headers(token: str | None) -> dict[str, str]:
    headers = {"Accept": "application/json, application/pdf;q=0.9, */*;q=0.5"}
    return headers if token is None else headers | {"Authorization": f"Bearer {_sendable(token)}"}


def _address(url: str) -> str:
    address = httpx2.URL(url)
    if address.scheme not in {"http", "https"} or not address.host:
        raise SourceError(f"'{url}' is not the address of an API; it starts with https://, or on this machine http://.")
    return url.rstrip("/")


def _check_addresses(urls: Iterable[str]) -> None:
    for url in map(httpx2.URL, urls):
        if url.scheme != "https" and url.host not in LOOPBACK:
            raise SignInError(f"The token is not sent to {url.host} over plain http; use an https address.")


def _sendable(token: str) -> str:
    bare = token.strip().removeprefix("Bearer ")
    if not bare or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise SignInError("The token is not one of OpenReview's: it is empty, or holds characters no token has.")
    return bare


def _host(error: httpx2.RequestError) -> str:
    return f"OpenReview ({error.request.url.host})"


def _in_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _last_word(error: BusyError) -> str:
    if error.wait_s is None:
        return str(error)
    opens = datetime.now(UTC) + timedelta(seconds=error.wait_s + 59)
    return f"{error} What was received is kept: run the same command again after {opens:%H:%M} UTC."
