"""Scores of a review and their changes, and the choice of the score that represents an aspect."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from peercorpus.records.enums import BY_OTHERS, Aspect, AtDecision, Phase, ScoreSource


@dataclass(frozen=True, slots=True)
class Score:
    """One score that a reviewer gave, on the venue's own scale.

    `value` is None too for an answer that the form does not offer, and if a published record has two different numbers.
    `low` and `high` are None if the form is unknown; `offered` is empty then, and if the form only names a range. For a
    bare number `label` is the text of the chosen option, if the form is known; for a score found in running text
    (`source` is `text`) the words it was found in; two answers are on separate lines. For `unified` see
    `peercorpus.forms.scales`. `rank` is None if the form offers numbers, or the answer is not offered; `answers` leaves
    out "Not applicable". `stated_unified` and `stated_label` are the number that Re² itself gives for this answer on
    its unified scale, verbatim, and the words it gives with it: a separate source, which may differ from `unified`;
    None in all other records.
    """

    aspect: Annotated[Aspect, "what it is about: `recommendation`, `confidence`, `soundness`, …"]
    field: Annotated[str, "the form's own name of the field"]
    value: Annotated[float | None, "on the venue's own scale; null if the answer contains no number"]
    low: Annotated[float | None, "lowest answer the form offers"]
    high: Annotated[float | None, "highest answer the form offers"]
    label: Annotated[str, "the answer, verbatim"]
    phase: Annotated[
        Phase,
        "`initial`: as first given; `at_decision`: as it stood when the decision was posted; `final`: as it stands",
    ]
    source: Annotated[
        ScoreSource,
        "where it was read: `note`, `edit`, `snapshot`, `text` (the reviewer's words), `recommendation` (a separate"
        " note), `published`",
    ]
    offered: Annotated[tuple[float, ...], "the numbers the form offers, ascending"] = ()
    unified: Annotated[
        float | None, "of a recommendation, its place on Re²'s scale of 1 to 10, whose accepting half begins at 6"
    ] = None
    higher_is_better: Annotated[
        bool | None, "whether a higher number, or a later word in `answers`, is better; null: the form does not say"
    ] = None
    rank: Annotated[int | None, "of an answer in words, its place in `answers`, from 1"] = None
    answers: Annotated[tuple[str, ...], "the words that a form without numbers offers, in its own order"] = ()
    subject: Annotated[
        str | None, "the common name of two fields that ask for one score, before and after the rebuttal; else null"
    ] = None
    stated_unified: float | None = None
    stated_label: str | None = None

    @property
    def key(self) -> str:
        """Return the name under which the phases of one score are found: `subject`, or otherwise `field`."""
        return self.subject or self.field

    @property
    def unit(self) -> float | None:
        """Return the value scaled to [0, 1], where 1 is always the best answer, even if it is the lowest number.

        None if the value, the scale or the better end is unknown.

        >>> six = Score(Aspect.RECOMMENDATION, "rating", 6, 1, 10, "6", Phase.FINAL, ScoreSource.NOTE)
        >>> from dataclasses import replace
        >>> six.unit, replace(six, higher_is_better=True).unit, replace(six, higher_is_better=False).unit
        (None, 0.5555555555555556, 0.4444444444444444)
        """
        share = self.share
        if share is None or self.higher_is_better is None:
            return None
        return share if self.higher_is_better else 1 - share

    @property
    def share(self) -> float | None:
        """Return the value's distance from the lowest number as a share of the scale, whichever end is the better one.

        None if the value or the scale is unknown. Suitable for differences between scores on one scale, not for
        comparisons.
        """
        if self.value is None or self.low is None or self.high is None or self.low == self.high:
            return None
        return (self.value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """One change of one score; not all are the reviewer's own (`is_by_others`)."""

    aspect: Aspect
    field: str
    before: Annotated[
        float | None,
        "null if the earlier answer contains no number, or is not stated; `after` likewise for the later one",
    ]
    after: float | None
    changed_at: Annotated[datetime | None, "null if only the two values are known"]
    source: ScoreSource
    words: Annotated[str | None, "the reviewer's words that state it; null if something else shows it"] = None

    @property
    def is_by_others(self) -> bool:
        """Whether an edit shows that someone else than the reviewer made it."""
        return self.source in BY_OTHERS


_STANDING = {Phase.FINAL: 0, Phase.AT_DECISION: 1, Phase.INITIAL: 2}
"""Order of preference of a review's scores: the latest first."""


def choose_score(scores: Iterable[Score], aspect: Aspect, field: str) -> Score | None:
    """Return the score that represents one aspect of a review, or None if there is none.

    The later phase wins. Within a phase the form field named `field` wins; after that, the order of
    `scores` decides.

    Args:
        scores: All scores of one review.
        aspect: Required subject of the score.
        field: Preferred form field, in lower case.
    """
    candidates = [score for score in scores if score.aspect is aspect]
    return min(
        candidates,
        key=lambda score: (_STANDING[score.phase], field not in {score.field.lower(), score.key.lower()}),
        default=None,
    )


def choose_first_and_last(scores: Sequence[Score], aspect: Aspect, field: str) -> tuple[Score | None, Score | None]:
    """Return the first and the current score of one aspect; None if it is not recorded.

    Args:
        scores: All scores of one review.
        aspect: Required subject of the score.
        field: Preferred form field, in lower case, if a form asks for the aspect twice.
    """
    first = choose_score([score for score in scores if score.phase is Phase.INITIAL], aspect, field)
    last = choose_score([score for score in scores if score.phase is Phase.FINAL], aspect, field)
    return first, last


def choose_own_first_and_last(scores: Sequence[Score], aspect: Aspect, field: str) -> tuple[Score, Score] | None:
    """Return both, to compare what the reviewer gave; None if one is not recorded, or someone else wrote the last."""
    first, last = choose_first_and_last(scores, aspect, field)
    return None if first is None or last is None or last.source in BY_OTHERS else (first, last)


def choose_last_phase(state: AtDecision) -> Phase:
    """Return the phase of the last scores that reveal nothing of what followed the decision.

    It is the phase at the decision, which has no score if nothing shows it; if the time of the decision or of the
    review is unknown, it is the current one.

    Args:
        state: How the content of the review at the decision is known.
    """
    is_undated = state in {AtDecision.NO_DECISION_TIME, AtDecision.NO_REVIEW_TIME}
    return Phase.FINAL if is_undated else Phase.AT_DECISION


def unified_rating(scores: Iterable[Score]) -> float | None:
    """Return the recommendation on Re²'s scale: the latest one, otherwise None."""
    candidates = (score for score in scores if score.aspect is Aspect.RECOMMENDATION and score.unified is not None)
    chosen = min(candidates, key=lambda score: _STANDING[score.phase], default=None)
    return chosen.unified if chosen else None
