"""What `details=` adds to a listed note: its replies, its original, its invitation."""

from collections.abc import Callable

from peercorpus.simulator.calls import Call
from peercorpus.simulator.holdings import Json
from peercorpus.simulator.shelves import values_of
from peercorpus.simulator.visibility import may_read, shown


def with_details(call: Call, note: Json, names: list[str]) -> Json:
    """The note with the details that are asked for and that it has; unknown names are passed over."""
    details = {name: value for name in names if name in _DETAILS and (value := _DETAILS[name](call, note)) is not None}
    raw = note.get("details")
    return {**note, "details": {**(raw if isinstance(raw, dict) else {}), **details}}


def _replies(call: Call, note: Json) -> list[Json] | None:
    """All that the caller may read below a forum root; None for a reply."""
    if note["id"] != note.get("forum"):
        return None
    forum = call.shelves.notes.indexes["forum"].get(str(note["id"]), [])
    return [shown(reply, call.caller) for reply in forum if reply["id"] != note["id"] and _is_listed(call, reply)]


def _direct_replies(call: Call, note: Json) -> list[Json]:
    replies = call.shelves.notes.indexes["replyto"].get(str(note["id"]), [])
    return [shown(reply, call.caller) for reply in replies if _is_listed(call, reply)]


def _reply_count(call: Call, note: Json) -> int | None:
    replies = _replies(call, note)
    return None if replies is None else len(replies)


def _direct_reply_count(call: Call, note: Json) -> int:
    return len(_direct_replies(call, note))


def _original(call: Call, note: Json) -> Json | None:
    original = call.shelves.notes.things.get(str(note.get("original")))
    return shown(original, call.caller) if original is not None and may_read(original, call.caller) else None


def _revisions(call: Call, note: Json) -> bool:
    field = "referent" if call.api == "v1" else "note.id"
    edits = call.shelves.edits.indexes[field].get(str(note["id"]), [])
    # An API v2 note begins as its first edit; an API v1 note has references only where it was changed.
    return sum(_is_listed(call, edit) for edit in edits) > (0 if call.api == "v1" else 1)


def _invitation(call: Call, note: Json) -> Json | None:
    named = values_of(note, "invitation")
    invitation = call.shelves.invitations.things.get(named[0]) if named else None
    return shown(invitation, call.caller) if invitation is not None and may_read(invitation, call.caller) else None


def _is_listed(call: Call, thing: Json) -> bool:
    return not thing.get("ddate") and may_read(thing, call.caller)


_DETAILS: dict[str, Callable[[Call, Json], object]] = {
    "replies": _replies,
    "directReplies": _direct_replies,
    "replyCount": _reply_count,
    "directReplyCount": _direct_reply_count,
    "original": _original,
    "revisions": _revisions,
    "invitation": _invitation,
}
