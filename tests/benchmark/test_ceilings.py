"""Human ceilings beside floors on the same terms: the range that a measure leaves for models."""

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from baseline_cases import words
from invented_bench import ACCEPT, HELD, TEST, bench_paper, bench_release, ratings, saying
from peercorpus.benchmark.baselines.baseline import load_baseline
from peercorpus.benchmark.baselines.people import GENERIC, HumanDecision, HumanReview, HumanScores
from peercorpus.benchmark.cases import BenchTask, Case, CaseCounts, CaseSelection, read_cases
from peercorpus.benchmark.leaderboard import compare_with_floors, make_boards
from peercorpus.benchmark.leaderboard_render import lay_out
from peercorpus.benchmark.logs import read_runs
from peercorpus.benchmark.measures import DECISIONS, OVERLAPS
from peercorpus.benchmark.outcomes import CaseOutcome, DecisionRecord, Overlap
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.metrics.text_overlap import count_bleu, rouge_l
from peercorpus.release.folder import open_release
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import Split

pytestmark = [pytest.mark.usefixtures("quietly"), pytest.mark.slow]
ROUGE = next(measure for measure in OVERLAPS if measure.name == "ROUGE-L")


def cases(release: Path, task: BenchTask, split: Split = Split.TEST) -> list[Case]:
    return list(read_cases(open_release(release), task, CaseSelection(split), CaseCounts()))


def overlap(rouge: float) -> Overlap:
    return Overlap(rouge, count_bleu("a", ["a"]), 1)


def outcomes(people: list[float], floor: list[float], venue: str = "iclr 2020") -> list[CaseOutcome]:
    return [
        CaseOutcome(
            f"{venue}{place}", f"{venue}{place}", overlap(person), venue=venue, floors={"generic": overlap(low)}
        )
        for place, (person, low) in enumerate(zip(people, floor, strict=True))
    ]


def test_each_review_is_compared_only_with_the_others(bench_data: Path) -> None:
    people = HumanReview()
    for floor in people.floors:
        floor.fit(cases(bench_data, BenchTask.REVIEW, Split.TRAIN))
    case = next(case for case in cases(bench_data, BenchTask.REVIEW) if case.case_id == "p16")
    first, second = people.leave_out(case)
    assert (first.answers["human"], first.references) == (words(1600), (words(1601),))
    assert (second.answers["human"], second.references) == (words(1601), (words(1600),))
    assert first.answers["generic"] == GENERIC
    assert list(people.leave_out(replace(case, references=case.references[:1]))) == []


def test_each_score_is_against_the_others(bench_data: Path) -> None:
    people = HumanScores()
    for floor in people.floors:
        floor.fit(cases(bench_data, BenchTask.SCORES, Split.TRAIN))
    case = next(case for case in cases(bench_data, BenchTask.SCORES) if case.case_id == "p16")
    first, second = people.leave_out(case)
    assert first.answers["human"] == '{"rating": 3.0, "soundness": 3.0}'
    assert [(asked.field, asked.mean) for asked in first.asked] == [("rating", 4), ("soundness", 3)]
    assert second.asked[0].mean == 3


def test_a_recommendation_predicts_as_in_training(bench_data: Path) -> None:
    people = HumanDecision()
    train = cases(bench_data, BenchTask.ACCEPTANCE, Split.TRAIN)
    for learner in (people, *people.floors):
        learner.fit(train)
    case = next(case for case in cases(bench_data, BenchTask.ACCEPTANCE) if case.case_id == "p16")
    assert [score.values for score in case.recommendations if score.field == "rating"] == [ratings(16)]
    first, second = people.leave_out(case)
    # p04 and p10 of the train split's ICLR papers got a 3, both accepted, like a third of all, which counts as one
    # review.
    assert first.answers["human"] == f'{{"decision": "accept", "probability": {(2 + 1 / 3) / 3:.6f}}}'
    assert second.answers["human"] == first.answers["human"]
    assert first.asked == ()


def test_decisions_need_no_majority_of_papers() -> None:
    """The majority answer is right on each rejected paper, and no answer can be better than that."""

    def said(paper: int, *, right: bool) -> DecisionRecord:
        accepted = paper % 5 < 2
        return DecisionRecord(accepted, accepted is right, None)

    outcomes = [
        CaseOutcome(f"p{at}", f"p{at}", said(at, right=place < 4), floors={"majority": said(at, right=at % 5 >= 2)})
        for at in range(200)
        for place in range(5)
    ]
    accuracy = next(measure for measure in DECISIONS if measure.name == "accuracy")
    (ceiling,) = compare_with_floors(accuracy, outcomes)
    assert (ceiling.human, ceiling.floors) == (80, {"majority": 60})
    assert (ceiling.wins, ceiling.is_clear) == (None, True)


def test_a_floor_is_of_the_same_venue(bench_data: Path) -> None:
    for task in HELD:
        floor = load_baseline("other-paper", task)
        floor.fit(cases(bench_data, task, Split.TRAIN))
        asked = cases(bench_data, task)
        answers = [floor.answer(case) for case in asked]
        assert answers == [floor.answer(case) for case in asked]
        assert len(set(answers)) > 1
        if task is BenchTask.REVIEW:
            for case, answer in zip(asked, answers, strict=True):
                (number,) = (n for n in range(12) if answer.startswith((words(100 * n), words(100 * n + 1))))
                assert number % 2 == int(case.case_id[1:]) % 2


def test_every_table_has_floors_and_people(bench_data: Path, tmp_path: Path) -> None:
    run_tasks(Bench(HELD, bench_data, tmp_path, saying(ACCEPT, "yes")))
    boards = make_boards(read_runs(tmp_path))
    for board in boards.boards:
        names = {row.name for row in board.rows}
        assert "other-paper" in names
        assert ("human" in names) == (board.protocol.task is not BenchTask.REBUTTAL)
        assert not board.is_part
    review = next(board for board in boards.boards if board.protocol.task is BenchTask.REVIEW)
    (people,) = (row for row in review.rows if row.name == "human")
    assert (people.n, people.papers) == (16, 8)
    expected = fmean(rouge_l(words(100 * int(name[1:])), [words(100 * int(name[1:]) + 1)]) for name in TEST)
    (rouge,) = (one for one in review.ceilings if (one.measure, one.venue) == ("ROUGE-L", "all"))
    assert rouge.human == pytest.approx(100 * expected)
    assert {one.venue for one in review.ceilings} == {"all", "iclr 2020", "kite 2021"}
    shown = lay_out(boards).to_markdown()
    assert "## review: people and floors" in shown
    assert "BLEU ↑ ‡" in shown


def test_a_single_reviewer_is_in_no_ceiling(tmp_path: Path) -> None:
    def lonely(number: int) -> Row:
        paper = bench_paper(number)
        return paper | {"reviews": paper["reviews"][:1]} if number == 17 else paper

    release = bench_release(tmp_path / "release", lonely)
    run_tasks(Bench([BenchTask.REVIEW, BenchTask.SCORES], release, tmp_path / "logs", None))
    for board in make_boards(read_runs(tmp_path / "logs")).boards:
        (people,) = (row for row in board.rows if row.name == "human")
        assert (people.n, people.papers, people.unscored) == (14, 7, {"one_reviewer": 1})


def test_people_are_better_on_most_papers() -> None:
    floor = [0.1 + place / 1000 for place in range(40)]
    above = [value + (0.04 if place % 2 else 0.06) for place, value in enumerate(floor)]
    (clear,) = compare_with_floors(ROUGE, outcomes(above, floor))
    assert (clear.best, clear.wins, clear.is_clear) == ("generic", 1, True)
    assert (clear.human - clear.floors["generic"], clear.gain) == pytest.approx((5, 5))
    # Much better on every second paper, a little worse on the others: better on average, but not on most papers.
    mixed = [value + (0.1 if place % 2 else -0.01) for place, value in enumerate(floor)]
    (half,) = compare_with_floors(ROUGE, outcomes(mixed, floor))
    assert half.bounds is not None
    assert half.bounds[0] > 0
    assert (half.wins, half.is_clear) == (0.5, False)
    (equal,) = compare_with_floors(ROUGE, outcomes(floor, floor))
    assert (equal.gain, equal.wins, equal.is_clear) == (0, None, False)


def test_each_venue_has_its_own_ceiling() -> None:
    both = outcomes([0.5] * 5, [0.1] * 5) + outcomes([0.1] * 5, [0.2] * 5, "kite 2021")
    found = {one.venue: [one.human, one.gain] for one in compare_with_floors(ROUGE, both)}
    assert found["all"] == pytest.approx([30, 15])
    assert found["iclr 2020"] == pytest.approx([50, 40])
    assert found["kite 2021"] == pytest.approx([10, -10])
    assert len(found) == 3
