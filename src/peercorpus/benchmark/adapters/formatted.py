"""An adapter to a model whose format is a file: what all of them share. Each says how its answers are divided."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from peercorpus.benchmark.adapters.format import Format, OwnScore, read_format
from peercorpus.benchmark.adapters.sections import BARE, Sections, only, read_number, read_verdict
from peercorpus.benchmark.adapters.wordings import find_wordings
from peercorpus.benchmark.answers import (
    Decision,
    UnreadableAnswerError,
    Unscored,
    write_decision,
    write_review,
    write_scores,
)
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, Said
from peercorpus.dialogues import Speaker
from peercorpus.errors import PeercorpusError
from peercorpus.parts import join_prose

RATING = "rating"
"""In each of the formats all prose of a review stands above it, so a review that has none is not at its end."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A completion, divided.

    Attributes:
        scored: Every reviewer whose numbers count; the answer is their mean.
        review: The sections that are the review.
        decided: Where the decision stands.
        ends_in: The section with which the completion ends, if it is not the format's last one; else None.
    """

    scored: tuple[Sections, ...]
    review: Sections
    decided: Sections
    ends_in: str | None


class Formatted(ABC):
    """An adapter by its format."""

    file: ClassVar[str]
    """Which file of `formats/` holds the format."""
    named: ClassVar[str]
    """The adapter's own name."""

    def __init__(self, wordings: Path | None = None) -> None:
        """Take the words that the model was trained with.

        Args:
            wordings: A file or folder of the model's authors; None where nothing is asked, only read.

        Raises:
            PeercorpusError: They are not there.
        """
        self.format: Format = read_format(self.file)
        self._words = {} if wordings is None else find_wordings(self.format, wordings)

    @property
    def name(self) -> str:
        """Which it is."""
        return self.named

    @property
    def models(self) -> tuple[str, ...]:
        """Ids on the Hugging Face Hub."""
        return self.format.models

    @property
    def source(self) -> str:
        """Where the format was read."""
        return self.format.source

    @property
    def tasks(self) -> frozenset[BenchTask]:
        """All but the rebuttal, for which none of these models was trained."""
        return frozenset({BenchTask.ACCEPTANCE, BenchTask.SCORES, BenchTask.REVIEW})

    @property
    def generation(self) -> Mapping[str, float | int]:
        """How its authors have it write."""
        return self.format.generation

    @property
    def context(self) -> int:
        """Tokens of paper and answer together."""
        return self.format.context

    @abstractmethod
    def system(self, words: Mapping[str, str]) -> str:
        """What the model is told first."""

    def user(self, paper: str) -> str:
        """How it is given the paper."""
        return paper

    @abstractmethod
    def divide(self, completion: str) -> Answered:
        """The parts of an answer.

        Raises:
            UnreadableAnswerError: It has not the format.
        """

    def verdict(self, answered: Answered) -> bool:
        """Whether the paper is accepted.

        Raises:
            UnreadableAnswerError: It does not say.
        """
        content = only(answered.decided, self.format.last)
        if content is None and answered.ends_in is not None:
            raise UnreadableAnswerError(Unscored.CUT_OFF)
        return read_verdict(content)

    def messages(self, case: Case, paper: str) -> list[Said]:
        """What the model is told: the same for all its tasks, as its one answer holds all that they ask for."""
        if case.task not in self.tasks:
            raise PeercorpusError(f"{self.models[0]} was not trained for '{case.task}'; choose another task or model.")
        if not self._words:
            raise PeercorpusError(
                f"The words that {self.models[0]} was trained with are its authors'; name a copy of {self.format.home}"
                " with the option 'wordings'."
            )
        return [Said(Speaker.SYSTEM, self.system(self._words)), Said(Speaker.USER, self.user(paper))]

    def asked(self, case: Case) -> tuple[AskedScore, ...]:
        """The scores of a case that the model gives on the same scale."""
        own = {(one.aspect, one.low, one.high) for one in self.format.scores.values()}
        return tuple(one for one in case.scores if (one.aspect, one.low, one.high) in own)

    def _own(self, asked: AskedScore) -> tuple[str, OwnScore]:
        for name, own in self.format.scores.items():
            if own.aspect is asked.aspect:
                if (own.low, own.high) == (asked.low, asked.high):
                    return name, own
                raise UnreadableAnswerError(
                    Unscored.OTHER_SCALE,
                    f"{asked.field}: {own.low:g} to {own.high:g} instead of {asked.low:g} to {asked.high:g}",
                )
        raise UnreadableAnswerError(Unscored.NO_NUMBER, asked.field)

    def mean(self, answered: Answered, name: str, own: OwnScore) -> float:
        """What the reviewers give on average; each has to give a number.

        Raises:
            UnreadableAnswerError: One does not.
        """
        contents = [only(sections, name) for sections in answered.scored]
        if not contents:
            raise UnreadableAnswerError(Unscored.NO_NUMBER, name)
        ends_bare = answered.ends_in == name and BARE.fullmatch(contents[-1] or "")
        if ends_bare or (answered.ends_in is not None and contents[-1] is None):
            raise UnreadableAnswerError(Unscored.CUT_OFF, name)
        return sum(read_number(content, name, own) for content in contents) / len(contents)

    def _score(self, answered: Answered, asked: AskedScore) -> float:
        name, own = self._own(asked)
        return self.mean(answered, name, own)

    def _review(self, answered: Answered, case: Case) -> str:
        """The prose under its headings as a review of a release has it, then the scores that are readable."""
        if all(name != RATING for name, _ in answered.review):
            raise UnreadableAnswerError(Unscored.CUT_OFF if answered.ends_in else Unscored.NO_FORMAT)
        said = {name: [text for one, text in answered.review if one == name and text] for name in self.format.prose}
        prose = {name: "\n\n".join(texts) for name, texts in said.items() if texts}
        if not prose:
            raise UnreadableAnswerError(Unscored.EMPTY)
        scores: dict[str, float] = {}
        for one in self.asked(case):
            try:
                scores[one.field] = self._score(answered, one)
            except UnreadableAnswerError:
                continue
        return write_review(join_prose(prose), scores)

    def read(self, case: Case, completion: str) -> str:
        """What the model said, in our form of answer."""
        if not completion.strip():
            raise UnreadableAnswerError(Unscored.EMPTY)
        answered = self.divide(completion)
        if case.task is BenchTask.ACCEPTANCE:
            return write_decision(Decision(self.verdict(answered)))
        if case.task is BenchTask.SCORES:
            return write_scores({one.field: self._score(answered, one) for one in case.scores})
        if case.task is BenchTask.REVIEW:
            return self._review(answered, case)
        raise PeercorpusError(f"{self.models[0]} was not trained for '{case.task}'; choose another task or model.")
