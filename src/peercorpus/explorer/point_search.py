"""Search the index of points: parse the address of the page, count and narrow, and mark where the words occur."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode

import tantivy
from tantivy import DocAddress, Order, Query

from peercorpus.explorer.point_documents import (
    CLASS,
    FIELDS_SEARCHED,
    NO_ASPECT,
    POINT_ID,
    SEPARATOR,
    TEXT,
    PointRow,
    read_point_row,
)
from peercorpus.explorer.points_of_paper import ASPECTS, KINDS
from peercorpus.explorer.querying.facets import MAX_VALUES, Facet, FacetValue
from peercorpus.explorer.querying.likeness import points_like
from peercorpus.explorer.querying.passages import PassageFinder, Piece, show_part
from peercorpus.explorer.querying.typed_query import read_query
from peercorpus.explorer.querying.words import Found, ParsedWords, Relaxed, filter_by, parse_words, relax, suggest_words
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.explorer.selection import TOO_MANY, clip_words, explain_unknown, read_page
from peercorpus.explorer.venue_page import VenueCounts
from peercorpus.records.points import CRITICAL_KINDS, PointAspect, PointKind

EVERY_KIND = "all"
"""Value of `kind` for points of every kind; without one, only those that authors may be expected to answer."""
VALUES: Mapping[str, Sequence[str]] = MappingProxyType(
    {"kind": (EVERY_KIND, *PointKind), "aspect": (*PointAspect, NO_ASPECT), "answered": ("yes", "no")}
)
"""The filters that have given values."""
FILTERS = ("kind", "aspect", "venue", "year", "answered")
PARAMETERS = ("q", "like", *FILTERS, "page")


@dataclass(frozen=True, slots=True)
class PointSelection:
    """The request of a page of points.

    Attributes:
        words: The search, in tantivy's query language; empty for all points.
        kind: A `PointKind`, `EVERY_KIND`, or empty for all that authors may be expected to answer.
        aspect: A `PointAspect`, `NO_ASPECT` if none is known, or empty for any.
        venue: A venue's id in lower case; empty for any.
        faults: One sentence for each part of the query string that could not be parsed. Such a selection is empty.
        like: Id of a point that those selected are like; empty for none.
        answered: "yes" for those with an answer of the authors, "no" for the others; empty for both.
        hints: Parts that are read otherwise than they were written, one sentence each.
    """

    words: str = ""
    kind: str = ""
    aspect: str = ""
    venue: str = ""
    year: str = ""
    page: int = 1
    faults: tuple[str, ...] = ()
    like: str = ""
    answered: str = ""
    hints: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are selected."""
        if self.kind == EVERY_KIND:
            return tuple(PointKind)
        return (self.kind,) if self.kind else tuple(kind for kind in PointKind if kind in CRITICAL_KINDS)

    @property
    def filters(self) -> int:
        return sum(bool(getattr(self, name)) for name in FILTERS)

    def query_string(self, **changed: object) -> str:
        """Return the query string of the page, with the given fields changed.

        >>> PointSelection("missing baseline", kind="weakness").query_string(page=2)
        'q=missing+baseline&kind=weakness&page=2'
        """
        asked = replace(self, **changed)  # type: ignore[arg-type]
        pairs = [("q", asked.words), ("like", asked.like), *((name, getattr(asked, name)) for name in FILTERS)]
        pairs.append(("page", str(asked.page) if asked.page > 1 else ""))
        return urlencode([(name, value) for name, value in pairs if value])


def read_point_selection(query_string: str) -> PointSelection:
    """Parse a query string; parts that cannot be parsed are described in `faults`.

    >>> read_point_selection("q=baseline&kind=question").kinds
    ('question',)
    >>> read_point_selection("kind=questions").faults
    ("The address has no kind 'questions'; did you mean 'question'?",)
    """
    try:
        last = dict(parse_qsl(query_string, max_num_fields=200, errors="replace"))
    except ValueError:
        return PointSelection(faults=(TOO_MANY,))
    words, hints = clip_words(last.get("q", ""))
    filters = {name: last.get(name, "").strip().lower() for name in FILTERS}
    faults = [explain_unknown("parameter", name, PARAMETERS) for name in last if name not in PARAMETERS]
    for name, known in VALUES.items():
        if filters[name] and filters[name] not in known:
            faults.append(explain_unknown(name, filters[name], known))
            filters[name] = ""
    like = last.get("like", "").strip()
    page = read_page(last.get("page", "1"))
    return PointSelection(words=words, like=like, **filters, page=page, faults=tuple(faults), hints=hints)


_ANSWERED = {"yes": "An answer found", "no": "No answer found"}
_YEARS = 200
"""More than there are years of papers."""
_CLASSES = len(PointKind) * (len(PointAspect) + 1) * len(_ANSWERED)


@dataclass(frozen=True, slots=True)
class PointCounts:
    """Numbers of points found, on all pages.

    Attributes:
        venues: By venue, its id in lower case.
        years: By year of the paper; those without a known one are left out.
        aspects: By aspect; `NO_ASPECT` counts those without a known one.
        answered: By whether an answer is found: "yes" or "no".
    """

    venues: Counter[str] = field(default_factory=Counter)
    years: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    aspects: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.kinds.total()

    def add(self, kind: str, aspect: str, answered: str, count: int) -> None:
        """Add points of a class, but not to those by venue and year."""
        if count:
            self.kinds[kind] += count
            self.aspects[aspect] += count
            self.answered[answered] += count


def list_aggregations(venues: int) -> dict[str, Any]:
    """Return what tantivy is to count in a corpus of some venues, in the form of Elasticsearch's aggregations."""
    return {
        "classes": {"terms": {"field": CLASS, "size": _CLASSES}},
        "venues": {"terms": {"field": "venue_id", "size": max(1, venues)}},
        "years": {"terms": {"field": "year", "size": _YEARS}},
    }


def read_counts(counted: Mapping[str, Any]) -> PointCounts:
    """Return what `list_aggregations` counted."""
    counts = PointCounts()
    for bucket in counted["classes"]["buckets"]:
        kind, aspect, answered = bucket["key"].split(SEPARATOR)
        counts.add(kind, aspect, answered, bucket["doc_count"])
    for bucket in counted["venues"]["buckets"]:
        counts.venues[bucket["key"]] += bucket["doc_count"]
    counts.years.update({bucket["key"]: bucket["doc_count"] for bucket in counted["years"]["buckets"]})
    return counts


def add_counts(venues: Iterable[VenueCounts], selection: PointSelection) -> PointCounts:
    """Return the counts of a selection without words, added from those of venues: counting millions takes longer.

    Each venue's papers are of one year, the venue's.
    """
    counts = PointCounts()
    for venue in venues:
        before = counts.total
        for kind in selection.kinds:
            for aspect, count in venue.points.get(kind, {}).items():
                answered = venue.answered.get(kind, {}).get(aspect, 0)
                if selection.aspect in ("", aspect):
                    for name, of_name in (("yes", answered), ("no", count - answered)):
                        counts.add(kind, aspect, name, of_name if selection.answered in ("", name) else 0)
        if counts.total > before:
            counts.venues[venue.venue_id.lower()] = counts.total - before
            counts.years[str(venue.year)] += counts.total - before
    return counts


def make_point_facets(
    counts: PointCounts, selection: PointSelection, venues: Mapping[str, VenueCounts]
) -> Sequence[Facet]:
    """Return the facets of a search that have a value."""
    names = {venue_id.lower(): venue_id for venue_id in venues}
    kinds = {kind.value: name for kind, name in KINDS.items() if kind.value in counts.kinds}
    aspects = {**{aspect.value: name for aspect, name in ASPECTS.items()}, NO_ASPECT: "Not known"}
    ranked = sorted(counts.venues, key=lambda key: (-counts.venues[key], key))
    facets = [
        _make(selection, "venue", "Venue", counts.venues, {key: names.get(key, key) for key in ranked}),
        _make(selection, "year", "Year", counts.years, {year: year for year in sorted(counts.years, reverse=True)}),
        _make(selection, "kind", "Kind", counts.kinds, kinds),
        _make(selection, "aspect", "Aspect", counts.aspects, aspects),
        _make(selection, "answered", "Answer of the authors", counts.answered, _ANSWERED),
    ]
    return [facet for facet in facets if facet.values]


def _make(
    selection: PointSelection, name: str, title: str, counts: Mapping[str, int], labels: Mapping[str, str]
) -> Facet:
    """Return a facet with the values in the order of their labels; those without a point are left out."""
    is_narrowed = getattr(selection, name) not in ("", EVERY_KIND)
    shown = [(key, label) for key, label in labels.items() if counts.get(key)]
    most = MAX_VALUES if name in ("venue", "year") else len(shown)
    values = [
        FacetValue(label, counts[key], None if is_narrowed else selection.query_string(**{name: key}, page=1))
        for key, label in shown[:most]
    ]
    return Facet(title, values, is_cut=len(shown) > most)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PointPage(Found):
    """One page of points.

    Attributes:
        counts: Numbers of points found, on all pages.
        like: The point that those found are like; None if none was named.
    """

    hits: Sequence[PointHit] = ()
    counts: PointCounts = field(default_factory=PointCounts)
    like: PointHit | None = None

    @property
    def total(self) -> int:
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
        return PointPage()
    if selection.like:
        return _search_like(opened, selection)
    points = opened.points
    typed = read_query(selection.words, FIELDS_SEARCHED)
    parsed = parse_words(points, typed, FIELDS_SEARCHED)
    filters = _list_filters(opened, selection)
    relaxed, query = Relaxed(parsed.query), filter_by(parsed.query, filters)
    venues = [
        venue
        for venue in opened.venues.values()
        if selection.venue in ("", venue.venue_id.lower()) and selection.year in ("", str(venue.year or selection.year))
    ]
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
        hints=[*selection.hints, *typed.hints],
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
        return PointPage()
    document = points.searcher.doc(itself[0][1])
    filters = _list_filters(opened, selection)
    typed = read_query(selection.words, FIELDS_SEARCHED)
    parsed = parse_words(points, typed, FIELDS_SEARCHED)
    filters += [parsed.query] if selection.words else []
    text = str(document.get_first(TEXT) or "")
    addresses = points_like(points, FIELDS_SEARCHED, TEXT, text, own, filters, PAGE)
    finder = _make_finder(parsed)
    hits = [_make_hit(points.searcher.doc(address), finder) for address in addresses]
    counts = PointCounts()
    for hit in hits:
        counts.add(hit.row.kind.value, hit.row.aspect or NO_ASPECT, "yes" if hit.row.answers else "no", 1)
    return PointPage(
        hits=hits,
        counts=counts,
        faults=parsed.faults,
        like=_make_hit(document, None),
        hints=[*selection.hints, *typed.hints],
    )


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


def _make_hit(document: tantivy.Document, finder: PassageFinder | None) -> PointHit:
    text = str(document.get_first(TEXT) or "")
    passage = finder.find(text, TEXT) if finder else None
    pieces = passage.pieces if passage else [(show_part(text, 0, _PASSAGE_CHARACTERS), False)]
    return PointHit(read_point_row(document), pieces, is_cut=len(text) > _PASSAGE_CHARACTERS)
