"""Baselines of acceptance, on papers with a known indicator of the decision."""

from typing import Any

import pytest

from baseline_cases import PLAIN, cases_of, decided, words
from peercorpus.benchmark.answers import Decision, read_decision
from peercorpus.benchmark.baselines.baseline import load_baseline
from peercorpus.benchmark.baselines.leak import Leak
from peercorpus.benchmark.cases import BenchTask, Case
from peercorpus.errors import BaselineError
from peercorpus.records.enums import Grade

PARTS = {"tfidf-title": "title", "tfidf-abstract": "abstract", "tfidf-paper": "text"}
LEARNERS = ["length", *PARTS]


def answers(name: str, train: list[Case], asked: list[Case]) -> list[Decision]:
    made = load_baseline(name, BenchTask.ACCEPTANCE)
    made.fit(iter(train))
    return [read_decision(made.answer(case)) for case in asked]


@pytest.mark.parametrize(
    ("accepted", "of", "said"),
    [
        (1, 4, Decision(False, 0.25)),
        (3, 4, Decision(True, 0.75)),
        (2, 4, Decision(True, 0.5)),
        (4, 4, Decision(True, 1.0)),
        (0, 3, Decision(False, 0.0)),
    ],
)
def test_the_majority_is_answered_with_its_share(accepted: int, of: int, said: Decision) -> None:
    train = [decided(f"paper-{number}", number < accepted) for number in range(of)]
    assert answers("majority", train, cases_of(BenchTask.ACCEPTANCE, 3)) == [said] * 3


def test_accepting_all_equals_the_accept_share() -> None:
    asked = cases_of(BenchTask.ACCEPTANCE, 10)
    said = answers("accept-all", [], asked)
    assert said == [Decision(True, None)] * 10
    right = sum(one.accept is case.accepted for one, case in zip(said, asked, strict=True))
    assert right == sum(bool(case.accepted) for case in asked) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part"), PARTS.items())
def test_a_decisive_word_is_learnt(name: str, part: str) -> None:
    def one(number: int, accepted: bool) -> Case:
        said = f"{words(number, 20)} {'splendid' if accepted else 'dreary'}"
        return decided(f"paper-{number}", accepted, **{part: said})

    train = [one(number, number % 2 == 0) for number in range(400)]
    asked = [one(number, number % 2 == 0) for number in range(500, 520)]
    said = answers(name, train, asked)
    assert [one.accept for one in said] == [case.accepted for case in asked]
    yes, no = ([one.probability or 0.0 for one in said if one.accept is way] for way in (True, False))
    assert min(yes) > 0.5 > max(no)
    for other in PARTS.keys() - {name}:
        assert len({one.probability for one in answers(other, train, asked)}) == 1, "the other parts are all alike"


def test_a_decisive_pair_is_learnt() -> None:
    train = [
        decided(f"p{n}", n % 2 == 0, title="red kite, big line" if n % 2 == 0 else "big kite, red line")
        for n in range(40)
    ]
    said = answers("tfidf-title", train, train[:2])
    assert [one.accept for one in said] == [True, False]


def test_the_length_of_a_paper_is_learnt() -> None:
    train = [
        decided(f"paper-{number}", number % 2 == 0, "kite " * (200 if number % 2 else 900)) for number in range(40)
    ]
    short, long = answers("length", train, [decided("a", True, "kite " * 100), decided("b", False, "kite " * 2_000)])
    assert (short.accept, long.accept) == (False, True)


def test_a_paper_without_the_part_gets_an_answer() -> None:
    train = cases_of(BenchTask.ACCEPTANCE)
    without: dict[str, dict[str, Any]] = {
        "tfidf-title": {"title": None},
        "tfidf-abstract": {"abstract": None},
        "tfidf-paper": {"text": ""},
    }
    for name, known in without.items():
        (said,) = answers(name, train, [decided("a", True, **known)])
        assert said.probability is not None


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("accepted", "told"), [(True, "accepted"), (False, "rejected")])
def test_a_split_of_one_class_is_refused(name: str, accepted: bool, told: str) -> None:
    train = [decided(f"paper-{number}", accepted) for number in range(3)]
    with pytest.raises(BaselineError, match=f"'{name}'.* 3 papers .* {told}; "):
        answers(name, train, [])


def test_a_missing_part_is_refused() -> None:
    train = [decided(f"paper-{number}", number % 2 == 0, abstract=None) for number in range(4)]
    with pytest.raises(BaselineError, match=r"'tfidf-abstract'.* no abstract "):
        answers("tfidf-abstract", train, [])


def leak_on(train: list[Case]) -> Leak:
    made = Leak()
    made.fit(iter(train))
    return made


def probability(made: Leak, case: Case) -> float | None:
    return read_decision(made.answer(case)).probability


@pytest.mark.slow
def test_a_phrase_that_leaks_is_found_named_and_applied() -> None:
    def one(number: int, accepted: bool) -> Case:
        # 54 of 60 accepted papers contain it, and 6 of 120 rejected ones.
        says = number // 3 % 10 != 0 if accepted else number % 20 == 1
        return decided(f"paper-{number}", accepted, f"{words(number)}{' windfall' if says else ''}")

    made = leak_on([one(number, number % 3 == 0) for number in range(180)])
    assert made.feature == "\u201cwindfall\u201d"
    assert made.is_leak is True
    assert made.says.endswith(f"{made.feature} (a leak)")
    assert probability(made, decided("a", False, f"{PLAIN} windfall")) == 0.9
    assert probability(made, decided("b", True)) == 0.05


@pytest.mark.slow
def test_every_kind_of_feature_is_applied() -> None:
    sign = leak_on([decided(f"p{n}", n % 2 == 0, words(n) + " see openreview.net!" * (n % 2)) for n in range(80)])
    assert [probability(sign, decided("a", True, PLAIN + end)) for end in (" at openreview.net", "")] == [0.0, 1.0]

    def long(number: int, count: int) -> str:
        return words(number)[:count]

    number = leak_on([decided(f"p{n}", n % 2 == 0, long(n, 150 if n % 2 else 250)) for n in range(80)])
    assert number.feature == "length in characters"
    assert [probability(number, decided("a", True, "x" * count)) for count in (100, 150, 250, 300)] == [
        0,
        0,
        1,
        1,
    ]

    grades = [Grade.EXACT, Grade.UNREVISED]
    category = leak_on([decided(f"p{n}", n % 2 == 0, words(n)[:150], grade=grades[n % 2]) for n in range(80)])
    assert category.feature == "source route"
    assert [probability(category, decided("a", True, grade=grade)) for grade in grades] == [1.0, 0.0]
    assert probability(category, decided("a", True, grade=Grade.UNREVISED_LIKELY)) == 0.5, "a value that is new"


def test_too_few_papers_are_refused() -> None:
    with pytest.raises(BaselineError, match=r"'leak'.* 50\b"):
        leak_on(cases_of(BenchTask.ACCEPTANCE, 20))
    with pytest.raises(BaselineError, match=r"'leak'.* 10 of each"):
        leak_on([decided(f"p{n}", True, words(n)) for n in range(60)])
    with pytest.raises(BaselineError, match=r"'leak'.* no single feature"):
        leak_on([decided(f"p{n}", n % 2 == 0) for n in range(60)])
