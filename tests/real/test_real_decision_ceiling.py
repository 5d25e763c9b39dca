"""How well one reviewer's recommendation predicts the decision, on recorded ratings of ICLR 2017 and 2018."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from peercorpus.benchmark.baselines.people import HumanDecision
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CasePaper
from peercorpus.benchmark.leaderboard import Ceiling, compare_with_floors
from peercorpus.benchmark.measures import DECISIONS
from peercorpus.benchmark.outcomes import CaseOutcome, DecisionRecord
from peercorpus.benchmark.solvers import read_answer
from peercorpus.records.enums import Aspect, Grade

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "ratings-chillee"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data"),
    pytest.mark.slow,
]
MEASURES = ("accuracy", "balanced accuracy", "MCC", "AUROC", "Brier score")


def read_recorded(year: int) -> list[Case]:
    """The papers of a year that were decided on and have ratings."""
    with gzip.open(FOLDER / f"iclr{year}.json.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in json.load(file) if row.get("decision") and row["ratings"]]
    cases = []
    for row in rows:
        forum_id = row["url"].rpartition("=")[2]
        paper = CasePaper(forum_id, f"ICLR.cc/{year}/conference", "iclr", year, row["title"], None, Grade.EXACT, "")
        rating = AskedScore(Aspect.RECOMMENDATION, "rating", 1, 10, tuple(map(float, row["ratings"])))
        is_accepted = row["decision"].startswith("Accept")
        cases.append(Case(forum_id, BenchTask.ACCEPTANCE, paper, accepted=is_accepted, recommendations=(rating,)))
    return cases


def read_decision(case: Case, answer: str) -> DecisionRecord:
    said = read_answer(case.task, answer, {})
    return DecisionRecord(bool(case.accepted), said["accept"], said["probability"])


@pytest.fixture(scope="module")
def ceilings() -> dict[tuple[str, str], Ceiling]:
    """Return people and floors on half of the papers, trained on the others; by measure and venue."""
    cases = [case for year in (2017, 2018) for case in read_recorded(year)]
    assert len(cases) == 1_418
    is_test = {case.case_id: hashlib.sha256(case.case_id.encode()).digest()[0] < 128 for case in cases}
    people = HumanDecision()
    for learner in (people, *people.floors):
        learner.fit(case for case in cases if not is_test[case.case_id])
    outcomes = []
    for case in cases:
        for left_out in people.leave_out(case) if is_test[case.case_id] else ():
            human, *floors = ((name, read_decision(case, answer)) for name, answer in left_out.answers.items())
            outcome = CaseOutcome(case.case_id, case.case_id, human[1], venue=case.paper.venue, floors=dict(floors))
            outcomes.append(outcome)
    measures = [measure for measure in DECISIONS if measure.name in MEASURES]
    found = [ceiling for measure in measures for ceiling in compare_with_floors(measure, outcomes)]
    return {(ceiling.measure, ceiling.venue): ceiling for ceiling in found}


def test_one_reviewer_predicts_the_decision_better_than_any_floor(ceilings: dict[tuple[str, str], Ceiling]) -> None:
    assert all(ceiling.is_clear for ceiling in ceilings.values())
    accuracy, area, brier = (ceilings[name, "all"] for name in ("accuracy", "AUROC", "Brier score"))
    assert (accuracy.papers, accuracy.best) == (705, "majority")
    assert accuracy.human == pytest.approx(78.8, abs=0.05)
    assert accuracy.floors["majority"] == pytest.approx(62, abs=0.05)
    assert area.human == pytest.approx(0.857, abs=0.0005)
    assert brier.human == pytest.approx(0.144, abs=0.0005)
    assert brier.floors["majority"] == pytest.approx(0.236, abs=0.0005)
