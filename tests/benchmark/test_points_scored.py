"""Criticisms made by a review and taken up by a turn, end to end, beside those of people."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from invented_bench import bench_paper, bench_release, by_paper, saying
from invented_releases import talk
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.leaderboard import Board, RunResult, _compare_measured, compare_with_floors, make_boards
from peercorpus.benchmark.leaderboard_render import lay_out
from peercorpus.benchmark.logs import read_runs
from peercorpus.benchmark.measures import POINTS
from peercorpus.benchmark.outcomes import CaseOutcome
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.metrics.intervals.pairs import PairedDifference
from peercorpus.metrics.review_points import PointCounts
from peercorpus.release.record_rows import Row

pytestmark = [pytest.mark.usefixtures("quietly"), pytest.mark.slow]
FIRST = "Weaknesses:\n- The kites were flown on one beach only.\n- There is no comparison with balloons."
SECOND = "Weaknesses:\n- Kites flown on a single beach prove little.\n- The glue is not described."
THIRD = "Weaknesses:\n- All kites flew over the same beach.\n- Balloons would be a fair comparison.\n- Typos abound."
BEACH = "Weaknesses:\n- One beach for all kites is too little.\n- The sea is wet."
PRAISE = "Strengths:\n- Elegant kites with a long tail."
TURNS = (
    FIRST,
    "The kites now fly on a second beach too.",
    "That the kites fly on a second beach convinces me.",
    "A comparison with balloons was added.",
    "I keep my score.",
)


def criticised(number: int) -> Row:
    """A paper whose three reviewers criticise the beach, two the balloons, one the glue and one the typos."""
    paper = bench_paper(number)
    one = paper["reviews"][0]
    texts = {f"p{number}-{place}": text for place, text in enumerate((FIRST, SECOND, THIRD))}
    reviews = [one | {"review_id": review_id, "text": text} for review_id, text in texts.items()]
    return paper | {"reviews": reviews, "conversations": [talk(paper["forum_id"], *TURNS)]}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bench_release(tmp_path_factory.mktemp("points") / "release", criticised)


def board_of(logs: Path) -> Board:
    (board,) = make_boards(read_runs(logs)).boards
    return board


def row_of(board: Board, name: str, failures: str = "") -> RunResult:
    return next(row for row in board.rows if (row.name, row.failures) == (name, failures))


def number(board: Board, row: RunResult, name: str) -> float | None:
    places = {measure.name: place for place, measure in enumerate(board.measures)}
    cell = row.cells[places[name]]
    return None if cell is None else cell.value


def test_reviews_are_scored_against_peoples_criticisms(release: Path, tmp_path: Path) -> None:
    run_tasks(Bench([BenchTask.REVIEW], release, tmp_path, saying(BEACH, "beach")))
    board = board_of(tmp_path)
    model, people = row_of(board, "mockllm/beach"), row_of(board, "human")
    # People: the beach counts 3, balloons 2, glue and typos 1 each.
    assert number(board, model, "point recall") == pytest.approx(100 * 3 / 7)
    assert number(board, model, "point precision") == pytest.approx(50)
    assert number(board, model, "points") == 2
    # Each against the two others: 3 of 5 (beach 2, balloons 1, glue 1, typos 1), 2 of 5, 3 of 4.
    assert number(board, people, "point recall") == pytest.approx(100 * (3 / 5 + 2 / 5 + 3 / 4) / 3)
    assert number(board, people, "point precision") == pytest.approx(100 * (1 + 1 / 2 + 2 / 3) / 3)
    assert people.n == 24
    assert number(board, row_of(board, "generic"), "point recall") is not None
    recall = [one for one in board.ceilings if (one.measure, one.venue) == ("point recall", "all")]
    assert [one.human for one in recall] == [number(board, people, "point recall")]
    shown = lay_out(make_boards(read_runs(tmp_path))).to_markdown()
    assert "point-recall|weight:reviewers|" in shown
    assert "Point recall is the share of people's criticisms" in shown
    assert board.measures[0].name == "point recall", "the headline, by which rows are sorted"


def test_a_review_without_criticism_or_scores_has_recall_0(release: Path, tmp_path: Path) -> None:
    answers = {f"p{place}": PRAISE if place < 22 else "" for place in range(16, 24)}
    run_tasks(Bench([BenchTask.REVIEW], release, tmp_path, by_paper(answers, "praise"), with_baselines=False))
    board = board_of(tmp_path)
    for failures, counted in (("left out", 6), ("counted as uninformed", 8)):
        row = row_of(board, "mockllm/praise", failures)
        assert row.n == counted
        assert number(board, row, "point recall") == 0
        assert number(board, row, "point precision") is None
        assert number(board, row, "points") == 0


def test_a_turn_is_scored_by_covered_points(release: Path, tmp_path: Path) -> None:
    answer = "The second beach convinces me.\n\nI still miss the comparison with balloons."
    run_tasks(Bench([BenchTask.REBUTTAL], release, tmp_path, saying(answer, "both")))
    board = board_of(tmp_path)
    model = row_of(board, "mockllm/both")
    assert model.n == 16
    assert number(board, model, "points taken up") == 100
    # The reviewer takes up one of the two points, the beach, in the first turn and nothing in the second.
    assert number(board, model, "points taken up by people") == 25
    assert {number(board, row, "points taken up by people") for row in board.rows} == {25}
    assert "is not better by itself" in lay_out(make_boards(read_runs(tmp_path))).to_markdown()


def test_a_mean_is_over_known_numbers() -> None:
    counts = [PointCounts(4, 1, 2, 1), PointCounts(0, 0, 3, 0), PointCounts(2, 2, 0, 0)]
    outcomes = [CaseOutcome(str(place), str(place), found) for place, found in enumerate(counts)]
    recall, precision, points = POINTS
    assert [recall.concerns(outcome) for outcome in outcomes] == [True, False, True]
    assert recall.of(outcomes) == pytest.approx((1 / 4 + 1) / 2)
    assert precision.of(outcomes) == pytest.approx((1 / 2 + 0) / 2)
    assert points.of(outcomes) == pytest.approx(5 / 3)
    assert recall.sums is not None
    assert recall.sums(outcomes) == (1.25, 2)


def outcomes(precise: Callable[[int], PointCounts]) -> list[CaseOutcome]:
    return [CaseOutcome(f"c{number}", f"p{number}", precise(number)) for number in range(40)]


def of_paper(number: int) -> PointCounts:
    """Precise on even papers, and not on others."""
    return PointCounts(10, 1, 10, 8 + number % 4 // 2 if number % 2 == 0 else number % 4 // 2)


def silent_on_odd(number: int) -> PointCounts:
    return of_paper(number) if number % 2 == 0 else PointCounts(10, 0, 0, 0)


def test_precision_needs_a_point_in_both() -> None:
    """A model that writes nothing about papers on which all are imprecise is not more precise."""
    (precision,) = (measure for measure in POINTS if measure.name == "point precision")
    compared = _compare_measured(precision, outcomes(silent_on_odd), outcomes(of_paper))
    assert isinstance(compared, PairedDifference)
    assert (compared.value, compared.papers) == (0.0, 20)
    nothing = outcomes(lambda _: PointCounts(10, 0, 0, 0))
    assert _compare_measured(precision, nothing, outcomes(of_paper)) == "no case has a value in both runs"


def test_floors_are_compared_where_they_have_points() -> None:
    (precision,) = (measure for measure in POINTS if measure.name == "point precision")
    people = [
        replace(one, floors={"other-paper": silent_on_odd(place)}) for place, one in enumerate(outcomes(of_paper))
    ]
    (ceiling,) = compare_with_floors(precision, people)
    assert ceiling.gain == 0.0
    assert ceiling.human < ceiling.floors["other-paper"]
    assert ceiling.papers == 40
