"""List the authors' posts that are reminders by rule, or nearly so, each with its thread, for a person to decide."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import Any

from peercorpus.conversations.reminders import find_objections, is_reminder
from peercorpus.conversations.threads import read_threads
from peercorpus.corpus.reminder_decisions import Decision, Decisions, Verdict, read_decisions, write_decisions
from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import Reason, Role
from peercorpus.records.reviews import Post
from peercorpus.workspace.workspace import Workspace

MOST_OBJECTIONS = 2
"""A post with more objections than this is not a candidate."""
MOST_CHARACTERS = 1_500
"""A longer post with any objection is not a candidate."""
_BESIDE = 2
"""Number of posts of the same thread shown before and after a post."""
_UNREAD = {"extra": "{}", "meta_review": None}


class RuleResult(StrEnum):
    """Outcome of the rule for a post."""

    TAKEN = "taken"
    """It only asks for a reply, at the end of its thread: the rule sets it aside."""
    PLACE = "kept_for_its_place"
    """It only asks for a reply, but it has replies, or the authors have not answered before."""
    WORDS = "kept_for_its_words"
    """It asks for something, and little in it is about the paper."""
    CLEAR = "clearly_kept"
    """It is not a candidate; it is listed because a person decided on it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One post to decide on.

    Attributes:
        reviewer: Reviewer whose conversation it belongs to; None for a response to all reviewers or a conversation with
            others.
        result: Outcome of the rule.
        objections: Parts of its text that keep it from being a reminder; their number is the score of the rule.
        decision: A person's decision; None if there is none.
        before: Posts of its thread before it, in time order.
        after: Posts of its thread after it, and those that reply to it.
    """

    post: Post
    reviewer: str | None
    result: RuleResult
    objections: tuple[str, ...]
    decision: Decision | None
    before: tuple[Post, ...]
    after: tuple[Post, ...]

    @property
    def is_set_aside(self) -> bool:
        """Whether the next build sets it aside: by the decision if there is one, otherwise by the rule."""
        if self.decision is not None:
            return self.decision.verdict is Verdict.REMINDER
        return self.result is RuleResult.TAKEN

    def to_json(self) -> dict[str, Any]:
        """Return the candidate as JSON data."""
        decision = self.decision
        return {
            **_to_json(self.post),
            "forum_id": self.post.forum_id,
            "venue_id": self.post.venue_id,
            "reviewer": self.reviewer,
            "result": self.result.value,
            "score": len(self.objections),
            "objections": list(self.objections),
            "decision": decision.verdict.value if decision else None,
            "decided_on": decision.day.isoformat() if decision and decision.day else None,
            "note": decision.note if decision else None,
            "is_set_aside": self.is_set_aside,
            "before": [_to_json(post) for post in self.before],
            "after": [_to_json(post) for post in self.after],
        }


def _to_json(post: Post) -> dict[str, Any]:
    created_at = post.created_at.isoformat() if post.created_at else None
    whose = {"role": post.role.value, "signature": post.signature}
    return {"post_id": post.post_id, **whose, "created_at": created_at, "title": post.title, "text": post.text}


def find_candidates(workspace: Workspace, decisions: Decisions) -> Iterator[Candidate]:
    """Yield the posts to decide on, paper by paper in table order and in time order within each paper."""
    for venue_id in workspace.tables.venues("3-posts"):
        rows = workspace.tables.read(Post, venue_id, _UNREAD)
        for _, posts in groupby(rows, key=attrgetter("forum_id")):
            yield from judge_forum(list(posts), decisions)


def judge_forum(posts: Sequence[Post], decisions: Decisions) -> Iterator[Candidate]:
    """Yield the posts of one forum to decide on, in time order."""
    threads = read_threads(posts)
    taken = {post.post_id for post, reason, _ in threads.left if reason is Reason.REMINDER}
    of_reviewer = {post.post_id: reviewer for reviewer, thread in threads.by_reviewer.items() for post in thread}
    whole: dict[str, tuple[Post, ...]] = dict(threads.reminded)
    for held in (*threads.by_reviewer.values(), *threads.by_party.values(), threads.responses):
        whole |= {post.post_id: tuple(held) for post in held}
    for post in threads.ordered:
        if post.role is not Role.AUTHOR or post.post_id not in whole:
            continue
        thread = whole[post.post_id]
        others = (of_reviewer.get(other.post_id) for other in thread)
        result = RuleResult.TAKEN if post.post_id in taken else judge_words(post.title, post.text)
        if result is RuleResult.CLEAR and post.post_id not in decisions:
            continue
        place = next(index for index, other in enumerate(thread) if other.post_id == post.post_id)
        after = dict.fromkeys(
            (*thread[place + 1 :][:_BESIDE], *(other for other in posts if other.reply_to == post.post_id))
        )
        yield Candidate(
            post=post,
            reviewer=next((name for name in others if name is not None), None),
            result=result,
            objections=find_objections(post.title, post.text) or (),
            decision=decisions.get(post.post_id),
            before=thread[max(0, place - _BESIDE) : place],
            after=tuple(after),
        )


def judge_words(title: str | None, text: str) -> RuleResult:
    """Return the outcome of the rule for a post that it does not set aside."""
    if is_reminder(title, text):
        return RuleResult.PLACE
    objections = find_objections(title, text)
    is_near = objections is not None and len(objections) <= MOST_OBJECTIONS and len(text) <= MOST_CHARACTERS
    return RuleResult.WORDS if is_near else RuleResult.CLEAR


def decide(
    workspace: Workspace,
    *,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    undo: Sequence[str] = (),
    note: str = "",
) -> None:
    """Write decisions on the authors' posts to the workspace's file, or withdraw some.

    Raises PeercorpusError and changes nothing if an id is given twice, no post of the authors has it, there is no
    decision to withdraw, or the file is invalid.
    """
    named = [*dict.fromkeys(drop), *dict.fromkeys(keep), *dict.fromkeys(undo)]
    twice = [post_id for post_id in named if named.count(post_id) > 1]
    if twice:
        raise PeercorpusError(f"'{twice[0]}' is named by two of --drop, --keep and --undo; decide for one of them.")
    decisions = read_decisions(workspace.folder)
    undecided = [post_id for post_id in undo if post_id not in decisions]
    if undecided:
        raise PeercorpusError(f"There is no decision on '{undecided[0]}' to withdraw; nothing was changed.")
    for post_id, why in find_undecidable(workspace, [*drop, *keep]).items():
        raise PeercorpusError(f"'{post_id}' cannot be decided on: {why}. Nothing was changed.")
    verdicts = dict.fromkeys(drop, Verdict.REMINDER) | dict.fromkeys(keep, Verdict.KEEP)
    today = datetime.now(UTC).date()
    decided = [Decision(post_id, verdict, today, note) for post_id, verdict in verdicts.items()]
    write_decisions(workspace.folder, decided, undo)


def find_undecidable(workspace: Workspace, post_ids: Sequence[str]) -> dict[str, str]:
    """Return, for each id that cannot be decided on, the reason: no post has it, or the post is not the authors'."""
    roles: dict[str, str] = {}
    for venue_id in workspace.tables.venues("3-posts"):
        for batch in workspace.tables.batches("3-posts", venue_id, ["post_id", "role"]):
            pairs = zip(batch.column("post_id").to_pylist(), batch.column("role").to_pylist(), strict=True)
            roles |= {post_id: role for post_id, role in pairs if post_id in post_ids}
    unknown = {post_id: "no post of the workspace has this id" for post_id in post_ids if post_id not in roles}
    others = {
        post_id: f"it is not a post by the authors but by the role '{role}'"
        for post_id, role in roles.items()
        if role != Role.AUTHOR
    }
    return unknown | others
