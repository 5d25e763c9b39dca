"""Published records as rows of `raw.db`: which paper each is of, and at which venue."""

import re
from functools import cache

import msgspec

from peercorpus.harvest.rows import Origin
from peercorpus.published.datasets import Dataset, Id, stated
from peercorpus.raw import UNPLACED, Kind, RawObject
from peercorpus.venues import catalogue
from peercorpus.venues.names import MAIN, conference_of, track_of, year_of

CONFERENCE_YEAR_TRACK = re.compile(r"(?P<conference>.+?)\s+(?P<year>(?:19|20)\d\d)(?:\s+(?P<track>.+))?")
NOT_IN_A_NAME = re.compile(r"[^\w.-]+")


class _Header(msgspec.Struct):
    """What finds a record again; ReviewBench says forum and venue, Re² paper, conference and reviewer."""

    forum_id: Id | None = None
    venue_id: str | None = None
    conference: str | None = None
    year: int | None = None
    track: str | None = None
    paper_id: Id | None = None
    conference_year_track: str | None = None
    reviewer_id: str | None = None


def build_published(dataset: Dataset, body: bytes, origin: Origin) -> RawObject:
    """The row of a published record.

    Raises:
        msgspec.ValidationError: It names no paper, or a field does not hold what its dataset says it holds.
    """
    header = msgspec.json.decode(body, type=_Header)
    forum_id = header.forum_id if dataset is Dataset.REVIEWBENCH else header.paper_id
    if forum_id is None:
        raise msgspec.ValidationError("It names no paper")
    record_id = f"{dataset.prefix}{forum_id}"
    if dataset is Dataset.RE2_REBUTTAL:
        record_id += f"/{header.reviewer_id or 'unknown'}"
    return RawObject(
        Kind.PUBLISHED, record_id, 0, _venue_of(header), forum_id, forum_id, 0, origin.seen_ms, origin.source, body
    )


def _venue_of(header: _Header) -> str:
    """The venue a record names; else the one its conference, year and track name."""
    if stated(header.venue_id):
        return str(header.venue_id)
    if stated(header.conference_year_track):
        return venue_named(str(header.conference_year_track))
    parts = [stated(header.conference), str(header.year or ""), stated(header.track)]
    return venue_named(" ".join(part for part in parts if part))


def venue_named(text: str) -> str:
    """The venue that a published dataset calls so: the catalogue's, where one alone fits, else a stand-in for its id.

    A row of the catalogue that is only remembered does not count.

    >>> venue_named("NeurIPS 2022 Conference"), venue_named("ICLR 2023 Workshop Tiny Papers")
    ('NeurIPS.cc/2022/Conference', 'published/ICLR/2023/Workshop_Tiny_Papers')
    >>> venue_named("")
    'unplaced'
    """
    found = CONFERENCE_YEAR_TRACK.fullmatch(text.strip())
    parts = [found["conference"], found["year"], found["track"] or ""] if found else [text.strip()]
    names = [NOT_IN_A_NAME.sub("_", part) for part in parts if part]
    stand_in = "/".join(["published", *names]) if names else UNPLACED
    fitting = _main_venues(stand_in) if found and track_of(stand_in) == MAIN else []
    return fitting[0] if len(fitting) == 1 else stand_in


@cache
def _main_venues(stand_in: str) -> list[str]:
    """The main tracks that the catalogue knows of a conference in a year."""
    year, known = year_of(stand_in), catalogue.rows(conference_of(stand_in))
    return [
        row.id
        for row in known
        if row.year == year and track_of(row.id) == MAIN and row.confidence is not catalogue.Confidence.D
    ]
