"""Columns of `points` and `answers`, the configurations for single criticisms and their answers."""

import pyarrow as pa

from peercorpus.records.arrow_schema import arrow_type
from peercorpus.records.points import PointChange
from peercorpus.release.schemas import (
    AFTER_DECISION,
    COUNT,
    NUMBER,
    PLACE,
    REVIEWER,
    SCORE_CHANGE,
    TEXT,
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
