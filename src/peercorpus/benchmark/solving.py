"""How a case is answered: by the model, by a baseline, or in a discussion with a simulated other side; then read."""

from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, ModelOutput, StopReason, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from peercorpus import prompts
from peercorpus.benchmark.adapters.registry import load_adapter
from peercorpus.benchmark.answers import (
    UnreadableAnswerError,
    Unscored,
    read_decision,
    read_review,
    read_scores,
    read_turn,
)
from peercorpus.benchmark.cases import BenchTask, Said
from peercorpus.benchmark.samples import ANSWER, case_of, chat, read_asked, read_following
from peercorpus.dialogues import Speaker

READ = "read"
"""The name in a sample's metadata under which the answer stands as it was read."""
AUTHOR = "author"
"""The role of the model that takes the authors' part."""


def read_answer(task: BenchTask, completion: str, metadata: dict[str, Any]) -> dict[str, Any]:
    """An answer as it is read, as JSON: `accept` and `probability`, `scores`, or `text`.

    Raises:
        UnreadableAnswerError: It has not the form asked for.
    """
    if task is BenchTask.ACCEPTANCE:
        decision = read_decision(completion)
        return {"accept": decision.accept, "probability": decision.probability}
    if task is BenchTask.SCORES:
        return {"scores": read_scores(completion, read_asked(metadata))}
    if task is BenchTask.REVIEW:
        review = read_review(completion, read_asked(metadata))
        return {"text": review.text, "scores": dict(review.scores)}
    return {"text": read_turn(completion)}


def _check_given(output: ModelOutput) -> None:
    if output.stop_reason == "content_filter":
        raise UnreadableAnswerError(Unscored.REFUSED)


@solver
def read(adapter: str | None = None) -> Solver:
    """Read the answer strictly, once for all scorers; one that cannot be read is kept with the reason.

    Args:
        adapter: Whose form of answer it is; None for ours.
    """
    theirs = None if adapter is None else load_adapter(adapter)

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 -- the protocol's own
        completion, task = state.output.completion, BenchTask(state.metadata["task"])
        found: dict[str, Any]
        try:
            _check_given(state.output)
            if theirs is not None:
                completion = theirs.read(case_of(str(state.sample_id), state.metadata), completion)
            found = read_answer(task, completion, state.metadata)
        except UnreadableAnswerError as error:
            found = {"unscored": error.reason.value, "detail": str(error)}
        is_cut = state.output.stop_reason in {"max_tokens", "model_length"}
        state.metadata[READ] = found | {"cut_off": is_cut}
        return state

    return solve


@solver
def fixed(baseline: str) -> Solver:
    """Give the answer of a baseline, which the sample carries.

    Args:
        baseline: Its name.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 -- the protocol's own
        answer = str(state.metadata[ANSWER])
        state.output = ModelOutput.from_content(f"baseline/{baseline}", answer)
        state.messages.append(ChatMessageAssistant(content=answer))
        return state

    return solve


STOPPED: tuple[StopReason, ...] = ("content_filter", "max_tokens", "model_length")
"""Ends of a turn that are told of the whole discussion, the worst first."""


@solver
def discuss() -> Solver:
    """Let the model go on with a discussion, against a model in the role `author`, for as many turns as there were.

    The authors' first words are their own; from then on they answer what the model says. The answer is all that it
    says, as one text.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        said = read_following(state.metadata)
        answers: list[str] = []
        ends: list[StopReason] = []
        for place, turn in enumerate(said):
            if turn.speaker is Speaker.USER:
                text = turn.text if not answers else await _authors_say(state.messages)
                state.messages.append(ChatMessageUser(content=text))
            elif place == 0 or said[place - 1].speaker is Speaker.USER:
                state = await generate(state)
                answers.append(state.output.completion)
                ends.append(state.output.stop_reason)
        end = next((one for one in STOPPED if one in ends), state.output.stop_reason)
        state.output = ModelOutput.from_content(state.output.model, "\n\n".join(answers), end)
        return state

    return solve


async def _authors_say(messages: list[ChatMessage]) -> str:
    """What a model in the authors' place says: it sees the paper, and the discussion from the other side."""
    paper, *exchange = messages[1:]
    told = chat([Said(Speaker.SYSTEM, prompts.AUTHORS), Said(Speaker.USER, paper.text)])
    for one in exchange:
        other = ChatMessageUser if one.role == "assistant" else ChatMessageAssistant
        if told[-1].role == "user" and other is ChatMessageUser:
            told[-1] = ChatMessageUser(content=f"{told[-1].text}\n\n{one.text}")
        else:
            told.append(other(content=one.text))
    output = await get_model(role=AUTHOR).generate(told)
    return output.completion.strip() or prompts.NO_ANSWER
