"""Classify refusals: which are retried, how long to wait, and what message to show.

Nothing is sent from here; the only retry loop is `Client._retry` in `client.py`.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import msgspec

from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError, TokenRefusedError
from peercorpus.execution.requests import RATE_LIMIT_WAIT_S

_WAIT_IN_MESSAGE = re.compile(
    r"try again in\s+(?:([0-9]+) minutes?)?(?:\s*and\s*)?(?:([0-9]+) seconds?)?", re.IGNORECASE
)
SIGN_IN = (
    "OpenReview serves only signed-in accounts (it requires a browser check of guests, which is not automated here);"
    " sign in with 'peercorpus login', or set PEERCORPUS_TOKEN to a token of your account."
)
TOKEN_REFUSED = (
    "it has expired or is invalid; replace or remove it where you set it (PEERCORPUS_TOKEN, --token-file), or sign in"
    " again with 'peercorpus login'."
)
LONGEST_WAIT_S = 31 * 24 * 3600.0
"""Longest plausible wait; a longer one counts as not stated, because it would block the route for good."""


class _Refusal(msgspec.Struct):
    name: str = ""
    message: str = ""
    details: dict[str, object] = msgspec.field(default_factory=dict)


def check(response: httpx2.Response) -> None:
    """Check that a response is neither a refusal nor a page for a browser.

    Raises:
        BusyError: The same request may succeed later.
        SignInError: A token is needed.
        TokenRefusedError: A fresh token is needed.
        NotGivenError: This one object does not exist, or is not readable by this account.
        SourceError: OpenReview refused the request itself.
    """
    status = response.status_code
    host = response.url.host
    refusal = _read_refusal(response) if status >= 400 else _Refusal()
    is_challenge = refusal.name == "ChallengeRequiredError"
    is_page = response.headers.get("content-type", "").startswith("text/html")
    is_browser_check = is_page and b"Verifying your browser" in response.content[:4096]
    if is_challenge or response.has_redirect_location or is_browser_check:
        if "authorization" in response.request.headers:
            raise TokenRefusedError(f"OpenReview treated the request as not signed in: {TOKEN_REFUSED}")
        raise SignInError(SIGN_IN)
    if status < 400:
        return
    if status == 429:
        raise BusyError(f"OpenReview ({host}) refused: {refusal.message or 'too many requests'}", read_wait(response))
    if status >= 500:
        raise BusyError(f"OpenReview ({host}) answered {status} to {response.url.path}; try again later.")
    if status == 401:
        raise TokenRefusedError(f"OpenReview refused the token: {TOKEN_REFUSED}")
    sentence = f"OpenReview ({host}) answered {status} to {response.url}: {refusal.message or 'no reason'}."
    # A refused GET may concern only the one id that it names, so the harvest goes on with the next.
    if status in {403, 404} or response.request.method == "GET":
        raise NotGivenError(sentence, f"{status} {refusal.name.removesuffix('Error') or 'refused'}")
    raise SourceError(sentence)


def _read_refusal(response: httpx2.Response) -> _Refusal:
    try:
        return msgspec.json.decode(response.content, type=_Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Refusal()


def read_retry_after(response: httpx2.Response) -> float | None:
    """Return the seconds that the header `Retry-After` of a response asks to wait, 0 or more; None if there is none.

    A date is measured from the response's own `Date`: this machine's clock may differ.
    """
    waits_s = _whole_seconds(response, "retry-after"), _seconds_until(_http_date(response, "retry-after"), response)
    return next(filter(_is_believed, waits_s), None)


def read_wait(response: httpx2.Response) -> float | None:
    """Return the seconds to wait after a 429; None if neither headers, message nor details state a plausible time.

    Numbers of seconds take precedence over dates, which are measured as in `read_retry_after`.
    """
    refusal = _read_refusal(response)
    waits_s = (
        _whole_seconds(response, "retry-after"),
        _seconds_in_message(refusal.message),
        _whole_seconds(response, "ratelimit-reset"),
        _seconds_until(_http_date(response, "retry-after"), response),
        _seconds_until(_iso_date(refusal.details.get("resetTime")), response),
    )
    return next(filter(_is_believed, waits_s), None)


def _is_believed(wait_s: float | None) -> bool:
    return wait_s is not None and wait_s <= LONGEST_WAIT_S


def _whole_seconds(response: httpx2.Response, header: str) -> float | None:
    text = response.headers.get(header, "").strip()
    return float(text) if text.isascii() and text.isdigit() else None


def _seconds_in_message(message: str) -> float | None:
    match = _WAIT_IN_MESSAGE.search(message)
    if match is None or not any(match.groups()):
        return None
    minutes, seconds = match.groups()
    return 60 * float(minutes or 0) + float(seconds or 0)


def _seconds_until(moment: datetime | None, response: httpx2.Response) -> float | None:
    sent_at = _http_date(response, "date") or datetime.now(UTC)
    return None if moment is None else max(0.0, (moment - sent_at).total_seconds())


def _http_date(response: httpx2.Response, header: str) -> datetime | None:
    try:
        return _assume_utc(parsedate_to_datetime(response.headers.get(header, "")))
    except (ValueError, OverflowError):
        return None


def _iso_date(text: object) -> datetime | None:
    try:
        return _assume_utc(datetime.fromisoformat(text)) if isinstance(text, str) else None
    except ValueError:
        return None


def _assume_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to keep trying.

    Attributes:
        attempts: Attempts for one request, including the first.
        first_contact: Attempts to reach a service that has never answered: its address may be wrong.
        first_wait_s: Seconds before the second attempt; doubles with each further one.
        longest_wait_s: Longest single wait, in seconds. If OpenReview asks for more, the run ends with a message
            stating when to continue; its rate limits are hourly.
        most_in_a_row: Consecutive failures of different requests after which the service counts as down, rather than
            the requested objects as broken.
        pauses_s: Seconds to pause each time the requests of a harvest fail one after another, before it gives up.
    """

    attempts: int = 6
    first_contact: int = 3
    first_wait_s: float = 1.0
    longest_wait_s: float = RATE_LIMIT_WAIT_S
    most_in_a_row: int = 3
    pauses_s: tuple[float, ...] = (60.0, 300.0, 900.0, 1800.0)
