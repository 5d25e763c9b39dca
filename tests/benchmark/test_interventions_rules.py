"""What the rules change in a paper, what they leave alone, and when a review names the place."""

import csv
from pathlib import Path

import pytest

from changed_papers import changed_release, prose
from invented_bench import bench_paper, bench_release
from peercorpus.benchmark.cases import CaseSelection
from peercorpus.benchmark.interventions.cases import ChangeCounts, change_paper, read_changed_papers
from peercorpus.benchmark.interventions.change import CHANGED, ERRORS, Arm, Change, Place
from peercorpus.benchmark.interventions.changes_file import write_changes
from peercorpus.benchmark.interventions.naming import names_place
from peercorpus.benchmark.interventions.passages import PaperText
from peercorpus.benchmark.interventions.rules import choose_change
from peercorpus.benchmark.messages import TokenBudget
from peercorpus.release.folder import open_release

NUMBERS = range(60)


def only(arm: Arm, sentence: str, after: str = "") -> Change | None:
    """Return the change of a paper of one sentence."""
    return choose_change(PaperText(f"# Kites\n\n{sentence}{after}"), arm, "0")


@pytest.mark.parametrize("number", range(3))
def test_every_arm_changes_one_passage_and_nothing_else(number: int) -> None:
    text = prose(number)
    changes = change_paper(text, str(number))
    assert set(changes) == set(CHANGED)
    for arm, change in changes.items():
        before, after = change.places()
        changed = change.apply(text)
        assert changed != text
        if arm is not Arm.HIDDEN_INSTRUCTION:
            assert text.replace(before.passage, after.passage, 1) == changed
        assert changed.endswith(text[text.index("## References") :])
    assert change_paper(text, str(number)) == changes


TABLE = "\n\n| kite | height |\n| --- | --- |\n| ours | 48.25 |"
CHANGES = [
    (Arm.OVERSTATED_CLAIM, "This result suggests that our method carries over to all kites.", "", "suggests"),
    (Arm.OVERSTATED_CLAIM, "Our method is slightly better than the kite that won.", "", "slightly"),
    (Arm.REMOVED_CONTROL, "All numbers are averaged over 5 flights with different seeds.", "", "averaged over"),
    (Arm.REMOVED_CONTROL, "The tail was selected on a validation set of twelve days.", "", "validation"),
    (Arm.TABLE_NUMBER, "Our kite reaches a height of 48.25 metres on the course.", TABLE, "48.25"),
    (Arm.FLIPPED_SIGN, "Our kite clearly outperforms all of the others in the wind.", "", "outperforms"),
    (Arm.FLIPPED_SIGN, "$$p = 1 \u2212 q$$ (3)", "", "\u2212"),
    (Arm.FLIPPED_SIGN, "$$L = \\exp(-d)$$", "", "-"),
    (Arm.HARMLESS, "Moreover, the line of the kite is weighed before the flight.", "", "Moreover,"),
]


@pytest.mark.parametrize(("arm", "sentence", "after", "old"), CHANGES)
def test_a_rule_replaces_its_passages(arm: Arm, sentence: str, after: str, old: str) -> None:
    change = only(arm, sentence, after)
    assert change is not None
    before, changed = change.places()
    assert before.passage[before.start : before.end] == old
    assert changed.passage[changed.start : changed.end] == change.new != old


UNCHANGED = [
    (Arm.OVERSTATED_CLAIM, "Kite et al. (2001) say that the result suggests that our kites fly.", "another's claim"),
    (Arm.OVERSTATED_CLAIM, "A limitation is that our results often depend on the wind.", "a caution"),
    (Arm.TABLE_NUMBER, "Our kite reaches a height of 51.75 metres on the course." + TABLE, "in no table"),
    (Arm.TABLE_NUMBER, "The kites of Section 48.25 are weighed on the second day." + TABLE, "a label"),
    (Arm.TABLE_NUMBER, "Our kite of version v48.25 flies on the second day again." + TABLE, "part of a name"),
    (Arm.REMOVED_CONTROL, "The kite was validated on the second day by its owner alone.", "no control"),
    (Arm.FLIPPED_SIGN, "$$x_{t - 1} = x_t$$", "an index"),
    (Arm.FLIPPED_SIGN, "$$D(Q\u2225P) - D(P\u2225Q)$$", "a divergence"),
    (Arm.HARMLESS, "The kite flies over the hill and comes back at noon.", "no word with a twin"),
]


@pytest.mark.parametrize(("arm", "sentence", "why"), UNCHANGED)
def test_other_passages_match_no_rule(arm: Arm, sentence: str, why: str) -> None:
    assert only(arm, sentence) is None, why


def test_a_changed_number_has_the_same_format_and_is_new_to_the_paper() -> None:
    for number in NUMBERS:
        text = prose(number)
        change = change_paper(text, str(number))[Arm.TABLE_NUMBER]
        old = text[change.start : change.end]
        assert change.new not in text
        assert len(change.new.partition(".")[2]) == len(old.partition(".")[2])
        assert 0.1 < abs(float(change.new) / float(old) - 1) < 0.4
        assert float(change.new) <= 100


PLACE = Place("All of our numbers are the best of five flights here.", 23, 34)
FORMULA = Place("$$p = 1 + q_i/n$$ (3)", 8, 9, equation="3")
GONE = Place("$$w = \\exp(d/s + t)$$", 11, 11)
NAMED = [
    ("They report 'numbers are the best of' flights.", PLACE, True),
    ("Numbers are **the  best of** five\nflights.", PLACE, True),
    ("All of our numbers are fine.", PLACE, False),
    ("It is the best of all.", PLACE, False),
    ("In Eq. (3) the sign is wrong.", FORMULA, True),
    ("Equation 3 adds what it should subtract.", FORMULA, True),
    ("In Eq. (3.1) and equation 33 all is well.", FORMULA, False),
    ("You write 1 + q_i / n there.", FORMULA, True),
    ("Why is w = exp(d/s) and not exp(-d/s)?", GONE, True),
    ("It is w = 1.", GONE, False),
]


@pytest.mark.parametrize(("review", "place", "is_named"), NAMED)
def test_a_reviews_mention_of_a_place_is_recognised(review: str, place: Place, is_named: bool) -> None:
    assert names_place(review, place) is is_named


def test_a_paper_to_which_no_rule_applies_is_left_out_and_counted(tmp_path: Path) -> None:
    bare = bench_release(tmp_path / "bare", lambda number: bench_paper(number) | {"markdown": "The kite flies."})
    counts = ChangeCounts()
    drawn = read_changed_papers(open_release(bare), CaseSelection(), TokenBudget(), 100, 0, counts)
    assert list(drawn) == []
    assert counts.left_out == {"papers: no rule applies": 8} | {f"{arm}: no rule applies": 8 for arm in CHANGED}


def test_a_paper_without_a_table_lacks_only_that_arm(tmp_path: Path) -> None:
    without = frozenset({Arm.TABLE_NUMBER})
    plain = bench_release(tmp_path / "r", lambda number: bench_paper(number) | {"markdown": prose(number, without)})
    counts = ChangeCounts()
    drawn = read_changed_papers(open_release(plain), CaseSelection(), TokenBudget(), 3, 0, counts)
    assert [Arm.TABLE_NUMBER in paper.changes for paper in drawn] == [False] * 3
    assert counts.left_out == {"table_number: no rule applies": 3, "papers: not drawn": 5}
    assert counts.arms == {arm: 3 for arm in Arm if arm is not Arm.TABLE_NUMBER}


def test_only_text_shown_to_the_model_is_changed(tmp_path: Path) -> None:
    cut = TokenBudget(120)
    release = open_release(changed_release(tmp_path / "r"))
    for paper in read_changed_papers(release, CaseSelection(), cut, 8, 0, ChangeCounts()):
        assert "tokens of the paper" in paper.shown.text
        for arm, change in paper.changes.items():
            assert change.end < paper.shown.text.index("tokens of the paper")
            assert paper.text(arm) != paper.shown.text


def test_another_seed_draws_other_changes(tmp_path: Path) -> None:
    release = changed_release(tmp_path / "r")
    for seed in (1, 2):
        write_changes(tmp_path / f"{seed}.csv", release, {}, 8, seed)
    write_changes(tmp_path / "again.csv", release, {}, 8, 1)
    first, second, again = ((tmp_path / f"{name}.csv").read_text() for name in ("1", "2", "again"))
    assert first == again != second
    rows = list(csv.DictReader(first.splitlines()))
    assert {row["arm"] for row in rows if row["before"]} == {*ERRORS, Arm.HARMLESS}
