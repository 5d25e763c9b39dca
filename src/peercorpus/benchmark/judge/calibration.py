"""Calibrate a judge: inspect_ai tasks about human reviews and degraded versions, and their scorers."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect, span

from peercorpus.benchmark.answers import UnreadableAnswerError
from peercorpus.benchmark.cases import BenchTask, CaseCounts, CaseSelection, read_cases
from peercorpus.benchmark.judge.agreement import places, points, rank, rank_correlation
from peercorpus.benchmark.judge.judge import JudgePrompt, Read, ask, read_preference, read_verdict
from peercorpus.benchmark.judge.scorer import signature
from peercorpus.benchmark.judge.specimens import (
    GOLD,
    Degradation,
    Specimen,
    pair_names,
    pair_questions,
    sample_papers,
    verdict_questions,
)
from peercorpus.errors import PeercorpusError, UndefinedMetricError
from peercorpus.models import prompts
from peercorpus.release.folder import open_release
from peercorpus.release.hub import find_release
from peercorpus.release.splits import Split

RANKED = signature("gold-above|mean-of-aspects|ties:half|interval:wilson-papers")
PREFERRED = signature("gold-preferred|both-orders|flips:half|interval:wilson-papers")
ASKED = "asked"
"""Key of a sample's metadata with all answers of the judge."""
WORDS = "words"
"""Key of a score's metadata with the number of words of the gold."""


def _read_again(state: TaskState, read: Callable[[str], Read]) -> dict[str, Read | None]:
    parsed: dict[str, Read | None] = {}
    for name, answer in state.metadata[ASKED].items():
        try:
            parsed[name] = None if answer["reason"] else read(answer["answer"])
        except UnreadableAnswerError:
            parsed[name] = None
    return parsed


def _describe_sample(state: TaskState) -> dict[str, Any]:
    about = {"prompt_version": prompts.VERSION, "prompt_digest": prompts.DIGEST, "judge": state.output.model}
    wrong = {name: answer["wrong"] for name, answer in state.metadata[ASKED].items() if answer["wrong"]}
    return about | {"wrong": wrong, WORDS: len(state.metadata["gold"].split())}


def _read_number(value: Value, name: str) -> float | None:
    assert isinstance(value, dict)
    number = value[name]
    assert isinstance(number, int | float)
    return None if isnan(number) else float(number)


def _collect_pairs(
    scores: Sequence[SampleScore], first_name: str, second_name: str
) -> list[tuple[float, float] | None]:
    """Return both numbers of each sample that has them; None if one was unreadable."""
    values = [score.score.value for score in scores]
    having = [value for value in values if isinstance(value, dict) and {first_name, second_name} <= set(value)]
    both = [(_read_number(value, first_name), _read_number(value, second_name)) for value in having]
    return [(first, second) if first is not None and second is not None else None for first, second in both]


def _name_ranking(name: Degradation, of_papers: Sequence[float | None]) -> dict[str, float]:
    try:
        ranking = rank(of_papers)
    except UndefinedMetricError:
        return {f"{name}_papers": 0, f"{name}_unread": len(of_papers)}
    return {f"{name}_{key}": value for key, value in asdict(ranking).items()}


@metric
def ranked(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """Compute how often the gold ranks above each degraded version, the effect of padding, and length correlation."""

    def reckon(scores: list[SampleScore]) -> Value:
        numbers: dict[str, float] = {}
        for name in Degradation:
            both = _collect_pairs(scores, GOLD, name)
            numbers |= _name_ranking(name, [None if pair is None else points(*pair) for pair in both])
        pairs = [pair for pair in _collect_pairs(scores, GOLD, Degradation.PADDED) if pair is not None]
        if pairs:
            numbers["padding_gain"] = fmean(padded - plain for plain, padded in pairs)
        golds = [(_read_number(score.score.value, GOLD), (score.score.metadata or {})[WORDS]) for score in scores]
        rated_golds = [(mean, words) for mean, words in golds if mean is not None]
        goes = rank_correlation([mean for mean, _ in rated_golds], [words for _, words in rated_golds])
        return {**numbers, **({} if goes is None else {"gold_length_spearman": goes}), "papers": len(scores)}

    return reckon


@metric
def preferred(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """Compute how often the gold is preferred over both orders (1 gold, 0 degraded), and the position bias."""

    def reckon(scores: list[SampleScore]) -> Value:
        numbers: dict[str, float] = {}
        read_pairs: list[tuple[float, float]] = []
        for name in Degradation:
            pairs = _collect_pairs(scores, *pair_names(name))
            numbers |= _name_ranking(name, [None if pair is None else sum(pair) / 2 for pair in pairs])
            read_pairs += [pair for pair in pairs if pair is not None]
        if read_pairs:
            swayed = places([("A" if first else "B", "B" if second else "A") for first, second in read_pairs])
            numbers |= {"pairs": swayed.pairs, "flips": swayed.flips, "first_place": swayed.first}
        return {**numbers, "papers": len(scores)}

    return reckon


@scorer(metrics=[ranked(RANKED)])
def calibrated() -> Scorer:
    """Score each version by the mean of the five aspects; NaN if the judge's answer was unreadable."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- the protocol's own
        verdicts = _read_again(state, read_verdict)
        verdict_values = {name: None if verdict is None else verdict.values for name, verdict in verdicts.items()}
        value = {name: nan if verdict is None else verdict.mean for name, verdict in verdicts.items()}
        return _make_score(value, _describe_sample(state) | {"verdicts": verdict_values})

    return score


@scorer(metrics=[preferred(PREFERRED)])
def preferences() -> Scorer:
    """Score each question 1 if the gold is preferred, 0 if the degraded version is, NaN if unreadable."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- the protocol's own
        better = _read_again(state, read_preference)
        gold = {name: "A" if name.endswith("first") else "B" for name in better}
        value = {
            name: nan if preference is None else float(preference == gold[name]) for name, preference in better.items()
        }
        return _make_score(value, _describe_sample(state) | {"better": better})

    return score


def _make_score(value: dict[str, float], about: dict[str, Any]) -> Score:
    """Return a score that keeps unreadable answers as NaN among its values, so that no paper drops out."""
    unread = [name for name, number in value.items() if isnan(number)]
    if not unread:
        return Score(value={**value}, metadata=about)
    why = f"The judge could not be read on: {', '.join(unread)}."
    return Score(value={**value}, reason="invalid_response_format", explanation=why, metadata=about)


async def _ask(name: str, question: JudgePrompt, read: Callable[[str], Read], attempts: int) -> dict[str, Any]:
    async with span(name):
        asked = await ask(get_model(), question, read, attempts)
    reason = None if asked.reason is None else asked.reason.value
    return {"answer": asked.completion, "attempts": asked.attempts, "wrong": list(asked.wrong), "reason": reason}


@solver
def ask_judge(in_pairs: bool = False, attempts: int = 3) -> Solver:
    """Ask the model about each version of a review alone, or about the gold and each degraded version in both orders.

    The output is one JSON object with all answers, so that they can be parsed again.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 -- the protocol's own
        specimen = msgspec.convert({name: state.metadata[name] for name in Specimen.__slots__}, Specimen)
        if in_pairs:
            questions = pair_questions(specimen)
            asking = [_ask(name, question, read_preference, attempts) for name, question in questions.items()]
        else:
            questions = verdict_questions(specimen)
            asking = [_ask(name, question, read_verdict, attempts) for name, question in questions.items()]
        answered = dict(zip(questions, await collect(*asking), strict=True))
        state.metadata[ASKED] = answered
        completion = json.dumps(
            {name: answer["answer"] for name, answer in answered.items()}, ensure_ascii=False, indent=1
        )
        state.output = ModelOutput.from_content(str(get_model()), completion)
        return state

    return solve


def _make_task(
    release: str, split: str, venue: str, limit: int | None, seed: int, solver: Solver, scorer: Scorer
) -> Task:
    if split not in set(Split):
        raise PeercorpusError(f"Unknown split '{split}'; choose one of {', '.join(Split)}.")
    if limit is not None and limit < 1:
        raise PeercorpusError(f"'limit' (maximum number of papers) must be 1 or more, got {limit}.")
    venues = frozenset(filter(None, (name.strip() for name in venue.split(","))))
    counts = CaseCounts()
    left_out = Counter[str]()
    cases = read_cases(
        open_release(find_release(release), is_whole=False),
        BenchTask.REVIEW,
        CaseSelection(Split(split), venues),
        counts,
    )
    specimens = sample_papers(cases, limit, seed, left_out)
    if not specimens:
        raise PeercorpusError(
            f"'{release}' has no paper with two reviews in its split '{split}'; choose another split, venue or release."
        )
    about = {"papers": len(specimens), "left_out": dict(sorted((+(counts.left_out + left_out)).items()))}
    samples = []
    for specimen in specimens:
        title = specimen.title or specimen.forum_id
        description = f"{title}: one review that people wrote, and {', '.join(specimen.worse)}."
        samples.append(Sample(input=description, id=specimen.forum_id, metadata=msgspec.to_builtins(specimen)))
    dataset = MemoryDataset(samples, name=Path(release).name)
    return Task(dataset=dataset, solver=solver, scorer=scorer, metadata=about, version=1)


@task
def judge_calibration(
    release: str, split: str = "test", venue: str = "", limit: int | None = 100, seed: int = 0, attempts: int = 3
) -> Task:
    """Test whether a model, as a judge, ranks degraded reviews below human ones.

    Args:
        release: Folder of a release with splits.
        split: `test`, `validation` or `train`.
        venue: Venue ids or conference names, separated by commas; all by default.
        limit: Maximum number of papers, drawn at random; None for all.
        seed: Seed of everything random.
        attempts: Maximum number of times a question is asked until the answer can be parsed.

    Raises:
        PeercorpusError: There is nothing to calibrate on.
    """
    return _make_task(release, split, venue, limit, seed, ask_judge(False, attempts), calibrated())


@task
def judge_pairs(
    release: str, split: str = "test", venue: str = "", limit: int | None = 100, seed: int = 0, attempts: int = 3
) -> Task:
    """Test whether a model, as a judge of pairs, prefers human reviews to degraded ones in either position.

    Arguments and errors are those of `judge_calibration`.
    """
    return _make_task(release, split, venue, limit, seed, ask_judge(True, attempts), preferences())
