"""Find a reviewer's reaction to each point after the authors answered: resolved, partly, or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from peercorpus.criticism.align import ReviewMatcher
from peercorpus.criticism.kinds import split_words
from peercorpus.criticism.passages import Passage, read_passages
from peercorpus.points.resolution import read_resolution
from peercorpus.records.points import PointReaction, Reaction, ReactionScope
from peercorpus.records.scores import ScoreChange

MIN_CONFIDENCE = 0.5
"""Minimum probability for taking words of the reviewer to be about a point; our choice."""


@dataclass(frozen=True, slots=True)
class LaterWords:
    """Words of a reviewer after the review: a post, or words added to the review itself.

    Attributes:
        post_id: The post, or the review.
        text: The words, verbatim.
        created_at: Time of writing; None if unknown.
        score_changes: Score changes made by the reviewer in the same turn.
    """

    post_id: str
    text: str
    created_at: datetime | None
    score_changes: tuple[ScoreChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A reaction to one point, with the score changes of its turn."""

    reaction: PointReaction
    score_changes: tuple[ScoreChange, ...]


def read_reaction(words: Sequence[str]) -> Reaction | None:
    """Return the reaction that a sentence expresses; None if it expresses none.

    >>> read_reaction("my concern is still not addressed".split()), read_reaction("thanks for the reply".split())
    (<Reaction.NOT_RESOLVED: 'not_resolved'>, None)
    """
    resolution = read_resolution(" ".join(words))
    return None if resolution is None else resolution.reaction


def find_reactions(
    matcher: ReviewMatcher, later: Sequence[LaterWords], expecting: Sequence[int]
) -> Mapping[int, Verdict]:
    """Return the last reaction to each point, by its index; points without a reaction are absent.

    Args:
        matcher: Finds the point that a passage is about.
        later: The reviewer's later words, in time order.
        expecting: Points that words about all points at once refer to.
    """
    verdicts: dict[int, Verdict] = {}
    for words in later:
        passages = read_passages(words.text)
        told = [split_words(passage.words) for passage in passages]
        read = [read_resolution(passage.words) for passage in passages]
        for passage, resolution in zip(passages, read, strict=True):
            if resolution is not None and resolution.is_about_all:
                verdict = _make(words, passage, resolution.reaction, ReactionScope.ALL)
                verdicts.update(dict.fromkeys(expecting, verdict))
        for passage, resolution, found in zip(passages, read, matcher.attribute(passages, told), strict=True):
            if resolution is None or resolution.is_about_all or found.point is None:
                continue
            if found.probability >= MIN_CONFIDENCE:
                verdicts[found.point] = _make(words, passage, resolution.reaction, ReactionScope.POINT)
    return verdicts


def _make(words: LaterWords, passage: Passage, reaction: Reaction, scope: ReactionScope) -> Verdict:
    told = PointReaction(reaction, words.post_id, passage.words, scope, words.created_at)
    return Verdict(told, words.score_changes)
