"""Make rows from single records: posts and meta-reviews, with e-mail addresses and profile ids masked."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from peercorpus.records.ai_reviews import AiReview, select_public
from peercorpus.records.enums import Aspect, PostKind
from peercorpus.records.reviews import MetaReview, Post
from peercorpus.records.scores import choose_score
from peercorpus.wording.untrusted_text import redact_people

Row = dict[str, Any]


def as_row(record: object) -> Row:
    """Return a record as nested dictionaries; times stay `datetime`."""
    row: Row = msgspec.to_builtins(record, builtin_types=(datetime,))
    return row


def blotted_json(text: str) -> str:
    r"""Return JSON in which e-mail addresses and profile ids are masked.

    >>> blotted_json('{"contact": "ada\\u0040example.org"}')
    '{"contact": "[e-mail]"}'
    """
    return json.dumps(redact_people(json.loads(text or "{}")), ensure_ascii=False)


def post_rows(posts: Sequence[Post], review_ids: set[str]) -> list[Row]:
    """Return posts in time order, without those that are in `reviews`; other review posts show their current text."""
    kept = [post for post in posts if not (post.kind is PostKind.REVIEW and post.post_id in review_ids)]
    kept.sort(key=lambda post: (post.created_at is None, post.created_at, post.post_id))
    rows: list[Row] = redact_people([as_row(post) | {"extra": blotted_json(post.extra)} for post in kept])
    return rows


NOTHING_ANSWERED = MetaReview(field=None, recommendation=None, recommends=None, scores=(), justifications=())
"""Empty answers of a meta-review without a form, from a published record."""


def meta_review_rows(posts: Sequence[Post]) -> list[Row]:
    """Return the meta-reviews among some posts in time order, including those inside decisions."""
    kept = [post for post in posts if post.kind is PostKind.META_REVIEW or post.meta_review is not None]
    kept.sort(key=lambda post: (post.created_at is None, post.created_at, post.post_id))
    rows: list[Row] = redact_people([_meta_review_row(post) for post in kept])
    return rows


def ai_review_rows(reviews: Sequence[AiReview]) -> list[Row]:
    """Return the public reviews of an AI with their public replies, in time order."""
    kept = sorted(
        select_public(reviews), key=lambda review: (review.created_at is None, review.created_at, review.ai_review_id)
    )
    rows: list[Row] = redact_people([_ai_review_row(review) for review in kept])
    return rows


def _ai_review_row(review: AiReview) -> Row:
    row = as_row(review)
    replies = [reply | {"extra": blotted_json(reply["extra"])} for reply in row["replies"]]
    return row | {"replies": replies, "extra": blotted_json(review.extra)}


def _meta_review_row(post: Post) -> Row:
    answers = post.meta_review or NOTHING_ANSWERED
    recommended = next((score for score in answers.scores if score.field == answers.field), None)
    confidence = choose_score(answers.scores, Aspect.CONFIDENCE, "confidence")
    row = as_row(post) | as_row(answers) | {"recommendation_field": answers.field, "extra": blotted_json(post.extra)}
    for prefix, score in (("recommendation", recommended), ("confidence", confidence)):
        for name in ("value", "low", "high", "higher_is_better", "unified", "label"):
            row[f"{prefix}_{name}"] = score and getattr(score, name)
    return row | {"confidence": row["confidence_value"]}
