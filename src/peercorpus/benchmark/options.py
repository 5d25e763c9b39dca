"""Parse and check the options of the benchmark tasks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import msgspec

from peercorpus.benchmark.cases import CaseSelection, PaperPart
from peercorpus.benchmark.judge.instruction import JudgeInstruction, JudgeProfile, load_instruction
from peercorpus.benchmark.messages import FigureBudget, PromptOptions, TokenBudget
from peercorpus.errors import PeercorpusError
from peercorpus.metrics import bertscore, embedding
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade
from peercorpus.release.hub import find_release
from peercorpus.release.splits import Split


class TaskOptions(TypedDict, total=False):
    """Options of every task besides its release; all are optional.

    Attributes:
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
        repeats: Number of times a judge is asked each question, to measure its consistency; once by default.
        likelihood: For `acceptance` only: the answer is the probability that the model gives each decision.
        unified: For `scores` only: ask for the overall recommendation on Re²'s scale of 1 to 10, instead of the form's
            fields; the correct answer is the mean of the reviewers' unified ratings.
        figures: Whether figures and tables of the paper are shown as images, which needs a release with figures.
    """

    split: str
    venue: str
    grade: str
    paper_tokens: int
    tokenizer: str
    shown: str
    adapter: str
    wordings: str
    baseline: str
    bert_score: str | bool
    embed_cos: str | bool
    judged: bool
    judge_profile: str
    judge_words: str
    repeats: int
    likelihood: bool
    unified: bool
    figures: bool


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """Parsed options of one task: the release, the cases and how they are presented.

    Attributes:
        release: Folder of the release.
        adapter: Adapter whose prompts and answer format are used; None for our own.
        wordings: File or folder by an adapter's authors with the prompts of the model's training.
        baseline: Baseline that answers instead of a model; None for the model.
        bert_score: Model of BERTScore; None omits it.
        embed_cos: Model of EmbedCos; None omits it.
        judged: Whether a model in the role `grader` judges written answers.
        instruction: Instruction for the judge.
        repeats: Number of times the judge is asked each question; the first answer counts.
        likelihood: Whether the answer is the probability that the model gives each decision.
    """

    release: Path
    selection: CaseSelection = field(default_factory=CaseSelection)
    asking: PromptOptions = field(default_factory=PromptOptions)
    adapter: str | None = None
    wordings: Path | None = None
    baseline: str | None = None
    bert_score: str | None = None
    embed_cos: str | None = None
    judged: bool = False
    instruction: JudgeInstruction = field(default_factory=JudgeInstruction)
    repeats: int = 1
    likelihood: bool = False


class _Read(msgspec.Struct, forbid_unknown_fields=True):
    """The options with their defaults, as msgspec checks them."""

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


def _read_figure_budget(read: _Read) -> FigureBudget | None:
    """Return the limits for the images of a question; None if it shows none.

    Raises:
        PeercorpusError: The answerer does not take images.
    """
    if not read.figures:
        return None
    if read.baseline is not None:
        raise PeercorpusError("A baseline does not use images; omit 'figures' or the baseline.")
    if read.adapter is not None:
        raise PeercorpusError(
            f"The model of the adapter '{read.adapter}' was trained on text only and takes no images; omit"
            " --figures or the adapter."
        )
    return FigureBudget()


def _choose_model(option: str | bool, default: str) -> str | None:
    return default if option is True else option or None


def _check_together(read: _Read) -> None:
    asks_otherwise = read.adapter is not None or read.baseline is not None
    is_control = read.shown is not PaperPart.PAPER
    refusals = (
        (
            is_control and asks_otherwise,
            "Only a model with our own prompts can be shown less than the paper; omit 'shown', or the adapter or"
            " baseline.",
        ),
        (is_control and read.figures, "A control shows no figures; omit 'figures' or 'shown'."),
        (read.repeats != 1 and not read.judged, "'repeats' needs a judge: set 'judged' too, or omit 'repeats'."),
        (
            not read.judged and (read.judge_profile is not JudgeProfile.OURS or read.judge_words is not None),
            "'judge_profile' and 'judge_words' need a judge: set 'judged' too, or omit them.",
        ),
        (
            read.baseline is not None and read.adapter is not None,
            "A baseline answers in our own format, so it takes no adapter; omit one of them.",
        ),
        (
            read.likelihood and asks_otherwise,
            "'likelihood' needs a model with our own prompts; omit it, or the adapter or baseline.",
        ),
    )
    for is_wrong, says in refusals:
        if is_wrong:
            raise PeercorpusError(says)


def parse_task_options(release: str, options: Mapping[str, Any]) -> TaskRequest:
    """Parse the options of a task.

    Args:
        release: A folder, or `hf:owner/name@revision` for a dataset of the Hugging Face Hub, which is downloaded once.
        options: The others, by name.

    Raises:
        PeercorpusError: An option is unknown, has an invalid value, or contradicts another option; or there is no such
            release.
    """
    unknown = sorted(set(options) - set(TaskOptions.__annotations__))
    if unknown:
        there = ", ".join(TaskOptions.__annotations__)
        raise PeercorpusError(f"Unknown option '{unknown[0]}' of the benchmark; the options are: release, {there}.")
    try:
        read = msgspec.convert(dict(options), _Read)
    except msgspec.ValidationError as error:
        raise PeercorpusError(f"Invalid option of the benchmark: {error}.") from None
    _check_together(read)
    venues = read.venue.split(",") if isinstance(read.venue, str) else read.venue
    chosen = frozenset(filter(None, (venue.strip() for venue in venues)))
    return TaskRequest(
        release=find_release(release, figures=read.figures),
        selection=CaseSelection(read.split, chosen, read.grade, unified=read.unified),
        asking=PromptOptions(TokenBudget(read.paper_tokens, read.tokenizer, read.shown), _read_figure_budget(read)),
        adapter=read.adapter,
        wordings=None if read.wordings is None else Path(read.wordings),
        baseline=read.baseline,
        bert_score=_choose_model(read.bert_score, bertscore.MODEL),
        embed_cos=_choose_model(read.embed_cos, embedding.MODEL),
        judged=read.judged,
        instruction=load_instruction(read.judge_profile, None if read.judge_words is None else Path(read.judge_words)),
        repeats=read.repeats,
        likelihood=read.likelihood,
    )
