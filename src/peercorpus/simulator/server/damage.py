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
    browser_page,
    challenge_required,
    html_response,
    token_expired,
    too_many_requests,
)
from peercorpus.simulator.world.holdings import Json, World

Query: TypeAlias = Mapping[str, str]
Event: TypeAlias = Callable[[World], None]
ThingT = TypeVar("ThingT")

SHORT_WAIT_S = 1

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
        truncates: Only the first half of the body is sent, as if it were complete.
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


def limited_without_header(message: str = "Too many requests", **details: object) -> Fault:
    """Return a 429 that states the wait in its message or details, or nowhere."""
    return Fault(ApiError(429, "RateLimitError", message, **details).answer())


def rate_limited_gzip() -> Fault:
    """Return a 429 in the recorded form, gzip-encoded even if the client does not accept that."""
    plain = too_many_requests(36, 37, SHORT_WAIT_S).answer({"Content-Encoding": "gzip"})
    return Fault(replace(plain, body=compress(plain.body)))


def server_error(status: int = 500, *, html: bool = False) -> Fault:
    """Return a 500, 502 or 503: JSON from the service, or HTML from the proxy in front of it."""
    if html:
        return Fault(html_response(f"{status} Bad Gateway", status))
    return Fault(ApiError(status, "InternalServerError", "Something went wrong").answer())


def html_page() -> Fault:
    """Return the HTML page for the browser check instead of JSON or a PDF."""
    return Fault(browser_page())


def challenged() -> Fault:
    """Return a 403 that asks for a browser check."""
    return Fault(challenge_required().answer())


def expired() -> Fault:
    """Return a 401 that says that the token has expired."""
    return Fault(token_expired().answer())


def slow(delay_s: float) -> Fault:
    """Return the true response after a delay."""
    return Fault(delay_s=delay_s)


def without_parameter(name: str) -> Fault:
    """Return the response to the query without that parameter."""
    return Fault(asks=lambda query: {key: value for key, value in query.items() if key != name})


def altered(change: Callable[[Json], Json]) -> Fault:
    """Return the true response with changed members, if it is JSON."""

    def alter(answer: Response) -> Response:
        if not _is_json(answer):
            return answer
        return replace(answer, body=msgspec.json.encode(change(msgspec.json.decode(answer.body))))

    return Fault(alters=alter)


def _is_json(answer: Response) -> bool:
    return answer.status == 200 and answer.content_type == JSON


def _both(
    first: Callable[[ThingT], ThingT] | None, second: Callable[[ThingT], ThingT] | None
) -> Callable[[ThingT], ThingT] | None:
    if first is None or second is None:
        return first or second
    return lambda thing: second(first(thing))


BOMB_BYTES = 512 << 20
_BLOCK = bytes(1 << 22)


def in_zip(change: Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]) -> Fault:
    """Return the true zip with changed members; any other response is not changed."""
    return Fault(alters=lambda answer: _change_members(answer, change) if _is_zip(answer) else answer)


def _change_members(answer: Response, change: Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]) -> Response:
    archive = io.BytesIO()
    with ZipFile(archive, "w") as written:
        for name, content in change(_members(answer)):
            written.writestr(name, content)
    return replace(answer, body=archive.getvalue())


def with_html_member(members: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Return the members of a zip with an HTML page under the first one's name."""
    return [(name, html_response(NO_PDF).body) for name, _ in members[:1]] + members[1:]


def with_cut_pdf(answer: Response) -> Response:
    """Return the first half of a PDF, as if it were complete; in a zip, the first member is truncated."""
    if _is_zip(answer):
        cut = [(name, pdf[: len(pdf) // 2]) for name, pdf in _members(answer)[:1]]
        return _change_members(answer, lambda members: cut + members[1:])
    return replace(answer, body=answer.body[: len(answer.body) // 2]) if answer.status == 200 else answer


def with_bomb(answer: Response) -> Response:
    """Return the zip with its first member replaced by the first line of a PDF and half a gigabyte of zeros."""
    if not _is_zip(answer):
        return answer
    members = _members(answer)
    archive = io.BytesIO()
    with ZipFile(archive, "w") as written:
        for name, content in members[1:]:
            written.writestr(name, content)
        if members:
            written.compression = ZIP_DEFLATED
            with written.open(members[0][0], "w", force_zip64=True) as bomb:
                bomb.write(b"%PDF-1.7\n")
                for _ in range(BOMB_BYTES // len(_BLOCK)):
                    bomb.write(_BLOCK)
    return replace(answer, body=archive.getvalue())


def _is_zip(answer: Response) -> bool:
    return answer.status == 200 and answer.content_type == "application/zip"


def _members(answer: Response) -> list[tuple[str, bytes]]:
    with ZipFile(io.BytesIO(answer.body)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def unreadable(value: bytes, object_ids: Set[str]) -> Fault:
    """Return the true response with such a value in an extra member of each object with one of these ids."""
    return Fault(alters=lambda answer: _harm(answer, value, object_ids))


def _harm(answer: Response, value: bytes, object_ids: Set[str]) -> Response:
    if not _is_json(answer):
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
