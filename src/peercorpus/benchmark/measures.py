"""The numbers of a run: which there are for what a scorer found, each with the signature of its definition."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TypeVar

from peercorpus.benchmark.outcomes import (
    BertScored,
    Embedded,
    Found,
    Judged,
    Number,
    Outcome,
    Overlap,
    SaidDecision,
    SaidNumber,
    SaidNumbers,
    Scored,
)
from peercorpus.errors import UndefinedMetricError
from peercorpus.kinds import Aspect
from peercorpus.metrics import classification, regression
from peercorpus.metrics.bleu_counts import add_counts

FoundT = TypeVar("FoundT", bound=Found)

PERCENT = 100


def _all_concern(_: Outcome) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a run.

    Attributes:
        name: As tables have it.
        group: Measures of one group stand in one table; empty where there is one only.
        metric: Its definition in `metrics.METRICS`, which has the signature, or `judge`; empty for a plain mean.
        of: What it is computed from; every outcome is of one scorer.
        higher_is_better: Whether a larger number is a better one; None where neither is.
        factor: What tables multiply it by.
        concerns: Whether an outcome tells anything of it: a paper whose form has another scale does not.
    """

    name: str
    metric: str
    of: Number
    higher_is_better: bool | None = True
    factor: float = 1.0
    group: str = ""
    concerns: Callable[[Outcome], bool] = _all_concern


def _all(outcomes: Sequence[Outcome], kind: type[FoundT]) -> list[FoundT]:
    return [one.found for one in outcomes if isinstance(one.found, kind)]


def _decided(number: Callable[[Sequence[bool], Sequence[bool]], float], outcomes: list[Outcome]) -> float:
    found = _all(outcomes, SaidDecision)
    return number([one.said for one in found], [one.accepted for one in found])


def _auroc(outcomes: list[Outcome]) -> float:
    found = _all(outcomes, SaidDecision)
    probabilities = [one.probability for one in found if one.probability is not None]
    if len(probabilities) < len(found):
        raise UndefinedMetricError("AUROC has no value where answers state no probability.")
    return classification.auroc(probabilities, [one.accepted for one in found])


def _numbers(outcomes: Sequence[Outcome], aspect: str, scale: tuple[float, float] | None) -> list[SaidNumber]:
    every = (one for found in _all(outcomes, SaidNumbers) for one in found.fields if one.aspect == aspect)
    return [one for one in every if scale is None or (one.low, one.high) == scale]


def _has_numbers(aspect: str, scale: tuple[float, float] | None, outcome: Outcome) -> bool:
    return bool(_numbers([outcome], aspect, scale))


def _error(
    number: Callable[[Sequence[float], Sequence[float]], float],
    aspect: str,
    scale: tuple[float, float] | None,
    outcomes: list[Outcome],
) -> float:
    """On the venue's scale, or in widths of the scale where several are put together."""
    found = _numbers(outcomes, aspect, scale)
    said = [one.said for one in found]
    gold = [one.gold for one in found]
    if scale is not None:
        return number(said, gold)
    scales = [(one.low, one.high) for one in found]
    return number(regression.normalise(said, scales), regression.normalise(gold, scales))


def _mean(read: Callable[[FoundT], float], kind: type[FoundT], outcomes: list[Outcome]) -> float:
    found = _all(outcomes, kind)
    if not found:
        raise UndefinedMetricError("A mean has no value over nothing.")
    return fmean(read(one) for one in found)


def _bleu(outcomes: list[Outcome]) -> float:
    return add_counts(one.bleu for one in _all(outcomes, Overlap)).bleu()


DECISIONS = (
    Measure("accuracy", "accuracy", partial(_decided, classification.accuracy), factor=PERCENT),
    Measure("precision", "precision", partial(_decided, classification.precision), factor=PERCENT),
    Measure("recall", "recall", partial(_decided, classification.recall), factor=PERCENT),
    Measure("F1", "f1", partial(_decided, classification.f1), factor=PERCENT),
    Measure(
        "balanced accuracy", "balanced_accuracy", partial(_decided, classification.balanced_accuracy), factor=PERCENT
    ),
    Measure("MCC", "mcc", partial(_decided, classification.mcc)),
    Measure("AUROC", "auroc", _auroc),
)
OVERLAPS = (
    Measure("BLEU", "bleu", _bleu),
    Measure("ROUGE-L", "rouge_l", partial(_mean, lambda one: one.rouge_l, Overlap), factor=PERCENT),
    Measure("words", "", partial(_mean, lambda one: one.words, Overlap), None),
)
BERT_SCORES = (
    Measure("BERTScore P", "bert_precision", partial(_mean, lambda one: one.precision, BertScored), factor=PERCENT),
    Measure("BERTScore R", "bert_recall", partial(_mean, lambda one: one.recall, BertScored), factor=PERCENT),
    Measure("BERTScore F1", "bert_f1", partial(_mean, lambda one: one.f1, BertScored), factor=PERCENT),
    Measure("BERTScore truncated", "bert_f1", partial(_mean, lambda one: one.truncated, BertScored), None, PERCENT),
)
EMBEDDED = (
    Measure("EmbedCos", "embed_cos", partial(_mean, lambda one: one.cosine, Embedded)),
    Measure("EmbedCos truncated", "embed_cos", partial(_mean, lambda one: one.truncated, Embedded), None, PERCENT),
)
JUDGED = tuple(
    Measure(
        f"judge: {aspect}",
        "judge",
        partial(_mean, partial(lambda name, one: float(getattr(one, name)), aspect), Judged),
    )
    for aspect in Judged.__slots__
)
ERRORS = (
    ("MAE", "mae", regression.mae, False),
    ("MSE", "mse", regression.mse, False),
    ("Spearman", "spearman", regression.spearman, True),
)


def _of_numbers(outcomes: Sequence[Outcome]) -> list[Measure]:
    """Every aspect that was asked for, the recommendation first: on each venue's scale, and all in widths of theirs."""
    fields = [one for found in _all(outcomes, SaidNumbers) for one in found.fields]
    order = list(Aspect)
    aspects = sorted({Aspect(one.aspect) for one in fields}, key=order.index)
    measures = []
    for aspect in aspects:
        scales = sorted({(one.low, one.high) for one in fields if one.aspect == aspect})
        for scale in [None, *scales]:
            unit = "normalised" if scale is None else f"{scale[0]:g} to {scale[1]:g}"
            measures += [
                Measure(
                    f"{name}, {unit}",
                    f"{metric}_unit" if scale is None and not higher else metric,
                    partial(_error, number, aspect, scale),
                    higher,
                    group=aspect,
                    concerns=partial(_has_numbers, aspect, scale),
                )
                for name, metric, number, higher in ERRORS
            ]
    return measures


def measures_of(scored: Scored, outcomes: Sequence[Outcome]) -> list[Measure]:
    """The numbers that a scorer's outcomes have."""
    fixed = {
        Scored.DECISION: DECISIONS,
        Scored.OVERLAP: OVERLAPS,
        Scored.BERT_SCORE: BERT_SCORES,
        Scored.EMBED_COS: EMBEDDED,
        Scored.JUDGE: JUDGED,
    }
    return _of_numbers(outcomes) if scored is Scored.NUMBERS else list(fixed[scored])
