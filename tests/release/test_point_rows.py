"""The configurations `points` and `answers`: only public and up-to-date criticisms."""

from pathlib import Path
from typing import Any

import pytest

from answered_points import ANSWER, BLAME, LAST, PRAISE, a_discussion
from asked_releases import publish_release, rows_of
from cards import read_card
from invented_tables import ICLR, ICML, NOON, a_forum, invented
from peercorpus.release.folder import open_release
from peercorpus.release.verify.verify import verify_release
from peercorpus.workspace.workspace import Workspace


def publish(workspace: Workspace, out: Path, **options: Any) -> None:
    publish_release(workspace, out, points=True, **options)


@pytest.mark.slow
def test_points_and_answers_are_rows_without_hidden_records(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with invented(tmp_path / "corpus", {ICLR: a_discussion("a1"), ICML: a_discussion("b1", ICML)}) as workspace:
        publish(workspace, out)
    points, answers = rows_of(out, "points"), rows_of(out, "answers")
    assert [point["point_id"] for point in points] == ["a1-R1/1", "a1-R1/2", "b1-R1/1", "b1-R1/2"]
    blame = points[1]
    assert blame["text"] == "No wind is measured; ask [e-mail]."
    assert (blame["start"], blame["end"]) == (len(PRAISE), len(PRAISE + BLAME))
    assert (blame["kind"], blame["aspect"], blame["answers"]) == ("weakness", "experiments", 1)
    assert (blame["reaction"], blame["reaction_text"], blame["reacted_at"]) == ("resolved", LAST, NOON)
    assert [change["number"] for change in blame["changes"]] == [1]
    assert [(one["point_id"], one["post_id"], one["text"]) for one in answers if one["forum_id"] == "a1"] == [
        ("a1-R1/2", "a1-answer", ANSWER)
    ]
    assert answers[0]["posted_after_decision"] is False
    assert "| `weakness` | 2 | 2 |" in read_card(out)
    report = verify_release(open_release(out))
    assert [breach for check in report.checks for breach in check.breaches] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("listed", "points", "answers", "reactions"),
    [("a1", 0, 0, 0), ("a1-R1", 0, 0, 0), ("a1-answer", 2, 0, 1), ("a1-last", 2, 1, 0)],
)
def test_no_taken_down_text_in_points(tmp_path: Path, listed: str, points: int, answers: int, reactions: int) -> None:
    out = tmp_path / "out"
    with invented(tmp_path / "corpus", {ICLR: [*a_discussion("a1"), *a_forum("a2")]}) as workspace:
        (workspace.folder / "takedown.txt").write_text(f"{listed}\n")
        publish(workspace, out)
    found = rows_of(out, "points")
    assert len(found) == points
    assert len(rows_of(out, "answers")) == answers
    assert sum(point["reaction"] is not None for point in found) == reactions
