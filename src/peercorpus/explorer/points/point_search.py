"""Search the index of points for a selection, and mark where its words occur."""

from collections.abc import Sequence
from dataclasses import dataclass

import tantivy
from tantivy import DocAddress, Order, Query

from peercorpus.explorer.points.point_documents import (
    FIELDS_SEARCHED,
    NO_ASPECT,
    POINT_ID,
    TEXT,
    PointRow,
    read_point_row,
)
from peercorpus.explorer.points.point_facets import (
    PointCounts,
    add_counts,
    list_aggregations,
    make_point_facets,
    read_counts,
)
from peercorpus.explorer.points.point_selection import EVERY_KIND, PointSelection
from peercorpus.explorer.querying.facets import Facet
from peercorpus.explorer.querying.likeness import find_like, make_rule_of_points
from peercorpus.explorer.querying.passages import PassageFinder, Piece, show_part
from peercorpus.explorer.querying.spelling import suggest_words
from peercorpus.explorer.querying.words import ParsedWords, Relaxed, filter_by, parse_words, relax
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.explorer.venue_page import VenueCounts

PAGE = 25
"""Points on a page."""
MOST_PAGES = 200
"""Pages that are shown: to find the points of a late page, all before it are ranked."""
_PASSAGE_CHARACTERS = 420
"""Length of the passage shown of a point."""


@dataclass(frozen=True, slots=True)
class PointHit:
    """One point found.

    Attributes:
        text: Its text, or the best passage of it, in pieces.
        is_cut: Whether the text goes on.
    """

    row: PointRow
    text: Sequence[Piece]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class PointPage:
    """One page of points.

    Attributes:
        hits: The points of the page.
        counts: Numbers of points found, on all pages.
        faults: Parts of the words that could not be parsed.
        missed: The words, as they were typed, that no point of the selection has.
        is_any: Whether no point has all words, so that those with any of them are found.
        suggested: The words in the spelling that the index has; None if they are spelt so.
        like: The point that those found are like; None if none was named.
        hints: Parts that were interpreted differently from what was typed, one sentence each.
        facets: Numbers of points found by their properties, with links that narrow the search.
    """

    hits: Sequence[PointHit]
    counts: PointCounts
    faults: Sequence[str]
    missed: Sequence[str] = ()
    is_any: bool = False
    suggested: str | None = None
    like: PointHit | None = None
    hints: Sequence[str] = ()
    facets: Sequence[Facet] = ()

    @property
    def total(self) -> int:
        """Number of points found, on all pages."""
        return self.counts.total

    @property
    def pages(self) -> int:
        """Number of pages that are shown, from 1 to `MOST_PAGES`."""
        return _count_pages(self.counts)

    @property
    def is_cut(self) -> bool:
        """Whether more points are found than pages show."""
        return self.total > PAGE * MOST_PAGES


def _count_pages(counts: PointCounts) -> int:
    return min(MOST_PAGES, max(1, -(-counts.total // PAGE)))


def search_points(opened: OpenIndex, selection: PointSelection) -> PointPage:
    """Return one page of the points of a selection; one with an unreadable part selects nothing."""
    if selection.faults:
        return PointPage([], PointCounts(), [])
    if selection.like:
        return _search_like(opened, selection)
    points = opened.points
    parsed = parse_words(points, selection.words, FIELDS_SEARCHED)
    filters = _list_filters(opened, selection)
    relaxed, query = Relaxed(parsed.query), filter_by(parsed.query, filters)
    venues = _select_venues(opened, selection)
    is_counted = bool(selection.words) or any(venue.year is None for venue in venues)
    counts = _count(opened, query) if is_counted else add_counts(venues, selection)
    if parsed.words and not counts.total:
        relaxed = relax(points, parsed, filters)
        query = filter_by(relaxed.query, filters)
        counts = _count(opened, query)
    finder = _make_finder(parsed)
    addresses = _list_page(opened, selection, query) if selection.page <= _count_pages(counts) else []
    return PointPage(
        hits=[_make_hit(points.searcher.doc(address), finder) for address in addresses],
        counts=counts,
        faults=parsed.faults,
        missed=relaxed.missed,
        is_any=bool(relaxed.wanted),
        suggested=suggest_words(points, parsed.words),
        hints=[*selection.hints, *parsed.hints],
        facets=make_point_facets(counts, selection, opened.venues),
    )


def _list_page(opened: OpenIndex, selection: PointSelection, query: Query) -> list[DocAddress]:
    offset = (selection.page - 1) * PAGE
    order = None if selection.words else "created"
    found = opened.points.searcher.search(
        query, PAGE, count=False, order_by_field=order, offset=offset, order=Order.Desc
    )
    return [address for _, address in found.hits]


def _search_like(opened: OpenIndex, selection: PointSelection) -> PointPage:
    """Return the points most like another one, of those that the filters and words leave: one page at most."""
    points = opened.points
    own = Query.term_query(points.schema, POINT_ID, selection.like, "basic")
    itself = points.searcher.search(own, 1, count=False).hits
    if not itself:
        return PointPage([], PointCounts(), [])
    document = points.searcher.doc(itself[0][1])
    filters = _list_filters(opened, selection)
    parsed = parse_words(points, selection.words, FIELDS_SEARCHED)
    filters += [parsed.query] if selection.words else []
    text = str(document.get_first(TEXT) or "")
    rule = make_rule_of_points(points, FIELDS_SEARCHED, TEXT, text)
    addresses = find_like(points, {TEXT: [text]}, own, filters, PAGE, rule)
    finder = _make_finder(parsed)
    hits = [_make_hit(points.searcher.doc(address), finder) for address in addresses]
    counts = PointCounts()
    for hit in hits:
        counts.add(hit.row.kind.value, hit.row.aspect or NO_ASPECT, "yes" if hit.row.answers else "no", 1)
    hints = [*selection.hints, *parsed.hints]
    return PointPage(hits, counts, parsed.faults, like=_make_hit(document, None), hints=hints)


def _make_finder(parsed: ParsedWords) -> PassageFinder | None:
    return PassageFinder(parsed.sought, FIELDS_SEARCHED, _PASSAGE_CHARACTERS) if parsed.sought else None


def _list_filters(opened: OpenIndex, selection: PointSelection) -> list[Query]:
    schema = opened.points.schema
    kind = "" if selection.kind == EVERY_KIND else selection.kind
    values = [("kind", kind), ("aspect", selection.aspect), ("venue_id", selection.venue)]
    values += [("year", selection.year), ("answered", selection.answered)]
    filters = [Query.term_query(schema, name, value) for name, value in values if value]
    if not selection.kind:
        filters.append(Query.term_query(schema, "is_critical", True))
    return filters


def _count(opened: OpenIndex, query: Query) -> PointCounts:
    return read_counts(opened.points.searcher.aggregate(query, list_aggregations(len(opened.venues))))


def _select_venues(opened: OpenIndex, selection: PointSelection) -> list[VenueCounts]:
    return [
        venue
        for venue in opened.venues.values()
        if selection.venue in ("", venue.venue_id.lower()) and selection.year in ("", str(venue.year or selection.year))
    ]


def _make_hit(document: tantivy.Document, finder: PassageFinder | None) -> PointHit:
    text = str(document.get_first(TEXT) or "")
    passage = finder.find(text, TEXT) if finder else None
    pieces = passage.pieces if passage else [(show_part(text, 0, _PASSAGE_CHARACTERS), False)]
    return PointHit(read_point_row(document), pieces, is_cut=len(text) > _PASSAGE_CHARACTERS)
