"""Which of a review's scores stands for what it is about."""

from collections.abc import Iterable

from peercorpus.kinds import Aspect, Phase
from peercorpus.records import Score


def chosen_score(scores: Iterable[Score], aspect: Aspect, field: str) -> Score | None:
    """The score given for an aspect as it stands now, or as first given where only that is known; None if none.

    Where a form asks twice, the score under this name counts, else the first.
    """
    given = [score for score in scores if score.aspect is aspect]
    given.sort(key=lambda score: (score.phase is not Phase.FINAL, score.field.lower() != field))
    return given[0] if given else None


def unified_rating(scores: Iterable[Score]) -> float | None:
    """The recommendation on Re²'s scale: as it stands now, or as first given where only that is known."""
    given = sorted(
        (score for score in scores if score.aspect is Aspect.RECOMMENDATION and score.unified is not None),
        key=lambda score: score.phase is not Phase.FINAL,
    )
    return given[0].unified if given else None
