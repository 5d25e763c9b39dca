"""Define the numbers that a table shows of a run, each with the metric that its signature names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TypeVar

from peercorpus.benchmark.outcomes import (
    BertScored,
    CaseOutcome,
    DecisionRecord,
    Embedded,
    JudgeScores,
    Number,
    OutcomeRecord,
    Overlap,
    PredictedScore,
    Scored,
    ScoresRecord,
)
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics import prediction
from peercorpus.metrics.text_overlap import add_counts
from peercorpus.records.enums import Aspect

RecordT = TypeVar("RecordT", bound=OutcomeRecord)

PERCENT = 100


def _concerns_all(_: CaseOutcome) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a run.

    Attributes:
        name: Name in tables.
        metric: Name in `metrics.registry.METRICS`, which has the signature, or `judge`; empty for a plain mean.
        of: Computes the number from outcomes of one scorer.
        higher_is_better: None if neither direction is better.
        factor: Tables multiply the number by this.
        group: Measures of one group share a table; empty if there is only one table.
        concerns: Whether an outcome bears on the number; a paper whose form has another scale does not.
    """

    name: str
    metric: str
    of: Number
    higher_is_better: bool | None = True
    factor: float = 1.0
    group: str = ""
    concerns: Callable[[CaseOutcome], bool] = _concerns_all


def _select_records(outcomes: Sequence[CaseOutcome], kind: type[RecordT]) -> list[RecordT]:
    return [outcome.found for outcome in outcomes if isinstance(outcome.found, kind)]


def _compute_decision_metric(
    number: Callable[[Sequence[bool], Sequence[bool]], float], outcomes: list[CaseOutcome]
) -> float:
    decisions = _select_records(outcomes, DecisionRecord)
    return number([record.said for record in decisions], [record.accepted for record in decisions])


def _compute_auroc(outcomes: list[CaseOutcome]) -> float:
    decisions = _select_records(outcomes, DecisionRecord)
    probabilities = [record.probability for record in decisions if record.probability is not None]
    if len(probabilities) < len(decisions):
        raise UndefinedMetricError("AUROC is undefined if an answer states no probability.")
    return prediction.auroc(probabilities, [record.accepted for record in decisions])


def _select_scores(
    outcomes: Sequence[CaseOutcome], aspect: str, scale: tuple[float, float] | None
) -> list[PredictedScore]:
    every = (
        score for record in _select_records(outcomes, ScoresRecord) for score in record.fields if score.aspect == aspect
    )
    return [score for score in every if scale is None or (score.low, score.high) == scale]


def _has_numbers(aspect: str, scale: tuple[float, float] | None, outcome: CaseOutcome) -> bool:
    return bool(_select_scores([outcome], aspect, scale))


def _compute_error(
    number: Callable[[Sequence[float], Sequence[float]], float],
    aspect: str,
    scale: tuple[float, float] | None,
    outcomes: list[CaseOutcome],
) -> float:
    """Return an error on the venue's scale, or as a fraction of the scale if several scales are combined."""
    scores = _select_scores(outcomes, aspect, scale)
    predicted = [score.said for score in scores]
    gold = [score.gold for score in scores]
    if scale is not None:
        return number(predicted, gold)
    scales = [(score.low, score.high) for score in scores]
    return number(prediction.normalise(predicted, scales), prediction.normalise(gold, scales))


def _compute_mean(read: Callable[[RecordT], float], kind: type[RecordT], outcomes: list[CaseOutcome]) -> float:
    selected = _select_records(outcomes, kind)
    if not selected:
        raise UndefinedMetricError("A mean is undefined without values.")
    return fmean(read(record) for record in selected)


def _compute_bleu(outcomes: list[CaseOutcome]) -> float:
    return add_counts(record.bleu for record in _select_records(outcomes, Overlap)).bleu()


DECISIONS = (
    Measure("accuracy", "accuracy", partial(_compute_decision_metric, prediction.accuracy), factor=PERCENT),
    Measure("precision", "precision", partial(_compute_decision_metric, prediction.precision), factor=PERCENT),
    Measure("recall", "recall", partial(_compute_decision_metric, prediction.recall), factor=PERCENT),
    Measure("F1", "f1", partial(_compute_decision_metric, prediction.f1), factor=PERCENT),
    Measure(
        "balanced accuracy",
        "balanced_accuracy",
        partial(_compute_decision_metric, prediction.balanced_accuracy),
        factor=PERCENT,
    ),
    Measure("MCC", "mcc", partial(_compute_decision_metric, prediction.mcc)),
    Measure("AUROC", "auroc", _compute_auroc),
)
RECOMMENDATIONS = (
    Measure(
        "agreement with the decision",
        "accuracy",
        partial(_compute_decision_metric, prediction.accuracy),
        factor=PERCENT,
    ),
    Measure(
        "balanced agreement",
        "balanced_accuracy",
        partial(_compute_decision_metric, prediction.balanced_accuracy),
        factor=PERCENT,
    ),
    Measure("MCC of the recommendation", "mcc", partial(_compute_decision_metric, prediction.mcc)),
)
OVERLAPS = (
    Measure("BLEU", "bleu", _compute_bleu),
    Measure("ROUGE-L", "rouge_l", partial(_compute_mean, lambda record: record.rouge_l, Overlap), factor=PERCENT),
    Measure(
        name="words", metric="", of=partial(_compute_mean, lambda record: record.words, Overlap), higher_is_better=None
    ),
)
BERT_SCORES = (
    Measure(
        "BERTScore P",
        "bert_precision",
        partial(_compute_mean, lambda record: record.precision, BertScored),
        factor=PERCENT,
    ),
    Measure(
        "BERTScore R", "bert_recall", partial(_compute_mean, lambda record: record.recall, BertScored), factor=PERCENT
    ),
    Measure("BERTScore F1", "bert_f1", partial(_compute_mean, lambda record: record.f1, BertScored), factor=PERCENT),
    Measure(
        name="BERTScore truncated",
        metric="bert_f1",
        of=partial(_compute_mean, lambda record: record.truncated, BertScored),
        higher_is_better=None,
        factor=PERCENT,
    ),
)
EMBEDDED = (
    Measure("EmbedCos", "embed_cos", partial(_compute_mean, lambda record: record.cosine, Embedded)),
    Measure(
        name="EmbedCos truncated",
        metric="embed_cos",
        of=partial(_compute_mean, lambda record: record.truncated, Embedded),
        higher_is_better=None,
        factor=PERCENT,
    ),
)
JUDGED = tuple(
    Measure(
        f"judge: {aspect}",
        "judge",
        partial(_compute_mean, partial(lambda name, record: float(getattr(record, name)), aspect), JudgeScores),
    )
    for aspect in JudgeScores.__slots__
)
ERRORS = (
    ("MAE", "mae", prediction.mae, False),
    ("MSE", "mse", prediction.mse, False),
    ("Spearman", "spearman", prediction.spearman, True),
)


def _make_score_measures(outcomes: Sequence[CaseOutcome]) -> list[Measure]:
    """Return the measures of each aspect, the recommendation first: on each venue's scale, and normalised over all."""
    fields = [field for record in _select_records(outcomes, ScoresRecord) for field in record.fields]
    order = list(Aspect)
    aspects = sorted({Aspect(field.aspect) for field in fields}, key=order.index)
    measures = []
    for aspect in aspects:
        scales = sorted({(field.low, field.high) for field in fields if field.aspect == aspect})
        for scale in [None, *scales]:
            unit = "normalised" if scale is None else f"{scale[0]:g} to {scale[1]:g}"
            measures += [
                Measure(
                    name=f"{name}, {unit}",
                    metric=f"{metric}_unit" if scale is None and not higher else metric,
                    of=partial(_compute_error, number, aspect, scale),
                    higher_is_better=higher,
                    group=aspect,
                    concerns=partial(_has_numbers, aspect, scale),
                )
                for name, metric, number, higher in ERRORS
            ]
    return measures


def select_measures(scored: Scored, outcomes: Sequence[CaseOutcome]) -> list[Measure]:
    """Return the measures that apply to a scorer's outcomes."""
    fixed = {
        Scored.DECISION: DECISIONS,
        Scored.RECOMMENDATION: RECOMMENDATIONS,
        Scored.OVERLAP: OVERLAPS,
        Scored.BERT_SCORE: BERT_SCORES,
        Scored.EMBED_COS: EMBEDDED,
        Scored.JUDGE: JUDGED,
    }
    return _make_score_measures(outcomes) if scored is Scored.NUMBERS else list(fixed[scored])
