"""Damage the list of all edits of a venue: rows lost or repeated between pages, and rows that do not belong to it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import cast

import msgspec

from peercorpus.simulator.server.damage import Fault
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.responses import JSON, Response, json_answer
from peercorpus.simulator.world.holdings import Json, draw_id

OTHER_VENUE = "Elsewhere.cc/2024/Conference"
"""Venue of the edits that belong to no venue of the world."""

Rows = list[Json]


def is_edit_list(request: Request) -> bool:
    """Return whether a request asks for the edits of a venue."""
    return request.path == "/notes/edits" and "domain" in request.query


def continues_edit_list(request: Request) -> bool:
    """Return whether a request asks for a later page of the edits of a venue."""
    return is_edit_list(request) and "after" in request.query


def without_edits() -> Fault:
    """Return an empty list, as for a venue that this parameter does not find."""
    return Fault(json_answer({"edits": [], "count": 0}))


def without_first() -> Fault:
    """Return the page without its first row."""
    return _altered(lambda rows: rows[1:])


def with_other_venue() -> Fault:
    """Return the page with an edit of another venue, for a note that no venue lists."""

    def add(rows: Rows) -> Rows:
        moved = {"domain": OTHER_VENUE, "invitation": f"{OTHER_VENUE}/-/Edit"}
        return [*(_strayed(row, "elsewhere") | moved for row in rows[:1]), *rows]

    return _altered(add)


def with_unlisted() -> Fault:
    """Return the page with an edit of a note that the venue never lists."""
    return _altered(lambda rows: [*(_strayed(row, "unlisted") for row in rows[:1]), *rows])


def _strayed(edit: Json, mark: str) -> Json:
    """Return a copy of an edit with its own id, for a note that does not exist."""
    note = cast("Json", edit["note"])
    unknown = {name: value for name, value in note.items() if name not in {"forum", "replyto"}}
    return {**edit, "id": draw_id(str(edit["id"]), mark), "note": unknown | {"id": draw_id(str(note["id"]), mark)}}


def _altered(change: Callable[[Rows], Rows]) -> Fault:
    def alter(answer: Response) -> Response:
        if answer.status != 200 or answer.content_type != JSON:
            return answer
        members: Json = msgspec.json.decode(answer.body)
        return replace(answer, body=msgspec.json.encode(members | {"edits": change(cast("Rows", members["edits"]))}))

    return Fault(alters=alter)


@dataclass(slots=True)
class RepeatedRows:
    """Begins each later page of the edits of a venue with the last row of the previous page."""

    last: Rows = field(init=False, default_factory=list)
    lock: Lock = field(init=False, default_factory=Lock)

    def __call__(self, request: Request) -> Fault | None:
        """Return the fault for a page of such a list."""
        if not is_edit_list(request) or request.query.get("limit") == "1":
            return None
        return _altered(self._repeat if "after" in request.query else self._remember)

    def _remember(self, rows: Rows) -> Rows:
        with self.lock:
            self.last = rows[-1:]
        return rows

    def _repeat(self, rows: Rows) -> Rows:
        with self.lock:
            before = self.last if rows else []
        self._remember(rows)
        return [*before, *rows]
