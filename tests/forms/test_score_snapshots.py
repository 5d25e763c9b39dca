"""If no readable edit shows an earlier score, a stored earlier version of the review may.

It is the first score if that version had never been modified.
"""

import json
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.forms.normalise import STAGE, balance
from peercorpus.records.enums import Phase, Reason, ScoreSource
from peercorpus.records.papers import SetAside
from peercorpus.records.reviews import Review
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

V = "Invented.cc/2024/Conference"
POSTED_MS, DAY_MS = 1_700_000_000_000, 86_400_000
INITIAL, FINAL = Phase.INITIAL, Phase.FINAL
NOTE, EDIT, SNAPSHOT = ScoreSource.NOTE, ScoreSource.EDIT, ScoreSource.SNAPSHOT

PAPER = {
    "id": "paper",
    "forum": "paper",
    "invitations": [f"{V}/-/Submission"],
    "readers": ["everyone"],
    "tcdate": POSTED_MS,
    "tmdate": POSTED_MS,
    "content": {"title": {"value": "On Kites"}},
}


def review(day: int, rating: int | None, text: str = "Clear.", **more: Any) -> dict[str, Any]:
    """The review as it was on a given day; without a rating if its field was hidden."""
    fields: dict[str, Any] = {"review": text, "confidence": 4} | ({} if rating is None else {"rating": rating})
    return {
        "id": "r",
        "forum": "paper",
        "replyto": "paper",
        "invitations": [f"{V}/Submission1/-/Official_Review"],
        "signatures": [f"{V}/Submission1/Reviewer_AbCd"],
        "readers": ["everyone"],
        "tcdate": POSTED_MS,
        "tmdate": POSTED_MS + day * DAY_MS,
        "content": {name: {"value": value} for name, value in fields.items()},
    } | more


def edit(edit_id: str, day: int, rating: int) -> RawObject:
    at = POSTED_MS + day * DAY_MS
    note = {"id": "r", "content": {"rating": {"value": rating}, "review": {"value": "Clear."}}}
    body = {"id": edit_id, "readers": ["everyone"], "tcdate": at, "tmdate": at, "note": note}
    return RawObject(RawKind.EDIT, edit_id, 2, V, "paper", "r", at, 0, "test", json.dumps(body).encode())


def raw(note: dict[str, Any]) -> RawObject:
    body = json.dumps(note).encode()
    return RawObject(RawKind.NOTE, note["id"], 2, V, "paper", note["id"], note.get("tmdate", 0), 0, "test", body)


def normalised(folder: Path, *objects: RawObject) -> tuple[list[Review], list[SetAside]]:
    """Return the reviews and what was set aside, from objects that arrived in successive harvests."""
    folder.mkdir(parents=True)
    with closing(Workspace(folder)) as workspace:
        for found in (raw(PAPER), *objects):
            with workspace.raw.transaction():
                workspace.raw.add([found])
        STAGE.run(workspace, V, BuildRequest(), "ab" * 32, no_report)
        assert all(one.holds for one in balance(workspace, V))
        return list(workspace.tables.read(Review, V)), list(workspace.tables.read(SetAside, V))


def read(folder: Path, *objects: RawObject) -> Review:
    (found,), _ = normalised(folder, *objects)
    return found


def ratings(found: Review) -> list[tuple[float | None, Phase, ScoreSource]]:
    return [(score.value, score.phase, score.source) for score in found.scores if score.field == "rating"]


def changes(found: Review) -> list[tuple[float | None, float | None, ScoreSource]]:
    return [(change.before, change.after, change.source) for change in found.score_changes]


def test_a_version_that_had_never_been_modified_gives_the_initial_scores(tmp_path: Path) -> None:
    found = read(tmp_path / "w", *(raw(review(day, rating)) for day, rating in [(0, 3), (8, 5), (15, 6)]))
    assert ratings(found) == [(6.0, FINAL, NOTE), (3.0, INITIAL, SNAPSHOT)]
    assert [score.field for score in found.scores if score.phase is INITIAL] == ["confidence", "rating"]
    assert found.revised is True


def test_a_version_modified_before_shows_a_change_but_no_initial_score(tmp_path: Path) -> None:
    found = read(tmp_path / "w", *(raw(review(day, rating)) for day, rating in [(1, 3), (8, 5), (15, 6)]))
    assert ratings(found) == [(6.0, FINAL, NOTE)]
    assert (changes(found), found.revised) == ([(3.0, 6.0, SNAPSHOT)], True)


@pytest.mark.slow
def test_the_order_of_arrival_changes_nothing(tmp_path: Path) -> None:
    versions = [raw(review(day, rating)) for day, rating in [(1, 3), (8, 5), (15, 6)]]
    found = [read(tmp_path / str(number), *order) for number, order in enumerate(permutations(versions))]
    assert all(one == found[0] for one in found)


def test_a_version_without_changes_by_the_reviewer_changes_nothing(tmp_path: Path) -> None:
    released = review(1, 6, readers=["everyone", V], mdate=5)
    found = read(tmp_path / "w", raw(released), raw(review(8, 6)))
    assert (ratings(found), found.revised) == ([(6.0, FINAL, NOTE)], None)


def test_a_rewritten_passage_marks_the_review_as_revised(tmp_path: Path) -> None:
    found = read(tmp_path / "w", raw(review(1, 6, "Unclear.")), raw(review(8, 6)))
    assert (ratings(found), found.revised) == ([(6.0, FINAL, NOTE)], True)


@pytest.mark.parametrize(
    "hidden",
    [
        {"readers": [V]},
        {"ddate": POSTED_MS},
        {"content": "no object"},
        {"content": {"rating": {"value": 3, "readers": [V]}, "review": {"value": "Clear."}}},
    ],
    ids=["not public", "deleted", "unreadable", "the field not public"],
)
def test_a_hidden_version_is_ignored(tmp_path: Path, hidden: dict[str, Any]) -> None:
    found = read(tmp_path / "w", raw(review(1, 3) | hidden), raw(review(8, 6)))
    assert (ratings(found), found.revised) == ([(6.0, FINAL, NOTE)], None)


def test_an_initially_hidden_rating_has_a_change_but_no_initial_value(tmp_path: Path) -> None:
    found = read(tmp_path / "w", *(raw(review(day, rating)) for day, rating in [(0, None), (8, 5), (15, 6)]))
    assert (ratings(found), changes(found)) == ([(6.0, FINAL, NOTE)], [(5.0, 6.0, SNAPSHOT)])


def test_a_rating_that_is_no_longer_shown_is_not_taken_from_an_earlier_version(tmp_path: Path) -> None:
    found = read(tmp_path / "w", raw(review(1, 3)), raw(review(8, None)))
    assert (ratings(found), found.revised) == ([], None)


@pytest.mark.parametrize("order", [(3, 5, 6), (5, 3, 6)])
def test_two_versions_of_one_moment_that_disagree_prove_no_first_score(tmp_path: Path, order: tuple[int, ...]) -> None:
    first, second, last = order
    found = read(tmp_path / "w", raw(review(1, first)), raw(review(1, second)), raw(review(8, last)))
    assert (ratings(found), found.revised) == ([(6.0, FINAL, NOTE)], True)


def test_edits_take_precedence_over_snapshots(tmp_path: Path) -> None:
    edits = [edit("e1", 0, 2), edit("e2", 8, 6)]
    found = read(tmp_path / "w", *edits, raw(review(1, 3)), raw(review(8, 6)))
    assert ratings(found) == [(6.0, FINAL, NOTE), (2.0, INITIAL, EDIT)]


def test_a_score_that_edits_show_as_unchanged_is_not_changed_by_a_version_in_between(tmp_path: Path) -> None:
    edits = [edit("e1", 0, 6), edit("e2", 4, 3), edit("e3", 8, 6)]
    found = read(tmp_path / "w", *edits, raw(review(4, 3)), raw(review(8, 6)))
    assert (ratings(found), found.revised) == ([(6.0, FINAL, NOTE), (6.0, INITIAL, EDIT)], True)


def test_a_later_edit_alone_leaves_the_first_score_to_the_earlier_version(tmp_path: Path) -> None:
    found = read(tmp_path / "w", edit("e2", 8, 6), raw(review(0, 3)), raw(review(8, 6)))
    assert ratings(found) == [(6.0, FINAL, NOTE), (3.0, INITIAL, SNAPSHOT)]


def test_an_unreadable_latest_version_is_set_aside_and_not_replaced_by_an_earlier_one(tmp_path: Path) -> None:
    reviews, aside = normalised(tmp_path / "w", raw(review(1, 3)), raw(review(8, 6) | {"content": "no object"}))
    assert reviews == []
    assert [(row.record_id, row.reason) for row in aside] == [("r", Reason.UNREADABLE)]
