"""Serve the list routes: filtered, sorted and paged, with `details=` and `select=`."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from peercorpus.simulator.server.index import ObjectIndex, Shelves, may_read, meets, values_of, visible_object
from peercorpus.simulator.server.requests import Call
from peercorpus.simulator.server.responses import Response, invalid, json_answer
from peercorpus.simulator.world.holdings import Json


def with_details(call: Call, note: Json, names: list[str]) -> Json:
    """Return the note with the requested details that it has; unknown names are ignored."""
    details = {name: value for name in names if name in _DETAILS and (value := _DETAILS[name](call, note)) is not None}
    raw = note.get("details")
    return {**note, "details": {**(raw if isinstance(raw, dict) else {}), **details}}


def _replies(call: Call, note: Json) -> list[Json] | None:
    """Return the replies below a forum root that the caller may read; None for a reply."""
    if note["id"] != note.get("forum"):
        return None
    forum = call.shelves.notes.indexes["forum"].get(str(note["id"]), [])
    return [
        visible_object(reply, call.caller) for reply in forum if reply["id"] != note["id"] and _is_listed(call, reply)
    ]


def _direct_replies(call: Call, note: Json) -> list[Json]:
    replies = call.shelves.notes.indexes["replyto"].get(str(note["id"]), [])
    return [visible_object(reply, call.caller) for reply in replies if _is_listed(call, reply)]


def _original(call: Call, note: Json) -> Json | None:
    return _shown(call, call.shelves.notes, str(note.get("original")))


def _revisions(call: Call, note: Json) -> bool:
    field = "referent" if call.api == "v1" else "note.id"
    edits = call.shelves.edits.indexes[field].get(str(note["id"]), [])
    # An API v2 note begins with an edit; an API v1 note has references only if it was changed.
    return sum(_is_listed(call, edit) for edit in edits) > (0 if call.api == "v1" else 1)


def _invitation(call: Call, note: Json) -> Json | None:
    named = values_of(note, "invitation")
    return _shown(call, call.shelves.invitations, named[0]) if named else None


def _shown(call: Call, shelf: ObjectIndex, thing_id: str) -> Json | None:
    thing = shelf.things.get(thing_id)
    return visible_object(thing, call.caller) if thing is not None and may_read(thing, call.caller) else None


def _is_listed(call: Call, thing: Json) -> bool:
    return not thing.get("ddate") and may_read(thing, call.caller)


_DETAILS: dict[str, Callable[[Call, Json], object]] = {
    "replies": _replies,
    "directReplies": _direct_replies,
    "replyCount": lambda call, note: None if (replies := _replies(call, note)) is None else len(replies),
    "directReplyCount": lambda call, note: len(_direct_replies(call, note)),
    "original": _original,
    "revisions": _revisions,
    "invitation": _invitation,
}

MOST_ROWS = 1000
PARAMETERS = frozenset({"limit", "offset", "after", "sort"})
_DATES = ("cdate", "ddate", "mdate", "odate", "pdate", "tcdate", "tmdate", "duedate", "expdate")
_SORTABLE = frozenset({"id", "number", *_DATES})


@dataclass(frozen=True, slots=True)
class Paging:
    """Requested part of a list and its order; None is the service's default, newest first."""

    limit: int
    offset: int
    after: str | None
    sort: str | None


def read_paging(query: Mapping[str, str]) -> Paging:
    """Read the paging parameters of a query.

    Raises:
        ApiError: A number is invalid or out of range, or the list cannot be sorted by that field.
    """
    limit = read_whole_number(query, "limit", MOST_ROWS)
    if limit > MOST_ROWS:
        raise invalid("limit", limit, f"must be <= {MOST_ROWS}", comparison="<=", limit=MOST_ROWS)
    after = query.get("after")
    # Keyset paging needs a total order; without `sort`, only the ids provide one.
    sort = query.get("sort") or ("id" if after else None)
    if sort is not None:
        _read_sort(sort)
    return Paging(limit=limit, offset=read_whole_number(query, "offset", 0), after=after, sort=sort)


def read_whole_number(query: Mapping[str, str], name: str, default: int) -> int:
    """Read a parameter that is a whole number, zero or more."""
    text = query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit()):
        raise invalid(name, text, "must be integer")
    return int(text)


def sort_rows(rows: Sequence[Json], sort: str | None) -> list[Json]:
    """Sort rows by the field in `sort`, then by id; without `sort` return them unchanged."""
    if sort is None:
        return list(rows)
    field, descending = _read_sort(sort)
    return sorted(rows, key=lambda row: _sort_key(row, field), reverse=descending)


def page_of(rows: Sequence[Json], paging: Paging, after_row: Json | None = None) -> list[Json]:
    """Return the rows of one page; none after the end of the list.

    `after_row` is the row named by `after`, if the service still has it; it may have left the list since.
    """
    start = paging.offset
    if paging.after is not None:
        start += _place_behind(rows, paging.after, paging.sort or "id", after_row)
    return list(rows[start : start + paging.limit])


def _place_behind(rows: Sequence[Json], after: str, sort: str, after_row: Json | None) -> int:
    for index, row in enumerate(rows):
        if row["id"] == after:
            return index + 1
    field, descending = _read_sort(sort)
    if after_row is None and field != "id":
        raise invalid("after", after, "must be the id of a document")
    last = _sort_key(after_row or {"id": after}, field)
    keys = [_sort_key(row, field) for row in rows]
    return sum(key >= last if descending else key <= last for key in keys)


def _sort_key(row: Json, field: str) -> tuple[float, str]:
    value = row.get(field)
    return (float(value) if isinstance(value, int | float) else -1.0, str(row["id"]))


def _read_sort(sort: str) -> tuple[str, bool]:
    field, _, direction = sort.partition(":")
    if field not in _SORTABLE or direction not in {"", "asc", "desc"}:
        raise invalid("sort", sort, f"must name one of {', '.join(sorted(_SORTABLE))}")
    return field, direction == "desc"


_SHAPING = frozenset({"details", "select", "count", "stream", "cache", "web"})
_TIMES = frozenset({"mintcdate", "mintmdate"})


@dataclass(frozen=True, slots=True)
class ListRoute:
    """A list route.

    Attributes:
        name: The key of the rows in the response.
        shelf: Returns the objects that the rows are selected from.
        filters: Parameters that compare a field with a value; if `by_content`, `content.<field>` is one too.
        flags: Parameters that are `true` or `false`.
        keeps: Whether a row belongs to the list, in addition to its readers and `ddate`.
    """

    name: str
    shelf: Callable[[Shelves], ObjectIndex]
    filters: frozenset[str]
    flags: frozenset[str] = frozenset({"trash"})
    by_content: bool = False
    keeps: Callable[[Call, Json], bool] = lambda _call, _row: True


def answer_list(call: Call, listing: ListRoute) -> Response:
    """Serve a list route, or return the single object named by `id`.

    Raises:
        ApiError: A parameter is wrong, or the object named by `id` does not exist or is not readable by this caller.
    """
    parameters = PARAMETERS | _SHAPING | _TIMES | listing.flags | {"id"}
    for name, value in call.query.items():
        if name not in parameters and not _is_filter(listing, name):
            raise invalid(name, value, "is not a parameter of this simulated route")
    paging = read_paging(call.query)
    shelf = listing.shelf(call.shelves)
    if "id" in call.query:
        rows = [shelf.one(call.query["id"], call.caller, with_deleted=call.flag("trash"))]
    else:
        rows = _rows(call, listing, shelf, paging.sort)
    page = page_of(rows, paging, shelf.things.get(paging.after or ""))
    answer: Json = {listing.name: [_shape_row(call, row) for row in page]}
    if call.api == "v1" or call.flag("count") or "offset" in call.query:
        answer["count"] = len(rows)
    return json_answer(answer)


def _rows(call: Call, listing: ListRoute, shelf: ObjectIndex, sort: str | None) -> list[Json]:
    """Return every row of the list in order; a list of several pages is computed once for all of them."""
    question = {name: value for name, value in call.query.items() if name not in PARAMETERS | _SHAPING}
    key = (listing.name, call.caller.names, sort, tuple(sorted(question.items())))
    rows = shelf.remembered(key)
    if rows is None:
        rows = sort_rows(_select_rows(call, listing, shelf), sort)
        if len(rows) > MOST_ROWS // 10:
            shelf.remember(key, rows)
    return rows


def _select_rows(call: Call, listing: ListRoute, shelf: ObjectIndex) -> list[Json]:
    filters = {name: value for name, value in call.query.items() if _is_filter(listing, name)}
    by_content = {name: value for name, value in filters.items() if name.startswith("content.")}
    with_deleted = call.flag("trash")
    oldest = {time_name: read_whole_number(call.query, time_name, 0) for time_name in _TIMES if time_name in call.query}
    return [
        row
        for row in shelf.matching(filters)
        if may_read(row, call.caller)
        and (with_deleted or not row.get("ddate"))
        and all(_time(row, name.removeprefix("min")) >= moment for name, moment in oldest.items())
        and listing.keeps(call, row)
        # Filters must not reveal the values of fields that the caller may not see.
        and (not by_content or meets(visible_object(row, call.caller), by_content))
    ]


def _is_filter(listing: ListRoute, name: str) -> bool:
    return name in listing.filters or (listing.by_content and name.startswith("content."))


def _shape_row(call: Call, row: Json) -> Json:
    row = visible_object(row, call.caller)
    if "details" in call.query:
        row = with_details(call, row, call.query["details"].split(","))
    return _select_fields(row, call.query["select"].split(",")) if "select" in call.query else row


def _select_fields(row: Json, names: list[str]) -> Json:
    """Return the fields named in a parameter such as `select=id,content.title`."""
    chosen = {name: row[name] for name in names if name in row}
    content = row.get("content")
    fields = [name.removeprefix("content.") for name in names if name.startswith("content.")]
    if isinstance(content, dict) and fields:
        chosen["content"] = {field: content[field] for field in fields if field in content}
    return chosen


def _time(row: Json, name: str) -> float:
    value = row.get(name)
    return value if isinstance(value, int | float) else 0


def _is_open_or_asked(call: Call, invitation: Json) -> bool:
    expires = _time(invitation, "expdate")
    return not expires or expires > time.time() * 1000 or call.flag("expired")


_NOTE_FILTERS = frozenset({"ids", "forum", "invitation", "replyto", "number", "signature", "signatures", "writer"})

NOTES_V1 = ListRoute("notes", lambda shelves: shelves.notes, _NOTE_FILTERS | {"original"}, by_content=True)
NOTES_V2 = ListRoute(
    "notes", lambda shelves: shelves.notes, _NOTE_FILTERS | {"parentInvitations", "domain"}, by_content=True
)
REFERENCES = ListRoute(
    name="references",
    shelf=lambda shelves: shelves.edits,
    filters=frozenset({"ids", "referent", "forum", "invitation", "number", "signature", "signatures"}),
    flags=frozenset({"trash", "original"}),
    by_content=True,
    keeps=lambda call, reference: call.flag("original") or str(reference["id"]) not in call.shelves.author_edits,
)
EDITS = ListRoute(
    "edits",
    lambda shelves: shelves.edits,
    frozenset({"ids", "note.id", "invitation", "domain", "signature", "signatures"}),
)
GROUPS = ListRoute(
    "groups",
    lambda shelves: shelves.groups,
    frozenset({"ids", "prefix", "regex", "parent", "member", "members", "host", "domain", "signatory"}),
)
INVITATIONS = ListRoute(
    name="invitations",
    shelf=lambda shelves: shelves.invitations,
    filters=frozenset({"ids", "prefix", "regex", "invitation", "domain", "super", "signature"}),
    flags=frozenset({"trash", "expired"}),
    keeps=_is_open_or_asked,
)
