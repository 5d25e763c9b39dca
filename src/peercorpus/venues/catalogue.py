"""Read the venue catalogue: deadlines, visibility of reviews and submission lists, from `data/*.toml`.

The catalogue contains facts that OpenReview itself may not state; every row names its sources. A venue without a row
can be harvested too.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Literal

import msgspec

from peercorpus.venues.venue_id import ALIASES, conference_of, track_of, year_of

Text = Annotated[str, msgspec.Meta(min_length=1, pattern=r"\S")]


class Visibility(StrEnum):
    """Parts of a venue that the public can see after its decisions."""

    PUBLIC = "public"
    """All submissions, accepted or not, with their reviews."""
    REJECTED_OPT_IN = "rejected_opt_in"
    """Accepted papers with their reviews; rejected ones if their authors agreed."""
    ACCEPTED_ONLY = "accepted_only"
    """Only accepted papers, with their reviews."""
    SOME_REVIEWS = "some_reviews"
    """Papers with only some of their reviews."""
    REVIEWS_PRIVATE = "reviews_private"
    """Papers without reviews."""
    NOTHING = "nothing"
    """No submissions."""
    REVERTED_BEFORE_DISCUSSION = "reverted_before_discussion"
    """Same as `public`, but reviews were reverted to their state before the discussion."""


class Confidence(StrEnum):
    """How certain the venue's id, API and lists are."""

    A = "A"
    """Observed live, or in recorded responses."""
    B = "B"
    """Read in code or settings that are in use."""
    C = "C"
    """One weak source."""
    D = "D"
    """General knowledge."""


class DueDate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A deadline.

    Attributes:
        at: Time, in UTC.
        source: Where it was read, with a quotation.
    """

    at: Annotated[datetime, msgspec.Meta(tz=True)]
    source: Text


class ListedDeadline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A deadline for full papers that lists state, whether right or wrong.

    Attributes:
        at: Time, in UTC.
        abstracts_at: When abstracts were due according to the same sources, in UTC; None if they do not state it.
        sources: Sources that state this time independently of each other.
    """

    at: Annotated[datetime, msgspec.Meta(tz=True)]
    abstracts_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    sources: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class StatedDeadline:
    """A deadline for full papers as sources state it, without OpenReview's grace period.

    Attributes:
        is_agreed: Whether the venue itself or two independent sources state it. Otherwise it is a hint, which proves
            nothing by itself. If a deadline was moved, the earlier agreed one is listed too; the row's `full_deadline`
            is the one that finally applied.
    """

    at: datetime
    source: str
    is_agreed: bool


class Counts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Numbers of submissions that OpenReview showed; None if not counted.

    Attributes:
        as_of: Day of the count; None if the source does not state it.
        listed: Submissions in the venue's main list; on API v1 without withdrawn and desk-rejected ones.
    """

    source: Text
    as_of: date | None = None
    listed: int | None = None
    accepted: int | None = None
    rejected: int | None = None
    withdrawn: int | None = None
    desk_rejected: int | None = None


class RemovedComments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Public comments of a period that a venue has since removed.

    Attributes:
        since: Beginning of the period, in UTC.
        until: End of the period, in UTC.
    """

    since: Annotated[datetime, msgspec.Meta(tz=True)]
    until: Annotated[datetime, msgspec.Meta(tz=True)]
    source: Text


class VenueRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Facts about a venue that OpenReview itself may not state; None if unknown.

    Attributes:
        id: The id of the venue's group.
        api: 1 or 2.
        lists: Names of its submission lists, if the venue may no longer show them.
        abstract_deadline: When titles and abstracts were due.
        full_deadline: When full papers were due, if the venue itself or two agreeing sources state it.
        listed_deadlines: Every other statement of when full papers were due; a single list is a hint, not a source.
        visibility_source: Source of the visibility.
        removed_comments: Public comments that the venue removed; those in a dump are set aside.
        remark: One sentence with anything else to know about its numbers.
        source: Source of the id, the API and the lists.
    """

    id: Text
    api: Literal[1, 2] | None = None
    lists: tuple[Text, ...] = ()
    abstract_deadline: DueDate | None = None
    full_deadline: DueDate | None = None
    listed_deadlines: tuple[ListedDeadline, ...] = ()
    visibility: Visibility | None = None
    visibility_source: Text | None = None
    removed_comments: RemovedComments | None = None
    remark: Text | None = None
    counts: Counts | None = None
    confidence: Confidence
    source: Text

    @property
    def family(self) -> str:
        return conference_of(self.id)

    @property
    def year(self) -> int | None:
        return year_of(self.id)

    @property
    def track(self) -> str:
        return track_of(self.id)

    @property
    def stated_deadlines(self) -> tuple[StatedDeadline, ...]:
        """Return every deadline for full papers that any source states, earliest first."""
        own = self.full_deadline
        stated = [StatedDeadline(own.at, own.source, is_agreed=True)] if own else []
        stated += [
            StatedDeadline(one.at, "; ".join(one.sources), is_agreed=len(one.sources) > 1)
            for one in self.listed_deadlines
        ]
        return tuple(sorted(stated, key=lambda one: one.at))

    @property
    def may_mean_abstracts(self) -> bool:
        """Return whether the submission form's due date may be that of abstracts, as only that one is certain."""
        is_stated = self.abstract_deadline is not None or any(one.abstracts_at for one in self.listed_deadlines)
        return is_stated and self.full_deadline is None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    venue: list[VenueRow]


def read_catalogue_rows(text: str, sources: Mapping[str, str]) -> list[VenueRow]:
    """Return the rows of one file, with their sources in full.

    Args:
        text: TOML with one table `venue` per row.
        sources: Sources in full, by the short names that rows use.

    Raises:
        ValueError: A row is invalid or lacks a source; the message names it.
    """
    expanded: list[VenueRow] = []
    for row in msgspec.convert(tomllib.loads(text), _File).venue:
        if problems := _find_problems(row, sources):
            raise ValueError(f"The catalogue's row of '{row.id}': {'; '.join(problems)}.")
        expanded.append(_expand_sources(row, sources))
    return expanded


def _expand_sources(row: VenueRow, sources: Mapping[str, str]) -> VenueRow:
    listed = tuple(
        msgspec.structs.replace(deadline, sources=tuple(sources[name] for name in deadline.sources))
        for deadline in row.listed_deadlines
    )
    return msgspec.structs.replace(
        row,
        source=sources[row.source],
        visibility_source=row.visibility_source and sources[row.visibility_source],
        counts=row.counts and msgspec.structs.replace(row.counts, source=sources[row.counts.source]),
        listed_deadlines=listed,
    )


def _find_problems(row: VenueRow, sources: Mapping[str, str]) -> list[str]:
    named = {row.source, row.visibility_source, row.counts.source if row.counts else None} - {None}
    named |= {name for one in row.listed_deadlines for name in one.sources}
    problems = [f"unknown source '{name}'; add it to sources.toml" for name in sorted(map(str, named - set(sources)))]
    problems += find_deadline_problems(row.abstract_deadline, row.full_deadline, row.listed_deadlines)
    if (row.visibility is None) != (row.visibility_source is None):
        problems.append("'visibility' and 'visibility_source' must be given together; add the missing one")
    removed = row.removed_comments
    if removed is not None and removed.since > removed.until:
        problems.append("removed comments must begin before they end")
    if not is_group_id(row.id):
        problems.append("the id must be the id of a group, not of an invitation, without slashes at its ends")
    return problems


def is_group_id(venue_id: str) -> bool:
    """Return whether this can be the id of a venue's group: not an invitation's, and without slashes at its ends."""
    return "/-/" not in venue_id and venue_id.strip("/ ") == venue_id


DEADLINE_YEARS = range(2000, 2200)
"""Years that a deadline may be in; any other is mistyped, or means that there is none."""


def find_deadline_problems(
    abstracts: DueDate | None, papers: DueDate | None, listed: tuple[ListedDeadline, ...]
) -> list[str]:
    """Return what is wrong with the deadlines of a venue, one clause each."""
    times = [due.at for due in (abstracts, papers) if due]
    times += [at for one in listed for at in (one.at, one.abstracts_at) if at]
    problems = ["deadlines must be in UTC"] if any(at.utcoffset() != timedelta(0) for at in times) else []
    if any(at.year not in DEADLINE_YEARS for at in times):
        problems.append(f"deadlines must be in the years {DEADLINE_YEARS[0]} to {DEADLINE_YEARS[-1]}")
    pairs = [(abstracts and abstracts.at, papers and papers.at), *((one.abstracts_at, one.at) for one in listed)]
    if any(first and last and first > last for first, last in pairs):
        problems.append("abstracts must be due before full papers")
    if any(len(set(one.sources)) < len(one.sources) for one in listed):
        problems.append("a deadline names one source twice")
    return problems


SOURCES = "sources.toml"
"""File with the sources in full; every other file contains rows."""


def read_catalogue(folder: Traversable) -> dict[str, VenueRow]:
    """Return the rows of every file of a folder, by venue id.

    Raises:
        ValueError: A row is invalid, or a venue has two rows.
    """
    rows_by_id: dict[str, VenueRow] = {}
    sources = tomllib.loads((folder / SOURCES).read_text(encoding="utf-8"))
    for file in folder.iterdir():
        if file.name == SOURCES:
            continue
        for row in read_catalogue_rows(file.read_text(encoding="utf-8"), sources):
            if row.id in rows_by_id:
                raise ValueError(f"The catalogue has two rows for '{row.id}'.")
            rows_by_id[row.id] = row
    return rows_by_id


_ROWS = read_catalogue(files("peercorpus.venues") / "data")


def rows(family: str | None = None) -> list[VenueRow]:
    """Return every row, or those of one conference family, sorted by family and year."""
    return sort_rows(row for row in _ROWS.values() if family is None or row.family == family)


def sort_rows(chosen: Iterable[VenueRow]) -> list[VenueRow]:
    """Return rows sorted by family and year."""
    return sorted(chosen, key=lambda row: (row.family, row.year or 0, row.id))


def families() -> list[str]:
    """Return the conference families that have a row, sorted."""
    return sorted({row.family for row in _ROWS.values()})


def row_of(venue_id: str) -> VenueRow | None:
    """Return the row of a venue, or None if the catalogue has none."""
    return _ROWS.get(venue_id)


def submission_lists_of(venue_id: str, row: VenueRow | None = None) -> tuple[str, ...]:
    """Return the known submission invitations of a venue, by the catalogue's row of it or another."""
    row = row or row_of(venue_id)
    return tuple(f"{venue_id}/-/{name}" for name in row.lists) if row else ()


NAMES_DIGEST = hashlib.sha256(json.dumps(ALIASES, sort_keys=True).encode()).hexdigest()
"""Digest of the names of conference families, part of the content keys of tables that contain them."""


def digest_deadlines(row: VenueRow | None) -> str:
    """Return the digest of the deadlines in a row, part of the content key of the venue's versions; empty for none."""
    if row is None or not (row.stated_deadlines or row.may_mean_abstracts):
        return ""
    stated = [(one.at.isoformat(), one.source, one.is_agreed) for one in row.stated_deadlines]
    full = row.full_deadline and row.full_deadline.at.isoformat()
    return hashlib.sha256(json.dumps([full, row.may_mean_abstracts, stated]).encode()).hexdigest()
