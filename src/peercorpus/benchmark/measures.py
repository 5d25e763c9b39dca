"""Define the numbers in a table for a run, each with the metric that its signature names."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import fsum, inf
from operator import attrgetter
from statistics import fmean
from typing import TypeVar

from peercorpus.benchmark.outcomes import (
    BertScored,
    CaseOutcome,
    CoverageRecord,
    DecisionRecord,
    Embedded,
    Number,
    OutcomeRecord,
    Overlap,
    PredictedScore,
    Scored,
    ScoresRecord,
    Verdict,
)
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics import prediction
from peercorpus.metrics.intervals.pairs import Estimator
from peercorpus.metrics.intervals.papers import (
    Bounds,
    Cells,
    bound_auroc,
    bound_balanced,
    bound_bleu,
    bound_brier,
    bound_correlation,
    bound_f1,
    bound_mcc,
    bound_mean,
    bound_share,
)
from peercorpus.metrics.registry import METRICS
from peercorpus.metrics.review_points import PointCounts
from peercorpus.metrics.text_overlap import add_counts
from peercorpus.records.enums import Aspect

RecordT = TypeVar("RecordT", bound=OutcomeRecord)
Papers = Sequence[list[CaseOutcome]]
"""Outcomes, by paper."""
BoundsOf = Callable[[Papers, float], Bounds | None]
"""Computes a 95 % interval from the outcomes of papers, and the number itself."""
SumsOf = Callable[[Sequence[CaseOutcome]], tuple[float, float]]
"""Computes the sum and the number of a paper's values."""
Weigh = Callable[[RecordT], tuple[float, float]]
"""Returns a record's contribution to a sum, and to the number of values by which it is divided."""

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
        bounds: Computes its 95 % interval; None if no interval has the right coverage with few papers.
        higher_is_better: None if neither direction is better.
        factor: Factor of the number in tables.
        group: Measures of one group share a table; empty if there is only one table.
        concerns: Returns whether an outcome affects the number; a paper whose form has another scale does not.
        sums: For a mean over answers, computes the sum and the number of a paper's values; None for other numbers.
        limits: For a mean, the lowest and highest possible value.
        is_of_counts: Whether it is computed from counts of answers, like a share.
    """

    name: str
    metric: str
    of: Number
    bounds: BoundsOf | None
    higher_is_better: bool | None = True
    factor: float = 1.0
    group: str = ""
    concerns: Callable[[CaseOutcome], bool] = _concerns_all
    sums: SumsOf | None = None
    limits: Bounds = (-inf, inf)
    is_of_counts: bool = False

    def scale(self, bounds: Bounds | None) -> Bounds | None:
        """Return an interval in the unit of tables."""
        return None if bounds is None else (bounds[0] * self.factor, bounds[1] * self.factor)

    @property
    def estimator(self) -> Estimator[list[CaseOutcome]]:
        """The number with its interval over papers, for differences and means of several runs."""
        return Estimator(partial(compute_over_papers, self), self.bounds, self.sums, self.limits, self.is_of_counts)


def _select_records(outcomes: Sequence[CaseOutcome], kind: type[RecordT]) -> list[RecordT]:
    return [outcome.found for outcome in outcomes if isinstance(outcome.found, kind)]


def _sum_by_paper(weigh: Weigh[RecordT], kind: type[RecordT], papers: Papers) -> list[tuple[float, float]]:
    """Return the sums of the papers with a value."""
    return [sums for paper in papers if (sums := _sum_paper(weigh, kind, paper))[1]]


def _sum_paper(weigh: Weigh[RecordT], kind: type[RecordT], outcomes: Sequence[CaseOutcome]) -> tuple[float, float]:
    weights = [weigh(record) for record in _select_records(outcomes, kind)]
    return fsum(part for part, _ in weights), fsum(of for _, of in weights)


def _bound_by_mean(sums: SumsOf, limits: Bounds, papers: Papers, _value: float) -> Bounds | None:
    return bound_mean([of_paper for paper in papers if (of_paper := sums(paper))[1]], limits)


def _compute_decision_metric(
    number: Callable[[Sequence[bool], Sequence[bool]], float], outcomes: list[CaseOutcome]
) -> float:
    decisions = _select_records(outcomes, DecisionRecord)
    return number([record.said for record in decisions], [record.accepted for record in decisions])


def _measure_decisions(name: str, metric: str, bounds: BoundsOf, factor: float = PERCENT) -> Measure:
    compute = partial(_compute_decision_metric, METRICS[metric].function)
    return Measure(name, metric, compute, bounds, factor=factor, is_of_counts=True)


def _measure_probabilities(
    name: str, metric: str, bounds: BoundsOf | None, sums: SumsOf | None = None, limits: Bounds = (-inf, inf)
) -> Measure:
    defined = METRICS[metric]
    compute = partial(_compute_from_probabilities, defined.function)
    return Measure(name, metric, compute, bounds, defined.higher_is_better, sums=sums, limits=limits)


def _bound_share_of(weigh: Weigh[DecisionRecord]) -> BoundsOf:
    return lambda papers, _value: bound_share(_sum_by_paper(weigh, DecisionRecord, papers))


def _is_accept_found(record: DecisionRecord) -> tuple[float, float]:
    return record.said and record.accepted, record.accepted


def _is_reject_found(record: DecisionRecord) -> tuple[float, float]:
    return not record.said and not record.accepted, not record.accepted


def _bound_f1_of(papers: Papers, _value: float) -> Bounds | None:
    return bound_f1(
        _sum_by_paper(
            lambda record: (record.said and record.accepted, record.said or record.accepted), DecisionRecord, papers
        )
    )


def _bound_balanced_of(papers: Papers, _value: float) -> Bounds | None:
    return bound_balanced(
        _sum_by_paper(_is_accept_found, DecisionRecord, papers), _sum_by_paper(_is_reject_found, DecisionRecord, papers)
    )


def _bound_mcc_of(papers: Papers, value: float) -> Bounds | None:
    return bound_mcc(value, [_count_cells(_select_records(outcomes, DecisionRecord)) for outcomes in papers])


def _count_cells(decisions: Sequence[DecisionRecord]) -> Cells:
    pairs = [(record.said, record.accepted) for record in decisions]
    return (
        pairs.count((True, True)),
        pairs.count((True, False)),
        pairs.count((False, True)),
        pairs.count((False, False)),
    )


def _bound_auroc_of(papers: Papers, value: float) -> Bounds | None:
    accepted = sum(any(record.accepted for record in _select_records(paper, DecisionRecord)) for paper in papers)
    return bound_auroc(value, accepted, len(papers) - accepted)


def _compute_from_probabilities(
    number: Callable[[Sequence[float], Sequence[bool]], float], outcomes: list[CaseOutcome]
) -> float:
    decisions = _select_records(outcomes, DecisionRecord)
    probabilities = [record.probability for record in decisions if record.probability is not None]
    if len(probabilities) < len(decisions):
        raise UndefinedMetricError("AUROC and calibration are undefined if an answer states no probability.")
    return number(probabilities, [record.accepted for record in decisions])


def bin_probabilities(outcomes: Sequence[CaseOutcome]) -> list[prediction.ReliabilityBin]:
    """Return the bins of a reliability plot; none for other tasks, or if an answer states no probability."""
    decisions = _select_records(outcomes, DecisionRecord)
    probabilities = [record.probability for record in decisions if record.probability is not None]
    if not decisions or len(probabilities) < len(decisions):
        return []
    return prediction.reliability(probabilities, [record.accepted for record in decisions])


def _is_contradictory(record: DecisionRecord) -> tuple[float, float]:
    return record.contradicts, record.probability is not None


def _compute_contradictory(outcomes: list[CaseOutcome]) -> float:
    flags = [
        record.contradicts for record in _select_records(outcomes, DecisionRecord) if record.probability is not None
    ]
    if not flags:
        raise UndefinedMetricError("No answer states a probability that could contradict its decision.")
    return fmean(flags)


def _is_squared(record: DecisionRecord) -> tuple[float, float]:
    assert record.probability is not None
    return (record.probability - record.accepted) ** 2, 1


def _select_scores(
    outcomes: Sequence[CaseOutcome], aspect: str, scale: tuple[float, float] | None
) -> list[PredictedScore]:
    every = (
        score for record in _select_records(outcomes, ScoresRecord) for score in record.fields if score.aspect == aspect
    )
    return [score for score in every if scale is None or (score.low, score.high) == scale]


def _has_numbers(aspect: str, scale: tuple[float, float] | None, outcome: CaseOutcome) -> bool:
    return bool(_select_scores([outcome], aspect, scale))


def _pair_numbers(
    aspect: str, scale: tuple[float, float] | None, outcomes: Sequence[CaseOutcome]
) -> tuple[list[float], list[float]]:
    """Return predictions and means on the venue's scale, or as fractions of the scale if several are combined."""
    scores = _select_scores(outcomes, aspect, scale)
    predicted = [score.said for score in scores]
    gold = [score.gold for score in scores]
    if scale is not None:
        return predicted, gold
    scales = [(score.low, score.high) for score in scores]
    return prediction.normalise(predicted, scales), prediction.normalise(gold, scales)


def _compute_error(
    number: Callable[[Sequence[float], Sequence[float]], float],
    aspect: str,
    scale: tuple[float, float] | None,
    outcomes: list[CaseOutcome],
) -> float:
    return number(*_pair_numbers(aspect, scale, outcomes))


def _sum_errors(
    power: int, aspect: str, scale: tuple[float, float] | None, outcomes: Sequence[CaseOutcome]
) -> tuple[float, float]:
    predicted, gold = _pair_numbers(aspect, scale, outcomes)
    errors = (abs(said - actual) ** power for said, actual in zip(predicted, gold, strict=True))
    return fsum(errors), len(predicted)


def _bound_spearman(papers: Papers, value: float) -> Bounds | None:
    return bound_correlation(value, len(papers))


def _compute_mean(read: Callable[[RecordT], float | None], kind: type[RecordT], outcomes: list[CaseOutcome]) -> float:
    known = [value for record in _select_records(outcomes, kind) if (value := read(record)) is not None]
    if not known:
        raise UndefinedMetricError("A mean is undefined without values.")
    return fmean(known)


def _measure_mean(
    name: str,
    metric: str,
    read: Callable[[RecordT], float | None],
    kind: type[RecordT],
    *,
    higher_is_better: bool | None = True,
    factor: float = 1.0,
    limits: Bounds | None = None,
) -> Measure:
    """Return a measure that is the mean of one number per record, which is within limits, by default the metric's.

    Records without a number, for which `read` returns None, do not concern it.
    """
    limits = limits or (METRICS[metric].low or 0, METRICS[metric].high or inf)

    def weigh(record: RecordT) -> tuple[float, float]:
        value = read(record)
        return (0, 0) if value is None else (value, 1)

    sums: SumsOf = partial(_sum_paper, weigh, kind)
    return Measure(
        name=name,
        metric=metric,
        of=partial(_compute_mean, read, kind),
        bounds=partial(_bound_by_mean, sums, limits),
        higher_is_better=higher_is_better,
        factor=factor,
        concerns=lambda outcome: bool(sums([outcome])[1]),
        sums=sums,
        limits=limits,
    )


def _measure_truncated(name: str, metric: str, kind: type[RecordT]) -> Measure:
    """Return the share of texts that are longer than the window of a metric's model."""
    read: Callable[[RecordT], float] = attrgetter("truncated")
    return _measure_mean(f"{name} truncated", metric, read, kind, higher_is_better=None, factor=PERCENT, limits=(0, 1))


def _bound_bleu_of(papers: Papers, _value: float) -> Bounds | None:
    return bound_bleu([add_counts(record.bleu for record in _select_records(paper, Overlap)) for paper in papers])


def _compute_bleu(outcomes: list[CaseOutcome]) -> float:
    return add_counts(record.bleu for record in _select_records(outcomes, Overlap)).bleu()


_bound_accuracy_of = _bound_share_of(lambda record: (record.said == record.accepted, 1))
DECISIONS = (
    _measure_decisions("accuracy", "accuracy", _bound_accuracy_of),
    _measure_decisions(
        "precision",
        "precision",
        _bound_share_of(lambda record: (record.said and record.accepted, record.said)),
    ),
    _measure_decisions("recall", "recall", _bound_share_of(_is_accept_found)),
    _measure_decisions("F1", "f1", _bound_f1_of),
    _measure_decisions("balanced accuracy", "balanced_accuracy", _bound_balanced_of),
    _measure_decisions("MCC", "mcc", _bound_mcc_of, factor=1),
    _measure_probabilities("AUROC", "auroc", _bound_auroc_of),
    _measure_probabilities(
        "Brier score",
        "brier",
        lambda papers, _value: bound_brier(_sum_by_paper(_is_squared, DecisionRecord, papers)),
        partial(_sum_paper, _is_squared, DecisionRecord),
        limits=(0, 1),
    ),
    # With few papers its error is bias, which an interval around it does not show.
    _measure_probabilities("ECE", "ece", None),
    Measure(
        "contradictory",
        "",
        _compute_contradictory,
        _bound_share_of(_is_contradictory),
        higher_is_better=False,
        factor=PERCENT,
        concerns=lambda outcome: outcome.unscored is None,
        is_of_counts=True,
    ),
)
RECOMMENDATIONS = (
    _measure_decisions("agreement with the decision", "accuracy", _bound_accuracy_of),
    _measure_decisions("balanced agreement", "balanced_accuracy", _bound_balanced_of),
    _measure_decisions("MCC of the recommendation", "mcc", _bound_mcc_of, factor=1),
)
OVERLAPS = (
    Measure("BLEU", "bleu", _compute_bleu, _bound_bleu_of),
    _measure_mean("ROUGE-L", "rouge_l", attrgetter("rouge_l"), Overlap, factor=PERCENT),
    _measure_mean("length (words)", "", attrgetter("words"), Overlap, higher_is_better=None, limits=(0, inf)),
)
POINTS = (
    _measure_mean("point recall", "point_recall", attrgetter("recall"), PointCounts, factor=PERCENT),
    _measure_mean("point precision", "point_precision", attrgetter("precision"), PointCounts, factor=PERCENT),
    _measure_mean("points", "", attrgetter("points"), PointCounts, higher_is_better=None, limits=(0, inf)),
)
COVERED = tuple(
    _measure_mean(
        name, "point_coverage", attrgetter(f"{who}.share"), CoverageRecord, higher_is_better=None, factor=PERCENT
    )
    for name, who in (("points taken up", "said"), ("points taken up by people", "people"))
)
BERT_SCORES = (
    *(
        _measure_mean(f"BERTScore {letter}", metric, attrgetter(part), BertScored, factor=PERCENT)
        for letter, metric, part in (
            ("P", "bert_precision", "precision"),
            ("R", "bert_recall", "recall"),
            ("F1", "bert_f1", "f1"),
        )
    ),
    _measure_truncated("BERTScore", "bert_f1", BertScored),
)
EMBEDDED = (
    _measure_mean("EmbedCos", "embed_cos", attrgetter("cosine"), Embedded),
    _measure_truncated("EmbedCos", "embed_cos", Embedded),
)
JUDGED = tuple(
    _measure_mean(f"judge: {aspect}", "judge", attrgetter(aspect), Verdict, limits=(1, 10))
    for aspect in Verdict.__slots__
)
ERRORS = (("MAE", "mae", 1), ("MSE", "mse", 2), ("Spearman", "spearman", None))
"""Measures of predicted scores: name, metric, and the power of the error whose mean it is; None if it is not a mean."""


def _measure_scores(aspect: str, scale: tuple[float, float] | None) -> list[Measure]:
    """Return the measures of an aspect on one scale, or normalised over all."""
    unit = "normalised" if scale is None else f"{scale[0]:g} to {scale[1]:g}"
    width = 1 if scale is None else scale[1] - scale[0]
    measures = []
    for name, metric, power in ERRORS:
        sums = None if power is None else partial(_sum_errors, power, aspect, scale)
        limits = (-inf, inf) if power is None else (0, width**power)
        measures.append(
            Measure(
                name=f"{name}, {unit}",
                metric=f"{metric}_unit" if scale is None and sums is not None else metric,
                of=partial(_compute_error, METRICS[metric].function, aspect, scale),
                bounds=_bound_spearman if sums is None else partial(_bound_by_mean, sums, limits),
                higher_is_better=METRICS[metric].higher_is_better,
                group=aspect,
                concerns=partial(_has_numbers, aspect, scale),
                sums=sums,
                limits=limits,
            )
        )
    return measures


def _make_score_measures(outcomes: Sequence[CaseOutcome]) -> list[Measure]:
    """Return the measures of each aspect, the recommendation first: normalised over all, and on each venue's scale."""
    fields = [field for record in _select_records(outcomes, ScoresRecord) for field in record.fields]
    order = list(Aspect)
    measures = []
    for aspect in sorted({Aspect(field.aspect) for field in fields}, key=order.index):
        scales = sorted({(field.low, field.high) for field in fields if field.aspect == aspect})
        measures += [measure for scale in (None, *scales) for measure in _measure_scores(aspect, scale)]
    return measures


MEASURES: Mapping[Scored, Sequence[Measure]] = {
    Scored.DECISION: DECISIONS,
    Scored.RECOMMENDATION: RECOMMENDATIONS,
    Scored.OVERLAP: OVERLAPS,
    Scored.POINTS: POINTS,
    Scored.COVERAGE: COVERED,
    Scored.BERT_SCORE: BERT_SCORES,
    Scored.EMBED_COS: EMBEDDED,
    Scored.JUDGE: JUDGED,
}
"""Measures of each scorer; those of `numbers` depend on the forms."""


def select_measures(scored: Scored, outcomes: Sequence[CaseOutcome]) -> list[Measure]:
    """Return the measures that apply to a scorer's outcomes."""
    return _make_score_measures(outcomes) if scored is Scored.NUMBERS else list(MEASURES[scored])


def list_metrics(scored: Scored) -> list[str]:
    """Return the names of the metrics behind a scorer's measures, each once."""
    of_scores = (*_measure_scores("", (0, 1)), *_measure_scores("", None))
    measures = of_scores if scored is Scored.NUMBERS else MEASURES[scored]
    return [*dict.fromkeys(measure.metric for measure in measures if measure.metric)]


def group_by_paper(outcomes: Iterable[CaseOutcome]) -> dict[str, list[CaseOutcome]]:
    """Group outcomes by paper, the unit that the bootstrap resamples."""
    papers: dict[str, list[CaseOutcome]] = defaultdict(list)
    for outcome in outcomes:
        papers[outcome.forum_id].append(outcome)
    return papers


def compute_over_papers(measure: Measure, papers: Sequence[list[CaseOutcome]]) -> float:
    """Return a number over the outcomes of some papers.

    Raises:
        UndefinedMetricError: It is undefined for these outcomes.
    """
    return measure.of(list(chain.from_iterable(papers)))
