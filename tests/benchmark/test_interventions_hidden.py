"""No simple feature of a text reveals whether a place was changed: neither its length nor the leak audit's best."""

from collections.abc import Iterator, Mapping, Sequence

import pytest

from changed_papers import long_body, prose
from peercorpus.benchmark.answers import read_decision
from peercorpus.benchmark.baselines.baseline import load_baseline
from peercorpus.benchmark.cases import BenchTask, Case, CasePaper
from peercorpus.benchmark.interventions.cases import change_paper
from peercorpus.benchmark.interventions.change import ERRORS, Arm
from peercorpus.errors import BaselineError
from peercorpus.metrics.prediction import auroc
from peercorpus.records.enums import Grade

TRAIN, TEST = range(32), range(32, 64)
PLANTED = {number: ERRORS[number % len(ERRORS)] for number in (*TRAIN, *TEST)}
"""Return a kind of error for each paper, all kinds equally often."""


def pairs(arms: Mapping[int, Arm], numbers: Sequence[int]) -> Iterator[Case]:
    """Return each paper clean and changed; "accepted" marks which it is."""
    for number in numbers:
        text = prose(number, body=long_body(number))
        changed = change_paper(text, str(number))[arms[number]].apply(text)
        for name, shown in (("clean", text), ("changed", changed)):
            paper = CasePaper(f"p{number}/{name}", "v", "kite", 2020, None, None, next(iter(Grade)), shown)
            yield Case(paper.forum_id, BenchTask.ACCEPTANCE, paper, accepted=name == "changed")


def tell_apart(baseline: str, arms: Mapping[int, Arm]) -> float:
    """Return the AUROC of a baseline trained on other papers to spot changed texts; 0.5 if it learnt nothing."""
    learner = load_baseline(baseline, BenchTask.ACCEPTANCE)
    try:
        learner.fit(pairs(arms, TRAIN))
    except BaselineError:
        return 0.5
    cases = list(pairs(arms, TEST))
    said = [read_decision(learner.answer(case)).probability for case in cases]
    return auroc([chance for chance in said if chance is not None], [bool(case.accepted) for case in cases])


@pytest.mark.parametrize("baseline", ["leak", "length"])
@pytest.mark.parametrize("arms", [PLANTED, dict.fromkeys(PLANTED, Arm.HARMLESS)], ids=["planted", "harmless"])
def test_a_changed_paper_cannot_be_distinguished_from_an_unchanged_one(arms: Mapping[int, Arm], baseline: str) -> None:
    assert 0.4 < tell_apart(baseline, arms) < 0.6


def test_traces_that_would_reveal_a_change_are_found() -> None:
    """The test can fail: a paragraph addressed to the reviewer is in no other text, and makes the text longer."""
    assert tell_apart("leak", dict.fromkeys(PLANTED, Arm.HIDDEN_INSTRUCTION)) > 0.6
