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
            "OpenReview refused the token: it has expired, or never was one; replace or remove it where you gave it"
            " (PEERCORPUS_TOKEN, --token-file), else sign in anew with 'peercorpus login'."
        )
    if refusal.name == "ChallengeRequiredError":
        raise SignInError(SIGN_IN)
    sentence = f"OpenReview ({host}) answered {status} to {response.url}: {refusal.message or 'no reason'}."
    # A question that is refused may be so for the one id it names.
    if status in {403, 404} or response.request.method == "GET":
        raise NotGivenError(sentence, f"{status} {_words(refusal)}")
    raise SourceError(sentence)


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
    """Seconds to wait after a 429; None where neither headers, words nor details say.

    Numbers of seconds come first; a moment is measured from the answer's own `Date`: this machine's clock may differ.
    """
    refusal = _read(response)
    after = response.headers.get("retry-after", "")
    if after.strip().isdigit():
        return float(after)
    found = WORDS.search(refusal.message)
    if found is not None and any(found.groups()):
        return 60.0 * int(found[1] or 0) + int(found[2] or 0)
    reset = response.headers.get("ratelimit-reset", "")
    if reset.strip().isdigit():
        return float(reset)
    until = _http_date(after) or _iso_date(refusal.details.get("resetTime"))
    sent = _http_date(response.headers.get("date", "")) or datetime.now(UTC)
    return None if until is None else max(0.0, (until - sent).total_seconds())


def _http_date(text: str) -> datetime | None:
    try:
        return _aware(parsedate_to_datetime(text))
    except ValueError:
        return None


def _iso_date(text: object) -> datetime | None:
    try:
        return _aware(datetime.fromisoformat(text)) if isinstance(text, str) else None
    except ValueError:
        return None


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
