"""The stage that turns a venue's posts into conversations.

A published conversation is taken as it is, in place of the one that posts of published records make.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge as merge_sorted
from itertools import groupby
from operator import attrgetter

from peercorpus.conversations.context import attach, passages
from peercorpus.conversations.published import LEFT, read_published
from peercorpus.conversations.threads import Left, Threads, read_threads
from peercorpus.conversations.turns import as_turn, merge, read_deeds, with_deeds
from peercorpus.kinds import Reason
from peercorpus.published.datasets import Dataset
from peercorpus.raw import Kind, RawObject
from peercorpus.records import ContextPost, Conversation, Post, Review
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Replacement
from peercorpus.workspace import Workspace

NAME = "build_conversations"


@dataclass(slots=True)
class Forum:
    """What one forum's conversations are made of."""

    posts: list[Post] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    records: list[RawObject] = field(default_factory=list)

    def add(self, one: Post | Review | RawObject) -> None:
        """Take in one of them."""
        if isinstance(one, Post):
            self.posts.append(one)
        elif isinstance(one, Review):
            self.reviews.append(one)
        else:
            self.records.append(one)


def _forums(workspace: Workspace, venue_id: str) -> Iterator[tuple[str, Forum]]:
    """The posts, reviews and published conversations of a venue, a forum at a time."""
    tables, found = workspace.tables, workspace.raw.latest(Kind.PUBLISHED, venue_id, Dataset.RE2_REBUTTAL.prefix)
    held: Iterator[Post | Review | RawObject] = merge_sorted(
        tables.read(Post, venue_id), tables.read(Review, venue_id), found, key=attrgetter("forum_id")
    )
    for forum_id, group in groupby(held, key=attrgetter("forum_id")):
        forum = Forum()
        for one in group:
            forum.add(one)
        yield forum_id, forum


def build_conversations(posts: Sequence[Post], reviews: Sequence[Review] = ()) -> tuple[list[Conversation], Left]:
    """One forum's conversations, in the order of their reviewers; and the posts that are part of none."""
    threads = read_threads(posts)
    told = {post.post_id: passages(post.text, threads.names) for post in threads.responses}
    return [_conversation(reviewer, threads, reviews, told) for reviewer in threads.of], threads.left


def _conversation(
    reviewer: str, threads: Threads, reviews: Sequence[Review], told: Mapping[str, list[tuple[str, set[str]]]]
) -> Conversation:
    posts = threads.of[reviewer]
    held = {post.post_id for post in posts}
    deeds, undated = read_deeds((review for review in reviews if review.review_id in held), posts)
    groups = merge((item,) for item in with_deeds(posts, deeds))
    turns = tuple(as_turn(group, threads.orphans) for group in groups)
    forum_id, venue_id = posts[0].forum_id, posts[0].venue_id
    context = attach(threads.responses, turns, reviewer, told)
    return Conversation(f"{forum_id}/{reviewer}", forum_id, venue_id, reviewer, turns, context, undated)


def _untimed(context: Sequence[ContextPost]) -> tuple[ContextPost, ...]:
    """Responses beside a published conversation, whose turns have no times."""
    return tuple(replace(response, before_turn=None) for response in context)


def _build_forum(forum: Forum, published: dict[str, Conversation], out: Replacement) -> None:
    """Write the conversations of one forum, and set aside the posts that are part of none."""
    conversations, left = build_conversations(forum.posts, forum.reviews)
    for post, reason, detail in left:
        out.set_aside(post.post_id, post.forum_id, reason, detail)
    for conversation in conversations:
        instead = published.pop(conversation.reviewer, None)
        out.add(replace(instead, context=_untimed(conversation.context)) if instead else conversation)
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
        for forum_id, forum in _forums(workspace, venue_id):
            has_paper = forum_id in papers
            done += has_paper
            report(done, len(papers))
            published = read_published(forum.records, has_paper=has_paper, is_held=forum_id in roots, out=out)
            _build_forum(forum, published, out)
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
            ids.update((response["post_id"] for response in row["context"]), of_turns)
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


READS = ("1-papers", "2-reviews", "3-posts")
STAGE = Stage(NAME, 3, (Kind.PUBLISHED, Kind.NOTE), READS, ("6-conversations",), (), run, balance)
