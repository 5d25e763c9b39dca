"""What a run can be told, as words and numbers, and what they mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import msgspec

from peercorpus.benchmark.asking import Asking
from peercorpus.benchmark.cases import Selection
from peercorpus.benchmark.cutting import Budget
from peercorpus.errors import PeercorpusError
from peercorpus.kinds import PUBLISHABLE_GRADES, Grade
from peercorpus.metrics import bertscore, embedding
from peercorpus.publish.splits import Profile, Side


class Options(TypedDict, total=False):
    """What every task takes besides its release, all optional.

    Attributes:
        side: `test` (the default), `validation` or `train`.
        profile: `re2` or `temporal`: the sides that the release must have.
        venue: Ids of venues or names of conferences, parted by commas; all by default.
        grade: The worst grade of text to take: `exact`, `exact_attachment`, `unrevised` (the default): all of them are
            initial versions.
        paper_tokens: How much of a paper is shown at most; whole papers by default.
        tokenizer: What counts its tokens: a file, a folder or a name on the Hugging Face Hub; by default words and
            signs.
        few_shot: Examples before each question; none by default.
        adapter: Whose words and form of answer, such as `sea-e`; ours by default.
        wordings: The file or folder of an adapter's authors that holds the words which the model was trained with.
        baseline: Who answers instead of a model, such as `majority`.
        bert_score: The model of BERTScore, or `true` for Re²'s; left out by default.
        embed_cos: The model of EmbedCos, or `true` for Re²'s; left out by default.
        judged: Whether the model in the role `grader` judges what is written.
        repeats: How often a judge is asked each question, to see whether it repeats itself; once by default.
        led: Of `rebuttal`: the model leads the discussion with a model in the role `author`.
    """

    side: str
    profile: str
    venue: str
    grade: str
    paper_tokens: int
    tokenizer: str
    few_shot: int
    adapter: str
    wordings: str
    baseline: str
    bert_score: str | bool
    embed_cos: str | bool
    judged: bool
    repeats: int
    led: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run tests, on what, and how.

    Attributes:
        release: The folder of the release.
        profile: Of the sides that the release must have; None for whichever it has.
        adapter: Whose words and form of answer; None for ours.
        wordings: The file or folder of an adapter's authors that holds the words which the model was trained with.
        baseline: Who answers instead of a model; None for the model.
        bert_score: The model of BERTScore; None leaves it out.
        embed_cos: The model of EmbedCos; None leaves it out.
        judged: Whether a model in the role `grader` judges what is written.
        repeats: How often it is asked each question; the first answer counts.
    """

    release: Path
    selection: Selection = field(default_factory=Selection)
    asking: Asking = field(default_factory=Asking)
    profile: Profile | None = None
    adapter: str | None = None
    wordings: Path | None = None
    baseline: str | None = None
    bert_score: str | None = None
    embed_cos: str | None = None
    judged: bool = False
    repeats: int = 1


class _Read(msgspec.Struct, forbid_unknown_fields=True):
    """The options with their defaults, checked."""

    side: Side = Side.TEST
    profile: Profile | None = None
    venue: str | list[str] = ""
    grade: Grade = PUBLISHABLE_GRADES[-1]
    paper_tokens: int | None = None
    tokenizer: str | None = None
    few_shot: int = 0
    adapter: str | None = None
    wordings: str | None = None
    baseline: str | None = None
    bert_score: str | bool = False
    embed_cos: str | bool = False
    judged: bool = False
    repeats: int = 1
    led: bool = False


def _model(said: str | bool, default: str) -> str | None:
    return default if said is True else said or None


def read_options(release: str, options: Mapping[str, Any]) -> Wanted:
    """The options of a task.

    Raises:
        PeercorpusError: There is no such option, or it cannot have this value.
    """
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        there = ", ".join(Options.__annotations__)
        raise PeercorpusError(f"The benchmark has no option '{unknown[0]}'; there are: release, {there}.")
    try:
        read = msgspec.convert(dict(options), _Read)
    except msgspec.ValidationError as error:
        raise PeercorpusError(f"An option of the benchmark cannot be read: {error}.") from None
    if read.few_shot < 0:
        raise PeercorpusError("The number of examples (few_shot) cannot be negative.")
    if read.repeats != 1 and not read.judged:
        raise PeercorpusError("Only a judge is asked again (repeats): have answers judged (judged), or leave it out.")
    if read.baseline is not None and read.adapter is not None:
        raise PeercorpusError("A baseline takes no adapter: it answers in our own form.")
    if read.few_shot and read.adapter is not None:
        raise PeercorpusError("An adapter takes no examples (few_shot): its model was trained without any.")
    if read.led and read.baseline is not None:
        raise PeercorpusError("A baseline leads no discussion; leave out 'led' or the baseline.")
    venues = read.venue.split(",") if isinstance(read.venue, str) else read.venue
    chosen = frozenset(filter(None, (venue.strip() for venue in venues)))
    return Wanted(
        Path(release),
        Selection(read.side, chosen, read.grade, read.led),
        Asking(Budget(read.paper_tokens, read.tokenizer), read.few_shot),
        read.profile,
        read.adapter,
        None if read.wordings is None else Path(read.wordings),
        read.baseline,
        _model(read.bert_score, bertscore.MODEL),
        _model(read.embed_cos, embedding.MODEL),
        read.judged,
        read.repeats,
    )
