"""Find a reviewer's reaction to each point after the authors answered: resolved, partly, or not."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from peercorpus.criticism.align import ReviewMatcher
from peercorpus.criticism.kinds import read_words, split_words
from peercorpus.criticism.passages import Passage, read_passages
from peercorpus.records.points import PointReaction, Reaction, ReactionScope
from peercorpus.records.scores import ScoreChange

_ORDER = (Reaction.PARTLY, Reaction.NOT_RESOLVED, Reaction.RESOLVED)
"""If one sentence expresses several reactions, the first of these counts."""

_THINGS = r"(?:concern|question|comment|issue|point|doubt|problem|remark)"
ALL = re.compile(
    rf"\b(?:all|each|every|both)\s++(?:of\s++)?(?:(?:my|the|these|those|our)\s++)?(?:\w++\s++){{0,3}}?{_THINGS}s?\b"
    rf"|\bmy {_THINGS}s (?:have|are|were) (?:all |now |been |fully |well |adequately )*"
    r"(?:addressed|answered|resolved|clarified)",
    re.IGNORECASE,
)
"""Matches words about all points at once."""

ONLY_SOME = re.compile(r"\b(?:most|many|some|several|part|few|not all|almost|nearly|partially|partly)\b", re.IGNORECASE)

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
    told = {label for _, _, label in read_words().reactions.find(words)}
    return next((reaction for reaction in _ORDER if reaction in told), None)


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
        reactions = [read_reaction(each) for each in told]
        for passage, reaction in zip(passages, reactions, strict=True):
            if reaction is not None and _is_about_all(passage.words):
                verdict = _make(words, passage, reaction, ReactionScope.ALL)
                verdicts.update(dict.fromkeys(expecting, verdict))
        for passage, reaction, found in zip(passages, reactions, matcher.attribute(passages, told), strict=True):
            is_about_one = (
                found.point is not None and found.probability >= MIN_CONFIDENCE and not _is_about_all(passage.words)
            )
            if reaction is not None and found.point is not None and is_about_one:
                verdicts[found.point] = _make(words, passage, reaction, ReactionScope.POINT)
    return verdicts


def _is_about_all(text: str) -> bool:
    return ALL.search(text) is not None and ONLY_SOME.search(text) is None


def _make(words: LaterWords, passage: Passage, reaction: Reaction, scope: ReactionScope) -> Verdict:
    told = PointReaction(reaction, words.post_id, passage.words, scope, words.created_at)
    return Verdict(told, words.score_changes)
