"""The bias report counts the rows of the tables, computes no share of nothing, and reports bias in proven versions."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invented_tables import ICLR, conversation, invented, paper, review, score, text, turn, version
from peercorpus.audit.version_grades import (
    CONTRADICTED,
    PaperUse,
    Proportion,
    ProportionDifference,
    VenueGrades,
    bias,
    provable,
    read_grades,
)
from peercorpus.cli.text.audit import grades_to_json
from peercorpus.errors import TableError
from peercorpus.records.enums import Aspect, FileSays, Grade, Role, Status
from peercorpus.records.papers import PaperVersion
from peercorpus.workspace.workspace import open_workspace

ACCEPTED, REJECTED, WITHDRAWN = Status.ACCEPTED, Status.REJECTED, Status.WITHDRAWN


def a_paper(forum_id: str, status: Status, grade: Grade | None, venue_id: str = ICLR) -> list[object]:
    """Return a paper with a version of this grade and its text; without a version if the grade is None."""
    records: list[object] = [paper(forum_id, venue_id, status=status)]
    if grade is not None:
        records += [version(forum_id, f"sha-{forum_id}", grade, venue_id), text(f"sha-{forum_id}", "Text.", venue_id)]
    return records


def read(folder: Path, records: Sequence[object], venue_id: str = ICLR) -> VenueGrades:
    with invented(folder / "corpus", {venue_id: records}) as workspace:
        (found,) = read_grades(workspace.tables)
    return found


def named(*groups: Sequence[object]) -> list[object]:
    return [record for group in groups for record in group]


def test_papers_are_counted_by_year_decision_and_grade(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        named(
            a_paper("f1", ACCEPTED, Grade.EXACT),
            a_paper("f2", ACCEPTED, Grade.BEFORE_FIRST_REVIEW),
            a_paper("f3", REJECTED, Grade.UNREVISED),
            a_paper("f4", REJECTED, Grade.EXACT_ATTACHMENT),
            a_paper("f5", WITHDRAWN, Grade.UNREVISED_LIKELY),
            a_paper("f6", WITHDRAWN, None),
        ),
    )
    assert found.papers == 6
    assert found.grades[2020, ACCEPTED, Grade.EXACT] == 1
    assert found.grades[2020, WITHDRAWN, None] == 1
    shares = {status: provable([found], status) for status in Status}
    assert shares[ACCEPTED] == Proportion(1, 2)
    assert shares[REJECTED] == Proportion(2, 2)
    assert shares[WITHDRAWN] == Proportion(0, 2)
    assert shares[Status.DESK_REJECTED] == Proportion(0, 0)
    assert bias([found]).value == pytest.approx(-0.5)


USES: dict[str, tuple[list[object], set[PaperUse]]] = {
    "nothing more": ([], set()),
    "a review": ([review("f1")], {PaperUse.SCORES, PaperUse.REVIEWS}),
    "a review that is not public": ([review("f1", readers_public=False)], set()),
    "a deleted review": ([review("f1", deleted=True)], set()),
    "a review without text": ([review("f1", sections=())], {PaperUse.SCORES}),
    "a review whose rating is unreadable": (
        [review("f1", scores=(score("rating", None, "?", Aspect.RECOMMENDATION),))],
        {PaperUse.REVIEWS},
    ),
    "a review with confidence only": (
        [review("f1", scores=(score("confidence", 4.0, "4", Aspect.CONFIDENCE),))],
        {PaperUse.REVIEWS},
    ),
    "a conversation": (
        [conversation("f1", "R1", [turn(Role.REVIEWER, "a"), turn(Role.AUTHOR, "b")])],
        {PaperUse.REBUTTALS},
    ),
    "a conversation nobody answered": ([conversation("f1", "R1", [turn(Role.REVIEWER, "a")])], set()),
}


@pytest.mark.parametrize("name", USES)
def test_usable_papers_have_what_tasks_need(tmp_path: Path, name: str) -> None:
    more, tasks = USES[name]
    found = read(tmp_path, [*a_paper("f1", WITHDRAWN, Grade.EXACT), *more])
    assert {task for task in PaperUse if found.use(task).count} == tasks


@pytest.mark.parametrize(
    ("statuses", "count"),
    [
        ([ACCEPTED, REJECTED, WITHDRAWN], 2),
        ([ACCEPTED, ACCEPTED], 0),
        ([REJECTED, Status.DESK_REJECTED], 0),
    ],
)
def test_acceptance_needs_papers_of_both_decisions(tmp_path: Path, statuses: list[Status], count: int) -> None:
    records = named(*(a_paper(f"f{number}", status, Grade.EXACT) for number, status in enumerate(statuses)))
    assert read(tmp_path, records).use(PaperUse.ACCEPTANCE).count == count


def inspected(forum_id: str, grade: Grade, says: FileSays | None, *, is_initial: bool = True, rule: str = "") -> object:
    known = version(forum_id, f"sha-{forum_id}", grade)
    assert isinstance(known, PaperVersion)
    evidence = replace(known.evidence, file_says=says, rule=rule)
    return replace(known, is_initial=is_initial, evidence=evidence)


def test_files_that_contradict_their_grade_are_named(tmp_path: Path) -> None:
    lowered = f"the latest PDF (exact); {CONTRADICTED} that it is a later version"
    records = [
        *(paper(f"f{number}") for number in range(1, 6)),
        inspected("f1", Grade.EXACT, FileSays.SUBMITTED),
        inspected("f2", Grade.BEFORE_FIRST_REVIEW, FileSays.FINAL),
        inspected("f3", Grade.UNAVAILABLE, FileSays.FINAL, is_initial=False, rule=lowered),
        inspected("f4", Grade.UNAVAILABLE, FileSays.FINAL, is_initial=False),
        inspected("f5", Grade.EXACT, None),
    ]
    found = read(tmp_path, records)
    assert found.files == 4
    assert [one.forum_id for one in found.contradictions] == ["f2", "f3"]


@given(count=st.integers(0, 500), more=st.integers(0, 500))
def test_an_interval_contains_its_share(count: int, more: int) -> None:
    share = Proportion(count, count + more)
    if not share.of:
        assert share.value is None
        assert share.interval is None
        return
    assert share.value is not None
    assert share.interval is not None
    low, high = share.interval
    assert 0 <= low <= share.value + 1e-12
    assert share.value - 1e-12 <= high <= 1


@pytest.mark.parametrize(
    ("first", "second", "leans"),
    [
        (Proportion(10, 100), Proportion(60, 100), -1),
        (Proportion(60, 100), Proportion(10, 100), 1),
        (Proportion(1, 2), Proportion(2, 2), 0),
        (Proportion(0, 0), Proportion(9, 9), 0),
    ],
)
def test_shares_differ_beyond_their_interval(first: Proportion, second: Proportion, leans: int) -> None:
    assert ProportionDifference(first, second).leans == leans


def test_an_empty_workspace_is_reported_as_empty(tmp_path: Path) -> None:
    found: Any = json.loads(json.dumps(grades_to_json([VenueGrades("Empty.cc/2020")])))
    (venue,) = found["venues"]
    assert found["bias"]["difference"] is found["bias"]["accepted"]["share"] is None
    assert venue["usable"]["scores"] == {"papers": 0, "of": 0, "share": None, "interval": None}
    assert venue["contradictions"] is None
    with open_workspace(tmp_path / "corpus", create=True) as workspace, pytest.raises(TableError, match="not been"):
        read_grades(workspace.tables)
