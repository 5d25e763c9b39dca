"""What a published record gives: a paper, its reviews, and the posts that stand for its texts.

What no dataset states is null, or empty where a record type has no null: times, invitations, the authors' signature.
Whatever was published counts as readable by everyone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from peercorpus.forms import vocabulary
from peercorpus.forms.reviews import as_json
from peercorpus.kinds import PostKind, Role, Status
from peercorpus.parts import join_prose
from peercorpus.records import Paper, Post, Review, Score, Section
from peercorpus.venues.catalogue import conference_of, track_of, year_of


@dataclass(frozen=True, slots=True)
class Reading:
    """What one published record says of a paper."""

    paper: Paper
    reviews: tuple[Review, ...]
    posts: tuple[Post, ...]


def build_paper(
    forum_id: str,
    venue_id: str,
    *,
    year: int | None = None,
    number: int | None = None,
    title: str | None = None,
    abstract: str | None = None,
    authors: tuple[str, ...] = (),
    keywords: tuple[str, ...] = (),
    tldr: str | None = None,
    primary_area: str | None = None,
    venue: str | None = None,
    decision: str | None = None,
    decision_comment: str | None = None,
    extra: Mapping[str, Any],
) -> Paper:
    """A paper of what a dataset states; the year counts where the venue's id names none."""
    status = vocabulary.status_of_decision(decision) if decision else Status.UNKNOWN
    if status is Status.UNKNOWN and venue:
        status = vocabulary.status_of_venue(venue)
    return Paper(
        forum_id=forum_id,
        venue_id=venue_id,
        conference=conference_of(venue_id),
        year=year_of(venue_id) or year,
        track=track_of(venue_id),
        number=number,
        title=title,
        abstract=abstract,
        authors=authors,
        keywords=keywords,
        tldr=tldr,
        primary_area=primary_area,
        venue=venue,
        status=status,
        decision=decision,
        decided_at=None,
        decision_comment=decision_comment,
        licence=None,
        created_at=None,
        modified_at=None,
        extra=as_json(extra),
    )


def build_review(
    paper: Paper,
    review_id: str,
    reviewer: str,
    *,
    title: str | None,
    scores: tuple[Score, ...],
    sections: tuple[Section, ...],
    final_justification: str | None = None,
    revised: bool | None,
    extra: Mapping[str, Any],
) -> Review:
    """A review of what a dataset states; its form is not known."""
    return Review(
        review_id=review_id,
        forum_id=paper.forum_id,
        venue_id=paper.venue_id,
        form_id=f"inferred:{paper.venue_id}",
        reviewer=reviewer,
        created_at=None,
        modified_at=None,
        title=title,
        scores=scores,
        sections=sections,
        final_justification=final_justification,
        revised=revised,
        readers_public=True,
        deleted=False,
        extra=as_json(extra),
    )


def review_post(review: Review) -> Post:
    """A review as the post it was."""
    text = join_prose({section.field: section.text for section in review.sections})
    speaker = (Role.REVIEWER, review.reviewer)
    return _build_post(review, review.review_id, None, PostKind.REVIEW, speaker, review.title, text)


def response_post(of: Paper | Review, text: str) -> Post:
    """What the authors answered to one review, or to all; a dataset may have joined several posts to one."""
    answered = of.review_id if isinstance(of, Review) else None
    post_id = f"{answered or of.forum_id}/rebuttal"
    return _build_post(of, post_id, answered, PostKind.REBUTTAL, (Role.AUTHOR, ""), None, text)


def _build_post(
    of: Paper | Review,
    post_id: str,
    reply_to: str | None,
    kind: PostKind,
    speaker: tuple[Role, str],
    title: str | None,
    text: str,
) -> Post:
    role, signature = speaker
    return Post(
        post_id=post_id,
        forum_id=of.forum_id,
        venue_id=of.venue_id,
        reply_to=reply_to,
        kind=kind,
        role=role,
        invitation="",
        signature=signature,
        created_at=None,
        modified_at=None,
        title=title,
        text=text,
        readers_public=True,
        deleted=False,
        extra="{}",
    )
