"""Read and check the options of the benchmark tasks."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import msgspec

from peercorpus.benchmark.cases import CaseSelection, PaperPart
from peercorpus.benchmark.judge.instruction import JudgeInstruction, JudgeProfile, load_instruction
from peercorpus.benchmark.messages import FigureBudget, TokenBudget
from peercorpus.errors import PeercorpusError
from peercorpus.metrics import bertscore, embedding
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade
from peercorpus.release.hub import find_release
from peercorpus.release.splits import Split

OptionValue = str | int | bool | list[str]
"""Value of an option of a task."""


@dataclass(frozen=True, kw_only=True)
class TaskRequest:
    """Options of one task; all but the release are optional.

    Attributes:
        release: A folder, or `hf:owner/name@revision` for a dataset of the Hugging Face Hub, which is downloaded once.
        split: `test` (the default), `validation` or `train`.
        venue: Venue ids or conference names, separated by commas; all by default.
        grade: The worst grade of text to accept; by default `only_before_review`, so that all texts are proven initial
            versions. A worse one needs a release that was published with it.
        paper_tokens: Maximum number of tokens of a paper to show; whole papers by default.
        tokenizer: Tokenizer that counts them: a file, a folder or a name on the Hugging Face Hub; by default, each word
            or sign is one token.
        shown: The part of a paper that is shown: `paper` (the default), or as a control `abstract` (its title and
            abstract) or `title`.
        adapter: Adapter whose prompts and answer format are used, such as `sea-e`; our own by default.
        wordings: File or folder by an adapter's authors with the prompts of the model's training.
        baseline: Baseline that answers instead of a model, such as `majority`.
        bert_score: Model of BERTScore, or `true` for the one that Re² used; omitted by default.
        embed_cos: Model of EmbedCos, or `true` for the one that Re² used; omitted by default.
        judged: Whether the model in the role `grader` judges written answers.
        judge_profile: Instruction and answer format of the judge: `ours` (the default), or `re2` as in Re²'s appendix
            D.
        judge_words: For `re2`: a file with the text of the judge's instruction; ours by default.
        repeats: Number of times a judge is asked each question, to measure its consistency; the first answer counts.
        likelihood: For `acceptance` only: the answer is the probability that the model gives each decision.
        unified: For `scores` only: ask for the overall recommendation on Re²'s scale of 1 to 10, instead of the form's
            fields; the correct answer is the mean of the reviewers' unified ratings.
        figures: Whether figures and tables of the paper are shown as images, which needs a release with figures.

    Raises:
        PeercorpusError: An option contradicts another, is out of range, or names a file that cannot be used.
    """

    release: str
    split: Split = Split.TEST
    venue: str | list[str] = ""
    grade: Grade = PUBLISHABLE_GRADES[-1]
    paper_tokens: int | None = None
    tokenizer: str | None = None
    shown: PaperPart = PaperPart.PAPER
    adapter: str | None = None
    wordings: str | None = None
    baseline: str | None = None
    bert_score: str | bool = False
    embed_cos: str | bool = False
    judged: bool = False
    judge_profile: JudgeProfile = JudgeProfile.OURS
    judge_words: str | None = None
    repeats: int = 1
    likelihood: bool = False
    unified: bool = False
    figures: bool = False

    def __post_init__(self) -> None:
        asks_otherwise = self.adapter is not None or self.baseline is not None
        is_control = self.shown is not PaperPart.PAPER
        refusals = (
            (
                is_control and asks_otherwise,
                "Only a model with our own prompts can be shown less than the paper; omit 'shown', or the adapter or"
                " baseline.",
            ),
            (is_control and self.figures, "A control shows no figures; omit 'figures' or 'shown'."),
            (self.repeats != 1 and not self.judged, "'repeats' needs a judge: set 'judged' too, or omit 'repeats'."),
            (
                not self.judged and (self.judge_profile is not JudgeProfile.OURS or self.judge_words is not None),
                "'judge_profile' and 'judge_words' need a judge: set 'judged' too, or omit them.",
            ),
            (
                self.baseline is not None and self.adapter is not None,
                "A baseline answers in our own format, so it takes no adapter; omit one of them.",
            ),
            (
                self.likelihood and asks_otherwise,
                "'likelihood' needs a model with our own prompts; omit it, or the adapter or baseline.",
            ),
            (
                self.figures and self.baseline is not None,
                "A baseline does not use images; omit 'figures' or the baseline.",
            ),
            (
                self.figures and self.adapter is not None,
                f"The model of the adapter '{self.adapter}' was trained on text only and takes no images; omit"
                " --figures or the adapter.",
            ),
        )
        for is_wrong, says in refusals:
            if is_wrong:
                raise PeercorpusError(says)
        _ = self.folder, self.budget, self.instruction  # Each checks what it is made of.

    @cached_property
    def folder(self) -> Path:
        """Folder of the release."""
        return find_release(self.release, figures=self.figures)

    @property
    def selection(self) -> CaseSelection:
        """The cases."""
        venues = self.venue.split(",") if isinstance(self.venue, str) else self.venue
        chosen = frozenset(filter(None, (venue.strip() for venue in venues)))
        return CaseSelection(self.split, chosen, self.grade, unified=self.unified)

    @cached_property
    def budget(self) -> TokenBudget:
        """How much of a paper is shown."""
        return TokenBudget(self.paper_tokens, self.tokenizer, self.shown)

    @property
    def figure_budget(self) -> FigureBudget | None:
        """Limits for the images of a question; None if it shows none."""
        return FigureBudget() if self.figures else None

    @cached_property
    def instruction(self) -> JudgeInstruction:
        """Instruction for the judge."""
        return load_instruction(self.judge_profile, None if self.judge_words is None else Path(self.judge_words))

    @property
    def bert_model(self) -> str | None:
        """Model of BERTScore; None omits it."""
        return bertscore.MODEL if self.bert_score is True else self.bert_score or None

    @property
    def embedding_model(self) -> str | None:
        """Model of EmbedCos; None omits it."""
        return embedding.MODEL if self.embed_cos is True else self.embed_cos or None


def parse_task_options(release: str, options: Mapping[str, OptionValue]) -> TaskRequest:
    """Read the options of a task.

    Args:
        release: The release.
        options: The others, by name.

    Raises:
        PeercorpusError: An option is unknown, has an invalid value, or contradicts another option; or there is no such
            release.
    """
    names = [field.name for field in fields(TaskRequest)]
    unknown = sorted(set(options) - {*names[1:]})
    if unknown:
        raise PeercorpusError(f"Unknown option '{unknown[0]}' of the benchmark; the options are: {', '.join(names)}.")
    try:
        return msgspec.convert({"release": release, **options}, TaskRequest)
    except msgspec.ValidationError as error:
        raise PeercorpusError(f"Invalid option of the benchmark: {error}.") from None
