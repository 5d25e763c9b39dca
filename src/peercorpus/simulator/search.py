"""Notes found by their ids, or by words in them."""

from peercorpus.simulator.answers import Answer, invalid, json_answer
from peercorpus.simulator.calls import Call
from peercorpus.simulator.holdings import Json
from peercorpus.simulator.paging import MOST_ROWS, page_of, read_paging
from peercorpus.simulator.shelves import values_of
from peercorpus.simulator.visibility import may_read, shown

_SOURCES = ("all", "forum", "reply")


def find_notes(call: Call) -> Answer:
    """Answer `POST /notes/search`: the readable notes among the ids of the body."""
    ids = call.body.get("ids")
    if not isinstance(ids, list) or len(ids) > MOST_ROWS:
        raise invalid("ids", ids, f"must be a list of at most {MOST_ROWS} ids")
    notes = [note for note_id in ids if (note := call.shelves.notes.things.get(str(note_id))) is not None]
    readable = [shown(note, call.caller) for note in notes if may_read(note, call.caller) and not note.get("ddate")]
    return json_answer({"notes": readable, "count": len(readable)})


def search_notes(call: Call) -> Answer:
    """Answer `GET /notes/search`: the readable notes with a text in any field, or in the one that `content` names.

    The live service ranks by how well a note fits; here the newest come first.
    """
    term = call.query.get("term") or call.required("query")
    source = call.query.get("source", "all")
    if source not in _SOURCES:
        raise invalid("source", source, f"must be one of {', '.join(_SOURCES)}")
    found = [
        seen
        for note in call.shelves.notes.newest_first
        if may_read(note, call.caller)
        and not note.get("ddate")
        and source in ("all", "forum" if note["id"] == note.get("forum") else "reply")
        and _is_of(note, call.query.get("group", "all"))
        and _holds(seen := shown(note, call.caller), term.casefold(), call.query.get("content", "all"))
    ]
    return json_answer({"notes": page_of(found, read_paging(call.query)), "count": len(found)})


def _is_of(note: Json, group: str) -> bool:
    return group == "all" or any(name.startswith(f"{group}/") for name in values_of(note, "invitation"))


def _holds(note: Json, term: str, name: str) -> bool:
    content = note.get("content")
    fields = list(content) if name == "all" and isinstance(content, dict) else [name]
    return any(term in value.casefold() for field in fields for value in values_of(note, f"content.{field}"))
