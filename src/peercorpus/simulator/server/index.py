"""Index the objects of the simulated world, and decide who may read them."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from peercorpus.simulator.server.responses import forbidden, invalid, not_found
from peercorpus.simulator.world.holdings import Holdings, Json


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request.

    Attributes:
        names: Every name in `readers` that includes this caller: their own, and those of their groups.
        user: The account; None for a guest.
    """

    names: frozenset[str]
    user: str | None = None


GUEST = Caller(frozenset({"everyone", "(guest)"}))


def may_read(thing: Json, caller: Caller) -> bool:
    """Return whether the caller is among the readers; nobody may read an object without readers."""
    return not caller.names.isdisjoint(_names(thing.get("readers"))) and caller.names.isdisjoint(
        _names(thing.get("nonreaders"))
    )


def visible_object(thing: Json, caller: Caller) -> Json:
    """Return the object without fields whose own readers exclude this caller.

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
        changed["details"] = (
            {**kept, "original": visible_object(original, caller)} if may_read(original, caller) else kept
        )
    return {**thing, **changed} if changed else thing


def _has_hidden_field(content: object, caller: Caller) -> bool:
    return isinstance(content, dict) and any(_is_hidden(value, caller) for value in content.values())


def _readable_fields(content: Json, caller: Caller) -> Json:
    return {name: value for name, value in content.items() if not _is_hidden(value, caller)}


def _is_hidden(value: object, caller: Caller) -> bool:
    return isinstance(value, dict) and isinstance(value.get("readers"), list) and not may_read(value, caller)


def _names(value: object) -> Iterable[str]:
    return cast("list[str]", value) if isinstance(value, list) else ()


_WILDCARD = re.compile(r"\.\*|\.\+|[*+?()\[\]{}|^$\\]")
_REMEMBERED_LISTS = 64


def values_of(thing: Json, field: str) -> tuple[str, ...]:
    """Return the values that a filter on `field` compares, as text; for a list, each of its items.

    >>> values_of({"content": {"venueid": {"value": "V.cc/2031"}}}, "content.venueid")
    ('V.cc/2031',)
    """
    if field == "note.id":
        return values_of(_part(thing, "note"), "id")
    if field.startswith("content."):
        value = _part(thing, "content").get(field.removeprefix("content."))
        return _texts(value.get("value") if isinstance(value, dict) else value)
    if field == "invitation" and "invitations" in thing:
        return _texts(thing["invitations"])
    if field == "parent" and not thing.get("parent"):
        return (str(thing["id"]).rpartition("/")[0],)
    return _texts(
        thing.get({"signature": "signatures", "member": "members", "signatory": "signatories"}.get(field, field))
    )


def meets(thing: Json, filters: Mapping[str, str]) -> bool:
    """Return whether the object has one of the values of each filter."""
    return all(_Wanted(name, text).is_met_by(thing) for name, text in filters.items())


class ObjectIndex:
    """Objects of one kind, found by id, by prefix of an id, and by indexed fields."""

    def __init__(
        self, kind: str, things: Mapping[str, Json], indexed: Iterable[str], prefixes: frozenset[str] = frozenset()
    ) -> None:
        """Index the objects; `kind` is their name in error messages, `prefixes` are the filters that take a prefix."""
        self.kind, self.prefixes = kind, prefixes
        self.things = dict(things)
        self.newest_first = list(reversed(self.things.values()))
        self.indexes = {field: self._index(field) for field in indexed}
        self._sorted_keys = {field: sorted(index) for field, index in self.indexes.items()}
        self._lists: dict[object, list[Json]] = {}

    def one(self, thing_id: str, caller: Caller, *, with_deleted: bool = False) -> Json:
        """Return the object with this id.

        Raises:
            ApiError: There is none, or it is deleted, or the caller may not read it.
        """
        thing = self.things.get(thing_id)
        if thing is None or (thing.get("ddate") and not with_deleted):
            raise not_found(self.kind, thing_id)
        if not may_read(thing, caller):
            raise forbidden(self.kind, thing_id, caller.user or "Guest")
        return thing

    def matching(self, filters: Mapping[str, str]) -> list[Json]:
        """Return the objects that match every filter, using the smallest index; without an index, newest first."""
        criteria = [_Wanted(name, text, name in self.prefixes) for name, text in filters.items()]
        indexed = [self._from_index(criterion) for criterion in criteria if criterion.field in self.indexes]
        rows = min(indexed, key=len, default=self.newest_first)
        return [row for row in rows if all(criterion.is_met_by(row) for criterion in criteria)]

    def remembered(self, key: object) -> list[Json] | None:
        """Return a long list computed earlier for the same query."""
        return self._lists.get(key)

    def remember(self, key: object, rows: list[Json]) -> None:
        """Store a long list for requests of its other pages."""
        if len(self._lists) >= _REMEMBERED_LISTS:
            self._lists.clear()
        self._lists[key] = rows

    def _index(self, field: str) -> dict[str, list[Json]]:
        index: dict[str, list[Json]] = defaultdict(list)
        for thing in self.newest_first:
            for value in dict.fromkeys(values_of(thing, field)):
                index[value].append(thing)
        return dict(index)

    def _from_index(self, criterion: "_Wanted") -> list[Json]:
        index = self.indexes[criterion.field]
        keys = criterion.values if criterion.prefix is None else self._keys_under(criterion.field, criterion.prefix)
        rows = {str(row["id"]): row for key in keys for row in index.get(key, ())}
        return list(rows.values())

    def _keys_under(self, field: str, prefix: str) -> Iterator[str]:
        keys = self._sorted_keys[field]
        for index in range(bisect_left(keys, prefix), len(keys)):
            if not keys[index].startswith(prefix):
                return
            yield keys[index]


class Shelves:
    """The indexed objects of one API."""

    def __init__(self, api: str, holdings: Holdings) -> None:
        """Index the holdings of `api` ("v1" or "v2") as they are now."""
        self.api = api
        prefixes = frozenset({"regex", "invitation"} if api == "v1" else {"prefix"})
        self.notes = ObjectIndex(
            "Note",
            holdings.notes,
            ("id", "forum", "replyto", "original", "invitation", "parentInvitations", "content.venueid"),
            prefixes,
        )
        edit_fields = ("id", "note.id", "referent", "invitation")
        self.edits = ObjectIndex("Edit" if api == "v2" else "Reference", holdings.edits, edit_fields, prefixes)
        self.groups = ObjectIndex("Group", holdings.groups, ("id", "parent", "member"), prefixes)
        self.invitations = ObjectIndex("Invitation", holdings.invitations, ("id",), frozenset({"prefix", "regex"}))
        self.author_edits = frozenset(holdings.author_edits)
        self.files = holdings.files
        self._pdfs: dict[str, list[Json]] | None = None

    def notes_with_pdf(self, path: str) -> list[Json]:
        """Return the notes whose current PDF has this path; the index is built on first use."""
        if self._pdfs is None:
            pdfs: dict[str, list[Json]] = defaultdict(list)
            for note in self.notes.newest_first:
                for value in values_of(note, "content.pdf"):
                    pdfs[value].append(note)
            self._pdfs = pdfs
        return self._pdfs.get(path, [])

    def groups_of(self, names: Iterable[str]) -> frozenset[str]:
        """Return the names and every group that contains one of them, directly or through other groups."""
        reached: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += [str(group["id"]) for group in self.groups.indexes["member"].get(name, ())]
        return frozenset(reached)


class _Wanted:
    """Criterion of one filter: a set of values, or a prefix."""

    def __init__(self, name: str, text: str, takes_prefix: bool = False) -> None:
        self.field = {"ids": "id", "prefix": "id", "regex": "id", "members": "member"}.get(name, name)
        self.prefix = _read_prefix(name, text) if takes_prefix else None
        # A title may contain a comma, so the whole text is one of the values.
        self.values = frozenset({text, *text.split(",")})

    def is_met_by(self, thing: Json) -> bool:
        values = values_of(thing, self.field)
        if self.prefix is not None:
            return any(value.startswith(self.prefix) for value in values)
        return not self.values.isdisjoint(values)


def _read_prefix(field: str, text: str) -> str | None:
    """Return the prefix in `V/Paper3/-/.*`; None for an exact invitation.

    API v1 accepts a regular expression that ends in its only wildcard, and returns 400 for any other.
    """
    stem = text.removesuffix("*").removesuffix(".") if text.endswith(".*") else text
    if _WILDCARD.search(stem):
        raise invalid(field, text, "must be a prefix regular expression")
    return None if field == "invitation" and stem == text else stem


def _part(thing: Json, name: str) -> Json:
    part = thing.get(name)
    return part if isinstance(part, dict) else {}


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(str(item) for item in value) if isinstance(value, list) else (str(value),)
