"""The judge as a scorer of `inspect_ai`: the model in the role of the grader rates answers beside people's words."""

from collections.abc import Sequence
from typing import Any

from inspect_ai.model import ChatMessageUser, Model, get_model, model_roles
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from peercorpus import prompts
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.judging.asking import Asked, ask
from peercorpus.benchmark.judging.judge import Question, Subject, Verdict, judge_question, read_verdict
from peercorpus.benchmark.judging.judged import GRADERS, LENGTH, MEANS, REPEATED, aspects, graders, length, repeated
from peercorpus.benchmark.outcomes import GRADER_FAILED, Judged, keep
from peercorpus.errors import PeercorpusError

GRADER, SECOND = "grader", "grader2"
"""The roles in which models judge: `--model-role grader=…`."""
NO_REFERENCES = "no_references"


def subject_of(state: TaskState) -> Subject | None:
    """What an answer is judged beside; None where nobody wrote anything in its place."""
    metadata = state.metadata
    references = [text for text in metadata.get("references", ()) if text.strip()]
    if not references:
        return None
    return Subject(references, metadata.get("title"), metadata.get("abstract"), _answered(state))


def _answered(state: TaskState) -> str | None:
    """What a turn of a conversation answers; None of other tasks, and where the model led the conversation itself."""
    if state.metadata.get("task") != BenchTask.REBUTTAL or state.metadata.get("following"):
        return None
    last = state.input[-1] if isinstance(state.input, list) else None
    return last.text if isinstance(last, ChatMessageUser) else None


def _unread(state: TaskState) -> Score | None:
    """An answer that the task could not read has nothing to judge."""
    read = state.metadata.get("read") or {}
    if "unscored" not in read:
        return None
    return Score.unscored(reason=read["unscored"], explanation=read.get("detail"))


def candidate_of(state: TaskState) -> str:
    """The words to judge: as the task read them where it did, else as the model gave them."""
    read = state.metadata.get("read") or {}
    return str(read.get("text") or state.output.completion).strip()


def role(name: str) -> Model | None:
    """The model in a role; None where none has it."""
    return get_model(role=name, required=True) if name in model_roles() else None


def _grader() -> Model:
    found = role(GRADER)
    if found is None:
        raise PeercorpusError(
            "The judge has no model, and nobody judges their own answers; name one: --model-role grader=PROVIDER/MODEL."
        )
    return found


def _told(asked: Asked[Verdict] | None) -> dict[str, int] | None:
    return None if asked is None or asked.read is None else asked.read.values


async def _ask_all(
    question: Question, grader: Model, second: Model | None, attempts: int, repeats: int
) -> list[Asked[Verdict]]:
    asking = [ask(grader, question, read_verdict, attempts, number) for number in range(repeats)]
    if second is not None:
        asking.append(ask(second, question, read_verdict, attempts))
    return await collect(*asking)


def _score(asked: Sequence[Asked[Verdict]], other: Asked[Verdict] | None, about: dict[str, Any]) -> Score:
    first = asked[0]
    about |= {"attempts": first.attempts, "wrong": list(first.wrong)}
    if len(asked) > 1:
        about["repeats"] = [_told(one) for one in asked]
    if other is not None:
        about |= {"second": _told(other), "second_attempts": other.attempts, "second_wrong": list(other.wrong)}
    if first.read is None:
        why = f"{first.reason}: {first.wrong[-1]}"
        return Score.unscored(reason=GRADER_FAILED, answer=first.completion, explanation=why, metadata=about)
    about |= keep(Judged(**first.read.values))
    return Score(value=dict(first.read.values), answer=first.completion, metadata=about)


@scorer(metrics=[aspects(MEANS), length(LENGTH), repeated(REPEATED), graders(GRADERS)])
def judge(attempts: int = 3, repeats: int = 1) -> Scorer:
    """Five aspects from 1 to 10 of each answer, by the model in the role `grader`; one in `grader2` judges beside it.

    A sample holds what people wrote as `references` in its metadata, and may hold `title` and `abstract` of the paper.
    Who judges is asked again where the verdict has another form; in the end the sample is unscored.

    Args:
        attempts: How often a question is put until the answer can be read.
        repeats: How often each question is asked in all, to see whether the judge repeats itself; the first counts.

    Raises:
        PeercorpusError: `attempts` or `repeats` is less than 1; in a run, there is no model in the role `grader`.
    """
    if min(attempts, repeats) < 1:
        raise PeercorpusError("A judge is asked at least once: give attempts and repeats of 1 or more.")

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- the protocol's own
        unread = _unread(state)
        if unread is not None:
            return unread
        beside, candidate = subject_of(state), candidate_of(state)
        if beside is None:
            return Score.unscored(reason=NO_REFERENCES, explanation="People wrote nothing to judge it by.")
        if not candidate:
            return Score.unscored(reason="no_response", explanation="There are no words to judge.")
        grader, second = _grader(), role(SECOND)
        about: dict[str, Any] = {"grader": str(grader), "words": len(candidate.split())}
        about |= {"prompt_version": prompts.VERSION, "prompt_digest": prompts.DIGEST}
        if second is not None:
            about["second_grader"] = str(second)
        asked = await _ask_all(judge_question(candidate, beside), grader, second, attempts, repeats)
        return _score(asked[:repeats], asked[repeats] if second is not None else None, about)

    return score
