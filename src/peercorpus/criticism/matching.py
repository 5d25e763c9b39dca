"""Find which points about one paper are the same criticism, from the rare words they share and the places they name.

Two points are compared by content, whoever wrote them and in whatever order; `docs/points.md` reports how often one
reader judged two matching points to be the same criticism.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import fsum, log

from peercorpus.criticism.kinds import content_words, split_words
from peercorpus.criticism.split import split_text
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import CRITICAL_KINDS

PLACE = re.compile(
    r"\b(?P<kind>section|sec|appendix|app|figure|fig|table|tab|equation|eqn|eq|theorem|lemma|algorithm|alg)s?\.?\s*+[(~]?\s*+"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,2}|(?-i:[A-H])(?:\.\d{1,2}){0,2}(?![A-Za-z]))",
    re.IGNORECASE,
)
KINDS = {
    "sec": "section", "appendix": "section", "app": "section", "fig": "figure", "tab": "table",
    "eq": "equation", "eqn": "equation", "alg": "algorithm",
}  # fmt: skip

Place = tuple[str, str]
"""Kind of place, and its number as written."""


def find_places(text: str) -> Iterator[Place]:
    """Yield the sections, tables, figures and equations that a text names.

    >>> [*find_places("See Fig. 3, Table 2 and Appendix B.1.")]
    [('figure', '3'), ('table', '2'), ('section', 'B.1')]
    """
    for match in PLACE.finditer(text):
        kind = match["kind"].casefold()
        yield KINDS.get(kind, kind), match["number"]


LEAST_SCORE = 0.16
"""Smallest score at which two points match; chosen, like the next two, on one half of the labelled pairs."""
DAMPING = 0.5
"""Constant added to the denominator, in squared rarities: the shorter two points are, the more of them must match."""
SAME_PLACE = 0.1
"""Added to the score of points that name the same place of the paper."""

POSITIONS = "page line lines last first second third paragraph para sentence sentences"
"""Words for positions in a paper, which are common to all papers."""

MAX_CHARACTERS = 100_000
"""Characters of a text that are read; the longest of 12,457 recorded reviews has 28,279."""
MAX_POINTS = 200
"""Number of critical points of a text that are read; the most in these reviews is 76."""


NOTHING_SAID = re.compile(
    r"\W*(?:(?:yes|no|none|nil|nothing|n/?a|not applicable"
    r"|(?:please )?see (?:the )?(?:above|below|weakness(?:es)?|questions?|summary|strengths and weaknesses)"
    r"|(?:the )?authors? (?:have |has )?(?:adequately |sufficiently )?(?:addressed|discussed)"
    r" (?:the |their )?limitations"
    r"(?: and (?:potential )?(?:negative )?societal impacts?)?(?: of their work)?(?: adequately| sufficiently)?"
    r")\b\W*){1,4}",
    re.IGNORECASE,
)
"""Matches form answers that contain no criticism; our choice."""


@dataclass(frozen=True, slots=True)
class Criticism:
    """The parts of a critical point that are compared.

    Attributes:
        words: Stems of the words that indicate what it is about.
        places: The sections, tables, figures and equations that it names.
    """

    words: frozenset[str]
    places: frozenset[Place]


@cache
def _position_stems() -> frozenset[str]:
    return frozenset(content_words(POSITIONS.split()))


def _tells(stem: str) -> bool:
    """Return whether a stem can indicate what a point is about: not a letter, a number or a position."""
    return len(stem) > 1 and any(map(str.isalpha, stem)) and stem not in _position_stems()


def read_criticism(text: str) -> Criticism:
    """Return the parts of a point that are compared, given its text.

    >>> sorted(read_criticism("Page 3: kites fall in Fig. 2.").words)
    ['fall', 'fig', 'kit']
    """
    words = frozenset(stem for stem in content_words(split_words(text)) if _tells(stem))
    return Criticism(words, frozenset(find_places(text)))


def read_criticisms(text: str) -> list[Criticism]:
    """Return the critical points of a review, in order, without those whose text contains no criticism.

    Args:
        text: The review; its first `MAX_CHARACTERS` are read, and of its critical points the first `MAX_POINTS`.
    """
    shown = text[:MAX_CHARACTERS]
    points = (point for point in split_text(shown, SectionKind.ASSESSMENT) if point.kind in CRITICAL_KINDS)
    texts = (shown[point.start : point.end] for point in points)
    read = (read_criticism(text) for text in texts if not NOTHING_SAID.fullmatch(text))
    return [one for one in read if one.words][:MAX_POINTS]


class PointMatcher:
    """Decides whether points about one paper are the same criticism.

    The fewer of the paper's points contain a word, the more it counts, as in `ReviewMatcher`: from near 0 if all
    contain it to 1 if only one does.

    Args:
        points: Points written by people about this paper.
    """

    def __init__(self, points: Iterable[Criticism]) -> None:
        every = list(points)
        counts = Counter(word for point in every for word in point.words)
        most = log(1.0 + (len(every) + 1.0) / 1.5)
        self._squares: Mapping[str, float] = {
            word: (log(1.0 + (len(every) + 1.0) / (count + 0.5)) / most) ** 2 for word, count in counts.items()
        }
        self._weights: dict[frozenset[str], float] = {}

    def score(self, one: Criticism, other: Criticism) -> float:
        """Return how much two points have in common: 0 for nothing, 1 if they use the same words about the same places.

        The score is Dice's coefficient of their words, weighted by squared rarity and damped, plus a bonus for a shared
        place. It is 0 for points that share no word, and for points that name places of one kind but share none.
        """
        if one.words == other.words and one.places == other.places:
            return 1.0
        shared = one.words & other.words
        is_same_place = not one.places.isdisjoint(other.places)
        is_elsewhere = not is_same_place and {kind for kind, _ in one.places} & {kind for kind, _ in other.places}
        if is_elsewhere or not shared:
            return 0.0
        whole = DAMPING + self._weigh_whole(one) + self._weigh_whole(other)
        return 2 * self._weigh(shared) / whole + SAME_PLACE * is_same_place

    def matches(self, one: Criticism, other: Criticism) -> bool:
        """Return whether two points count as the same criticism."""
        return self.score(one, other) >= LEAST_SCORE

    def _weigh_whole(self, point: Criticism) -> float:
        weight = self._weights.get(point.words)
        if weight is None:
            weight = self._weights[point.words] = self._weigh(point.words)
        return weight

    def _weigh(self, words: Iterable[str]) -> float:
        # Exact sums, so that a score does not depend on the order of words; a word that occurs nowhere is rarest.
        return fsum(self._squares.get(word, 1.0) for word in words)


def group_points(reviews: Sequence[Sequence[Criticism]], matcher: PointMatcher) -> list[list[tuple[int, int]]]:
    """Return the points of several reviews, as (review, index), in groups of the same criticism.

    Only points of different reviewers are compared: two points of one reviewer stay separate unless another's point
    matches both.
    """
    parents = {
        (review, place): (review, place) for review, points in enumerate(reviews) for place in range(len(points))
    }

    def find(point: tuple[int, int]) -> tuple[int, int]:
        while parents[point] != point:
            parents[point] = parents[parents[point]]
            point = parents[point]
        return point

    for first, second in combinations(parents, 2):
        if first[0] != second[0] and matcher.matches(reviews[first[0]][first[1]], reviews[second[0]][second[1]]):
            parents[find(second)] = find(first)
    groups: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for point in parents:
        groups.setdefault(find(point), []).append(point)
    return list(groups.values())
