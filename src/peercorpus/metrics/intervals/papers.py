"""95 % intervals of numbers over few papers, each by a method known to keep its coverage there.

Shares get score intervals (Wilson), and numbers computed from shares combine them; means get the bootstrap-t; AUROC and
Spearman's correlation have methods of their own. `benchmarks/results/coverage.json` has the simulated coverage of
each. Answers about one paper are not independent, so every method takes sums by paper. None means "no interval": there
are fewer than two papers, or all values are equal, so their variation is unknown.
"""

from collections.abc import Sequence
from math import atanh, copysign, exp, inf, log, sqrt, tanh
from statistics import fmean
from typing import TYPE_CHECKING

from peercorpus.metrics.text_overlap import BleuCounts, add_counts, subtract_counts

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

RESAMPLES = 1000
"""Number of bootstrap resamples."""
Z = 1.959963984540054
"""Quantile of the normal distribution for a two-sided 95 % interval."""


Bounds = tuple[float, float]
"""Lower and upper bound."""


def wilson_interval(part: float, whole: float) -> Bounds | None:
    """Return the 95 % score interval of a share, in [0, 1], or None if `whole` is 0; no continuity correction.

    Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference. Journal of the American
    Statistical Association 22 (1927), pp. 209-212.

    Args:
        part: Number of those that have the property. Fractions are allowed: values in [0, 1] never vary more than zeros
            and ones with the same mean, so the interval is then too wide rather than too narrow.
        whole: Total number.

    >>> [round(bound, 3) for bound in wilson_interval(8, 10)]
    [0.49, 0.943]
    """
    if not whole:
        return None
    share = part / whole
    middle = (share + Z * Z / (2 * whole)) / (1 + Z * Z / whole)
    half = Z / (1 + Z * Z / whole) * sqrt(share * (1 - share) / whole + Z * Z / (4 * whole * whole))
    return max(0.0, middle - half), min(1.0, middle + half)


def combine_bounds(
    values: Sequence[float],
    bounds: Sequence[Bounds],
    weights: Sequence[float],
    correlations: Sequence[Sequence[float]] | None = None,
) -> Bounds:
    """Return the 95 % interval of a weighted sum of numbers, from the interval of each.

    Source: Zou and Donner (2008), Construction of confidence limits about effect measures, Statistics in Medicine 27,
    1693-1702; for the difference of two shares it is Newcombe's interval.

    Args:
        values: The numbers.
        bounds: Their intervals.
        weights: Their weights: 1 and -1 for a difference.
        correlations: Correlation of each two of them; None if they were computed on different papers.
    """
    below, above = [], []
    for weight, value, (low, high) in zip(weights, values, bounds, strict=True):
        distances = abs(weight) * (value - low), abs(weight) * (high - value)
        below.append(copysign(distances[weight < 0], weight))
        above.append(copysign(distances[weight > 0], weight))
    centre = sum(weight * value for weight, value in zip(weights, values, strict=True))
    return centre - _join(below, correlations), centre + _join(above, correlations)


def _join(distances: Sequence[float], correlations: Sequence[Sequence[float]] | None) -> float:
    """Return the distance of an interval's end from its centre, given those of its parts, signed by weight."""
    if correlations is None:
        return sqrt(sum(distance**2 for distance in distances))
    squares = sum(
        correlation * distance * other
        for distance, row in zip(distances, correlations, strict=True)
        for other, correlation in zip(distances, row, strict=True)
    )
    return sqrt(max(0.0, squares))


def subtract_bounds(first: float, first_bounds: Bounds, second: float, second_bounds: Bounds) -> Bounds:
    """Return the 95 % interval of the first number minus the second, computed on different papers.

    >>> [round(bound, 3) for bound in subtract_bounds(0.8, (0.7, 0.9), 0.5, (0.4, 0.6))]
    [0.159, 0.441]
    """
    return combine_bounds((first, second), (first_bounds, second_bounds), (1, -1))


Sums = Sequence[tuple[float, float]]
"""For each paper, the sum of its values and their count."""
Cells = tuple[float, float, float, float]
"""Answers about a paper: correctly accepted, wrongly accepted, wrongly rejected, correctly rejected."""


def _standard_error(papers: Sums, ratio: float, whole: float) -> float:
    """Return the standard error of a ratio of sums over papers (Cochran, Sampling Techniques, 1977, chapter 6.3)."""
    count = len(papers)
    squares = sum((part - ratio * of) ** 2 for part, of in papers)
    return sqrt(count / (count - 1) * squares) / whole


def bound_share(papers: Sums) -> Bounds | None:
    """Return the score interval of a share, in [0, 1].

    If papers have several answers, the number of answers is divided by the design effect, following Korn and Graubard
    (1998), Survey Methodology 24, 193-201. A share of 0 or 1 shows no design effect, so papers are counted instead.
    """
    asked = [(part, of) for part, of in papers if of]
    whole = sum(of for _, of in asked)
    if not whole:
        return None
    share = sum(part for part, _ in asked) / whole
    size = whole
    if whole > len(asked):
        size = float(len(asked))
        if 0 < share < 1 and len(asked) > 1:
            error = _standard_error(asked, share, whole)
            size = min(whole, share * (1 - share) / error**2) if error else whole
    return wilson_interval(share * size, size)


def bound_f1(papers: Sums) -> Bounds | None:
    """Return the interval of F1, from the share J of correct accepts among all papers that were accepted or predicted
    to be.

    F1 is 2 J / (1 + J), which grows with J.

    Args:
        papers: Correct accepts, and all accepts, actual or predicted.
    """
    bounds = bound_share(papers)
    return None if bounds is None else (2 * bounds[0] / (1 + bounds[0]), 2 * bounds[1] / (1 + bounds[1]))


def bound_balanced(accepts: Sums, rejects: Sums) -> Bounds | None:
    """Return the interval of the mean of two recalls."""
    bounds = bound_share(accepts), bound_share(rejects)
    if bounds[0] is None or bounds[1] is None:
        return None
    shares = [sum(part for part, _ in sums) / sum(of for _, of in sums) for sums in (accepts, rejects)]
    return combine_bounds(shares, (bounds[0], bounds[1]), (0.5, 0.5))


BLOCK = 2**20
"""Papers drawn at a time; this bounds memory."""
DRAWS = 4_000
"""Draws from the distributions behind the intervals of Matthews' correlation and of the Brier score."""
PRIOR = 0.5
"""Added to both the correct and the wrong answers of a share: Jeffreys' prior."""


def _phi(
    tp: "NDArray[float64]", fp: "NDArray[float64]", fn: "NDArray[float64]", tn: "NDArray[float64]"
) -> "NDArray[float64]":
    return (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5


def bound_mcc(value: float, papers: Sequence[Cells]) -> Bounds:
    """Return the interval of Matthews' correlation, from the beta distributions of three shares (Jeffreys' prior).

    These are the share of accepted papers among all, of accepts found among the accepted, and of rejects found among
    the rejected; they determine the four cells. The interval is widened to contain the number itself. Answers are
    weighted so that they add up to the number of papers.
    """
    import numpy as np

    weight = len(papers) / sum(map(sum, papers))
    tp, fp, fn, tn = (weight * sum(column) for column in zip(*papers, strict=True))
    chance = np.random.default_rng(0)
    accepted, found, kept = (
        chance.beta(part + PRIOR, rest + PRIOR, DRAWS) for part, rest in ((tp + fn, fp + tn), (tp, fn), (tn, fp))
    )
    with np.errstate(invalid="ignore"):  # A share of 0 or 1 leaves nothing to correlate with.
        drawn = _phi(accepted * found, (1 - accepted) * (1 - kept), accepted * (1 - found), (1 - accepted) * kept)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return min(value, float(low)), max(value, float(high))


def bound_brier(papers: Sums) -> Bounds | None:
    """Return the interval of a mean of squared errors in [0, 1], of which most may be small and a few large.

    This is the Bayesian bootstrap of the papers plus half a paper of error 1, because few papers may include none of
    the rare errors that make up most of a Brier score. Source: Rubin (1981), The Bayesian bootstrap, The Annals of
    Statistics 9, 130-134.
    """
    import numpy as np

    if len(papers) < 2:
        return None
    answers = sum(of for _, of in papers) / len(papers)
    parts, wholes = np.array([*papers, (answers, answers)]).T
    shapes = np.ones(len(parts))
    shapes[-1] = PRIOR
    chance = np.random.default_rng(0)
    drawn: list[NDArray[float64]] = []
    block = max(1, BLOCK // len(parts))
    for first in range(0, DRAWS, block):
        weights = chance.standard_gamma(shapes, (min(block, DRAWS - first), len(parts)))
        drawn.append(weights @ parts / (weights @ wholes))
    low, high = np.quantile(np.concatenate(drawn), [0.025, 0.975])
    return float(low), float(high)


def bound_auroc(value: float, accepted: int, rejected: int) -> Bounds:
    """Return the score interval of an AUROC, even if it is 0 or 1.

    Source: Newcombe (2006), Confidence intervals for an effect size measure based on the Mann-Whitney statistic, part
    2, Statistics in Medicine 25, 559-573, method 5.

    Args:
        value: The AUROC.
        accepted: Number of accepted papers, at least 1.
        rejected: Number of rejected papers, at least 1.
    """
    others = (accepted + rejected) / 2 - 1

    def is_inside(area: float) -> bool:
        factor = 1 + others * ((1 - area) / (2 - area) + area / (1 + area))
        return (area - value) ** 2 <= Z * Z * area * (1 - area) * factor / (accepted * rejected)

    def find_end(outside: float) -> float:
        inside = value
        for _ in range(50):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if is_inside(middle) else (inside, middle)
        return inside

    return find_end(0.0), find_end(1.0)


def bound_correlation(value: float, papers: int) -> Bounds | None:
    """Return the interval of Spearman's correlation on Fisher's scale.

    Source: Bonett and Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations, Psychometrika 65, 23-28. A correlation of 1 or -1 is moved by 1/n, and the interval includes it.
    """
    if papers < 5:
        return None
    most = 1 - 1 / papers
    clipped = max(-most, min(most, value))
    half = Z * sqrt((1 + clipped**2 / 2) / (papers - 3))
    return min(value, tanh(atanh(clipped) - half)), max(value, tanh(atanh(clipped) + half))


def bound_bleu(papers: Sequence[BleuCounts]) -> Bounds | None:
    """Return the interval of a corpus's BLEU, in [0, 100], by the jackknife on the logarithm, with Student's t.

    Source: Miller (1974), The jackknife: a review, Biometrika 61, 1-15.
    """
    from scipy.special import stdtrit

    count = len(papers)
    whole = add_counts(papers)
    without = [subtract_counts(whole, each).bleu() for each in papers] if count > 1 else [0.0]
    if not whole.bleu() or not all(without):
        return None
    logs = [log(score) for score in without]
    mean = fmean(logs)
    error = sqrt((count - 1) / count * sum((each - mean) ** 2 for each in logs))
    half = float(stdtrit(count - 1, 0.975)) * error
    return (whole.bleu() * exp(-half), min(100.0, whole.bleu() * exp(half))) if half > ROUNDING else None


ROUNDING = 1e-9
"""Relative spreads below this are rounding errors of equal values."""
FEWEST_DRAWN = 10
"""Fewer papers than this have too few different draws, so Student's t is used."""


def bound_mean(papers: Sums, limits: Bounds = (-inf, inf)) -> Bounds | None:
    """Return the interval of a mean over answers by the bootstrap-t over papers.

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 12.5.

    Args:
        papers: The values.
        limits: The lowest and highest possible value.
    """
    import numpy as np
    from scipy.special import stdtrit

    if len(papers) < 2:
        return None
    table = np.array(papers, dtype=np.float64)
    (mean,), (error,) = _estimate_means(table[None])
    if error <= ROUNDING * abs(mean):
        return None
    if len(papers) < FEWEST_DRAWN:
        high = float(stdtrit(len(papers) - 1, 0.975))
        low = -high
    else:
        low, high = np.quantile(_draw_distances(table), [0.025, 0.975])
    return (
        max(limits[0], float(min(mean, mean - high * error))),
        min(limits[1], float(max(mean, mean - low * error))),
    )


def _draw_distances(table: "NDArray[float64]") -> "NDArray[float64]":
    """Return the distance of each resample's mean from the mean of all, in standard errors of the resample."""
    import numpy as np

    chance = np.random.default_rng(0)
    mean = table[:, 0].sum() / table[:, 1].sum()
    distances = [np.zeros(1)]
    block = max(1, BLOCK // len(table))
    for first in range(0, RESAMPLES, block):
        means, errors = _estimate_means(
            table[chance.integers(0, len(table), (min(block, RESAMPLES - first), len(table)))]
        )
        varies = errors > ROUNDING * abs(means)
        distances.append((means[varies] - mean) / errors[varies])
    return np.concatenate(distances)


def _estimate_means(samples: "NDArray[float64]") -> tuple["NDArray[float64]", "NDArray[float64]"]:
    """Return the mean over answers and its standard error over papers for each sample of papers."""
    parts, wholes = samples[..., 0], samples[..., 1]
    count = parts.shape[1]
    whole = wholes.sum(axis=1)
    means = parts.sum(axis=1) / whole
    squares = ((parts - means[:, None] * wholes) ** 2).sum(axis=1)
    return means, (count / (count - 1) * squares) ** 0.5 / whole
