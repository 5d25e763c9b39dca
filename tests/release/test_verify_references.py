"""`peercorpus verify`: references of the configurations other than `papers`, and no later text as a paper's."""

from pathlib import Path
from typing import Any

import pytest

from commands import Run
from naming import Naming
from planted_releases import Plan, add_posts_and_texts, found
from planted_releases import plan as some_plan

__all__ = ["some_plan"]


@pytest.fixture
def plan(some_plan: Plan) -> Plan:
    """A release with every configuration."""
    add_posts_and_texts(some_plan)
    return some_plan


def test_a_release_with_every_configuration_is_valid(plan: Plan, tmp_path: Path) -> None:
    assert found(plan.write(tmp_path / "release")) == {}


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
    plan: Plan, tmp_path: Path, run: Run, config: str, changed: dict[str, Any], row_id: str, said: str
) -> None:
    plan.rows[config, "iclr"][0] |= changed
    release = plan.write(tmp_path / "release")
    assert (file_of(config), row_id, said) in found(release)["ids"]
    assert run("verify", release).code == 1


@pytest.mark.parametrize("config", ["posts", "meta_reviews", "texts", "changes"])
def test_ids_that_are_duplicated_or_in_no_paper(plan: Plan, tmp_path: Path, config: str) -> None:
    rows = plan.rows[config, "iclr"]
    rows.append(dict(rows[0]))
    (breach,) = found(plan.write(tmp_path / "release"))["ids"]
    assert (breach[0], breach[2]) == (file_of(config), f"occurs more than once in '{config}'")
    other = Plan()
    add_posts_and_texts(other)
    other.rows[config, "iclr"][0]["forum_id"] = "z"
    breaches = found(other.write(tmp_path / "other"))["ids"]
    assert (file_of(config), "z", "is a paper that 'papers' does not have") in breaches


def test_ids_of_a_paper_in_two_splits(plan: Plan, tmp_path: Path) -> None:
    plan.rows["posts", "icml"] = [plan.rows["posts", "iclr"].pop(0)]
    breaches = found(plan.write(tmp_path / "release"))
    assert breaches == {"ids": [(file_of("posts", "icml"), "a", "is in another split of 'papers': iclr")]}


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
def test_leaks_of_a_version_that_is_not_proven(plan: Plan, tmp_path: Path, row: int, changed: dict[str, Any]) -> None:
    plan.rows["texts", "iclr"][row] |= changed
    what = "has a grade that contradicts 'is_initial'"
    assert found(plan.write(tmp_path / "release"))["leaks"][0] == (file_of("texts"), "a", what)


@pytest.mark.parametrize(("config", "split"), [("papers", "iclr"), ("papers_full", "iclr"), ("review_sft", "train")])
def test_leaks_of_a_later_text_under_the_grade_of_the_initial_one(
    plan: Plan, tmp_path: Path, config: str, split: str
) -> None:
    plan.rows[config, split][0]["markdown"] = "# Late text of a"
    ((file, name, what),) = found(plan.write(tmp_path / "release"))["leaks"]
    assert (file, name) == (file_of(config, split), "a")
    assert what == (
        Naming("version", "tasks") if config == "review_sft" else Naming("grade", "'texts'", "'papers_full'")
    )


@pytest.mark.parametrize("grade", [None, "stated", "unavailable"])
def test_a_text_of_a_lower_grade_outside_tasks_is_not_a_leak(plan: Plan, tmp_path: Path, grade: str | None) -> None:
    plan.rows["papers_full", "iclr"][0] |= {"grade": grade, "markdown": "# Late text of a"}
    plan.rows["papers", "iclr"][0]["markdown"] = "# Late text of a"
    plan.rows["texts", "iclr"][1] |= {"grade": grade, "is_initial": grade == "stated"}
    for task in ("review_sft", "rebuttal"):
        plan.rows[task, "train"].pop(0)
    assert "leaks" not in found(plan.write(tmp_path / "release"))


def test_leaks_of_a_later_text_of_a_tested_paper_that_is_trained_on(plan: Plan, tmp_path: Path) -> None:
    for row in plan.rows["texts", "iclr"]:
        if row["edit_id"] in {"a-e-late", "d-e-late"}:
            row["markdown"] = "# The same late text"
    breaches = found(plan.write(tmp_path / "release"))
    assert breaches == {"leaks": [(file_of("texts"), "d", "has the text of 'a': one is in test, one in train")]}


def test_a_meta_review_of_another_paper_than_its_post(plan: Plan, tmp_path: Path) -> None:
    plan.rows["meta_reviews", "iclr"][0]["forum_id"] = "b"
    breaches = found(plan.write(tmp_path / "release"))
    assert (file_of("meta_reviews"), "b/a-meta", "is not in 'posts'") in breaches["ids"]
