"""Recorded cases of invitations and committees with names that the vocabulary does not know."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import peercorpus
from peercorpus.api.corpus import Corpus
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.build import build
from peercorpus.records.enums import ConversationKind, Role
from peercorpus.records.papers import SetAside
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.workspace.workspace import open_workspace

CASES = Path(__file__).parents[3] / "shared" / "data" / "cases-2026-11"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not CASES.is_dir(), reason="the recorded cases are not beside this checkout, in ../shared/data"),
]


def _read(case: str, folder: Path) -> Corpus:
    with open_workspace(folder / "corpus", create=True) as workspace:
        import_dumps(workspace, [CASES / case / "input"])
        build(workspace)
    return peercorpus.open(folder / "corpus")


def _of_reviewers(corpus: Corpus) -> Sequence[Conversation]:
    return [talk for talk in corpus.records(Conversation) if talk.kind is ConversationKind.REVIEW]


def test_authors_replies_to_acknowledgements_are_turns(tmp_path: Path) -> None:
    corpus = _read("12-icml26-public", tmp_path)
    talks = _of_reviewers(corpus)
    assert len(talks) == 9
    for talk in talks:
        roles = [turn.role for turn in talk.turns]
        assert roles[:4] == [Role.REVIEWER, Role.AUTHOR, Role.REVIEWER, Role.AUTHOR]
        assert talk.turns[3].post_ids[0].startswith(f"{talk.forum_id}c")
    assert [row for row in corpus.records(SetAside) if row.stage == "build_conversations"] == []


def test_no_name_of_a_reply_keeps_it_out(tmp_path: Path) -> None:
    corpus = _read("25-names", tmp_path)
    (talk,) = _of_reviewers(corpus)
    posts = {post.post_id for post in corpus.records(Post)}
    assert len(posts) == 35
    assert {post_id for turn in talk.turns for post_id in turn.post_ids} == posts


def test_a_first_round_by_program_committees_is_reviews(tmp_path: Path) -> None:
    corpus = _read("26-aaai-first-round-2025", tmp_path)
    reviewers = {f"Program_Committee_{member}" for member in ("K1aa", "K2bb")}
    reviews = {review.reviewer: review for review in corpus.records(Review)}
    assert set(reviews) == reviewers
    assert {talk.reviewer for talk in _of_reviewers(corpus)} == reviewers
    roles = {post.post_id: post.role for post in corpus.records(Post)}
    assert (roles["aa4Ac"], roles["aa4Am"]) == (Role.AREA_CHAIR, Role.AREA_CHAIR)
