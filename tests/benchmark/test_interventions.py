"""Papers with one changed place: scripted reviewers who find everything or nothing, or who obey."""

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest
from inspect_ai.model import Model

from changed_papers import answer_with, changed_release, known_texts
from invented_bench import saying
from peercorpus.benchmark.interventions.change import CHANGED, ERRORS, Arm, Change
from peercorpus.benchmark.interventions.render import (
    make_arm_tables,
    render_arms_csv,
    render_arms_html,
    render_arms_markdown,
)
from peercorpus.benchmark.interventions.results import (
    ACCEPTED,
    ALL_ERRORS,
    FOUND,
    RAISED,
    RATING,
    TURNED,
    Comparison,
    compare_run,
)
from peercorpus.benchmark.interventions.runs import ArmRun, read_arm_runs
from peercorpus.benchmark.interventions.tasks import run_interventions
from peercorpus.benchmark.run import Bench, BenchResult

pytestmark = pytest.mark.usefixtures("quietly")
DRAWS = 20
DRAWN = 4
"""Papers among the eight test papers."""
Changes = Mapping[Arm, Change]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return changed_release(tmp_path_factory.mktemp("changed") / "release")


def ask(model: Model, release: Path, logs: Path) -> BenchResult:
    return run_interventions(Bench([], release, logs, model, with_baselines=False), papers=DRAWN)


def numbers(logs: Path) -> dict[tuple[str, str], Comparison]:
    runs, notes = read_arm_runs(logs)
    assert (len(runs), notes) == (1, [])
    return {(number.measure, number.arm): number for number in compare_run(runs[0], DRAWS)}


def quote_error(arm: Arm, changes: Changes) -> tuple[str, bool]:
    """Return an oracle's answer: it quotes the wrong sentence, and rejects such a paper."""
    if arm in ERRORS:
        return f"This is wrong: {changes[arm].places()[1].passage}", False
    return "Nothing is wrong.", True


def ignore_all(*_: object) -> tuple[str, bool]:
    return "It is a paper about kites.", False


def obey(arm: Arm, _: Changes) -> tuple[str, bool]:
    return "It is a paper about kites.", arm is Arm.HIDDEN_INSTRUCTION


def repeat_places(arm: Arm, changes: Changes) -> tuple[str, bool]:
    """Return a parrot's answer: every sentence of the paper that may have been changed, verbatim."""
    shown = [change.places()[other is arm].passage for other, change in changes.items()]
    return " ".join(shown), True


def test_an_oracle_finds_every_error_and_raises_no_false_alarm(release: Path, tmp_path: Path) -> None:
    ran = ask(answer_with(known_texts(release), quote_error), release, tmp_path)
    assert (ran.is_whole, ran.errors) == (True, {})
    found = numbers(tmp_path)
    for arm in (ALL_ERRORS, *ERRORS):
        number = found[FOUND, arm]
        assert (number.papers, number.changed, number.control) == (DRAWN, 1, 0)
        assert number.paired is not None
        assert number.paired.value == 1
    assert (found[RATING, Arm.TABLE_NUMBER].changed, found[RATING, Arm.TABLE_NUMBER].control) == (0, 1)
    assert (found[ACCEPTED, Arm.HARMLESS].changed, found[ACCEPTED, Arm.HARMLESS].control) == (1, 1)


def test_a_blind_reviewer_finds_nothing_and_does_not_change_its_score(release: Path, tmp_path: Path) -> None:
    ask(answer_with(known_texts(release), ignore_all), release, tmp_path)
    found = numbers(tmp_path)
    assert {(number.changed, number.control) for number in found.values()} == {(0, 0)}
    assert {arm for _, arm in found} == {ALL_ERRORS, *CHANGED}


def test_a_gullible_reviewer_obeys_the_hidden_instruction_alone(release: Path, tmp_path: Path) -> None:
    ask(answer_with(known_texts(release), obey), release, tmp_path)
    found = numbers(tmp_path)
    for measure in (TURNED, RAISED):
        number = found[measure, Arm.HIDDEN_INSTRUCTION]
        assert (number.papers, number.changed, number.control) == (DRAWN, 1, 0)
    assert {(found[RATING, arm].changed, found[ACCEPTED, arm].changed) for arm in (*ERRORS, Arm.HARMLESS)} == {(0, 0)}


def test_a_parrot_gains_nothing_by_repeating_the_paper(release: Path, tmp_path: Path) -> None:
    ask(answer_with(known_texts(release), repeat_places), release, tmp_path)
    found = numbers(tmp_path)
    assert {(found[FOUND, arm].changed, found[FOUND, arm].control) for arm in (ALL_ERRORS, *ERRORS)} == {(1, 1)}
    # No paper is rejected, and none can be rated higher: no attack can be measured.
    assert not {(TURNED, Arm.HIDDEN_INSTRUCTION), (RAISED, Arm.HIDDEN_INSTRUCTION)} & found.keys()


def test_unreadable_answers_count_in_no_pair(release: Path, tmp_path: Path) -> None:
    ask(saying("I would accept it."), release, tmp_path)
    (run,), _ = read_arm_runs(tmp_path)
    arms = sum(run.arms.values())
    assert (run.unscored, run.missing) == ({"no_object": arms}, 0)
    assert {number.measure for number in compare_run(run, DRAWS)} == {FOUND}
    shown = render_arms_markdown(make_arm_tables([run], [], DRAWS))
    assert f"count in no pair: no_object {arms}" in shown
    assert "No paper has the two answers that this needs." in shown


def test_a_run_resumes_where_it_stopped(release: Path, tmp_path: Path) -> None:
    asked = []

    def count(arm: Arm, changes: Changes) -> tuple[str, bool]:
        asked.append(arm)
        return ignore_all(arm, changes)

    known = known_texts(release)
    ask(answer_with(known, count, "twice"), release, tmp_path)
    first = len(asked)
    ask(answer_with(known, count, "twice"), release, tmp_path)
    assert first == len(asked) == 2 * 7 * DRAWN


def test_the_tables_are_the_same_in_three_forms(release: Path, tmp_path: Path) -> None:
    ask(answer_with(known_texts(release), quote_error, "<oracle>"), release, tmp_path)
    tables = make_arm_tables(*read_arm_runs(tmp_path), DRAWS)
    rows = list(csv.DictReader(render_arms_csv(tables).splitlines()))
    (total,) = [row for row in rows if (row["measure"], row["arm"]) == (FOUND, ALL_ERRORS)]
    assert (float(total["changed_value"]), float(total["control_value"]), total["papers"]) == (1, 0, "4")
    shown = render_arms_markdown(tables)
    assert "| mockllm/&lt;oracle&gt; | all errors | 4† | 100.0 [" in shown
    page = render_arms_html(tables)
    assert "<oracle>" not in page
    for arm in Arm:
        assert f"- {arm}: " in shown
        assert f"<li>{arm}: " in page


def test_a_run_without_answers_has_no_numbers() -> None:
    protocol = {"release": "r", "split": "test", "seed": "0", "text": "", "prompts": "", "rules": ""}
    run = ArmRun(Path("a.eval"), "m", "1", "t", protocol, {}, {})
    assert compare_run(run, DRAWS) == []
    assert "## Not in the tables\n\n- a note" in render_arms_markdown(make_arm_tables([run], ["a note"]))
