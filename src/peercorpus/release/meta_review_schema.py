"""Columns of `meta_review_sft`, the configuration for training on meta-reviewing."""

import pyarrow as pa

from peercorpus.release.schemas import (
    AFTER_DECISION,
    AT_DECISION,
    BEFORE_AND_AFTER,
    COUNT,
    DECISION,
    GRADE,
    KEYWORDS,
    MARKDOWN,
    PLACE,
    REVIEWER,
    SCORE,
    STATUS,
    TASK,
    TEXT,
    TEXTS,
    TIME,
    TRUTH,
    column,
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
