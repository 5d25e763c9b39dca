"""What the judge's scores come to, as metrics of `inspect_ai`: the mean of each aspect, and how far to believe them.

A score without a number is not among them: `inspect_ai` counts it as unscored. What cannot be reckoned is not shown: an
interval of one paper, or the agreement of a judge that was asked once.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from statistics import fmean

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from peercorpus import prompts
from peercorpus.benchmark.judging.agreement import (
    OVERALL,
    grader_agreement,
    numbers,
    rank_correlation,
    repeat_agreement,
)
from peercorpus.benchmark.judging.judge import ASPECTS, Verdict
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics import bootstrap
from peercorpus.metrics.packages import pinned
from peercorpus.metrics.resampling import RESAMPLES


def signature(settings: str) -> str:
    """All that is needed to get the same number again: what was computed, what the judge was told, and our version."""
    return f"judge|{settings}|prompt:{prompts.VERSION}-{prompts.DIGEST}|{pinned('peercorpus')}"


ASPECTS_OF_RUNS = signature("mean|1-10")
"""Of the means in the tables of runs, whose intervals are the tables' own."""
MEANS = signature(f"mean|1-10|interval:bootstrap-papers-{RESAMPLES}")
LENGTH = signature("spearman|overall-words|ties:mean")
REPEATED = signature("repeats|equal|mean-absolute|alpha:interval")
GRADERS = signature("second-grader|spearman|alpha:interval|second-less-first")


def verdict_of(score: SampleScore) -> Verdict:
    """The verdict in a score."""
    value = score.score.value
    assert isinstance(value, dict)
    return Verdict(**{aspect: value[aspect] for aspect in ASPECTS})


def paper_of(score: SampleScore) -> str:
    """The paper of a sample: its id begins with the forum's."""
    return str(score.sample_id).partition("/")[0]


def _interval(of_paper: dict[str, list[float]]) -> tuple[float, float] | None:
    try:
        found = bootstrap(of_paper, lambda chosen: fmean(chain.from_iterable(chosen)))
    except UndefinedMetricError:
        return None
    return found.low, found.high


def _means(scores: Sequence[SampleScore]) -> dict[str, float]:
    given: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for score in scores:
        for aspect, value in numbers(verdict_of(score)).items():
            given[aspect][paper_of(score)].append(value)
    found: dict[str, float] = {}
    for aspect in (*ASPECTS, OVERALL):
        found[aspect] = fmean(chain.from_iterable(given[aspect].values()))
        interval = _interval(given[aspect])
        if interval is not None:
            found[f"{aspect}_low"], found[f"{aspect}_high"] = interval
    return found


@metric
def aspects(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """The mean of each aspect and of all five, from 1 to 10, with its 95 % interval over papers."""

    def reckon(scores: list[SampleScore]) -> Value:
        return {**_means(scores), "n": len(scores), "papers": len({paper_of(score) for score in scores})}

    return reckon


@metric
def length(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """How the overall number goes with the words of the answer: 1 where the longer is always the better."""

    def reckon(scores: list[SampleScore]) -> Value:
        means = [verdict_of(score).mean for score in scores]
        found = rank_correlation(means, [(score.score.metadata or {})["words"] for score in scores])
        return {} if found is None else {"length_spearman": found}

    return reckon


def _read(told: dict[str, int] | None) -> list[Verdict]:
    return [] if told is None else [Verdict(**told)]


@metric
def repeated(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """How far the judge gives the same answer again: pairs of answers to one question, overall and by aspect."""

    def reckon(scores: list[SampleScore]) -> Value:
        told = [(score.score.metadata or {}).get("repeats") or [] for score in scores]
        answers = [[verdict for one in each for verdict in _read(one)] for each in told]
        if not any(len(given) > 1 for given in answers):
            return {}
        found: dict[str, float | None] = {}
        for aspect, one in repeat_agreement(answers).items():
            found |= {f"repeat_equal_{aspect}": one.equal, f"repeat_difference_{aspect}": one.difference}
            found[f"repeat_alpha_{aspect}"] = one.alpha
        asked = sum(map(len, told))
        return {**found, "repeat_answers": asked, "repeat_unread": asked - sum(map(len, answers))}

    return reckon


@metric
def graders(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """How far the model in the role `grader2` agrees, overall and by aspect."""

    def reckon(scores: list[SampleScore]) -> Value:
        told = [(score, score.score.metadata) for score in scores if "second" in (score.score.metadata or {})]
        pairs = [(verdict_of(score), one) for score, about in told if about for one in _read(about["second"])]
        if not told:
            return {}
        found: dict[str, float | None] = {"second_texts": len(pairs), "second_unread": len(told) - len(pairs)}
        for aspect, one in grader_agreement(pairs).items() if pairs else ():
            found |= {f"second_spearman_{aspect}": one.spearman, f"second_alpha_{aspect}": one.alpha}
            found[f"second_difference_{aspect}"] = one.difference
        return found

    return reckon
