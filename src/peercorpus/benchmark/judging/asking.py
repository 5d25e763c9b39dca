"""A judge is asked through `inspect_ai`; what it answers in another form than was asked for, it is asked again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
)

from peercorpus import prompts
from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored
from peercorpus.benchmark.judging.judge import Question

Read = TypeVar("Read")

COLD = GenerateConfig(temperature=0.0)
"""The most likely answer, as far as the provider gives it."""
WRONG = {
    Unscored.EMPTY: "it is empty",
    Unscored.NO_OBJECT: "it is not one JSON object alone",
    Unscored.REFUSED: "it was withheld",
}
"""What is wrong with an answer as a whole, as the judge is told; of one field the error says it."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[Read]):
    """What became of a question.

    Attributes:
        read: The answer; None where none of the attempts had the form asked for.
        completion: The last answer in its own words.
        wrong: What was wrong with each answer that could not be read, in their order.
        reason: Of the last one; None where there is an answer.
    """

    read: Read | None
    completion: str
    wrong: tuple[str, ...]
    reason: Unscored | None

    @property
    def attempts(self) -> int:
        """How many answers the judge gave."""
        return len(self.wrong) + (self.read is not None)


def _read(output: ModelOutput, read: Callable[[str], Read]) -> Read:
    if output.stop_reason == "content_filter":
        raise UnreadableAnswerError(Unscored.REFUSED)
    return read(output.completion)


async def ask(
    grader: Model, question: Question, read: Callable[[str], Read], attempts: int, number: int = 0
) -> Asked[Read]:
    """Ask until an answer can be read, at most `attempts` times.

    Args:
        grader: Who is asked.
        question: What is asked.
        read: Reads an answer, or raises `UnreadableAnswerError`.
        attempts: 1 or more; from the second on the judge is told what was wrong with its last answer.
        number: Which asking of the same question it is: from the second (1) on it has a seed of its own, and nothing is
            taken from a cache.
    """
    messages: list[ChatMessage] = [ChatMessageSystem(content=question.system), ChatMessageUser(content=question.user)]
    config = COLD.merge(GenerateConfig(seed=number, cache=False)) if number else COLD
    said, wrong, reason = "", list[str](), None
    for _ in range(attempts):
        output = await grader.generate(messages, config=config)
        said = output.completion
        try:
            return Asked(_read(output, read), said, tuple(wrong), None)
        except UnreadableAnswerError as error:
            what, reason = WRONG.get(error.reason, str(error)), error.reason
            wrong.append(what)
            again = ChatMessageUser(content=prompts.AGAIN.format(what=what))
            messages = [*messages, *([ChatMessageAssistant(content=said)] if said.strip() else []), again]
    return Asked(None, said, tuple(wrong), reason)
