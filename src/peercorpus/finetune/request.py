"""The request for fine-tuning: the options of `peercorpus finetune`."""

from dataclasses import dataclass, fields
from functools import cached_property

from peercorpus.errors import PeercorpusError
from peercorpus.finetune.recipe import Recipe, read_recipe
from peercorpus.release.exports.request import ExampleRequest, ExportRequest, TaskName


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is fine-tuned, and for what.

    Attributes:
        task: Task to train on; mixed: all five.
        model: Base model: a folder, or a name on the Hugging Face Hub.
    """

    task: TaskName
    model: str


@dataclass(frozen=True, kw_only=True)
class TuneRequest(ExampleRequest, Subject):
    """What a model is fine-tuned on.

    Raises:
        PeercorpusError: The recipe cannot be used, or an option is out of range or does not apply to the task.
    """

    def __post_init__(self) -> None:
        ExampleRequest.__post_init__(self)
        _ = self.settings
        asks_of_reviews = self.min_words is not None or self.min_confidence is not None
        if asks_of_reviews and self.task not in {"review", "rebuttal", "mixed"}:
            raise PeercorpusError(
                f"--min-words and --min-confidence choose single reviews, which '{self.task}' does not use; omit them."
            )

    @cached_property
    def settings(self) -> Recipe:
        """The settings of the recipe."""
        return read_recipe(self.recipe)


def tune_as(request: ExportRequest) -> TuneRequest:
    """Return the request whose training examples an export for a model contains."""
    return TuneRequest(**{field.name: getattr(request, field.name) for field in fields(TuneRequest)})
