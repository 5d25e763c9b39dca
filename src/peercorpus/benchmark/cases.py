"""Read the cases of the five tasks from a release.

Papers, reviews and turns that cannot be used are counted with a reason.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from peercorpus.errors import PeercorpusError
from peercorpus.importers.re2 import RATINGS
from peercorpus.models.chat_messages import Speaker
from peercorpus.records.enums import PUBLISHABLE_GRADES, Aspect, Grade, Status
from peercorpus.records.scores import Score
from peercorpus.release.exports.meta_reviews import scores_at_decision, write_discussion
from peercorpus.release.exports.samples import is_posted_after, may_be_later, scores_before_decision
from peercorpus.release.folder import Release
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import Split
from peercorpus.wording.suggestions import suggest_name

REST = "[The rest of the paper is not shown. Answer all the same.]"
"""Text after the part of a paper that a control shows."""
WORDS_DIGEST = hashlib.sha256(REST.encode()).hexdigest()[:12]
"""First 12 digits of the SHA-256 of this text, which is not part of the prompts that show papers."""


class PaperPart(StrEnum):
    """Part of a paper that a question shows."""

    PAPER = "paper"
    """Its title and text, within the budget."""
    ABSTRACT = "abstract"
    """Its title and abstract."""
    TITLE = "title"

    @property
    def arm(self) -> str:
        """Name of the arm with this part, as in tables."""
        return _ARMS[self]


_ARMS = {PaperPart.PAPER: "the paper", PaperPart.ABSTRACT: "title and abstract", PaperPart.TITLE: "title alone"}
CONTROLS = (PaperPart.ABSTRACT, PaperPart.TITLE)
"""The arms other than the whole paper."""


class BenchTask(StrEnum):
    """A task of the benchmark."""

    ACCEPTANCE = "acceptance"
    """Paper → accepted or rejected."""
    SCORES = "scores"
    """Paper and the scales of the form → the mean of its reviewers' scores for each field."""
    REVIEW = "review"
    """Paper → a review."""
    REBUTTAL = "rebuttal"
    """Paper, review and discussion so far → the reviewer's next message."""
    META_REVIEW = "meta_review"
    """Paper, reviews and their discussion → a meta-review and its recommendation."""

    @property
    def is_written(self) -> bool:
        """Whether the answer is prose, which is compared with human texts."""
        return self in {BenchTask.REVIEW, BenchTask.REBUTTAL, BenchTask.META_REVIEW}


CONFIG = {
    BenchTask.ACCEPTANCE: "review_sft",
    BenchTask.SCORES: "review_sft",
    BenchTask.REVIEW: "review_sft",
    BenchTask.REBUTTAL: "rebuttal",
    BenchTask.META_REVIEW: "meta_review_sft",
}
"""Configuration of a release with the papers of each task."""
_PAPER = ("forum_id", "venue_id", "conference", "year", "title", "abstract", "grade", "markdown")
COLUMNS = {
    "review_sft": (*_PAPER, "status", "reviews"),
    "rebuttal": (*_PAPER, "conversations"),
    "meta_review_sft": (
        *(*_PAPER, "status", "meta_reviews", "exchanges", "responses"),
        *("reviews_left_out", "turns_left_out", "tell_decision"),
    ),
}


@dataclass(frozen=True, slots=True)
class CasePaper:
    """The paper of a case.

    Attributes:
        grade: Grade of evidence that `markdown` is the version that reviewers read.
        markdown: The text of that version.
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
        """Conference and, if known, year, for use in a prompt."""
        return self.conference if self.year is None else f"{self.conference} {self.year}"


@dataclass(frozen=True, slots=True)
class AskedScore:
    """One field of the review form and the reviewers' scores.

    Attributes:
        low: Lowest number of the form's scale.
        high: Highest number of the form's scale.
        values: One score per reviewer, on the venue's own scale: the initial score if known, otherwise the one at the
            decision; the current one only if the time of the decision is unknown.
        is_low_best: Whether a lower number is the better answer according to the form.
    """

    aspect: Aspect
    field: str
    low: float
    high: float
    values: tuple[float, ...]
    is_low_best: bool = False

    @property
    def mean(self) -> float:
        """Mean of the reviewers' scores."""
        return sum(self.values) / len(self.values)


@dataclass(frozen=True, slots=True)
class CaseMessage:
    """One message of a conversation: `user` for the authors, `assistant` for the reviewer."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """One question of the benchmark.

    Attributes:
        case_id: `<forum_id>`, `<forum_id>/unified` on Re²'s scale, or `<forum_id>/<reviewer>/<message>` for a turn of a
            rebuttal; stable across releases.
        accepted: The decision; None in other tasks than `acceptance` and `meta_review`.
        scores: Fields of the form to predict, in the form's order; for `meta_review` the reviewers' scores, which the
            history states. May be empty.
        recommendations: For `acceptance` only: the reviewers' recommendations, which no question shows.
        references: The human reviews or meta-reviews, or the one human turn; empty in other tasks.
        history: The conversation before the turn, or the reviews with their discussion; empty in other tasks.
    """

    case_id: str
    task: BenchTask
    paper: CasePaper
    accepted: bool | None = None
    scores: tuple[AskedScore, ...] = ()
    recommendations: tuple[AskedScore, ...] = ()
    references: tuple[str, ...] = ()
    history: tuple[CaseMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseSelection:
    """Which cases of a release to use.

    Attributes:
        venues: Venue ids or conference names; empty for all.
        worst_grade: The worst grade of text to accept.
        unified: For `scores` only: ask for the overall recommendation on Re²'s scale of 1 to 10, instead of the fields
            of the form.
    """

    split: Split = Split.TEST
    venues: frozenset[str] = frozenset()
    worst_grade: Grade = PUBLISHABLE_GRADES[-1]
    unified: bool = False

    def takes(self, paper: CasePaper) -> str | None:
        """Return the reason why a paper is left out, or None if it is used."""
        if self.venues and not {paper.venue_id, paper.conference} & self.venues:
            return "of another venue"
        grades = list(Grade)
        if grades.index(paper.grade) > grades.index(self.worst_grade):
            return f"its text is '{paper.grade}' only"
        return None


def held_tasks(release: Release, split: Split) -> list[BenchTask]:
    """Return the tasks that have papers in a split of a release."""
    return [task for task in BenchTask if release.count(CONFIG[task], split)]


def check_venues(release: Release, names: Collection[str]) -> None:
    """Check that each name is a venue id or a conference of a release; any other would select nothing.

    Raises:
        PeercorpusError: One is not; the message suggests the nearest.
    """
    if not names:
        return
    rows = release.rows("papers", None, ["venue_id", "conference"])
    known = {str(value) for row in rows for value in row.values() if value is not None}
    for name in sorted(names):
        if known and name not in known:
            raise PeercorpusError(
                f"The release '{release.folder}' has no venue or conference '{name}'; {suggest_name(name, known)}"
            )


@dataclass(slots=True)
class CaseCounts:
    """Counts of the cases of a split and of what was left out.

    Attributes:
        left_out: Number of papers, reviews, scores and turns left out, by kind and reason.
    """

    cases: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def _add_decision(case: Case, row: Row, counts: CaseCounts) -> Iterator[Case]:
    """Yield a case with the decision on its paper, if that was acceptance or rejection."""
    status = row["status"]
    if status in {Status.ACCEPTED, Status.REJECTED}:
        yield replace(case, accepted=status == Status.ACCEPTED)
    else:
        counts.left_out[f"papers: {status or 'the decision is not public'}"] += 1


def _make_acceptance_cases(case: Case, row: Row, counts: CaseCounts) -> Iterator[Case]:
    yield from _add_decision(replace(case, recommendations=asked_scores(row["reviews"], CaseCounts())), row, counts)


def _group_by_scale(
    reviews: Sequence[Row], read: Callable[[Row], list[Score]]
) -> dict[tuple[str, float, float], list[Score]]:
    """Return the scores by question and scale, in the order of the reviews, as `read` gives them."""
    scores_by_scale: dict[tuple[str, float, float], list[Score]] = {}
    for review in reviews:
        for score in read(review):
            if score.value is not None and score.low is not None and score.high is not None and score.low < score.high:
                scores_by_scale.setdefault((score.key, score.low, score.high), []).append(score)
    return scores_by_scale


def asked_scores(
    reviews: Sequence[Row], counts: CaseCounts, read: Callable[[Row], list[Score]] = scores_before_decision
) -> tuple[AskedScore, ...]:
    """Return the fields with scores on a scale; if a field has two scales in a paper, the first one counts.

    Args:
        reviews: The reviews.
        counts: Receives the counts of what is left out.
        read: Returns the scores of a review that count.
    """
    asked: dict[str, AskedScore] = {}
    for (name, low, high), scores in _group_by_scale(reviews, read).items():
        if name in asked:
            counts.left_out["scores: on a second scale of one field"] += len(scores)
            continue
        values = tuple(score.value for score in scores if score.value is not None)
        asked[name] = AskedScore(
            aspect=scores[0].aspect,
            field=name,
            low=low,
            high=high,
            values=values,
            is_low_best=scores[0].higher_is_better is False,
        )
    return tuple(asked.values())


def _make_score_cases(case: Case, row: Row, counts: CaseCounts) -> Iterator[Case]:
    asked = asked_scores(row["reviews"], counts)
    if asked:
        yield replace(case, scores=asked)
    else:
        counts.left_out["papers: no score on a known scale"] += 1


UNIFIED_FIELD = "unified rating"
"""Name of the only field of a case on Re²'s scale, which no form has."""


def _find_unified_rating(review: Row) -> float | None:
    """Return a review's recommendation on Re²'s scale: as stated by Re², otherwise from the form's words."""
    scores = [score for score in scores_before_decision(review) if score.aspect is Aspect.RECOMMENDATION]
    places = (score.unified if score.stated_unified is None else score.stated_unified for score in scores)
    return next((place for place in places if place is not None), None)


def _make_unified_cases(case: Case, row: Row, counts: CaseCounts) -> Iterator[Case]:
    places = [_find_unified_rating(review) for review in row["reviews"]]
    known = tuple(place for place in places if place is not None)
    if known:
        counts.left_out["reviews: no place on Re²'s scale is known"] += len(places) - len(known)
        counts.left_out = +counts.left_out
        rating = AskedScore(Aspect.RECOMMENDATION, UNIFIED_FIELD, min(RATINGS), max(RATINGS), known)
        yield replace(case, case_id=f"{case.case_id}/unified", scores=(rating,))
    else:
        counts.left_out["papers: no recommendation whose place on Re²'s scale is known"] += 1


def readable_reviews(reviews: Sequence[Row], counts: CaseCounts) -> Iterator[Row]:
    """Yield the reviews with a text, except those posted or possibly changed after the decision, or added to later."""
    for review in reviews:
        if not (review["text"] or "").strip():
            counts.left_out["reviews: without text"] += 1
        elif is_posted_after(review):
            counts.left_out["reviews: posted after the decision"] += 1
        elif may_be_later(review):
            counts.left_out["reviews: changed after the decision, with unknown content at the decision"] += 1
        elif review["holds_update"]:
            counts.left_out["reviews: contain later additions"] += 1
        else:
            yield review


def _make_review_cases(case: Case, row: Row, counts: CaseCounts) -> Iterator[Case]:
    references = tuple(review["text"] for review in readable_reviews(row["reviews"], counts))
    if references:
        yield replace(case, references=references, scores=asked_scores(row["reviews"], CaseCounts()))
    else:
        counts.left_out["papers: no review to compare with"] += 1


def read_messages(rows: Sequence[Row]) -> list[CaseMessage]:
    """Return the messages of a conversation in a release."""
    return [CaseMessage(Speaker(row["role"]), row["content"]) for row in rows]


def count_later_turns(talk: Row, counts: CaseCounts) -> None:
    """Count the turns of a conversation that are in no message because they were posted after the decision."""
    if later := talk.get("after_decision"):
        counts.left_out["turns: posted after the decision"] += later


def _make_turn_cases(case: Case, talk: Row, counts: CaseCounts) -> Iterator[Case]:
    """Yield one case for each reply of the reviewer, except the review itself."""
    count_later_turns(talk, counts)
    messages = read_messages(talk["messages"])
    first = next(
        (index for index, message in enumerate(messages) if message.speaker is Speaker.ASSISTANT), len(messages)
    )
    for index in range(first + 1, len(messages)):
        if messages[index].speaker is not Speaker.ASSISTANT:
            continue
        if any(talk["holds_update"][:index]):
            counts.left_out["turns: the history contains later additions"] += 1
            continue
        case_id = f"{talk['conversation_id']}/{index}"
        yield replace(case, case_id=case_id, references=(messages[index].text,), history=tuple(messages[:index]))


def _make_rebuttal_cases(case: Case, row: Row, counts: CaseCounts) -> Iterator[Case]:
    before = counts.left_out.total()
    cases = [turn_case for talk in row["conversations"] for turn_case in _make_turn_cases(case, talk, counts)]
    if not cases and counts.left_out.total() == before:
        counts.left_out["papers: no reviewer answers the authors"] += 1
    yield from cases


def _directed_scores_at_decision(review: Row) -> list[Score]:
    """Return the last scores before the decision for which the form shows that a higher number is better."""
    return [score for score in scores_at_decision(review) if score.higher_is_better]


def _make_meta_review_cases(case: Case, row: Row, counts: CaseCounts) -> Iterator[Case]:
    """Yield one case if the paper was accepted or rejected and there is a readable review."""
    left_out = {
        "reviews: not certain to be from before the decision": row["reviews_left_out"],
        "turns: posted after the decision or the meta-review": row["turns_left_out"] - row["tell_decision"],
        "turns: state the decision": row["tell_decision"],
    }
    counts.left_out += Counter(left_out)
    discussion = write_discussion(row)
    if not discussion:
        counts.left_out["papers: no review that is certain to be from before the decision"] += 1
        return
    asked = asked_scores(row["exchanges"], CaseCounts(), _directed_scores_at_decision)
    references = tuple(meta_review["text"] for meta_review in row["meta_reviews"])
    history = (CaseMessage(Speaker.USER, discussion),)
    yield from _add_decision(replace(case, scores=asked, references=references, history=history), row, counts)


CASE_MAKERS: Mapping[BenchTask, Callable[[Case, Row, CaseCounts], Iterator[Case]]] = {
    BenchTask.ACCEPTANCE: _make_acceptance_cases,
    BenchTask.SCORES: _make_score_cases,
    BenchTask.REVIEW: _make_review_cases,
    BenchTask.REBUTTAL: _make_rebuttal_cases,
    BenchTask.META_REVIEW: _make_meta_review_cases,
}


def read_papers(
    release: Release, task: BenchTask, selection: CaseSelection, counts: CaseCounts, *, with_texts: bool = True
) -> Iterator[tuple[CasePaper, Row]]:
    """Yield the papers of a task with their rows, in the order of the release; only one is in memory at a time.

    Args:
        release: A release with the configurations of the tasks.
        task: The task.
        selection: Selection of the papers.
        counts: Receives the counts of what is left out.
        with_texts: Whether to read the text of each paper, which is empty otherwise.

    Raises:
        PeercorpusError: A file of the release cannot be read.
    """
    config = CONFIG[task]
    columns = [name for name in COLUMNS[config] if with_texts or name != "markdown"]
    for row in release.rows(config, selection.split, columns):
        paper = CasePaper(**{name: row.get(name, "") for name in _PAPER} | {"grade": Grade(row["grade"])})
        why = selection.takes(paper)
        if why is None:
            yield paper, row
        else:
            counts.left_out[f"papers: {why}"] += 1


def read_cases(release: Release, task: BenchTask, selection: CaseSelection, counts: CaseCounts) -> Iterator[Case]:
    """Yield the cases of a task; arguments and errors are those of `read_papers`."""
    for paper, row in read_papers(release, task, selection, counts):
        case = Case(paper.forum_id, task, paper)
        if selection.unified and task is BenchTask.SCORES:
            cases = _make_unified_cases(case, row, counts)
        else:
            cases = CASE_MAKERS[task](case, row, counts)
        for made_case in cases:
            counts.cases += 1
            yield made_case
