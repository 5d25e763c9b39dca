"""What is published of a forum, and what never is."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from asked_releases import Row, publish_release, rows_of
from explored import HOST
from invented_tables import (
    ICLR,
    NOON,
    a_forum,
    ai_review,
    conversation,
    invented,
    paper,
    post,
    review,
    turn,
    version,
)
from peercorpus.corpus.forums import Forum
from peercorpus.corpus.public_forums import PublicFilter, keep_public
from peercorpus.corpus.takedown import Takedown
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.records.enums import Grade, PostKind, Role, SectionKind
from peercorpus.records.papers import Conflict, Paper
from peercorpus.records.reviews import Post, Section
from peercorpus.release.folder import open_release
from peercorpus.release.verify.verify import verify_release


def published(tmp_path: Path, records: Iterable[object]) -> tuple[list[Row], list[Row]]:
    """The rows of both configurations after publishing one venue."""
    with invented(tmp_path / "corpus", {ICLR: list(records)}) as workspace:
        publish_release(workspace, tmp_path / "out")
    return rows_of(tmp_path / "out", "papers"), rows_of(tmp_path / "out", "conversations")


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
def test_a_hidden_comment_is_withheld(tmp_path: Path, hidden: dict[str, Any]) -> None:
    records = [
        paper("f1", decision_comment="SECRET", decided_at=NOON),
        post("meta", "f1", kind=PostKind.META_REVIEW, text="### metareview\n\nSECRET", **hidden),
        post("verdict", "f1", kind=PostKind.DECISION, text=""),
    ]
    (row,), _ = published(tmp_path, records)
    assert (row["decision"], row["decision_comment"]) == ("Accept (Poster)", None)
    (full,) = pq.read_table(tmp_path / "out" / "data" / "papers_full").to_pylist()
    assert (full["decision_comment"], full["status"], full["decided_at"]) == (None, "accepted", NOON)


def test_a_bare_paper_is_still_a_row(tmp_path: Path) -> None:
    rows, talks = published(tmp_path, [paper("f1"), paper("f2"), version("f2", "missing", Grade.EXACT)])
    assert [(row["forum_id"], row["num_reviews"], row["reviews_json"], row["markdown"]) for row in rows] == [
        ("f1", 0, "[]", ""),
        ("f2", 0, "[]", ""),
    ]
    assert talks == []


@pytest.mark.slow
def test_texts_are_joined_in_any_order(tmp_path: Path) -> None:
    forums = [a_forum(f"f{number:03d}", markdown=f"Text {number}") for number in range(250)]
    records = [record for forum in forums for record in forum]
    texts = [forum[6] for forum in reversed(forums)]
    rows, _ = published(tmp_path, [*(record for record in records if record not in texts), *texts])
    assert [row["markdown"] for row in rows] == [f"Text {number}" for number in range(250)]


META, RULING = "The kites of this paper fly.", "All agree."
"""Return the words of the meta-review, and of the decision."""


def sifted(comment: str | None, *gone: str, has_decision: bool = True) -> Paper:
    """Return what remains without these posts of a paper with a meta-review and, by default, a decision."""
    chair = {"role": Role.AREA_CHAIR, "signature": "Area_Chair_1"}
    said = [post("meta", "f", kind=PostKind.META_REVIEW, text=f"### metareview\n\n{META}", **chair)]
    if has_decision:
        said.append(post("ruling", "f", kind=PostKind.DECISION, text=RULING, **chair))
    posts = [*(record for record in a_forum("f") if isinstance(record, Post)), *said]
    kept = PublicFilter(Takedown(posts=frozenset(gone))).sift(
        Forum(paper("f", decision_comment=comment), [], posts, [], [])
    )
    assert kept is not None
    return kept.paper


def test_a_taken_down_meta_review_leaves_the_comment() -> None:
    found = sifted(META, "meta")
    assert found.decision_comment is None, "words that are taken down are published as the comment of the decision"
    assert (found.decision, found.decided_at) == ("Accept (Poster)", paper("f").decided_at)


def test_a_decisions_own_comment_is_kept() -> None:
    assert sifted(RULING, "meta").decision_comment == RULING


@pytest.mark.parametrize("gone", [("ruling",), ("ruling", "meta")])
def test_a_taken_down_decision_is_not_revealed(gone: tuple[str, ...]) -> None:
    found = sifted(RULING, *gone)
    assert (found.decision, found.decided_at, found.decision_comment) == (None, None, None)


def test_a_decision_needs_a_source() -> None:
    found = sifted(META, "meta", has_decision=False)
    assert (found.decision, found.decided_at, found.decision_comment) == (None, None, None)


def test_conflicts_go_with_their_review() -> None:
    records = ("reviewbench:f", "re2-reviews:f")
    fields = ("title", "decision", "rating (final) of R1", "rating (initial) of R2", "reviewer")
    conflicts = tuple(Conflict(name, "R1" if name == "reviewer" else "6", "5", *records) for name in fields)
    reviews = [review("f", "R1"), review("f", "R2")]
    said = [post("ruling", "f", kind=PostKind.DECISION, text=RULING, role=Role.PROGRAM_CHAIR)]
    whole = Forum(paper("f", conflicts=conflicts), reviews, said, [], [])

    def left_without(*gone: str) -> list[str]:
        kept = PublicFilter(Takedown(posts=frozenset(gone))).sift(whole)
        assert kept is not None
        return [one.field for one in kept.paper.conflicts]

    assert left_without() == [*fields]
    assert left_without(reviews[0].review_id) == ["title", "decision", "rating (initial) of R2"]
    assert left_without(reviews[1].review_id) == ["title", "decision", "rating (final) of R1", "reviewer"]
    assert "decision" not in left_without("ruling")
    hidden = keep_public(replace(whole, reviews=[replace(reviews[0], readers_public=False), reviews[1]]))
    assert [one.field for one in hidden.paper.conflicts] == ["title", "decision", "rating (initial) of R2"]


HIDDEN, DELETED, ABSENT, TAKEN = "f1-hidden", "f1-deleted", "f1-absent", "f1-taken"


def answered() -> list[object]:
    """A paper with answers to its review, to two posts that are not public, and to one that is missing."""
    said: dict[str, Any] = {"role": Role.AREA_CHAIR, "signature": "Area_Chair_X"}
    ai = ai_review("f1")
    reply = replace(ai.replies[0], post_id="ai-below", reply_to="f1-ai-closed")
    return [
        *a_forum("f1"),
        post(HIDDEN, "f1", readers_public=False, reply_to="f1-R1", **said),
        post(DELETED, "f1", deleted=True, **said),
        post(TAKEN, "f1", **said),
        *(post(f"below-{above}", "f1", reply_to=above) for above in (HIDDEN, DELETED, ABSENT, TAKEN)),
        post("meta", "f1", reply_to=HIDDEN, kind=PostKind.META_REVIEW, **said),
        replace(ai, replies=(*ai.replies, reply)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("listed", [TAKEN, f"{TAKEN}\n{ABSENT}\n{HIDDEN}"])
def test_reply_to_never_names_a_hidden_post(tmp_path: Path, listed: str) -> None:
    with invented(tmp_path / "corpus", {ICLR: answered()}) as workspace:
        (tmp_path / "corpus" / "takedown.txt").write_text(f"{listed}\n")
        publish_release(workspace, tmp_path / "out")
        verified = verify_release(open_release(tmp_path / "out"), workspace)
        app = make_app(open_explorer(workspace, show_nothing), "127.0.0.1")
        with TestClient(app, base_url=HOST) as client:
            record = client.get("/record/f1").json()
            page = client.get("/paper/f1").text
    assert verified.holds
    rows = [row for path in (tmp_path / "out").rglob("*.parquet") for row in pq.read_table(path).to_pylist()]
    shown = json.dumps([rows, record], default=str) + page
    # The name of an answer contains that of the post above it.
    for above in (HIDDEN, DELETED, ABSENT, TAKEN, "f1-ai-closed"):
        assert above not in shown.replace(f"below-{above}", "")
    for posts in (record["posts"], *(row["posts"] for row in rows if "posts" in row)):
        replies = {row["post_id"]: row["reply_to"] for row in posts}
        assert replies["f1-answer"] == "f1-R1"
        assert {replies[name] for name in replies if name.startswith("below")} == {None}
    (ai,) = record["ai_reviews"]
    assert {row["post_id"]: row["reply_to"] for row in ai["replies"]} == {
        "f1-ai-answer": "f1-ai",
        "f1-ai-survey": "f1-ai",
        "ai-below": None,
    }
