"""`peercorpus verify`: planted references, people, later texts and taken-down texts are found everywhere."""

import json
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from answered_points import a_discussion
from asked_releases import publish_release
from commands import Ended, Run
from invented_tables import ICLR, a_forum, invented, link, with_figures
from naming import Naming
from peercorpus.release.diff import find_differences
from peercorpus.release.folder import MANIFEST, open_release
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.shards import CONFIGS
from peercorpus.release.splits import Split, Task
from peercorpus.release.verify.verify import verify_release
from peercorpus.workspace.object_store import file_digest
from peercorpus.workspace.raw_store import RawKind, RawObject
from planted_releases import Plan, add_posts_and_texts, found, plan

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


def test_leaks_of_the_decision_before_a_meta_review(plan: Plan, tmp_path: Path) -> None:
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
def test_leaks_of_texts_of_later_versions(plan: Plan, tmp_path: Path, grade: str | None) -> None:
    what = Naming("text", "grade", "'only_before_review' or better")
    plan.rows["papers_full", "iclr"][3]["grade"] = grade
    release = plan.write(tmp_path / "release")
    assert sorted(found(release)["leaks"]) == [(REBUTTAL, "d", what), (TEST, "d", what)]
    other = Plan()
    other.rows["review_sft", "test"][0]["grade"] = grade
    assert found(other.write(tmp_path / "other")) == {"leaks": [(TEST, "d", what)]}


def test_leaks_of_a_tested_text_in_training(plan: Plan, tmp_path: Path) -> None:
    for rows in plan.rows.values():
        for row in rows:
            if row["forum_id"] == "d" and "markdown" in row:
                row["markdown"] = "# Text of a"
    release = plan.write(tmp_path / "release")
    breaches = found(release)
    assert breaches.keys() == {"leaks"}
    assert breaches["leaks"][0] == (PAPERS, "d", Naming("text of 'a'", "in test", "in train"))


def test_equal_texts_in_one_split_are_no_leak(plan: Plan, tmp_path: Path) -> None:
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


@pytest.fixture
def full(plan: Plan) -> Plan:
    """A release with every configuration."""
    add_posts_and_texts(plan)
    return plan


def test_a_release_with_every_configuration_is_valid(full: Plan, tmp_path: Path) -> None:
    assert found(full.write(tmp_path / "release")) == {}


def file_of(config: str, split: str = "iclr") -> str:
    return f"data/{config}/{split}-00000-of-00001.parquet"


@pytest.mark.parametrize(
    ("config", "changed", "row_id", "said"),
    [
        ("scores", {"review_id": "gone"}, "gone", "is not in 'reviews'"),
        ("meta_reviews", {"post_id": "gone"}, "a/gone", "is not in 'posts'"),
        ("texts", {"edit_id": "gone"}, "a/gone/sha-a", "is not in 'versions'"),
        ("texts", {"sha256": "gone"}, "a/a-e/gone", "is not in 'versions'"),
        ("changes", {"left_sha256": "gone"}, "a/gone", "is not in 'texts'"),
        ("changes", {"right_sha256": "gone"}, "a/gone", "is not in 'versions'"),
        ("changes", {"left_sha256": "sha-b"}, "a/sha-b", "is not in 'texts'"),
    ],
)
def test_references_to_missing_keys(
    full: Plan, tmp_path: Path, config: str, changed: dict[str, Any], row_id: str, said: str
) -> None:
    full.rows[config, "iclr"][0] |= changed
    release = full.write(tmp_path / "release")
    assert (file_of(config), row_id, said) in found(release)["ids"]


@pytest.mark.parametrize("config", ["posts", "meta_reviews", "texts", "changes"])
def test_ids_that_are_duplicated_or_in_no_paper(full: Plan, tmp_path: Path, config: str) -> None:
    rows = full.rows[config, "iclr"]
    rows.append(dict(rows[0]))
    (breach,) = found(full.write(tmp_path / "release"))["ids"]
    assert (breach[0], breach[2]) == (file_of(config), f"occurs more than once in '{config}'")
    other = Plan()
    add_posts_and_texts(other)
    other.rows[config, "iclr"][0]["forum_id"] = "z"
    breaches = found(other.write(tmp_path / "other"))["ids"]
    assert (file_of(config), "z", "is a paper that 'papers' does not have") in breaches


@pytest.mark.parametrize(
    ("row", "changed"),
    [
        (0, {"grade": None}),
        (0, {"grade": "unstated"}),
        (0, {"is_initial": False}),
        (1, {"is_initial": True}),
        (1, {"grade": "exact"}),
    ],
)
def test_leaks_of_a_version_that_is_not_proven(full: Plan, tmp_path: Path, row: int, changed: dict[str, Any]) -> None:
    full.rows["texts", "iclr"][row] |= changed
    what = "has a grade that contradicts 'is_initial'"
    assert found(full.write(tmp_path / "release"))["leaks"][0] == (file_of("texts"), "a", what)


@pytest.mark.parametrize(("config", "split"), [("papers", "iclr"), ("papers_full", "iclr"), ("review_sft", "train")])
def test_leaks_of_a_later_text_with_its_grade(full: Plan, tmp_path: Path, config: str, split: str) -> None:
    full.rows[config, split][0]["markdown"] = "# Late text of a"
    ((file, name, what),) = found(full.write(tmp_path / "release"))["leaks"]
    assert (file, name) == (file_of(config, split), "a")
    assert what == (
        Naming("version", "tasks") if config == "review_sft" else Naming("grade", "'texts'", "'papers_full'")
    )


@pytest.mark.parametrize("grade", [None, "stated", "unavailable"])
def test_a_lower_grade_outside_tasks_is_no_leak(full: Plan, tmp_path: Path, grade: str | None) -> None:
    full.rows["papers_full", "iclr"][0] |= {"grade": grade, "markdown": "# Late text of a"}
    full.rows["papers", "iclr"][0]["markdown"] = "# Late text of a"
    full.rows["texts", "iclr"][1] |= {"grade": grade, "is_initial": grade == "stated"}
    for task in ("review_sft", "rebuttal"):
        full.rows[task, "train"].pop(0)
    assert "leaks" not in found(full.write(tmp_path / "release"))


def test_leaks_of_a_tested_papers_later_text(full: Plan, tmp_path: Path) -> None:
    for row in full.rows["texts", "iclr"]:
        if row["edit_id"] in {"a-e-late", "d-e-late"}:
            row["markdown"] = "# The same late text"
    breaches = found(full.write(tmp_path / "release"))
    assert breaches == {"leaks": [(file_of("texts"), "d", "has the text of 'a': one is in test, one in train")]}


def test_a_meta_review_of_another_paper(full: Plan, tmp_path: Path) -> None:
    full.rows["meta_reviews", "iclr"][0]["forum_id"] = "b"
    breaches = found(full.write(tmp_path / "release"))
    assert (file_of("meta_reviews"), "b/a-meta", "is not in 'posts'") in breaches["ids"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with rows in every configuration."""
    folder = tmp_path_factory.mktemp("whole")
    records = [*a_discussion("f1"), *a_forum("f2"), link("f2", ICLR, "f1")]
    with invented(folder / "corpus", {ICLR: with_figures(records)}) as workspace:
        splits = SplitRequest(Profile.TEMPORAL, date(2000, 1, 1))
        publish_release(workspace, folder / "out", splits=splits, figures=True, points=True)
    return folder / "out"


def change_value(release: Path, config: str, column: str, value: str, *, signed: bool) -> str:
    """Change the first value of a column of a configuration, and return the path of the file in the release."""
    path = sorted((release / "data" / config).iterdir())[0]
    table = pq.read_table(path)
    rows = table.to_pylist()
    assert rows[0][column] != value
    rows[0][column] = value
    path.chmod(0o644)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)
    name = path.relative_to(release).as_posix()
    if signed:
        manifest = json.loads((release / MANIFEST).read_text())
        manifest["files"][name] = file_digest(path)
        (release / MANIFEST).write_text(json.dumps(manifest))
    return name


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIGS)
def test_one_changed_value_is_found_in_every_configuration(whole: Path, tmp_path: Path, run: Run, config: str) -> None:
    shutil.copytree(whole, tmp_path / "out")
    assert run("verify", tmp_path / "out").code == 0
    column = next(
        name
        for name in ("title", "rule", "reviewer", "role", "section", "text_engine", "decision", "label", "target")
        if name in CONFIGS[config].schema.names
    )
    name = change_value(tmp_path / "out", config, column, "another", signed=False)
    ended = run("verify", tmp_path / "out")
    assert ended.code == 1
    assert f"  {name}: " in ended.out
    differences = find_differences(open_release(whole), open_release(tmp_path / "out", is_whole=False))
    changed = {config for config, deltas in differences.rows.items() for delta in deltas.values() if delta.changed}
    assert changed == {config}


@pytest.mark.parametrize("config", CONFIGS)
def test_a_row_of_no_paper_is_found_everywhere(whole: Path, tmp_path: Path, config: str) -> None:
    shutil.copytree(whole, tmp_path / "out")
    name = change_value(tmp_path / "out", config, "forum_id", "nowhere", signed=True)
    checks = {check.name: check for check in verify_release(open_release(tmp_path / "out", is_whole=False)).checks}
    assert not checks["sums"].found
    named = {breach.file for check in checks.values() for breach in check.breaches}
    assert name in named or config == "papers"
    assert any(check.found for check in checks.values())
