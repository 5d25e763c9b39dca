"""Measure a judge's consistency, its ranking of degraded reviews, and the influence of position and length."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from pathlib import Path
from statistics import fmean

import msgspec
import polars as pl
from inspect_ai.log import EvalLog

from peercorpus.benchmark.judge.judge import ASPECTS, Place
from peercorpus.benchmark.judge.specimens import Degradation
from peercorpus.benchmark.logs import read_header
from peercorpus.benchmark.outcomes import Verdict
from peercorpus.errors import PeercorpusError, UndefinedMetricError
from peercorpus.metrics.intervals.papers import wilson_interval
from peercorpus.metrics.prediction import alpha, spearman

OVERALL = "overall"
"""The mean of the five aspects."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """Agreement between several answers to one question.

    Attributes:
        equal: Share of pairs with equal numbers.
        difference: Mean absolute difference of a pair, in points of the scale.
        alpha: Krippendorff's α (interval) of answers within questions; None if all numbers are equal.
    """

    equal: float
    difference: float
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Graders:
    """Agreement between two judges on the same texts.

    Attributes:
        spearman: Rank correlation; None if one judge gives every text the same number.
        alpha: Krippendorff's α (interval); None if all numbers are equal.
        difference: Mean of the second judge's number minus the first's, in points of the scale.
    """

    spearman: float | None
    alpha: float | None
    difference: float


@dataclass(frozen=True, slots=True)
class Places:
    """Influence of the position of a text on the judge.

    Attributes:
        pairs: Pairs asked in both orders.
        flips: Share of pairs whose winner changes when the texts are swapped.
        first: Share of answers that prefer the first position; 0.5 without position bias.
    """

    pairs: int
    flips: float
    first: float


def verdict_numbers(verdict: Verdict) -> dict[str, float]:
    """Return a verdict by aspect, with the overall mean."""
    return {**verdict.values, OVERALL: verdict.mean}


def _compute_alpha(answers: Sequence[Sequence[float]]) -> float | None:
    rows = [(unit, float(value)) for unit, values in enumerate(answers) for value in values]
    return alpha(pl.DataFrame(rows, schema={"unit": pl.Int64, "value": pl.Float64}, orient="row"))


def rank_correlation(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Return Spearman's correlation, or None if a side is constant or there are fewer than two samples."""
    try:
        return spearman(ours, theirs)
    except UndefinedMetricError:
        return None


def _group_by_aspect(verdicts: Sequence[Verdict]) -> dict[str, list[float]]:
    numbers = [verdict_numbers(verdict) for verdict in verdicts]
    return {aspect: [values[aspect] for values in numbers] for aspect in (*ASPECTS, OVERALL)}


def repeat_agreement(answers: Sequence[Sequence[Verdict]]) -> dict[str, Repeats]:
    """Compute how consistent a judge is, by aspect and overall.

    Args:
        answers: All answers to each question; questions with fewer than two are ignored.

    Raises:
        UndefinedMetricError: No question was answered twice.
    """
    twice = [_group_by_aspect(verdicts) for verdicts in answers if len(verdicts) > 1]
    if not twice:
        raise UndefinedMetricError("Repeat agreement needs a question answered twice; ask with repeats=2 or more.")
    agreements = {}
    for aspect in (*ASPECTS, OVERALL):
        numbers = [ratings[aspect] for ratings in twice]
        distances = [abs(first - second) for repeats in numbers for first, second in combinations(repeats, 2)]
        agreements[aspect] = Repeats(
            equal=fmean(distance == 0 for distance in distances),
            difference=fmean(distances),
            alpha=_compute_alpha(numbers),
        )
    return agreements


def grader_agreement(pairs: Sequence[tuple[Verdict, Verdict]]) -> dict[str, Graders]:
    """Compute the agreement of two judges on the same texts, by aspect and overall.

    Raises:
        UndefinedMetricError: There is no text that both judged.
    """
    if not pairs:
        raise UndefinedMetricError("Agreement of two graders needs a text that both judged.")
    first, second = (_group_by_aspect(each) for each in zip(*pairs, strict=True))
    agreements = {}
    for aspect, ours in first.items():
        theirs = second[aspect]
        both = list(zip(ours, theirs, strict=True))
        difference = fmean(second_number - first_number for first_number, second_number in both)
        agreements[aspect] = Graders(
            spearman=rank_correlation(ours, theirs), alpha=_compute_alpha(both), difference=difference
        )
    return agreements


def places(answers: Sequence[tuple[Place, Place]]) -> Places:
    """Compute the position bias from the answers to each pair, in one order and in the other.

    Raises:
        UndefinedMetricError: There is no pair.
    """
    if not answers:
        raise UndefinedMetricError("The sensitivity to position needs a pair that was asked in both orders.")
    flips = fmean(first == second for first, second in answers)
    return Places(len(answers), flips, fmean(preferred == "A" for both in answers for preferred in both))


@dataclass(frozen=True, slots=True)
class Ranking:
    """How often a judge ranks the gold above a degraded version.

    Attributes:
        share: Share of papers, with ties counted half, in [0, 1]; 0.5 by chance.
        low: Lower bound of the 95 % interval of the share over papers (Wilson).
        high: Upper bound of this interval.
        papers: Number of papers compared.
        ties: Papers in which neither is ranked above the other.
        unread: Papers with an unreadable answer; they are not among `papers`.
        share_unread_wrong: The share if unreadable answers counted as wrong.
    """

    share: float
    low: float
    high: float
    papers: int
    ties: int
    unread: int
    share_unread_wrong: float


TELLS = "ranks below the gold:"
REVERSES = "ranks above the gold:"
FAILS = "is not shown to rank below the gold:"
UNTRIED = "was not tried on:"


def points(gold: float, worse: float) -> float:
    """Return 1 if the gold is rated higher, 0 if lower, 0.5 if equal."""
    return (gold > worse) + (gold == worse) / 2


def rank(of_papers: Sequence[float | None]) -> Ranking:
    """Compute how often the gold is ranked higher.

    Args:
        of_papers: The points of each paper; None if an answer was unreadable.

    Raises:
        UndefinedMetricError: No paper has all its answers.
    """
    readable = [paper_points for paper_points in of_papers if paper_points is not None]
    bounds = wilson_interval(sum(readable), len(readable))
    if bounds is None:
        raise UndefinedMetricError(
            "Calibration needs at least one paper for which all answers of the judge could be read."
        )
    low, high = bounds
    return Ranking(
        share=sum(readable) / len(readable),
        low=low,
        high=high,
        papers=len(readable),
        ties=sum(paper_points == 0.5 for paper_points in readable),
        unread=len(of_papers) - len(readable),
        share_unread_wrong=sum(readable) / len(of_papers),
    )


def finding(ranking: Ranking) -> str:
    """Return what the interval shows: it is above 0.5, below it, or includes it."""
    if ranking.low > 0.5:
        return TELLS
    return REVERSES if ranking.high < 0.5 else FAILS


def judge_verdict(rankings: Mapping[Degradation, Ranking]) -> str:
    """Return the final sentence: the requirement for a judge, and whether this one meets it."""
    findings = []
    for name in Degradation:
        outcome = finding(rankings[name]) if name in rankings else UNTRIED
        findings.append((outcome, name.value.replace("_", " ")))
    kinds = dict.fromkeys(outcome for outcome, _ in findings)
    parts = [f"{kind} {', '.join(name for outcome, name in findings if outcome == kind)}" for kind in kinds]
    passed = all(outcome == TELLS for outcome, _ in findings)
    does = "does" if passed else "does not"
    return f"A judge must rank all of them below the gold. This one {does}: it {'; it '.join(parts)}."


HEAD = (
    "| gold against | gold above | 95 % interval | papers | ties | unread | if unread are wrong |",
    "|---|--:|---|--:|--:|--:|--:|",
)


def extract_rankings(numbers: Mapping[str, float]) -> dict[Degradation, Ranking]:
    """Return the rankings in the numbers of a log; those over no paper are missing."""
    rankings = {}
    for name in Degradation:
        if f"{name}_share" in numbers:
            of_name = {column.name: numbers[f"{name}_{column.name}"] for column in fields(Ranking)}
            rankings[name] = msgspec.convert(of_name, Ranking, strict=False)
    return rankings


def _format_row(name: Degradation, ranking: Ranking) -> str:
    cells = (
        f"{ranking.share:.3f}",
        f"{ranking.low:.3f} to {ranking.high:.3f}",
        ranking.papers,
        ranking.ties,
        ranking.unread,
    )
    return f"| {' | '.join(map(str, (name.value.replace('_', ' '), *cells, f'{ranking.share_unread_wrong:.3f}')))} |"


def _describe_biases(numbers: Mapping[str, float]) -> list[str]:
    sentences = []
    if "padding_gain" in numbers:
        sentences.append(f"Padding changes the mean of the aspects by {numbers['padding_gain']:+.2f} points.")
    if "gold_length_spearman" in numbers:
        sentences.append(
            f"Over gold reviews, the mean goes with their length by {numbers['gold_length_spearman']:+.2f}."
        )
    if "flips" in numbers:
        sentences.append(
            f"Of {numbers['pairs']:.0f} pairs, {numbers['flips']:.1%} change their winner when the texts are"
            f" swapped; {numbers['first_place']:.1%} of the answers prefer the first position (50 % without"
            " position bias)."
        )
    return [" ".join(sentences)] if sentences else []


def describe_calibration(log: EvalLog) -> str:
    """Describe the results of a calibration log as Markdown.

    Raises:
        PeercorpusError: The log is not of a completed calibration.
    """
    scores = log.results.scores if log.results and log.status == "success" else []
    if not scores or scores[0].name not in {"calibrated", "preferences"}:
        raise PeercorpusError(
            f"'{log.location}' is not the log of a completed calibration; run judge_calibration or judge_pairs."
        )
    numbers = {name: metric.value for name, metric in scores[0].metrics.items()}
    signatures = dict.fromkeys(metric.params["signature"] for metric in scores[0].metrics.values())
    rankings = extract_rankings(numbers)
    table = [*HEAD, *(_format_row(name, ranking) for name, ranking in rankings.items())]
    left_out = (log.eval.metadata or {}).get("left_out") or {}
    counted = "; ".join(f"{what}: {many}" for what, many in left_out.items())
    parts = [f"## {log.eval.model} as a judge", "\n".join(table), *_describe_biases(numbers), judge_verdict(rankings)]
    parts += [f"Left out: {counted}."] if counted else []
    return "\n\n".join([*parts, f"`{' '.join(signatures)}`"])


def describe_log(path: Path) -> str:
    """Describe the results of a calibration log file as Markdown.

    Raises:
        PeercorpusError: The log is not of a completed calibration.
    """
    return describe_calibration(read_header(path))
