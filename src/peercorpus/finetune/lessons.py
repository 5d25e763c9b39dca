"""What a model learns: one lesson a paper, a review or a conversation, in the words that the benchmark asks in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from peercorpus.benchmark.answers import write_review
from peercorpus.benchmark.asking import messages, right_answer
from peercorpus.benchmark.cases import (
    OF_PAPER,
    AskedScore,
    BenchTask,
    Case,
    Said,
    Taken,
    asked_scores,
    readable_reviews,
)
from peercorpus.dialogues import Speaker, plain
from peercorpus.publish.record_rows import Row
from peercorpus.publish.training_rows import first_known, read_scores


class Subject(StrEnum):
    """What a model is tuned for."""

    ACCEPTANCE = "acceptance"
    SCORES = "scores"
    REVIEW = "review"
    REBUTTAL = "rebuttal"
    MIXED = "mixed"
    """All four."""

    @property
    def tasks(self) -> tuple[BenchTask, ...]:
        """The tasks of the benchmark that it is tuned for."""
        return tuple(BenchTask) if self is Subject.MIXED else (BenchTask(self.value),)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One sample to learn from.

    Attributes:
        lesson_id: Among those of its task: the forum's id, the review's, or the conversation's.
        case: What is asked; its history is all that follows the paper, the last word the assistant's. What the
            assistant says there is what is learnt.
        reviewer: Whose words they are; None where they are of all reviewers, or of the chairs.
        record_ids: Of the posts that it is made of besides the paper; of `scores`, the reviews.
        words: Of the review that it holds; 0 where it holds none.
    """

    lesson_id: str
    case: Case
    reviewer: str | None
    record_ids: tuple[str, ...]
    words: int = 0

    @property
    def task(self) -> BenchTask:
        """Of the benchmark."""
        return self.case.task

    def messages(self, paper: str) -> list[Said]:
        """All that is said, the assistant last, as the benchmark says it.

        Args:
            paper: Its title and text as they are shown.
        """
        return messages(self.case, paper)


def _answered(case: Case, answer: str) -> Case:
    return replace(case, history=(*case.history, Said(Speaker.ASSISTANT, answer)))


def _of_whole_paper(case: Case, row: Row, taken: Taken) -> Iterator[Lesson]:
    of_reviews = case.task is BenchTask.SCORES
    record_ids = tuple(review["review_id"] for review in row["reviews"]) if of_reviews else ()
    for one in OF_PAPER[case.task](case, row, taken):
        yield Lesson(one.case_id, _answered(one, right_answer(one)), None, record_ids)


def _own_scores(review: Row, asked: Sequence[AskedScore]) -> dict[str, float]:
    """What one reviewer gave of what is asked: as first given where that is known; nothing of another scale."""
    given = {score.field: score for score in first_known(read_scores(review["scores"]))}
    scores = {}
    for one in asked:
        score = given.get(one.field)
        if score is not None and score.value is not None and (score.low, score.high) == (one.low, one.high):
            scores[one.field] = score.value
    return scores


def _of_reviews(case: Case, row: Row, taken: Taken) -> Iterator[Lesson]:
    asked = asked_scores(row["reviews"], taken)
    for review in readable_reviews(row["reviews"], taken):
        text = plain(review["text"].strip())
        told = _answered(replace(case, scores=asked), write_review(text, _own_scores(review, asked)))
        yield Lesson(review["review_id"], told, review["reviewer"], (review["review_id"],), len(text.split()))


def _until_updated(talk: Row) -> list[Said]:
    """A conversation up to the reviewer's last word before the first message that was added to later."""
    end = talk["holds_update"].index(True) if True in talk["holds_update"] else len(talk["messages"])
    said = [Said(Speaker(message["role"]), message["content"]) for message in talk["messages"][:end]]
    while said and said[-1].speaker is Speaker.USER:
        said.pop()
    return said


def _of_conversations(case: Case, row: Row, taken: Taken) -> Iterator[Lesson]:
    for talk in row["conversations"]:
        said = _until_updated(talk)
        of_reviewer = [one.text for one in said if one.speaker is Speaker.ASSISTANT]
        if len(of_reviewer) < 2:
            taken.left_out["conversations: no reviewer answers the authors before something is added later"] += 1
            continue
        record_ids = tuple(post_id for posts in talk["post_ids"][: len(said)] for post_id in posts)
        told = replace(case, history=tuple(said))
        yield Lesson(talk["conversation_id"], told, talk["reviewer"], record_ids, len(of_reviewer[0].split()))


def lessons_of(case: Case, row: Row, taken: Taken) -> Iterator[Lesson]:
    """The lessons of one paper.

    Args:
        case: The paper, and the task.
        row: What the release has of it for this task.
        taken: Counts what is left out, and why.
    """
    made = {BenchTask.REVIEW: _of_reviews, BenchTask.REBUTTAL: _of_conversations}.get(case.task, _of_whole_paper)
    yield from made(case, row, taken)
