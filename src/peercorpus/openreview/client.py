"""The only door to OpenReview: timeouts, retries, the token, and errors a user can act on."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self, TypeVar

import httpx2
import msgspec
import stamina

from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError
from peercorpus.openreview.jsontext import checked, read_members
from peercorpus.openreview.refusals import check

URL_V1 = "https://api.openreview.net"
URL_V2 = "https://api2.openreview.net"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
TIMEOUT = httpx2.Timeout(connect=10, read=120, write=30, pool=10)

Params = Mapping[str, str | int]
AnswerT = TypeVar("AnswerT")


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
            sentence that says when to go on.
    """

    attempts: int = 6
    first_contact: int = 3
    first_wait_s: float = 1.0
    longest_wait_s: float = 600.0


class Client:
    """Both APIs of one OpenReview. The token goes to these two addresses only. Not shared between threads."""

    def __init__(
        self,
        base_url_v1: str = URL_V1,
        base_url_v2: str = URL_V2,
        token: str | None = None,
        *,
        patience: Patience = Patience(),
        on_wait: Callable[[str], None] = lambda _: None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        """Take the addresses and the token.

        Args:
            base_url_v1: Where API v1 answers.
            base_url_v2: Where API v2 answers.
            token: An OpenReview access token; None asks as a guest.
            patience: How long to keep trying.
            on_wait: Told in a sentence why it waits before it tries again.
            transport: For tests.

        Raises:
            SignInError: The token cannot be sent: it has characters no header can hold, or the address is not https.
        """
        self._urls = {1: _address(base_url_v1), 2: _address(base_url_v2)}
        self._patience, self._on_wait = patience, on_wait
        self._failed_contacts, self._was_reached = 0, False
        self._headers = {"Accept": "application/json, application/pdf;q=0.9, */*;q=0.5"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {_sendable(token, self._urls.values())}"
        self._http = httpx2.Client(timeout=TIMEOUT, transport=transport, trust_env=not self._is_loopback())
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

    def get_json(self, api: int, path: str, params: Params) -> JsonAnswer:
        """Ask for JSON.

        Raises:
            NotGivenError: There is no such thing, or not for this account.
            SignInError: A token is needed, or was refused.
            SourceError: OpenReview could not be reached, or did not answer properly.
        """
        return self._patiently(lambda: self._fetch_json(api, path, params))

    def get_file(self, api: int, path: str, params: Params) -> bytes:
        """Ask for a PDF.

        Raises:
            NotGivenError: There is no such file, it is not for this account, or it is no PDF.
            SignInError: A token is needed, or was refused.
            SourceError: OpenReview could not be reached.
        """
        content = self._patiently(lambda: self._fetch(api, path, params)).content
        if not content.startswith(b"%PDF-"):
            raise NotGivenError(f"{self._urls[api]}{path} sent something that is no PDF.", "not a PDF")
        return content

    def _fetch_json(self, api: int, path: str, params: Params) -> JsonAnswer:
        response = self._fetch(api, path, params)
        try:
            body = checked(response.content)
            members = read_members(body)
        except ValueError as error:
            raise BusyError(f"OpenReview's answer to {response.url} cannot be read: {error}") from None
        return JsonAnswer(str(response.url), body, members)

    def _fetch(self, api: int, path: str, params: Params) -> httpx2.Response:
        self.requests += 1
        response = self._http.get(self._urls[api] + path, params=dict(params), headers=self._headers)
        self._was_reached = True
        check(response)
        return response

    def _patiently(self, fetch: Callable[[], AnswerT]) -> AnswerT:
        patience = self._patience
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
        except httpx2.ConnectError as error:
            raise SourceError(f"{_host(error)} cannot be reached; check the network and the address.") from None
        except httpx2.RequestError as error:
            what = "did not answer in time" if isinstance(error, httpx2.TimeoutException) else "broke the connection"
            raise SourceError(f"{_host(error)} {what}, {patience.attempts} times; try again later.") from None
        except BusyError as error:
            raise SourceError(self._last_word(error)) from None
        raise AssertionError("stamina gives at least one attempt")

    def _wait_after(self, error: Exception) -> bool | float:
        """Whether to try again after an error: how long OpenReview asks to wait, or True for the usual wait."""
        if isinstance(error, BusyError):
            return self._wait_for(error)
        if not isinstance(error, httpx2.RequestError):
            return False
        self._failed_contacts += not self._was_reached
        if not self._was_reached and self._failed_contacts >= self._patience.first_contact:
            return False
        self._on_wait(f"{_host(error)} does not answer; trying again.")
        return True

    def _wait_for(self, error: BusyError) -> bool | float:
        if error.wait_s is None:
            self._on_wait("OpenReview is out of order for the moment; trying again.")
            return True
        if error.wait_s > self._patience.longest_wait_s:
            return False
        self._on_wait(f"OpenReview asks to wait {error.wait_s:.0f} s; then it goes on.")
        return error.wait_s + self._patience.first_wait_s / 10

    def _last_word(self, error: BusyError) -> str:
        if error.wait_s is None:
            return str(error)
        opens = datetime.now(UTC) + timedelta(seconds=error.wait_s)
        return f"{error} What was received is kept: run the same command again after {opens:%H:%M} UTC."


def _address(url: str) -> str:
    address = httpx2.URL(url)
    if address.scheme not in {"http", "https"} or not address.host:
        raise SourceError(f"'{url}' is not the address of an API; it starts with https://.")
    return url.rstrip("/")


def _sendable(token: str, urls: Iterable[str]) -> str:
    bare = token.strip().removeprefix("Bearer ")
    if not bare or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise SignInError("The token is not one of OpenReview's: it is empty, or holds characters no token has.")
    for url in map(httpx2.URL, urls):
        if url.scheme != "https" and url.host not in LOOPBACK:
            raise SignInError(f"The token is not sent to {url.host} over plain http; use an https address.")
    return bare


def _host(error: httpx2.RequestError) -> str:
    return f"OpenReview ({error.request.url.host})"
