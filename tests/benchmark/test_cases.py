"""The cases of the benchmark: each with its gold answer, and none left out without being counted."""

from pathlib import Path
from typing import Any

import pytest

from invented_releases import a_release, review, score, talk, task_paper
from naming import by_name
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CaseCounts, CaseSelection, read_cases
from peercorpus.models.chat_messages import Speaker
from peercorpus.records.enums import Aspect, Grade
from peercorpus.release.folder import open_release
from peercorpus.release.record_rows import Row

SCALE = {"low": 1.0, "high": 10.0}


def read(tmp_path: Path, task: BenchTask, *papers: Row, **chosen: Any) -> tuple[list[Case], CaseCounts]:
    taken = CaseCounts()
    release = open_release(a_release(tmp_path / "release", {"test": papers}))
    return list(read_cases(release, task, CaseSelection(**chosen), taken)), taken


def test_only_decided_papers_are_asked_about(tmp_path: Path) -> None:
    papers = [task_paper(status, status=status) for status in ("accepted", "rejected", "withdrawn")]
    cases, taken = read(tmp_path, BenchTask.ACCEPTANCE, *papers, task_paper("hidden", status=None))
    assert [(case.case_id, case.accepted) for case in cases] == [("accepted", True), ("rejected", False)]
    assert taken.cases == 2
    assert by_name(taken.left_out, "withdrawn", "decision") == {"withdrawn": 1, "decision": 1}


def test_a_score_counts_as_first_given(tmp_path: Path) -> None:
    first = [
        score("rating", "6", aspect="recommendation", value=6.0, **SCALE),
        score("rating", "3", aspect="recommendation", value=3.0, phase="initial", **SCALE),
        score("soundness", "good", value=None, low=1.0, high=4.0),
        score("thoroughness", "2", value=2.0),
    ]
    second = [score("rating", "8", aspect="recommendation", value=8.0, **SCALE)]
    paper = task_paper("p", reviews=[review("a", scores=first), review("b", scores=second)])
    (case,), taken = read(tmp_path, BenchTask.SCORES, paper)
    (asked,) = case.scores
    assert asked == AskedScore(Aspect.RECOMMENDATION, "rating", 1.0, 10.0, (3.0, 8.0))
    assert asked.mean == 5.5
    assert taken.left_out.total() == 0


def test_a_second_scale_is_counted(tmp_path: Path) -> None:
    other = score("rating", "4", aspect="recommendation", value=4.0, low=1.0, high=5.0)
    one = score("rating", "8", aspect="recommendation", value=8.0, **SCALE)
    papers = [
        task_paper("p", reviews=[review("a", scores=[one]), review("b", scores=[other])]),
        task_paper("q", reviews=[review("c", scores=[])]),
    ]
    (case,), taken = read(tmp_path, BenchTask.SCORES, *papers)
    assert list(case.scores[0].values) == [8]
    assert by_name(taken.left_out, "scores: ", "papers: ") == {"scores: ": 1, "papers: ": 1}


def test_added_reviews_are_no_references(tmp_path: Path) -> None:
    reviews = [review("a"), review("b", text=" "), review("c", holds_update=True)]
    papers = task_paper("p", reviews=reviews), task_paper("q", reviews=reviews[1:])
    (case,), taken = read(tmp_path, BenchTask.REVIEW, *papers)
    assert case.references == ("## Summary\n\nWords of a.",)
    assert by_name(taken.left_out, "no review", "without text", "later") == {
        "no review": 1,
        "without text": 2,
        "later": 2,
    }


def test_late_reviews_are_no_references(tmp_path: Path) -> None:
    late = review("b", posted_after_decision=True, at_decision="posted_after")
    touched = review("c", at_decision="changed_unseen", may_be_later=True)
    (case,), taken = read(tmp_path, BenchTask.REVIEW, task_paper("p", reviews=[review("a"), late, touched]))
    assert case.references == ("## Summary\n\nWords of a.",)
    assert by_name(taken.left_out, "posted after", "changed after") == {"posted after": 1, "changed after": 1}


def test_each_reply_is_a_case(tmp_path: Path) -> None:
    said = "Review.", "Answer.", "Doubt.", "More.", "Fine."
    cases, _ = read(tmp_path, BenchTask.REBUTTAL, task_paper("p", conversations=[talk("p", *said)]))
    assert [case.case_id for case in cases] == ["p/R1/2", "p/R1/4"]
    assert [case.references for case in cases] == [("Doubt.",), ("Fine.",)]
    assert [[one.text for one in case.history] for case in cases] == [list(said[:2]), list(said[:4])]
    assert cases[0].history[0].speaker is Speaker.ASSISTANT


def test_a_turn_after_later_additions_is_excluded(tmp_path: Path) -> None:
    said = "Review.", "Answer.", "Doubt.", "More.", "Fine."
    late = talk("p", *said, holds_update=[False, False, True, False, False])
    cases, taken = read(tmp_path, BenchTask.REBUTTAL, task_paper("p", conversations=[late]))
    assert [case.case_id for case in cases] == ["p/R1/2"]
    assert by_name(taken.left_out, "turns: ") == {"turns: ": 1}


def test_a_paper_without_replies_of_reviewers_is_counted(tmp_path: Path) -> None:
    cases, taken = read(tmp_path, BenchTask.REBUTTAL, task_paper("p", conversations=[talk("p", "Review.", "Answer.")]))
    assert not cases
    assert by_name(taken.left_out, "no reviewer answers") == {"no reviewer answers": 1}


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"venues": frozenset({"iclr"})}, ["a", "b"]),
        ({"venues": frozenset({"Kites.cc/2024"})}, ["c"]),
        ({"worst_grade": Grade.EXACT}, ["a", "c"]),
        ({}, ["a", "b", "c"]),
    ],
)
def test_venue_and_grade_select_papers(tmp_path: Path, chosen: dict[str, Any], expected: list[str]) -> None:
    kites = task_paper("c", venue_id="Kites.cc/2024", conference="kites", year=2024)
    papers = task_paper("a"), task_paper("b", grade="unrevised"), kites
    cases, taken = read(tmp_path, BenchTask.ACCEPTANCE, *papers, **chosen)
    assert [case.case_id for case in cases] == expected
    assert taken.left_out.total() == 3 - len(expected)


def test_turns_after_the_decision_are_counted(tmp_path: Path) -> None:
    talks = [talk("p", "Review.", "Answer.", "Doubt.", after_decision=2), talk("p", "Review.", "Answer.")]
    cases, taken = read(tmp_path, BenchTask.REBUTTAL, task_paper("p", conversations=talks))
    assert len(cases) == 1
    assert taken.left_out == {"turns: posted after the decision": 2}


SAID = ("Review. UPDATE: you convinced me.", "Answer.", "Doubt.", "More.", "Fine.")
LEFT_OUT = "turns: the history contains later additions"


def read_late(tmp_path: Path, *later: int) -> tuple[list[Case], CaseCounts]:
    """Return the cases of a conversation whose given messages contain later additions, and those left out."""
    flags = [place in later for place in range(len(SAID))]
    paper = task_paper("p", conversations=[talk("p", *SAID, holds_update=flags)])
    taken = CaseCounts()
    release = open_release(a_release(tmp_path / "release", {"test": [paper]}))
    return list(read_cases(release, BenchTask.REBUTTAL, CaseSelection(), taken)), taken


def test_no_turn_after_a_later_addition(tmp_path: Path) -> None:
    cases, taken = read_late(tmp_path, 0)
    assert [case.case_id for case in cases] == [], "the answer stands in the review that is shown"
    assert taken.left_out == {LEFT_OUT: 2}


@pytest.mark.parametrize(("later", "asked"), [(1, []), (2, ["p/R1/2"]), (3, ["p/R1/2"]), (4, ["p/R1/2", "p/R1/4"])])
def test_later_additions_exclude_only_the_turns_after_them(tmp_path: Path, later: int, asked: list[str]) -> None:
    cases, taken = read_late(tmp_path, later)
    assert [case.case_id for case in cases] == asked
    assert taken.left_out.total() == 2 - len(asked)
