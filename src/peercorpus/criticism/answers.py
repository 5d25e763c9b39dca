"""Find the passages of the authors' posts that answer each point of a review, with the confidence in each."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from math import fsum
from types import MappingProxyType

from peercorpus.criticism.align import (
    FIELD_LETTERS,
    KIND_LETTERS,
    Attribution,
    Label,
    ReviewMatcher,
    ReviewSentence,
    read_label,
)
from peercorpus.criticism.kinds import split_words
from peercorpus.criticism.passages import Passage, read_passages
from peercorpus.criticism.split import TextPoint, split_text
from peercorpus.records.enums import Role, SectionKind
from peercorpus.records.points import CRITICAL_KINDS, AnswerMethod, KindSource, PointAnswer
from peercorpus.records.reviews import Conversation, Post, Section


@dataclass(frozen=True, slots=True)
class Reply:
    """A post by the authors, or the parts of it, that may answer one review.

    Attributes:
        post_id: The post.
        text: Its text, verbatim.
        created_at: Time of posting; None if unknown.
        is_to_all: Whether it addresses several or all reviewers.
        concerning: Passages of such a post that name this reviewer, verbatim; empty if all of it may concern them.
    """

    post_id: str
    text: str
    created_at: datetime | None
    is_to_all: bool = False
    concerning: tuple[str, ...] = ()

    def parts(self) -> Iterator[tuple[int, str]]:
        """Yield the offset and the text of each part that may concern this review."""
        if not self.concerning:
            yield 0, self.text
            return
        at = 0
        for passage in self.concerning:
            found = self.text.find(passage, at)
            if found >= 0:
                yield found, passage
                at = found + len(passage)


def read_replies(conversation: Conversation | None, posts: Mapping[str, Post]) -> Iterator[Reply]:
    """Yield the authors' posts in a conversation, then their responses to several or all reviewers.

    Args:
        conversation: The conversation with the reviewer; None if there is none.
        posts: Posts by id; those not in it are left out.
    """
    if conversation is None:
        return
    for turn in conversation.turns:
        if turn.role is Role.AUTHOR:
            for post_id in turn.post_ids:
                if post_id in posts:
                    yield Reply(post_id, posts[post_id].text, posts[post_id].created_at)
    for beside in conversation.context:
        post = posts.get(beside.post_id)
        if post is not None:
            yield Reply(post.post_id, post.text, post.created_at, is_to_all=True, concerning=beside.concerning)


Steps = Sequence[tuple[float, float]]
"""Pairs of the lowest probability to which a share applies and that share; ascending in both."""

STEPS: Mapping[AnswerMethod, Steps] = MappingProxyType(
    {
        AnswerMethod.QUOTE: ((0.0, 0.7), (0.89, 0.89), (0.99, 0.97)),
        AnswerMethod.LABEL: ((0.0, 0.6), (0.96, 0.77), (0.998, 0.86)),
        AnswerMethod.ORDER: ((0.0, 0.54), (0.86, 0.6), (0.91, 0.67), (0.98, 0.92)),
        AnswerMethod.SIMILARITY: ((0.0, 0.43), (0.95, 0.76)),
    }
)
"""Isotonic regression (pooling adjacent violators, bins of 30 answers) on the half of DISAPERE's forums on which the
weights were tuned; `benchmarks/run.py points` measures both halves."""


def calibrate(probability: float, method: AnswerMethod, *, is_to_all: bool) -> float:
    """Return the share of answers of this kind that annotators judged correct.

    The measured pairs include no posts to several or all reviewers, so answers in those get the lowest share.

    >>> calibrate(0.95, AnswerMethod.QUOTE, is_to_all=False), calibrate(0.95, AnswerMethod.QUOTE, is_to_all=True)
    (0.89, 0.7)
    """
    steps = STEPS[method]
    index = 1 if is_to_all else bisect_right(steps, probability, key=lambda step: step[0])
    return steps[index - 1][1]


@dataclass(frozen=True, slots=True)
class ReviewPoint:
    """A point with the section that it is part of."""

    section: Section
    point: TextPoint

    @property
    def labels(self) -> tuple[Label, ...]:
        """Return the labels of the point, completed by the letter of its list if that is known."""
        label = read_label(self.point.label)
        if label is None or label.letter:
            return (label,) if label else ()
        letter = FIELD_LETTERS.get(self.section.kind, "")
        if not letter and self.point.kind_source is KindSource.HEADING:
            letter = KIND_LETTERS.get(self.point.kind, "")
        return (Label(letter, label.number, label.part),)


def make_matcher(points: Sequence[ReviewPoint]) -> ReviewMatcher:
    """Return the matcher that finds the point of a review that a passage is about."""
    sentences = [
        ReviewSentence(
            point=index,
            words=sentence.words,
            kind=one.point.kind,
            is_question=one.section.text[sentence.start : sentence.end].rstrip().endswith("?"),
        )
        for index, one in enumerate(points)
        for sentence in one.point.sentences
    ]
    return ReviewMatcher(sentences, [one.labels for one in points])


def find_answers(matcher: ReviewMatcher, replies: Iterable[Reply]) -> dict[int, list[PointAnswer]]:
    """Return the passages that answer each point, by its index, in the order of the replies."""
    answers: dict[int, list[PointAnswer]] = {}
    for reply in replies:
        for start, part in reply.parts():
            for index, answer in _find_in(matcher, reply, start, part):
                answers.setdefault(index, []).append(answer)
    return answers


def _find_in(matcher: ReviewMatcher, reply: Reply, offset: int, part: str) -> Iterator[tuple[int, PointAnswer]]:
    passages = read_passages(part)
    attributions = matcher.attribute(passages, [split_words(passage.words) for passage in passages])
    pairs = zip(passages, attributions, strict=True)
    for index, run in groupby(pairs, key=lambda pair: pair[1].point):
        answer = None if index is None else _make_answer(reply, offset, [*run])
        if index is not None and answer is not None:
            yield index, answer


def _make_answer(reply: Reply, offset: int, run: Sequence[tuple[Passage, Attribution]]) -> PointAnswer | None:
    """Return the answer made of successive passages about one point; None if they only repeat the point."""
    first = next((place for place, (passage, found) in enumerate(run) if not only_repeats(passage, found)), None)
    if first is None:
        return None
    start = offset + run[first][0].start
    text = reply.text[start : offset + run[-1][0].end]
    lead = len(text) - len(text.lstrip())
    text = text.strip()
    methods = [found.method for _, found in run]
    method = min(methods, key=[*AnswerMethod].index)
    probability = fsum(found.probability for _, found in run) / len(run)
    return PointAnswer(
        post_id=reply.post_id,
        start=start + lead,
        end=start + lead + len(text),
        text=text,
        method=method,
        confidence=calibrate(probability, method, is_to_all=reply.is_to_all),
        is_to_all=reply.is_to_all,
        created_at=reply.created_at,
    )


def only_repeats(passage: Passage, found: Attribution) -> bool:
    """Return whether a passage only repeats words of the point, or is the heading above the answer."""
    return passage.is_heading or (found.method is AnswerMethod.QUOTE and found.is_repeated)


MAX_CHARACTERS = 100_000
"""Characters of a review, and of a text about it, that are read."""
MAX_SENTENCES = 400
"""Sentences of either that are read, as every pair is compared; the longest of 12,457 recorded reviews has 202."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a review a text takes up.

    Attributes:
        points: Critical points of the review.
        covered: Number of those that a passage of the text is about, judging by its words or a point's label, without
            only repeating the point.
    """

    points: int
    covered: int

    @property
    def share(self) -> float | None:
        """The share of points that are covered, in [0, 1]; None if the review has no critical point."""
        return self.covered / self.points if self.points else None


def measure_coverage(review: str, text: str) -> Coverage:
    """Return how many critical points of a review a text takes up; the beginning of both is read, within limits."""
    points = [*_read_points(review[:MAX_CHARACTERS])]
    critical = {index for index, one in enumerate(points) if one.point.kind in CRITICAL_KINDS}
    return Coverage(len(critical), len(critical & find_covered(points, text[:MAX_CHARACTERS])) if critical else 0)


def _read_points(review: str) -> Iterator[ReviewPoint]:
    section = Section(SectionKind.ASSESSMENT, "review", review)
    sentences = 0
    for point in split_text(review, section.kind):
        sentences += len(point.sentences)
        if sentences > MAX_SENTENCES:
            return
        yield ReviewPoint(section, point)


def find_covered(points: Sequence[ReviewPoint], text: str) -> set[int]:
    """Return the points that a text is about, by their indices.

    A passage attributed by its position alone is left out; otherwise passages about no point would cover points.
    """
    passages = read_passages(text)[:MAX_SENTENCES]
    found = make_matcher(points).attribute(passages, [split_words(passage.words) for passage in passages])
    return {
        one.point
        for passage, one in zip(passages, found, strict=True)
        if one.point is not None and one.method is not AnswerMethod.ORDER and not only_repeats(passage, one)
    }
