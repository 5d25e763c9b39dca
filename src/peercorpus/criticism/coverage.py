"""Find which critical points of a review a later text takes up, by the same method as answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from peercorpus.criticism.answers import ReviewPoint, make_matcher, only_repeats
from peercorpus.criticism.kinds import split_words
from peercorpus.criticism.passages import read_passages
from peercorpus.criticism.split import split_text
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import CRITICAL_KINDS, AnswerMethod
from peercorpus.records.reviews import Section

MAX_CHARACTERS = 100_000
"""Characters of a review, and of a text about it, that are read."""
MAX_SENTENCES = 400
"""Sentences of either that are read, as every pair is compared; the longest of 12,457 recorded reviews has 202."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a review a text takes up.

    Attributes:
        points: Critical points of the review.
        covered: Number of those that a passage of the text is about, judging by its words or a point's label, without
            only repeating the point.
    """

    points: int
    covered: int

    @property
    def share(self) -> float | None:
        """The share of points that are covered, in [0, 1]; None if the review has no critical point."""
        return self.covered / self.points if self.points else None


def measure_coverage(review: str, text: str) -> Coverage:
    """Return how many critical points of a review a text takes up; the beginning of both is read, within limits."""
    points = [*_read_points(review[:MAX_CHARACTERS])]
    critical = {index for index, one in enumerate(points) if one.point.kind in CRITICAL_KINDS}
    return Coverage(len(critical), len(critical & find_covered(points, text[:MAX_CHARACTERS])) if critical else 0)


def _read_points(review: str) -> Iterator[ReviewPoint]:
    section = Section(SectionKind.ASSESSMENT, "review", review)
    sentences = 0
    for point in split_text(review, section.kind):
        sentences += len(point.sentences)
        if sentences > MAX_SENTENCES:
            return
        yield ReviewPoint(section, point)


def find_covered(points: Sequence[ReviewPoint], text: str) -> set[int]:
    """Return the points that a text is about, by their indices.

    A passage attributed by its position alone is left out; otherwise passages about no point would cover points.
    """
    passages = read_passages(text)[:MAX_SENTENCES]
    found = make_matcher(points).attribute(passages, [split_words(passage.words) for passage in passages])
    return {
        one.point
        for passage, one in zip(passages, found, strict=True)
        if one.point is not None and one.method is not AnswerMethod.ORDER and not only_repeats(passage, one)
    }
