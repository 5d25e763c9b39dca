"""Reviews, posts, versions and scores of one forum → rows of their published tables; nobody's address stays in them."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from peercorpus.chosen import first_and_last, unified_rating
from peercorpus.kinds import Aspect, Phase, PostKind
from peercorpus.openreview.objects import blot_people
from peercorpus.publish.reviews import chosen_score
from peercorpus.records import PaperVersion, Post, Review, Score

Row = dict[str, Any]
UNREVISED = "unrevised"
"""The source of a first score of which nothing but the review is recorded: it was never changed."""
NAMING = re.compile(r"author|bibtex|paperhash", re.IGNORECASE)
"""Fields in which OpenReview names authors: in full, or the first by surname (`ada|sorting_by_colour`)."""


def as_row(record: object) -> Row:
    """A record as nested dictionaries, with its times as they are."""
    row: Row = msgspec.to_builtins(record, builtin_types=(datetime,))
    return row


def blotted_json(text: str) -> str:
    r"""JSON whose texts name nobody.

    >>> blotted_json('{"contact": "ada\\u0040example.org"}')
    '{"contact": "[e-mail]"}'
    """
    return json.dumps(blot_people(json.loads(text or "{}")), ensure_ascii=False)


def without_authors(text: str, authors: Sequence[str]) -> str:
    r"""JSON of a note's fields without those that name its authors.

    >>> without_authors('{"paperhash": "ada|sorts", "code": "a.git", "by": ["Bo Ek"]}', ["Bo Ek"])
    '{"code": "a.git"}'
    """
    names = [name.casefold() for name in authors if " " in name]

    def is_named(value: object) -> bool:
        told = json.dumps(value, ensure_ascii=False).casefold()
        return any(name in told for name in names)

    fields = json.loads(text or "{}").items()
    kept = {field: value for field, value in fields if not NAMING.search(field) and not is_named(value)}
    return json.dumps(kept, ensure_ascii=False)


def review_row(review: Review, rebuttal: str) -> Row:
    """One review, typed.

    Args:
        review: The review.
        rebuttal: What the authors answered to it; empty where they did not.
    """
    row = as_row(review) | {
        "rating": chosen_score(review.scores, Aspect.RECOMMENDATION, "rating"),
        "rating_unified": unified_rating(review.scores),
        "confidence": chosen_score(review.scores, Aspect.CONFIDENCE, "confidence"),
        "rebuttal": rebuttal,
        "extra": blotted_json(review.extra),
    }
    blotted: Row = blot_people(row)
    return blotted


def post_rows(posts: Sequence[Post], review_ids: set[str]) -> list[Row]:
    """Posts in time order, without those whose words the reviews hold; of a review that is none, what it says now."""
    kept = [post for post in posts if not (post.kind is PostKind.REVIEW and post.post_id in review_ids)]
    kept.sort(key=lambda post: (post.created_at is None, post.created_at, post.post_id))
    rows: list[Row] = blot_people([as_row(post) | {"extra": blotted_json(post.extra)} for post in kept])
    return rows


def version_row(version: PaperVersion, place: Row) -> Row:
    """One version, with its evidence beside it."""
    row = as_row(version)
    blotted: Row = blot_people(row | row["evidence"] | place)
    return blotted


def before_and_after(scores: Sequence[Score], *, revised: bool | None) -> Row:
    """Recommendation and confidence as first given and as they stand now; None where that is not recorded."""
    row: Row = {}
    for name, aspect in (("rating", Aspect.RECOMMENDATION), ("confidence", Aspect.CONFIDENCE)):
        first, last = first_and_last(scores, aspect, name, revised=revised)
        row |= {f"{name}_initial": first.value if first else None, f"{name}_final": last.value if last else None}
    return row


def score_rows(review: Review, place: Row) -> Iterator[Row]:
    """One row a score, in the order of the form."""
    for field in dict.fromkeys(score.field for score in review.scores):
        of_field = [score for score in review.scores if score.field == field]
        row: Row = _phase(of_field[0], Phase.INITIAL, UNREVISED) if review.revised is False else {}
        for score in reversed(of_field):
            row |= _phase(score, score.phase, score.source.value)
        changes = [change for change in review.score_changes if change.field == field]
        times = [change.changed_at for change in changes if change.changed_at is not None]
        known = {
            "review_id": review.review_id,
            "reviewer": review.reviewer,
            "aspect": of_field[-1].aspect.value,
            "field": field,
            "low": of_field[-1].low,
            "high": of_field[-1].high,
            "changes": len(changes),
            "changed_at": max(times, default=None),
            "revised": review.revised,
        }
        blotted: Row = blot_people(row | known | place)
        yield blotted


def _phase(score: Score, phase: Phase, source: str) -> Row:
    return {
        phase.value: score.value,
        f"{phase}_unified": score.unified,
        f"{phase}_label": score.label,
        f"{phase}_source": source,
    }
