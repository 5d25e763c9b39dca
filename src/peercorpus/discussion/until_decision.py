"""Determine which posts came after the decision on a paper, and cut conversations there."""

from dataclasses import replace
from datetime import datetime
from itertools import takewhile

from peercorpus.records.enums import PostKind
from peercorpus.records.reviews import Conversation, Post


def is_after(made_at: datetime | None, decided_at: datetime | None) -> bool | None:
    """Return whether something was posted after the decision; None if either time is unknown."""
    return None if made_at is None or decided_at is None else made_at > decided_at


def decides(post: Post, decided_at: datetime | None) -> bool:
    """Return whether a post is a decision, or the meta-review that serves as one, as at some venues of API v1."""
    if post.kind is PostKind.META_REVIEW:
        return decided_at is not None and post.created_at == decided_at
    return post.kind is PostKind.DECISION


def cut_at_decision(conversation: Conversation) -> Conversation:
    """Return a conversation without the first turn posted after the decision and all later ones.

    Responses to all reviewers that were posted after the decision are left out as well. The indices of all other turns
    are unchanged. A conversation without any known time stays whole.
    """
    turns = tuple(takewhile(lambda turn: turn.posted_after_decision is not True, conversation.turns))
    context = tuple(beside for beside in conversation.context if beside.posted_after_decision is not True)
    return replace(conversation, turns=turns, context=context)


def count_after_decision(conversation: Conversation) -> int:
    """Return how many turns and responses to all reviewers `cut_at_decision` leaves out."""
    kept = cut_at_decision(conversation)
    turns = len(conversation.turns) - len(kept.turns)
    return turns + len(conversation.context) - len(kept.context)


def forget_decision_in(conversation: Conversation) -> Conversation:
    """Return a conversation without anything that reveals when the decision was posted."""
    return replace(
        conversation,
        turns=tuple(replace(turn, posted_after_decision=None) for turn in conversation.turns),
        context=tuple(replace(beside, posted_after_decision=None) for beside in conversation.context),
    )
