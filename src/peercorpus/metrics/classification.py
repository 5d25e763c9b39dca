"""How well decisions are predicted: yes or no with accept as the positive class, or with a probability of it.

A metric that its samples do not define raises `UndefinedMetricError` and says why; it is never 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.samples import check_samples, mid_ranks


@dataclass(frozen=True, slots=True)
class Confusion:
    """Papers by what was predicted and what became of them.

    Attributes:
        accepted_rightly: Predicted to be accepted, and were.
        accepted_wrongly: Predicted to be accepted, and were not.
        rejected_wrongly: Predicted not to be accepted, and were.
        rejected_rightly: Predicted not to be accepted, and were not.
    """

    accepted_rightly: int
    accepted_wrongly: int
    rejected_wrongly: int
    rejected_rightly: int


def confusion(predicted: Sequence[bool], gold: Sequence[bool], metric: str = "a confusion") -> Confusion:
    """Count predictions by whether they hold; True is accept.

    Raises:
        UndefinedMetricError: There is no sample.
    """
    check_samples(metric, predicted, gold)
    pairs = list(zip(map(bool, predicted), map(bool, gold), strict=True))
    return Confusion(*map(pairs.count, ((True, True), (True, False), (False, True), (False, False))))


def accuracy(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """The share of samples predicted rightly, in [0, 1].

    Raises:
        UndefinedMetricError: There is no sample.
    """
    counts = confusion(predicted, gold, "accuracy")
    return (counts.accepted_rightly + counts.rejected_rightly) / len(gold)


def precision(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """The share of predicted accepts that are accepts, in [0, 1].

    Raises:
        UndefinedMetricError: There is no sample, or no accept was predicted.
    """
    counts = confusion(predicted, gold, "precision")
    found = counts.accepted_rightly + counts.accepted_wrongly
    return _share(counts.accepted_rightly, found, "precision has no value where no accept was predicted")


def recall(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """The share of accepts that are predicted, in [0, 1].

    Raises:
        UndefinedMetricError: There is no sample, or none is an accept.
    """
    counts = confusion(predicted, gold, "recall")
    accepted = counts.accepted_rightly + counts.rejected_wrongly
    return _share(counts.accepted_rightly, accepted, "recall has no value where no paper was accepted")


def f1(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """The harmonic mean of precision and recall, in [0, 1]: 0 where accepts are missed and none is predicted.

    Raises:
        UndefinedMetricError: There is no sample, or neither a predicted accept nor a real one.
    """
    counts = confusion(predicted, gold, "F1")
    right = 2 * counts.accepted_rightly
    all_accepts = right + counts.accepted_wrongly + counts.rejected_wrongly
    return _share(right, all_accepts, "F1 has no value where no paper was accepted and none predicted to be")


def balanced_accuracy(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """The mean of the shares of accepts and of rejects that are predicted rightly, in [0, 1]; 0.5 is as by chance.

    Raises:
        UndefinedMetricError: There is no sample, or all are of one class.
    """
    counts = confusion(predicted, gold, "balanced accuracy")
    sentence = "balanced accuracy has no value where all papers have one decision"
    of_accepts = _share(counts.accepted_rightly, counts.accepted_rightly + counts.rejected_wrongly, sentence)
    of_rejects = _share(counts.rejected_rightly, counts.rejected_rightly + counts.accepted_wrongly, sentence)
    return (of_accepts + of_rejects) / 2


def mcc(predicted: Sequence[bool], gold: Sequence[bool]) -> float:
    """Matthews' correlation of predictions and decisions, in [-1, 1]; 0 is as by chance.

    Source: Matthews (1975), Biochimica et Biophysica Acta 405, 442-451.

    Raises:
        UndefinedMetricError: There is no sample, or decisions or predictions are all one; scikit-learn says 0.
    """
    counts = confusion(predicted, gold, "MCC")
    tp, fp, fn, tn = (
        *(counts.accepted_rightly, counts.accepted_wrongly),
        *(counts.rejected_wrongly, counts.rejected_rightly),
    )
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    if not product:
        raise UndefinedMetricError("MCC has no value where all papers have one decision, or all predictions are one.")
    return (tp * tn - fp * fn) / sqrt(product)


def auroc(probabilities: Sequence[float], gold: Sequence[bool]) -> float:
    """The chance that an accept was given a higher probability than a reject, ties counting half, in [0, 1].

    By the ranks of the accepts: Mann and Whitney (1947), Annals of Mathematical Statistics 18, 50-60.

    Args:
        probabilities: Of being accepted; any number that grows with it does.
        gold: Whether each was accepted.

    Raises:
        UndefinedMetricError: There is no sample, or all are of one class.
    """
    check_samples("AUROC", probabilities, gold)
    accepted = sum(map(bool, gold))
    rejected = len(gold) - accepted
    ranks = sum(rank for rank, is_accepted in zip(mid_ranks(probabilities), gold, strict=True) if is_accepted)
    above = ranks - accepted * (accepted + 1) / 2
    return _share(above, accepted * rejected, "AUROC has no value where all papers have one decision")


def _share(part: float, whole: int, sentence: str) -> float:
    if not whole:
        raise UndefinedMetricError(f"{sentence}; leave it out there, as it is not 0.")
    return part / whole
