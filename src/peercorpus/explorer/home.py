"""Prepare the home page: the size and span of the corpus, charts of its papers, and papers to begin with.

Each count is made by the conditions of its own link.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tantivy import Query

from peercorpus.corpus.filters import parse
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.rendering import STATUSES, format_share
from peercorpus.explorer.search import build_query, search
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.explorer.selection import Selection
from peercorpus.explorer.venue_page import Bars, VenueCounts, bars
from peercorpus.records.enums import Status
from peercorpus.venues.rules import warn_of_pooling

_CHANGES: Mapping[str, Sequence[str]] = {
    "lowered by more than 15 %": ("change_share<-0.15",),
    "lowered by up to 15 %": ("change_share>=-0.15", "change_share<0"),
    "unchanged": ("change_share=0",),
    "raised by up to 15 %": ("change_share>0", "change_share<=0.15"),
    "raised by 15 to 30 %": ("change_share>0.15", "change_share<=0.3"),
    "raised by more than 30 %": ("change_share>0.3",),
}
"""Classes of the mean change of a paper's ratings, as the report has them."""
_SPREADS: Mapping[str, Sequence[str]] = {
    "no difference": ("spread_share=0",),
    "up to 20 %": ("spread_share>0", "spread_share<=0.2"),
    "20 to 40 %": ("spread_share>0.2", "spread_share<=0.4"),
    "40 to 60 %": ("spread_share>0.4", "spread_share<=0.6"),
    "more than 60 %": ("spread_share>0.6",),
}
_MAX_STEPS = 10
"""Scales of more whole numbers are shown in tenths."""
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
        charts: Papers by year, decision, mean rating, change and spread; those without a paper cannot be drawn.
        pooled: Warning that the charts count venues with different rules together; empty if they do not.
    """

    papers: int
    reviews: int
    conversations: int
    points: int
    first_day: datetime | None
    last_day: datetime | None
    charts: Sequence[Bars]
    pooled: str
    lists: Sequence[ShortList]
    venues: Sequence[VenueCounts]


def read_home(opened: OpenIndex) -> HomePage:
    """Return the home page of an index; it takes some forty counts of the index, and is made once."""
    venues = list(opened.venues.values())
    days = opened.searcher.aggregate(Query.all_query(), {"days": {"stats": {"field": "created"}}})["days"]
    span = [datetime.fromtimestamp(days[end], UTC) if days["count"] else None for end in ("min", "max")]
    lists = (_make_list(opened, title, *of_list) for title, of_list in _LISTS.items())
    return HomePage(
        papers=sum(venue.papers for venue in venues),
        reviews=sum(venue.reviews for venue in venues),
        conversations=sum(venue.conversations for venue in venues),
        points=sum(venue.points_total for venue in venues),
        first_day=span[0],
        last_day=span[1],
        charts=list(_make_charts(opened)),
        pooled=warn_of_pooling(opened.venues, is_brief=True),
        lists=[short for short in lists if short.rows],
        venues=sorted(venues, key=lambda venue: (-venue.papers, venue.venue_id))[:_MAX_VENUES],
    )


def _make_list(opened: OpenIndex, title: str, condition: str, sort: str) -> ShortList:
    selection = replace(_select(*filter(None, [condition])), sort=sort)
    found = search(opened, selection)
    return ShortList(title, selection.query_string(), found.total, [hit.row for hit in found.hits[:_FEW]])


def _select(*conditions: str) -> Selection:
    return Selection(conditions=tuple(map(parse, conditions)))


def _make_charts(opened: OpenIndex) -> Iterator[Bars]:
    years = sorted({year for venue in opened.venues.values() for year in venue.years})
    statuses = ((STATUSES[status], (f"status={status}",)) for status in Status)
    title, steps = _list_steps(opened)
    yield _make_chart(opened, "Year, and share accepted", ((year, (f"year={year}",)) for year in years), is_shared=True)
    yield _make_chart(opened, "Decision", statuses)
    yield _make_chart(opened, title, steps, is_shared=True)
    yield _make_chart(opened, "Mean change of the ratings, of the scale", _CHANGES.items())
    yield _make_chart(opened, "Highest minus lowest rating, of the scale", _SPREADS.items())


def _make_chart(
    opened: OpenIndex, title: str, classes: Iterable[tuple[str, Sequence[str]]], *, is_shared: bool = False
) -> Bars:
    """Return a chart of the papers of each class; with the share accepted of those accepted or rejected, if asked."""
    counts, links = dict[str, int](), dict[str, str]()
    for name, conditions in classes:
        selection = _select(*conditions)
        terms = {"statuses": {"terms": {"field": "status", "size": len(Status)}}}
        buckets = opened.searcher.aggregate(build_query(opened, selection).query, terms)["statuses"]["buckets"]
        statuses = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
        accepted = statuses.get(Status.ACCEPTED, 0)
        decided = accepted + statuses.get(Status.REJECTED, 0)
        label = f"{name}: {format_share(accepted, decided)}" if is_shared and decided else name
        counts[label], links[label] = sum(statuses.values()), selection.query_string()
    papers = sum(venue.papers for venue in opened.venues.values())
    return replace(bars(title, "papers", counts, links), unknown=papers - sum(counts.values()))


def _list_steps(opened: OpenIndex) -> tuple[str, Iterable[tuple[str, Sequence[str]]]]:
    """Return the title of the chart of ratings, and for each step the name and conditions.

    Steps are the whole numbers of the scale where all venues have the same one, else tenths of it.
    """
    scales = {(venue.low, venue.high) for venue in opened.venues.values() if venue.low is not None}
    low, high = next(iter(scales)) if len(scales) == 1 else (None, None)
    if low is not None and high is not None and low.is_integer() and 0 < high - low <= _MAX_STEPS:
        whole = [(str(n), (f"rating>={n}", f"rating<{n + 1}")) for n in range(int(low), int(high) + 1)]
        return "Mean rating, rounded down, and share accepted", whole
    tenths = [
        (f"{10 * n} to {10 * n + 10} %", [f"rating_share>={n / 10}", f"rating_share<{(n + 1) / 10}"]) for n in range(10)
    ]
    tenths[-1][1].pop()
    return "Mean rating, of the venue's scale, and share accepted", tenths
