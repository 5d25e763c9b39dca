"""Read the points of reviews, and the changes between versions, back from the rows of a release."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import msgspec

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.records.documents import Change
from peercorpus.records.points import AnswerMethod, KindSource, Point, PointAnswer
from peercorpus.release.point_rows import BY_MODEL
from peercorpus.release.record_rows import Row


def make_points(points: Sequence[Row], answers: Sequence[Row], forum: PublicForum) -> Iterator[Point]:
    """Yield the points of a paper's reviews, with the answers and reactions whose posts are in the release.

    Args:
        points: The paper's rows of `points`.
        answers: Its rows of `answers`.
        forum: The paper in the release.

    Raises:
        msgspec.ValidationError: A row has another form.
    """
    by_point: dict[str, list[Row]] = {}
    for answer in answers:
        if answer["post_id"] in forum.by_id:
            by_point.setdefault(answer["point_id"], []).append(answer)
    reviews = {review.review_id for review in forum.reviews}
    for row in points:
        if row["review_id"] in reviews:
            yield _make_point(row, by_point.get(row["point_id"], ()), reviews | forum.by_id.keys())


def _make_point(row: Row, answers: Sequence[Row], shown: set[str]) -> Point:
    reaction = None
    if row["reaction"] is not None and row["reaction_post_id"] in shown:
        reaction = {
            "reaction": row["reaction"],
            "scope": row["reaction_scope"],
            "text": row["reaction_text"],
            "post_id": row["reaction_post_id"],
            "created_at": row["reacted_at"],
        }
    more: dict[str, Any] = {"answers": (), "reaction": reaction}
    if reaction is None:
        more["score_changes"] = ()
    if row["kind_source"] == BY_MODEL:
        more["kind_source"] = KindSource.NONE
    point = replace(msgspec.convert(row | more, Point), answers=tuple(map(_make_answer, answers)))
    # `points.naming` has words for what a model found as well, which no table contains.
    return replace(point, kind_source=cast(KindSource, BY_MODEL)) if row["kind_source"] == BY_MODEL else point


def _make_answer(row: Row) -> PointAnswer:
    if row["method"] != BY_MODEL:
        return msgspec.convert(row, PointAnswer)
    answer = msgspec.convert(row | {"method": AnswerMethod.ORDER, "confidence": 0.0}, PointAnswer)
    return replace(answer, method=cast(AnswerMethod, BY_MODEL), confidence=cast(float, None))


def make_changes(rows: Sequence[Row], forum: PublicForum) -> list[Change]:
    """Return the changes between those versions of a paper that are in the release.

    Raises:
        msgspec.ValidationError: A row has another form.
    """
    files = {version.sha256 for version in forum.versions}
    shown = (row for row in rows if {row["left_sha256"], row["right_sha256"]} <= files)
    return [msgspec.convert(row, Change) for row in shown]
