"""Count the papers of a search by venue, year, decision, rating and grade, and narrow it to each value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peercorpus.corpus.filters import Condition, Operator
from peercorpus.explorer.rendering import GRADES, STATUSES
from peercorpus.explorer.selection import Selection
from peercorpus.records.enums import Grade, Status

MAX_VALUES = 8
"""Values of one facet that are shown."""
_QUARTERS = (0.0, 0.25, 0.5, 0.75)
_QUARTER_NAMES = ("Lowest quarter", "Second quarter", "Third quarter", "Highest quarter")
AGGREGATIONS: Mapping[str, Any] = {
    "venue": {"terms": {"field": "venue_id", "size": MAX_VALUES + 1}},
    "year": {"terms": {"field": "year", "size": MAX_VALUES + 1, "order": {"_key": "desc"}}},
    "status": {"terms": {"field": "status", "size": len(Status)}},
    "rating": {
        "range": {
            "field": "rating_unit",
            "ranges": [
                *({"from": low, "to": low + 0.25} for low in _QUARTERS[:-1]),
                {"from": _QUARTERS[-1]},
            ],
        }
    },
    "grade": {"terms": {"field": "grade", "size": len(Grade)}},
}
"""What tantivy counts, in the form of Elasticsearch's aggregations."""


_TITLES = {
    "venue": "Venue",
    "conference": "Conference",
    "year": "Year",
    "track": "Track",
    "status": "Decision",
    "grade": "Version",
    "keyword": "Keyword",
    "reviews": "Reviews",
    "rating": "Mean rating",
    "rating_share": "Mean rating on its scale",
    "spread_share": "Spread on the scale",
    "change_share": "Change of the ratings on the scale",
    "confidence": "Mean confidence",
    "has_rebuttal": "Authors answered",
    "score_changed": "Rating changed",
}
"""What the page calls the fields of `corpus.filters`."""
_SIGNS = {
    Operator.IS: ":",
    Operator.IS_NOT: ": not",
    Operator.AT_LEAST: " ≥",
    Operator.AT_MOST: " ≤",
    Operator.MORE: " >",
    Operator.LESS: " <",
}


def describe_condition(condition: Condition) -> str:
    """Return a condition in the words of the page.

    >>> from peercorpus.corpus.filters import parse
    >>> [describe_condition(parse(text)) for text in ("status=desk_rejected", "rating_share>=0.75", "has_rebuttal=no")]
    ['Decision: Desk rejected', 'Mean rating on its scale ≥ 75 %', 'Authors answered: no']
    """
    value = condition.value
    if condition.name == "status":
        shown = STATUSES[Status(str(value))]
    elif condition.name == "grade":
        shown = GRADES[Grade(str(value))][0]
    elif isinstance(value, bool):
        shown = "yes" if value else "no"
    elif isinstance(value, str):
        shown = value
    else:
        shown = f"{100 * value:.15g} %" if condition.name.endswith("_share") else f"{value:.15g}"
    return f"{_TITLES[condition.name]}{_SIGNS[condition.comparison]} {shown}"


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value of a facet.

    Attributes:
        count: Papers of the search that have it.
        link: Query string of the search narrowed to it; None if the search is narrowed by this facet already.
    """

    label: str
    count: int
    link: str | None


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of one property of papers.

    Attributes:
        is_cut: Whether there are more values than are shown.
    """

    title: str
    values: Sequence[FacetValue]
    is_cut: bool = False


def make_facets(counted: Mapping[str, Any], selection: Selection, venues: Mapping[str, object]) -> list[Facet]:
    """Return the facets of a search that have a value, given what `AGGREGATIONS` counted."""
    names = {venue_id.lower(): venue_id for venue_id in venues}
    statuses = {status.value: STATUSES[status] for status in Status}
    grades = {grade.value: GRADES[grade][0] for grade in Grade}
    facets = [
        _make_terms("Venue", "venue", counted["venue"], selection, names),
        _make_terms("Year", "year", counted["year"], selection, {}),
        _make_terms("Decision", "status", counted["status"], selection, statuses),
        Facet("Mean rating on its scale", list(_list_quarters(counted["rating"], selection))),
        _make_terms("Version the reviewers read", "grade", counted["grade"], selection, grades),
    ]
    return [facet for facet in facets if facet.values]


def _make_terms(
    title: str, name: str, counted: Mapping[str, Any], selection: Selection, labels: Mapping[str, str]
) -> Facet:
    buckets = counted["buckets"]
    values = []
    for bucket in buckets[:MAX_VALUES]:
        key = bucket["key"]
        label = labels.get(key, key) if isinstance(key, str) else str(int(key))  # Years are counted as floats.
        value = key if isinstance(key, str) else float(key)
        values.append(FacetValue(label, bucket["doc_count"], _narrow(selection, Condition(name, Operator.IS, value))))
    return Facet(title, values, is_cut=len(buckets) > MAX_VALUES)


def _list_quarters(counted: Mapping[str, Any], selection: Selection) -> Iterator[FacetValue]:
    by_start = {bucket.get("from"): bucket["doc_count"] for bucket in counted["buckets"]}
    for low, label in reversed(list(zip(_QUARTERS, _QUARTER_NAMES, strict=True))):
        conditions = [Condition("rating_share", Operator.AT_LEAST, low)]
        if low < _QUARTERS[-1]:
            conditions.append(Condition("rating_share", Operator.LESS, low + 0.25))
        if by_start.get(low):
            yield FacetValue(label, by_start[low], _narrow(selection, *conditions))


def _narrow(selection: Selection, *conditions: Condition) -> str | None:
    """Return the query string of a search narrowed by conditions on one field; None if it is narrowed by it already."""
    of_field = (each for each in selection.conditions if each.name == conditions[0].name)
    if any(each.comparison is not Operator.IS_NOT for each in of_field):
        return None
    return selection.query_string(conditions=(*selection.conditions, *conditions), page=1)
