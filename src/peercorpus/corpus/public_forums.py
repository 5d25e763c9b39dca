"""Reduce forums to what may be shown: without hidden, deleted or taken-down posts.

There are two steps: `PublicFilter` removes what the take-down list names, and `keep_public` what is not public.
Removing a post also removes what was derived from it: turns of conversations, scores read from its text, decisions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

from peercorpus.corpus.forums import PARTS, SPOKEN, Forum, VenueForums, is_public, read_forum
from peercorpus.corpus.takedown import NOTHING, Takedown
from peercorpus.discussion.multipart import merge_fields, merge_titles
from peercorpus.discussion.until_decision import decides, forget_decision_in
from peercorpus.records.ai_reviews import AiReview, select_public
from peercorpus.records.documents import Change
from peercorpus.records.enums import PostKind, Role, ScoreSource, Status
from peercorpus.records.papers import Conflict, Paper, PaperVersion, forget_year_of_decision
from peercorpus.records.points import Point
from peercorpus.records.reviews import Conversation, Post, Review, Turn, forget_decision
from peercorpus.records.scores import ScoreChange
from peercorpus.workspace.delta_tables import Tables

CountTexts = Callable[[Forum], Counter[str]]
"""Counts the texts that are made from a forum, by kind."""


@dataclass(slots=True)
class PublicFilter:
    """Removes from forums what is taken down, and counts the removed records.

    Attributes:
        by_venue: Number of records removed so far, by venue and kind (`takedown.RECORDS`).
    """

    takedown: Takedown = NOTHING
    by_venue: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def taken(self) -> Counter[str]:
        """Number of records removed so far, by kind."""
        return sum(self.by_venue.values(), Counter())

    def through(self, forums: Iterable[Forum], count_texts: CountTexts | None = None) -> Iterator[Forum]:
        """Yield the forums whose paper is not taken down, each without records that are; arguments as for `sift`."""
        for forum in forums:
            kept = self.sift(forum, count_texts)
            if kept is not None:
                yield kept

    def sift(self, forum: Forum, count_texts: CountTexts | None = None) -> Forum | None:
        """Return a forum without the records that are taken down, or None if its paper is.

        `count_texts` counts the texts of a forum that would be published; None does not count texts.
        """
        kept = None if forum.paper.forum_id in self.takedown.forums else self._remove_records(forum)
        removed = Counter(papers=int(kept is None))
        for name in PARTS:
            removed[name] = len(getattr(forum, name)) - len(getattr(kept, name, ()))
        if count_texts is not None and removed["versions"]:
            removed += count_texts(forum) - (count_texts(kept) if kept else Counter())
        venue_id = forum.paper.venue_id
        self.by_venue[venue_id] = self.by_venue.get(venue_id, Counter()) + removed
        return kept

    def _remove_records(self, forum: Forum) -> Forum:
        gone_ids = self.takedown.posts
        forum = replace(
            forum,
            versions=[version for version in forum.versions if version.sha256 not in self.takedown.files],
            ai_reviews=_remove_ai_reviews(forum.ai_reviews, gone_ids),
            links=self.takedown.keep_links(forum.links),
        )
        gone = [post for post in forum.posts if post.post_id in gone_ids]
        if not gone and gone_ids.isdisjoint(review.review_id for review in forum.reviews):
            return forum
        posts = [post for post in forum.posts if post.post_id not in gone_ids]
        reviews = [_remove_text_scores(review, gone) for review in forum.reviews if review.review_id not in gone_ids]
        paper = _remove_decision(forum.paper, gone, posts)
        decided = [post for post in posts if decides(post, paper.decided_at)]
        talks = [
            _remove_posts(_remove_unsourced_turns(talk, gone), gone_ids, posts, reviews, decided)
            for talk in forum.conversations
        ]
        if paper.decided_at != forum.paper.decided_at:
            reviews = [forget_decision(review) for review in reviews]
            posts = [replace(post, posted_after_decision=None) for post in posts]
            talks = [forget_decision_in(talk) for talk in talks]
        return replace(
            forum,
            paper=_keep_conflicts(paper, reviews),
            reviews=reviews,
            posts=posts,
            conversations=[talk for talk in talks if talk.turns],
        )


def _remove_ai_reviews(reviews: Sequence[AiReview], gone: frozenset[str]) -> list[AiReview]:
    """Return the reviews of an AI that are not taken down, without the replies that are."""
    return [
        replace(review, replies=tuple(reply for reply in review.replies if reply.post_id not in gone))
        for review in reviews
        if review.ai_review_id not in gone
    ]


def count_taken(tables: Tables, takedown: Takedown) -> Counter[str]:
    """Count the records that a release of all venues leaves out, by kind; versions and texts are not counted."""
    sieve = PublicFilter(takedown)
    for forum_id, venue_id in takedown.venues:
        forum = read_forum(tables, venue_id, forum_id)
        if forum is not None:
            sieve.sift(forum)
    removed = sieve.taken
    del removed["versions"]
    return removed


_TABLES_READ = (
    *("1-papers", "2-ai-reviews", "2-reviews", "3-posts", "4-versions", "5-texts", "6-conversations", "9-points"),
)


def read_contents(tables: Tables, venue_id: str) -> dict[str, str]:
    """Return a digest of a venue's rows for each table with public records, texts or points."""
    return {name: tables.content(name, venue_id) for name in _TABLES_READ}


def _keep_conflicts(paper: Paper, reviews: Sequence[Review]) -> Paper:
    """Return a paper with only those conflicts that concern what it still has, and these reviews."""
    if not paper.conflicts:
        return paper
    reviewers = {review.reviewer for review in reviews}
    return replace(paper, conflicts=tuple(one for one in paper.conflicts if _is_about(one, paper, reviewers)))


def _is_about(conflict: Conflict, paper: Paper, reviewers: Set[str]) -> bool:
    if conflict.field == "reviewer":
        return conflict.kept in reviewers
    if hasattr(paper, conflict.field):
        return getattr(paper, conflict.field) not in (None, Status.UNKNOWN)
    return conflict.field.rpartition(" of ")[2] in reviewers


def _remove_decision(paper: Paper, gone: Sequence[Post], posts: Sequence[Post]) -> Paper:
    """Return a paper without the decision and comment that were known only from posts taken down."""
    spoken = [post for post in gone if post.kind in SPOKEN]
    if not spoken:
        return paper
    is_stated = any(post.kind in SPOKEN for post in posts) and all(
        post.kind is not PostKind.DECISION for post in spoken
    )
    comment = paper.decision_comment
    keeps_comment = comment is not None and is_stated and all(comment not in post.text for post in spoken)
    return replace(
        paper if is_stated else forget_year_of_decision(paper),
        decision=paper.decision if is_stated else None,
        decided_at=paper.decided_at if is_stated else None,
        decision_comment=comment if keeps_comment else None,
    )


def _remove_text_scores(review: Review, gone: Sequence[Post]) -> Review:
    """Return a review without the scores and changes that were read from posts taken down."""
    is_recommended = any(post.kind is PostKind.RECOMMENDATION and post.signature == review.reviewer for post in gone)
    removed = [
        score
        for score in review.scores
        if (score.source is ScoreSource.TEXT and any(score.label in post.text for post in gone))
        or (score.source is ScoreSource.RECOMMENDATION and is_recommended)
    ]
    fields = {score.field for score in removed}
    return replace(
        review,
        scores=tuple(score for score in review.scores if score not in removed),
        score_changes=tuple(
            change
            for change in review.score_changes
            if change.source is not ScoreSource.TEXT
            or (change.field not in fields and not any((change.words or "\0") in post.text for post in gone))
        ),
    )


def _remove_unsourced_turns(talk: Conversation, gone: Sequence[Post]) -> Conversation:
    """Return a conversation without the turns that name no post, if a post by the same side is taken down.

    Such a turn may contain the text of the post.
    """
    lost = {post.role for post in gone if post.role is Role.AUTHOR or post.signature == talk.reviewer}
    turns = tuple(turn for turn in talk.turns if turn.post_ids or not turn.text or turn.role not in lost)
    return talk if len(turns) == len(talk.turns) else replace(talk, turns=turns)


def _remove_posts(
    talk: Conversation,
    gone: frozenset[str],
    posts: Sequence[Post],
    reviews: Sequence[Review],
    decisions: Sequence[Post],
) -> Conversation:
    """Return a conversation without some posts, and without the score changes and justifications made in them.

    `posts` and `reviews` are those that remain, and `decisions` the remaining posts with a decision.
    """
    own = [review for review in reviews if review.reviewer == talk.reviewer]
    changes = {change for review in own for change in review.score_changes}
    justified = [review.final_justification for review in own if review.final_justification]
    kept = {post.post_id: post for post in posts}
    turns: list[Turn] = []
    new_index = [0]
    ends = _TurnEnds(talk, gone, decisions)
    last = 0
    for index, turn in enumerate(talk.turns):
        rebuilt = _rebuild_turn(_keep_changes(turn, changes, justified), gone, kept)
        is_same = rebuilt is not None and bool(turns) and _are_joined(turns[-1], rebuilt)
        if rebuilt is not None and is_same and not ends.are_between(turns[-1], rebuilt, range(last + 1, index + 1)):
            turns[-1] = _join_turns(turns[-1], rebuilt, kept)
        elif rebuilt is not None:
            turns.append(rebuilt)
        last = last if rebuilt is None else index
        new_index.append(len(turns))
    context = tuple(
        beside if beside.before_turn is None else replace(beside, before_turn=new_index[beside.before_turn])
        for beside in talk.context
        if beside.post_id not in gone
    )
    undated = tuple(change for change in talk.undated_changes if change in changes)
    return replace(talk, turns=tuple(turns), context=context, undated_changes=undated)


class _TurnEnds:
    """Find what still separates two turns of one speaker after posts were removed.

    This is a response to all reviewers, or the decision.
    """

    def __init__(self, talk: Conversation, gone: frozenset[str], decisions: Sequence[Post]) -> None:
        self._places = {beside.before_turn for beside in talk.context if beside.post_id not in gone}
        self._times = [post.created_at for post in decisions if post.created_at is not None]

    def are_between(self, first: Turn, second: Turn, places: range) -> bool:
        """Return whether two turns of one speaker are separated; a response to all never ends a turn of the authors.

        `places` are the indices of turns before which a response would separate the two.
        """
        if second.role is not Role.AUTHOR and not self._places.isdisjoint(places):
            return True
        start, end = first.created_at, second.created_at
        return start is not None and end is not None and any(start <= time < end for time in self._times)


def _are_joined(first: Turn, second: Turn) -> bool:
    """Return whether neighbouring turns are one: they have the same speaker, and neither is a reminder."""
    is_same_speaker = (first.role, first.signature) == (second.role, second.signature)
    return is_same_speaker and not first.is_reminder and not second.is_reminder


def _keep_changes(turn: Turn, changes: set[ScoreChange], justified: Sequence[str]) -> Turn:
    """Return a turn with only those score changes and justifications that a remaining review has."""
    justification = turn.final_justification
    return replace(
        turn,
        score_changes=tuple(change for change in turn.score_changes if change in changes),
        final_justification="\n\n".join(text for text in justified if justification and text in justification) or None,
    )


def _rebuild_turn(turn: Turn, gone: frozenset[str], kept: dict[str, Post]) -> Turn | None:
    """Return a turn made of the remaining posts, or None if nothing is left of it."""
    orphans = tuple(
        post_id
        for post_id in turn.post_ids
        if post_id in turn.orphan_ids or (post_id in kept and kept[post_id].reply_to in gone)
    )
    left = tuple(post_id for post_id in turn.post_ids if post_id not in gone)
    turn = replace(turn, orphan_ids=tuple(post_id for post_id in orphans if post_id in left))
    if len(left) == len(turn.post_ids):
        is_empty = not (turn.post_ids or turn.text or turn.score_changes or turn.final_justification)
        return None if is_empty else turn
    if not left and not turn.score_changes and not turn.final_justification:
        return None
    # A post that the tables do not have adds no text.
    posts = [kept[post_id] for post_id in left if post_id in kept]
    times = [post.created_at for post in posts if post.created_at is not None]
    return replace(turn, created_at=min(times, default=turn.created_at), **merge_fields(posts))


def _join_turns(first: Turn, second: Turn, kept: dict[str, Post]) -> Turn:
    """Return two turns of one speaker as one, after the turn between them was removed."""
    title = merge_titles([kept[post_id] for post_id in (*first.post_ids, *second.post_ids) if post_id in kept])
    justified = [text for text in (first.final_justification, second.final_justification) if text]
    return replace(
        first,
        title=title or first.title or second.title,
        text="\n\n".join(text for text in (first.text, second.text) if text),
        post_ids=first.post_ids + second.post_ids,
        holds_update=first.holds_update or second.holds_update,
        titles=first.titles + second.titles,
        orphan_ids=first.orphan_ids + second.orphan_ids,
        moved=first.moved + second.moved,
        score_changes=first.score_changes + second.score_changes,
        final_justification="\n\n".join(justified) or None,
        posted_after_decision=first.posted_after_decision or second.posted_after_decision,
    )


@dataclass(frozen=True)
class PublicForum(Forum):
    """One paper with those of its records that may be shown.

    Attributes:
        points: The points of its reviews, where they are read.
        changes: The changes between its versions, where they are read.
    """

    points: Sequence[Point] = ()
    changes: Sequence[Change] = ()

    @cached_property
    def by_id(self) -> dict[str, Post]:
        """The posts by id."""
        return {post.post_id: post for post in self.posts}

    @property
    def initial(self) -> PaperVersion | None:
        """The version with the best grade, or None if no version has one."""
        graded = [(version.grade.rank, version) for version in self.versions if version.grade is not None]
        return min(graded, key=itemgetter(0), default=(0, None))[1]

    def spoken(self) -> list[Post]:
        """Return meta-reviews and decisions, oldest first."""
        return _sort_by_time([post for post in self.posts if post.kind in SPOKEN])

    def versions_in_time(self) -> list[PaperVersion]:
        """Return the versions, oldest first; those without a date come last."""
        return sorted(
            self.versions, key=lambda version: (version.created_at is None, version.created_at, version.edit_id)
        )

    def others(self) -> list[Post]:
        """Return the posts outside conversations that are not a review, meta-review or decision, oldest first."""
        shown = {post_id for talk in self.conversations for turn in talk.turns for post_id in turn.post_ids}
        shown |= {beside.post_id for talk in self.conversations for beside in talk.context}
        reviewers = {talk.reviewer for talk in self.conversations}
        shown |= {review.review_id for review in self.reviews if review.reviewer in reviewers}
        return _sort_by_time([post for post in self.posts if post.post_id not in shown and post.kind not in SPOKEN])

    @property
    def has_rebuttal(self) -> bool:
        """Whether the authors replied to a review, or to all reviews at once."""
        return any(talk.context or any(turn.role is Role.AUTHOR for turn in talk.turns) for talk in self.with_reviewers)

    @cached_property
    def with_reviewers(self) -> Sequence[Conversation]:
        """The conversations with reviewers."""
        return [talk for talk in self.conversations if talk.is_with_reviewer]


def _sort_by_time(posts: Sequence[Post]) -> list[Post]:
    return sorted(posts, key=lambda post: (post.created_at is None, post.created_at, post.post_id))


def keep_public(forum: Forum) -> PublicForum:
    """Return the public part of a forum; take-downs must already have been applied (`PublicFilter`)."""
    public = forum.public_post_ids
    posts = forum.public_posts
    talks = [
        replace(talk, context=tuple(beside for beside in talk.context if beside.post_id in public))
        for talk in forum.conversations
        if is_public(talk, public)
    ]
    reviews = [review for review in forum.reviews if review.readers_public and not review.deleted]
    hidden: dict[str, Any] = dict.fromkeys(forum.withheld)
    paper = forum.paper
    if "decided_at" in hidden:
        paper = forget_year_of_decision(paper)
        reviews = [forget_decision(review) for review in reviews]
        posts = [replace(post, posted_after_decision=None) for post in posts]
        talks = [forget_decision_in(talk) for talk in talks]
    if "status" in hidden:
        hidden["status"] = Status.UNKNOWN
    return PublicForum(
        paper=_keep_conflicts(replace(paper, **hidden), reviews),
        reviews=reviews,
        posts=posts,
        versions=forum.versions,
        conversations=talks,
        ai_reviews=select_public(forum.ai_reviews),
        links=forum.links,
        set_aside=forum.set_aside,
    )


def public_forums(tables: Tables, takedown: Takedown, venue_id: str) -> Iterator[PublicForum]:
    """Yield the parts of a venue's forums that may be shown, one forum at a time."""
    return map(keep_public, PublicFilter(takedown).through(VenueForums(tables, venue_id)))
