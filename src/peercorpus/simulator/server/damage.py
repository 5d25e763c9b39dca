"""Damage a response: rate limits, errors, truncated files, broken zip archives, objects that cannot be decoded."""

import io
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from gzip import compress
from threading import Lock
from typing import TypeAlias, TypeVar
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec

from peercorpus.simulator.server.requests import Call, Request
from peercorpus.simulator.server.responses import (
    JSON,
    NO_PDF,
    ApiError,
    Response,
    browser_check,
    browser_page,
    challenge_required,
    html_response,
    in_words,
    reset_time,
    token_expired,
    too_many_requests,
)
from peercorpus.simulator.world.holdings import World

Query: TypeAlias = Mapping[str, str]
Event: TypeAlias = Callable[[World], None]
ThingT = TypeVar("ThingT")

SHORT_WAIT_S = 1
HUGE_BYTES = 2 << 30

VALUES: Mapping[str, bytes] = {
    "too_deep": b"[" * 10_000 + b"]" * 10_000,
    "not_utf8": b'"\xff\xfe"',
    "half_surrogate": b'"\xed\xa0\xbd"',
    "nan": b"NaN",
    "huge_number": b"9" * 10_000,
    "infinite_number": b"1e999",
    "bare_line_break": b'"\n"',
    "no_value": b"",
    "nul": b'"\0"',
    "unmatched_brackets": b"[[{",
}
"""Values that no JSON parser accepts, or that ours cannot decode, by the names of their faults."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with a request.

    Attributes:
        answer: Sent instead of the true response; None sends the true response.
        drops: The connection closes without a response.
        cuts: The connection closes in the middle of the body.
        truncates: Only the first half of the body is sent, as if it were complete.
        delay_s: Seconds before anything is sent.
        drip_s: Seconds between two bytes of the response, including its head; 0 sends it at once.
        asks: Returns the query to answer, given the query received.
        alters: Returns the response to send, given the true response.
        happens: Returns a change of the world to make just before the response. It lasts while the service runs; the
            world passed to the service is not changed.
    """

    answer: Response | None = None
    drops: bool = False
    cuts: bool = False
    truncates: bool = False
    delay_s: float = 0.0
    drip_s: float = 0.0
    asks: Callable[[Query], Query] | None = None
    alters: Callable[[Response], Response] | None = None
    happens: Callable[[Call], Event] | None = None

    def damage(self, answer: Response) -> Response:
        """Return the part of a response that is sent."""
        answer = self.alters(answer) if self.alters is not None else answer
        return replace(answer, body=answer.body[: len(answer.body) // 2]) if self.truncates else answer

    def joined(self, other: "Fault") -> "Fault":
        """Return both faults combined; this one wins where they conflict."""
        return Fault(
            answer=self.answer or other.answer,
            drops=self.drops or other.drops,
            cuts=self.cuts or other.cuts,
            truncates=self.truncates or other.truncates,
            delay_s=self.delay_s + other.delay_s,
            drip_s=self.drip_s + other.drip_s,
            asks=_both(self.asks, other.asks),
            alters=_both(self.alters, other.alters),
            happens=self.happens or other.happens,
        )


DROPPED = Fault(drops=True)
CUT_OFF = Fault(cuts=True)
TRUNCATED = Fault(truncates=True)


def rate_limited(retry_after_s: int | None = None) -> Fault:
    """Return a 429 in the recorded shape; without `retry_after_s`, only the body states the wait."""
    wait_s = SHORT_WAIT_S if retry_after_s is None else retry_after_s
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    return Fault(too_many_requests(36, 37, wait_s).answer(headers))


def rate_limited_in_words() -> Fault:
    """Return a 429 that states the wait only in its message."""
    message = f"Too many requests. Please try again in {in_words(SHORT_WAIT_S)}"
    return Fault(ApiError(429, "RateLimitError", message).answer())


def rate_limited_until() -> Fault:
    """Return a 429 that states the wait only in `details.resetTime`."""
    return Fault(ApiError(429, "RateLimitError", "Too many requests", resetTime=reset_time(SHORT_WAIT_S)).answer())


def rate_limited_silently() -> Fault:
    """Return a 429 that states no wait at all."""
    return Fault(ApiError(429, "RateLimitError", "Too many requests").answer())


def rate_limited_gzip() -> Fault:
    """Return a 429 in the recorded form, gzip-encoded even if the client does not accept that."""
    plain = too_many_requests(36, 37, SHORT_WAIT_S).answer({"Content-Encoding": "gzip"})
    return Fault(replace(plain, body=compress(plain.body)))


def too_many_sign_ins() -> Fault:
    """Return a 429 in the shape recorded for logins, without a header that states the wait."""
    return Fault(too_many_requests(3, 4, SHORT_WAIT_S).answer())


def server_error(status: int = 500, *, html: bool = False) -> Fault:
    """Return a 500, 502 or 503: JSON from the service, or HTML from the proxy in front of it."""
    if html:
        return Fault(html_response(f"{status} Bad Gateway", status))
    return Fault(ApiError(status, "InternalServerError", "Something went wrong").answer())


def empty_error(status: int = 503) -> Fault:
    """Return an error with an empty body labelled as JSON."""
    return Fault(Response(b"", status))


def html_page() -> Fault:
    """Return the HTML page for the browser check instead of JSON or a PDF."""
    return Fault(browser_page())


def no_pdf() -> Fault:
    """Return an HTML page other than the browser check instead of a file."""
    return Fault(html_response(NO_PDF))


def no_pdf_inside() -> Fault:
    """Return the same page with the content type of the true response."""
    return Fault(alters=lambda answer: replace(answer, body=html_response(NO_PDF).body))


def redirected() -> Fault:
    """Return a 302 that leads to an HTML page."""
    return Fault(browser_check())


def challenged() -> Fault:
    """Return a 403 that asks for a browser check."""
    return Fault(challenge_required().answer())


def expired() -> Fault:
    """Return a 401 that says that the token has expired."""
    return Fault(token_expired().answer())


def slow(delay_s: float) -> Fault:
    """Return the true response after a delay."""
    return Fault(delay_s=delay_s)


def dripping(drip_s: float) -> Fault:
    """Return the true response, one byte at a time."""
    return Fault(drip_s=drip_s)


def huge() -> Fault:
    """Return a file of 2 GB that begins like a PDF."""
    return Fault(Response(b"%PDF-1.7\n", content_type="application/pdf", padding_bytes=HUGE_BYTES))


def uncounted() -> Fault:
    """Return the true list without `count`."""
    return Fault(alters=_without_count)


def without_parameter(name: str) -> Fault:
    """Return the response to the query without that parameter."""
    return Fault(asks=lambda query: {key: value for key, value in query.items() if key != name})


def _without_count(answer: Response) -> Response:
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


BOMB_BYTES = 512 << 20
_BLOCK = bytes(1 << 22)


def without_member(answer: Response) -> Response:
    """Return the zip without its last member."""
    return _zip_members(answer, dict(list(_members(answer).items())[:-1])) if _is_zip(answer) else answer


def with_html_member(answer: Response) -> Response:
    """Return the zip with an HTML page under its first member's name."""
    return _replace_first(answer, html_response(NO_PDF).body) if _is_zip(answer) else answer


def with_cut_pdf(answer: Response) -> Response:
    """Return the first half of a PDF, as if it were complete; in a zip, the first member is truncated."""
    if _is_zip(answer):
        first = next(iter(_members(answer).values()), b"")
        return _replace_first(answer, first[: len(first) // 2])
    if answer.status != 200:
        return answer
    return replace(answer, body=answer.body[: len(answer.body) // 2])


def with_bomb(answer: Response) -> Response:
    """Return the zip with its first member replaced by the first line of a PDF and half a gigabyte of zeros."""
    if not _is_zip(answer):
        return answer
    members = _members(answer)
    name = next(iter(members), None)
    archive = io.BytesIO()
    with ZipFile(archive, "w") as written:
        for member, content in members.items():
            if member != name:
                written.writestr(member, content)
        if name is not None:
            written.compression = ZIP_DEFLATED
            with written.open(name, "w", force_zip64=True) as bomb:
                bomb.write(b"%PDF-1.7\n")
                for _ in range(BOMB_BYTES // len(_BLOCK)):
                    bomb.write(_BLOCK)
    return replace(answer, body=archive.getvalue())


def _is_zip(answer: Response) -> bool:
    return answer.status == 200 and answer.content_type == "application/zip"


def _members(answer: Response) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(answer.body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _replace_first(answer: Response, content: bytes) -> Response:
    members = _members(answer)
    return _zip_members(
        answer, {name: content if index == 0 else old for index, (name, old) in enumerate(members.items())}
    )


def _zip_members(answer: Response, members: Mapping[str, bytes]) -> Response:
    archive = io.BytesIO()
    with ZipFile(archive, "w") as written:
        for name, content in members.items():
            written.writestr(name, content)
    return replace(answer, body=archive.getvalue())


def unreadable(value: bytes, object_ids: Set[str]) -> Fault:
    """Return the true response with such a value in an extra member of each object with one of these ids."""
    return Fault(alters=lambda answer: _harm(answer, value, object_ids))


def _harm(answer: Response, value: bytes, object_ids: Set[str]) -> Response:
    if answer.status != 200 or answer.content_type != JSON:
        return answer
    body = answer.body
    for object_id in object_ids:
        name = b'"id":%s' % msgspec.json.encode(object_id)
        body = body.replace(name, b'%s,"further":%s' % (name, value))
    return replace(answer, body=body)


class _Ids(msgspec.Struct):
    id: str = ""


class _Notes(msgspec.Struct):
    notes: list[_Ids] = []


@dataclass(slots=True)
class UnreadableNote:
    """Makes the first listed submission unreadable in every response that contains it."""

    value: bytes
    object_ids: set[str] = field(init=False, default_factory=set)
    lock: Lock = field(init=False, default_factory=Lock)

    def __call__(self, request: Request) -> Fault | None:
        """Return the damage to a response of `/notes`."""
        return Fault(alters=self._alter) if (request.method, request.path) == ("GET", "/notes") else None

    def _alter(self, answer: Response) -> Response:
        with self.lock:
            if not self.object_ids and answer.status == 200:
                notes = msgspec.json.decode(answer.body, type=_Notes).notes
                self.object_ids |= {note.id for note in notes[:1]}
        return _harm(answer, self.value, self.object_ids)
