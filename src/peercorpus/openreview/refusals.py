"""What OpenReview's refusals mean: how long to wait, what to tell the user, what concerns one object only."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import msgspec

from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError, TokenRefusedError

WORDS = re.compile(r"try again in\s+(?:(\d+) minutes?)?(?:\s*and\s*)?(?:(\d+) seconds?)?", re.IGNORECASE)
SIGN_IN = (
    "OpenReview answers only signed-in accounts (it asks guests for a browser check, which is not automated here);"
    " sign in with 'peercorpus login', or set PEERCORPUS_TOKEN to a token of your account."
)


class _Refusal(msgspec.Struct):
    name: str = ""
    message: str = ""
    details: dict[str, object] = msgspec.field(default_factory=dict)


def check(response: httpx2.Response) -> None:
    """Pass an answer that is neither a refusal nor a page for a browser.

    Raises:
        BusyError: It may go well later.
        SignInError: It needs a token.
        TokenRefusedError: It needs a fresh one.
        NotGivenError: This one thing is not there, or not for this account.
        SourceError: It refused the request itself.
    """
    status, host = response.status_code, response.url.host
    if response.has_redirect_location or _is_browser_check(response):
        raise SignInError(SIGN_IN)
    if status < 400:
        return
    refusal = _read(response)
    if status == 429:
        raise BusyError(f"OpenReview ({host}) refused: {refusal.message or 'too many requests'}", wait_of(response))
    if status >= 500:
        raise BusyError(f"OpenReview ({host}) answered {status} to {response.url.path}; try again later.")
    if status == 401:
        raise TokenRefusedError(
            "OpenReview refused the token: it has expired, or never was one; sign in anew with 'peercorpus login', or"
            " set PEERCORPUS_TOKEN to a fresh one."
        )
    if refusal.name == "ChallengeRequiredError":
        raise SignInError(SIGN_IN)
    if status in {403, 404}:
        raise NotGivenError(f"OpenReview ({host}) answered {status} to {response.url}.", f"{status} {_words(refusal)}")
    raise SourceError(f"OpenReview ({host}) answered {status} to {response.url}: {refusal.message or 'no reason'}.")


def _words(refusal: _Refusal) -> str:
    return refusal.name.removesuffix("Error") or "refused"


def _is_browser_check(response: httpx2.Response) -> bool:
    is_page = response.headers.get("content-type", "").startswith("text/html")
    return is_page and b"Verifying your browser" in response.content[:4096]


def _read(response: httpx2.Response) -> _Refusal:
    try:
        return msgspec.json.decode(response.content, type=_Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Refusal()


def wait_of(response: httpx2.Response) -> float | None:
    """Seconds to wait after a 429: by its headers, its details, or its words; None where none says."""
    refusal = _read(response)
    header = _seconds(response.headers.get("retry-after", ""))
    if header is not None:
        return header
    reset = refusal.details.get("resetTime")
    if isinstance(reset, str):
        try:
            return _until(datetime.fromisoformat(reset))
        except ValueError:
            pass
    found = WORDS.search(refusal.message)
    if found is not None and any(found.groups()):
        return 60.0 * int(found[1] or 0) + int(found[2] or 0)
    return _seconds(response.headers.get("ratelimit-reset", ""))


def _seconds(header: str) -> float | None:
    if header.strip().isdigit():
        return float(header)
    try:
        return _until(parsedate_to_datetime(header))
    except ValueError:
        return None


def _until(moment: datetime) -> float:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
