"""Find which points about one paper are the same criticism: by the rare words they share, and the places they name.

Two points are compared by what they say, whoever wrote them and in whatever order; `docs/points.md` says how often two
that match are the same criticism, as one reader judged.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import fsum, log

from peercorpus.criticism.kinds import content_words, split_words
from peercorpus.criticism.places import Place, find_places
from peercorpus.criticism.split import split_text
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import CRITICAL_KINDS

LEAST_SCORE = 0.16
"""Score from which two points match; chosen, as are the next two, on one half of the labelled pairs."""
DAMPING = 0.5
"""What is added to the words of both, as squared rarities: the less two points say, the more of it they must share."""
SAME_PLACE = 0.1
"""Added to the score of points that name the same place of the paper."""

POSITIONS = "page line lines last first second third paragraph para sentence sentences"
"""Words that say where in the paper something is, in every paper alike."""

MAX_CHARACTERS = 100_000
"""Characters of a text that are read; the longest of 12,457 recorded reviews has 28,279."""
MAX_POINTS = 200
"""Critical points of a text that count; the most in these reviews are 76."""


NOTHING_SAID = re.compile(
    r"\W*(?:(?:yes|no|none|nil|nothing|n/?a|not applicable"
    r"|(?:please )?see (?:the )?(?:above|below|weakness(?:es)?|questions?|summary|strengths and weaknesses)"
    r"|(?:the )?authors? (?:have |has )?(?:adequately |sufficiently )?(?:addressed|discussed)"
    r" (?:the |their )?limitations"
    r"(?: and (?:potential )?(?:negative )?societal impacts?)?(?: of their work)?(?: adequately| sufficiently)?"
    r")\b\W*){1,4}",
    re.IGNORECASE,
)
"""What forms are answered with where there is nothing to say; our choice."""


@dataclass(frozen=True, slots=True)
class Criticism:
    """A critical point of a text, as far as it is compared.

    Attributes:
        words: Stems of the words that say what it is about.
        places: The sections, tables, figures and equations that it names.
    """

    words: frozenset[str]
    places: frozenset[Place]


@cache
def _position_stems() -> frozenset[str]:
    return frozenset(content_words(POSITIONS.split()))


def _tells(stem: str) -> bool:
    """Return whether a stem can tell what a point is about: not a letter, a number or a position."""
    return len(stem) > 1 and any(map(str.isalpha, stem)) and stem not in _position_stems()


def read_criticism(text: str) -> Criticism:
    """Return a point as it is compared, given its text.

    >>> sorted(read_criticism("Page 3: kites fall in Fig. 2.").words)
    ['fall', 'fig', 'kit']
    """
    words = frozenset(stem for stem in content_words(split_words(text)) if _tells(stem))
    return Criticism(words, frozenset(find_places(text)))


def read_criticisms(text: str) -> list[Criticism]:
    """Return the critical points of a review, in order, without those that criticise nothing by their words.

    Args:
        text: The review; its first `MAX_CHARACTERS` are read, and of its critical points the first `MAX_POINTS`.
    """
    shown = text[:MAX_CHARACTERS]
    points = (point for point in split_text(shown, SectionKind.ASSESSMENT) if point.kind in CRITICAL_KINDS)
    texts = (shown[point.start : point.end] for point in points)
    read = (read_criticism(text) for text in texts if not NOTHING_SAID.fullmatch(text))
    return [one for one in read if one.words][:MAX_POINTS]


class PointMatcher:
    """Tells of points about one paper whether they are the same criticism.

    A word counts the more the fewer of the paper's points have it, as in `ReviewMatcher`: from near 0 for one that all
    have to 1 for one that a single point has.

    Args:
        points: Points of people about this paper.
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
        """Return how much two points have in common: 0 for nothing, 1 where they use the same words of the same places.

        It is Dice's coefficient of their words, weighed by squared rarity and damped, and what a common place adds.
        Points without a word in common, and points that name places of one kind but none in common, have nothing.
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
        """Return whether two points are taken for the same criticism."""
        return self.score(one, other) >= LEAST_SCORE

    def _weigh_whole(self, point: Criticism) -> float:
        weight = self._weights.get(point.words)
        if weight is None:
            weight = self._weights[point.words] = self._weigh(point.words)
        return weight

    def _weigh(self, words: Iterable[str]) -> float:
        # Exact sums, so that a score does not hang on the order of words; a word that nobody used is as rare as can be.
        return fsum(self._squares.get(word, 1.0) for word in words)


def group_points(reviews: Sequence[Sequence[Criticism]], matcher: PointMatcher) -> list[list[tuple[int, int]]]:
    """Return the points of several reviews in groups, each one criticism; a point is its review and its place there.

    Only points of two reviewers are compared: what a reviewer wrote as two points are two, unless another's joins them.
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
