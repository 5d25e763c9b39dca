"""What the reviews of a paper say of their worth: how sure each reviewer is, and how far they lie apart."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from peercorpus.kinds import Aspect
from peercorpus.publish.opened import Release
from peercorpus.publish.training_rows import first_known, read_scores
from peercorpus.records import Score

COLUMNS = ("forum_id", "reviewer", "scores")


@dataclass(slots=True)
class Signals:
    """Of all reviews of a release.

    Attributes:
        confidence: By forum and reviewer, as a share of the scale.
        ratings: By forum, the overall recommendations as first given where that is known, as shares of their scale.
    """

    confidence: dict[tuple[str, str], float] = field(default_factory=dict)
    ratings: dict[str, list[float]] = field(default_factory=dict)

    def spread(self, forum_id: str) -> float | None:
        """The highest less the lowest recommendation, on [0, 1]; None where fewer than two are known."""
        given = self.ratings.get(forum_id, [])
        return max(given) - min(given) if len(given) > 1 else None


def _known(scores: list[Score]) -> Iterator[tuple[Aspect, float]]:
    for score in first_known(scores):
        share = score.unit
        if share is not None:
            yield score.aspect, share


def read_signals(release: Release) -> Signals:
    """The signals of a release.

    Raises:
        PeercorpusError: A file of it cannot be read.
    """
    signals = Signals()
    for row in release.rows("reviews", None, COLUMNS):
        known = dict(reversed(list(_known(read_scores(row["scores"])))))
        if Aspect.CONFIDENCE in known:
            signals.confidence[row["forum_id"], row["reviewer"]] = known[Aspect.CONFIDENCE]
        if Aspect.RECOMMENDATION in known:
            signals.ratings.setdefault(row["forum_id"], []).append(known[Aspect.RECOMMENDATION])
    return signals
