"""The four tasks end to end with models that follow a script: numbers worked out by hand."""

import json
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.model import ChatMessage, Model, get_model

from baseline_cases import words
from invented_bench import (
    ACCEPT,
    ACCEPTED,
    HELD,
    REJECT,
    TEST,
    answered,
    asked_of,
    by_paper,
    oracle,
    ratings,
    saying,
)
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.leaderboard import Board, RunResult, make_boards
from peercorpus.benchmark.leaderboard_render import lay_out
from peercorpus.benchmark.logs import read_runs
from peercorpus.benchmark.run import Bench, BenchResult, run_tasks
from peercorpus.benchmark.tasks import acceptance
from scripted_judges import flat, judge_by

pytestmark = [pytest.mark.usefixtures("quietly"), pytest.mark.slow]
NOT_TAKEN_UP = {"points taken up": None, "points taken up by people": None}
"""Measures of discussions about reviews without criticism."""
NO_CHANCES = dict.fromkeys(("AUROC", "Brier score", "ECE", "contradictory"))
"""Measures of answers that state no probability."""
SHARE = 100 * len(ACCEPTED) / len(TEST)


def ask(model: Model | None, release: Path, logs: Path, *tasks: BenchTask, **more: Any) -> BenchResult:
    return run_tasks(Bench(tasks, release, logs, model, **{"with_baselines": False} | more))


def boards_of(logs: Path) -> list[Board]:
    return make_boards(read_runs(logs)).boards


def rows_of(board: Board) -> dict[str, RunResult]:
    """Rows by the name of the model and how failures count."""
    return {f"{row.name} {row.failures}".strip(): row for row in board.rows}


def numbers(board: Board, row: RunResult) -> dict[str, float | None]:
    cells = zip(board.measures, row.cells, strict=True)
    return {measure.name: None if cell is None else cell.value for measure, cell in cells}


def both_ways(
    logs: Path, group: str = ""
) -> tuple[RunResult, dict[str, float | None], RunResult, dict[str, float | None]]:
    """The row without the failures, and the row that counts them as uninformed answers, each with its numbers."""
    board = next(one for one in boards_of(logs) if one.group == group)
    dropped, *_, uninformed = board.rows
    assert (dropped.failures, uninformed.failures) == ("left out", "counted as uninformed")
    return dropped, numbers(board, dropped), uninformed, numbers(board, uninformed)


class TestOracle:
    def test_an_oracle_is_right_in_all_four_tasks(self, bench_data: Path, tmp_path: Path) -> None:
        ran = ask(oracle(bench_data), bench_data, tmp_path, *HELD)
        assert (ran.is_whole, len(ran.logs), ran.errors) == (True, 4, {})
        boards = {(board.protocol.task, board.group): board for board in boards_of(tmp_path)}
        found = {name: (board.rows[0].n, numbers(board, board.rows[0])) for name, board in boards.items()}
        right = dict.fromkeys(("accuracy", "precision", "recall", "F1", "balanced accuracy"), 100.0)
        assert found[BenchTask.ACCEPTANCE, ""] == (8, right | {"MCC": 1.0} | NO_CHANCES)
        scales = ("normalised", "1 to 5", "1 to 10")
        zeros = {f"{name}, {scale}": 0.0 for scale in scales for name in ("MAE", "MSE")}
        assert found[BenchTask.SCORES, "recommendation"] == (8, zeros | {f"Spearman, {scale}": 1.0 for scale in scales})
        assert found[BenchTask.SCORES, "soundness"][1]["MAE, 1 to 4"] == 0
        no_criticism = {"point recall": None, "point precision": None, "points": 0}
        same = {"BLEU": pytest.approx(100), "ROUGE-L": 100}
        assert found[BenchTask.REVIEW, ""] == (8, same | {"length (words)": 60} | no_criticism)
        assert found[BenchTask.REBUTTAL, ""] == (16, same | {"length (words)": 22} | NOT_TAKEN_UP)
        assert {row.papers for board in boards.values() for row in board.rows} == {8}


class TestAcceptance:
    def test_always_accepting_scores_the_share_of_accepted_papers(self, bench_data: Path, tmp_path: Path) -> None:
        ask(saying(ACCEPT, "yes"), bench_data, tmp_path, BenchTask.ACCEPTANCE, with_baselines=True)
        (board,) = boards_of(tmp_path)
        rows = rows_of(board)
        f1 = 200 * SHARE / (100 + SHARE)
        expected = {"accuracy": SHARE, "precision": SHARE, "recall": 100, "F1": pytest.approx(f1)}
        expected |= {"balanced accuracy": 50, "MCC": None} | NO_CHANCES
        assert numbers(board, rows["mockllm/yes"]) == expected
        assert numbers(board, rows["accept-all"]) == expected
        assert SHARE == 37.5

    def test_unreadable_answers_are_counted_both_ways(self, bench_data: Path, tmp_path: Path) -> None:
        answers = {"p16": ACCEPT, "p18": REJECT, "p20": ACCEPT, "p23": REJECT}
        failures = {
            "p17": "I would accept it.",
            "p19": '{"decision": "maybe"}',
            "p21": "",
            "p22": '{"decision": "accept", "probability": 1.2}',
        }
        ask(by_paper(answers | failures), bench_data, tmp_path, BenchTask.ACCEPTANCE)
        dropped, without, wrong, with_them = both_ways(tmp_path)
        reasons = {"no_object": 1, "no_decision": 1, "empty": 1, "off_scale": 1}
        assert (dropped.n, wrong.n, dropped.unscored, wrong.unscored) == (4, 8, reasons, reasons)
        # One right acceptance, one wrong, two right rejections.
        expected = {"accuracy": 75, "precision": 50, "recall": 100, "F1": pytest.approx(200 / 3)}
        expected |= {"balanced accuracy": pytest.approx(100 * (1 + 2 / 3) / 2), "MCC": pytest.approx(2 / sqrt(12))}
        assert without == expected | NO_CHANCES
        # Most papers are rejected, so each of the four counts as a rejection: two of them rightly.
        expected = {"accuracy": 62.5, "precision": 50, "recall": pytest.approx(100 / 3), "F1": 40}
        expected |= {"balanced accuracy": pytest.approx(50 * (1 / 3 + 4 / 5)), "MCC": pytest.approx(2 / sqrt(180))}
        expected |= NO_CHANCES
        assert with_them == expected
        shown = lay_out(make_boards(read_runs(tmp_path))).to_markdown()
        assert "| empty 1, no_decision 1, no_object 1, off_scale 1 | 0 | 0 | 75.0 " in shown

    def test_withheld_answers_count_as_refused(self, bench_data: Path, tmp_path: Path) -> None:
        def answer(asked: list[ChatMessage], *_: object) -> Any:
            return answered(ACCEPT, "content_filter" if asked_of(asked) == "p17" else "stop")

        ask(get_model("mockllm/shy", custom_outputs=answer, memoize=False), bench_data, tmp_path, BenchTask.ACCEPTANCE)
        dropped, without, _, _ = both_ways(tmp_path)
        assert (dropped.n, dropped.unscored) == (7, {"refused": 1})
        assert without["accuracy"] == pytest.approx(300 / 7)

    def test_leniently_read_answers_count_in_a_separate_row(self, bench_data: Path, tmp_path: Path) -> None:
        answers = dict.fromkeys(TEST, '{"decision": "reject", "probability": 0.2}')
        answers |= {
            "p16": "Accept.",
            "p17": 'Well: {"decision": "rejected", "probability": "20%"}',
            "p18": "Who knows?",
        }
        answers["p19"] = "I'm sorry, but I can't assist with that."
        ask(by_paper(answers), bench_data, tmp_path, BenchTask.ACCEPTANCE)
        (board,) = boards_of(tmp_path)
        rows = {row.failures: (row, numbers(board, row)) for row in board.rows}
        assert list(rows) == ["left out", "read leniently", "counted as uninformed"]
        assert [row.n for row, _ in rows.values()] == [4, 6, 8]
        assert [dict(row.unscored) for row, _ in rows.values()] == [
            {"no_object": 3, "refused": 1},
            {"no_object": 1, "refused": 1},
            {"no_object": 3, "refused": 1},
        ]
        # p22 is accepted, as is p19, whose refusal counts as a rejection in the last row.
        assert [found["accuracy"] for _, found in rows.values()] == [75, pytest.approx(500 / 6), 62.5]

    def test_decisions_that_their_probabilities_contradict_are_counted(self, bench_data: Path, tmp_path: Path) -> None:
        def answer(name: str) -> str:
            accepted = name in ACCEPTED
            return json.dumps({"decision": "accept" if accepted else "reject", "probability": 0.3 if accepted else 0.6})

        ask(by_paper({name: answer(name) for name in TEST}), bench_data, tmp_path, BenchTask.ACCEPTANCE)
        (board,) = boards_of(tmp_path)
        found = numbers(board, board.rows[0])
        assert (found["accuracy"], found["AUROC"], found["contradictory"]) == (100, 0, 100)
        assert found["Brier score"] == pytest.approx((3 * 0.49 + 5 * 0.36) / 8)
        assert found["ECE"] == pytest.approx((3 * 0.7 + 5 * 0.6) / 8)

    def test_probabilities_are_ranked(self, bench_data: Path, tmp_path: Path) -> None:
        # All but one of 15 pairs are in order: p17, a rejected paper, ranks above p22 only.
        chances = dict.fromkeys(TEST, 0.1) | {"p16": 0.9, "p19": 0.8, "p22": 0.3, "p17": 0.4}
        answers = {name: json.dumps({"decision": "reject", "probability": chance}) for name, chance in chances.items()}
        ask(by_paper(answers), bench_data, tmp_path, BenchTask.ACCEPTANCE)
        (board,) = boards_of(tmp_path)
        assert numbers(board, board.rows[0])["AUROC"] == pytest.approx(14 / 15)

    def test_the_task_runs_without_our_command(self, bench_data: Path, tmp_path: Path) -> None:
        task = acceptance(str(bench_data), venue="kite")
        (log,) = evaluate(task, model=saying(REJECT), log_dir=str(tmp_path), display="none")
        assert log.status == "success"
        assert log.samples is not None
        assert {str(sample.id) for sample in log.samples} == {"p17", "p19", "p21", "p23"}
        assert log.results is not None
        metrics = {name.rpartition("/")[2]: one.value for name, one in log.results.scores[0].metrics.items()}
        assert (metrics["accuracy"], metrics["recall"]) == (0.75, 0)
        assert "precision" not in metrics  # No paper is accepted: the measure is undefined, not 0.


class TestScores:
    def test_errors_of_half_a_point_are_scored(self, bench_data: Path, tmp_path: Path) -> None:
        right = {name: sum(ratings(int(name[1:]))) / 2 for name in TEST}
        answers = {name: json.dumps({"rating": mean + 0.5, "soundness": 3}) for name, mean in right.items()}
        answers["p16"] = '{"rating": "five", "soundness": 3}'
        ask(by_paper(answers), bench_data, tmp_path, BenchTask.SCORES)
        dropped, without, uninformed, with_them = both_ways(tmp_path, "recommendation")
        assert (dropped.n, uninformed.n, dropped.unscored) == (7, 8, {"no_number": 1})
        assert right["p16"] == 3.5  # On a scale from 1 to 5, on which the mean of the four papers is 2.5.
        assert (without["MAE, 1 to 5"], with_them["MAE, 1 to 5"]) == (0.5, 2.5 / 4)
        assert (without["MSE, 1 to 5"], with_them["MSE, 1 to 5"]) == (0.25, 1.75 / 4)
        assert without["MAE, 1 to 10"] == with_them["MAE, 1 to 10"] == 0.5
        assert without["MAE, normalised"] == pytest.approx((1.5 / 4 + 2 / 9) / 7)
        assert with_them["MAE, normalised"] == pytest.approx((2.5 / 4 + 2 / 9) / 8)


class TestWriting:
    def test_a_missing_review_is_unscored_or_shares_no_word(self, bench_data: Path, tmp_path: Path) -> None:
        silent = {"p16", "p23"}
        reviews = {name: "" if name in silent else words(100 * int(name[1:]) + 1) for name in TEST}
        ask(by_paper(reviews), bench_data, tmp_path, BenchTask.REVIEW)
        dropped, without, wrong, with_them = both_ways(tmp_path)
        assert (dropped.n, wrong.n, dropped.unscored) == (6, 8, {"empty": 2})
        assert (without["ROUGE-L"], with_them["ROUGE-L"]) == (100, 75)
        assert (without["length (words)"], with_them["length (words)"]) == (60, 45)
        assert without["BLEU"] == pytest.approx(100)
        # 75 % of the words are present, all of them right: only the brevity penalty applies, exp(1 - 8/6).
        assert with_them["BLEU"] == pytest.approx(100 * 0.7165313, rel=1e-6)


class TestJudged:
    def test_a_judge_is_named_in_the_table(self, bench_data: Path, tmp_path: Path) -> None:
        judge = judge_by(lambda told: flat(9 if "kites" in told["CANDIDATE"] else 2))
        reviews = {name: "We like kites." if name < "p20" else "We like it." for name in TEST}
        roles, options = {"grader": judge, "grader2": judge}, {"judged": True, "repeats": 2}
        ask(by_paper(reviews), bench_data, tmp_path, BenchTask.REVIEW, options=options, roles=roles)
        (board,) = boards_of(tmp_path)
        found = numbers(board, board.rows[0])
        assert found[f"judge: quality (by {judge})"] == (4 * 9 + 4 * 2) / 8
        assert sum(name.startswith("judge: ") for name in found) == 5
        # A rule-based judge gives the same answer when asked again, and so does another one.
        for fact in ("repeat_alpha_overall 1.000", "second_alpha_overall 1.000"):
            assert fact in board.rows[0].says
