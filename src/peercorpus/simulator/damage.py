"""What goes wrong with one request, on purpose: another answer, a damaged one, none at all, or a world that changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from gzip import compress
from typing import TypeAlias, TypeVar

import msgspec

from peercorpus.simulator.answers import (
    JSON,
    NO_PDF,
    Answer,
    ApiError,
    browser_check,
    browser_page,
    challenge_required,
    in_words,
    page,
    reset_time,
    token_expired,
    too_many_requests,
)
from peercorpus.simulator.calls import Call
from peercorpus.simulator.holdings import World

Query: TypeAlias = Mapping[str, str]
Event: TypeAlias = Callable[[World], None]
ThingT = TypeVar("ThingT")

SHORT_WAIT_S = 1
HUGE_BYTES = 2 << 30


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with one request.

    Attributes:
        answer: Sent instead of the true answer; None: the true answer is sent.
        drops: The connection closes without an answer.
        cuts: The connection closes in the middle of the body.
        truncates: Only the first half of the body is sent, as if it were whole.
        delay_s: Seconds before anything is sent.
        asks: From the query as it came to the query that is answered.
        alters: From the true answer to the answer that is sent.
        happens: What changes in the world just before the request is answered, and stays changed while the service
            runs; the world that the service was given keeps as it is.
    """

    answer: Answer | None = None
    drops: bool = False
    cuts: bool = False
    truncates: bool = False
    delay_s: float = 0.0
    asks: Callable[[Query], Query] | None = None
    alters: Callable[[Answer], Answer] | None = None
    happens: Callable[[Call], Event] | None = None

    def damage(self, answer: Answer) -> Answer:
        """What of an answer is sent."""
        answer = self.alters(answer) if self.alters is not None else answer
        return replace(answer, body=answer.body[: len(answer.body) // 2]) if self.truncates else answer

    def joined(self, other: "Fault") -> "Fault":
        """Both at once; where only one can be, it is this one."""
        return Fault(
            self.answer or other.answer,
            self.drops or other.drops,
            self.cuts or other.cuts,
            self.truncates or other.truncates,
            self.delay_s + other.delay_s,
            _both(self.asks, other.asks),
            _both(self.alters, other.alters),
            self.happens or other.happens,
        )


DROPPED = Fault(drops=True)
CUT_OFF = Fault(cuts=True)
TRUNCATED = Fault(truncates=True)


def rate_limited(retry_after_s: int | None = None) -> Fault:
    """A 429 in the recorded shape; without `retry_after_s` no header says how long, only the body."""
    wait_s = SHORT_WAIT_S if retry_after_s is None else retry_after_s
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    return Fault(too_many_requests(36, 37, wait_s).answer(headers))


def rate_limited_in_words() -> Fault:
    """A 429 that says how long in its message alone."""
    message = f"Too many requests. Please try again in {in_words(SHORT_WAIT_S)}"
    return Fault(ApiError(429, "RateLimitError", message).answer())


def rate_limited_until() -> Fault:
    """A 429 that says how long in `details.resetTime` alone."""
    return Fault(ApiError(429, "RateLimitError", "Too many requests", resetTime=reset_time(SHORT_WAIT_S)).answer())


def rate_limited_silently() -> Fault:
    """A 429 that says no time at all."""
    return Fault(ApiError(429, "RateLimitError", "Too many requests").answer())


def rate_limited_gzip() -> Fault:
    """A 429 in the recorded shape, gzip-encoded whether that was asked for or not."""
    plain = too_many_requests(36, 37, SHORT_WAIT_S).answer({"Content-Encoding": "gzip"})
    return Fault(replace(plain, body=compress(plain.body)))


def too_many_sign_ins() -> Fault:
    """A 429 in the shape recorded of logins: no header says how long."""
    return Fault(too_many_requests(3, 4, SHORT_WAIT_S).answer())


def server_error(status: int = 500, *, html: bool = False) -> Fault:
    """A 500, 502 or 503: JSON of the service, or the HTML of what stands before it."""
    if html:
        return Fault(page(f"{status} Bad Gateway", status))
    return Fault(ApiError(status, "InternalServerError", "Something went wrong").answer())


def empty_error(status: int = 503) -> Fault:
    """An error with an empty body that is labelled JSON."""
    return Fault(Answer(b"", status))


def html_page() -> Fault:
    """The HTML page that checks a browser, where JSON or a PDF was expected."""
    return Fault(browser_page())


def no_pdf() -> Fault:
    """An HTML page that is no browser check, where a file was expected."""
    return Fault(page(NO_PDF))


def no_pdf_inside() -> Fault:
    """The same page under the content type of the true answer."""
    return Fault(alters=lambda answer: replace(answer, body=page(NO_PDF).body))


def redirected() -> Fault:
    """A 302 that leads to an HTML page."""
    return Fault(browser_check())


def challenged() -> Fault:
    """A 403 that asks for a browser check."""
    return Fault(challenge_required().answer())


def expired() -> Fault:
    """A 401 that says that the token has expired."""
    return Fault(token_expired().answer())


def slow(delay_s: float) -> Fault:
    """The true answer, late."""
    return Fault(delay_s=delay_s)


def huge() -> Fault:
    """A file of 2 GB that begins as a PDF does."""
    return Fault(Answer(b"%PDF-1.7\n", content_type="application/pdf", padding_bytes=HUGE_BYTES))


def uncounted() -> Fault:
    """The true list without `count`."""
    return Fault(alters=_without_count)


def without_parameter(name: str) -> Fault:
    """The answer to the query without that parameter."""
    return Fault(asks=lambda query: {key: value for key, value in query.items() if key != name})


def _without_count(answer: Answer) -> Answer:
    if answer.status != 200 or answer.content_type != JSON:
        return answer
    members = msgspec.json.decode(answer.body, type=dict[str, msgspec.Raw])
    members.pop("count", None)
    return replace(answer, body=msgspec.json.encode(members))


def _both(
    first: Callable[[ThingT], ThingT] | None, second: Callable[[ThingT], ThingT] | None
) -> Callable[[ThingT], ThingT] | None:
    if first is None or second is None:
        return first or second
    return lambda thing: second(first(thing))
