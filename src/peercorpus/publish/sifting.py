"""A forum without what was taken down of it: a turn that held such a post is built again from the posts that stay."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from peercorpus.kinds import PostKind, Role, ScoreSource
from peercorpus.parts import saying, title_of
from peercorpus.publish.forums import SPOKEN, Forum, read_forum
from peercorpus.publish.takedown import NOTHING, Takedown
from peercorpus.records import ContextPost, Conversation, Paper, Post, Review, ScoreChange, Turn
from peercorpus.tables import Tables


@dataclass(slots=True)
class Sieve:
    """Lets through what is not taken down, and counts the rest.

    Attributes:
        by_venue: Records taken out so far, by venue and kind: papers, reviews, posts, versions, conversations.
    """

    takedown: Takedown = NOTHING
    by_venue: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def taken(self) -> Counter[str]:
        """Records taken out so far, by kind."""
        return sum(self.by_venue.values(), Counter())

    def through(self, forums: Iterable[Forum]) -> Iterator[Forum]:
        """The forums that may be shown, each without what is taken down of it."""
        for forum in forums:
            kept = self.sift(forum)
            if kept is not None:
                yield kept

    def sift(self, forum: Forum) -> Forum | None:
        """What may be shown of a forum; None where its paper is taken down."""
        kept = None if forum.paper.forum_id in self.takedown.forums else self._kept(forum)
        taken = Counter(
            papers=int(kept is None),
            reviews=len(forum.reviews) - len(kept.reviews if kept else ()),
            posts=len(forum.posts) - len(kept.posts if kept else ()),
            versions=len(forum.versions) - len(kept.versions if kept else ()),
            conversations=len(forum.conversations) - len(kept.conversations if kept else ()),
        )
        venue_id = forum.paper.venue_id
        self.by_venue[venue_id] = self.by_venue.get(venue_id, Counter()) + taken
        return kept

    def _kept(self, forum: Forum) -> Forum:
        versions = [version for version in forum.versions if version.sha256 not in self.takedown.files]
        forum = replace(forum, versions=versions)
        gone_ids = self.takedown.posts
        gone = [post for post in forum.posts if post.post_id in gone_ids]
        if not gone and gone_ids.isdisjoint(review.review_id for review in forum.reviews):
            return forum
        posts = [post for post in forum.posts if post.post_id not in gone_ids]
        reviews = [_without_words(review, gone) for review in forum.reviews if review.review_id not in gone_ids]
        talks = [_without(_traced(talk, gone), gone_ids, posts, reviews) for talk in forum.conversations]
        paper, spoken = _undecided(forum.paper, gone, posts), [talk for talk in talks if talk.turns]
        return Forum(paper, reviews, posts, versions, spoken)


def count_taken(tables: Tables, takedown: Takedown) -> Counter[str]:
    """The records that a release of all venues leaves out, by kind, without the versions."""
    sieve = Sieve(takedown)
    for forum_id, venue_id in takedown.venues:
        forum = read_forum(tables, venue_id, forum_id)
        if forum is not None:
            sieve.sift(forum)
    taken = sieve.taken
    del taken["versions"]
    return taken


def _undecided(paper: Paper, gone: Sequence[Post], posts: Sequence[Post]) -> Paper:
    """A paper without the decision and comment that stood in posts taken down."""
    spoken = [post for post in gone if post.kind in SPOKEN]
    if not spoken:
        return paper
    is_stated = any(post.kind in SPOKEN for post in posts) and all(
        post.kind is not PostKind.DECISION for post in spoken
    )
    said = paper.decision_comment
    is_said = said is not None and is_stated and all(said not in post.text for post in spoken)
    return replace(
        paper,
        decision=paper.decision if is_stated else None,
        decided_at=paper.decided_at if is_stated else None,
        decision_comment=said if is_said else None,
    )


def _without_words(review: Review, gone: Sequence[Post]) -> Review:
    """A review without the scores that were read in the words of posts taken down."""
    told = [
        score
        for score in review.scores
        if score.source is ScoreSource.TEXT and any(score.label in post.text for post in gone)
    ]
    fields = {score.field for score in told}
    return replace(
        review,
        scores=tuple(score for score in review.scores if score not in told),
        score_changes=tuple(
            one for one in review.score_changes if one.source is not ScoreSource.TEXT or one.field not in fields
        ),
    )


def _traced(talk: Conversation, gone: Sequence[Post]) -> Conversation:
    """A conversation without turns that name no posts, where one of their side is taken down: they may be its words."""
    lost = {post.role for post in gone if post.role is Role.AUTHOR or post.signature == talk.reviewer}
    turns = tuple(turn for turn in talk.turns if turn.post_ids or not turn.text or turn.role not in lost)
    return talk if len(turns) == len(talk.turns) else replace(talk, turns=turns)


def _without(
    talk: Conversation, gone: frozenset[str], posts: Sequence[Post], reviews: Sequence[Review]
) -> Conversation:
    """A conversation without some posts, and without what their writers did in them."""
    own = [review for review in reviews if review.reviewer == talk.reviewer]
    changes = {change for review in own for change in review.score_changes}
    justified = [review.final_justification for review in own if review.final_justification]
    stay = {post.post_id: post for post in posts}
    turns: list[Turn] = []
    begun = [0]
    for turn in talk.turns:
        rebuilt = _rebuilt(_undone(turn, changes, justified), gone, stay)
        if rebuilt is not None and turns and _speaker(turns[-1]) == _speaker(rebuilt):
            turns[-1] = _joined(turns[-1], rebuilt, stay)
        elif rebuilt is not None:
            turns.append(rebuilt)
        begun.append(len(turns))
    context = tuple(_moved(beside, begun) for beside in talk.context if beside.post_id not in gone)
    undated = tuple(change for change in talk.undated_changes if change in changes)
    return replace(talk, turns=tuple(turns), context=context, undated_changes=undated)


def _speaker(turn: Turn) -> tuple[str, str]:
    return turn.role.value, turn.signature


def _moved(beside: ContextPost, begun: Sequence[int]) -> ContextPost:
    return beside if beside.before_turn is None else replace(beside, before_turn=begun[beside.before_turn])


def _undone(turn: Turn, changes: set[ScoreChange], justified: Sequence[str]) -> Turn:
    """A turn without what a review that is gone said in its fields."""
    said = turn.final_justification
    return replace(
        turn,
        score_changes=tuple(change for change in turn.score_changes if change in changes),
        final_justification="\n\n".join(one for one in justified if said and one in said) or None,
    )


def _rebuilt(turn: Turn, gone: frozenset[str], stay: dict[str, Post]) -> Turn | None:
    """A turn of the posts that stay; None where nothing is left of it."""
    orphans = tuple(
        post_id
        for post_id in turn.post_ids
        if post_id in turn.orphan_ids or (post_id in stay and stay[post_id].reply_to in gone)
    )
    left = tuple(post_id for post_id in turn.post_ids if post_id not in gone)
    turn = replace(turn, orphan_ids=tuple(post_id for post_id in orphans if post_id in left))
    if len(left) == len(turn.post_ids):
        is_empty = not (turn.post_ids or turn.text or turn.score_changes or turn.final_justification)
        return None if is_empty else turn
    if not left and not turn.score_changes and not turn.final_justification:
        return None
    return _of_posts(turn, left, stay)


def _of_posts(turn: Turn, post_ids: tuple[str, ...], stay: dict[str, Post]) -> Turn:
    """A turn as it is made of these posts alone; one that the tables do not hold gives no words."""
    posts = [stay[post_id] for post_id in post_ids if post_id in stay]
    times = [post.created_at for post in posts if post.created_at is not None]
    return saying(replace(turn, created_at=min(times, default=turn.created_at)), posts)


def _joined(first: Turn, second: Turn, stay: dict[str, Post]) -> Turn:
    """Two turns of one speaker between which another one stood."""
    title = title_of([stay[post_id] for post_id in (*first.post_ids, *second.post_ids) if post_id in stay])
    justified = [one for one in (first.final_justification, second.final_justification) if one]
    return replace(
        first,
        title=title or first.title or second.title,
        text="\n\n".join(text for text in (first.text, second.text) if text),
        post_ids=first.post_ids + second.post_ids,
        holds_update=first.holds_update or second.holds_update,
        titles=first.titles + second.titles,
        orphan_ids=first.orphan_ids + second.orphan_ids,
        score_changes=first.score_changes + second.score_changes,
        final_justification="\n\n".join(justified) or None,
    )
