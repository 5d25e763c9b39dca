"""Merge the posts and actions of a conversation into turns, in time order."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from peercorpus.discussion.multipart import merge_fields, sort_by_reading_order
from peercorpus.discussion.replies import EPOCH
from peercorpus.discussion.until_decision import is_after
from peercorpus.records.enums import Phase, Role, ScoreSource
from peercorpus.records.reviews import Post, Review, Turn
from peercorpus.records.scores import ScoreChange


@dataclass(frozen=True, slots=True)
class ReviewerAction:
    """A later change to a review: a changed score, or the final justification.

    Attributes:
        at: Time; None for a final justification without a visible edit, which comes last, but before the decision.
        reported_in: Id of the post that reports it, if nothing else does.
    """

    reviewer: str
    at: datetime | None
    change: ScoreChange | None = None
    final_justification: str | None = None
    reported_in: str | None = None


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A public post outside the conversation that ends a turn: a response to all, or the decision."""

    post_id: str
    at: datetime | None
    is_decision: bool = False


Item = Post | ReviewerAction | TurnEnd
Group = tuple[Item, ...]
Speaker = tuple[Role, str] | None


def find_speaker(item: Item) -> Speaker:
    """Return the role and name of the person who posts or acts; None for the end of a turn."""
    if isinstance(item, TurnEnd):
        return None
    return (item.role, item.signature) if isinstance(item, Post) else (Role.REVIEWER, item.reviewer)


def read_time(item: Item) -> datetime | None:
    """Return the time of a post or action, or None if unknown."""
    return item.created_at if isinstance(item, Post) else item.at


def drop_idle_ends(items: Iterable[Item]) -> list[Item]:
    """Return the items without ends that come first or follow an author's post, unless they are decisions.

    The authors themselves respond to all: their posts before and after that are one turn.
    """
    kept: list[Item] = []
    speaker: Speaker = None
    for item in items:
        is_idle = isinstance(item, TurnEnd) and not item.is_decision and (speaker is None or speaker[0] is Role.AUTHOR)
        if not is_idle:
            kept.append(item)
        speaker = find_speaker(item) or speaker
    return kept


def merge_turns(groups: Iterable[Group], reminders: Set[str] = frozenset()) -> list[Group]:
    """Merge neighbouring groups of the same speaker, in time order; reminders are turns of their own."""

    def find_key(item: Item) -> tuple[Speaker, str | None]:
        alone = item.post_id if isinstance(item, Post) and item.post_id in reminders else None
        return find_speaker(item), alone

    return [tuple(run) for _, run in groupby((item for group in groups for item in group), key=find_key)]


def _find_reporting_post(review: Review, change: ScoreChange, posts: Sequence[Post]) -> str | None:
    """Return the id of the post that reports a change, or None if the review itself or an edit shows it."""
    words = {
        score.label
        for score in review.scores
        if (score.field, score.source, score.phase) == (change.field, ScoreSource.TEXT, Phase.INITIAL)
    }
    words |= {change.words} if change.words else set()
    others = (post for post in posts if post.signature == review.reviewer and post.post_id != review.review_id)
    return next((post.post_id for post in others if any(claim in post.text for claim in words)), None)


def read_actions(
    reviews: Iterable[Review], posts: Sequence[Post]
) -> tuple[list[ReviewerAction], tuple[ScoreChange, ...]]:
    """Return one reviewer's later actions, and the changes of scores at unknown times; others' edits are neither."""
    deeds: list[ReviewerAction] = []
    undated: list[ScoreChange] = []
    for review in sorted(reviews, key=lambda review: review.review_id):
        for change in (change for change in review.score_changes if not change.is_by_others):
            reported_in = None if change.changed_at else _find_reporting_post(review, change, posts)
            if change.changed_at is None and reported_in is None:
                undated.append(change)
            else:
                deeds.append(ReviewerAction(review.reviewer, change.changed_at, change, reported_in=reported_in))
        if review.final_justification is not None:
            deeds.append(
                ReviewerAction(review.reviewer, review.justified_at, final_justification=review.final_justification)
            )
    return deeds, tuple(undated)


def insert_actions(posts: Sequence[Item], deeds: Iterable[ReviewerAction]) -> list[Item]:
    """Return posts and ends of turns with each action inserted at its time, after the post reporting it, or last."""
    items: list[Item] = list(posts)
    for deed in sorted(deeds, key=lambda deed: (deed.at is None, deed.at or EPOCH)):
        items.insert(_find_position(deed, items), deed)
    return items


def _find_position(deed: ReviewerAction, items: Sequence[Item]) -> int:
    """Return the index for an action; without a time it is last, but before the decision, as forms ask for it then."""
    for index, item in enumerate(items):
        if deed.reported_in is not None and isinstance(item, Post) and item.post_id == deed.reported_in:
            return index + 1
        if deed.at is not None and not isinstance(item, ReviewerAction) and (read_time(item) or EPOCH) > deed.at:
            return index
        if deed.at is None and deed.reported_in is None and isinstance(item, TurnEnd) and item.is_decision:
            return index
    return len(items)


def _comes_after_decision(group: Group, decided_at: datetime | None) -> bool | None:
    """Return whether part of a turn came after the decision; None if none is known to and some times are unknown."""
    known = {
        item.posted_after_decision if isinstance(item, Post) else is_after(read_time(item), decided_at)
        for item in group
        if isinstance(item, Post) or read_time(item) is not None
    }
    if True in known:
        return True
    return False if known == {False} else None


def build_turn(
    group: Group, orphans: Set[str] = frozenset(), decided_at: datetime | None = None, reminders: Set[str] = frozenset()
) -> Turn:
    """Return one turn from the posts and actions of one speaker."""
    posts = sort_by_reading_order([item for item in group if isinstance(item, Post)])
    deeds = [item for item in group if isinstance(item, ReviewerAction)]
    role, signature = find_speaker(group[0]) or (Role.UNKNOWN, "")
    return Turn(
        role=role,
        signature=signature,
        created_at=read_time(next((item for item in group if isinstance(item, Post)), group[0])),
        orphan_ids=tuple(post.post_id for post in posts if post.post_id in orphans),
        score_changes=tuple(deed.change for deed in deeds if deed.change is not None),
        final_justification="\n\n".join(deed.final_justification for deed in deeds if deed.final_justification) or None,
        posted_after_decision=_comes_after_decision(group, decided_at),
        is_reminder=any(post.post_id in reminders for post in posts),
        **merge_fields(posts),
    )
