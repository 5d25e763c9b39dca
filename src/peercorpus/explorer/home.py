"""Prepare the home page: the size and span of the corpus, figures that count its papers, and papers to begin with.

Each count is made by the conditions of its own link.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tantivy import Query

from peercorpus.corpus.filters import Condition, parse
from peercorpus.explorer.figures import Cell, Drift, Drifts, Group, Series, Stacked, format_count
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.search import build_query, search
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.explorer.selection import Selection, read_selection
from peercorpus.explorer.venue_page import VenueCounts
from peercorpus.records.enums import Status
from peercorpus.report.corpus_statistics import compute_share, percent
from peercorpus.venues.rules import warn_of_pooling

ACCEPTED = Series("accepted", "accepted")
REJECTED = Series("rejected", "rejected")
OTHERS = Series("withdrawn or undecided", "others")
_SERIES: Mapping[Series, Sequence[Status]] = {
    ACCEPTED: (Status.ACCEPTED,),
    REJECTED: (Status.REJECTED,),
    OTHERS: (Status.WITHDRAWN, Status.DESK_REJECTED, Status.UNDER_REVIEW, Status.UNKNOWN),
}
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
_CHANGE_KNOWN = "change_share>=-1"
_TENTHS = 10
_FEW_YEARS = 12
"""Years up to which there is room for four digits."""
_MAX_STEPS = 10
"""Scales of more whole numbers are shown in tenths."""


def _read(texts: Sequence[str]) -> tuple[Condition, ...]:
    return tuple(map(parse, texts))


def make_link(*conditions: str, sort: str = "relevance") -> str:
    """Return the query string of the search for papers that meet conditions."""
    return Selection(conditions=_read(conditions), sort=sort).query_string()


def count_statuses(opened: OpenIndex, *conditions: str) -> dict[str, int]:
    """Return the number of papers that meet conditions, by status."""
    query = build_query(opened, Selection(conditions=_read(conditions))).query
    terms = {"statuses": {"terms": {"field": "status", "size": len(Status)}}}
    buckets = opened.searcher.aggregate(query, terms)["statuses"]["buckets"]
    return {bucket["key"]: bucket["doc_count"] for bucket in buckets}


def _mean(opened: OpenIndex, column: str, *conditions: str) -> float | None:
    """Return the mean of a column of the index over the papers that meet conditions; None if none has a value."""
    query = build_query(opened, Selection(conditions=_read(conditions))).query
    mean = opened.searcher.aggregate(query, {"mean": {"avg": {"field": column}}})["mean"]["value"]
    return None if mean is None else float(mean)


def share_accepted(statuses: Mapping[str, int]) -> str:
    """Return the share of accepted papers among those accepted or rejected, in words."""
    accepted = statuses.get(Status.ACCEPTED, 0)
    return percent(compute_share(accepted, accepted + statuses.get(Status.REJECTED, 0)))


def _make_group(
    opened: OpenIndex, name: str, conditions: Sequence[str], short: str = "", *, with_share: bool = False
) -> Group:
    statuses = count_statuses(opened, *conditions)
    cells = [
        Cell(
            series,
            sum(statuses.get(status, 0) for status in of_series),
            make_link(*conditions, *(f"status={status}" for status in of_series)),
        )
        for series, of_series in _SERIES.items()
    ]
    every = sum(cell.papers for cell in cells)
    note = format_count(every)
    if with_share:
        note = share_accepted(statuses) if cells[0].papers + cells[1].papers else ""
    return Group(name, cells, make_link(*conditions), note, short or name)


def _make_figure(
    key: str, title: str, axis: str, says: str, groups: Sequence[Group], unknown: Mapping[str, int]
) -> Stacked:
    return Stacked(key, title, says, axis, tuple(_SERIES), groups, unknown)


def _label_years(opened: OpenIndex) -> dict[int, str]:
    """Return the years of papers, in order, each with the label below its column."""
    years = sorted({int(year) for venue in opened.venues.values() for year in venue.years})
    return {year: str(year) if len(years) <= _FEW_YEARS else f"'{year % 100:02}" for year in years}


def _count_all(opened: OpenIndex) -> int:
    return sum(venue.papers for venue in opened.venues.values())


def papers_by_year(opened: OpenIndex) -> Stacked:
    """Count the papers of each year, by decision."""
    groups = [_make_group(opened, str(year), [f"year={year}"], label) for year, label in _label_years(opened).items()]
    shown = Counter[str]()
    for year in _label_years(opened):
        shown.update(count_statuses(opened, f"year={year}"))
    says = f"Of the papers accepted or rejected, {share_accepted(shown)} are accepted."
    unknown = {"their year is not known": _count_all(opened) - sum(group.papers for group in groups)}
    return _make_figure("by-year", "Papers by year", "Year", says, groups, unknown)


def _score_steps(opened: OpenIndex) -> tuple[str, Iterator[tuple[str, list[str], str]]]:
    """Return the label of the axis of scores, and for each step the name, the conditions and a shorter name.

    Steps are the whole numbers of the scale where all venues have the same one, else tenths of it.
    """
    scales = {(venue.low, venue.high) for venue in opened.venues.values() if venue.low is not None}
    (low, high) = next(iter(scales)) if len(scales) == 1 else (None, None)
    if low is not None and high is not None and low.is_integer() and 0 < high - low <= _MAX_STEPS:
        numbers = range(int(low), int(high) + 1)
        return "Mean rating, rounded down", (
            (str(number), [f"rating>={number}", f"rating<{number + 1}"], "") for number in numbers
        )
    tenths = (
        (
            f"{10 * step} to {10 * (step + 1)} %",
            [f"rating_share>={step / _TENTHS}", *([f"rating_share<{(step + 1) / _TENTHS}"] * (step < _TENTHS - 1))],
            f"{10 * step}",
        )
        for step in range(_TENTHS)
    )
    return "Mean rating in per cent of the venue's scale, from the number below a column to the next", tenths


def decisions_by_score(opened: OpenIndex) -> Stacked:
    """Count papers by their mean rating and decision, with the share accepted of those decided."""
    axis, steps = _score_steps(opened)
    groups = [_make_group(opened, *step, with_share=True) for step in steps]
    lower = share_accepted(count_statuses(opened, "rating_share<0.5"))
    upper = share_accepted(count_statuses(opened, "rating_share>=0.5"))
    says = f"Of the papers decided, {lower} are accepted in the lower half of the scale and {upper} in the upper half."
    unknown = {"no rating on a known scale": _count_all(opened) - sum(group.papers for group in groups)}
    return _make_figure("by-score", "Decisions by score", axis, says, groups, unknown)


def drift_by_year(opened: OpenIndex) -> Drifts:
    """Compare the mean ratings as first given and now, by year."""
    years = []
    for year, label in _label_years(opened).items():
        of_year = (f"year={year}", _CHANGE_KNOWN)
        first = _mean(opened, "first_unit", *of_year)
        change = _mean(opened, "change_unit", *of_year)
        if first is not None and change is not None:
            papers = sum(count_statuses(opened, *of_year).values())
            years.append(Drift(year, label, papers, first, first + change, make_link(*of_year)))
    every = sum(drift.papers for drift in years) or 1
    first = sum(drift.papers * drift.first for drift in years) / every
    now = sum(drift.papers * drift.now for drift in years) / every
    ends = percent(first), percent(now)
    says = f"In the discussion the mean goes from {ends[0]} to {ends[1]} of the scale."
    if ends[0] == ends[1]:
        says = f"The mean stays at {ends[0]} of the scale in the discussion."
    unknown = {
        "no first rating on a known scale, or no year": _count_all(opened) - sum(drift.papers for drift in years)
    }
    return Drifts("drift", "Score drift by year", says, years, unknown)


def _count_classes(
    opened: OpenIndex, key: str, title: str, axis: str, classes: Mapping[str, Sequence[str]], reason: str
) -> Stacked:
    groups = [_make_group(opened, name, conditions) for name, conditions in classes.items()]
    unknown = {reason: _count_all(opened) - sum(group.papers for group in groups)}
    return _make_figure(key, title, axis, "", groups, unknown)


def changed_minds(opened: OpenIndex) -> Stacked:
    """Count papers by the mean change of their ratings and by decision."""
    figure = _count_classes(
        opened,
        "changed",
        "Who changed their mind",
        "Mean change of the ratings",
        _CHANGES,
        "no first rating on a known scale",
    )
    lowered = _share_of(figure, figure.groups[:2])
    raised = _share_of(figure, figure.groups[3:])
    return replace(figure, says=f"The mean rating rises for {raised} of these papers and falls for {lowered}.")


def disagreement(opened: OpenIndex) -> Stacked:
    """Count papers by how far apart their ratings are, and by decision."""
    figure = _count_classes(
        opened,
        key="disagreement",
        title="Disagreement",
        axis="Highest minus lowest rating, in per cent of the scale",
        classes=_SPREADS,
        reason="fewer than two ratings on a known scale",
    )
    apart = _share_of(figure, figure.groups[3:])
    return replace(figure, says=f"For {apart} of these papers the ratings are more than 40 % of the scale apart.")


def _share_of(figure: Stacked, groups: Sequence[Group]) -> str:
    return percent(compute_share(sum(group.papers for group in groups), figure.papers))


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
