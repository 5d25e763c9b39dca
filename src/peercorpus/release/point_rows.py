"""Make the rows of `points` and `answers`: what was criticised, what answers it, and what followed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from peercorpus.records.points import Point, PointKind
from peercorpus.records.untrusted_text import redact_people
from peercorpus.release.record_rows import Row, as_row

PAPER_COLUMNS = ("forum_id", "venue_id", "conference", "year")
_OF_REVIEW = ("point_id", "review_id", "reviewer")


@dataclass(slots=True)
class PointCounts:
    """Counts of the points of a release.

    Attributes:
        kinds: Points, by what they do.
        answered: Those of them that have an answer.
        answers: Answers, by what chiefly tells that they are one.
    """

    kinds: Counter[PointKind] = field(default_factory=Counter)
    answered: Counter[PointKind] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)

    def count(self, point: Point) -> None:
        """Add one point."""
        self.kinds[point.kind] += 1
        self.answered[point.kind] += bool(point.answers)
        self.answers.update(answer.method.value for answer in point.answers)


def build_point_rows(
    points: Sequence[Point], paper: Row, changes: Sequence[Row], posts: Sequence[Row], counts: PointCounts
) -> tuple[list[Row], list[Row]]:
    """Return the rows of `points` and of `answers` of one paper, and count them.

    Args:
        points: As everyone may see them.
        paper: Its row of `papers_full`.
        changes: Its rows of `changes`: no point names another change.
        posts: Its rows of `posts`, which say what was posted after the decision.
        counts: Counts of the release, which grow.
    """
    columns = {name: paper[name] for name in PAPER_COLUMNS}
    published = {change["number"] for change in changes}
    late = {post["post_id"]: post["posted_after_decision"] for post in posts}
    rows: list[Row] = []
    answers: list[Row] = []
    for point in points:
        counts.count(point)
        row = as_row(point)
        rows.append(columns | _point_row(row, published))
        answers += [columns | answer for answer in _answer_rows(row, late)]
    return redact_people(rows), redact_people(answers)


def _point_row(row: Row, published: set[int]) -> Row:
    reaction = row.pop("reaction") or {}
    return row | {
        "answers": len(row["answers"]),
        "reaction": reaction.get("reaction"),
        "reaction_scope": reaction.get("scope"),
        "reaction_text": reaction.get("text"),
        "reaction_post_id": reaction.get("post_id"),
        "reacted_at": reaction.get("created_at"),
        "changes": [change for change in row["changes"] if change["number"] in published],
    }


def _answer_rows(row: Row, late: Mapping[str, bool | None]) -> list[Row]:
    of_review = {name: row[name] for name in _OF_REVIEW}
    return [
        of_review | answer | {"number": number, "posted_after_decision": late.get(answer["post_id"])}
        for number, answer in enumerate(row["answers"], 1)
    ]
