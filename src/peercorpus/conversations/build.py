"""The stage that turns a venue's posts into conversations.

A published conversation is taken as it is, in place of the one that posts of published records make.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import merge
from itertools import groupby
from operator import itemgetter

from peercorpus.conversations.published import LEFT, read_published
from peercorpus.conversations.threads import build_conversations
from peercorpus.kinds import Reason
from peercorpus.published.datasets import Dataset
from peercorpus.raw import Kind, RawObject
from peercorpus.records import Conversation, Post
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Replacement
from peercorpus.workspace import Workspace

NAME = "build_conversations"


def _forums(workspace: Workspace, venue_id: str) -> Iterator[tuple[str, list[Post], list[RawObject]]]:
    """The posts and the published conversations of a venue, a forum at a time."""
    posts = ((post.forum_id, post) for post in workspace.tables.read(Post, venue_id))
    prefix = Dataset.RE2_REBUTTAL.prefix
    found = workspace.raw.latest(Kind.PUBLISHED, venue_id, prefix)
    records = ((record.forum_id, record) for record in found)
    both: Iterator[tuple[str, Post | RawObject]] = merge(posts, records, key=itemgetter(0))
    for forum_id, group in groupby(both, key=itemgetter(0)):
        held = [one for _, one in group]
        yield (
            forum_id,
            [one for one in held if isinstance(one, Post)],
            [one for one in held if isinstance(one, RawObject)],
        )


def _build_forum(posts: list[Post], published: dict[str, Conversation], out: Replacement) -> None:
    """Write the conversations of one forum, and set aside the posts that are part of none."""
    conversations, left = build_conversations(posts)
    for post, reason, detail in left:
        out.set_aside(post.post_id, post.forum_id, reason, detail)
    for conversation in conversations:
        instead = published.pop(conversation.reviewer, None)
        out.add(replace(instead, context=conversation.context) if instead else conversation)
        for post_id in (post_id for turn in conversation.turns if instead for post_id in turn.post_ids):
            detail = "A published conversation stands in the place of its own."
            out.set_aside(post_id, conversation.forum_id, Reason.OUTSIDE_CONVERSATION, detail)
    for conversation in published.values():
        out.add(conversation)


def run(workspace: Workspace, venue_id: str, _: Options, key: str, report: Report) -> None:
    """Build every conversation of a venue, a forum at a time."""
    roots, papers = workspace.raw.roots(venue_id), set[str]()
    for batch in workspace.tables.batches("1-papers", venue_id, ["forum_id"]):
        papers.update(batch.column(0).to_pylist())
    with workspace.tables.replacing(("6-conversations",), venue_id, NAME, key) as out:
        done = 0
        for forum_id, posts, records in _forums(workspace, venue_id):
            has_paper = forum_id in papers
            done += has_paper
            report(done, len(papers))
            published = read_published(records, has_paper=has_paper, is_held=forum_id in roots, out=out)
            _build_forum(posts, published, out)
    if done < len(papers):
        report(len(papers), len(papers))  # A paper without replies has no posts to come by.


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Posts = posts that are in a turn or are context + set aside; published conversations = taken + set aside."""
    tables = workspace.tables
    used = taken = 0
    columns = ["forum_id", "turns", "context"]
    rows = (row for batch in tables.batches("6-conversations", venue_id, columns) for row in batch.to_pylist())
    for _forum, conversations in groupby(rows, key=lambda row: row["forum_id"]):
        ids: set[str] = set()
        for row in conversations:
            of_turns = [post_id for turn in row["turns"] for post_id in turn["post_ids"]]
            taken += not of_turns
            ids.update(row["context"], of_turns)
        used += len(ids)
    left = tables.set_aside_counts(venue_id, NAME)
    of_posts = {reason: number for reason, number in left.items() if reason not in LEFT}
    of_records = {reason: number for reason, number in left.items() if reason in LEFT}
    records = workspace.raw.count(Kind.PUBLISHED, venue_id, Dataset.RE2_REBUTTAL.prefix)
    published = Balance("take conversations", venue_id, "records", records, taken, of_records)
    return (
        Balance(NAME, venue_id, "posts", tables.count("3-posts", venue_id), used, of_posts),
        *((published,) if records or taken or of_records else ()),
    )


STAGE = Stage(NAME, 2, (Kind.PUBLISHED, Kind.NOTE), ("1-papers", "3-posts"), ("6-conversations",), (), run, balance)
