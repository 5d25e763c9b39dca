"""What the list of papers shows of one, what it sorts and chooses by, and what an export holds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from statistics import fmean

from peercorpus.chosen import chosen_score
from peercorpus.explorer.public_forums import PublicForum
from peercorpus.kinds import Aspect
from peercorpus.openreview.objects import blot_people
from peercorpus.publish.record_rows import before_and_after
from peercorpus.records import Review


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One paper in the list, and one row of an export. Nobody's address is in it.

    Attributes:
        created_at: When it was submitted, ISO 8601 in UTC.
        rating: The mean of its overall recommendations as they stand now, on the venue's scale; None if none is known.
        rating_low: The lowest answer the form offers; None where the form is not known; `rating_high` likewise.
        rating_unit: The mean of the same on [0, 1] of its scale; None where no scale is known.
        rating_spread: The highest less the lowest recommendation, on the venue's scale; None where none is known.
        confidence: The mean of its reviewers' confidences as they stand now, on the venue's scale.
        has_rebuttal: Whether the authors answered a review, or all of them.
        score_changed: Whether a reviewer changed the overall recommendation; None where no first one is known.
        grade: How sure it is which PDF the reviewers read; None where no version is held.
        text_sha256: The file whose text is shown.
        is_initial_text: Whether that is the version the reviewers read, as far as the grade says.
    """

    forum_id: str
    venue_id: str
    conference: str
    year: int | None
    track: str
    title: str | None
    abstract: str | None
    keywords: tuple[str, ...]
    status: str
    decision: str | None
    created_at: str | None
    reviews: int
    rating: float | None
    rating_low: float | None
    rating_high: float | None
    rating_unit: float | None
    rating_spread: float | None
    confidence: float | None
    conversations: int
    turns: int
    has_rebuttal: bool
    score_changed: bool | None
    grade: str | None
    text_sha256: str | None
    is_initial_text: bool


COLUMNS = tuple(field.name for field in fields(PaperRow))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(fmean(known), 6) if known else None


def _is_changed(reviews: Iterable[Review]) -> bool | None:
    """Whether a recommendation changed; None where no first one is known."""
    pairs = [before_and_after(review.scores, revised=review.revised) for review in reviews]
    known = [pair for pair in pairs if None not in (pair["rating_initial"], pair["rating_final"])]
    return any(pair["rating_initial"] != pair["rating_final"] for pair in known) if known else None


def _texts(forum: PublicForum, held: frozenset[str]) -> tuple[str | None, bool]:
    """The file whose text is shown, and whether it is the version the reviewers read: else the latest that is held."""
    read = [version for version in forum.versions if version.sha256 in held]
    initial = [version for version in read if version.is_initial]
    if initial:
        return initial[0].sha256, True
    latest = max(read, key=lambda version: (version.created_at is not None, version.created_at), default=None)
    return (latest.sha256 if latest else None), False


def paper_row(forum: PublicForum, held: frozenset[str]) -> PaperRow:
    """The row of one paper.

    Args:
        forum: What may be shown of it.
        held: The sha256 of every file whose text is held.
    """
    paper = forum.paper
    chosen = (chosen_score(review.scores, Aspect.RECOMMENDATION, "rating") for review in forum.reviews)
    given = [score for score in chosen if score is not None]
    values = [score.value for score in given if score.value is not None]
    scale = next((score for score in given if score.low is not None), None)
    sure = (chosen_score(review.scores, Aspect.CONFIDENCE, "confidence") for review in forum.reviews)
    text_sha256, is_initial = _texts(forum, held)
    initial = forum.initial
    return PaperRow(
        forum_id=paper.forum_id,
        venue_id=paper.venue_id,
        conference=paper.conference,
        year=paper.year,
        track=paper.track,
        title=blot_people(paper.title),
        abstract=blot_people(paper.abstract),
        keywords=tuple(blot_people(list(paper.keywords))),
        status=paper.status.value,
        decision=blot_people(paper.decision),
        created_at=paper.created_at.isoformat() if paper.created_at else None,
        reviews=len(forum.reviews),
        rating=_mean(values),
        rating_low=scale.low if scale else None,
        rating_high=scale.high if scale else None,
        rating_unit=_mean(score.unit for score in given),
        rating_spread=max(values) - min(values) if values else None,
        confidence=_mean(score.value for score in sure if score is not None),
        conversations=len(forum.conversations),
        turns=sum(len(talk.turns) for talk in forum.conversations),
        has_rebuttal=forum.has_rebuttal,
        score_changed=_is_changed(forum.reviews),
        grade=initial.grade.value if initial and initial.grade else None,
        text_sha256=text_sha256,
        is_initial_text=is_initial,
    )


def words_of(forum: PublicForum) -> Iterator[tuple[str, str]]:
    """All texts of a forum that are searched, each with its field: reviews, answers of the authors, and all others."""
    review_ids = {review.review_id for review in forum.reviews}
    for review in forum.reviews:
        passages = [
            review.title or "",
            *(section.text for section in review.sections),
            review.final_justification or "",
        ]
        yield "reviews", "\n\n".join(filter(None, passages))
    for post in forum.posts:
        if post.post_id not in review_ids:
            yield (
                ("answers" if post.role.value == "author" else "others"),
                "\n\n".join(filter(None, (post.title, post.text))),
            )
    for talk in forum.conversations:
        for turn in talk.turns:
            if not turn.post_ids and turn.text and turn.role.value != "reviewer":
                yield ("answers" if turn.role.value == "author" else "others"), turn.text
