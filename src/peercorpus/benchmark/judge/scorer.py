"""Score answers with a judge in inspect_ai, and summarise its verdicts."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from statistics import fmean
from typing import Any

from inspect_ai.model import ChatMessageUser, Model, get_model, model_roles
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.judge.agreement import (
    OVERALL,
    grader_agreement,
    rank_correlation,
    repeat_agreement,
    verdict_numbers,
)
from peercorpus.benchmark.judge.instruction import JudgeInstruction, JudgeProfile
from peercorpus.benchmark.judge.judge import (
    ASPECTS,
    JudgeAnswer,
    JudgeContext,
    JudgePrompt,
    ask,
)
from peercorpus.benchmark.outcomes import GRADER_FAILED, Scored, Verdict, to_metadata
from peercorpus.errors import PeercorpusError
from peercorpus.metrics.intervals.papers import RESAMPLES, bound_mean
from peercorpus.models import prompts
from peercorpus.models.local_models import package_signature

OUR_INSTRUCTION = JudgeInstruction()


def signature(settings: str, instruction: JudgeInstruction = OUR_INSTRUCTION) -> str:
    """Return a signature with everything needed to reproduce a number: settings, instruction and our version."""
    return f"judge|{settings}|{instruction.signature}|{package_signature('peercorpus')}"


def sign_means(instruction: JudgeInstruction) -> str:
    """Return the signature of the means in leaderboards, whose intervals the leaderboard computes."""
    return signature("mean|1-10", instruction)


def extract_verdict(score: SampleScore) -> Verdict:
    """Return the verdict in a score."""
    value = score.score.value
    assert isinstance(value, dict)
    return Verdict(**{aspect: value[aspect] for aspect in ASPECTS})


def extract_forum_id(score: SampleScore) -> str:
    """Return the paper of a sample, whose id begins with the forum id."""
    return str(score.sample_id).partition("/")[0]


def _compute_means(scores: Sequence[SampleScore]) -> dict[str, float]:
    ratings: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for score in scores:
        for aspect, value in verdict_numbers(extract_verdict(score)).items():
            ratings[aspect][extract_forum_id(score)].append(value)
    means: dict[str, float] = {}
    for aspect in (*ASPECTS, OVERALL):
        means[aspect] = fmean(chain.from_iterable(ratings[aspect].values()))
        by_id = [ratings[aspect][forum_id] for forum_id in sorted(ratings[aspect])]
        interval = bound_mean([(sum(values), len(values)) for values in by_id], (1, 10))
        if interval is not None:
            means[f"{aspect}_low"], means[f"{aspect}_high"] = interval
    return means


@metric
def aspects(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """Compute the mean of each aspect and of all five, from 1 to 10, with a 95 % interval over papers."""

    def reckon(scores: list[SampleScore]) -> Value:
        return {
            **_compute_means(scores),
            "n": len(scores),
            "papers": len({extract_forum_id(score) for score in scores}),
        }

    return reckon


@metric
def length(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """Compute the rank correlation of the overall rating with the answer's length: 1 if longer always rates better."""

    def reckon(scores: list[SampleScore]) -> Value:
        means = [extract_verdict(score).mean for score in scores]
        correlation = rank_correlation(means, [(score.score.metadata or {})["words"] for score in scores])
        return {} if correlation is None else {"length_spearman": correlation}

    return reckon


def _read_verdicts(values: dict[str, int] | None) -> list[Verdict]:
    return [] if values is None else [Verdict(**values)]


@metric
def repeated(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """Compute how consistent the judge is: pairs of answers to the same question, overall and by aspect."""

    def reckon(scores: list[SampleScore]) -> Value:
        repeats = [(score.score.metadata or {}).get("repeats") or [] for score in scores]
        answers = [
            [verdict for values in asked_values for verdict in _read_verdicts(values)] for asked_values in repeats
        ]
        if not any(len(verdicts) > 1 for verdicts in answers):
            return {}
        numbers: dict[str, float | None] = {}
        for aspect, agreement in repeat_agreement(answers).items():
            numbers |= {f"repeat_equal_{aspect}": agreement.equal, f"repeat_difference_{aspect}": agreement.difference}
            numbers[f"repeat_alpha_{aspect}"] = agreement.alpha
        asked = sum(map(len, repeats))
        return {**numbers, "repeat_answers": asked, "repeat_unread": asked - sum(map(len, answers))}

    return reckon


@metric
def graders(signature: str) -> Metric:  # noqa: ARG001 -- shown beside the numbers
    """Compute the agreement of the model in the role `grader2` with the judge, overall and by aspect."""

    def reckon(scores: list[SampleScore]) -> Value:
        judged_twice = [(score, score.score.metadata) for score in scores if "second" in (score.score.metadata or {})]
        pairs = [
            (extract_verdict(score), verdict)
            for score, about in judged_twice
            if about
            for verdict in _read_verdicts(about["second"])
        ]
        if not judged_twice:
            return {}
        numbers: dict[str, float | None] = {"second_texts": len(pairs), "second_unread": len(judged_twice) - len(pairs)}
        for aspect, agreement in grader_agreement(pairs).items() if pairs else ():
            numbers |= {f"second_spearman_{aspect}": agreement.spearman, f"second_alpha_{aspect}": agreement.alpha}
            numbers[f"second_difference_{aspect}"] = agreement.difference
        return numbers

    return reckon


GRADER = "grader"
"""Role of the model that judges: `--model-role grader=…`."""
SECOND = "grader2"
"""Role of a second judge, whose agreement with the first is measured."""
NO_REFERENCES = "no_references"


def find_context(state: TaskState) -> JudgeContext | None:
    """Return the context for judging an answer, or None if there is no human reference."""
    metadata = state.metadata
    references = [text for text in metadata.get("references", ()) if text.strip()]
    if not references:
        return None
    return JudgeContext(
        references=references,
        title=metadata.get("title"),
        abstract=metadata.get("abstract"),
        answered=_find_answered_message(state),
    )


def _find_answered_message(state: TaskState) -> str | None:
    """Return the message that a turn replies to; None in other tasks."""
    if state.metadata.get("task") != BenchTask.REBUTTAL:
        return None
    last = state.input[-1] if isinstance(state.input, list) else None
    return last.text if isinstance(last, ChatMessageUser) else None


def extract_candidate(state: TaskState) -> str:
    """Return the text to judge: as parsed by the task, or otherwise as written by the model."""
    read = state.metadata.get("read") or {}
    return str(read.get("text") or state.output.completion).strip()


def role(name: str) -> Model | None:
    """Return the model in a role, or None if the role is not filled."""
    return get_model(role=name, required=True) if name in model_roles() else None


def _get_grader() -> Model:
    grader = role(GRADER)
    if grader is None:
        raise PeercorpusError(
            "The judge needs a model, as no model judges its own answers; name one: --model-role grader=PROVIDER/MODEL."
        )
    return grader


def _get_verdict_values(asked: JudgeAnswer[Verdict] | None) -> dict[str, int] | None:
    return None if asked is None or asked.read is None else asked.read.values


async def _ask_all(
    question: JudgePrompt,
    read: Callable[[str], Verdict],
    grader: Model,
    second: Model | None,
    attempts: int,
    repeats: int,
) -> list[JudgeAnswer[Verdict]]:
    asking = [ask(grader, question, read, attempts, number) for number in range(repeats)]
    if second is not None:
        asking.append(ask(second, question, read, attempts))
    return await collect(*asking)


def _make_score(
    asked: Sequence[JudgeAnswer[Verdict]], other: JudgeAnswer[Verdict] | None, about: dict[str, Any]
) -> Score:
    first = asked[0]
    about |= {"attempts": first.attempts, "wrong": list(first.wrong)}
    if len(asked) > 1:
        about["repeats"] = [_get_verdict_values(answer) for answer in asked]
    if other is not None:
        about |= {
            "second": _get_verdict_values(other),
            "second_attempts": other.attempts,
            "second_wrong": list(other.wrong),
        }
    if first.read is None:
        why = f"{first.reason}: {first.wrong[-1]}"
        return Score.unscored(reason=GRADER_FAILED, answer=first.completion, explanation=why, metadata=about)
    about |= to_metadata(first.read)
    return Score(value=dict(first.read.values), answer=first.completion, metadata=about)


def _make_metrics(instruction: JudgeInstruction) -> list[Metric]:
    signed = partial(signature, instruction=instruction)
    return [
        aspects(signed(f"mean|1-10|interval:bootstrap-t-papers-{RESAMPLES}")),
        length(signed("spearman|overall-words|ties:mean")),
        repeated(signed("repeats|equal|mean-absolute|alpha:interval")),
        graders(signed("second-grader|spearman|alpha:interval|second-less-first")),
    ]


@scorer(metrics=_make_metrics(OUR_INSTRUCTION))
def judge(attempts: int = 3, repeats: int = 1) -> Scorer:
    """Rate five aspects of each answer from 1 to 10 with the model in the role `grader`, and with `grader2`, if any.

    A sample must have the human texts as `references` in its metadata, and may have the paper's `title` and `abstract`.
    If a verdict cannot be parsed, the judge is asked again; after the last attempt the sample is unscored.

    Args:
        attempts: Maximum number of times a question is asked until the answer can be parsed.
        repeats: Total number of times each question is asked, to measure consistency; the first answer counts.

    Raises:
        PeercorpusError: `attempts` or `repeats` is less than 1; in a run, no model has the role `grader`.
    """
    return _judge_by(OUR_INSTRUCTION, attempts, repeats)


def judge_by_profile(instruction: JudgeInstruction, repeats: int = 1) -> Scorer:
    """Return `judge` with a different instruction, which is in the signatures of its metrics."""

    @scorer(metrics=_make_metrics(instruction), name=Scored.JUDGE.value)
    def profiled(instruction_sha256: str, attempts: int = 3, repeats: int = 1) -> Scorer:  # noqa: ARG001 -- in the log
        return _judge_by(instruction, attempts, repeats)

    return profiled(instruction.sha256, repeats=repeats)


def _judge_by(instruction: JudgeInstruction, attempts: int, repeats: int) -> Scorer:
    if min(attempts, repeats) < 1:
        raise PeercorpusError(f"attempts and repeats must be 1 or more, got {attempts} and {repeats}.")

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- the protocol's own
        read = state.metadata.get("read") or {}
        if "unscored" in read:
            return Score.unscored(reason=read["unscored"], explanation=read.get("detail"))
        beside = find_context(state)
        candidate = extract_candidate(state)
        if beside is None:
            return Score.unscored(reason=NO_REFERENCES, explanation="People wrote nothing to judge it by.")
        if not candidate:
            return Score.unscored(reason="no_response", explanation="There are no words to judge.")
        grader = _get_grader()
        second = role(SECOND)
        about = _describe(instruction, grader, second) | {"words": len(candidate.split())}
        question = instruction.ask(candidate, beside)
        asked = await _ask_all(question, instruction.read, grader, second, attempts, repeats)
        return _make_score(asked[:repeats], asked[repeats] if second is not None else None, about)

    return score


def _describe(instruction: JudgeInstruction, grader: Model, second: Model | None) -> dict[str, Any]:
    """Return the judge and its instruction, as recorded with each score; tables name a judge by `grader`."""
    about: dict[str, Any] = {"grader": ", ".join(filter(None, [str(grader), instruction.says]))}
    if instruction.profile is JudgeProfile.OURS:
        about |= {"prompt_version": prompts.VERSION, "prompt_digest": prompts.DIGEST}
    else:
        about |= {"judge_profile": instruction.profile.value, "judge_words_sha256": instruction.sha256}
    return about if second is None else about | {"second_grader": str(second)}
