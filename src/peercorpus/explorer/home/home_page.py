"""Prepare the home page: the size and span of the corpus, its figures, and papers to begin with."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tantivy import Query

from peercorpus.explorer.home.counts import (
    changed_minds,
    decisions_by_score,
    disagreement,
    drift_by_year,
    make_link,
    papers_by_year,
)
from peercorpus.explorer.home.figures import Drifts, Stacked
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.search import search
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.explorer.selection import read_selection
from peercorpus.explorer.venue_page import VenueCounts
from peercorpus.venues.rules import warn_of_pooling

_FEW = 4
"""Papers of each list."""
_MAX_VENUES = 8
"""Venues that the page names."""
_LISTS = {
    "Most discussed": ("", "relevance"),
    "Least agreed on": ("spread_share>0", "spread"),
    "Raised most": ("change_share>0", "raised"),
}
"""Title of each list of papers, with its condition and its order."""


@dataclass(frozen=True, slots=True)
class ShortList:
    """The first papers of a selection.

    Attributes:
        link: Query string of the whole list.
    """

    title: str
    link: str
    total: int
    rows: Sequence[PaperRow]


@dataclass(frozen=True, slots=True)
class HomePage:
    """Contents of the home page.

    Attributes:
        first_day: When the first paper was submitted; None if no time is known.
        last_day: When the last one was.
        columns: Figures that are drawn as columns.
        bars: Figures that are drawn as bars.
        drift: Ratings before and after the discussion.
        missing: Titles of the figures that cannot be drawn, each with the reason.
        pooled: Warning that the figures count venues with different rules together; empty if they do not.
        venues: The largest venues, at most eight.
    """

    papers: int
    reviews: int
    conversations: int
    points: int
    first_day: datetime | None
    last_day: datetime | None
    columns: Sequence[Stacked]
    bars: Sequence[Stacked]
    drift: Drifts | None
    missing: Sequence[tuple[str, str]]
    pooled: str
    lists: Sequence[ShortList]
    venues: Sequence[VenueCounts]


def _make_list(opened: OpenIndex, title: str, condition: str, sort: str) -> ShortList:
    link = make_link(*filter(None, [condition]), sort=sort)
    found = search(opened, read_selection(link))
    return ShortList(title, link, found.total, [hit.row for hit in found.hits[:_FEW]])


def _read_days(opened: OpenIndex) -> tuple[datetime | None, datetime | None]:
    stats = opened.searcher.aggregate(Query.all_query(), {"days": {"stats": {"field": "created"}}})["days"]
    if not stats["count"]:
        return None, None
    return datetime.fromtimestamp(stats["min"], UTC), datetime.fromtimestamp(stats["max"], UTC)


def read_home(opened: OpenIndex) -> HomePage:
    """Return the home page of an index; it takes some sixty counts of the index, and is made once."""
    venues = list(opened.venues.values())
    columns = [papers_by_year(opened), decisions_by_score(opened)]
    bars = [changed_minds(opened), disagreement(opened)]
    drift = drift_by_year(opened)
    first_day, last_day = _read_days(opened)
    lists = (_make_list(opened, title, *of_list) for title, of_list in _LISTS.items())
    every: list[Stacked | Drifts] = [*columns, *bars, drift]
    return HomePage(
        papers=sum(venue.papers for venue in venues),
        reviews=sum(venue.reviews for venue in venues),
        conversations=sum(venue.conversations for venue in venues),
        points=sum(venue.points_total for venue in venues),
        first_day=first_day,
        last_day=last_day,
        columns=[figure for figure in columns if figure.papers],
        bars=[figure for figure in bars if figure.papers],
        drift=drift if drift.years else None,
        missing=[(figure.title, figure.shown) for figure in every if not figure.papers],
        pooled=warn_of_pooling(opened.venues, is_brief=True),
        lists=[short for short in lists if short.rows],
        venues=sorted(venues, key=lambda venue: (-venue.papers, venue.venue_id))[:_MAX_VENUES],
    )
