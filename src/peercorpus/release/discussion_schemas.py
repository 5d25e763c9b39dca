"""Columns of the configurations that are about the discussion: points, answers, AI reviews, meta-reviews, questions."""

import pyarrow as pa

from peercorpus.records.ai_reviews import AiReply, SurveyAnswer
from peercorpus.records.arrow_schema import arrow_type
from peercorpus.records.points import PointChange
from peercorpus.release.schemas import (
    AFTER_DECISION,
    AT_DECISION,
    BEFORE_AND_AFTER,
    COUNT,
    DECISION,
    GRADE,
    KEYWORDS,
    LICENCE_OF_NOTE,
    MARKDOWN,
    NUMBER,
    PLACE,
    REVIEWER,
    SCORE,
    SCORE_CHANGE,
    SECTION,
    STATUS,
    TASK,
    TEXT,
    TEXTS,
    TIME,
    TRUTH,
    column,
    describe,
)

_POINT_ID = column("point_id", TEXT, "`<review_id>/<number>`")
_REVIEW_ID = column("review_id", TEXT, "as in `reviews`")
_VERBATIM = "in the verbatim text, in which e-mail addresses and profile ids are not masked"
CHANGE_OF_POINT = describe(
    arrow_type(PointChange),
    number="as in `changes`",
    sign="the evidence that it concerns the point: `promise`, `place` or `terms`",
    shared="the words, place or promise that tell, verbatim",
)
POINTS = pa.schema(
    [
        _POINT_ID,
        *PLACE,
        _REVIEW_ID,
        REVIEWER,
        column("number", COUNT, "place within the review, from 1"),
        column("field", TEXT, "the form's own name of the field"),
        column("section_kind", TEXT, "what the field is for: `weaknesses`, `questions`, …"),
        column("start", COUNT, f"offset of its first character in the field, {_VERBATIM}"),
        column("end", COUNT, "offset after its last character"),
        column("text", TEXT, "the passage; those of a field, joined in order, are its text as first given, if known"),
        column(
            "kind",
            TEXT,
            "what it does: `weakness`, `question`, `suggestion`, `minor`, `limitation`, `strength`, `summary`, `other`",
        ),
        column(
            "kind_source",
            TEXT,
            "how the kind is known: `field`, `heading`, `words`, or by the `model` that `inputs.json` names; `none`"
            " where there is no evidence",
        ),
        column("label", TEXT, 'as the reviewer wrote it: "W2", "(3)"; null if it has none'),
        column("aspect", TEXT, "which quality of the paper it is about; null if not known"),
        column("aspect_source", TEXT, "how the aspect is known: `words` or `model`; null where it is not"),
        column("answers", COUNT, "rows of `answers` for it"),
        column("reaction", TEXT, "`resolved`, `partly`, `not_resolved`, by the reviewer's later words, else null"),
        column("reaction_scope", TEXT, "whether those words are about this `point` or about `all` points"),
        column("reaction_text", TEXT, "the words"),
        column("reaction_post_id", TEXT, "their post, or the review where they were added to it"),
        column("reacted_at", TIME, "when they were posted; null if not known, or added to the review"),
        column("score_changes", pa.list_(SCORE_CHANGE), "changes of scores at the turn of those words"),
        column("changes", pa.list_(CHANGE_OF_POINT), "changes of the paper that concern it"),
    ]
)
ANSWERS = pa.schema(
    [
        _POINT_ID,
        *PLACE,
        _REVIEW_ID,
        REVIEWER,
        column("number", COUNT, "place among the answers to the point, from 1"),
        column("post_id", TEXT, "the authors' post, as in `posts`"),
        column("start", COUNT, f"offset of its first character in the post, {_VERBATIM}"),
        column("end", COUNT, "offset after its last character"),
        column("text", TEXT, "the passage"),
        column(
            "method",
            TEXT,
            "the main evidence that it answers the point: `quote`, `label`, `order`, `similarity`, or a `model`",
        ),
        column(
            "confidence",
            NUMBER,
            "share of such answers that people called right, 0 to 1; null if a model found it (not measured)",
        ),
        column("is_to_all", TRUTH, "whether the post addresses several or all reviewers"),
        column("created_at", TIME, "when the post was posted; null if not known"),
        AFTER_DECISION,
    ]
)


_UNPUBLISHED = frozenset({"readers_public", "deleted"})
"""Fields with the same value in every published reply."""
ANSWER = describe(
    arrow_type(SurveyAnswer),
    field="the survey's own name of the question",
    answer="verbatim",
    rank="its place in `answers`, from 1; null if it is not one of them, such as `Unsure`",
    answers="what the survey offers, the best last; empty for free text, and if the question is not known",
)
REPLY = describe(
    pa.struct([field for field in arrow_type(AiReply) if field.name not in {*_UNPUBLISHED, "survey"}]),
    reply_to="the AI review, or another reply to it; null if that is not here",
    kind="`comment`, `rebuttal`, `survey`, …",
    role="who speaks: `author`, `reviewer`, `area_chair`, …; `ai`: the AI itself",
    signature="the anonymous id within the paper; `public_<pseudonym>` for people who signed with their name",
    invitation="verbatim",
    title="verbatim",
    text="the prose; several fields each follow their name as a heading; empty for a survey",
    extra="JSON of every other field",
)
AI_REVIEWS = pa.schema(
    [
        *PLACE,
        column("ai_review_id", TEXT, "OpenReview's id of the post"),
        column("form_id", TEXT, "the invitation whose form it was read with; null if none is held"),
        column("kind", TEXT, "`ai_review`"),
        column(
            "certainty", TEXT, "`certain`: the venue documents that an AI wrote it; `possible`: only a name says so"
        ),
        column("role", TEXT, "`ai`, also where the chairs sign"),
        column("signature", TEXT, "who signs it: `AI_Reviewer`, `Reviewer_AIRev1`, `Program_Chairs`, …"),
        column("invitation", TEXT, "verbatim"),
        column("created_at", TIME),
        column("modified_at", TIME),
        column("title", TEXT, "its heading, verbatim"),
        column("scores", pa.list_(SCORE), "scores that it gives, as they stand now"),
        column("sections", pa.list_(SECTION), "every text of the form, as it stands now"),
        LICENCE_OF_NOTE,
        column("extra", TEXT, "JSON of every answer that is neither score nor text"),
        column(
            "replies",
            pa.list_(pa.struct([*REPLY, column("survey", pa.list_(ANSWER), "the answers of a survey that rates it")])),
            "every public post below it, in time order",
        ),
    ]
)


_BEFORE_META_REVIEW = "before the decision and before the first meta-review here"
TASK_META_REVIEW = pa.struct(
    [
        column("post_id", TEXT, "as in `meta_reviews`"),
        column("kind", TEXT, "`meta_review`; `decision` if the decision contains the meta-review"),
        column("role", TEXT, "who speaks: `area_chair`, `senior_area_chair`, `program_chair`, …"),
        column("created_at", TIME),
        column("text", TEXT, "the prose; several fields each follow their name as a heading"),
        column("recommendation", TEXT, "verbatim; null if the form asks for none"),
        column("recommends", TEXT, "what its words mean: `accepted`, `rejected`, …; null: not known"),
        AFTER_DECISION,
    ]
)
TASK_TURN = pa.struct(
    [
        column("role", TEXT, "who speaks: `reviewer`, `author`, …"),
        column("is_own", TRUTH, "whether it is the reviewer whose exchange this is"),
        column("text", TEXT, "of a review its first text, if that is known"),
        column("post_ids", TEXTS, "the posts it was made from"),
    ]
)
TASK_EXCHANGE = pa.struct(
    [
        column("review_id", TEXT),
        REVIEWER,
        AT_DECISION,
        *BEFORE_AND_AFTER,
        column("scores", pa.list_(SCORE), "every score of the review"),
        column("turns", pa.list_(TASK_TURN), f"the review and what followed it, {_BEFORE_META_REVIEW}"),
    ]
)
TASK_RESPONSE = pa.struct([column("post_id", TEXT), column("text", TEXT)])
META_REVIEW_SFT = pa.schema(
    [
        *TASK,
        KEYWORDS,
        STATUS,
        DECISION,
        GRADE,
        MARKDOWN,
        column("meta_reviews", pa.list_(TASK_META_REVIEW), "those not posted after the decision, in time order"),
        column("exchanges", pa.list_(TASK_EXCHANGE), "one per review, in time order"),
        column("responses", pa.list_(TASK_RESPONSE), f"what the authors wrote to everyone, {_BEFORE_META_REVIEW}"),
        column("reviews_left_out", COUNT, "reviews that were, or may have been, written after the decision"),
        column("turns_left_out", COUNT, "turns and responses that came after the decision or a meta-review"),
        column("tell_decision", COUNT, "of these, what is left out as its words state the decision on the paper"),
    ]
)


ACCEPTANCE = pa.schema(
    [
        *PLACE,
        GRADE,
        column("question", TEXT, "the paper as the reviewers read it, and what the benchmark asks about it"),
        column("target", TEXT, "`accept` or `reject`"),
    ]
)
