"""Run the stage that builds conversations, and read Re²'s published conversations.

A published conversation replaces the one built from the same reviewer's posts. Every post is either in a conversation
or set aside with a reason; `balance` proves it.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from datetime import datetime
from heapq import merge as merge_sorted
from itertools import groupby
from operator import attrgetter, itemgetter

import msgspec
import pyarrow.compute as pc

from peercorpus.conversations.context import addressed_passages, attach, is_beside
from peercorpus.conversations.threads import NO_DECISIONS, Left, Party, Threads, read_threads
from peercorpus.conversations.turns import (
    Group,
    Item,
    TurnEnd,
    build_turn,
    drop_idle_ends,
    insert_actions,
    merge_turns,
    read_actions,
)
from peercorpus.corpus.reminder_decisions import Decisions, digest_of_venue, read_decisions
from peercorpus.discussion.addressees import ReviewerNames, read_names
from peercorpus.discussion.multipart import sort_by_reading_order
from peercorpus.execution.stage import Balance, ForumRange, ProgressCallback, RunRange, Stage, run_whole
from peercorpus.importers.re2 import Re2Message, Re2Rebuttal, is_prompt, list_lost
from peercorpus.importers.reader import Answers
from peercorpus.records.arrow_schema import arrow_schema, from_arrow
from peercorpus.records.datasets import Dataset, drop_number, non_empty
from peercorpus.records.enums import ConversationKind, Reason, Role
from peercorpus.records.reviews import ContextPost, Conversation, Post, Review, Turn
from peercorpus.records.scores import ScoreChange
from peercorpus.venues import ai_reviews
from peercorpus.wording.untrusted_text import redact_people
from peercorpus.workspace.delta_tables import Replacement, Tables
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

ROLES = {"assistant": Role.REVIEWER, "user": Role.AUTHOR}
SYSTEM = "system"
_PUBLISHED_REASONS = frozenset(
    {Reason.SUPERSEDED, Reason.RECORDS_DIFFER, Reason.RECORD_UNREADABLE, Reason.FORUM_MISSING}
)
"""Reasons that apply to published conversations only, never to posts."""
UNKNOWN = "unknown"


def read_conversation(raw_record: RawObject) -> Conversation:
    """Return the conversation of one record of `REBUTTAL_*.json`.

    Raises:
        msgspec.DecodeError: The record does not match Re²'s data card, or contains no message by the reviewer.
    """
    record = msgspec.json.decode(raw_record.body, type=Re2Rebuttal)
    reviewer = non_empty(record.reviewer_id) or UNKNOWN
    spoken: list[tuple[Role, str]] = []
    opening: list[Re2Message] = []
    for message in record.messages:
        if message.role not in {SYSTEM, *ROLES}:
            raise msgspec.ValidationError(f"A message has the unknown role '{message.role}'")
        role = ROLES.get(message.role)
        text = non_empty(message.content)
        if role is not None and text is not None and (spoken or role is Role.REVIEWER):
            spoken.append((role, text))
        elif not spoken:
            opening.append(message)
    if not spoken:
        raise msgspec.ValidationError("No message is by the reviewer")
    turns = tuple(
        Turn(
            role=role,
            signature=reviewer if role is Role.REVIEWER else "",
            title=None,
            text="\n\n".join(text for _, text in messages),
            created_at=None,
            post_ids=(),
        )
        for role, messages in groupby(spoken, key=lambda message: message[0])
    )
    return Conversation(
        conversation_id=f"{raw_record.forum_id}/{reviewer}",
        forum_id=raw_record.forum_id,
        venue_id=raw_record.venue_id,
        reviewer=reviewer,
        turns=turns,
        context=(),
        extra=_keep_others(record, reviewer, opening, raw_record.body),
    )


def _keep_others(record: Re2Rebuttal, reviewer: str, opening: Sequence[Re2Message], body: bytes) -> str:
    """Return, as JSON, what a record contains besides its exchange: its other members, and its prompt as `opening`.

    A prompt that contains the paper, and not only its id, is left out: the paper's text is stored elsewhere.
    """
    fields = list_lost(msgspec.json.decode(body, type=Answers), {"paper_id": record.paper_id, "reviewer_id": reviewer})
    del fields["messages"]
    if is_prompt(opening, record.paper_id):
        fields["opening"] = msgspec.to_builtins(opening)
    return msgspec.json.encode(redact_people(fields), order="sorted").decode()


def read_published_conversations(
    records: Sequence[RawObject], *, has_paper: bool, is_held: bool, out: Replacement
) -> dict[str, Conversation]:
    """Return one forum's published conversations by reviewer, and set aside the records that are not used.

    OpenReview's own note of the paper (`is_held`) supersedes every record.
    """
    read: dict[str, list[tuple[RawObject, Conversation]]] = {}
    for record in sorted(records, key=lambda one: (drop_number(one.object_id), one.body)):
        if is_held or not has_paper:
            reason = Reason.SUPERSEDED if is_held else Reason.FORUM_MISSING
            is_missing = "No record of the paper itself was imported."
            detail = "The workspace has OpenReview's own notes of the paper." if is_held else is_missing
            out.set_aside(drop_number(record.object_id), record.forum_id, reason, detail)
            continue
        try:
            conversation = read_conversation(record)
        except msgspec.DecodeError as error:
            out.set_aside(drop_number(record.object_id), record.forum_id, Reason.RECORD_UNREADABLE, str(error))
        else:
            read.setdefault(conversation.reviewer, []).append((record, conversation))
    return {reviewer: _choose_record(of_reviewer, out) for reviewer, of_reviewer in read.items()}


def _choose_record(read: Sequence[tuple[RawObject, Conversation]], out: Replacement) -> Conversation:
    (kept, chosen), *others = sorted(read, key=lambda one: (-sum(len(turn.text) for turn in one[1].turns), one[0].body))
    for record, conversation in others:
        says_same = conversation.turns == chosen.turns
        reason = Reason.SUPERSEDED if says_same else Reason.RECORDS_DIFFER
        what = "has the same turns" if says_same else "has other turns"
        detail = f"The record whose SHA-256 begins with {_digest(kept)} {what} and is used; this is {_digest(record)}."
        out.set_aside(drop_number(record.object_id), record.forum_id, reason, detail)
    return chosen


def _digest(record: RawObject) -> str:
    return hashlib.sha256(record.body).hexdigest()[:12]


NAME = "build_conversations"


ForumRows = tuple[list[Post], list[Review], list[RawObject]]
"""The posts, reviews and published conversations from which the conversations of one forum are built."""

UNREAD_OF_POSTS = {"modified_at": None, "licence": None, "consent": None, "meta_review": None}
UNREAD_OF_REVIEWS = {
    "form_id": "",
    "created_at": None,
    "modified_at": None,
    "title": None,
    "sections": (),
    "revised": None,
    "readers_public": True,
    "deleted": False,
    "extra": "{}",
    "initial_sections": (),
    "updated_fields": (),
    "sections_at_decision": (),
    "licence": None,
    "consent": None,
    "form_conflict": None,
}
"""Fields that conversations do not use and that are not read: the texts of reviews are taken from their posts."""
READ_OF_REVIEWS = [name for name in arrow_schema(Review).names if name not in {*UNREAD_OF_REVIEWS, "venue_id"}]


def _read_changed_reviews(tables: Tables, venue_id: str, span: ForumRange) -> Iterator[Review]:
    """Yield the reviews with a changed score or a final justification; for all others the posts are enough."""
    for batch in tables.batches("2-reviews", venue_id, READ_OF_REVIEWS, span=span):
        has_changes = pc.greater(pc.list_value_length(batch.column("score_changes")), 0)
        is_changed = pc.or_(has_changes, pc.is_valid(batch.column("final_justification")))
        yield from from_arrow(Review, batch.filter(is_changed), {**UNREAD_OF_REVIEWS, "venue_id": venue_id})


def _read_forums(workspace: Workspace, venue_id: str, span: ForumRange) -> Iterator[tuple[str, ForumRows]]:
    tables = workspace.tables
    records = workspace.raw.latest(RawKind.PUBLISHED, venue_id, Dataset.RE2_REBUTTAL.prefix, span=span)
    rows: Iterator[Post | Review | RawObject] = merge_sorted(
        tables.read(Post, venue_id, {**UNREAD_OF_POSTS, "venue_id": venue_id}, span),
        _read_changed_reviews(tables, venue_id, span),
        records,
        key=attrgetter("forum_id"),
    )
    for forum_id, group in groupby(rows, key=attrgetter("forum_id")):
        of_forum = list(group)
        posts = [row for row in of_forum if isinstance(row, Post)]
        reviews = [row for row in of_forum if isinstance(row, Review)]
        yield forum_id, (posts, reviews, [row for row in of_forum if isinstance(row, RawObject)])


def build_conversations(
    posts: Sequence[Post],
    reviews: Sequence[Review] = (),
    decided_at: datetime | None = None,
    decisions: Decisions = NO_DECISIONS,
) -> tuple[list[Conversation], Left]:
    """Return one forum's conversations, and the posts that are in none of them.

    Those with reviewers come first, in order of the reviewers, then all others in order of kind and name.
    """
    justified = {review.review_id for review in reviews if review.final_justification is not None}
    threads = read_threads(posts, decided_at, justified, decisions)
    builder = _Builder(threads, reviews, decided_at)
    with_reviewers = [builder.with_reviewer(reviewer) for reviewer in threads.by_reviewer]
    return [*with_reviewers, *map(builder.with_others, sorted(threads.by_party))], threads.left


class _Builder:
    def __init__(self, threads: Threads, reviews: Sequence[Review], decided_at: datetime | None) -> None:
        self._threads = threads
        self._reviews = {review.review_id: review for review in reviews}
        self._decided_at = decided_at
        names = read_names(threads.ordered) if threads.responses else ReviewerNames([])
        self._passages = {post.post_id: addressed_passages(post.text, names) for post in threads.responses}
        self._sorted: dict[tuple[str, ...], list[Post]] = {}

    def with_reviewer(self, reviewer: str) -> Conversation:
        posts = self._threads.by_reviewer[reviewer]
        responses = [post for post in self._threads.responses if is_beside(post, reviewer)]
        reviews = [self._reviews[post.post_id] for post in posts if post.post_id in self._reviews]
        deeds, undated = read_actions(reviews, posts)
        items = insert_actions(self._mark_ends(posts, responses), deeds)
        groups = merge_turns(((item,) for item in drop_idle_ends(items)), self._threads.answered_reminders)
        spoken = [group for group in groups if not isinstance(group[0], TurnEnd)]
        begun = _count_begun(items, {id(group[0]) for group in spoken})
        begun |= {post.post_id: None for post in responses if post.created_at is None}
        context = attach(self._sort_responses(responses), reviewer, self._passages, begun)
        return self._converse((ConversationKind.REVIEW, reviewer), posts, spoken, context, undated)

    def _sort_responses(self, responses: Sequence[Post]) -> Sequence[Post]:
        key = tuple(post.post_id for post in responses)
        if key not in self._sorted:
            self._sorted[key] = sort_by_reading_order(responses)
        return self._sorted[key]

    def with_others(self, party: Party) -> Conversation:
        posts = self._threads.by_party[party]
        groups = merge_turns((item,) for item in self._mark_ends(posts, ()))
        return self._converse(party, posts, [group for group in groups if not isinstance(group[0], TurnEnd)])

    def _converse(
        self,
        party: Party,
        posts: Sequence[Post],
        groups: Sequence[Group],
        context: tuple[ContextPost, ...] = (),
        undated: tuple[ScoreChange, ...] = (),
    ) -> Conversation:
        kind, name = party
        return Conversation(
            conversation_id=f"{posts[0].forum_id}/{name}",
            forum_id=posts[0].forum_id,
            venue_id=posts[0].venue_id,
            reviewer=name,
            turns=tuple(
                build_turn(group, self._threads.orphans, self._decided_at, self._threads.answered_reminders)
                for group in groups
            ),
            context=context,
            undated_changes=undated,
            kind=kind,
        )

    def _mark_ends(self, posts: Sequence[Post], responses: Sequence[Post]) -> list[Item]:
        """Return the posts of a conversation with responses and decisions inserted among them.

        Each is placed before the first post that is later or answers it; the order of simultaneous ones is unknown.
        """
        if not responses and not self._threads.decisions:
            return list(posts)
        times = [self._threads.latest[post.post_id] for post in posts]
        first_below = self._find_first_below(posts)
        items: list[list[Item]] = [[] for _ in (*posts, None)]
        ends = [(post, False) for post in responses] + [(post, True) for post in self._threads.decisions]
        for end, is_decision in ends:
            # The end of a turn also comes after the post that it answers, whatever its timestamp.
            later = bisect_right(times, self._threads.latest[end.post_id]) if end.created_at else len(posts)
            place = min(later, first_below.get(end.post_id, len(posts)))
            items[place].append(TurnEnd(end.post_id, end.created_at, is_decision=is_decision))
        for index, post in enumerate(posts):
            items[index].append(post)
        return [item for group in items for item in group]

    def _find_first_below(self, posts: Sequence[Post]) -> dict[str, int]:
        """Return, for each post id, the index of the first post that is that post or a descendant of it."""
        first: dict[str, int] = {}
        for index, post in enumerate(posts):
            above: Post | None = post
            while above is not None and above.post_id not in first:
                first[above.post_id] = index
                above = self._threads.replies.above(above)
        return first


def _count_begun(items: Sequence[Item], firsts: Set[int]) -> dict[str, int | None]:
    """Return, by post id, how many turns had begun by each response or decision."""
    begun: dict[str, int | None] = {}
    number = 0
    for item in items:
        if isinstance(item, TurnEnd):
            begun[item.post_id] = number
        elif id(item) in firsts:
            number += 1
    return begun


def _write_forum(built: tuple[list[Conversation], Left], published: dict[str, Conversation], out: Replacement) -> None:
    conversations, left = built
    for post, reason, detail in left:
        out.set_aside(post.post_id, post.forum_id, reason, detail)
    for conversation in conversations:
        is_review = conversation.kind is ConversationKind.REVIEW
        instead = published.pop(conversation.reviewer, None) if is_review else None
        if instead is None:
            out.add(conversation)
            continue
        # The turns of a published conversation have no times, so its context has no positions.
        context = tuple(replace(response, before_turn=None) for response in conversation.context)
        out.add(replace(instead, context=context))
        for post_id in (post_id for turn in conversation.turns for post_id in turn.post_ids):
            detail = "A published conversation replaces the one built from it."
            out.set_aside(post_id, conversation.forum_id, Reason.OUTSIDE_CONVERSATION, detail)
    for conversation in published.values():
        out.add(conversation)


def begin(workspace: Workspace, venue_id: str, key: str) -> RunRange:
    """Return the function that builds every conversation of a range of a venue's forums, one forum at a time."""
    roots = workspace.raw.roots(venue_id)
    decisions = read_decisions(workspace.folder)

    def run_range(span: ForumRange, report: ProgressCallback) -> None:
        decided: dict[str, datetime | None] = {}
        for batch in workspace.tables.batches("1-papers", venue_id, ["forum_id", "decided_at"], span=span):
            decided.update(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        with workspace.tables.replacing(("6-conversations",), venue_id, NAME, key, span.number) as out:
            done = 0
            for forum_id, (posts, reviews, records) in _read_forums(workspace, venue_id, span):
                has_paper = forum_id in decided
                done += has_paper
                report(done, len(decided))
                published = read_published_conversations(
                    records, has_paper=has_paper, is_held=forum_id in roots, out=out
                )
                built = build_conversations(posts, reviews, decided.get(forum_id), decisions)
                _write_forum(built, published, out)
        if done < len(decided):
            report(len(decided), len(decided))  # Papers without replies have no posts and were not counted.

    return run_range


run = run_whole(begin)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Return the balances: posts = posts in turns or context + set aside; records = conversations taken + set aside."""
    tables = workspace.tables
    used = published_count = 0
    rows = tables.rows("6-conversations", venue_id, ["forum_id", "turns", "context"])
    for _forum, conversations in groupby(rows, key=itemgetter(0)):
        ids: set[str] = set()
        for _, turns, context in conversations:
            of_turns = [post_id for turn in turns for post_id in turn["post_ids"]]
            published_count += not of_turns
            ids.update((response["post_id"] for response in context), of_turns)
        used += len(ids)
    left = tables.set_aside_counts(venue_id, NAME)
    of_posts = {reason: number for reason, number in left.items() if reason not in _PUBLISHED_REASONS}
    of_records = {reason: number for reason, number in left.items() if reason in _PUBLISHED_REASONS}
    records = workspace.raw.count(RawKind.PUBLISHED, venue_id, Dataset.RE2_REBUTTAL.prefix)
    published = Balance(
        "take conversations", venue_id, "records", rows_in=records, rows_out=published_count, set_aside=of_records
    )
    return (
        Balance(NAME, venue_id, "posts", rows_in=tables.count("3-posts", venue_id), rows_out=used, set_aside=of_posts),
        *((published,) if records or published_count or of_records else ()),
    )


READS = ("1-papers", "2-reviews", "3-posts")
STAGE = Stage(
    name=NAME,
    doing="building conversations",
    version=11,
    reads_raw=(RawKind.PUBLISHED, RawKind.NOTE),
    reads=READS,
    writes=("6-conversations",),
    options=(),
    run=run,
    balance=balance,
    begin=begin,
    made_with=lambda _: ai_reviews.DIGEST,
    made_with_venue=digest_of_venue,
)
