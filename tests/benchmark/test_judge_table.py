"""The judge's numbers in the tables: each grader in its own columns, with the numbers of its own runs."""

from pathlib import Path

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.judge.instruction import JudgeInstruction
from peercorpus.benchmark.judge.scorer import sign_means
from peercorpus.benchmark.leaderboard import make_boards
from peercorpus.benchmark.logs import Protocol, TaskRun
from peercorpus.benchmark.outcomes import CaseOutcome, Scored, Verdict

ASPECTS_OF_RUNS = sign_means(JudgeInstruction())
PROTOCOL = Protocol(BenchTask.REVIEW, "r", "re2", "test", "c", "whole papers", "1 (d)")


def judged(name: str, grader: str, *numbers: int) -> TaskRun:
    outcomes = [CaseOutcome(f"p{place}", f"p{place}", Verdict(*[one] * 5)) for place, one in enumerate(numbers)]
    signatures = {"judge": ASPECTS_OF_RUNS}
    return TaskRun(
        Path(f"{name}.eval"), PROTOCOL, name, False, None, grader, {Scored.JUDGE: outcomes}, signatures=signatures
    )


def test_two_graders_have_columns_of_their_own() -> None:
    (board,) = make_boards([judged("one", "strict", 2, 4), judged("two", "mild", 8, 9)]).boards
    values = {
        (row.name, measure.name): cell.value
        for row in board.rows
        for measure, cell in zip(board.measures, row.cells, strict=True)
        if cell is not None
    }
    assert values["one", "judge: quality (by strict)"] == 3
    assert values["two", "judge: quality (by mild)"] == 8.5
    assert len(values) == 10
    assert set(map(tuple, board.signatures.values())) == {(ASPECTS_OF_RUNS,)}
