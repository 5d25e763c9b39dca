"""Who is asking, and what of an object they may see: the object, its fields, the original behind it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from peercorpus.simulator.holdings import Json


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request.

    Attributes:
        names: Every name that may stand in `readers` and means this caller: the groups they are in, and their own.
        user: The account; None for a guest.
    """

    names: frozenset[str]
    user: str | None = None


GUEST = Caller(frozenset({"everyone", "(guest)"}))


def may_read(thing: Json, caller: Caller) -> bool:
    """Whether the caller is among the readers; an object without readers is read by nobody."""
    return not caller.names.isdisjoint(_names(thing.get("readers"))) and caller.names.isdisjoint(
        _names(thing.get("nonreaders"))
    )


def shown(thing: Json, caller: Caller) -> Json:
    """The object without the fields that have readers of their own and are not for this caller.

    An API v2 edit carries its fields in `note.content`; an API v1 reference carries the author's own in
    `details.original`.
    """
    changed: Json = {}
    content = thing.get("content")
    if isinstance(content, dict) and _has_hidden_field(content, caller):
        changed["content"] = _readable_fields(content, caller)
    note = thing.get("note")
    if isinstance(note, dict) and _has_hidden_field(note.get("content"), caller):
        changed["note"] = {**note, "content": _readable_fields(note["content"], caller)}
    details = thing.get("details")
    if isinstance(details, dict) and isinstance(original := details.get("original"), dict):
        kept = {name: value for name, value in details.items() if name != "original"}
        changed["details"] = {**kept, "original": shown(original, caller)} if may_read(original, caller) else kept
    return {**thing, **changed} if changed else thing


def _has_hidden_field(content: object, caller: Caller) -> bool:
    return isinstance(content, dict) and any(_is_hidden(value, caller) for value in content.values())


def _readable_fields(content: Json, caller: Caller) -> Json:
    return {name: value for name, value in content.items() if not _is_hidden(value, caller)}


def _is_hidden(value: object, caller: Caller) -> bool:
    return isinstance(value, dict) and isinstance(value.get("readers"), list) and not may_read(value, caller)


def _names(value: object) -> Iterable[str]:
    return cast("list[str]", value) if isinstance(value, list) else ()
