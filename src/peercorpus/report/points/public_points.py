"""Count the points of public reviews that ask for an answer, and which of them have a public one.

Only the kind and aspect of a point and the data on its answers are kept, never its words.
"""

from collections.abc import Iterable

import polars as pl

from peercorpus.records.enums import Role
from peercorpus.records.points import CRITICAL_KINDS
from peercorpus.report.source import ITEM, POINTS, TIME, Schema, concat_frames

COLUMNS = ("point_id", "forum_id", "review_id", "reviewer", "kind", "aspect")
_OF_ANSWERS = ("post_id", "confidence", "created_at")
POINT_COLUMNS = (*COLUMNS, *(f"answers.{ITEM}.{name}" for name in _OF_ANSWERS))
"""Columns read from the table of points."""
ANSWERS: Schema = {"point_id": pl.String, "post_id": pl.String, "confidence": pl.Float64, "created_at": TIME}
"""Columns read from the configuration of a release with the answers."""
POINT_ROWS = 1 << 16
"""Points in memory at once, without their words."""
DATED_REVIEWS: Schema = {"review_id": pl.String, "created_at": TIME}
POST_IDS: Schema = {"post_id": pl.String}
TALK_COLUMNS = ("forum_id", "kind", "reviewer", f"turns.{ITEM}.role", f"turns.{ITEM}.post_ids.{ITEM}")
REVIEWERS: Schema = {"forum_id": pl.String, "reviewer": pl.String}
_DAY_US = 86_400_000_000
_KINDS = sorted(kind.value for kind in CRITICAL_KINDS)
_ALIKE = [name for name in POINTS if name != "points"]


def find_unlinked(talks: pl.DataFrame) -> pl.DataFrame:
    """Return the reviewers whom the authors answered in words without a known post, in the columns of `REVIEWERS`.

    Conversations in published records are like this: answers are searched for in posts, and may be missed.

    Args:
        talks: Conversations with reviewers, with `TALK_COLUMNS`.
    """
    turn = pl.element().struct
    is_unlinked = (turn.field("role") == Role.AUTHOR.value) & (turn.field("post_ids").list.len() == 0)
    return talks.filter(pl.col("turns").list.eval(is_unlinked).list.any()).select(*REVIEWERS)


def list_answers(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the answers of a release, in `ANSWERS`, as a list for each point, with its `point_id`."""
    return answers.group_by("point_id").agg(answers=pl.struct(*_OF_ANSWERS))


def with_answers(points: pl.DataFrame, lists: pl.DataFrame) -> pl.DataFrame:
    """Return points of a release, which have `COLUMNS`, with the lists of their answers, as `POINT_COLUMNS`."""
    return points.join(lists, on="point_id", how="left", maintain_order="left").with_columns(
        pl.col("answers").fill_null([])
    )


def count_points(
    parts: Iterable[pl.DataFrame], reviews: pl.DataFrame, posts: pl.DataFrame, unlinked: pl.DataFrame
) -> pl.DataFrame:
    """Count the points of a venue or a release in the columns of `source.POINTS`.

    Args:
        parts: Its points in batches, with `POINT_COLUMNS`.
        reviews: Its public reviews, in `DATED_REVIEWS`; points of others are left out.
        posts: Its public posts, in `POST_IDS`; answers in others are left out.
        unlinked: The result of `find_unlinked` for its conversations.
    """
    flags = unlinked.unique().with_columns(is_unlinked=pl.lit(value=True))
    dated = reviews.rename({"created_at": "reviewed_at"})
    counted = concat_frames((_count_batch(rows, dated, posts, flags) for rows in parts), POINTS)
    # The points of a review may be in two batches.
    return counted.group_by(_ALIKE, maintain_order=True).agg(pl.col("points").sum())


def _count_batch(rows: pl.DataFrame, reviews: pl.DataFrame, posts: pl.DataFrame, flags: pl.DataFrame) -> pl.DataFrame:
    asking = rows.filter(pl.col("kind").is_in(_KINDS)).join(reviews, on="review_id", maintain_order="left")
    known = (
        asking.join(_find_first(asking, posts), on="point_id", how="left", maintain_order="left")
        .join(flags, on=list(REVIEWERS), how="left", maintain_order="left")
        .with_columns(
            answered=pl.when("has_answer")
            .then(pl.lit(value=True))
            .when(pl.col("is_unlinked").is_null())
            .then(pl.lit(value=False)),
            days=(pl.col("answered_at") - pl.col("reviewed_at")).dt.total_microseconds() / _DAY_US,
        )
    )
    return known.group_by(_ALIKE, maintain_order=True).agg(points=pl.len().cast(pl.Int64))


def _find_first(asking: pl.DataFrame, posts: pl.DataFrame) -> pl.DataFrame:
    """Return, for each point with public answers, their highest confidence, the time of the first, and `has_answer`.

    The confidence is null if a model found all of them. The time is null if that of any answer is unknown, since that
    one may be the first.
    """
    answered = asking.select("point_id", "answers").filter(pl.col("answers").list.len() > 0)
    answers = answered.explode("answers").unnest("answers").join(posts, on="post_id", how="semi")
    is_dated = pl.col("created_at").is_not_null().all()
    first = answers.group_by("point_id", maintain_order=True).agg(
        pl.col("confidence").max(), answered_at=pl.when(is_dated).then(pl.col("created_at").min())
    )
    return first.with_columns(has_answer=pl.lit(value=True))
