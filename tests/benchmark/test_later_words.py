"""Rebuttal turns after a review that was extended later: the question would contain the answer."""

from pathlib import Path

import pytest

from invented_releases import a_release, talk, task_paper
from peercorpus.benchmark.cases import BenchTask, Case, CaseCounts, CaseSelection, read_cases
from peercorpus.release.folder import open_release

SAID = ("Review. UPDATE: you convinced me.", "Answer.", "Doubt.", "More.", "Fine.")
LEFT_OUT = "turns: the history contains later additions"


def read(tmp_path: Path, *later: int) -> tuple[list[Case], CaseCounts]:
    """Return the cases of a conversation whose given messages contain later additions, and those left out."""
    flags = [place in later for place in range(len(SAID))]
    paper = task_paper("p", conversations=[talk("p", *SAID, holds_update=flags)])
    taken = CaseCounts()
    release = open_release(a_release(tmp_path / "release", {"test": [paper]}))
    return list(read_cases(release, BenchTask.REBUTTAL, CaseSelection(), taken)), taken


def test_no_turn_after_a_later_addition(tmp_path: Path) -> None:
    cases, taken = read(tmp_path, 0)
    assert [case.case_id for case in cases] == [], "the answer stands in the review that is shown"
    assert taken.left_out == {LEFT_OUT: 2}


@pytest.mark.parametrize(("later", "asked"), [(1, []), (2, ["p/R1/2"]), (3, ["p/R1/2"]), (4, ["p/R1/2", "p/R1/4"])])
def test_later_additions_exclude_only_the_turns_after_them(tmp_path: Path, later: int, asked: list[str]) -> None:
    cases, taken = read(tmp_path, later)
    assert [case.case_id for case in cases] == asked
    assert taken.left_out.total() == 2 - len(asked)
