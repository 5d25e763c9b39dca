"""Build papers, reviews and posts from the records of published datasets.

Values that a dataset does not state are None; columns without a field go to `extra`.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm, find_contradiction
from peercorpus.forms.reviews import fields_to_json, read_fields
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.importers.datasets import READERS
from peercorpus.importers.reader import StatedPaper, StatedReview
from peercorpus.records.datasets import parse_dataset
from peercorpus.records.enums import (
    Aspect,
    PaperSource,
    Phase,
    PostKind,
    Role,
    ScoreSource,
    Status,
    VenueSource,
    YearSource,
)
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Post, Review, Section, join_prose
from peercorpus.records.scores import Score
from peercorpus.venues.venue_id import conference_of, track_of, year_of
from peercorpus.workspace.raw_store import RawObject

LABEL = "_label"
INITIAL = "_initial"
CLAIMED = "_initial_claimed"
"""Suffixes of columns: a score's verbatim answer, its first value, its first value as claimed by the reviewer."""
OVERALL_ASPECTS = {"rating": Aspect.RECOMMENDATION, "confidence": Aspect.CONFIDENCE}
"""Names of the overall scores in both datasets, whatever their names in the form."""


@dataclass(frozen=True, slots=True)
class PublishedPaper:
    """One paper as stated in a published record."""

    paper: Paper
    reviews: tuple[Review, ...]
    posts: tuple[Post, ...]


def build_paper(forum_id: str, venue_id: str, words: VenueVocabulary, stated: StatedPaper) -> Paper:
    """Return a paper from a dataset's statements, in the vocabulary of its venue."""
    status = words.status_of_decision(stated.decision) if stated.decision else Status.UNKNOWN
    if status is Status.UNKNOWN and stated.venue:
        status = words.status_of_venue(stated.venue)
    if status is Status.UNKNOWN and stated.status is not None:
        status = stated.status
    named = year_of(venue_id)
    year_from = None if stated.year is None else YearSource.RECORD
    return Paper(
        forum_id=forum_id,
        venue_id=venue_id,
        conference=conference_of(venue_id),
        year=stated.year if named is None else named,
        track=track_of(venue_id),
        number=stated.number,
        title=stated.title,
        abstract=stated.abstract,
        authors=stated.authors,
        keywords=stated.keywords,
        tldr=stated.tldr,
        primary_area=stated.primary_area,
        venue=stated.venue,
        status=status,
        decision=stated.decision,
        decided_at=None,
        decision_comment=stated.decision_comment,
        licence=None,
        created_at=None,
        modified_at=None,
        extra=fields_to_json(stated.extra),
        known_from=PaperSource.RECORD,
        venue_from=VenueSource.RECORD,
        year_from=year_from if named is None else YearSource.VENUE,
    )


def find_own_name(name: str, answer: object, form: ReviewForm) -> str:
    """Return the form's own name for an answer that a dataset calls `rating` or `confidence` for every venue.

    A confidence that the form's question cannot have offered keeps the dataset's name, as some forms ask for
    experience.
    """
    aspect = OVERALL_ASPECTS.get(name.casefold())
    if aspect is None or name.casefold() in form.lowered:
        return name
    names = [question.name for question in form.questions.values() if form.aspect(question.name) is aspect]
    is_usable = len(names) == 1 and (aspect is Aspect.RECOMMENDATION or not find_contradiction(names[0], answer, form))
    return names[0] if is_usable else name


def find_scored_name(name: str) -> str:
    """Return the name of the score whose value, first value or label a column contains."""
    return find_final_name(name.removesuffix(LABEL))


def rename_overall(answers: Mapping[str, Any], form: ReviewForm) -> dict[str, Any]:
    """Return the answers with the form's own names of overall scores, unless the record also has these names."""
    renamed: dict[str, Any] = {}
    for name, answer in answers.items():
        score = find_scored_name(name)
        own = find_own_name(score, answers.get(score), form)
        renamed[name if own in answers else own + name.removeprefix(score)] = answer
    return renamed


def find_final_name(name: str) -> str:
    """Return the name of the final score for the name of an initial one; any other name unchanged."""
    return name.removesuffix(CLAIMED).removesuffix(INITIAL)


def choose_form(
    paper: Paper, answers: Iterable[tuple[str, object]], declared: ReviewForm | None, words: VenueVocabulary
) -> tuple[ReviewForm, str | None]:
    """Return the form to read a review with, and the answer by which it contradicts the declared form, or None."""
    inferred = ReviewForm(f"inferred:{paper.venue_id}", {}, aspects=words.aspects)
    if declared is None:
        return inferred, None
    for name, answer in answers:
        if (contradiction := find_contradiction(find_own_name(name, answer, declared), answer, declared)) is not None:
            return inferred, f"{name}: {contradiction}"
    return declared, None


def build_review(
    paper: Paper,
    review_id: str,
    reviewer: str,
    *,
    form: ReviewForm,
    form_conflict: str | None,
    title: str | None,
    scores: tuple[Score, ...],
    sections: tuple[Section, ...],
    final_justification: str | None = None,
    revised: bool | None,
    extra: Mapping[str, Any],
) -> Review:
    """Return a review from a dataset's statements, read with the form declared for the venue, or without a form."""
    return Review(
        review_id=review_id,
        forum_id=paper.forum_id,
        venue_id=paper.venue_id,
        form_id=form.form_id,
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
        extra=fields_to_json(extra),
        form_conflict=form_conflict,
    )


def fill_first_scores(review: Review) -> Review:
    """Return a review with its scores as first ones too, if the dataset states that it was never revised."""
    known = {score.key for score in review.scores if score.phase is Phase.INITIAL}
    if review.revised is not False:
        return review
    last = (score for score in review.scores if score.phase is Phase.FINAL and score.key not in known)
    return replace(review, scores=(*review.scores, *(replace(score, phase=Phase.INITIAL) for score in last)))


def review_post(review: Review) -> Post:
    """Return the post for a review."""
    text = join_prose({section.field: section.text for section in review.sections})
    speaker = (Role.REVIEWER, review.reviewer)
    return _build_post(review, review.review_id, None, PostKind.REVIEW, speaker, review.title, text)


def response_post(answered: Paper | Review, text: str) -> Post:
    """Return the post of the authors' response to one review or to all; a dataset may have joined several posts."""
    reply_to = answered.review_id if isinstance(answered, Review) else None
    post_id = f"{reply_to or answered.forum_id}/rebuttal"
    return _build_post(answered, post_id, reply_to, PostKind.REBUTTAL, (Role.AUTHOR, ""), None, text)


def _build_post(
    source: Paper | Review,
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
        forum_id=source.forum_id,
        venue_id=source.venue_id,
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


OVERALL = {"overall": Aspect.RECOMMENDATION, "recommendation_unofficial": Aspect.OTHER}
"""Aspects of scores that these layouts name but no form does."""


def read_stated_record(raw_record: RawObject, declared: ReviewForm | None, words: VenueVocabulary) -> PublishedPaper:
    """Return the paper of one record with its posts, responses and reviews, read with a declared form if any.

    Raises:
        msgspec.DecodeError: The record does not have the shape of its layout.
    """
    dataset = parse_dataset(raw_record.object_id)
    stated = READERS[dataset].read_body(raw_record.body)
    # A list of papers has "Poster" instead of "ICLR 2024 poster".
    paper = build_paper(raw_record.forum_id, raw_record.venue_id, words, replace(stated, venue=stated.decision))
    paper = replace(paper, venue=None)
    reviews, posts = [], []
    # A reviewer may have several reviews, each of which needs its own id.
    for number, one in enumerate(stated.reviews, 1):
        review = _read_review(one, paper, f"{dataset.prefix}{paper.forum_id}/{number}", number, declared, words)
        reviews.append(review)
        posts += [review_post(review), *([response_post(review, one.response)] if one.response else [])]
    for number, post in enumerate(stated.posts, 1):
        post_id, speaker = f"{paper.forum_id}/post/{number}", (post.role, post.signature)
        posts.append(_build_post(paper, post_id, None, post.kind, speaker, post.title, post.text))
    return PublishedPaper(paper, tuple(reviews), tuple(posts))


def _read_review(
    stated: StatedReview, paper: Paper, made_id: str, number: int, declared: ReviewForm | None, words: VenueVocabulary
) -> Review:
    form, conflict = choose_form(paper, stated.answers.items(), declared, words)
    answers = rename_overall(stated.answers, form)
    aspects = {
        name.lower(): OVERALL.get(name.lower(), Aspect.OTHER)
        for name in stated.scores & answers.keys()
        if name.lower() not in vocabulary.ASPECTS and name.lower() not in {*form.lowered, *form.aspects}
    }
    form = replace(form, aspects={**form.aspects, **aspects}) if aspects else form
    reading = read_fields(answers, form)
    return build_review(
        paper,
        stated.review_id or made_id,
        stated.reviewer or f"unknown_{number}",
        form=form,
        form_conflict=conflict,
        title=reading.title,
        scores=tuple(_as_published(score, stated.unrated, form) for score in reading.scores),
        sections=reading.sections,
        final_justification=reading.final_justification,
        revised=None,
        extra={**reading.extra, **stated.extra},
    )


def _as_published(score: Score, unrated: Set[str], form: ReviewForm) -> Score:
    """Return a score as a record states it; a number that stands for "no rating" is only its label, unless offered."""
    is_rated = score.field not in unrated or (
        score.value is not None and form.question(score.field).offers(score.value)
    )
    published = replace(score, source=ScoreSource.PUBLISHED)
    return published if is_rated else replace(published, value=None, unified=None)
