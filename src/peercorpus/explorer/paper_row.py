"""Summarise a paper as one row, for lists, sorting and exports."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from statistics import fmean

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.corpus.text_choice import TextRule
from peercorpus.records.enums import Aspect
from peercorpus.records.reviews import select_own
from peercorpus.records.scores import Score, choose_own_first_and_last, choose_score
from peercorpus.wording.untrusted_text import redact_people


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One paper in a list, and one row of an export; e-mail addresses and profile ids are masked.

    Attributes:
        created_at: When it was submitted, ISO 8601 in UTC.
        rating: Mean of the current overall recommendations, on the venue's scale; None if none is known.
        rating_low: Lowest answer that the form offers; None if the form is not known.
        rating_unit: Mean of the current overall recommendations on [0, 1] of the scale; None if no scale is known.
        first_unit: Mean of the recommendations as first given, on [0, 1] of the scale, over the reviews of which the
            current one is known as well; None if there is none.
        change_unit: Mean change of the recommendations of the same reviews, on [-1, 1]; None if there is none.
        rating_spread: Highest minus lowest recommendation, on the venue's scale; None if none is known.
        spread_unit: The same on [0, 1] of the scale; None if fewer than two recommendations are known on it.
        confidence: Mean of the reviewers' current confidences, on the venue's scale; None if none is known.
        has_rebuttal: Whether the authors answered a review, or all reviews at once.
        score_changed: Whether a reviewer changed the overall recommendation; None if no first one is known.
        grade: How sure it is which PDF the reviewers read; None if no version has a grade.
        text_sha256: The file whose text is shown; None if there is no text.
        is_initial_text: Whether that file is the version the reviewers read, according to its grade.
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
    first_unit: float | None
    change_unit: float | None
    rating_spread: float | None
    spread_unit: float | None
    confidence: float | None
    conversations: int
    turns: int
    has_rebuttal: bool
    score_changed: bool | None
    grade: str | None
    text_sha256: str | None
    is_initial_text: bool


COLUMNS = tuple(field.name for field in fields(PaperRow))


def _compute_mean(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return round(fmean(numbers), 6) + 0.0 if numbers else None  # The index holds -0.0 to be less than 0.


def _is_changed(pairs: Iterable[tuple[Score, Score]]) -> bool | None:
    values = [(first.value, last.value) for first, last in pairs if None not in (first.value, last.value)]
    return any(first != last for first, last in values) if values else None


def paper_row(forum: PublicForum, held: frozenset[str]) -> PaperRow:
    """Summarise one paper; `held` has the sha256 of every file with a text."""
    paper = forum.paper
    chosen = [(one, choose_score(one.scores, Aspect.RECOMMENDATION, "rating")) for one in forum.reviews]
    scores = [score for _, score in chosen if score is not None]
    values = [score.value for score in scores if score.value is not None]
    units = [score.unit for score in scores if score.unit is not None]
    # Two reviews by one person are one rater's; the last counts.
    by_rater = {one.reviewer or one.review_id: score for one, score in chosen if score is not None}.values()
    spread = [score.value for score in by_rater if score.value is not None]
    spread_units = [score.unit for score in by_rater if score.unit is not None]
    given = (choose_own_first_and_last(one.scores, Aspect.RECOMMENDATION, "rating") for one in forum.reviews)
    pairs = [pair for pair in given if pair is not None]
    both = ((first.unit, last.unit) for first, last in pairs)
    compared = [(first, last) for first, last in both if first is not None and last is not None]
    scale = next((score for score in scores if score.low is not None), None)
    sure = (choose_score(review.scores, Aspect.CONFIDENCE, "confidence") for review in forum.reviews)
    best = next((one for one in TextRule().rank_versions(forum.versions) if one.sha256 in held), None)
    initial = forum.initial
    return PaperRow(
        forum_id=paper.forum_id,
        venue_id=paper.venue_id,
        conference=paper.conference,
        year=paper.year,
        track=paper.track,
        title=redact_people(paper.title),
        abstract=redact_people(paper.abstract),
        keywords=tuple(redact_people(list(paper.keywords))),
        status=paper.status.value,
        decision=redact_people(paper.decision),
        created_at=paper.created_at.isoformat() if paper.created_at else None,
        reviews=len(forum.reviews),
        rating=_compute_mean(values),
        rating_low=scale.low if scale else None,
        rating_high=scale.high if scale else None,
        rating_unit=_compute_mean(units),
        first_unit=_compute_mean(first for first, _ in compared),
        change_unit=_compute_mean(last - first for first, last in compared),
        rating_spread=max(spread) - min(spread) if spread else None,
        spread_unit=round(max(spread_units) - min(spread_units), 6) if len(spread_units) > 1 else None,
        confidence=_compute_mean(score.value for score in sure if score is not None),
        conversations=len(forum.with_reviewers),
        turns=sum(len(talk.turns) for talk in forum.with_reviewers),
        has_rebuttal=forum.has_rebuttal,
        score_changed=_is_changed(pairs),
        grade=initial.grade.value if initial and initial.grade else None,
        text_sha256=best.sha256 if best else None,
        is_initial_text=best is not None and best.is_initial,
    )


def texts_by_post(forum: PublicForum) -> Iterator[tuple[str, str, str]]:
    """Yield the texts of a forum that are searched, each with its field of the index and the id of its review or post.

    The fields are reviews, answers and others; the id is "" if there is none.
    """
    review_ids = {review.review_id for review in forum.reviews}
    for review in forum.reviews:
        passages = [
            review.title or "",
            *(section.text for section in select_own(review.sections)),
            review.final_justification or "",
        ]
        yield "reviews", review.review_id, "\n\n".join(filter(None, passages))
    for post in forum.posts:
        if post.post_id not in review_ids:
            name = "answers" if post.role.value == "author" else "others"
            yield name, post.post_id, "\n\n".join(filter(None, (post.title, post.text)))
    for talk in forum.conversations:
        for turn in talk.turns:
            if not turn.post_ids and turn.text and turn.role.value != "reviewer":
                yield ("answers" if turn.role.value == "author" else "others"), "", turn.text
