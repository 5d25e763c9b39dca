"""Pairs of papers within a venue and year: order checked by hand, ties, the human ceiling, intervals, the command."""

import csv
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from commands import Run
from invented_bench import ACCEPT, ACCEPTED, REJECT, TEST, by_paper, ratings
from peercorpus.benchmark import ranking as ranking_module
from peercorpus.benchmark.cases import AskedScore, BenchTask
from peercorpus.benchmark.logs import read_runs
from peercorpus.benchmark.ranking import PEOPLE, Opinion, list_human_opinions, rank, rank_runs
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.records.enums import Aspect

VENUE = ("ICLR.cc/2020/Conference",)


def opinion(name: str, said: float, gold: float, group: tuple[str | float, ...] = VENUE) -> Opinion:
    return Opinion(name, group, said, gold)


def test_only_ordered_pairs_count() -> None:
    opinions = [opinion("a", 0.1, 0), opinion("b", 0.9, 1), opinion("c", 0.9, 0), opinion("d", 0.0, 1, ("Other",))]
    ranking = rank("model", opinions)
    assert ranking is not None
    # b above a is right, b and c are tied, a and c have no order, d belongs to another venue.
    assert (ranking.concordance.value, ranking.pairs, ranking.even, ranking.groups) == (0.75, 2, 1, 1)
    assert (ranking.tied, ranking.concordance.papers) == (0.5, 4)


def test_a_large_venue_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking_module, "MOST_PAPERS", 4)
    opinions = [opinion(f"p{number}", number, number) for number in range(10)] + [opinion("q", 1, 1, ("Other",))]
    ranking = rank("model", opinions)
    assert ranking is not None
    assert (ranking.pairs, ranking.concordance.papers, ranking.not_drawn) == (6, 5, 6)


@pytest.mark.parametrize("opinions", [[], [opinion("a", 1, 1)], [opinion("a", 1, 1), opinion("b", 0, 1)]])
def test_without_an_ordered_pair_there_is_no_number(opinions: list[Opinion]) -> None:
    assert rank("model", opinions) is None


@pytest.mark.parametrize("seed", range(5))
def test_the_share_equals_a_count_of_all_pairs(seed: int) -> None:
    random = Random(seed)
    opinions = [
        opinion(f"p{number % 9}", random.randrange(4), random.randrange(4), (f"V{number % 9 % 2}",))
        for number in range(20)
    ]
    right = ordered = 0.0
    papers = sorted({one.forum_id for one in opinions})
    for left, other in combinations(papers, 2):
        both = [[one for one in opinions if one.forum_id == name] for name in (left, other)]
        if both[0][0].group != both[1][0].group:
            continue
        for one in both[0]:
            for two in both[1]:
                if one.gold == two.gold:
                    continue
                weight = 1 / (len(both[0]) * len(both[1]))
                ordered += weight
                same = (one.said - two.said) * (one.gold - two.gold)
                right += weight * (1 if same > 0 else 0.5 if same == 0 else 0)
    ranking = rank("model", opinions)
    assert ranking is not None
    assert ranking.concordance.value == pytest.approx(right / ordered)


def test_the_interval_is_over_papers_and_contains_the_number() -> None:
    random = Random(0)
    opinions = [opinion(f"p{number}", number + random.gauss(0, 30), number) for number in range(60)]
    ranking = rank("model", opinions)
    assert ranking is not None
    share = ranking.concordance
    assert share.bounds is not None
    assert 0.5 < share.bounds[0] < share.value < share.bounds[1] < 1


def test_a_reviewer_is_against_the_others() -> None:
    rating = AskedScore(Aspect.RECOMMENDATION, "rating", 1, 10, (2, 5, 8))
    found = list(list_human_opinions("a", "V", [AskedScore(Aspect.SOUNDNESS, "soundness", 1, 4, (1, 2, 3)), rating]))
    assert [(one.said, one.gold) for one in found] == [(2, 6.5), (5, 5), (8, 3.5)]
    assert {one.group for one in found} == {("V", "rating", 1, 10)}
    alone = AskedScore(Aspect.RECOMMENDATION, "rating", 1, 10, (2,))
    assert list(list_human_opinions("a", "V", [alone])) == []


@pytest.mark.slow
@pytest.mark.usefixtures("quietly")
def test_runs_are_ranked_beside_baselines_and_people(bench_data: Path, tmp_path: Path, run: Run) -> None:
    answers = {name: ACCEPT if name in ACCEPTED else REJECT for name in TEST} | {"p16": "Yes"}
    bench: dict[str, Any] = {"release": bench_data, "logs": tmp_path / "logs", "model": by_paper(answers, "ranked")}
    assert run_tasks(Bench(tasks=[BenchTask.ACCEPTANCE], **bench)).is_whole
    assert run_tasks(Bench(tasks=[BenchTask.SCORES], **bench | {"model": None})).is_whole
    acceptance, scores = rank_runs(read_runs(tmp_path / "logs"))
    model = acceptance.rankings[0]
    assert (model.name, model.concordance.value, model.left_out) == ("mockllm/ranked", 1, 1)
    assert "decisions" in model.says
    # Without p16, ICLR has one accepted and two rejected papers, the other venue one and three.
    assert (model.pairs, model.even, model.groups) == (5, 4, 2)
    assert next(one for one in acceptance.rankings if one.name == "accept-all (baseline)").tied == 1
    assert [one.name for one in scores.rankings][-1] == PEOPLE
    assert ratings(16) == (3, 4)
    ended = run("bench", "rank", tmp_path / "logs")
    assert ended.code == 0
    assert "| mockllm/ranked | 1.000" in ended.out
    assert f"| {PEOPLE} |" in ended.out
    for kind in ("md", "csv", "html"):
        assert PEOPLE in (tmp_path / "logs" / f"ranking.{kind}").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("quietly")
def test_the_csv_of_rankings_has_every_number_unrounded(bench_data: Path, tmp_path: Path, run: Run) -> None:
    bench = Bench(tasks=[BenchTask.SCORES], release=bench_data, logs=tmp_path / "logs", model=None)
    assert run_tasks(bench).is_whole
    assert run("bench", "rank", tmp_path / "logs").code == 0
    (table,) = rank_runs(read_runs(tmp_path / "logs"))
    with (tmp_path / "logs" / "ranking.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["name"] for line in lines] == [ranking.name for ranking in table.rankings]
    for line, ranking in zip(lines, table.rankings, strict=True):
        assert float(line["value"]) == ranking.concordance.value
        assert (int(line["pairs"]), float(line["tied"])) == (ranking.pairs, ranking.tied)


@pytest.mark.slow
@pytest.mark.usefixtures("quietly")
def test_without_a_run_that_ranks_papers_nothing_is_written(bench_data: Path, tmp_path: Path, run: Run) -> None:
    bench = Bench(tasks=[BenchTask.REVIEW], release=bench_data, logs=tmp_path / "logs", model=None)
    assert run_tasks(bench).is_whole
    ended = run("bench", "rank", tmp_path / "logs")
    assert (ended.code, len(ended.out.splitlines())) == (1, 1)
    assert not list((tmp_path / "logs").glob("ranking.*"))
