"""Make the rows of `points` and `answers`: criticisms, the passages that answer them, and reactions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from peercorpus.corpus.points import keep_changes
from peercorpus.records.points import Point, PointAspect, PointKind
from peercorpus.release.record_rows import Row, as_row
from peercorpus.wording.untrusted_text import redact_people

PAPER_COLUMNS = ("forum_id", "venue_id", "conference", "year")
_OF_REVIEW = ("point_id", "review_id", "reviewer")
BY_MODEL = "model"
"""Marks a kind, an aspect or an answer as coming from a model."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A passage of the authors' post that a model names as an answer to a point; attributes as in `PointAnswer`."""

    post_id: str
    start: int
    end: int
    text: str
    is_to_all: bool
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A model's labels for what the rules left open in a point.

    Attributes:
        kind: Kind of the point; None if the rules found it, or the model names none.
        aspect: Quality of the paper that it is about; None in the same cases.
        answers: The passages that answer it, in the order of the replies; empty in the same cases.
    """

    kind: PointKind | None = None
    aspect: PointAspect | None = None
    answers: tuple[ModelAnswer, ...] = ()


NO_ANNOTATIONS: Mapping[str, Annotation] = MappingProxyType({})


@dataclass(slots=True)
class PointCounts:
    """Counts of the points of a release.

    Attributes:
        kinds: Points by kind.
        answered: Points with an answer, by kind.
        answers: Answers by the main evidence for them.
        kinds_by_model: Points whose kind comes from a model.
        aspects_by_model: Points whose aspect comes from a model.
    """

    kinds: Counter[PointKind] = field(default_factory=Counter)
    answered: Counter[PointKind] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    kinds_by_model: int = 0
    aspects_by_model: int = 0

    def count(self, row: Row) -> None:
        """Add one point with its answers."""
        kind = PointKind(row["kind"])
        self.kinds[kind] += 1
        self.answered[kind] += bool(row["answers"])
        self.answers.update(answer["method"] for answer in row["answers"])
        self.kinds_by_model += row["kind_source"] == BY_MODEL
        self.aspects_by_model += row["aspect_source"] == BY_MODEL


def build_point_rows(
    points: Sequence[Point],
    paper: Row,
    changes: Sequence[Row],
    posts: Sequence[Row],
    counts: PointCounts,
    annotations: Mapping[str, Annotation] = NO_ANNOTATIONS,
) -> tuple[list[Row], list[Row]]:
    """Return the rows of `points` and of `answers` of one paper, and count them.

    Args:
        points: The public points.
        paper: Its row of `papers_full`.
        changes: Its rows of `changes`; a point names no other changes.
        posts: Its rows of `posts`, which show what was posted after the decision.
        counts: Counts of the release, which grow.
        annotations: A model's labels of the points, by id.
    """
    columns = {name: paper[name] for name in PAPER_COLUMNS}
    published = {change["number"] for change in changes}
    late = {post["post_id"]: post["posted_after_decision"] for post in posts}
    rows: list[Row] = []
    answers: list[Row] = []
    for point in points:
        row = _annotate(as_row(keep_changes(point, published)), annotations.get(point.point_id, Annotation()))
        counts.count(row)
        rows.append(columns | _point_row(row))
        answers += [columns | answer for answer in _answer_rows(row, late)]
    return redact_people(rows), redact_people(answers)


def _annotate(row: Row, annotation: Annotation) -> Row:
    """Return a point with a model's labels, and the source of its aspect."""
    row["aspect_source"] = None if row["aspect"] is None else "words"
    if annotation.kind is not None:
        row |= {"kind": annotation.kind.value, "kind_source": BY_MODEL}
    if annotation.aspect is not None:
        row |= {"aspect": annotation.aspect.value, "aspect_source": BY_MODEL}
    if annotation.answers:
        row["answers"] = [as_row(answer) | {"method": BY_MODEL, "confidence": None} for answer in annotation.answers]
    return row


def _point_row(row: Row) -> Row:
    reaction = row.pop("reaction") or {}
    return row | {
        "answers": len(row["answers"]),
        "reaction": reaction.get("reaction"),
        "reaction_scope": reaction.get("scope"),
        "reaction_text": reaction.get("text"),
        "reaction_post_id": reaction.get("post_id"),
        "reacted_at": reaction.get("created_at"),
    }


def _answer_rows(row: Row, late: Mapping[str, bool | None]) -> list[Row]:
    of_review = {name: row[name] for name in _OF_REVIEW}
    return [
        of_review | answer | {"number": number, "posted_after_decision": late.get(answer["post_id"])}
        for number, answer in enumerate(row["answers"], 1)
    ]
