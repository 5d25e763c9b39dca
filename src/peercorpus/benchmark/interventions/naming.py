"""Decide by a rule whether a review names a place of a paper.

The rule: a review names a place if it has five consecutive words or signs of the sentence or formula, at least one of
them changed, or the changed number, or the number of the formula after "equation" or the like. It is applied to the
review of the changed paper with the changed place, and to the review of the clean paper with the original place: a
place that a review names anyway, such as a result that it repeats, thus counts as a false alarm.
"""

import re
import unicodedata
from collections.abc import Iterator

from peercorpus.benchmark.interventions.change import Place

RUN = 5
"""Number of consecutive words or signs that count as a quotation."""
TOKEN = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+|[-−–—+=<>≤≥/^·∥∑∫∇√]")
DASHES = dict.fromkeys(map(ord, "−–—"), "-")


def _normalise(token: str) -> str:
    return unicodedata.normalize("NFKC", token).casefold().translate(DASHES)


def _split(text: str) -> list[tuple[int, int, str]]:
    """Return the words, numbers and signs of a text with their offsets; Markdown's own signs do not count."""
    return [(match.start(), match.end(), _normalise(match[0])) for match in TOKEN.finditer(text)]


def _runs(place: Place) -> Iterator[str]:
    """Yield every run of five tokens of a passage that contains a changed one, or spans a deletion."""
    tokens = _split(place.passage)
    for first in range(len(tokens) - RUN + 1):
        chosen = tokens[first : first + RUN]
        if place.start == place.end:
            is_there = chosen[0][1] <= place.start <= chosen[-1][0]
        else:
            is_there = any(start < place.end and place.start < end for start, end, _ in chosen)
        if is_there:
            yield " ".join(token for _, _, token in chosen)


def names_place(review: str, place: Place) -> bool:
    """Return whether a review names a place according to the rule.

    >>> place = Place("We reach 84.3 on all of the kites.", 9, 13, number="84.3")
    >>> [names_place(review, place) for review in ("Table 2 says 48.3, not 84.3.", "It reaches 84.31 in all.")]
    [True, False]
    """
    said = f" {' '.join(token for _, _, token in _split(review))} "
    if any(f" {run} " in said for run in _runs(place)):
        return True
    if place.number is not None and f" {place.number} " in said:
        return True
    return place.equation is not None and _names_equation(review, place.equation)


def _names_equation(review: str, number: str) -> bool:
    named = rf"\b(?:equations?|eqs?\.?|eqns?\.?|formulae?|formulas?)\s*~?\(?{re.escape(number)}\b(?!\.\d)"
    return re.search(named, review, re.IGNORECASE) is not None
