"""Search the index of points for a selection, and mark where its words occur."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import tantivy
from tantivy import Order, Query

from peercorpus.explorer.points.point_documents import (
    FIELDS_SEARCHED,
    NO_ASPECT,
    POINT_ID,
    TEXT,
    PointRow,
    read_point_row,
)
from peercorpus.explorer.points.point_selection import EVERY_KIND, PointSelection
from peercorpus.explorer.querying.likeness import find_like
from peercorpus.explorer.querying.spelling import suggest_words
from peercorpus.explorer.querying.words import Relaxed, filter_by, parse_words, relax
from peercorpus.explorer.search import HitFinder, Piece
from peercorpus.explorer.search_index import OpenIndex, OpenTexts
from peercorpus.explorer.venue_page import VenueCounts
from peercorpus.records.points import PointAspect, PointKind
from peercorpus.records.untrusted_text import replace_controls

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
        kinds: Number of points found by kind, on all pages.
        aspects: Number of points found by aspect, on all pages; `NO_ASPECT` counts those of which none is known.
        faults: Parts of the words that could not be parsed.
        missed: The words, as they were typed, that no point of the selection has.
        is_any: Whether no point has all words, so that those with any of them are found.
        suggested: The words in the spelling that the index has; None if they are spelt so.
        like: The point that those found are like; None if none was named.
    """

    hits: Sequence[PointHit]
    kinds: Mapping[str, int]
    aspects: Mapping[str, int]
    faults: Sequence[str]
    missed: Sequence[str] = ()
    is_any: bool = False
    suggested: str | None = None
    like: PointHit | None = None

    @property
    def total(self) -> int:
        """Number of points found, on all pages."""
        return sum(self.kinds.values())

    @property
    def pages(self) -> int:
        """Number of pages that are shown, from 1 to `MOST_PAGES`."""
        return min(MOST_PAGES, max(1, -(-self.total // PAGE)))

    @property
    def is_cut(self) -> bool:
        """Whether more points are found than pages show."""
        return self.total > PAGE * MOST_PAGES


def search_points(opened: OpenIndex, selection: PointSelection) -> PointPage:
    """Return one page of the points of a selection; one of which a part could not be read selects nothing."""
    if selection.faults:
        return PointPage([], {}, {}, [])
    if selection.like:
        return _search_like(opened, selection)
    points = opened.points
    parsed = parse_words(points, selection.words, FIELDS_SEARCHED)
    filters = _list_filters(opened, selection)
    relaxed, query = Relaxed(parsed.query), filter_by(parsed.query, filters)
    kinds, aspects = (_count if selection.words else _look_up)(opened, selection, query)
    if parsed.words and not kinds:
        relaxed = relax(points, parsed, filters)
        query = filter_by(relaxed.query, filters)
        kinds, aspects = _count(opened, selection, query)
    offset = (min(selection.page, MOST_PAGES) - 1) * PAGE
    order = None if selection.words else "created"
    found = points.searcher.search(query, PAGE, count=False, order_by_field=order, offset=offset, order=Order.Desc)
    finder = _make_finder(points, relaxed.query, selection)
    return PointPage(
        hits=[_make_hit(points.searcher.doc(address), finder) for _, address in found.hits],
        kinds=kinds,
        aspects=aspects,
        faults=parsed.faults,
        missed=relaxed.missed,
        is_any=bool(relaxed.wanted),
        suggested=suggest_words(points, parsed.words),
    )


def _search_like(opened: OpenIndex, selection: PointSelection) -> PointPage:
    """Return the points most like another one, of those that the filters and words leave: one page at most."""
    points = opened.points
    own = Query.term_query(points.schema, POINT_ID, selection.like, "basic")
    itself = points.searcher.search(own, 1, count=False).hits
    if not itself:
        return PointPage([], {}, {}, [])
    document = points.searcher.doc(itself[0][1])
    filters = _list_filters(opened, selection)
    parsed = parse_words(points, selection.words, FIELDS_SEARCHED)
    filters += [parsed.query] if selection.words else []
    text = str(document.get_first(TEXT) or "")
    addresses = find_like(points, {TEXT: [text]}, own, filters, PAGE)
    finder = _make_finder(points, parsed.query, selection)
    hits = [_make_hit(points.searcher.doc(address), finder) for address in addresses]
    kinds = Counter(hit.row.kind.value for hit in hits)
    aspects = Counter(hit.row.aspect or NO_ASPECT for hit in hits)
    return PointPage(hits, kinds, aspects, parsed.faults, like=_make_hit(document, None))


def _make_finder(points: OpenTexts, query: Query, selection: PointSelection) -> HitFinder | None:
    return HitFinder(points, query, selection.words, (TEXT,), _PASSAGE_CHARACTERS) if selection.words else None


def _list_filters(opened: OpenIndex, selection: PointSelection) -> list[Query]:
    schema = opened.points.schema
    kind = "" if selection.kind == EVERY_KIND else selection.kind
    values = (("kind", kind), ("aspect", selection.aspect), ("venue_id", selection.venue), ("year", selection.year))
    filters = [Query.term_query(schema, name, value) for name, value in values if value]
    if not selection.kind:
        filters.append(Query.term_query(schema, "is_critical", True))
    return filters


Counts = tuple[Mapping[str, int], Mapping[str, int]]
"""Numbers of points by kind and by aspect."""


def _count(opened: OpenIndex, _: PointSelection, query: Query) -> Counts:
    """Count what a query finds."""
    terms = {
        "kinds": {"terms": {"field": "kind", "size": len(PointKind)}},
        "aspects": {"terms": {"field": "aspect", "size": len(PointAspect) + 1}},
    }
    found = opened.points.searcher.aggregate(query, terms)
    kinds, aspects = (
        {bucket["key"]: bucket["doc_count"] for bucket in found[name]["buckets"]} for name in ("kinds", "aspects")
    )
    return kinds, aspects


def _look_up(opened: OpenIndex, selection: PointSelection, _: Query) -> Counts:
    """Add what is counted of venues, for a selection without words: counting millions of points takes longer."""
    kinds: Counter[str] = Counter()
    aspects: Counter[str] = Counter()
    for venue in _select_venues(opened.venues.values(), selection):
        for kind in selection.kinds:
            for aspect, count in venue.points.get(kind, {}).items():
                if selection.aspect in ("", aspect):
                    kinds[kind] += count
                    aspects[aspect] += count
    return kinds, aspects


def _select_venues(venues: Iterable[VenueCounts], selection: PointSelection) -> list[VenueCounts]:
    return [
        venue
        for venue in venues
        if selection.venue in ("", venue.venue_id.lower()) and selection.year in ("", str(venue.year))
    ]


def _make_hit(document: tantivy.Document, finder: HitFinder | None) -> PointHit:
    text = replace_controls(str(document.get_first(TEXT) or ""))
    passage = finder.passage(document, TEXT) if finder else []
    if not passage:
        passage = [(text[:_PASSAGE_CHARACTERS], False)]
    if text and len(text) <= _PASSAGE_CHARACTERS:
        before, _, after = text.partition("".join(piece for piece, _ in passage))
        passage = [(before, False), *passage, (after, False)]
    return PointHit(read_point_row(document), passage, is_cut=len(text) > _PASSAGE_CHARACTERS)
