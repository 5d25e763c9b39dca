"""The stage that turns a venue's posts into conversations."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from peercorpus.conversations.threads import build_conversations
from peercorpus.records import Post
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.workspace import Workspace

NAME = "build_conversations"


def run(workspace: Workspace, venue_id: str, _: Options, key: str, report: Report) -> None:
    """Build every conversation of a venue, a forum at a time."""
    posts_by_forum = groupby(workspace.tables.read(Post, venue_id), key=attrgetter("forum_id"))
    total = workspace.tables.count("1-papers", venue_id)
    with workspace.tables.replacing(("6-conversations",), venue_id, NAME, key) as out:
        done = 0
        for done, (_forum, posts) in enumerate(posts_by_forum, 1):
            report(done, total)
            conversations, left = build_conversations(list(posts))
            for conversation in conversations:
                out.add(conversation)
            for post, reason, detail in left:
                out.set_aside(post.post_id, post.forum_id, reason, detail)
    if done < total:
        report(total, total)  # A paper without replies has no posts to come by.


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Posts = posts that are in a turn or are context + set aside."""
    tables = workspace.tables
    used = 0
    columns = ["forum_id", "turns", "context"]
    rows = (row for batch in tables.batches("6-conversations", venue_id, columns) for row in batch.to_pylist())
    for _forum, conversations in groupby(rows, key=lambda row: row["forum_id"]):
        ids: set[str] = set()
        for row in conversations:
            ids.update(row["context"], *(turn["post_ids"] for turn in row["turns"]))
        used += len(ids)
    posts, set_aside = tables.count("3-posts", venue_id), tables.set_aside_counts(venue_id, NAME)
    return (Balance(NAME, venue_id, "posts", posts, used, set_aside),)


STAGE = Stage(NAME, 1, (), ("3-posts",), ("6-conversations",), (), run, balance)
