"""Ask a judge for a verdict and parse its answer.

Candidate texts are untrusted: each is fenced with a mark that occurs in none of the texts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
)

from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored, check_not_withheld, read_object
from peercorpus.benchmark.outcomes import Verdict
from peercorpus.models import prompts

LOW = 1
HIGH = 10
"""The scale of each aspect."""

Place = Literal["A", "B"]


ASPECTS = tuple(aspect.name for aspect in fields(Verdict))


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """The judge's input besides the candidate.

    Attributes:
        references: Human texts in the same situation; at least one, none of them blank.
        title: Title of the paper; None hides it from the judge.
        abstract: Abstract of the paper; None hides it from the judge.
        answered: Message that the candidate replies to, if it is a turn of a conversation.
    """

    references: Sequence[str]
    title: str | None = None
    abstract: str | None = None
    answered: str | None = None


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A question for a judge: our instruction, and the untrusted texts."""

    system: str
    user: str


def _make_mark(texts: Iterable[str]) -> str:
    """Return a mark that occurs in none of the texts, in any order, so that no text can close its own fence."""
    ordered = sorted(texts)
    mark = ""
    while not mark or any(mark in text for text in ordered):
        mark = sha256("\0".join([*ordered, mark]).encode(errors="surrogatepass")).hexdigest()[:12]
    return mark


def _make_question(
    system: str, candidates: Mapping[str, str], beside: JudgeContext, reference: str = "HUMAN"
) -> JudgePrompt:
    if not beside.references or not all(text.strip() for text in [*beside.references, *candidates.values()]):
        raise ValueError("a judge needs candidates and references that have words")
    about = "\n\n".join(filter(None, [beside.title, beside.abstract]))
    named = {"PAPER": about, "ANSWERED": beside.answered or ""}
    named |= {f"{reference}-{number}": text for number, text in enumerate(beside.references, start=1)}
    texts = {name: text for name, text in {**named, **candidates}.items() if text.strip()}
    mark = _make_mark(texts.values())
    fenced = (f"<{name}-{mark}>\n{text}\n</{name}-{mark}>" for name, text in texts.items())
    return JudgePrompt(f"{system}\n\n{prompts.FENCED.format(mark=mark)}", "\n\n".join(fenced))


def judge_question(
    candidate: str, beside: JudgeContext, instruction: str = prompts.JUDGE, reference: str = "HUMAN"
) -> JudgePrompt:
    """Return the question that asks for a verdict on one text.

    Args:
        candidate: The text to judge.
        beside: The judge's input besides the candidate.
        instruction: Instruction for the judge.
        reference: Name in the fences of the references.

    Raises:
        ValueError: The candidate or a reference is blank, or there is no reference.
    """
    return _make_question(instruction, {"CANDIDATE": candidate}, beside, reference)


def pair_question(first: str, second: str, beside: JudgeContext) -> JudgePrompt:
    """Return the question that asks which of two texts is better.

    Raises:
        ValueError: A candidate or a reference is blank, or there is no reference.
    """
    return _make_question(prompts.PAIR, {"CANDIDATE-A": first, "CANDIDATE-B": second}, beside)


def _read_rating(answer: Mapping[str, Any], aspect: str) -> int:
    value = answer.get(aspect)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableAnswerError(Unscored.NO_NUMBER, f"no number for '{aspect}'")
    if value not in range(LOW, HIGH + 1):
        raise UnreadableAnswerError(Unscored.OFF_SCALE, f"'{aspect}' is no whole number from {LOW} to {HIGH}")
    return int(value)


def read_verdict(text: str, keys: Mapping[str, str] = MappingProxyType({})) -> Verdict:
    """Parse a verdict: a whole number from 1 to 10 for each aspect; other fields are ignored.

    Args:
        text: The answer.
        keys: Names of aspects in the answer, if they differ.

    Raises:
        UnreadableAnswerError: The answer does not follow the requested format.

    >>> read_verdict('{"quality": 7, "constructiveness": 8, "accuracy": 7, "completeness": 6, "clarity": 9}').mean
    7.4
    """
    answer = read_object(text)
    return Verdict(**{aspect: _read_rating(answer, keys.get(aspect, aspect)) for aspect in ASPECTS})


def read_preference(text: str) -> Place:
    """Parse which of two texts is better, by its position.

    Raises:
        UnreadableAnswerError: The answer does not follow the requested format.

    >>> read_preference('{"better": "B"}')
    'B'
    """
    better = read_object(text).get("better")
    if better == "A":
        return "A"
    if better == "B":
        return "B"
    raise UnreadableAnswerError(Unscored.NO_DECISION, "'better' is neither A nor B")


Read = TypeVar("Read")

COLD = GenerateConfig(temperature=0.0)
"""Greedy decoding, if the provider supports it."""
ANSWER_TOKENS = 4_096
"""Maximum number of tokens of an answer, unless set for the judge; most of them are for models that reason."""
SHOWN_CHARACTERS = 1_000
"""Number of characters of an unreadable answer that a judge is shown when it is asked again."""
TOO_LONG = "the question does not fit into the judge's window"
WRONG = {
    Unscored.EMPTY: "it is empty",
    Unscored.NO_OBJECT: "it is not one JSON object alone",
    Unscored.REFUSED: "it was withheld",
}
"""Explanation for the judge of what was wrong with a whole answer; for a single field the error message is used."""


@dataclass(frozen=True, slots=True)
class JudgeAnswer(Generic[Read]):
    """The result of asking a judge one question.

    Attributes:
        read: The parsed answer; None if no attempt followed the requested format.
        completion: The last answer verbatim.
        wrong: What was wrong with each unreadable answer, in order.
        reason: Why the last answer was unreadable; None if it was parsed.
    """

    read: Read | None
    completion: str
    wrong: tuple[str, ...]
    reason: Unscored | None

    @property
    def attempts(self) -> int:
        """Number of answers that the judge gave."""
        return len(self.wrong) + (self.read is not None)


async def ask(
    grader: Model, question: JudgePrompt, read: Callable[[str], Read], attempts: int, number: int = 0
) -> JudgeAnswer[Read]:
    """Ask until an answer can be parsed, at most `attempts` times.

    Args:
        grader: The model to ask.
        question: The question.
        read: Parses an answer, or raises `UnreadableAnswerError`.
        attempts: At least 1; after each failure the judge receives an explanation of what was wrong.
        number: Number of times the same question has been asked before; from 1 on, the request has its own seed and
            bypasses the cache.
    """
    messages: list[ChatMessage] = [ChatMessageSystem(content=question.system), ChatMessageUser(content=question.user)]
    config = COLD.merge(GenerateConfig(max_tokens=grader.config.max_tokens or ANSWER_TOKENS))
    config = config.merge(GenerateConfig(seed=number, cache=False)) if number else config
    asked = list(messages)
    completion = ""
    wrong = list[str]()
    reason = None
    for _ in range(attempts):
        output = await grader.generate(asked, config=config)
        completion = output.completion
        if output.stop_reason == "model_length" and not completion:
            return JudgeAnswer(read=None, completion="", wrong=(*wrong, TOO_LONG), reason=Unscored.EMPTY)
        try:
            check_not_withheld(output.stop_reason)
            return JudgeAnswer(read=read(completion), completion=completion, wrong=tuple(wrong), reason=None)
        except UnreadableAnswerError as error:
            what = WRONG.get(error.reason, str(error))
            reason = error.reason
            wrong.append(what)
            shown = completion.strip()[:SHOWN_CHARACTERS]
            again = ChatMessageUser(content=prompts.AGAIN.format(what=what))
            # Only the last answer is shown; otherwise the question would grow with each attempt.
            asked = [*messages, *([ChatMessageAssistant(content=shown)] if shown else []), again]
    return JudgeAnswer(read=None, completion=completion, wrong=tuple(wrong), reason=reason)
