"""Lists that change between two of their pages."""

from collections.abc import Callable
from functools import partial
from threading import Lock
from time import time

import msgspec

from peercorpus.simulator.calls import Call, Request
from peercorpus.simulator.changes import hide_note, post_late
from peercorpus.simulator.damage import Event, Fault
from peercorpus.simulator.holdings import World
from peercorpus.simulator.listings import NOTES_V1, NOTES_V2, answer_list
from peercorpus.simulator.paging import PARAMETERS


class BetweenPages:
    """Lets something happen to each list of notes once: when the page behind its first rows is asked for.

    What it happens to is the last note of the page before, by which a client that pages with `after` marks its place.
    """

    def __init__(self, happens: Callable[[str, int, World], None]) -> None:
        """Take what happens to that note, by its id, and when, in milliseconds since 1970."""
        self._happens = happens
        self._seen: set[object] = set()
        self._lock = Lock()

    def __call__(self, request: Request) -> Fault | None:
        """The change, where this request is the first for a second page."""
        query = request.query
        if (request.method, request.path) != ("GET", "/notes") or query.get("limit") == "1":
            return None
        if "after" not in query and query.get("offset", "0") == "0":
            return None
        shaping = PARAMETERS | {"details", "count", "select"}
        question = (request.api, *sorted(item for item in query.items() if item[0] not in shaping))
        with self._lock:
            is_new = question not in self._seen
            self._seen.add(question)
        return Fault(happens=self._event) if is_new else None

    def _event(self, call: Call) -> Event:
        last = _row_before(call)
        if last not in call.shelves.notes.things:
            return lambda _world: None
        return partial(self._happens, last, int(time() * 1000))


def vanish(note_id: str, _at_ms: int, world: World) -> None:
    """Take the note from the public."""
    hide_note(world, note_id)


def shift(note_id: str, at_ms: int, world: World) -> None:
    """Take the note from the public and open another one before it, so that the list is as long as it was."""
    post_late(world, note_id, at_ms)
    hide_note(world, note_id)


def _row_before(call: Call) -> str:
    """The id of the row before the page; empty where there is none."""
    if "after" in call.query:
        return call.query["after"]
    before = {**call.query, "offset": str(int(call.query["offset"]) - 1), "limit": "1"}
    listing = NOTES_V1 if call.api == "v1" else NOTES_V2
    asked = Call(call.accounts, call.shelves, call.caller, before, {})
    rows = msgspec.json.decode(answer_list(asked, listing).body)["notes"]
    return str(rows[0]["id"]) if rows else ""
