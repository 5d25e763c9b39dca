"""Conversations are built from some columns of the tables, and equal those built from all of them."""

import json
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from in_this_process import build_here
from peercorpus.conversations.build import build_conversations
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.workspace.workspace import Workspace, open_workspace
from raw_forums import PAPER, V, v2


def _build_from_all(workspace: Workspace, venue_id: str) -> list[Conversation]:
    """Return the conversations of a venue, from every column of every post and review."""
    decided = {paper.forum_id: paper.decided_at for paper in workspace.tables.read(Paper, venue_id)}
    reviews = list(workspace.tables.read(Review, venue_id))
    conversations: list[Conversation] = []
    for forum_id, posts in groupby(workspace.tables.read(Post, venue_id), attrgetter("forum_id")):
        here = [review for review in reviews if review.forum_id == forum_id]
        conversations += build_conversations(list(posts), here, decided[forum_id])[0]
    return conversations


def test_stored_conversations_equal_whole_ones(demo_folder: Path) -> None:
    with open_workspace(demo_folder / "corpus") as workspace:
        for venue_id in workspace.tables.venues("6-conversations"):
            assert list(workspace.tables.read(Conversation, venue_id)) == _build_from_all(workspace, venue_id)


def test_some_of_their_turns_come_from_reviews_alone(demo_folder: Path) -> None:
    with open_workspace(demo_folder / "corpus") as workspace:
        venues = workspace.tables.venues("6-conversations")
        held = [one for venue_id in venues for one in workspace.tables.read(Conversation, venue_id)]
    turns = [turn for conversation in held for turn in conversation.turns]
    assert any(turn.score_changes for turn in turns)
    assert any(turn.final_justification for turn in turns)


def test_a_review_posted_again_is_stored(tmp_path: Path) -> None:
    text = {
        "review": "The kite flies well in strong wind, but nothing is said about weak wind, in which most kites fall."
    }
    notes = [
        PAPER,
        v2("r1", "Official_Review", "Reviewer_a1B2", content={**text, "rating": 3}),
        v2("r2", "Official_Review", "Reviewer_a1B2", content={**text, "rating": 6}),
    ]
    dump = tmp_path / "notes.json"
    dump.write_text(json.dumps(notes), encoding="utf-8")
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        import_dumps(workspace, [dump])
        build_here(workspace)
        (talk,) = workspace.tables.read(Conversation, V)
    assert [post_id for turn in talk.turns for post_id in turn.post_ids] == ["r1", "r2"]
