"""Records of the same paper in two datasets become one: each is trusted where it is better, nothing is duplicated."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from in_this_process import build_here
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.status import read_status
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import Aspect, Grade, Phase, Reason
from peercorpus.records.papers import MergedPost, Paper, PaperVersion, SetAside, StatedSplit
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace
from published_records import (
    KITES,
    TEXT,
    re2_paper,
    re2_rebuttal,
    re2_scores,
    reviewbench_review,
    reviewbench_row,
    write_json,
    write_manuscript,
    write_parquet,
)

LONG = "Kites are flown over the hills, and the wind carries them as far as the sea."
Rows = dict[str, Any]


def re2_review(reviewer_id: str, content: str = "Why?", **more: Any) -> Rows:
    scores = {"initial_score": re2_scores("5: borderline"), "final_score": re2_scores("6: accept")}
    return {"reviewer_id": reviewer_id, "review_title": "null", "review_content": content} | scores | more


def write_parts(folder: Path, row: Rows, paper: Rows, *rebuttals: Rows) -> dict[str, Path]:
    """One folder of files for each dataset, so that they can be imported in any order."""
    write_parquet(folder / "rb" / "kites.parquet", [row])
    write_json(folder / "reviews" / "REVIEWS_train.json", [paper])
    write_json(folder / "rebuttals" / "REBUTTAL_test.json", [*rebuttals] or [re2_rebuttal("other")])
    write_manuscript(folder / "texts", text="As it was submitted.")
    return {name: folder / name for name in ("rb", "reviews", "rebuttals", "texts")}


def build(workspace: Workspace, *paths: Path) -> None:
    for path in paths:
        import_dumps(workspace, [path])
    build_here(workspace)
    standing = read_status(workspace)
    assert standing.holds, standing.balances


def rows(workspace: Workspace, kind: Any) -> list[Any]:
    return [row for row in workspace.tables.read(kind, KITES) if getattr(row, "forum_id", "kite1") == "kite1"]


def test_re2_gives_first_scores(tmp_path: Path, workspace: Workspace) -> None:
    parts = write_parts(tmp_path, reviewbench_row(), re2_paper(), re2_rebuttal())
    build(workspace, *parts.values())
    (paper,) = rows(workspace, Paper)
    assert (paper.title, paper.decision, paper.authors) == ("On Kites", "Accept (poster)", ("Ada Example",))
    assert paper.records == ("reviewbench:kite1", "re2-reviews:kite1")
    assert paper.stated_splits == (StatedSplit("rebuttal", "test"), StatedSplit("review", "train"))
    (review,) = rows(workspace, Review)
    assert [section.text for section in review.sections] == ["Kites are flown."]
    ratings = {one.phase: one.value for one in review.scores if one.aspect is Aspect.RECOMMENDATION}
    assert ratings == {Phase.INITIAL: 5, Phase.FINAL: 6}
    (final,) = (one for one in review.scores if (one.aspect, one.phase) == (Aspect.RECOMMENDATION, Phase.FINAL))
    assert (final.label, final.stated_unified) == ("6: marginally above", 7)
    assert [(one.field, one.kept, one.other) for one in paper.conflicts] == [
        ("rating (final) of Reviewer_AbCd", "6: marginally above", "7: accept"),
        ("confidence (final) of Reviewer_AbCd", "4", "3: You are fairly confident"),
    ]
    assert {(one.kept_from, one.other_from) for one in paper.conflicts} == {("reviewbench:kite1", "re2-reviews:kite1")}
    (conversation,) = rows(workspace, Conversation)
    assert len(conversation.turns) == 3
    assert {one.grade: one.is_initial for one in rows(workspace, PaperVersion)} == {
        Grade.STATED: True,
        Grade.UNSTATED: False,
    }
    assert {text.markdown for text in rows(workspace, PaperText)} == {TEXT, "As it was submitted."}
    assert "normalise" not in {row.stage for row in rows(workspace, SetAside)}
    assert paper.merged_posts == (MergedPost("re2-reviews:kite1/1", review.review_id),)
    posts = rows(workspace, Post)
    assert paper.posts_stated == len(posts) + 1
    (merging,) = (one for one in read_status(workspace).balances if one.stage == "merge records")
    assert (merging.rows_in, merging.rows_out, merging.holds) == (paper.posts_stated, paper.posts_stated, True)
    assert json.loads(review.extra)["review_content"] == re2_paper()["reviews"][0]["review_content"]


def test_a_review_lost_in_merging_breaks_the_balance(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(merged: Any, other: Any, pairs: Any) -> None:
        del merged, other, pairs

    monkeypatch.setattr("peercorpus.forms.merge_records._merge_posts", lose)
    parts = write_parts(tmp_path, reviewbench_row(), re2_paper())
    for name in ("rb", "reviews"):
        import_dumps(workspace, [parts[name]])
    build_here(workspace)
    assert [one.stage for one in read_status(workspace).balances if not one.holds] == ["merge records"]


@pytest.mark.slow
def test_every_order_of_imports_makes_the_same_rows(tmp_path: Path) -> None:
    other = re2_review("Reviewer_EfGh", "Another view of kites altogether.")
    paper = re2_paper(reviews=[re2_paper()["reviews"][0], other])
    parts = write_parts(tmp_path, reviewbench_row(), paper, re2_rebuttal())
    made: list[list[Any]] = []
    for number, order in enumerate(permutations(("rb", "reviews", "texts"))):
        with open_workspace(tmp_path / f"corpus{number}", create=True) as workspace:
            build(workspace, *(parts[name] for name in order), parts["rebuttals"])
            made.append([rows(workspace, kind) for kind in (Paper, Review, Post, PaperVersion, SetAside)])
    assert all(tables == made[0] for tables in made)


def say(words: str, **more: Any) -> Rows:
    """A conversation with one reviewer that includes a post by the authors."""
    talk = re2_rebuttal(**more)
    return talk | {"messages": [*talk["messages"][:-1], {"role": "user", "content": words}]}


SEVERAL: dict[str, tuple[dict[str, Rows], list[Reason]]] = {
    "three that differ": (
        {f"{name}/REBUTTAL_{name}.json": say(f"Because of {name}.") for name in ("wind", "weather", "rope")},
        [Reason.RECORDS_DIFFER] * 2,
    ),
    "two that say the same, of one longer": (
        {
            "a/REBUTTAL_train.json": say("Because."),
            "b/REBUTTAL_test.json": say("Because."),
            "c/REBUTTAL_c.json": say("Because of the wind."),
        },
        [Reason.RECORDS_DIFFER] * 2,
    ),
    "two splits": (
        {"REBUTTAL_train.json": say("Because."), "REBUTTAL_test.json": say("Because.")},
        [Reason.SUPERSEDED],
    ),
    "one that cannot be read": (
        {"a/REBUTTAL_a.json": say("Because."), "b/REBUTTAL_b.json": re2_rebuttal(messages=[])},
        [Reason.RECORD_UNREADABLE],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVERAL)
def test_conversations_merge_in_any_order(tmp_path: Path, name: str) -> None:
    talks, reasons = SEVERAL[name]
    paths = [write_json(tmp_path / file, [talk]) for file, talk in talks.items()]
    paper = write_json(tmp_path / "REVIEWS_train.json", [re2_paper()])
    made: list[list[Any]] = []
    for number, order in enumerate(permutations(paths)):
        with open_workspace(tmp_path / f"corpus{number}", create=True) as workspace:
            at_once = number % 2
            for step in [[paper, *order]] if at_once else [[paper], *([path] for path in order)]:
                import_dumps(workspace, step)
            build_here(workspace)
            assert read_status(workspace).holds
            (venue_id,) = workspace.raw.venues()
            kinds = (Paper, Review, Post, Conversation, SetAside)
            made.append([list(workspace.tables.read(kind, venue_id)) for kind in kinds])
    assert all(tables == made[0] for tables in made)
    aside = [row.reason for row in made[0][-1] if row.record_id.startswith("re2-rebuttal")]
    assert aside == reasons
    assert len(made[0][3]) == 1
    assert max(len(talk["messages"][-1]["content"]) for talk in talks.values() if talk["messages"]) == len(
        made[0][3][0].turns[-1].text
    )


@pytest.mark.slow
def test_files_merge_in_any_order(tmp_path: Path) -> None:
    papers = {"a": re2_paper(metareview="They fly."), "b": re2_paper(metareview="They fall.")}
    paths = [write_json(tmp_path / name / f"REVIEWS_{name}.json", [paper]) for name, paper in papers.items()]
    made: list[list[Any]] = []
    for number, order in enumerate(permutations(paths)):
        with open_workspace(tmp_path / f"corpus{number}", create=True) as workspace:
            build(workspace, *order)
            (venue_id,) = workspace.raw.venues()
            made.append([list(workspace.tables.read(kind, venue_id)) for kind in (Paper, Review, Post, SetAside)])
    assert made[0] == made[1]
    assert made[0][0][0].decision_comment == "They fly."
    assert [row.record_id for row in made[0][-1] if row.reason is Reason.SUPERSEDED] == ["re2-reviews:kite1"]


CASES: dict[str, tuple[list[Rows], list[Rows], list[str], int]] = {
    "the same name, whatever the order": (
        [reviewbench_review(reviewer="Reviewer_B", review_id="b"), reviewbench_review(reviewer="Reviewer_A")],
        [re2_review("Reviewer_A"), re2_review("Reviewer_B")],
        ["Reviewer_B", "Reviewer_A"],
        0,
    ),
    "the same text, with headings": (
        [reviewbench_review(reviewer="", summary=LONG)],
        [re2_review("Reviewer_A", f"Summary:\n{LONG}\nStrengths:\nnone")],
        ["Reviewer_A"],
        0,
    ),
    "another reviewer of the same names": (
        [reviewbench_review(reviewer="Reviewer_A")],
        [re2_review("Reviewer_A"), re2_review("Reviewer_B")],
        ["Reviewer_A", "Reviewer_B"],
        0,
    ),
    "a name that says nothing": ([reviewbench_review(reviewer="Reviewer_A")], [re2_review("null")], ["Reviewer_A"], 1),
    "names of another kind": (
        [reviewbench_review(reviewer="AnonReviewer1")],
        [re2_review("Reviewer_A")],
        ["AnonReviewer1"],
        1,
    ),
    "a place in a list": ([reviewbench_review(reviewer="Reviewer_1")], [re2_review("Reviewer_1")], ["Reviewer_1"], 1),
    "two of one name": (
        [reviewbench_review(reviewer="Reviewer_A")],
        [re2_review("Reviewer_A"), re2_review("Reviewer_A")],
        ["Reviewer_A"],
        2,
    ),
    "no reviews at all": ([], [re2_review("null"), re2_review("Reviewer_1")], ["unknown_1", "Reviewer_1"], 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_reviews_are_matched_by_rules_without_guessing(tmp_path: Path, workspace: Workspace, name: str) -> None:
    own, others, names, left = CASES[name]
    parts = write_parts(tmp_path, reviewbench_row(reviews=own), re2_paper(reviews=others))
    build(workspace, parts["rb"], parts["reviews"])
    assert [review.reviewer for review in rows(workspace, Review)] == names
    posts = {post.post_id: post.signature for post in rows(workspace, Post) if post.kind == "review"}
    assert posts == {review.review_id: review.reviewer for review in rows(workspace, Review)}
    assert [row.reason for row in rows(workspace, SetAside) if row.stage == "normalise"] == [Reason.NOT_MATCHED] * left


@pytest.mark.slow
def test_conflicts_between_two_records_are_kept_visible(tmp_path: Path, workspace: Workspace) -> None:
    parts = write_parts(tmp_path, reviewbench_row(reviews=[]), re2_paper(decision="Reject", reviews=[]))
    build(workspace, parts["rb"], parts["reviews"])
    (paper,) = rows(workspace, Paper)
    assert [(one.field, one.kept, one.other) for one in paper.conflicts] == [
        ("status", "accepted", "rejected"),
        ("decision", "Accept (poster)", "Reject"),
    ]
    (venue,) = read_status(workspace).venues
    assert venue.notes is not None
    assert venue.notes.conflicts == {"status": 1, "decision": 1}


@pytest.mark.slow
@pytest.mark.parametrize("order", [("train", "test"), ("test", "train")])
def test_both_splits_mean_test(tmp_path: Path, workspace: Workspace, order: tuple[str, str]) -> None:
    for split in order:
        path = write_json(tmp_path / split / f"REVIEWS_{split}.json", [re2_paper()])
        import_dumps(workspace, [path])
    build_here(workspace)
    assert read_status(workspace).holds
    (paper,) = workspace.tables.read(Paper, "published/Kites/2023/Conference")
    assert paper.stated_splits == (StatedSplit("review", "test", "train"),)
    (review,) = workspace.tables.read(Review, "published/Kites/2023/Conference")
    assert review.review_id == "re2-reviews:kite1/1"
    again = [import_dumps(workspace, [tmp_path / split]) for split in ("test", "train")]
    assert [json.loads(json.dumps(one.left_out)) for one in again] == [{}, {}]
    assert workspace.raw.count(RawKind.PUBLISHED, "published/Kites/2023/Conference") == 2
