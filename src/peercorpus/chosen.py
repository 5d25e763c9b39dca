"""Which of a review's scores stands for what it is about."""

from collections.abc import Iterable, Sequence

from peercorpus.kinds import Aspect, Phase
from peercorpus.records import Score


def chosen_score(scores: Iterable[Score], aspect: Aspect, field: str) -> Score | None:
    """The score given for an aspect as it stands now, or as first given where only that is known; None if none.

    Where a form asks twice, the score under this name counts, else the first.
    """
    given = [score for score in scores if score.aspect is aspect]
    given.sort(key=lambda score: (score.phase is not Phase.FINAL, score.field.lower() != field))
    return given[0] if given else None


def first_and_last(
    scores: Sequence[Score], aspect: Aspect, field: str, *, revised: bool | None
) -> tuple[Score | None, Score | None]:
    """The score given for an aspect as first given, and as it stands now; None where that is not recorded.

    Of either time, the score under this name counts where a form asks twice, else the first. What stands now was first
    given where nothing of the review was revised.
    """

    def given(phase: Phase) -> Score | None:
        return chosen_score([score for score in scores if score.phase is phase], aspect, field)

    first, last = given(Phase.INITIAL), given(Phase.FINAL)
    return (last if first is None and revised is False else first), last


def unified_rating(scores: Iterable[Score]) -> float | None:
    """The recommendation on Re²'s scale: as it stands now, or as first given where only that is known."""
    given = sorted(
        (score for score in scores if score.aspect is Aspect.RECOMMENDATION and score.unified is not None),
        key=lambda score: score.phase is not Phase.FINAL,
    )
    return given[0].unified if given else None
