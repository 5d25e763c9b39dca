"""Read what the importers' readers state as papers, reviews and posts."""

from collections.abc import Set
from dataclasses import replace

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.published_records import (
    PublishedPaper,
    build_paper,
    build_review,
    choose_form,
    response_post,
    review_post,
)
from peercorpus.forms.reviewbench_records import rename_overall
from peercorpus.forms.reviews import read_fields
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.importers.datasets import READERS
from peercorpus.importers.reader import StatedPost, StatedReview, parse_dataset
from peercorpus.records.enums import Aspect, ScoreSource, Status
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Post, Review
from peercorpus.records.scores import Score
from peercorpus.workspace.raw_store import RawObject

OVERALL = {"overall": Aspect.RECOMMENDATION, "recommendation_unofficial": Aspect.OTHER}
"""Aspects of scores that these layouts name but no form does."""


def read_stated_record(raw_record: RawObject, declared: ReviewForm | None, words: VenueVocabulary) -> PublishedPaper:
    """Return the paper of one record with its posts, responses and reviews, read with a declared form if any.

    Raises:
        msgspec.DecodeError: The record does not have the shape of its layout.
    """
    dataset = parse_dataset(raw_record.object_id)
    stated = READERS[dataset].read_body(raw_record.body)
    paper = build_paper(
        raw_record.forum_id,
        raw_record.venue_id,
        words,
        title=stated.title,
        abstract=stated.abstract,
        authors=stated.authors,
        keywords=stated.keywords,
        tldr=stated.tldr,
        primary_area=stated.primary_area,
        venue=stated.decision,  # A list of papers has "Poster" instead of "ICLR 2024 poster".
        decision=stated.decision,
        decision_comment=stated.decision_comment,
        extra=stated.extra,
    )
    paper = replace(paper, venue=None)
    if paper.status is Status.UNKNOWN and stated.status is not None:
        paper = replace(paper, status=stated.status)
    reviews, posts = [], []
    # A reviewer may have several reviews, each of which needs its own id.
    for number, one in enumerate(stated.reviews, 1):
        review = _read_review(one, paper, f"{dataset.prefix}{paper.forum_id}/{number}", number, declared, words)
        reviews.append(review)
        posts += [review_post(review), *([response_post(review, one.response)] if one.response else [])]
    posts += [_read_post(one, paper, number) for number, one in enumerate(stated.posts, 1)]
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


def _read_post(stated: StatedPost, paper: Paper, number: int) -> Post:
    return Post(
        post_id=f"{paper.forum_id}/post/{number}",
        forum_id=paper.forum_id,
        venue_id=paper.venue_id,
        reply_to=None,
        kind=stated.kind,
        role=stated.role,
        invitation="",
        signature=stated.signature,
        created_at=None,
        modified_at=None,
        title=stated.title,
        text=stated.text,
        readers_public=True,
        deleted=False,
        extra="{}",
    )
