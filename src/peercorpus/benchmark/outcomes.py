"""Represent the outcome of one case: a scorer's record, or why the answer has no score.

Scorers write an outcome into a score's metadata; `logs` reads it back, and `measures` computes numbers from many of
them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from statistics import fmean
from typing import Any

import msgspec

from peercorpus.benchmark.cases import AskedScore
from peercorpus.criticism.answers import Coverage, measure_coverage
from peercorpus.metrics.review_points import PointCounts, count_points
from peercorpus.metrics.text_overlap import BleuCounts, count_bleu


class Scored(StrEnum):
    """Quantity that a scorer measures; the value is the scorer's name in a log."""

    DECISION = "decision"
    NUMBERS = "numbers"
    OVERLAP = "overlap"
    """Words shared with the human references (ROUGE-L and BLEU)."""
    RECOMMENDATION = "recommendation"
    """Recommendation of a meta-review, compared with the decision."""
    POINTS = "points"
    """Human criticisms that a review makes, and its own criticisms that people make."""
    COVERAGE = "coverage"
    """Critical points of a review that a later turn addresses."""
    BERT_SCORE = "bert_score"
    EMBED_COS = "embed_cos"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """The answer to an `acceptance` case, or the recommendation of a meta-review.

    Attributes:
        accepted: The actual decision.
        said: The decision that the model predicts.
        probability: Probability of acceptance stated by the model; None if it states none.
    """

    accepted: bool
    said: bool
    probability: float | None

    @property
    def contradicts(self) -> bool:
        """Whether the probability speaks against the decision that is said; 0.5 speaks for neither."""
        return self.probability is not None and (self.probability - 0.5) * (1 if self.said else -1) < 0


@dataclass(frozen=True, slots=True)
class PredictedScore:
    """The answer to one field of a `scores` case.

    Attributes:
        low: Lowest number of the field's scale.
        high: Highest number of the field's scale.
        gold: Mean of the reviewers' scores.
        said: The model's number, between `low` and `high`.
    """

    aspect: str
    field: str
    low: float
    high: float
    gold: float
    said: float


@dataclass(frozen=True, slots=True)
class ScoresRecord:
    """The answer to a `scores` case."""

    fields: tuple[PredictedScore, ...]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Words that a text shares with the human references.

    Attributes:
        rouge_l: F1 in [0, 1], the best over the references.
        bleu: Counts for this text, from which the BLEU of a corpus is summed.
        words: Number of words of the text, split at white space.
        cut_off: Whether the model reached its token limit before the end of its answer.
    """

    rouge_l: float
    bleu: BleuCounts
    words: int
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class BertScored:
    """BERTScore of a text, usually in [0, 1]; each number is the best over the references.

    Attributes:
        truncated: Share of the compared texts that are longer than the model's window.
    """

    precision: float
    recall: float
    f1: float
    truncated: float


@dataclass(frozen=True, slots=True)
class Embedded:
    """Cosine similarity of the embeddings of a text and its references, the best over the references.

    Attributes:
        truncated: Share of the compared texts that are longer than the model's window.
    """

    cosine: float
    truncated: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's ratings of a text: whole numbers from 1 to 10, 10 being the best."""

    quality: int
    constructiveness: int
    accuracy: int
    completeness: int
    clarity: int

    @property
    def values(self) -> dict[str, int]:
        """The numbers by aspect."""
        return asdict(self)

    @property
    def mean(self) -> float:
        """Unweighted mean of the five aspects, in [1, 10]."""
        return fmean(self.values.values())


@dataclass(frozen=True, slots=True)
class CoverageRecord:
    """Coverage of a review by a turn, and by the reviewer's own turn.

    Attributes:
        said: Coverage by the answer.
        people: Coverage by the reviewer's turn.
    """

    said: Coverage
    people: Coverage


OutcomeRecord = DecisionRecord | ScoresRecord | Overlap | PointCounts | CoverageRecord | BertScored | Embedded | Verdict
RECORD_TYPES: Mapping[Scored, type[OutcomeRecord]] = {
    Scored.DECISION: DecisionRecord,
    Scored.RECOMMENDATION: DecisionRecord,
    Scored.NUMBERS: ScoresRecord,
    Scored.OVERLAP: Overlap,
    Scored.POINTS: PointCounts,
    Scored.COVERAGE: CoverageRecord,
    Scored.BERT_SCORE: BertScored,
    Scored.EMBED_COS: Embedded,
    Scored.JUDGE: Verdict,
}
"""Record type that each scorer writes."""
GRADER_FAILED = "grader_failed"
"""Reason for a missing score if the judge gave no usable verdict, which is never the answer's fault."""
RECORD_KEY = "found"
"""Key of a score's metadata with the record."""

EACH_KEY = "each"
"""Key of a score's metadata with, for each reviewer left out, the records of the reviewer and of the floors."""


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """Outcome of one case in one run.

    Attributes:
        forum_id: The paper, the unit that the bootstrap resamples.
        found: The scorer's record; for an answer without a score, that of someone who has read nothing.
        unscored: Why the answer has no score; None if it has one.
        lenient: For an answer without a score, the record of its lenient reading; None if that is not clear.
        venue: Conference and year; empty if not needed.
        venue_id: Id of the venue; empty if not needed.
        floors: For a reviewer left out, the records of the floors, measured against the same other reviewers.
    """

    case_id: str
    forum_id: str
    found: OutcomeRecord
    unscored: str | None = None
    lenient: OutcomeRecord | None = None
    venue: str = ""
    venue_id: str = ""
    floors: Mapping[str, OutcomeRecord] = field(default_factory=dict)


def to_metadata(record: OutcomeRecord) -> dict[str, Any]:
    """Return a scorer's record in the form of a score's metadata."""
    return {RECORD_KEY: msgspec.to_builtins(record)}


def read_record(scored: Scored, metadata: Mapping[str, Any]) -> OutcomeRecord:
    """Return a scorer's record from a score's metadata.

    Raises:
        KeyError: The metadata contains no record.
        msgspec.ValidationError: The record has another structure.
    """
    return msgspec.convert(metadata[RECORD_KEY], RECORD_TYPES[scored])


def read_people(scored: Scored, metadata: Mapping[str, Any]) -> list[dict[str, OutcomeRecord]]:
    """Return the records of each reviewer left out, by name: the reviewer's own and those of the floors."""
    kind = RECORD_TYPES[scored]
    return [{name: msgspec.convert(record, kind) for name, record in person.items()} for person in metadata[EACH_KEY]]


Number = Callable[[list[CaseOutcome]], float]
"""Computes a number from outcomes; raises `UndefinedMetricError` if they do not define it."""


def cover_review(text: str, metadata: Mapping[str, Any]) -> CoverageRecord:
    """Return the coverage of the review by an answer to `rebuttal`, and by the reviewer's own turn.

    Args:
        text: The answer.
        metadata: Metadata of the sample.
    """
    review = metadata["review"]
    (turn,) = metadata["references"]
    return CoverageRecord(measure_coverage(review, text), measure_coverage(review, turn))


def pair_with_means(asked: list[AskedScore], predicted: Mapping[str, float]) -> ScoresRecord:
    """Pair the model's number for each field with the reviewers' mean."""
    fields = (
        PredictedScore(
            aspect=score.aspect.value,
            field=score.field,
            low=score.low,
            high=score.high,
            gold=score.mean,
            said=predicted[score.field],
        )
        for score in asked
    )
    return ScoresRecord(tuple(fields))


def uninformed_record(scored: Scored, metadata: Mapping[str, Any]) -> OutcomeRecord:
    """Return the record that counts for an answer without a score.

    This is a probability of 0.5, the reviewers' mean, an empty text, or the lowest ratings. `inform_of_majority` then
    sets the values that depend on all cases.

    Args:
        scored: The scorer.
        metadata: Metadata of the sample.
    """
    if scored in {Scored.DECISION, Scored.RECOMMENDATION}:
        return DecisionRecord(bool(metadata["accepted"]), said=True, probability=0.5)
    if scored is Scored.NUMBERS:
        asked = msgspec.convert(metadata["asked"], list[AskedScore])
        return pair_with_means(asked, {score.field: score.mean for score in asked})
    if scored is Scored.OVERLAP:
        return Overlap(0.0, count_bleu("", metadata["references"]), 0)
    if scored is Scored.POINTS:
        return count_points("", metadata["references"])
    if scored is Scored.COVERAGE:
        return cover_review("", metadata)
    if scored is Scored.BERT_SCORE:
        return BertScored(0.0, 0.0, 0.0, 0.0)
    return Embedded(0.0, 0.0) if scored is Scored.EMBED_COS else Verdict(1, 1, 1, 1, 1)


def inform_of_majority(outcomes: Sequence[CaseOutcome]) -> list[CaseOutcome]:
    """Set the answers of failures to the majority decision and each field's mean score, over all papers of the run."""
    accepted = [outcome.found.accepted for outcome in outcomes if isinstance(outcome.found, DecisionRecord)]
    golds: dict[tuple[str, float, float], list[float]] = {}
    for outcome in outcomes:
        for score in outcome.found.fields if isinstance(outcome.found, ScoresRecord) else ():
            golds.setdefault((score.field, score.low, score.high), []).append(score.gold)

    def inform(record: OutcomeRecord) -> OutcomeRecord:
        if isinstance(record, DecisionRecord):
            return replace(record, said=2 * sum(accepted) >= len(accepted))
        if isinstance(record, ScoresRecord):
            fields = (replace(score, said=fmean(golds[score.field, score.low, score.high])) for score in record.fields)
            return ScoresRecord(tuple(fields))
        return record

    return [
        outcome if outcome.unscored is None else replace(outcome, found=inform(outcome.found)) for outcome in outcomes
    ]
