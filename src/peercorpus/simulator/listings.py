"""The lists: notes, edits, references, groups and invitations, filtered, ordered, and cut into pages."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from peercorpus.simulator.answers import Answer, invalid, json_answer
from peercorpus.simulator.calls import Call
from peercorpus.simulator.details import with_details
from peercorpus.simulator.holdings import Json
from peercorpus.simulator.paging import MOST_ROWS, PARAMETERS, in_order, page_of, read_number, read_paging
from peercorpus.simulator.shelves import Shelf, Shelves, meets
from peercorpus.simulator.visibility import may_read, shown

_SHAPING = frozenset({"details", "select", "count", "stream", "cache", "web"})
_TIMES = frozenset({"mintcdate", "mintmdate"})


@dataclass(frozen=True, slots=True)
class Listing:
    """One list route.

    Attributes:
        name: The key of the rows in the answer.
        shelf: Where the rows stand.
        filters: Parameters that compare a field with a value; `content.<field>` as well where `by_content`.
        flags: Parameters that are `true` or `false`.
        keeps: Whether a row belongs to the list, beyond what its readers and `ddate` say.
    """

    name: str
    shelf: Callable[[Shelves], Shelf]
    filters: frozenset[str]
    flags: frozenset[str] = frozenset({"trash"})
    by_content: bool = False
    keeps: Callable[[Call, Json], bool] = lambda _call, _row: True


def answer_list(call: Call, listing: Listing) -> Answer:
    """Answer a list route, or the one object that `id` names.

    Raises:
        ApiError: A parameter is wrong, or `id` names what is not there or not for this caller.
    """
    _check_parameters(call, listing)
    paging = read_paging(call.query)
    shelf = listing.shelf(call.shelves)
    if "id" in call.query:
        rows = [shelf.one(call.query["id"], call.caller, with_deleted=call.flag("trash"))]
    else:
        rows = _rows(call, listing, shelf, paging.sort)
    page = page_of(rows, paging, shelf.things.get(paging.after or ""))
    answer: Json = {listing.name: [_row_as_asked(call, row) for row in page]}
    if call.api == "v1" or call.flag("count") or "offset" in call.query:
        answer["count"] = len(rows)
    return json_answer(answer)


def _rows(call: Call, listing: Listing, shelf: Shelf, sort: str | None) -> list[Json]:
    """Every row of the list, in order; a list of several pages is made once for all of them."""
    question = {name: value for name, value in call.query.items() if name not in PARAMETERS | _SHAPING}
    key = (listing.name, call.caller.names, sort, tuple(sorted(question.items())))
    rows = shelf.remembered(key)
    if rows is None:
        rows = in_order(_kept(call, listing, shelf), sort)
        if len(rows) > MOST_ROWS // 10:
            shelf.remember(key, rows)
    return rows


def _kept(call: Call, listing: Listing, shelf: Shelf) -> list[Json]:
    filters = {name: value for name, value in call.query.items() if _is_filter(listing, name)}
    by_content = {name: value for name, value in filters.items() if name.startswith("content.")}
    with_deleted = call.flag("trash")
    oldest = {time_name: read_number(call.query, time_name, 0) for time_name in _TIMES if time_name in call.query}
    return [
        row
        for row in shelf.matching(filters)
        if may_read(row, call.caller)
        and (with_deleted or not row.get("ddate"))
        and all(_time(row, name.removeprefix("min")) >= moment for name, moment in oldest.items())
        and listing.keeps(call, row)
        # A field that the caller may not see must not be found by its value either.
        and (not by_content or meets(shown(row, call.caller), by_content))
    ]


def _check_parameters(call: Call, listing: Listing) -> None:
    for name, value in call.query.items():
        known = _is_filter(listing, name) or name in PARAMETERS | _SHAPING | _TIMES | listing.flags | {"id"}
        if not known:
            raise invalid(name, value, "is not a parameter of this simulated route")


def _is_filter(listing: Listing, name: str) -> bool:
    return name in listing.filters or (listing.by_content and name.startswith("content."))


def _row_as_asked(call: Call, row: Json) -> Json:
    row = shown(row, call.caller)
    if "details" in call.query:
        row = with_details(call, row, call.query["details"].split(","))
    return _selected(row, call.query["select"].split(",")) if "select" in call.query else row


def _selected(row: Json, names: list[str]) -> Json:
    """The fields that `select=id,content.title` names."""
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


def _is_own_or_asked(call: Call, reference: Json) -> bool:
    return call.flag("original") or str(reference["id"]) not in call.shelves.author_edits


_NOTE_FILTERS = frozenset({"ids", "forum", "invitation", "replyto", "number", "signature", "signatures", "writer"})

NOTES_V1 = Listing("notes", lambda shelves: shelves.notes, _NOTE_FILTERS | {"original"}, by_content=True)
NOTES_V2 = Listing(
    "notes", lambda shelves: shelves.notes, _NOTE_FILTERS | {"parentInvitations", "domain"}, by_content=True
)
REFERENCES = Listing(
    "references",
    lambda shelves: shelves.edits,
    frozenset({"ids", "referent", "forum", "invitation", "number", "signature", "signatures"}),
    frozenset({"trash", "original"}),
    by_content=True,
    keeps=_is_own_or_asked,
)
EDITS = Listing(
    "edits",
    lambda shelves: shelves.edits,
    frozenset({"ids", "note.id", "invitation", "domain", "signature", "signatures"}),
)
GROUPS = Listing(
    "groups",
    lambda shelves: shelves.groups,
    frozenset({"ids", "prefix", "regex", "parent", "member", "members", "host", "domain", "signatory"}),
)
INVITATIONS = Listing(
    "invitations",
    lambda shelves: shelves.invitations,
    frozenset({"ids", "prefix", "regex", "invitation", "domain", "super", "signature"}),
    frozenset({"trash", "expired"}),
    keeps=_is_open_or_asked,
)
