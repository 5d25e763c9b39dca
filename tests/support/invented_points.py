"""Invented points of reviews, modelled on real ones."""

from collections.abc import Mapping, Sequence
from typing import Any

from invented_tables import NOON
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import (
    AnswerMethod,
    KindSource,
    Point,
    PointAnswer,
    PointKind,
    PointReaction,
    Reaction,
    ReactionScope,
)
from peercorpus.records.reviews import Review, Section

WEAKNESSES = Section(
    SectionKind.WEAKNESSES, "weaknesses", "1. The gale baseline is missing.\n2. Why no ablation of the tail?"
)


def answer(post_id: str, text: str, **other: Any) -> PointAnswer:
    """An answer that is the beginning of a post."""
    values: dict[str, Any] = {
        "post_id": post_id,
        "start": 0,
        "end": len(text),
        "text": text,
        "method": AnswerMethod.LABEL,
        "confidence": 0.934,
        "is_to_all": False,
        "created_at": NOON,
    }
    return PointAnswer(**(values | other))


def reaction(post_id: str, text: str, told: Reaction = Reaction.RESOLVED) -> PointReaction:
    return PointReaction(told, post_id, text, ReactionScope.POINT, NOON)


def split(review: Review, more: Mapping[int, Mapping[str, Any]] | None = None) -> list[Point]:
    """The points of a review: the numbered lines of its sections; `more` sets fields of some, by number."""
    texts: Sequence[tuple[Section, int, str]] = [
        (section, section.text.index(line), line)
        for section in review.sections
        for line in section.text.splitlines(keepends=True)
    ]
    return [_point(review, number, *place, (more or {}).get(number, {})) for number, place in enumerate(texts, start=1)]


def _point(review: Review, number: int, section: Section, start: int, line: str, more: Mapping[str, Any]) -> Point:
    is_item = line[:1].isdigit()
    kind = PointKind.SUMMARY if not is_item else PointKind.QUESTION if "?" in line else PointKind.WEAKNESS
    values: dict[str, Any] = {
        "point_id": f"{review.review_id}/{number}",
        "forum_id": review.forum_id,
        "venue_id": review.venue_id,
        "review_id": review.review_id,
        "reviewer": review.reviewer,
        "number": number,
        "field": section.field,
        "section_kind": section.kind,
        "start": start,
        "end": start + len(line),
        "text": line,
        "kind": kind,
        "kind_source": KindSource.FIELD,
        "label": line[0] if is_item else None,
        "aspect": None,
    }
    return Point(**(values | dict(more)))
