"""Read rows of ReviewBench as papers, reviews and posts."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm, is_score, read_score
from peercorpus.forms.published_records import (
    CLAIMED,
    INITIAL,
    LABEL,
    OVERALL_ASPECTS,
    PublishedPaper,
    build_paper,
    build_review,
    choose_form,
    find_final_name,
    find_scored_name,
    rename_overall,
    response_post,
    review_post,
)
from peercorpus.forms.reviews import fields_to_json, read_fields
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.importers.reader import StatedPaper
from peercorpus.importers.reviewbench import (
    EXTRA_FIELDS,
    SHAPE,
    ReviewBenchRow,
    columns_of_paper,
    put_away,
    texts_of_review,
    write_shape,
)
from peercorpus.records.datasets import non_empty, undeclared_members
from peercorpus.records.enums import Aspect, Phase, ScoreSource
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Review
from peercorpus.records.scores import Score
from peercorpus.workspace.raw_store import RawObject

EXTRA_COLUMNS = ("conference", "year", "track", "num_reviews")
"""Columns of a paper that go to `extra`: conference, year and track are read from the venue id instead."""
OVERALL_FIELDS = tuple(OVERALL_ASPECTS)

AnswerT = TypeVar("AnswerT")


def read_reviewbench_record(
    raw_record: RawObject, declared: ReviewForm | None, words: VenueVocabulary
) -> PublishedPaper:
    """Return the paper of one ReviewBench row, with its responses and its reviews, read with a declared form if any.

    Raises:
        msgspec.DecodeError: The row does not match the dataset's card.
    """
    row = msgspec.json.decode(raw_record.body, type=ReviewBenchRow)
    others = {name: getattr(row, name) for name in EXTRA_COLUMNS} | undeclared_members(raw_record.body, ReviewBenchRow)
    stated = StatedPaper(
        title=non_empty(row.title),
        abstract=non_empty(row.abstract),
        authors=tuple(filter(None, row.authors or ())),
        keywords=tuple(filter(None, row.keywords or ())),
        tldr=non_empty(row.tldr),
        primary_area=non_empty(row.primary_area),
        year=row.year,
        number=row.paper_number,
        venue=non_empty(row.venue),
        decision=non_empty(row.decision),
        decision_comment=non_empty(row.decision_comment),
        extra={name: value for name, value in others.items() if value is not None},
    )
    paper = build_paper(row.forum_id, raw_record.venue_id, words, stated)
    paper = replace(paper, extra=_add_shape(paper.extra, _find_row_shape(row, paper)))
    reviews, posts = [], []
    review_ids: set[str] = set()
    for number, answers in enumerate(row.reviews, 1):
        review, rebuttal = _read_reviewbench_review(answers, paper, raw_record.object_id, number, declared, words)
        if review.review_id in review_ids:
            review = replace(review, review_id=f"{raw_record.object_id}/{number}")
        review_ids.add(review.review_id)
        shape = put_away(answers, texts_of_review(review, rebuttal))
        review = replace(review, extra=_add_shape(review.extra, shape))
        reviews.append(review)
        posts += [review_post(review), *([response_post(review, rebuttal)] if rebuttal else [])]
    if general := non_empty(row.author_rebuttal):
        posts.append(response_post(paper, general))
    return PublishedPaper(paper, tuple(reviews), tuple(posts))


def _add_shape(extra: str, shape: Mapping[str, Any]) -> str:
    return fields_to_json(msgspec.json.decode(extra, type=dict[str, Any]) | {SHAPE: write_shape(shape)})


def _find_row_shape(row: ReviewBenchRow, paper: Paper) -> dict[str, Any]:
    markdown = row.markdown or ""
    held = columns_of_paper(paper) | {"num_reviews": len(row.reviews), "markdown_chars": len(markdown)}
    # Texts, responses and reviews have their own tables.
    held |= {name: text for name in ("markdown", "author_rebuttal") if (text := non_empty(getattr(row, name)))}
    held |= {"reviews_json": row.reviews_json} if row.reviews else {}
    columns = ((name, getattr(row, name)) for name in ReviewBenchRow.__struct_fields__)
    return {name: value for name, value in columns if name not in held or value != held[name]}


def _read_reviewbench_review(
    answers: Mapping[str, Any],
    paper: Paper,
    record_id: str,
    number: int,
    declared: ReviewForm | None,
    words: VenueVocabulary,
) -> tuple[Review, str | None]:
    unread = {name: answer for name, answer in answers.items() if answer is not None and answer != ""}
    review_id, reviewer, rebuttal = (_take(unread, name, str) for name in ("review_id", "reviewer", "rebuttal"))
    revised = _take(unread, "was_revised", bool)
    # Answers that only the dataset, not the vocabulary, marks as scores have the aspect `OTHER`.
    extra_scores = unread.get("extra_scores")
    extra_names = map(str.lower, extra_scores) if isinstance(extra_scores, dict) else ()
    extra_aspects = {name: Aspect.OTHER for name in extra_names if name not in vocabulary.ASPECTS}
    names = answers.keys() | _take_extras(unread)
    form, conflict = choose_form(
        paper, ((find_scored_name(name), answer) for name, answer in unread.items()), declared, words
    )
    unread = rename_overall(unread, form)
    names |= unread.keys()
    unasked = {name: aspect for name, aspect in extra_aspects.items() if name not in {*form.lowered, *form.aspects}}
    form = replace(form, aspects={**form.aspects, **unasked}) if unasked else form
    labels = _take_labels(unread, names, form)
    earlier = {
        name: unread.pop(name)
        for name in list(unread)
        if (final := find_final_name(name)) != name and final in unread and is_score(final, unread[name], form)
    }
    first = _take_first_texts(unread)
    updated = _take(unread, "updated_fields", list) or []
    reading = read_fields(unread, form)
    scores = [
        replace(score, source=ScoreSource.PUBLISHED, label=labels.pop(score.field, score.label))
        for score in reading.scores
        if not _is_repeated(score, reading.scores)
    ]
    for name, answer in earlier.items():
        score = _read_published(name, answer, form)
        scores.append(replace(score, label=labels.pop(name, "") or score.label))
    # The remaining labels belong to answers that the dataset itself marks as not numeric.
    scores += [replace(_read_published(name, label, form), value=None) for name, label in labels.items()]
    review = build_review(
        paper,
        review_id or f"{record_id}/{number}",
        reviewer or f"unknown_{number}",
        form=form,
        form_conflict=conflict,
        title=reading.title,
        scores=tuple(scores),
        sections=reading.sections,
        final_justification=reading.final_justification,
        revised=revised,
        extra=reading.extra,
    )
    initial_sections = read_fields(first, form).sections
    return replace(review, initial_sections=initial_sections, updated_fields=tuple(map(str, updated))), rebuttal


def _take(answers: dict[str, Any], name: str, kind: type[AnswerT]) -> AnswerT | None:
    return answers.pop(name) if isinstance(answers.get(name), kind) else None


def _take_extras(answers: dict[str, Any]) -> set[str]:
    names: set[str] = set()
    for key in EXTRA_FIELDS:
        extras = _take(answers, key, dict) or {}
        names |= extras.keys()
        conflicting = {name: answer for name, answer in extras.items() if answers.get(name, answer) != answer}
        answers |= {
            name: answer for name, answer in extras.items() if name not in conflicting and answer not in (None, "")
        }
        answers |= {key: conflicting} if conflicting else {}
    return names


def _take_labels(answers: dict[str, Any], names: Set[str], form: ReviewForm) -> dict[str, str]:
    labelled = [name.removesuffix(LABEL) for name in answers if name.endswith(LABEL) and isinstance(answers[name], str)]
    scores = [name for name in labelled if name in names and form.aspect(find_final_name(name)) is not None]
    return {name: answers.pop(f"{name}{LABEL}") for name in scores}


def _take_first_texts(answers: dict[str, Any]) -> dict[str, str]:
    initial = [name for name in answers if name.endswith(INITIAL) and isinstance(answers[name], str)]
    names = [name.removesuffix(INITIAL) for name in initial]
    return {name: answers.pop(f"{name}{INITIAL}") for name in names if name in answers}


def _read_published(name: str, answer: object, form: ReviewForm) -> Score:
    score = read_score(answer, find_final_name(name), form, ScoreSource.PUBLISHED)
    if score.field == name:
        return score
    return replace(score, phase=Phase.INITIAL, source=ScoreSource.TEXT if name.endswith(CLAIMED) else score.source)


def _is_repeated(score: Score, scores: Sequence[Score]) -> bool:
    if score.field not in OVERALL_FIELDS or score.value is None:
        return False
    return any(
        other.field != score.field and (other.aspect, other.value) == (score.aspect, score.value) for other in scores
    )
