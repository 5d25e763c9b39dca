"""What an adapter is: between a model with a format of its own and the tasks of the benchmark."""

from collections.abc import Mapping
from typing import Protocol

from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, Said


class Adapter(Protocol):
    """A model is asked in the words that it was trained with, and what it says is put into our form of answer.

    Attributes:
        name: Which it is, such as `sea-e`.
        models: Ids on the Hugging Face Hub that it is made for.
        source: Where the format was read and when; what was not read is called an inference.
        tasks: What the model can be asked.
        generation: How its authors have it write: `max_tokens`, `temperature`, `top_p`, as far as they say.
        context: Tokens that the authors give it for the paper and the answer together.
    """

    @property
    def name(self) -> str: ...
    @property
    def models(self) -> tuple[str, ...]: ...
    @property
    def source(self) -> str: ...
    @property
    def tasks(self) -> frozenset[BenchTask]: ...
    @property
    def generation(self) -> Mapping[str, float | int]: ...
    @property
    def context(self) -> int: ...

    def messages(self, case: Case, paper: str) -> list[Said]:
        """What the model is told.

        Args:
            case: The question.
            paper: The paper's text as it is shown, already cut.

        Raises:
            PeercorpusError: The model has no such task, or the words that it was trained with are not there.
        """
        ...

    def asked(self, case: Case) -> tuple[AskedScore, ...]:
        """The scores of a case that the model gives on the same scale: what `read` can fill in."""
        ...

    def read(self, case: Case, completion: str) -> str:
        """What the model said, in the form that `peercorpus.benchmark.answers` reads.

        Raises:
            UnreadableAnswerError: It has not the model's format, or holds no answer to this case.
        """
        ...
