"""The request for an export of a release: the options of `peercorpus export`."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from peercorpus.errors import PeercorpusError
from peercorpus.execution.requests import require_positive
from peercorpus.models.chat_messages import ChatOptions, ThirdParties
from peercorpus.records.enums import Role, WorstGrade
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.venues.venue_names import read_venue_or_conference

TaskName = Literal["acceptance", "scores", "review", "rebuttal", "meta_review", "mixed"]
"""A task that a model is trained on; `mixed` is all five."""
EXPORTED = ("review", "rebuttal", "meta_review")
"""The tasks whose rows a release has; the examples of the others are made for a model."""


@dataclass(frozen=True, kw_only=True)
class ExampleRequest:
    """Which papers and reviews of a release become training examples of a model, and how.

    Attributes:
        recipe: TOML file with settings that differ from Re²'s; `python -m pydoc peercorpus.finetune.recipe` lists
            them.
        venue: Only papers of this venue (id or short name such as ICLR2024) or conference (iclr). May be repeated.
        year: Only venues of this year; may be repeated.
        grade: Worst acceptable grade of a paper's text. The default and better ones are proven initial versions; worse
            ones need a release that was published with --grade.
        min_words: Shortest review to use, in words. For a conversation, its review counts.
        min_confidence: Lowest reviewer confidence to use, from 0 (lowest answer of the form) to 1 (highest answer).
        leave_out_long: Skip training examples whose answers do not fit into the context, instead of stopping.

    Raises:
        PeercorpusError: A number is out of range, or a short name names no venue.
    """

    recipe: Path | None = None
    venue: tuple[str, ...] = ()
    year: tuple[int, ...] = ()
    grade: WorstGrade = "only_before_review"
    min_words: int | None = None
    min_confidence: float | None = None
    leave_out_long: bool = False

    def __post_init__(self) -> None:
        # One way to say each thing, so that equal requests are equal.
        object.__setattr__(self, "venue", tuple(sorted({*map(read_venue_or_conference, self.venue)})))
        object.__setattr__(self, "year", tuple(sorted({*self.year})))
        require_positive("--min-words", self.min_words)
        if self.min_confidence is not None and not 0 <= self.min_confidence <= 1:
            raise PeercorpusError(
                f"--min-confidence must be between 0 and 1 (a share of the form's scale), got {self.min_confidence:g}."
            )


@dataclass(frozen=True, kw_only=True)
class RowRequest:
    """Which rows of a release are exported, and how papers and conversations become messages.

    Attributes:
        format: jsonl: the rows unchanged; trl, llama-factory, axolotl: files for these trainers; re2: Re²'s files and
            fields. As Re² has only train and test, validation rows go to train.
        task: review: a paper and its review; rebuttal: the exchange with a reviewer; meta_review: a paper with its
            reviews and their discussion, and its meta-review. Default: all three; Re²'s format has no meta_review. With
            --model a task is required, as in `peercorpus finetune`; mixed: all five.
        paper: How the user opens: with the text that the reviewers read (default), with title and abstract, or with
            nothing.
        system: Start with a system prompt that states the model's role. Default: yes.
        max_characters: Truncate longer papers at the end of a paragraph, in characters; reviews and conversations stay
            whole.
        assistant: The side of a conversation that the model takes; the other side is the user.
        others: What chairs, the public and other reviewers say: context in a marked block, or left out.
        unanswered: Keep a final user message that has no reply. Default: only with --format re2, as Re² keeps it.
        by_point: With --task rebuttal: single points of reviews, each with the authors' answers of at least this
            confidence, 0 to 1, instead of whole exchanges. Needs a release published with --points.
        model: llama-factory and axolotl: write the training examples of `peercorpus finetune` and a configuration for
            the trainer. A folder, or a name on the Hugging Face Hub.
    """

    format: ExportLayout
    task: TaskName | None = None
    paper: Literal["text", "abstract", "none"] | None = None
    system: Annotated[bool | None, Parameter(negative="--no-system")] = None
    max_characters: int | None = None
    assistant: Literal["reviewer", "author"] = "reviewer"
    others: Literal["context", "leave"] = "context"
    unanswered: bool | None = None
    by_point: float | None = None
    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class ExportRequest(ExampleRequest, RowRequest):
    """What an export contains: rows of tasks, or for a model its training examples and a configuration.

    Raises:
        PeercorpusError: An option excludes another or lacks one, or is out of range.
    """

    def __post_init__(self) -> None:
        ExampleRequest.__post_init__(self)
        require_positive("--max-characters", self.max_characters)
        if self.model is not None:
            self._check_examples()
            return
        self._check_rows()
        if self.by_point is not None:
            self._check_points()
        elif self.opening == "none" and self.assistant == "reviewer":
            raise PeercorpusError(
                "Without an opening the model would speak first; use --paper abstract, --paper text or"
                " --assistant author."
            )
        elif self.task not in {None, "rebuttal"} and self._has_chat_option:
            raise PeercorpusError(
                "--assistant, --others and --unanswered apply to conversations only; add --task rebuttal, or"
                " leave them out."
            )

    def _has(self, *names: str) -> bool:
        """Return whether one of these options is not its default."""
        return any(getattr(self, name) != getattr(ExportRequest, name) for name in names)

    @property
    def _has_prompt_option(self) -> bool:
        return self._has("paper", "system", "max_characters", "assistant", "others", "unanswered", "by_point")

    @property
    def _has_chat_option(self) -> bool:
        return self._has("assistant", "others") or (self.format is not ExportLayout.RE2 and bool(self.unanswered))

    def _check_examples(self) -> None:
        if self.format not in {ExportLayout.LLAMA_FACTORY, ExportLayout.AXOLOTL}:
            raise PeercorpusError(f"--model is for --format llama-factory or axolotl, not '{self.format}'.")
        if self.task is None:
            raise PeercorpusError("--model needs a task: name one with --task, or --task mixed for all five.")
        if self._has_prompt_option:
            raise PeercorpusError(
                "With --model the benchmark's prompts are used: leave out --paper, --system, --max-characters,"
                " --assistant, --others, --unanswered and --by-point, and set lengths by --recipe."
            )

    def _check_rows(self) -> None:
        if self._has(*ExampleRequest.__dataclass_fields__):
            raise PeercorpusError(
                "--recipe, --leave-out-long, and the options that choose examples (such as --venue, --year and"
                " --min-words) need --model, which goes with --format llama-factory or axolotl; leave them out."
            )
        if self.task not in {None, *EXPORTED}:
            raise PeercorpusError(
                f"--task {self.task} can only be exported for a model; add --model, or name review, rebuttal or"
                " meta_review."
            )
        if self.format is ExportLayout.JSONL and self._has_prompt_option:
            raise PeercorpusError(
                "--format jsonl writes the rows of a release as they are: leave out --paper, --system,"
                " --max-characters, --assistant, --others, --unanswered and --by-point, or name another format."
            )
        if self.format is not ExportLayout.RE2:
            return
        shows_otherwise = self.opening != "text" or not self.has_system or self._has("max_characters", "by_point")
        if shows_otherwise or self.assistant == "author":
            raise PeercorpusError(
                "--format re2 names the paper and the reviewer as Re² does; leave out --paper, --system,"
                " --max-characters, --assistant and --by-point, or name another format."
            )
        if self.task == "meta_review":
            raise PeercorpusError(
                "Re² has no file of meta-reviews; name another --format for --task meta_review, or another task."
            )

    def _check_points(self) -> None:
        if self.task not in {None, "rebuttal"} or self._has_chat_option:
            raise PeercorpusError(
                "--by-point writes the authors' answers to single points: leave out --task, or name rebuttal; leave out"
                " --assistant, --others and --unanswered; and name a --format other than jsonl and re2."
            )
        if not 0 <= (self.by_point or 0) <= 1:
            raise PeercorpusError(f"--by-point must be a share from 0 to 1, got {self.by_point:g}.")

    @property
    def opening(self) -> str:
        """The part of the paper in the user's first message: `text`, `abstract` or `none`."""
        return self.paper or "text"

    @property
    def has_system(self) -> bool:
        """Whether a system message states the model's role."""
        return self.system is not False

    @cached_property
    def chat(self) -> ChatOptions:
        """How conversations become messages, without a system message."""
        keeps_last = self.format is ExportLayout.RE2 if self.unanswered is None else self.unanswered
        return ChatOptions(Role(self.assistant), ThirdParties(self.others), ends_answered=not keeps_last)

    @property
    def needs_turns(self) -> bool:
        """Whether conversations must be rebuilt from their turns because `rebuttal` was made with other options."""
        return self._has("assistant", "others")
