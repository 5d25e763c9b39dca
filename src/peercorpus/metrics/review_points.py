"""Metrics of single criticisms: recall and precision against other reviews, and coverage by a text about a review."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from peercorpus.criticism.answers import measure_coverage
from peercorpus.criticism.matching import LEAST_SCORE, PointMatcher, group_points, read_criticisms
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.metric import Metric, Takes, check_samples, with_references


@dataclass(frozen=True, slots=True)
class PointCounts:
    """Points of a review against those of other reviews of the paper.

    Attributes:
        raised: Criticisms of the other reviews, each counted once for each of its reviewers.
        found: Those that the review makes too, counted in the same way.
        points: Critical points of the review; points in the same words count once.
        matched: Those that match a point of the other reviews.
    """

    raised: int
    found: int
    points: int
    matched: int

    @property
    def recall(self) -> float | None:
        """The share of others' criticisms that the review makes too, in [0, 1]; None if they criticise nothing."""
        return self.found / self.raised if self.raised else None

    @property
    def precision(self) -> float | None:
        """The share of the review's critical points that others make too, in [0, 1]; None if it has none."""
        return self.matched / self.points if self.points else None


def count_points(review: str, others: Sequence[str]) -> PointCounts:
    """Compare the critical points of a review with those of other reviews of the same paper.

    Matching points of several others are one criticism, counted once for each reviewer who made it. Only the others
    determine how rare a word is, so that no review changes how people's points are grouped.
    """
    people = [read_criticisms(other) for other in others]
    own = [*dict.fromkeys(read_criticisms(review))]
    matcher = PointMatcher(point for points in people for point in points)
    raised = found = 0
    matched: set[int] = set()
    for group in group_points(people, matcher):
        weight = len({reviewer for reviewer, _ in group})
        members = [people[reviewer][place] for reviewer, place in group]
        hits = {place for place, point in enumerate(own) if any(matcher.matches(point, other) for other in members)}
        raised += weight
        found += weight if hits else 0
        matched |= hits
    return PointCounts(raised, found, len(own), len(matched))


def _mean(name: str, values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    if not known:
        raise UndefinedMetricError(f"{name} is undefined if no text has a critical point to compare.")
    return fmean(known)


def point_recall(candidates: Sequence[str], references_of_each: Sequence[Sequence[str]]) -> float:
    """Return the mean recall of reviews' points, in [0, 1], over those whose references criticise anything.

    Raises:
        UndefinedMetricError: There is no text, a text has no reference, or no reference has a critical point.
    """
    pairs = with_references("point recall", candidates, references_of_each)
    return _mean("Point recall", [count_points(review, others).recall for review, others in pairs])


def point_precision(candidates: Sequence[str], references_of_each: Sequence[Sequence[str]]) -> float:
    """Return the mean precision of reviews' points, in [0, 1], over the reviews that have a critical point.

    Raises:
        UndefinedMetricError: There is no text, a text has no reference, or no text has a critical point.
    """
    pairs = with_references("point precision", candidates, references_of_each)
    return _mean("Point precision", [count_points(review, others).precision for review, others in pairs])


def point_coverage(texts: Sequence[str], reviews: Sequence[str]) -> float:
    """Return the mean share of a review's critical points that a text about it takes up, in [0, 1].

    Raises:
        UndefinedMetricError: There is no text, or no review has a critical point.
    """
    check_samples("point coverage", texts, reviews)
    pairs = zip(reviews, texts, strict=True)
    return _mean("Point coverage", [measure_coverage(review, text).share for review, text in pairs])


_MATCHED_BY = f"dice:idf2|from:{LEAST_SCORE:g}"
POINT_RECALL = Metric(
    name="point_recall",
    function=point_recall,
    takes=Takes.REVIEWS,
    settings=f"point-recall|weight:reviewers|{_MATCHED_BY}|none-raised:undefined",
    note=(
        "Point recall is the share of people's criticisms that a review makes, each counted once for each of its"
        " reviewers; point precision is the share of its own that one of them makes too, and a review that criticises"
        " nothing has none. Points match by rare words, which one reader's labels bear out in part (docs/points.md):"
        " compare runs, people and floors by these numbers, and do not read them alone."
    ),
)
POINT_PRECISION = Metric(
    "point_precision", point_precision, Takes.REVIEWS, f"point-precision|{_MATCHED_BY}|no-point:undefined"
)
POINT_COVERAGE = Metric(
    name="point_coverage",
    function=point_coverage,
    takes=Takes.REPLIES,
    settings="point-coverage|aligned:hmm|by:words-or-label|no-point:undefined",
    note=(
        "Points taken up are the share of the review's critical points that an answer addresses, beside the"
        " share for the reviewer's own turn. A higher share than that of people is not better by itself."
    ),
)
