"""The calibration of rule-based judges: only those that can distinguish worse texts from gold pass."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import Model

from commands import Run, assert_refused
from invented_releases import review, task_paper, write_release
from naming import by_name
from peercorpus.benchmark.judge.agreement import (
    FAILS,
    REVERSES,
    TELLS,
    describe_calibration,
    extract_rankings,
    finding,
    judge_verdict,
    points,
    rank,
)
from peercorpus.benchmark.judge.calibration import judge_calibration, judge_pairs
from peercorpus.benchmark.judge.specimens import Degradation
from peercorpus.errors import PeercorpusError, UndefinedMetricError
from scripted_judges import Rule, by_length, flat, judge_by, run_quietly

PAPERS = 5
NAMES = [name.value for name in Degradation]


def written(paper: int, reviewer: int) -> str:
    """Return an invented review: numbered sentences that name their paper; longer for later papers."""
    return " ".join(f"Sentence {number} of paper{paper} by {reviewer} flies." for number in range(3, 9 + paper))


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> str:
    papers = []
    for paper in range(PAPERS):
        reviews = [review(f"p{paper}-{one}", text=written(paper, one)) for one in range(3)]
        papers.append(task_paper(f"p{paper}", reviews=reviews))
    alone = task_paper("p9", reviews=[review("p9-0", text=written(9, 0))])
    rows = {("review_sft", "test"): [*papers, alone]}
    return str(write_release(tmp_path_factory.mktemp("judged"), rows, {}))


def is_gold(text: str, others: str) -> bool:
    """Return whether a text is unaltered: a rule that needs no model."""
    numbers = [int(word) for word in text.split() if word.isdigit() and int(word) > 2]
    paper = others.split()[3]
    return paper in text and numbers == sorted(numbers) and text.split()[-1] == "flies." and len(numbers) > 5


def perfect(told: dict[str, str]) -> str:
    return flat(9 if is_gold(told["CANDIDATE"], told["HUMAN-1"]) else 3)


def perfect_of_two(told: dict[str, str]) -> str:
    return '{"better": "A"}' if is_gold(told["CANDIDATE-A"], told["HUMAN-1"]) else '{"better": "B"}'


def numbers(log: EvalLog) -> dict[str, float]:
    assert log.status == "success", log.error
    assert log.results
    return {name: one.value for name, one in log.results.scores[0].metrics.items()}


def calibrate(tmp_path: Path, release: str, rule: Rule | Model, **more: Any) -> EvalLog:
    judge = rule if isinstance(rule, Model) else judge_by(rule)
    return run_quietly(judge_calibration(release, **more), judge, tmp_path)


def compare(tmp_path: Path, release: str, rule: Rule, **more: Any) -> EvalLog:
    return run_quietly(judge_pairs(release, **more), judge_by(rule), tmp_path)


class TestVerdicts:
    def test_a_perfect_judge_passes_every_check(self, tmp_path: Path, release: str) -> None:
        log = calibrate(tmp_path, release, perfect)
        found = numbers(log)
        assert [found[f"{name}_share"] for name in NAMES] == [1, 1, 1, 1]
        assert [found[f"{name}_papers"] for name in NAMES] == [PAPERS] * 4
        assert found["padding_gain"] == -6
        assert "shuffled, truncated, from another paper, padded." in describe_calibration(log)
        assert "does not" not in describe_calibration(log)

    @pytest.mark.slow
    def test_a_constant_judge_scores_one_half_through_ties(self, tmp_path: Path, release: str) -> None:
        log = calibrate(tmp_path, release, lambda _: flat(7))
        found = numbers(log)
        assert [found[f"{name}_share"] for name in NAMES] == [0.5] * 4
        assert [found[f"{name}_ties"] for name in NAMES] == [PAPERS] * 4
        assert re.search(r"does not: .*not shown[^:;]*: shuffled, truncated", describe_calibration(log))

    @pytest.mark.slow
    def test_a_judge_that_prefers_length_is_misled_by_padding(self, tmp_path: Path, release: str) -> None:
        log = calibrate(tmp_path, release, by_length(12))
        found = numbers(log)
        assert (found["padded_share"], found["truncated_share"], found["shuffled_share"]) == (0, 1, 0.5)
        assert found["padding_gain"] > 1
        assert found["gold_length_spearman"] > 0.9
        assert "above the gold: padded" in describe_calibration(log)

    @pytest.mark.slow
    def test_unreadable_answers_are_counted_both_ways(self, tmp_path: Path, release: str) -> None:
        def half_mute(told: dict[str, str]) -> str:
            return "Fine." if "paper3" in told["CANDIDATE"] and "paper3" in told["HUMAN-1"] else perfect(told)

        found = numbers(calibrate(tmp_path, release, half_mute, attempts=1))
        assert (found["shuffled_papers"], found["shuffled_unread"]) == (PAPERS - 1, 1)
        assert (found["shuffled_share"], found["shuffled_share_unread_wrong"]) == (1, (PAPERS - 1) / PAPERS)
        assert found["papers"] == PAPERS

    @pytest.mark.slow
    def test_a_judge_with_only_unreadable_answers_has_no_share(self, tmp_path: Path, release: str) -> None:
        log = calibrate(tmp_path, release, lambda _: "Fine.", attempts=1)
        found = numbers(log)
        assert not [name for name in found if name.endswith("share")]
        assert [found[f"{name}_unread"] for name in NAMES] == [PAPERS] * 4
        assert re.search(r"does not: .*not tried on: shuffled", describe_calibration(log))

    @pytest.mark.slow
    def test_the_log_has_every_answer(self, tmp_path: Path, release: str) -> None:
        log = calibrate(tmp_path, release, perfect, limit=1)
        assert log.samples
        (sample,) = log.samples
        assert list(sample.metadata["asked"]) == ["gold", *NAMES]
        assert sample.scores
        assert sample.scores["calibrated"].metadata
        assert sample.scores["calibrated"].metadata["verdicts"]["gold"]["quality"] == 9


class TestPairs:
    def test_a_perfect_judge_passes_every_check(self, tmp_path: Path, release: str) -> None:
        log = compare(tmp_path, release, perfect_of_two)
        found = numbers(log)
        assert [found[f"{name}_share"] for name in NAMES] == [1, 1, 1, 1]
        assert (found["flips"], found["first_place"], found["pairs"]) == (0, 0.5, 4 * PAPERS)
        assert "0.0% change their winner" in describe_calibration(log)

    @pytest.mark.slow
    def test_a_judge_that_prefers_the_first_position_always_flips(self, tmp_path: Path, release: str) -> None:
        found = numbers(compare(tmp_path, release, lambda _: '{"better": "A"}'))
        assert (found["flips"], found["first_place"]) == (1, 1)
        assert [found[f"{name}_share"] for name in NAMES] == [0.5] * 4
        assert [found[f"{name}_ties"] for name in NAMES] == [PAPERS] * 4

    @pytest.mark.slow
    def test_a_judge_of_length_fails_padded_pairs(self, tmp_path: Path, release: str) -> None:
        def longer(told: dict[str, str]) -> str:
            return '{"better": "A"}' if len(told["CANDIDATE-A"]) > len(told["CANDIDATE-B"]) else '{"better": "B"}'

        found = numbers(compare(tmp_path, release, longer))
        assert (found["padded_share"], found["truncated_share"]) == (0, 1)


class TestTasks:
    def test_the_same_seed_asks_the_same(self, release: str) -> None:
        first, again, other = (judge_calibration(release, seed=seed).dataset for seed in (1, 1, 2))
        assert [one.metadata for one in first] == [one.metadata for one in again]
        assert [one.metadata for one in first] != [one.metadata for one in other]

    def test_exclusions_are_reported(self, release: str) -> None:
        task = judge_calibration(release, limit=3)
        assert task.metadata is not None
        assert task.metadata.keys() == {"papers", "left_out"}
        assert task.metadata["papers"] == 3
        assert by_name(task.metadata["left_out"], "limit", "second review") == {
            "limit": PAPERS - 3,
            "second review": 1,
        }

    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            ({"split": "tset"}, "'tset'"),
            ({"limit": 0}, "limit"),
            ({"split": "train"}, "'train'; choose another split"),
            ({"venue": "nowhere"}, "'test'; choose another split"),
        ],
    )
    def test_impossible_questions_are_refused(self, release: str, wrong: dict[str, Any], says: str) -> None:
        with pytest.raises(PeercorpusError, match=says):
            judge_pairs(release, **wrong)

    @pytest.mark.slow
    def test_the_command_prints_a_logs_result(self, tmp_path: Path, release: str, run: Run) -> None:
        log = calibrate(tmp_path, release, perfect, limit=2)
        ended = run("bench", "judge", log.location)
        assert (ended.code, ended.out) == (0, f"{describe_calibration(log)}\n")
        assert "| shuffled | 1.000 | 0.342 to 1.000 | 2 | 0 | 0 | 1.000 |" in ended.out

    def test_another_file_is_no_log(self, tmp_path: Path, run: Run) -> None:
        (tmp_path / "notes.eval").write_text("no log")
        assert_refused(run("bench", "judge", tmp_path / "notes.eval"), "notes.eval'", "move it away")
        assert_refused(run("bench", "judge", tmp_path / "nowhere.eval"), "nowhere.eval'", "'peercorpus bench'")

    @pytest.mark.slow
    def test_only_calibration_logs_are_printed(self, tmp_path: Path, release: str) -> None:
        log = calibrate(tmp_path, release, perfect, limit=1)
        log.status = "error"
        with pytest.raises(PeercorpusError, match="judge_calibration"):
            describe_calibration(log)


class TestRanking:
    def test_results_equal_values_computed_by_hand(self) -> None:
        found = rank([1, 1, 0.5, 0, None])
        assert (found.share, found.papers, found.ties, found.unread) == (0.625, 4, 1, 1)
        assert found.share_unread_wrong == 0.5
        assert found.low < 0.5 < found.high
        assert [points(7, 6), points(6, 6), points(5, 6)] == [1, 0.5, 0]

    @pytest.mark.parametrize(
        ("of_papers", "expected"), [([1] * 4, TELLS), ([0] * 4, REVERSES), ([1, 0], FAILS), ([1] * 3, FAILS)]
    )
    def test_few_papers_give_wide_intervals(self, of_papers: list[float], expected: str) -> None:
        assert finding(rank(of_papers)) == expected

    def test_no_data_is_an_error(self) -> None:
        with pytest.raises(UndefinedMetricError):
            rank([None, None])

    def test_an_untried_check_does_not_pass(self) -> None:
        tried = {Degradation.SHUFFLED: rank([1] * 9)}
        verdict = judge_verdict(tried)
        assert re.search(r"does not: .*below the gold: shuffled;", verdict)
        assert verdict.endswith("not tried on: truncated, from another paper, padded.")

    def test_numbers_are_read_back(self) -> None:
        ranking = rank([1, 0.5])
        assert extract_rankings({f"padded_{name}": value for name, value in asdict(ranking).items()}) == {
            Degradation.PADDED: ranking
        }
