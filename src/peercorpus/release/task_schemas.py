"""The columns of the configurations for tasks."""

from datetime import datetime
from typing import Annotated

from peercorpus.records.scores import Score
from peercorpus.release.columns import Columns, Count
from peercorpus.release.schemas import (
    AfterDecision,
    AtDecision,
    ConversationId,
    Decision,
    Keywords,
    Markdown,
    Outcome,
    Place,
    Reviewer,
    TextGrade,
    Track,
    Verbatim,
)


class BeforeAndAfter(Columns):
    rating_initial: Annotated[float, "the recommendation as first given, on the venue's own scale; null: not known"]
    rating_at_decision: Annotated[float, "as it stood when the decision was posted; null: not known, see `at_decision`"]
    rating_final: Annotated[float, "as it stands now"]
    confidence_initial: Annotated[float, "as `rating_initial`"]
    confidence_at_decision: Annotated[float, "as `rating_at_decision`"]
    confidence_final: Annotated[float, "as it stands now"]


class ByReviewer(Columns):
    reviewer: Reviewer
    at_decision: AtDecision


class TaskPaper(Place):
    track: Track
    title: Verbatim
    abstract: Verbatim


class DecidedPaper(TaskPaper):
    keywords: Keywords
    status: Outcome
    decision: Decision
    grade: TextGrade
    markdown: Markdown


class ReviewId(Columns):
    review_id: str


class ReviewText(ReviewId):
    reviewer: Reviewer
    title: Annotated[str, "the reviewer's own heading"]
    text: Annotated[
        str,
        "the prose, as first given if that is known, otherwise as it stood at the decision, otherwise as it stands"
        " now; several fields each follow their name",
    ]
    holds_update: Annotated[bool, "whether the text states that a part was added later"]
    may_be_later: Annotated[
        bool,
        "whether a part of the text may be later than the decision: the review was changed after it, and nothing shows"
        " what it said before",
    ]
    scores: Annotated[tuple[Score, ...], "every score"]
    posted_after_decision: AfterDecision
    at_decision: AtDecision


class TaskReview(ReviewText, BeforeAndAfter): ...


class ReviewSft(
    DecidedPaper,
    name="review_sft",
    per="paper and its reviews, for training on reviewing",
    group_rows=200,
    is_task=True,
):
    reviews: Annotated[tuple[TaskReview, ...], "in time order"]


class Message(Columns):
    role: Annotated[str, "`user` or `assistant`"]
    content: str


class TaskConversation(ConversationId, ByReviewer, BeforeAndAfter):
    messages: Annotated[
        tuple[Message, ...],
        "what follows the paper until the decision, in strict alternation: the reviewer is the `assistant`, the"
        " authors the `user`; what others say is in a marked block",
    ]
    post_ids: Annotated[tuple[tuple[str, ...], ...], "for each message, the posts it was made from"]
    holds_update: Annotated[tuple[bool, ...], "for each message, whether it states that a part was added later"]
    after_decision: Annotated[Count, "turns and responses to all that came after the decision: they are in no message"]


class Rebuttal(
    TaskPaper,
    name="rebuttal",
    per="paper and its conversations, for training on discussion",
    group_rows=200,
    is_task=True,
):
    grade: TextGrade
    markdown: Markdown
    conversations: Annotated[tuple[TaskConversation, ...], "one per reviewer"]


_BEFORE_META_REVIEW = "before the decision and before the first meta-review here"


class TaskMetaReview(Columns):
    post_id: Annotated[str, "as in `meta_reviews`"]
    kind: Annotated[str, "`meta_review`; `decision` if the decision contains the meta-review"]
    role: Annotated[str, "who speaks: `area_chair`, `senior_area_chair`, `program_chair`, …"]
    created_at: datetime
    text: Annotated[str, "the prose; several fields each follow their name as a heading"]
    recommendation: Annotated[str, "verbatim; null if the form asks for none"]
    recommends: Annotated[str, "what its words mean: `accepted`, `rejected`, …; null: not known"]
    posted_after_decision: AfterDecision


class TaskTurn(Columns):
    role: Annotated[str, "who speaks: `reviewer`, `author`, …"]
    is_own: Annotated[bool, "whether it is the reviewer whose exchange this is"]
    text: Annotated[str, "of a review its first text, if that is known"]
    post_ids: Annotated[tuple[str, ...], "the posts it was made from"]


class TaskExchange(ReviewId, ByReviewer, BeforeAndAfter):
    scores: Annotated[tuple[Score, ...], "every score of the review"]
    turns: Annotated[tuple[TaskTurn, ...], f"the review and what followed it, {_BEFORE_META_REVIEW}"]


class TaskResponse(Columns):
    post_id: str
    text: str


class MetaReviewSft(
    DecidedPaper,
    name="meta_review_sft",
    per="paper with its reviews, their discussion and its meta-reviews, for training on meta-reviewing",
    group_rows=200,
    is_task=True,
):
    meta_reviews: Annotated[tuple[TaskMetaReview, ...], "those not posted after the decision, in time order"]
    exchanges: Annotated[tuple[TaskExchange, ...], "one per review, in time order"]
    responses: Annotated[tuple[TaskResponse, ...], f"what the authors wrote to everyone, {_BEFORE_META_REVIEW}"]
    reviews_left_out: Annotated[Count, "reviews that were, or may have been, written after the decision"]
    turns_left_out: Annotated[Count, "turns and responses that came after the decision or a meta-review"]
    tell_decision: Annotated[Count, "of these, what is left out as its words state the decision on the paper"]


class Acceptance(
    Place,
    name="acceptance",
    per="accepted or rejected test paper of `review_sft`, as a question with its answer, for `eval.yaml`",
    group_rows=200,
    is_task=True,
):
    grade: TextGrade
    question: Annotated[str, "the paper as the reviewers read it, and what the benchmark asks about it"]
    target: Annotated[str, "`accept` or `reject`"]
