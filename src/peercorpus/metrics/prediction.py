"""Metrics of predicted decisions and scores: accuracy, F1, MCC, AUROC, MAE, MSE, Spearman, Krippendorff's alpha.

They raise `UndefinedMetricError` where other libraries return 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import correlation
from typing import TYPE_CHECKING

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.metric import check_samples, mid_ranks

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of papers by predicted and actual decision.

    Attributes:
        accepted_rightly: Predicted accepts that were accepted.
        accepted_wrongly: Predicted accepts that were not accepted.
        rejected_wrongly: Predicted rejects that were accepted.
        rejected_rightly: Predicted rejects that were not accepted.
    """

    accepted_rightly: int
    accepted_wrongly: int
    rejected_wrongly: int
    rejected_rightly: int


def confusion(predicted: Sequence[bool], gold: Sequence[bool], metric: str = "a confusion") -> Confusion:
    """Count predictions by whether they are correct; True means accept.

    Raises:
        UndefinedMetricError: There is no sample.
    """
    check_samples(metric, predicted, gold)
    pairs = list(zip(map(bool, predicted), map(bool, gold), strict=True))
    return Confusion(*map(pairs.count, ((True, True), (True, False), (False, True), (False, False))))


def accuracy(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """Return the share of correct predictions, in [0, 1].

    Raises:
        UndefinedMetricError: There is no sample.
    """
    counts = confusion(predicted, gold, "accuracy")
    return (counts.accepted_rightly + counts.rejected_rightly) / len(gold)


def precision(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """Return the share of predicted accepts that are accepts, in [0, 1].

    Raises:
        UndefinedMetricError: There is no sample, or no accept was predicted.
    """
    counts = confusion(predicted, gold, "precision")
    predicted_accepts = counts.accepted_rightly + counts.accepted_wrongly
    return _compute_share(
        counts.accepted_rightly, predicted_accepts, "precision is undefined if no accept was predicted"
    )


def recall(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """Return the share of accepts that are predicted, in [0, 1].

    Raises:
        UndefinedMetricError: There is no sample, or none is an accept.
    """
    counts = confusion(predicted, gold, "recall")
    accepted = counts.accepted_rightly + counts.rejected_wrongly
    return _compute_share(counts.accepted_rightly, accepted, "recall is undefined if no paper was accepted")


def f1(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """Return the harmonic mean of precision and recall, in [0, 1]; 0 if there are accepts but none is predicted.

    Raises:
        UndefinedMetricError: There is no sample, or neither a predicted nor an actual accept.
    """
    counts = confusion(predicted, gold, "F1")
    right = 2 * counts.accepted_rightly
    all_accepts = right + counts.accepted_wrongly + counts.rejected_wrongly
    return _compute_share(right, all_accepts, "F1 is undefined if no paper was accepted and none was predicted to be")


def balanced_accuracy(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """Return the mean of the recalls of accepts and rejects, in [0, 1]; 0.5 by chance.

    Raises:
        UndefinedMetricError: There is no sample, or all are in one class.
    """
    counts = confusion(predicted, gold, "balanced accuracy")
    sentence = "balanced accuracy is undefined if all papers have one decision"
    of_accepts = _compute_share(counts.accepted_rightly, counts.accepted_rightly + counts.rejected_wrongly, sentence)
    of_rejects = _compute_share(counts.rejected_rightly, counts.rejected_rightly + counts.accepted_wrongly, sentence)
    return (of_accepts + of_rejects) / 2


def mcc(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """Return Matthews' correlation of predictions and decisions, in [-1, 1]; 0 by chance.

    Source: Matthews (1975), Biochimica et Biophysica Acta 405, 442-451.

    Raises:
        UndefinedMetricError: There is no sample, or decisions or predictions are all equal (scikit-learn returns 0).
    """
    counts = confusion(predicted, gold, "MCC")
    tp = counts.accepted_rightly
    fp = counts.accepted_wrongly
    fn = counts.rejected_wrongly
    tn = counts.rejected_rightly
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    if not product:
        raise UndefinedMetricError("MCC is undefined if all decisions or all predictions are equal.")
    return (tp * tn - fp * fn) / sqrt(product)


def auroc(probabilities: Sequence[float], gold: Sequence[bool]) -> float:
    """Return the probability that an accept is given a higher probability than a reject, ties counted half, in [0, 1].

    It is computed from the ranks of the accepts: Mann and Whitney (1947), Annals of Mathematical Statistics 18, 50-60.

    Args:
        probabilities: Probabilities of acceptance, or any increasing function of them.
        gold: Whether each paper was accepted.

    Raises:
        UndefinedMetricError: There is no sample, or all are in one class.
    """
    check_samples("AUROC", probabilities, gold)
    accepted = sum(map(bool, gold))
    rejected = len(gold) - accepted
    ranks = sum(rank for rank, is_accepted in zip(mid_ranks(probabilities), gold, strict=True) if is_accepted)
    above = ranks - accepted * (accepted + 1) / 2
    return _compute_share(above, accepted * rejected, "AUROC is undefined if all papers have one decision")


def brier(probabilities: Sequence[float], gold: Sequence[bool]) -> float:
    """Return the mean squared distance of probabilities from decisions, in [0, 1]; 0.25 for a constant 0.5.

    Source: Brier (1950), Monthly Weather Review 78, 1-3, for two classes, counting one of them.

    Raises:
        UndefinedMetricError: There is no sample.
    """
    check_samples("Brier score", probabilities, gold)
    return mse(probabilities, list(map(float, gold)))


BINS = 10
"""Bins of equal width into which probabilities fall for the calibration error and the reliability plot."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The answers whose probabilities fall into one bin.

    Attributes:
        said: Mean of their probabilities of acceptance.
        accepted: Share of their papers that were accepted.
    """

    said: float
    accepted: float
    count: int


def reliability(probabilities: Sequence[float], gold: Sequence[bool]) -> list[ReliabilityBin]:
    """Return the non-empty bins of equal width; the last one includes 1.

    Raises:
        UndefinedMetricError: There is no sample.
    """
    check_samples("reliability", probabilities, gold)
    bins: dict[int, list[tuple[float, bool]]] = {}
    for said, accepted in zip(probabilities, gold, strict=True):
        bins.setdefault(min(BINS - 1, int(said * BINS)), []).append((said, accepted))
    return [
        ReliabilityBin(
            said=fsum(said for said, _ in inside) / len(inside),
            accepted=sum(accepted for _, accepted in inside) / len(inside),
            count=len(inside),
        )
        for _, inside in sorted(bins.items())
    ]


def ece(probabilities: Sequence[float], gold: Sequence[bool]) -> float:
    """Return the expected calibration error, in [0, 1]: the bins' mean distance from the diagonal, weighted by answers.

    Source: Naeini, Cooper and Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning, AAAI.
    With few answers it is above 0 even for perfect probabilities.

    Raises:
        UndefinedMetricError: There is no sample.
    """
    return fsum(each.count * abs(each.said - each.accepted) for each in reliability(probabilities, gold)) / len(gold)


def _compute_share(part: float, whole: int, sentence: str) -> float:
    if not whole:
        raise UndefinedMetricError(f"{sentence}; leave it out, because it is not 0.")
    return part / whole


Scale = tuple[float, float]
"""Lowest and highest value that a form offers."""


def mae(predicted: Sequence[float], gold: Sequence[float]) -> float:
    """Return the mean absolute error, 0 or more, on the given scale; do not combine scores of different scales.

    Raises:
        UndefinedMetricError: There is no sample.
    """
    check_samples("MAE", predicted, gold)
    return fsum(abs(guess - actual) for guess, actual in zip(predicted, gold, strict=True)) / len(gold)


def mse(predicted: Sequence[float], gold: Sequence[float]) -> float:
    """Return the mean squared error, 0 or more, on the given scale.

    Raises:
        UndefinedMetricError: There is no sample.
    """
    check_samples("MSE", predicted, gold)
    return fsum((guess - actual) ** 2 for guess, actual in zip(predicted, gold, strict=True)) / len(gold)


def mae_unit(predicted: Sequence[float], gold: Sequence[float], scales: Sequence[Scale]) -> float:
    """Return the mean absolute error as a fraction of each sample's scale: in [0, 1] if predictions are on the scale.

    Raises:
        UndefinedMetricError: There is no sample.
        ValueError: A scale has no width.
    """
    return mae(normalise(predicted, scales), normalise(gold, scales))


def mse_unit(predicted: Sequence[float], gold: Sequence[float], scales: Sequence[Scale]) -> float:
    """Return the mean squared error as a fraction of each sample's scale: in [0, 1] if predictions are on the scale.

    Raises:
        UndefinedMetricError: There is no sample.
        ValueError: A scale has no width.
    """
    return mse(normalise(predicted, scales), normalise(gold, scales))


def spearman(predicted: Sequence[float], gold: Sequence[float]) -> float:
    """Return the rank correlation, in [-1, 1]; equal values share the mean of their ranks.

    Raises:
        UndefinedMetricError: There are fewer than two samples, or all predictions or all scores are equal.
    """
    check_samples("Spearman's correlation", predicted, gold)
    if min(len(set(predicted)), len(set(gold))) < 2:
        raise UndefinedMetricError("Spearman's correlation is undefined if all predictions or all scores are equal.")
    return correlation(mid_ranks(predicted), mid_ranks(gold))


def normalise(values: Sequence[float], scales: Sequence[Scale]) -> list[float]:
    """Map each value from its scale to [0, 1]; a value outside its scale stays outside.

    >>> normalise([3, 3], [(1, 5), (1, 10)])
    [0.5, 0.2222222222222222]

    Raises:
        ValueError: A scale has no width, or the lengths differ.
    """
    for low, high in scales:
        if not low < high:
            raise ValueError(f"the low end of a scale must be below its high end, got {low} and {high}")
    return [(value - low) / (high - low) for value, (low, high) in zip(values, scales, strict=True)]


def alpha(units: "pl.DataFrame") -> float | None:
    """Return Krippendorff's alpha (interval distance): 1 for full agreement within units, 0 for chance, negative below.

    With m_u values in unit u, n values in all units of two or more, and the squared difference δ²,
    α = 1 - D_o / D_e, D_o = (1/n) Σ_u (1/(m_u - 1)) Σ_{i≠j in u} δ²(i, j) and D_e = 1/(n (n - 1)) Σ_{i≠j} δ²(i, j).
    As Σ_{i≠j} (x_i - x_j)² = 2 m Σ_i (x_i - mean)², both are sums of squares, and no pair is formed. Source:
    K. Krippendorff, Computing Krippendorff's Alpha-Reliability, University of Pennsylvania, 2011.

    Args:
        units: One row per value, with columns `unit` and `value`; nulls and units with a single value are ignored.

    Returns:
        None if no unit has two values, or if all values are equal, so that chance agreement is undefined.
    """
    import polars as pl

    value = pl.col("value").cast(pl.Float64)
    paired = units.drop_nulls("value").select("unit", value).filter(pl.len().over("unit") > 1)
    n = paired.height
    if n == 0 or paired["value"].n_unique() == 1:
        return None
    squares = (value - value.mean()).pow(2).sum()
    within = paired.group_by("unit", maintain_order=True).agg(m=pl.len(), squares=squares)
    observed = within.select((2 * pl.col("m") * pl.col("squares") / (pl.col("m") - 1)).sum()).item() / n
    expected = 2 * n * paired.select(squares).item() / (n * (n - 1))
    return float(1 - observed / expected)
