"""Split every review into points and join each to its answers, reaction and changes: the stage `find_points`."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import merge as merge_sorted
from itertools import groupby, islice
from operator import attrgetter

from peercorpus.corpus.points import TABLE
from peercorpus.criticism.answers import ReviewPoint, find_answers, make_matcher, read_replies
from peercorpus.criticism.kinds import content_words, read_words, split_words
from peercorpus.criticism.matching import Place, find_places
from peercorpus.criticism.split import split_text
from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Executor, Failure
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Balance, ProgressCallback, Stage
from peercorpus.points.resolution import DIGEST, LaterWords, Verdict, find_reactions
from peercorpus.records.documents import Change
from peercorpus.records.enums import Reason, Role
from peercorpus.records.points import CRITICAL_KINDS, ChangeSign, Point, PointAnswer, PointChange
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.workspace.workspace import Workspace

PROMISE = re.compile(
    r"\b(?:we|have|has|was|were|been|is|are|now)\b[^.!?]{0,60}?\b(?:add(?:ed)?|adding|include[sd]?|including|revised?"
    r"|updated?|rewrote|rewritten|rephrased?|clarif(?:y|ied)|corrected?|fix(?:ed)?|moved?|extend(?:ed)?|expand(?:ed)?"
    r"|discuss(?:ed)?|report(?:ed)?|provided?|changed?|modif(?:y|ied)|cited?|appears?)\b",
    re.IGNORECASE,
)
"""Matches a sentence in which the authors say that they changed the paper."""

HEADING_NUMBER = re.compile(r"\W*(?P<number>\d{1,2}(?:\.\d{1,2}){0,2}|[A-H](?:\.\d{1,2}){0,2})[.\s]")

MIN_SHARED = 3
"""Minimum number of rare words that a point and a change must share; our choice."""
MIN_WEIGHT = 9.0
"""Minimum sum of their rarities, the natural logarithm of (changes + 1) / (changes with the word + 1); our choice."""
MAX_CHANGES = 5
"""Maximum number of changes named for a point; our choice."""
RANKS = {ChangeSign.PROMISE: 0, ChangeSign.PLACE: 1, ChangeSign.TERMS: 2}
"""Order of the signs; among changes with the same sign, those with the largest weight come first."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """The parts of a change that the search needs: its words, and the places that it names or is in."""

    number: int
    words: set[str]
    places: set[Place]


class PaperChanges:
    """The changes of one paper, ready for the search.

    Args:
        changes: In the order of their numbers.
    """

    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes = [_read_terms(change) for change in changes]
        seen = Counter(word for change in self._changes for word in change.words)
        self._rarity = {word: 1.0 + math.log(len(changes) / count) for word, count in seen.items()}

    def concerning(self, point: str, answers: Sequence[str]) -> tuple[PointChange, ...]:
        """Return the changes that concern a point, in order of their numbers.

        Args:
            point: Its text.
            answers: The passages that answer it.
        """
        if not self._changes:
            return ()
        promised = {place for answer in answers for place in _find_promises(answer)}
        named = {*find_places(point)}
        words = {*content_words(split_words(point))}
        found = [self._compare(change, words, named, promised) for change in self._changes]
        best = sorted(filter(None, found), key=lambda one: (one[0], -one[1], one[2].number))[:MAX_CHANGES]
        return tuple(sorted((change for *_, change in best), key=lambda change: change.number))

    def _compare(
        self, change: _Terms, words: set[str], named: set[Place], promised: set[Place]
    ) -> tuple[int, float, PointChange] | None:
        """Return the evidence that a change concerns a point, with its rank and weight; None if there is none."""
        common = words & change.words
        weight = self._weigh(common)
        for sign, places in ((ChangeSign.PROMISE, promised), (ChangeSign.PLACE, named)):
            at = places & change.places
            if at:
                shared = ", ".join(f"{kind} {number}" for kind, number in sorted(at))
                return RANKS[sign], weight, PointChange(change.number, sign, shared)
        if len(common) < MIN_SHARED or weight < MIN_WEIGHT:
            return None
        return RANKS[ChangeSign.TERMS], weight, PointChange(change.number, ChangeSign.TERMS, " ".join(sorted(common)))

    def _weigh(self, common: Iterable[str]) -> float:
        return math.fsum(self._rarity[word] for word in common)


def _read_terms(change: Change) -> _Terms:
    text = f"{change.before} {change.after}"
    headings = [heading for heading in (change.section, change.later_section) if heading]
    numbers = (HEADING_NUMBER.match(heading) for heading in headings)
    sections = {("section", number["number"]) for number in numbers if number}
    return _Terms(change.number, {*content_words(split_words(text))}, sections.union(find_places(text)))


def _find_promises(answer: str) -> Iterator[Place]:
    """Yield the places where, according to an answer, the paper was changed."""
    for sentence in re.split(r"(?<=[.!?])\s+", answer):
        if PROMISE.search(sentence):
            yield from find_places(sentence)


NAME = "find_points"
TIMEOUT_S = 600.0
"""Time limit for one batch of papers, in seconds; a batch usually takes hundredths of a second."""
_PAPERS_AT_ONCE = 16
"""Papers per batch; our choice."""
_FEW_REVIEWS = 1_000
"""Maximum number of reviews in a venue for finding their points in this process, since others take time to start."""

UNREAD_OF_POSTS = {"extra": "{}", "meta_review": None, "initial_text": None}
UNREAD_OF_REVIEWS = {"extra": "{}", "scores": (), "sections_at_decision": ()}
"""Columns that points do not depend on, so they are not read."""


@dataclass(slots=True)
class Forum:
    """The rows that the points of one paper are made from."""

    reviews: list[Review] = field(default_factory=list)
    posts: dict[str, Post] = field(default_factory=dict)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    def add(self, row: Review | Post | Conversation | Change) -> None:
        """Add one row."""
        if isinstance(row, Review):
            self.reviews.append(row)
        elif isinstance(row, Post):
            self.posts[row.post_id] = row
        elif isinstance(row, Conversation):
            if row.is_with_reviewer:
                self.conversations[row.reviewer] = row
        else:
            self.changes.append(row)


def read_points(forum: Forum) -> Iterator[Point]:
    """Yield the points of all reviews of one paper."""
    changes = PaperChanges(sorted(forum.changes, key=attrgetter("number")))
    for review in forum.reviews:
        yield from _read_review(review, forum, changes)


def _read_review(review: Review, forum: Forum, changes: PaperChanges) -> Iterator[Point]:
    points = [
        ReviewPoint(section, point)
        for section in review.first_sections
        for point in split_text(section.text, section.kind)
    ]
    if not points:
        return
    conversation = forum.conversations.get(review.reviewer)
    answers: Mapping[int, Sequence[PointAnswer]] = {}
    verdicts: Mapping[int, Verdict] = {}
    replies = [*read_replies(conversation, forum.posts)]
    later = [*_read_later(review, conversation, forum.posts)]
    if replies or later:
        matcher = make_matcher(points)
        answers = find_answers(matcher, replies)
        critical = [index for index, one in enumerate(points) if one.point.kind in CRITICAL_KINDS]
        verdicts = find_reactions(matcher, later, critical)
    for index, one in enumerate(points):
        yield _make_point(review, index, one, answers.get(index, ()), verdicts.get(index), changes)


def _make_point(
    review: Review,
    index: int,
    one: ReviewPoint,
    answers: Sequence[PointAnswer],
    verdict: Verdict | None,
    changes: PaperChanges,
) -> Point:
    text = one.section.text[one.point.start : one.point.end]
    is_critical = one.point.kind in CRITICAL_KINDS
    return Point(
        point_id=f"{review.review_id}/{index + 1}",
        forum_id=review.forum_id,
        venue_id=review.venue_id,
        review_id=review.review_id,
        reviewer=review.reviewer,
        number=index + 1,
        field=one.section.field,
        section_kind=one.section.kind,
        start=one.point.start,
        end=one.point.end,
        text=text,
        kind=one.point.kind,
        kind_source=one.point.kind_source,
        label=one.point.label,
        aspect=one.point.aspect,
        answers=tuple(answers),
        reaction=verdict.reaction if verdict else None,
        score_changes=verdict.score_changes if verdict else (),
        changes=changes.concerning(text, [answer.text for answer in answers]) if is_critical else (),
    )


def _read_later(review: Review, conversation: Conversation | None, posts: Mapping[str, Post]) -> Iterator[LaterWords]:
    """Yield the reviewer's words after the review, in time order."""
    if conversation is None:
        return
    for turn in conversation.turns:
        if turn.role is not Role.REVIEWER:
            continue
        later = [post_id for post_id in turn.post_ids if post_id != review.review_id and post_id in posts]
        for post_id in later:
            yield LaterWords(post_id, posts[post_id].text, posts[post_id].created_at, turn.score_changes)
        if turn.final_justification:
            yield LaterWords(review.review_id, turn.final_justification, None, turn.score_changes)


def _read_forums(workspace: Workspace, venue_id: str) -> Iterator[Forum]:
    """Yield the rows of each paper of a venue, one paper at a time."""
    tables = workspace.tables
    rows: Iterator[Review | Post | Conversation | Change] = merge_sorted(
        tables.read(Review, venue_id, UNREAD_OF_REVIEWS),
        tables.read(Post, venue_id, UNREAD_OF_POSTS),
        tables.read(Conversation, venue_id),
        tables.read(Change, venue_id),
        key=attrgetter("forum_id"),
    )
    for _, group in groupby(rows, key=attrgetter("forum_id")):
        forum = Forum()
        for row in group:
            forum.add(row)
        yield forum


def read_points_of(forums: Sequence[Forum]) -> list[list[Point]]:
    """Return the points of some papers, by paper."""
    return [[*read_points(forum)] for forum in forums]


def _find_all(
    spread: Executor, forums: Iterator[Forum], venue_id: str, options: BuildRequest
) -> Iterator[tuple[Forum, Sequence[Point]]]:
    """Yield each paper with its points, in order, found by other processes.

    Raises:
        PeercorpusError: A process failed for a reason other than an error of the code.
    """
    batches = iter(lambda: [*islice(forums, _PAPERS_AT_ONCE)], [])
    done = spread(read_points_of, batches, timeout_s=TIMEOUT_S, workers=options.workers, in_order=True)
    for batch, found in done:
        if isinstance(found, Failure):
            raise found.error or PeercorpusError(f"Finding the points of '{venue_id}' failed. {found.detail}")
        yield from zip(batch, found, strict=True)


def run(
    spread: Executor, workspace: Workspace, venue_id: str, options: BuildRequest, key: str, report: ProgressCallback
) -> None:
    """Write the points of every review of a venue; reviews without words are set aside."""
    total = workspace.tables.count("2-reviews", venue_id)
    forums = _read_forums(workspace, venue_id)
    is_small = total <= _FEW_REVIEWS or options.workers == 1
    found = (
        ((forum, [*read_points(forum)]) for forum in forums)
        if is_small
        else _find_all(spread, forums, venue_id, options)
    )
    done = 0
    with workspace.tables.replacing((TABLE,), venue_id, NAME, key) as out:
        for forum, points in found:
            for point in points:
                out.add(point)
            split = {point.review_id for point in points}
            for review in forum.reviews:
                if review.review_id not in split:
                    out.set_aside(review.review_id, review.forum_id, Reason.NOTHING_SAID, "No field of it holds prose.")
            done += len(forum.reviews)
            report(done, total)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Return two balances: reviews = reviews with points + set aside; characters of reviews = characters of points."""
    tables = workspace.tables
    characters = sum(
        len(section.text)
        for review in tables.read(Review, venue_id, UNREAD_OF_REVIEWS)
        for section in review.first_sections
        if section.text.strip()
    )
    rows = [
        (row["review_id"], row["end"] - row["start"])
        for batch in tables.batches(TABLE, venue_id, ["review_id", "start", "end"])
        for row in batch.to_pylist()
    ]
    reviews = Balance(
        stage=NAME,
        venue_id=venue_id,
        unit="reviews",
        rows_in=tables.count("2-reviews", venue_id),
        rows_out=len({review_id for review_id, _ in rows}),
        set_aside=tables.set_aside_counts(venue_id, NAME),
    )
    covered = sum(length for _, length in rows)
    return (
        reviews,
        Balance(stage=NAME, venue_id=venue_id, unit="characters", rows_in=characters, rows_out=covered, set_aside={}),
    )


def stage(spread: Executor) -> Stage[Workspace]:
    """Return the stage `find_points`.

    Args:
        spread: Finds the points of large venues, possibly in other processes.
    """
    return Stage(
        name=NAME,
        doing="finding points",
        version=3,
        reads_raw=(),
        reads=("2-reviews", "3-posts", "6-conversations", "7-changes"),
        writes=(TABLE,),
        options=(),
        run=partial(run, spread),
        balance=balance,
        made_with=lambda _: f"{read_words().digest}, {DIGEST}",
    )
