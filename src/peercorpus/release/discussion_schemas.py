"""The columns of points and the answers to them, and of the reviews of an AI."""

from datetime import datetime
from typing import Annotated

from peercorpus.records.ai_reviews import SurveyAnswer
from peercorpus.records.points import PointChange
from peercorpus.records.reviews import Section
from peercorpus.records.scores import Score, ScoreChange
from peercorpus.release.columns import Columns, Count
from peercorpus.release.schemas import AfterDecision, LicenceOfNote, OwnField, Place, Reviewer, Verbatim

_VERBATIM = "in the verbatim text, in which e-mail addresses and profile ids are not masked"


class PointId(Columns):
    point_id: Annotated[str, "`<review_id>/<number>`"]


class OfPoint(PointId, Place):
    review_id: Annotated[str, "as in `reviews`"]
    reviewer: Reviewer


class Points(
    OfPoint,
    name="points",
    per="point of a public review: a single criticism, question or praise, or the text between them",
    group_rows=2_000,
    key=("point_id",),
):
    number: Annotated[Count, "place within the review, from 1"]
    field: OwnField
    section_kind: Annotated[str, "what the field is for: `weaknesses`, `questions`, …"]
    start: Annotated[Count, f"offset of its first character in the field, {_VERBATIM}"]
    end: Annotated[Count, "offset after its last character"]
    text: Annotated[str, "the passage; those of a field, joined in order, are its text as first given, if known"]
    kind: Annotated[
        str,
        "what it does: `weakness`, `question`, `suggestion`, `minor`, `limitation`, `strength`, `summary`, `other`",
    ]
    kind_source: Annotated[
        str,
        "how the kind is known: `field`, `heading`, `words`, or by the `model` that `inputs.json` names; `none` where"
        " there is no evidence",
    ]
    label: Annotated[str, 'as the reviewer wrote it: "W2", "(3)"; null if it has none']
    aspect: Annotated[str, "which quality of the paper it is about; null if not known"]
    aspect_source: Annotated[str, "how the aspect is known: `words` or `model`; null where it is not"]
    answers: Annotated[Count, "rows of `answers` for it"]
    reaction: Annotated[str, "`resolved`, `partly`, `not_resolved`, by the reviewer's later words, else null"]
    reaction_scope: Annotated[str, "whether those words are about this `point` or about `all` points"]
    reaction_text: Annotated[str, "the words"]
    reaction_post_id: Annotated[str, "their post, or the review where they were added to it"]
    reacted_at: Annotated[datetime, "when they were posted; null if not known, or added to the review"]
    score_changes: Annotated[tuple[ScoreChange, ...], "changes of scores at the turn of those words"]
    changes: Annotated[tuple[PointChange, ...], "changes of the paper that concern it"]


class Answers(
    OfPoint,
    name="answers",
    per="passage of the authors' posts that answers a point",
    group_rows=2_000,
    key=("point_id", "number"),
):
    number: Annotated[Count, "place among the answers to the point, from 1"]
    post_id: Annotated[str, "the authors' post, as in `posts`"]
    start: Annotated[Count, f"offset of its first character in the post, {_VERBATIM}"]
    end: Annotated[Count, "offset after its last character"]
    text: Annotated[str, "the passage"]
    method: Annotated[
        str, "the main evidence that it answers the point: `quote`, `label`, `order`, `similarity`, or a `model`"
    ]
    confidence: Annotated[
        float, "share of such answers that people called right, 0 to 1; null if a model found it (not measured)"
    ]
    is_to_all: Annotated[bool, "whether the post addresses several or all reviewers"]
    created_at: Annotated[datetime, "when the post was posted; null if not known"]
    posted_after_decision: AfterDecision


class ReplyToAi(Columns):
    post_id: str
    reply_to: Annotated[str, "the AI review, or another reply to it; null if that is not here"]
    kind: Annotated[str, "`comment`, `rebuttal`, `survey`, …"]
    role: Annotated[str, "who speaks: `author`, `reviewer`, `area_chair`, …; `ai`: the AI itself"]
    invitation: Verbatim
    signature: Annotated[
        str, "the anonymous id within the paper; `public_<pseudonym>` for people who signed with their name"
    ]
    created_at: datetime
    modified_at: datetime
    title: Verbatim
    text: Annotated[str, "the prose; several fields each follow their name as a heading; empty for a survey"]
    extra: Annotated[str, "JSON of every other field"]
    survey: Annotated[tuple[SurveyAnswer, ...], "the answers of a survey that rates it"]


class AiReviews(
    Place,
    name="ai_reviews",
    per="review that an AI wrote or may have written, with its replies; no other configuration has any",
    group_rows=500,
    key=("ai_review_id",),
):
    ai_review_id: Annotated[str, "OpenReview's id of the post"]
    form_id: Annotated[str, "the invitation whose form it was read with; null if none is held"]
    kind: Annotated[str, "`ai_review`"]
    certainty: Annotated[str, "`certain`: the venue documents that an AI wrote it; `possible`: only a name says so"]
    role: Annotated[str, "`ai`, also where the chairs sign"]
    signature: Annotated[str, "who signs it: `AI_Reviewer`, `Reviewer_AIRev1`, `Program_Chairs`, …"]
    invitation: Verbatim
    created_at: datetime
    modified_at: datetime
    title: Annotated[str, "its heading, verbatim"]
    scores: Annotated[tuple[Score, ...], "scores that it gives, as they stand now"]
    sections: Annotated[tuple[Section, ...], "every text of the form, as it stands now"]
    licence: LicenceOfNote
    extra: Annotated[str, "JSON of every answer that is neither score nor text"]
    replies: Annotated[tuple[ReplyToAi, ...], "every public post below it, in time order"]
