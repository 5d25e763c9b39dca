"""Ask a model each question once: answers are stored, questions counted, and repeated failures end the run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from peercorpus.errors import ModelUnavailableError
from peercorpus.models.endpoint import (
    Endpoint,
    ModelSettings,
    RefusedQuestionError,
    ResponseCache,
    UnansweredError,
    response_key,
)

MODEL_KEY_VARIABLE = "PEERCORPUS_MODEL_KEY"
"""Environment variable with the key of the model's endpoint."""
_MAX_FAILURES_IN_A_ROW = 3
"""Questions in a row without an answer after which the endpoint counts as failed."""
_MAX_REFUSALS_IN_A_ROW = 25
"""Questions in a row that an endpoint refuses, or answers at too great a length, after which it counts as failed. A
single review may contain something that a model refuses, so a few refusals say nothing about other questions."""


@dataclass(slots=True)
class AskedModel:
    """A model behind an endpoint; a question that it has answered is not asked again.

    Attributes:
        endpoint: The endpoint that serves it.
        answers: Its answers, of this run and earlier ones.
    """

    endpoint: Endpoint
    answers: ResponseCache
    _failed: int = 0
    _refused: int = 0

    @classmethod
    def of(cls, settings: ModelSettings, answers: Path | None, run: str, max_questions: int) -> Self:
        """Return this model, ready to be asked.

        Args:
            settings: The model.
            answers: The file that stores answers; None keeps them in memory.
            run: Id of the run; questions are counted per run.
            max_questions: Maximum number of questions in the run.

        Raises:
            ModelError: The address is invalid, or the key cannot be sent there.
        """
        endpoint = Endpoint(settings)
        try:
            return cls(endpoint, ResponseCache(answers, run, max_questions))
        except BaseException:
            endpoint.close()
            raise

    @property
    def name(self) -> str:
        """The name of the model at the endpoint."""
        return self.endpoint.model

    def close(self) -> None:
        """Close connections and the answer file."""
        self.endpoint.close()
        self.answers.close()

    def ask(self, question: str, max_tokens: int) -> str | None:
        """Return the answer, stored or new; None if this question gets none.

        Args:
            question: The user's message.
            max_tokens: Maximum number of tokens of the answer.

        Raises:
            ModelError: The model cannot be asked, or the budget is used up; all answers so far are kept.
        """
        key = response_key(self.name, question)
        kept = self.answers.find(key)
        if kept is not None:
            return kept
        self.answers.reserve()
        try:
            answer = self.endpoint.ask(question, max_tokens)
        except RefusedQuestionError as error:
            self._refused += 1
            self._end_after(self._refused, _MAX_REFUSALS_IN_A_ROW, str(error))
            return None
        except UnansweredError as error:
            self._failed += 1
            self._end_after(self._failed, _MAX_FAILURES_IN_A_ROW, str(error))
            return None
        self._failed = self._refused = 0
        if answer.text.strip():
            self.answers.keep(key, answer.text, answer.tokens)
        return answer.text

    def _end_after(self, times: int, most: int, reason: str) -> None:
        if times >= most:
            raise ModelUnavailableError(
                f"The model gave no answer {times} times in a row: its endpoint {reason}. Earlier answers are kept;"
                " run the same command again later."
            )
