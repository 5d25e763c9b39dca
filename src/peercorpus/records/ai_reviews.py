"""Records of reviews that an AI wrote or may have written, and of the replies to them.

They are separate from all records of people: no review, post, conversation or statistic contains any part of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from peercorpus.records.enums import AiCertainty, PostKind, Role
from peercorpus.records.reviews import Section
from peercorpus.records.scores import Score


@dataclass(frozen=True, slots=True)
class SurveyAnswer:
    """One answer of a survey in which a person rates an AI's review."""

    field: Annotated[str, "the survey's own name of the question"]
    answer: Annotated[str, "verbatim"]
    rank: Annotated[int | None, "its place in `answers`, from 1; null if it is not one of them, such as `Unsure`"]
    answers: Annotated[
        tuple[str, ...],
        "what the survey offers, the best last; empty for free text, and if the question is not known",
    ] = ()


@dataclass(frozen=True, slots=True)
class AiReply:
    """A post below an AI's review: an answer by the authors, a comment, or a survey that rates the review.

    Attributes:
        reply_to: The post that it replies to: the review itself, or another reply to it; None in published data if that
            post is not published.
        kind: Kind of the post.
        role: Role of the author; `ai` if the AI itself replies.
        invitation: The invitation that created it, verbatim.
        signature: Last path element of the signature, as in `Post`.
        created_at: When it was posted; None if unknown.
        modified_at: When it was last changed; None if unknown.
        title: The post's own title; None if it has none.
        text: The prose, verbatim; several fields each follow their name as a heading. Empty for a survey.
        readers_public: Whether `everyone` may read it; only such replies are published.
        deleted: Whether OpenReview marks it as deleted.
        extra: Fields of the note's `content` that are in no other column, as JSON.
        survey: The answers of a survey, in the form's order; empty for every other kind.
    """

    post_id: str
    reply_to: str | None
    kind: PostKind
    role: Role
    invitation: str
    signature: str
    created_at: datetime | None
    modified_at: datetime | None
    title: str | None
    text: str
    readers_public: bool
    deleted: bool
    extra: str
    survey: tuple[SurveyAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class AiReview:
    """A review of a paper that an AI wrote or may have written, with everything posted below it.

    Attributes:
        ai_review_id: The note's id on OpenReview.
        form_id: The invitation with whose form it was read; None if no invitation with its form is available, so that
            scales are unknown.
        kind: `ai_review`.
        certainty: Whether an AI certainly wrote it; `possible` if only a name says so.
        role: `ai`, even if chairs signed it.
        invitation: The invitation that created it, verbatim.
        signature: Last path element of the signature (`AI_Reviewer`, `Reviewer_AIRev1`, `Program_Chairs`).
        created_at: When it was posted; None if unknown.
        modified_at: When it was last changed; None if unknown.
        title: Its heading, if the form has one.
        scores: Its current scores.
        sections: Its current passages.
        readers_public: Whether `everyone` may read it; only such reviews are published.
        deleted: Whether OpenReview marks it as deleted.
        licence: Licence stated on the note or in its form, verbatim; None if none is stated.
        extra: Fields of the note's `content` that are neither score nor section, as JSON.
        replies: The posts below it, in time order.
    """

    ai_review_id: str
    forum_id: str
    venue_id: str
    form_id: str | None
    kind: PostKind
    certainty: AiCertainty
    role: Role
    invitation: str
    signature: str
    created_at: datetime | None
    modified_at: datetime | None
    title: str | None
    scores: tuple[Score, ...]
    sections: tuple[Section, ...]
    readers_public: bool
    deleted: bool
    licence: str | None
    extra: str
    replies: tuple[AiReply, ...] = ()

    @property
    def note_ids(self) -> tuple[str, ...]:
        """The ids of the review and of all its replies."""
        return (self.ai_review_id, *(reply.post_id for reply in self.replies))


def select_public(reviews: Sequence[AiReview]) -> list[AiReview]:
    """Return the public, undeleted reviews, each with its public, undeleted replies.

    `reply_to` of each reply names the review or one of these replies, or is None.
    """
    return [
        replace(review, replies=_select_public_replies(review))
        for review in reviews
        if review.readers_public and not review.deleted
    ]


def _select_public_replies(review: AiReview) -> tuple[AiReply, ...]:
    kept = [reply for reply in review.replies if reply.readers_public and not reply.deleted]
    named = {review.ai_review_id, *(reply.post_id for reply in kept)}
    return tuple(reply if reply.reply_to in named else replace(reply, reply_to=None) for reply in kept)
