"""An answer that its judge failed to rate has no marks, as the failure is not the answer's fault."""

from pathlib import Path

import pytest

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.leaderboard import RunResult, compare_runs, make_boards
from peercorpus.benchmark.logs import Protocol, TaskRun
from peercorpus.benchmark.outcomes import GRADER_FAILED, CaseOutcome, Scored, Verdict
from peercorpus.metrics.intervals.pairs import PairedDifference

PROTOCOL = Protocol(BenchTask.REVIEW, "r", "re2", "test", "c", "whole papers", "1 (d)")
LOWEST = Verdict(1, 1, 1, 1, 1)
"""The value of an answer without marks if failures count as wrong."""


def rows(reason: str) -> tuple[RunResult, ...]:
    """Return the rows without failures and with them, of three answers rated 9 and one without marks for a reason."""
    rated = [CaseOutcome(paper, paper, Verdict(9, 9, 9, 9, 9)) for paper in "abc"]
    outcomes = {Scored.JUDGE: [*rated, CaseOutcome("d", "d", LOWEST, reason)]}
    (board,) = make_boards([TaskRun(Path("m.eval"), PROTOCOL, "m", False, None, "strict", outcomes)]).boards
    return board.rows


def marks(row: RunResult) -> list[float]:
    return [cell.value for cell in row.cells if cell is not None]


def test_a_judges_failure_never_gives_the_lowest_marks() -> None:
    without, with_them = rows(GRADER_FAILED)
    assert marks(without) == marks(with_them) == [9] * 5, "a judge that fails gives an answer the lowest marks"
    assert without.unscored == with_them.unscored == {"grader_failed": 1}


@pytest.mark.parametrize("reason", ["empty", "refused", "no_object"])
def test_an_unread_answer_has_lowest_marks(reason: str) -> None:
    without, with_them = rows(reason)
    assert (marks(without), marks(with_them)) == ([9] * 5, [7] * 5)


def judged(name: str, rating: int, unscored: dict[str, str]) -> TaskRun:
    """Return a run whose answers about four papers are all rated alike, except those without a score for a reason."""
    outcomes = [
        CaseOutcome(paper, paper, LOWEST, unscored[paper])
        if paper in unscored
        else CaseOutcome(paper, paper, Verdict(*[rating] * 5))
        for paper in "abcd"
    ]
    return TaskRun(Path(f"{name}.eval"), PROTOCOL, name, False, None, "strict", {Scored.JUDGE: outcomes})


def test_judge_failures_leave_both_runs() -> None:
    first, second = judged("x", 9, {"a": GRADER_FAILED}), judged("y", 7, {"d": GRADER_FAILED})
    found = dict(compare_runs(first, second))
    quality = found["judge: quality"]
    assert isinstance(quality, PairedDifference)
    assert (quality.first, quality.second, quality.value) == (9, 7, 2)
    assert quality.papers == 2
    assert found["judge"] == "without a score: 1 of 4 cases by x, 1 by y; compared on the other 2"


def test_only_scored_answers_are_compared() -> None:
    found = dict(compare_runs(judged("x", 9, {"a": "refused", "b": GRADER_FAILED}), judged("y", 7, {})))
    quality = found["judge: quality"]
    assert isinstance(quality, PairedDifference)
    assert (quality.first, quality.second, quality.papers) == (9, 7, 2)
    assert found["judge"] == "without a score: 2 of 4 cases by x, 0 by y; compared on the other 2"


def test_whole_runs_are_compared_wholly() -> None:
    found = dict(compare_runs(judged("x", 9, {}), judged("y", 7, {})))
    assert "judge" not in found
    assert all(isinstance(one, PairedDifference) and one.papers == 4 for one in found.values())


def test_nothing_judged_gives_no_number() -> None:
    first = judged("x", 9, dict.fromkeys("ab", GRADER_FAILED))
    second = judged("y", 7, dict.fromkeys("cd", GRADER_FAILED))
    found = dict(compare_runs(first, second))
    assert str(found["judge"]).endswith("compared on the other 0")
    assert not any(isinstance(one, PairedDifference) for one in found.values())
