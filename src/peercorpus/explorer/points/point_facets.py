"""Count the points of a search by venue, year, kind, aspect and answer, and narrow it to each value."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from peercorpus.explorer.points.naming import ASPECTS, KINDS
from peercorpus.explorer.points.point_documents import CLASS, NO_ASPECT, SEPARATOR
from peercorpus.explorer.points.point_selection import EVERY_KIND, PointSelection
from peercorpus.explorer.querying.facets import MAX_VALUES, Facet, FacetValue
from peercorpus.explorer.venue_page import VenueCounts
from peercorpus.records.points import PointAspect, PointKind

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
        kinds: By kind.
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
        """Number of points."""
        return self.kinds.total()

    def add(self, kind: str, aspect: str, answered: str, count: int) -> None:
        """Add points of a class, but not to those by venue and year."""
        if count:
            self.kinds[kind] += count
            self.aspects[aspect] += count
            self.answered[answered] += count


def list_aggregations(venues: int) -> dict[str, Any]:
    """Return what tantivy is to count, in the form of Elasticsearch's aggregations.

    Args:
        venues: Number of venues of the corpus.
    """
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
    """Return the facets of a search that have a value.

    Args:
        counts: What was counted.
        selection: The search.
        venues: The venues by id.
    """
    by_lower = {venue_id.lower(): venue for venue_id, venue in venues.items()}
    names = {venue_id: venue.venue_id for venue_id, venue in by_lower.items()}
    kinds = {kind.value: name for kind, name in KINDS.items() if kind.value in counts.kinds}
    aspects = {**{aspect.value: name for aspect, name in ASPECTS.items()}, NO_ASPECT: "Not known"}
    facets = [
        _make(
            selection, "venue", "Venue", counts.venues, {key: names.get(key, key) for key, _ in _rank(counts.venues)}
        ),
        _make(selection, "year", "Year", counts.years, {year: year for year in sorted(counts.years, reverse=True)}),
        _make(selection, "kind", "Kind", counts.kinds, kinds),
        _make(selection, "aspect", "Aspect", counts.aspects, aspects),
        _make(selection, "answered", "Answer of the authors", counts.answered, _ANSWERED),
    ]
    return [facet for facet in facets if facet.values]


def _rank(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


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
