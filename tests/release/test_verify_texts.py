"""`peercorpus verify`: planted addresses of people, texts of later versions and taken-down texts are found."""

from pathlib import Path

import pytest

from commands import Ended, Run
from invented_tables import ICLR, a_forum, invented
from naming import Naming
from peercorpus.release.splits import Split, Task
from peercorpus.workspace.raw_store import RawKind, RawObject
from planted_releases import Plan, found, plan

__all__ = ["plan"]

PAPERS = "data/papers/iclr-00000-of-00001.parquet"
REBUTTAL = "data/rebuttal/test-00000-of-00001.parquet"
TEST = "data/review_sft/test-00000-of-00001.parquet"
SPLITS = "splits/re2.json"


@pytest.mark.parametrize(
    ("key", "column", "value", "named"),
    [
        (("papers", "iclr"), "title", "Write to ada@example.org", "title"),
        (("papers", "iclr"), "reviews_json", '[{"summary": "I am\\n~Ada_Example1"}]', "summary"),
        (("papers", "iclr"), "markdown", "# Text of a, {ada, bob}@kites.example", "markdown"),
        (("reviews", "iclr"), "extra", '{"ask": ["ada@example.org"]}', "ask"),
        (("review_sft", "train"), "title", "By ~Ada_Example1", "title"),
    ],
)
def test_leaks_of_people(
    plan: Plan, tmp_path: Path, run: Run, key: tuple[str, str], column: str, value: str, named: str
) -> None:
    plan.rows[key][0][column] = value
    release = plan.write(tmp_path / "release")
    file = f"data/{key[0]}/{key[1]}-00000-of-00001.parquet"
    name = "a-R1" if key[0] == "reviews" else "a"
    assert found(release) == {"leaks": [(file, name, Naming("person", f"'{named}'"))]}
    ended = run("verify", release)
    assert ended.code == 1
    assert "example" not in ended.out.casefold()


def test_leaks_of_the_decision_into_the_discussion_before_a_meta_review(plan: Plan, tmp_path: Path) -> None:
    turns = [{"role": "author", "is_own": False, "text": "Words.", "post_ids": [name]} for name in ("early", "late")]
    paper = plan.rows["review_sft", "train"][0] | {"exchanges": [{"turns": turns}], "responses": []}
    plan.rows["meta_review_sft", "train"] = [paper]
    plan.tasks[Task.META_REVIEW] = {Split.TRAIN: ["a"]}
    plan.rows["posts", "iclr"] = [
        {"post_id": name, "posted_after_decision": name == "late", "forum_id": "a", "venue_id": ICLR}
        for name in ("early", "late")
    ]
    file = "data/meta_review_sft/train-00000-of-00001.parquet"
    assert found(plan.write(tmp_path / "release")) == {"leaks": [(file, "late", Naming("after the decision"))]}


@pytest.mark.parametrize("grade", [None, "unrevised_likely", "unavailable"])
def test_leaks_of_texts_of_later_versions(plan: Plan, tmp_path: Path, run: Run, grade: str | None) -> None:
    what = Naming("text", "grade", "'only_before_review' or better")
    plan.rows["papers_full", "iclr"][3]["grade"] = grade
    release = plan.write(tmp_path / "release")
    assert sorted(found(release)["leaks"]) == [(REBUTTAL, "d", what), (TEST, "d", what)]
    assert run("verify", release).code == 1
    other = Plan()
    other.rows["review_sft", "test"][0]["grade"] = grade
    assert found(other.write(tmp_path / "other")) == {"leaks": [(TEST, "d", what)]}


def test_leaks_of_a_tested_text_that_is_trained_on(plan: Plan, tmp_path: Path, run: Run) -> None:
    for rows in plan.rows.values():
        for row in rows:
            if row["forum_id"] == "d" and "markdown" in row:
                row["markdown"] = "# Text of a"
    release = plan.write(tmp_path / "release")
    breaches = found(release)
    assert breaches.keys() == {"leaks"}
    assert breaches["leaks"][0] == (PAPERS, "d", Naming("text of 'a'", "in test", "in train"))
    assert run("verify", release).code == 1


def test_equal_texts_in_one_split_and_papers_without_a_text_are_not_leaks(plan: Plan, tmp_path: Path) -> None:
    for rows in plan.rows.values():
        for row in rows:
            if "markdown" in row:
                row["markdown"] = {"a": "# Same", "b": "# Same"}.get(row["forum_id"], "")
                row["grade"] = "exact" if row["markdown"] else None
    assert found(plan.write(tmp_path / "release")) == {}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A workspace with the papers of the invented release."""
    with invented(tmp_path / "corpus", {ICLR: [record for name in "abcd" for record in a_forum(name)]}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "a", 2, ICLR, "a", "a", 1, 1, "invented", b"{}")])
    return tmp_path / "corpus"


def held_to(run: Run, release: Path, corpus: Path, listed: str) -> Ended:
    (corpus / "takedown.txt").write_text(listed)
    return run("verify", release, "--workspace", corpus)


def breaches_of(ended: Ended, row: str) -> list[str]:
    """Return what the command reports about one row of a file."""
    return [line.removeprefix(f"  {row}: ") for line in ended.out.splitlines() if line.startswith(f"  {row}: ")]


@pytest.mark.slow
def test_an_empty_takedown_and_one_of_missing_ids_pass(plan: Plan, tmp_path: Path, run: Run, corpus: Path) -> None:
    release = plan.write(tmp_path / "release")
    for listed in ("", "z\n", "a-to-all\n"):
        ended = held_to(run, release, corpus, listed)
        assert "(inputs.json)" in ended.out
        assert (ended.code, "takedown  34 rows: no fault\n" in ended.out) == (0, True), ended.out


def test_takedown_of_a_paper(plan: Plan, tmp_path: Path, run: Run, corpus: Path) -> None:
    ended = held_to(run, plan.write(tmp_path / "release"), corpus, "d\n")
    assert ended.code == 1
    assert f"  {SPLITS} d: was taken down\n" in ended.out
    assert Naming("'forum_id'", "taken down") in breaches_of(ended, f"{PAPERS} d")
    assert "takedown" in ended.out.splitlines()[-1]


def test_takedown_of_a_post_and_of_a_file(plan: Plan, tmp_path: Path, run: Run, corpus: Path) -> None:
    ended = held_to(run, plan.write(tmp_path / "one"), corpus, "b-R1\n")
    talks = "data/conversations/iclr-00000-of-00001.parquet"
    assert Naming("'post_ids'", "taken down") in breaches_of(ended, f"{talks} b/R1")
    assert ended.code == 1
    other = Plan()
    for key, rows in other.rows.items():
        other.rows[key] = [row for row in rows if row["forum_id"] != "d"]
    other.rows = {key: rows for key, rows in other.rows.items() if rows}
    for by_split in (other.splits, *other.tasks.values()):
        by_split[Split.TEST] = []
    other.rows["versions", "iclr"][0]["sha256"] = "sha-d"
    ended = held_to(run, other.write(tmp_path / "other"), corpus, "d\n")
    versions = "data/versions/iclr-00000-of-00001.parquet"
    assert Naming("'sha256'", "taken down") in breaches_of(ended, f"{versions} a")
    assert "takedown  26 rows: 1 fault\n" in ended.out
