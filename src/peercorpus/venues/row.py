"""A row of the catalogue, and the reader of its files, which refuses whatever a row may not say."""

import tomllib
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal

import msgspec

from peercorpus.venues.names import conference_of, track_of, year_of

Text = Annotated[str, msgspec.Meta(min_length=1)]


class Visibility(StrEnum):
    """What the public may see of a venue that has decided."""

    PUBLIC = "public"
    """Every submission, whatever became of it, with its reviews."""
    REJECTED_OPT_IN = "rejected_opt_in"
    """Accepted papers with their reviews; rejected ones where their authors asked for it."""
    ACCEPTED_ONLY = "accepted_only"
    """Accepted papers alone, with their reviews."""
    SOME_REVIEWS = "some_reviews"
    """Papers, but only a part of their reviews."""
    REVIEWS_PRIVATE = "reviews_private"
    """Papers, but no review."""
    NOTHING = "nothing"
    """No submission."""
    REVERTED_BEFORE_DISCUSSION = "reverted_before_discussion"
    """As `public`, but reviews were put back to how they stood before the discussion."""


class Confidence(StrEnum):
    """How sure a row is of the id, the API and the lists."""

    A = "A"
    """Observed live, or in recorded answers."""
    B = "B"
    """Read in code or settings that run."""
    C = "C"
    """One weak source."""
    D = "D"
    """Remembered."""


class Deadline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When something was due.

    Attributes:
        at: In UTC.
        source: Where it was read, with the words.
    """

    at: Annotated[datetime, msgspec.Meta(tz=True)]
    source: Text


class Counts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many submissions OpenReview showed; None where it was not counted.

    Attributes:
        as_of: The day they were counted; None where the source does not say.
        listed: In the venue's main list; on API v1 neither withdrawn nor desk-rejected ones are in it.
    """

    source: Text
    as_of: date | None = None
    listed: int | None = None
    accepted: int | None = None
    rejected: int | None = None
    withdrawn: int | None = None
    desk_rejected: int | None = None


class VenueRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of a venue that OpenReview itself may not say; None where it is not known.

    Attributes:
        id: The id of its group.
        api: 1 or 2.
        lists: Names of its submission lists, where the venue may no longer show them.
        abstract_deadline: When titles and abstracts were due.
        full_deadline: When full papers were due.
        visibility_source: Where the visibility was read.
        remark: What else to know before reading its numbers, in a sentence.
        source: Where the id, the API and the lists were read.
    """

    id: Text
    api: Literal[1, 2] | None = None
    lists: tuple[Text, ...] = ()
    abstract_deadline: Deadline | None = None
    full_deadline: Deadline | None = None
    visibility: Visibility | None = None
    visibility_source: Text | None = None
    remark: Text | None = None
    counts: Counts | None = None
    confidence: Confidence
    source: Text

    @property
    def family(self) -> str:
        """The conference family, as its id says."""
        return conference_of(self.id)

    @property
    def year(self) -> int | None:
        """The calendar year, as its id says."""
        return year_of(self.id)

    @property
    def track(self) -> str:
        """The track or workshop, as its id says."""
        return track_of(self.id)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    venue: list[VenueRow]


def read_rows(text: str, sources: Mapping[str, str]) -> list[VenueRow]:
    """The rows of one file, with their sources in full.

    Args:
        text: TOML: one table `venue` a row.
        sources: Sources in full, by the short names that rows use.

    Raises:
        ValueError: A row says what it may not, or lacks a source; the message names it.
    """
    rows = msgspec.convert(tomllib.loads(text), _File).venue
    for row in rows:
        if problems := _problems(row, sources):
            raise ValueError(f"The catalogue's row of '{row.id}': {'; '.join(problems)}.")
    return [_with_full_sources(row, sources) for row in rows]


def _problems(row: VenueRow, sources: Mapping[str, str]) -> list[str]:
    abstract, full = row.abstract_deadline, row.full_deadline
    named = {row.source, row.visibility_source, row.counts.source if row.counts else None} - {None}
    found = [f"no source is called '{name}'" for name in named if name not in sources]
    if any(deadline.at.utcoffset() != timedelta(0) for deadline in (abstract, full) if deadline):
        found.append("a deadline is not in UTC")
    if abstract and full and abstract.at > full.at:
        found.append("abstracts are due after full papers")
    if (row.visibility is None) != (row.visibility_source is None):
        found.append("visibility and its source go together")
    if "/-/" in row.id or row.id.strip("/ ") != row.id:
        found.append("that is not the id of a group")
    return found


def _with_full_sources(row: VenueRow, sources: Mapping[str, str]) -> VenueRow:
    counts = row.counts and msgspec.structs.replace(row.counts, source=sources[row.counts.source])
    visible = row.visibility_source and sources[row.visibility_source]
    return msgspec.structs.replace(row, source=sources[row.source], visibility_source=visible, counts=counts)
