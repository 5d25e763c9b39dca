"""Posts, and what a reviewer did to the review, in time order → turns: consecutive ones of one speaker are one."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from peercorpus.conversations.order import EPOCH
from peercorpus.kinds import Phase, Role, ScoreSource
from peercorpus.parts import in_reading_order, saying
from peercorpus.records import Post, Review, ScoreChange, Turn


@dataclass(frozen=True, slots=True)
class Deed:
    """What a reviewer did to the review once it stood: changed a score, or wrote the final justification.

    Attributes:
        at: When; None for a final justification of which no edit tells: a form asks for it when all is said.
        told_in: Id of the post that tells of it, where nothing else does.
    """

    reviewer: str
    at: datetime | None
    change: ScoreChange | None = None
    final_justification: str | None = None
    told_in: str | None = None


Item = Post | Deed
Group = tuple[Item, ...]


def speaker(item: Item) -> tuple[Role, str]:
    """Who speaks or acts."""
    return (item.role, item.signature) if isinstance(item, Post) else (Role.REVIEWER, item.reviewer)


def merge(groups: Iterable[Group]) -> list[Group]:
    """Neighbours of one speaker as one; merging what is merged changes nothing, in whatever steps it was done."""
    held = ((speaker(item), item) for group in groups for item in group)
    return [tuple(item for _, item in run) for _, run in groupby(held, key=lambda one: one[0])]


def _told_in(review: Review, change: ScoreChange, posts: Sequence[Post]) -> str | None:
    """The post in whose words a change was read; None where the review itself tells, or an edit."""
    words = {
        score.label
        for score in review.scores
        if (score.field, score.source, score.phase) == (change.field, ScoreSource.TEXT, Phase.INITIAL)
    }
    others = (post for post in posts if post.signature == review.reviewer and post.post_id != review.review_id)
    return next((post.post_id for post in others if any(said in post.text for said in words)), None)


def read_deeds(reviews: Iterable[Review], posts: Sequence[Post]) -> tuple[list[Deed], tuple[ScoreChange, ...]]:
    """What one reviewer did later, and the changes of scores of which nothing tells when.

    Args:
        reviews: Of one reviewer of a paper.
        posts: Of the conversation.
    """
    deeds: list[Deed] = []
    undated: list[ScoreChange] = []
    for review in sorted(reviews, key=lambda review: review.review_id):
        for change in review.score_changes:
            told_in = None if change.changed_at else _told_in(review, change, posts)
            if change.changed_at is None and told_in is None:
                undated.append(change)
            else:
                deeds.append(Deed(review.reviewer, change.changed_at, change, told_in=told_in))
        if review.final_justification is not None:
            deeds.append(Deed(review.reviewer, review.justified_at, final_justification=review.final_justification))
    return deeds, tuple(undated)


def with_deeds(posts: Sequence[Post], deeds: Iterable[Deed]) -> list[Item]:
    """Posts in time order, and each deed where it happened: at its time, behind the post that tells of it, or last."""
    items: list[Item] = list(posts)
    for deed in sorted(deeds, key=lambda deed: (deed.at is None, deed.at or EPOCH)):
        items.insert(_place(deed, items), deed)
    return items


def _place(deed: Deed, items: Sequence[Item]) -> int:
    for place, item in enumerate(items):
        if deed.told_in is not None and isinstance(item, Post) and item.post_id == deed.told_in:
            return place + 1
        if deed.at is not None and isinstance(item, Post) and (item.created_at or EPOCH) > deed.at:
            return place
    return len(items)


def as_turn(group: Group, orphans: Set[str] = frozenset()) -> Turn:
    """One turn of what one speaker posted and did.

    Args:
        group: Of one speaker, in time order.
        orphans: Ids of posts that answer one which is deleted, hidden or not held.
    """
    posts = in_reading_order([item for item in group if isinstance(item, Post)])
    deeds = [item for item in group if isinstance(item, Deed)]
    role, signature = speaker(group[0])
    times = [item.created_at if isinstance(item, Post) else item.at for item in group]
    silent = Turn(
        role=role,
        signature=signature,
        title=None,
        text="",
        created_at=times[0],
        post_ids=(),
        orphan_ids=tuple(post.post_id for post in posts if post.post_id in orphans),
        score_changes=tuple(deed.change for deed in deeds if deed.change is not None),
        final_justification="\n\n".join(deed.final_justification for deed in deeds if deed.final_justification) or None,
    )
    return saying(silent, posts)
