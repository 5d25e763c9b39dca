"""Records of single criticisms: the points of a review, their answers and their consequences."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from peercorpus.records.enums import SectionKind
from peercorpus.records.scores import ScoreChange


class PointKind(StrEnum):
    """Kind of a passage of a review."""

    SUMMARY = "summary"
    """It summarises the paper."""
    STRENGTH = "strength"
    """It praises."""
    WEAKNESS = "weakness"
    """It criticises."""
    QUESTION = "question"
    """It asks a question."""
    SUGGESTION = "suggestion"
    """It asks for a change or an addition."""
    MINOR = "minor"
    """It concerns spelling, wording or layout, or is under a heading for these."""
    LIMITATION = "limitation"
    """It is in the form's field for limitations."""
    OTHER = "other"
    """None of these, or unknown: headings, verdicts, remarks about the review itself."""


CRITICAL_KINDS = frozenset(
    {PointKind.WEAKNESS, PointKind.QUESTION, PointKind.SUGGESTION, PointKind.MINOR, PointKind.LIMITATION}
)
"""Kinds that authors may be expected to answer."""


class KindSource(StrEnum):
    """Evidence for the kind of a point."""

    FIELD = "field"
    """The form's field is for this kind only."""
    HEADING = "heading"
    """A heading by the reviewer is above it, or its list marks praise with + and criticism with -."""
    WORDS = "words"
    """Its own words, or those of the sentence before it."""
    NONE = "none"
    """There is no evidence; the kind is `other`."""


class PointAspect(StrEnum):
    """Aspect of a paper that a point is about."""

    NOVELTY = "novelty"
    SOUNDNESS = "soundness"
    EXPERIMENTS = "experiments"
    COMPARISON = "comparison"
    CLARITY = "clarity"
    REPRODUCIBILITY = "reproducibility"
    SIGNIFICANCE = "significance"
    RELATED_WORK = "related_work"
    ETHICS = "ethics"


class AnswerMethod(StrEnum):
    """The main evidence that a passage answers a point."""

    QUOTE = "quote"
    """It, or the passage above it, repeats words of the point."""
    LABEL = "label"
    """It, or the passage above it, names the label of the point."""
    ORDER = "order"
    """Its position among the answers."""
    SIMILARITY = "similarity"
    """The rare words that it shares with the point."""


class Reaction(StrEnum):
    """A reviewer's later reaction to a point."""

    RESOLVED = "resolved"
    PARTLY = "partly"
    NOT_RESOLVED = "not_resolved"


class ReactionScope(StrEnum):
    """Scope of a reviewer's later words."""

    POINT = "point"
    """This point, found in the same way as answers: by repeated or rare words, or by its label."""
    ALL = "all"
    """All points of the review that ask for an answer ("all my concerns are addressed")."""


class ChangeSign(StrEnum):
    """The evidence that a change to the paper concerns a point."""

    TERMS = "terms"
    """Rare words shared by the change and the point."""
    PLACE = "place"
    """The section, table, figure or equation that the point names."""
    PROMISE = "promise"
    """The change that the answer states ("we added Section 4.3")."""


@dataclass(frozen=True, slots=True)
class PointAnswer:
    """A passage of a post by the authors that answers a point.

    Attributes:
        post_id: The post; its text is in `3-posts`.
        start: Offset of the passage's first character in the post's text.
        end: Offset after its last character.
        text: The passage, verbatim.
        method: The main evidence that it answers the point.
        confidence: Share of such answers that annotators judged correct, from 0 to 1 (see docs/points.md).
        is_to_all: Whether the post addresses several or all reviewers.
        created_at: When the post was posted; None if unknown.
    """

    post_id: str
    start: int
    end: int
    text: str
    method: AnswerMethod
    confidence: float
    is_to_all: bool
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class PointReaction:
    """A reviewer's reaction to a point after it was answered.

    Attributes:
        reaction: Whether the point is resolved according to the reviewer's words.
        post_id: The post, or the review itself if the words were added to it.
        text: The words, verbatim.
        scope: Whether the words are about this point or about all points.
        created_at: When the post was posted; None if unknown, and for words added to the review.
    """

    reaction: Reaction
    post_id: str
    text: str
    scope: ReactionScope
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class PointChange:
    """A change to the paper that concerns a point."""

    number: Annotated[int, "as in `changes`"]
    sign: Annotated[ChangeSign, "the evidence that it concerns the point: `promise`, `place` or `terms`"]
    shared: Annotated[str, "the words, place or promise that tell, verbatim"]


@dataclass(frozen=True, slots=True)
class Point:
    """One passage of a review: a single criticism, question or praise, or the text between them.

    The points of a field, joined in order, are its text as first posted, if that is known.

    Attributes:
        point_id: `<review_id>/<number>`.
        number: Position within the review, from 1.
        reviewer: As in `Review`.
        field: The form's own name for the field.
        section_kind: Purpose of the field.
        start: Offset of the point's first character in the text of the field.
        end: Offset after its last character.
        text: The passage, verbatim, with the space after it.
        kind: Kind of the passage.
        kind_source: Evidence for the kind.
        label: The label that the reviewer gave it ("W2", "(3)"), verbatim; None if it has none.
        aspect: Aspect of the paper that it is about; None if unknown.
        answers: The authors' passages that answer it, in time order, then those in posts to several or all reviewers;
            empty if none is found.
        reaction: The reviewer's later reaction; None if there is none, or none known to be about it.
        score_changes: Score changes that the reviewer made at the turn of that reaction.
        changes: Changes to the paper that concern it; empty if there are none or no two texts were compared.
    """

    point_id: str
    forum_id: str
    venue_id: str
    review_id: str
    reviewer: str
    number: int
    field: str
    section_kind: SectionKind
    start: int
    end: int
    text: str
    kind: PointKind
    kind_source: KindSource
    label: str | None
    aspect: PointAspect | None
    answers: tuple[PointAnswer, ...] = ()
    reaction: PointReaction | None = None
    score_changes: tuple[ScoreChange, ...] = ()
    changes: tuple[PointChange, ...] = ()

    @property
    def is_critical(self) -> bool:
        """Return whether authors may be expected to answer it."""
        return self.kind in CRITICAL_KINDS
