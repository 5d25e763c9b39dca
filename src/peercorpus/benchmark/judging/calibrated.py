"""What a judge's calibration comes to: scorers that read its answers again, and the shares of papers, as metrics."""

from collections.abc import Callable, Sequence
from math import isnan, nan
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from peercorpus import prompts
from peercorpus.benchmark.answers import UnreadableAnswerError
from peercorpus.benchmark.judging.agreement import padding, places, rank_correlation
from peercorpus.benchmark.judging.asking import Read
from peercorpus.benchmark.judging.degrading import Degradation
from peercorpus.benchmark.judging.judge import read_better, read_verdict
from peercorpus.benchmark.judging.judged import signature
from peercorpus.benchmark.judging.ranking import points, rank
from peercorpus.benchmark.judging.specimens import GOLD, pair_names
from peercorpus.errors import UndefinedMetricError

RANKED = signature("gold-above|mean-of-aspects|ties:half|interval:wilson-papers")
PREFERRED = signature("gold-preferred|both-orders|flips:half|interval:wilson-papers")
ASKED = "asked"
"""The name in a sample's metadata under which all that the judge answered stands."""
WORDS = "words"
"""The name in a score's metadata under which the number of words of the gold stands."""


def _read_again(state: TaskState, read: Callable[[str], Read]) -> dict[str, Read | None]:
    found: dict[str, Read | None] = {}
    for name, one in state.metadata[ASKED].items():
        try:
            found[name] = None if one["reason"] else read(one["answer"])
        except UnreadableAnswerError:
            found[name] = None
    return found


def _about(state: TaskState) -> dict[str, Any]:
    told = {"prompt_version": prompts.VERSION, "prompt_digest": prompts.DIGEST, "judge": state.output.model}
    wrong = {name: one["wrong"] for name, one in state.metadata[ASKED].items() if one["wrong"]}
    return told | {"wrong": wrong, WORDS: len(state.metadata["gold"].split())}


def _known(value: Value, name: str) -> float | None:
    assert isinstance(value, dict)
    number = value[name]
    assert isinstance(number, int | float)
    return None if isnan(number) else float(number)


def _pairs(scores: Sequence[SampleScore], one: str, other: str) -> list[tuple[float, float] | None]:
    """Both numbers of each sample that has them; None where one could not be read."""
    values = [score.score.value for score in scores]
    having = [value for value in values if isinstance(value, dict) and {one, other} <= set(value)]
    both = [(_known(value, one), _known(value, other)) for value in having]
    return [(first, second) if first is not None and second is not None else None for first, second in both]


def _named(name: Degradation, of_papers: Sequence[float | None]) -> dict[str, float]:
    try:
        ranking = rank(of_papers)
    except UndefinedMetricError:
        return {f"{name}_papers": 0, f"{name}_unread": len(of_papers)}
    return {f"{name}_{key}": value for key, value in ranking.by_name().items()}


@metric
def ranked(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """How often the gold stands above each worse version, what padding brings, and how golds go with their length."""

    def reckon(scores: list[SampleScore]) -> Value:
        found: dict[str, float] = {}
        for name in Degradation:
            both = _pairs(scores, GOLD, name)
            found |= _named(name, [None if one is None else points(*one) for one in both])
        read = [one for one in _pairs(scores, GOLD, Degradation.PADDED) if one is not None]
        if read:
            found["padding_gain"] = padding(read).gain
        golds = [(_known(score.score.value, GOLD), (score.score.metadata or {})[WORDS]) for score in scores]
        known = [(mean, words) for mean, words in golds if mean is not None]
        goes = rank_correlation([mean for mean, _ in known], [words for _, words in known])
        return {**found, **({} if goes is None else {"gold_length_spearman": goes}), "papers": len(scores)}

    return reckon


@metric
def preferred(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """How often the gold is preferred, over both orders, and how far place decides; 1 is the gold, 0 the worse one."""

    def reckon(scores: list[SampleScore]) -> Value:
        found: dict[str, float] = {}
        read: list[tuple[float, float]] = []
        for name in Degradation:
            both = _pairs(scores, *pair_names(name))
            found |= _named(name, [None if one is None else sum(one) / 2 for one in both])
            read += [one for one in both if one is not None]
        if read:
            swayed = places([("A" if first else "B", "B" if second else "A") for first, second in read])
            found |= {"pairs": swayed.pairs, "flips": swayed.flips, "first_place": swayed.first}
        return {**found, "papers": len(scores)}

    return reckon


@scorer(metrics=[ranked(RANKED)])
def calibrated() -> Scorer:
    """The mean of the five aspects of each version; not a number where the judge could not be read."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- the protocol's own
        verdicts = _read_again(state, read_verdict)
        told = {name: None if one is None else one.values for name, one in verdicts.items()}
        value = {name: nan if one is None else one.mean for name, one in verdicts.items()}
        return _scored(value, _about(state) | {"verdicts": told})

    return score


@scorer(metrics=[preferred(PREFERRED)])
def preferences() -> Scorer:
    """Of each question, 1 where the gold is preferred and 0 where the worse version is."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- the protocol's own
        better = _read_again(state, read_better)
        gold = {name: "A" if name.endswith("first") else "B" for name in better}
        value = {name: nan if one is None else float(one == gold[name]) for name, one in better.items()}
        return _scored(value, _about(state) | {"better": better})

    return score


def _scored(value: dict[str, float], about: dict[str, Any]) -> Score:
    """A score that keeps what could not be read among its values, so that no paper leaves the count."""
    unread = [name for name, number in value.items() if isnan(number)]
    if not unread:
        return Score(value={**value}, metadata=about)
    why = f"The judge could not be read on: {', '.join(unread)}."
    return Score(value={**value}, reason="invalid_response_format", explanation=why, metadata=about)
