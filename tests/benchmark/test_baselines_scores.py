"""Baselines of scores, on papers with a known indicator of the scores."""

import math
from typing import Any

import pytest

from baseline_cases import rated, scored, words
from peercorpus.benchmark.answers import read_score_answer
from peercorpus.benchmark.baselines.baseline import list_baselines, load_baseline
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case
from peercorpus.errors import BaselineError
from peercorpus.records.enums import Aspect

LEARNERS = ["length", "tfidf-abstract", "tfidf-paper"]
SMALL = {"low": 1.0, "high": 4.0}


def answers(name: str, train: list[Case], *asked: Case) -> list[dict[str, float]]:
    made = load_baseline(name, BenchTask.SCORES)
    made.fit(iter(train))
    return [read_score_answer(made.answer(case), case.scores) for case in asked]


def soundness(*values: float, **known: str) -> AskedScore:
    return rated(*values, aspect=Aspect.SOUNDNESS, **{"field": "soundness", **SMALL, **known})


def test_a_mean_falls_back_by_group() -> None:
    other: dict[str, Any] = {"venue_id": "Workshop"}
    train = [
        scored("a", rated(3, 5), soundness(2)),
        scored("b", rated(8), soundness(3)),
        scored("c", rated(10), venue_id="ICML.cc/2024/Conference"),
        scored("d", rated(4, low=0.0, high=5.0), rated(4, aspect=Aspect.CLARITY, field="clarity", **SMALL), **other),
    ]
    cases = [
        scored("d", rated(1), soundness(1)),
        scored("e", rated(1), venue_id="NeurIPS.cc/2024/Conference"),
        scored("f", soundness(1, field="technical_soundness")),
        scored("g", rated(0, field="overall", low=0.0, high=100.0)),
        scored("h", rated(1, aspect=Aspect.NOVELTY, field="novelty", low=0.0, high=1.0)),
    ]
    said = answers("mean", train, *cases)
    assert said[0] == {"rating": 6.0, "soundness": 2.5}, "each paper weighs the same: (4 + 8) / 2"
    assert said[1] == {"rating": round(22 / 3, 4)}, "of the field at all venues"
    assert said[2] == {"technical_soundness": 2.5}, "of its scale and aspect"
    assert said[3] == {"overall": round(100 * (3 / 9 + 7 / 9 + 1 + 4 / 5) / 4, 4)}, "of its aspect, on its scale"
    assert said[4] == {"novelty": round((3 / 9 + 7 / 9 + 1 + 4 / 5 + 1 / 3 + 2 / 3 + 1) / 7, 4)}, "of all there is"


@pytest.mark.parametrize(("name", "part"), [("tfidf-abstract", "abstract"), ("tfidf-paper", "markdown")])
def test_a_decisive_word_is_learnt(name: str, part: str) -> None:
    def one(number: int, *, is_good: bool) -> Case:
        said = f"{words(number, 20)} {'splendid' if is_good else 'dreary'}"
        return scored(f"p{number}", rated(9.0 if is_good else 2.0), soundness(1 if is_good else 4), **{part: said})

    train = [one(number, is_good=number % 2 == 0) for number in range(600)]
    good, bad = answers(name, train, one(700, is_good=True), one(701, is_good=False))
    assert good["rating"] > 6.5
    assert bad["rating"] < 4.5
    assert good["soundness"] < 2, "another aspect goes the other way"
    assert bad["soundness"] > 3


def test_the_length_of_a_paper_is_learnt() -> None:
    counts = [100 * 2**step for step in range(8)]
    train = [scored(f"p{step}", rated(1.0 + step), markdown="x" * (count - 1)) for step, count in enumerate(counts)]
    (said,) = answers("length", train, scored("a", rated(1), markdown="x" * (100 * 2**5 - 1)))
    x = [step - 3.5 for step in range(8)]
    # A ridge with alpha 1 on a standardised number shrinks the slope by n / (n + 1).
    slope = 8 / 9 * sum(step * value for step, value in enumerate(x)) / sum(value**2 for value in x)
    assert math.isclose(said["rating"], 4.5 + slope * 1.5, abs_tol=1e-3)


@pytest.mark.parametrize("name", LEARNERS)
def test_numbers_stay_on_their_scale(name: str) -> None:
    train = [
        scored(f"p{n}", rated(10.0 if n % 2 else 1.0), abstract="splendid" if n % 2 else "dreary", markdown="x" * 9**n)
        for n in range(7)
    ]
    case = scored("a", rated(1), soundness(1), abstract="splendid " * 9, markdown="x" * 9**7)
    (said,) = answers(name, train, case)
    assert 1 <= said["rating"] <= 10
    assert said["soundness"] == round(1 + 3 * 3 / 7, 4)


def test_a_rare_field_is_learnt() -> None:
    def one(number: int) -> Case:
        fun = rated(9 if number % 6 == 0 else 1, aspect=Aspect.OTHER, field="fun")
        said = f"{words(number, 10)} {'splendid' if number % 6 == 0 else 'dreary'}"
        return scored(f"p{number}", rated(3), *([fun] if number % 3 == 0 else []), abstract=said)

    splendid, dreary = answers("tfidf-abstract", [one(number) for number in range(900)], one(906), one(909))
    assert math.isclose(splendid["rating"], 3, abs_tol=1e-3)
    assert splendid["fun"] > 6.5
    assert dreary["fun"] < 3.5


@pytest.mark.parametrize("name", list_baselines(BenchTask.SCORES))
def test_a_split_without_scores_is_refused(name: str) -> None:
    with pytest.raises(BaselineError, match=f"'{name}'.* score "):
        answers(name, [scored("a")])
