"""What the benchmark asks: one case a paper or a turn, with what is right, read from a release in its own order."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from peercorpus.dialogues import Speaker
from peercorpus.kinds import PUBLISHABLE_GRADES, Aspect, Grade, Status
from peercorpus.publish.opened import Release
from peercorpus.publish.record_rows import Row
from peercorpus.publish.splits import Side
from peercorpus.publish.training_rows import first_known, read_scores
from peercorpus.records import Score


class BenchTask(StrEnum):
    """What a model is tested on."""

    ACCEPTANCE = "acceptance"
    """Paper → accepted or rejected."""
    SCORES = "scores"
    """Paper and the form's scales → the mean of its reviewers' scores, of each field."""
    REVIEW = "review"
    """Paper → a review."""
    REBUTTAL = "rebuttal"
    """Paper, review and what was said since → what the reviewer says next."""

    @property
    def is_written(self) -> bool:
        """Whether the answer is prose, compared with what people wrote."""
        return self in {BenchTask.REVIEW, BenchTask.REBUTTAL}


CONFIG = {
    BenchTask.ACCEPTANCE: "review_sft",
    BenchTask.SCORES: "review_sft",
    BenchTask.REVIEW: "review_sft",
    BenchTask.REBUTTAL: "rebuttal",
}
"""The configuration of a release that holds the papers of a task."""
_PAPER = ("forum_id", "venue_id", "conference", "year", "title", "abstract", "grade", "markdown")
COLUMNS = {"review_sft": (*_PAPER, "status", "reviews"), "rebuttal": (*_PAPER, "conversations")}


@dataclass(frozen=True, slots=True)
class CasePaper:
    """A paper as a case has it.

    Attributes:
        markdown: The text that the reviewers read.
        grade: How that is known.
    """

    forum_id: str
    venue_id: str
    conference: str
    year: int | None
    title: str | None
    abstract: str | None
    grade: Grade
    markdown: str

    @property
    def venue(self) -> str:
        """Where it was submitted, in words."""
        return self.conference if self.year is None else f"{self.conference} {self.year}"


@dataclass(frozen=True, slots=True)
class AskedScore:
    """One field of the form and what the reviewers gave.

    Attributes:
        low: Lowest number that the form offers; `high` the highest.
        values: One a reviewer, on the venue's own scale: as first given where that is known, else as it stands.
    """

    aspect: Aspect
    field: str
    low: float
    high: float
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """What the reviewers give on average."""
        return sum(self.values) / len(self.values)


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation: `user` is the authors, `assistant` the reviewer."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """One question of the benchmark.

    Attributes:
        case_id: `<forum_id>`, or `<forum_id>/<reviewer>/<message>` for a turn of a rebuttal: the same in every release.
        accepted: What was decided; None in other tasks.
        scores: What is asked of the form, in its order; empty in other tasks.
        references: The reviews, or the one turn, that people wrote; empty in other tasks.
        history: What was said before the turn; empty in other tasks.
        following: Of a conversation that the model leads itself, all that followed the history; else empty.
    """

    case_id: str
    task: BenchTask
    paper: CasePaper
    accepted: bool | None = None
    scores: tuple[AskedScore, ...] = ()
    references: tuple[str, ...] = ()
    history: tuple[Said, ...] = ()
    following: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases.

    Attributes:
        venues: Ids of venues or names of conferences; empty for all.
        worst_grade: The grade that a paper's text must have at least.
        led: Only for `rebuttal`: one case a conversation, in which the model goes on by itself, instead of one a turn.
    """

    side: Side = Side.TEST
    venues: frozenset[str] = frozenset()
    worst_grade: Grade = PUBLISHABLE_GRADES[-1]
    led: bool = False

    def takes(self, paper: CasePaper) -> str | None:
        """Why a paper is left out; None where it is taken."""
        if self.venues and not {paper.venue_id, paper.conference} & self.venues:
            return "of another venue"
        grades = list(Grade)
        if grades.index(paper.grade) > grades.index(self.worst_grade):
            return f"its text is '{paper.grade}' only"
        return None


@dataclass(slots=True)
class Taken:
    """What became of the papers, reviews and turns of a side.

    Attributes:
        left_out: How many, by what and why.
    """

    cases: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def _paper(row: Row) -> CasePaper:
    named = {name: row.get(name, "") for name in _PAPER}
    return CasePaper(**named | {"grade": Grade(row["grade"])})


def _acceptance(case: Case, row: Row, taken: Taken) -> Iterator[Case]:
    status = row["status"]
    if status in {Status.ACCEPTED, Status.REJECTED}:
        yield replace(case, accepted=status == Status.ACCEPTED)
    else:
        taken.left_out[f"papers: {status or 'the decision is not public'}"] += 1


def _scales(reviews: Sequence[Row]) -> dict[tuple[str, float, float], list[Score]]:
    """The numbers given by field and scale, in the order in which the reviews have them."""
    given: dict[tuple[str, float, float], list[Score]] = {}
    for review in reviews:
        for score in first_known(read_scores(review["scores"])):
            if score.value is not None and score.low is not None and score.high is not None and score.low < score.high:
                given.setdefault((score.field, score.low, score.high), []).append(score)
    return given


def asked_scores(reviews: Sequence[Row], taken: Taken) -> tuple[AskedScore, ...]:
    """What the form asks on a scale; a field that has two scales in one paper counts with its first."""
    asked: dict[str, AskedScore] = {}
    for (name, low, high), scores in _scales(reviews).items():
        if name in asked:
            taken.left_out["scores: on a second scale of one field"] += len(scores)
            continue
        values = tuple(score.value for score in scores if score.value is not None)
        asked[name] = AskedScore(scores[0].aspect, name, low, high, values)
    return tuple(asked.values())


def _scores(case: Case, row: Row, taken: Taken) -> Iterator[Case]:
    asked = asked_scores(row["reviews"], taken)
    if asked:
        yield replace(case, scores=asked)
    else:
        taken.left_out["papers: no score on a known scale"] += 1


def readable_reviews(reviews: Sequence[Row], taken: Taken) -> Iterator[Row]:
    """The reviews that have a text, and none that was added to later."""
    for review in reviews:
        if not (review["text"] or "").strip():
            taken.left_out["reviews: without text"] += 1
        elif review["holds_update"]:
            taken.left_out["reviews: hold what was added later"] += 1
        else:
            yield review


def _review(case: Case, row: Row, taken: Taken) -> Iterator[Case]:
    references = tuple(review["text"] for review in readable_reviews(row["reviews"], taken))
    if references:
        yield replace(case, references=references, scores=asked_scores(row["reviews"], Taken()))
    else:
        taken.left_out["papers: no review to compare with"] += 1


def _turns(case: Case, talk: Row, taken: Taken) -> Iterator[Case]:
    """One case for each time the reviewer answers: never the review itself, which nothing precedes but the paper."""
    said = [Said(Speaker(message["role"]), message["content"]) for message in talk["messages"]]
    first = next((place for place, one in enumerate(said) if one.speaker is Speaker.ASSISTANT), len(said))
    for place in range(first + 1, len(said)):
        if said[place].speaker is not Speaker.ASSISTANT:
            continue
        if any(talk["holds_update"][:place]):
            taken.left_out["turns: what was said before holds what was added later"] += 1
            continue
        case_id = f"{talk['conversation_id']}/{place}"
        yield replace(case, case_id=case_id, references=(said[place].text,), history=tuple(said[:place]))


def _led(case: Case, talk: Row, taken: Taken) -> Iterator[Case]:
    """One case a conversation: the review is given, and all that followed is there to compare with."""
    cases = list(_turns(case, talk, taken))
    if cases:
        first = cases[0]
        start = next(place for place, one in enumerate(first.history) if one.speaker is Speaker.ASSISTANT) + 1
        said = tuple(Said(Speaker(message["role"]), message["content"]) for message in talk["messages"])
        # Nobody answers what the authors say last, so nobody has to say it.
        end = max(place for place, one in enumerate(said) if one.speaker is Speaker.ASSISTANT) + 1
        yield replace(
            first, case_id=talk["conversation_id"], history=said[:start], following=said[start:end], references=()
        )


def _rebuttal(case: Case, row: Row, taken: Taken, *, led: bool = False) -> Iterator[Case]:
    before = taken.left_out.total()
    found = [one for talk in row["conversations"] for one in (_led if led else _turns)(case, talk, taken)]
    if not found and taken.left_out.total() == before:
        taken.left_out["papers: no reviewer answers the authors"] += 1
    yield from found


OF_PAPER: Mapping[BenchTask, Callable[[Case, Row, Taken], Iterator[Case]]] = {
    BenchTask.ACCEPTANCE: _acceptance,
    BenchTask.SCORES: _scores,
    BenchTask.REVIEW: _review,
    BenchTask.REBUTTAL: _rebuttal,
}


def read_papers(
    release: Release, task: BenchTask, selection: Selection, taken: Taken, *, with_texts: bool = True
) -> Iterator[tuple[CasePaper, Row]]:
    """The papers of a task with their rows, in the order of the release; one is held at a time.

    Args:
        release: With the configurations of the tasks.
        task: The task.
        selection: Which papers.
        taken: Counts what is left out, and why.
        with_texts: Whether the paper's text is read; empty otherwise.

    Raises:
        PeercorpusError: A file of the release cannot be read.
    """
    config = CONFIG[task]
    columns = [name for name in COLUMNS[config] if with_texts or name != "markdown"]
    for row in release.rows(config, selection.side, columns):
        paper = _paper(row)
        why = selection.takes(paper)
        if why is None:
            yield paper, row
        else:
            taken.left_out[f"papers: {why}"] += 1


def read_cases(release: Release, task: BenchTask, selection: Selection, taken: Taken) -> Iterator[Case]:
    """The cases of a task; arguments and errors are those of `read_papers`."""
    for paper, row in read_papers(release, task, selection, taken):
        case = Case(paper.forum_id, task, paper)
        found = _rebuttal(case, row, taken, led=True) if selection.led else OF_PAPER[task](case, row, taken)
        for one in found:
            taken.cases += 1
            yield one
