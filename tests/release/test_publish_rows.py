"""What is published of a forum, and what never is."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from asked_releases import publish_release
from invented_tables import (
    ICLR,
    NOON,
    a_forum,
    conversation,
    invented,
    paper,
    post,
    review,
    text,
    turn,
    version,
)
from peercorpus.corpus.text_choice import TextChoice
from peercorpus.records.enums import Grade, PostKind, Role, SectionKind
from peercorpus.records.reviews import Section


def published(
    tmp_path: Path, records: Iterable[object], texts: TextChoice = TextChoice.BEST
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of both configurations after publishing one venue."""
    with invented(tmp_path / "corpus", {ICLR: list(records)}) as workspace:
        publish_release(workspace, tmp_path / "out", texts=texts)
    papers, conversations = (
        [row for path in (tmp_path / "out" / "data").glob(f"{config}/*") for row in pq.read_table(path).to_pylist()]
        for config in ("papers", "conversations")
    )
    return papers, conversations


def test_a_forum_becomes_one_paper_and_its_conversations(tmp_path: Path) -> None:
    (row,), (talk,) = published(tmp_path, a_forum("f1", markdown="# Ünïcode"))
    assert row["markdown"] == "# Ünïcode"
    assert row["markdown_chars"] == 9
    assert row["author_rebuttal"] == "Words of f1-to-all."
    assert row["num_reviews"] == 1
    assert row["tldr"] is None
    assert talk["conversation_id"] == "f1/R1"
    assert [found["role"] for found in talk["turns"]] == ["reviewer", "author"]
    assert talk["turns"][1]["post_ids"] == ["f1-answer"]
    assert [response["post_id"] for response in talk["context"]] == ["f1-to-all"]


@pytest.mark.parametrize("hidden", [{"readers_public": False}, {"deleted": True}])
def test_only_public_records_are_published(tmp_path: Path, hidden: dict[str, Any]) -> None:
    secret = post("secret", "f1", text="SECRET words", **hidden)
    decision = post("verdict", "f1", kind=PostKind.DECISION, text="SECRET verdict", **hidden)
    records = [
        paper("f1", decision="SECRET accept", decision_comment="SECRET verdict"),
        review("f1", "R1"),
        review("f1", "R2", sections=(Section(SectionKind.SUMMARY, "summary", "SECRET review"),), **hidden),
        post("f1-R1", "f1", kind=PostKind.REVIEW, role=Role.REVIEWER),
        secret,
        decision,
        conversation("f1", "R1", [turn(Role.REVIEWER, "f1-R1")], ("secret",)),
        conversation("f1", "R2", [turn(Role.REVIEWER, "f1-R1"), turn(Role.AUTHOR, "secret")]),
        conversation("f1", "R3", [turn(Role.REVIEWER, "of nobody knows what")]),
    ]
    (row,), talks = published(tmp_path, records)
    assert "SECRET" not in json.dumps([row, talks], default=str)
    assert row["num_reviews"] == 1
    assert row["decision"] is None
    assert [talk["reviewer"] for talk in talks] == ["R1"]
    assert talks[0]["context"] == []


@pytest.mark.parametrize("hidden", [{"readers_public": False}, {"deleted": True}])
def test_a_hidden_comment_is_withheld_though_the_decision_is_public(tmp_path: Path, hidden: dict[str, Any]) -> None:
    records = [
        paper("f1", decision_comment="SECRET", decided_at=NOON),
        post("meta", "f1", kind=PostKind.META_REVIEW, text="### metareview\n\nSECRET", **hidden),
        post("verdict", "f1", kind=PostKind.DECISION, text=""),
    ]
    (row,), _ = published(tmp_path, records)
    assert (row["decision"], row["decision_comment"]) == ("Accept (Poster)", None)
    (full,) = pq.read_table(tmp_path / "out" / "data" / "papers_full").to_pylist()
    assert (full["decision_comment"], full["status"], full["decided_at"]) == (None, "accepted", NOON)


@pytest.mark.parametrize("grade", list(Grade))
def test_only_a_version_known_to_be_the_initial_one_gives_a_text(tmp_path: Path, grade: Grade) -> None:
    records = [paper("f1"), version("f1", "aa", grade), version("f1", "bb", None), text("aa", "A"), text("bb", "LATER")]
    (row,), _ = published(tmp_path, records, TextChoice.INITIAL)
    is_sure = grade in {Grade.EXACT, Grade.EXACT_ATTACHMENT, Grade.UNREVISED, Grade.ONLY_BEFORE_REVIEW}
    assert (row["markdown"], row["markdown_chars"]) == (("A", 1) if is_sure else ("", 0))


def test_a_paper_without_reviews_versions_or_texts_is_still_a_row(tmp_path: Path) -> None:
    rows, talks = published(tmp_path, [paper("f1"), paper("f2"), version("f2", "missing", Grade.EXACT)])
    assert [(row["forum_id"], row["num_reviews"], row["reviews_json"], row["markdown"]) for row in rows] == [
        ("f1", 0, "[]", ""),
        ("f2", 0, "[]", ""),
    ]
    assert talks == []


@pytest.mark.slow
def test_each_text_is_joined_to_its_paper_in_any_order(tmp_path: Path) -> None:
    forums = [a_forum(f"f{number:03d}", markdown=f"Text {number}") for number in range(250)]
    records = [record for forum in forums for record in forum]
    texts = [forum[6] for forum in reversed(forums)]
    rows, _ = published(tmp_path, [*(record for record in records if record not in texts), *texts])
    assert [row["markdown"] for row in rows] == [f"Text {number}" for number in range(250)]
