"""Indexes over the holdings of one API, built once, so that no request looks at every object."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from peercorpus.simulator.answers import forbidden, invalid, not_found
from peercorpus.simulator.holdings import Holdings, Json
from peercorpus.simulator.visibility import Caller, may_read

_WILDCARD = re.compile(r"\.\*|\.\+|[*+?()\[\]{}|^$\\]")
_REMEMBERED_LISTS = 64


def values_of(thing: Json, field: str) -> tuple[str, ...]:
    """The values that a filter on `field` compares, as text; a list gives each of its items.

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
    """Whether the object has one of the values that each filter names."""
    return all(_Wanted(name, text).is_met_by(thing) for name, text in filters.items())


class Shelf:
    """The objects of one kind, found by id, by prefix of an id, and by the fields that are indexed."""

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
        """The object with this id.

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
        """The objects that meet every filter; the smallest index is read, and without one they come newest first."""
        wanted = [_Wanted(name, text, name in self.prefixes) for name, text in filters.items()]
        indexed = [self._from_index(one) for one in wanted if one.field in self.indexes]
        rows = min(indexed, key=len, default=self.newest_first)
        return [row for row in rows if all(one.is_met_by(row) for one in wanted)]

    def remembered(self, key: object) -> list[Json] | None:
        """A long list that was made before for the same question."""
        return self._lists.get(key)

    def remember(self, key: object, rows: list[Json]) -> None:
        """Keep a long list for the requests for its other pages."""
        if len(self._lists) >= _REMEMBERED_LISTS:
            self._lists.clear()
        self._lists[key] = rows

    def _index(self, field: str) -> dict[str, list[Json]]:
        index: dict[str, list[Json]] = defaultdict(list)
        for thing in self.newest_first:
            for value in dict.fromkeys(values_of(thing, field)):
                index[value].append(thing)
        return dict(index)

    def _from_index(self, wanted: "_Wanted") -> list[Json]:
        index = self.indexes[wanted.field]
        keys = wanted.values if wanted.prefix is None else self._keys_under(wanted.field, wanted.prefix)
        rows = {str(row["id"]): row for key in keys for row in index.get(key, ())}
        return list(rows.values())

    def _keys_under(self, field: str, prefix: str) -> Iterator[str]:
        keys = self._sorted_keys[field]
        for place in range(bisect_left(keys, prefix), len(keys)):
            if not keys[place].startswith(prefix):
                return
            yield keys[place]


class Shelves:
    """The holdings of one API on their shelves."""

    def __init__(self, api: str, holdings: Holdings) -> None:
        """Index the holdings of `api` ("v1" or "v2") as they are now."""
        self.api = api
        prefixes = frozenset({"regex", "invitation"} if api == "v1" else {"prefix"})
        self.notes = Shelf(
            "Note",
            holdings.notes,
            ("id", "forum", "replyto", "original", "invitation", "parentInvitations", "content.venueid"),
            prefixes,
        )
        edit_fields = ("id", "note.id", "referent", "invitation")
        self.edits = Shelf("Edit" if api == "v2" else "Reference", holdings.edits, edit_fields, prefixes)
        self.groups = Shelf("Group", holdings.groups, ("id", "parent", "member"), prefixes)
        self.invitations = Shelf("Invitation", holdings.invitations, ("id",), frozenset({"prefix", "regex"}))
        self.author_edits = frozenset(holdings.author_edits)
        self.files = holdings.files
        self._pdfs: dict[str, list[Json]] | None = None

    def notes_with_pdf(self, path: str) -> list[Json]:
        """The notes whose current PDF has this path; the index is built when it is first asked for."""
        if self._pdfs is None:
            pdfs: dict[str, list[Json]] = defaultdict(list)
            for note in self.notes.newest_first:
                for value in values_of(note, "content.pdf"):
                    pdfs[value].append(note)
            self._pdfs = pdfs
        return self._pdfs.get(path, [])

    def groups_of(self, names: Iterable[str]) -> frozenset[str]:
        """The names and every group that holds one of them, directly or through other groups."""
        known: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in known:
                known.add(name)
                waiting += [str(group["id"]) for group in self.groups.indexes["member"].get(name, ())]
        return frozenset(known)


class _Wanted:
    """What one filter asks for: one of some values, or a prefix."""

    def __init__(self, name: str, text: str, takes_prefix: bool = False) -> None:
        self.field = {"ids": "id", "prefix": "id", "regex": "id", "members": "member"}.get(name, name)
        self.prefix = _read_prefix(name, text) if takes_prefix else None
        # A title may hold a comma, so the whole text is one of the values.
        self.values = frozenset({text, *text.split(",")})

    def is_met_by(self, thing: Json) -> bool:
        values = values_of(thing, self.field)
        if self.prefix is not None:
            return any(value.startswith(self.prefix) for value in values)
        return not self.values.isdisjoint(values)


def _read_prefix(field: str, text: str) -> str | None:
    """The prefix in `V/Paper3/-/.*`; None for an exact invitation.

    API v1 takes a regular expression that ends in its only wildcard, and answers 400 to any other.
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
