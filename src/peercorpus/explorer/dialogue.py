"""A conversation as it is read: its turns in order, and the responses to all where they became visible."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from peercorpus.chosen import first_and_last
from peercorpus.explorer.public_forums import PublicForum
from peercorpus.kinds import Aspect, Phase, Role
from peercorpus.records import ContextPost, Conversation, Post, Review, Score, ScoreChange, Turn

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Spoken:
    """One turn of a conversation.

    Attributes:
        anchor: The id of its place on the page.
        is_own: Whether the conversation's own reviewer speaks.
        now: Of a review that was changed since, what it says now; None where it is not known to differ.
    """

    anchor: str
    turn: Turn
    is_own: bool
    now: str | None


@dataclass(frozen=True, slots=True)
class ToAll:
    """A response to all reviewers, in its place; it is shown whole where it stands first."""

    post: Post
    beside: ContextPost
    is_first: bool


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The exchange with one reviewer.

    Attributes:
        before: The overall recommendation as first given; `after` as it stands now: None where that is not known.
        items: Turns and responses to all, in the order they are read in.
        undated: Changes of scores of which it is not known when they happened.
    """

    anchor: str
    reviewer: str
    before: Score | None
    after: Score | None
    items: Sequence[Spoken | ToAll]
    undated: Sequence[ScoreChange]

    @property
    def turns(self) -> int:
        """How many turns it has."""
        return sum(isinstance(item, Spoken) for item in self.items)


def anchors(names: Sequence[str], prefix: str) -> list[str]:
    """An id for each name, as they stand in addresses: letters, digits, `-` and `_`; no two are alike.

    >>> anchors(["Reviewer_AbCd", "a b", "a-b"], "conversation")
    ['conversation-Reviewer_AbCd', 'conversation-a-b', 'conversation-a-b.2']
    """
    taken: dict[str, int] = {}
    found = []
    for name in names:
        plain = f"{prefix}-{_UNFIT.sub('-', name)[:80].strip('-') or 'unnamed'}"
        taken[plain] = taken.get(plain, 0) + 1
        found.append(plain if taken[plain] == 1 else f"{plain}.{taken[plain]}")
    return found


def dialogues(forum: PublicForum) -> list[Dialogue]:
    """The conversations of a paper, in the order of their reviewers' first words."""
    talks = sorted(forum.conversations, key=lambda talk: _began(talk))
    seen: set[str] = set()
    places = anchors([talk.reviewer for talk in talks], "conversation")
    return [_dialogue(talk, place, forum, seen) for talk, place in zip(talks, places, strict=True)]


def _began(talk: Conversation) -> tuple[bool, str, str]:
    first = talk.turns[0].created_at if talk.turns else None
    return first is None, first.isoformat() if first else "", talk.reviewer


def _dialogue(talk: Conversation, place: str, forum: PublicForum, seen: set[str]) -> Dialogue:
    turn_places = anchors([turn.post_ids[0] if turn.post_ids else "change" for turn in talk.turns], f"{place}-turn")
    items: list[Spoken | ToAll] = []
    for index, (turn, turn_place) in enumerate(zip(talk.turns, turn_places, strict=True)):
        items += _beside(talk, index, forum, seen)
        is_own = turn.role is Role.REVIEWER and turn.signature == talk.reviewer
        items.append(Spoken(turn_place, turn, is_own, _now(turn, forum)))
    for index_after in (len(talk.turns), None):
        items += _beside(talk, index_after, forum, seen)
    own = next((review for review in forum.reviews if review.reviewer == talk.reviewer), None)
    scores, revised = (own.scores, own.revised) if own else ((), None)
    before, after = first_and_last(scores, Aspect.RECOMMENDATION, "rating", revised=revised)
    return Dialogue(place, talk.reviewer, before, after, items, talk.undated_changes)


def _beside(talk: Conversation, index: int | None, forum: PublicForum, seen: set[str]) -> Iterator[ToAll]:
    for beside in talk.context:
        if beside.before_turn == index and beside.post_id in forum.by_id:
            yield ToAll(forum.by_id[beside.post_id], beside, beside.post_id not in seen)
            seen.add(beside.post_id)


def _now(turn: Turn, forum: PublicForum) -> str | None:
    posts = [forum.by_id[post_id] for post_id in turn.post_ids if post_id in forum.by_id]
    changed = [post.text for post in posts if post.initial_text is not None and post.initial_text != post.text]
    return "\n\n".join(changed) or None


@dataclass(frozen=True, slots=True)
class Cell:
    """One score of one review: as first given where that is known to differ, and as it stands now."""

    before: str | None
    after: str
    label: str


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The scores of a paper's reviews.

    Attributes:
        columns: The form's own names with their scales.
        rows: A reviewer's name and cells, None where the review has no such score.
    """

    columns: Sequence[tuple[str, str]]
    rows: Sequence[tuple[str, Sequence[Cell | None]]]


def score_table(reviews: Sequence[Review]) -> ScoreTable:
    """All scores of all reviews; the overall recommendation comes first."""
    scores = [score for review in reviews for score in review.scores]
    ranked = sorted(scores, key=lambda score: score.aspect is not Aspect.RECOMMENDATION)
    names = list(dict.fromkeys(score.field for score in ranked))
    scales = {
        score.field: f"{score.low:g} to {score.high:g}" for score in scores if None not in (score.low, score.high)
    }
    rows = [(review.reviewer, [_cell(review, name) for name in names]) for review in reviews]
    return ScoreTable([(name, scales.get(name, "")) for name in names], rows)


def _cell(review: Review, field: str) -> Cell | None:
    given = {score.phase: score for score in review.scores if score.field == field}
    first, last = given.get(Phase.INITIAL), given.get(Phase.FINAL)
    now = last or first
    if now is None:
        return None
    before = _told(first) if first and last and _told(first) != _told(last) else None
    return Cell(before, _told(now), now.label)


def _told(score: Score) -> str:
    return score.label if score.value is None else f"{score.value:g}"
