"""Damage one object of a response so that the response is no longer JSON, or can no longer be decoded."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from threading import Lock

import msgspec

from peercorpus.simulator.server.damage import Fault
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.responses import JSON, Response

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
