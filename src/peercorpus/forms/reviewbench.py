"""A row of ReviewBench → a paper, its reviews and posts.

`rating` and `confidence` stand in every review beside the form's own fields. In a release of peercorpus itself a field
that ends in `_label` or `_initial` beside a score of that name holds the verbatim answer, or the earlier score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from peercorpus.forms.derive import ReviewForm
from peercorpus.forms.published import Reading, build_paper, build_review, response_post, review_post
from peercorpus.forms.reviews import is_score, read_fields, read_score
from peercorpus.kinds import Phase, ScoreSource
from peercorpus.published.datasets import ReviewBenchRow, stated, unread
from peercorpus.raw import RawObject
from peercorpus.records import Paper, Review, Score

NOT_KEPT = ("conference", "year", "track", "num_reviews")
"""Columns of a paper that go to `extra`: the venue's id says the first three, as the catalogue reads it."""
OVERALL = ("rating", "confidence")
LABEL, INITIAL = "_label", "_initial"

AnswerT = TypeVar("AnswerT")


def read_record(found: RawObject) -> Reading:
    """One row.

    Raises:
        msgspec.DecodeError: It does not hold what ReviewBench's card says it holds.
    """
    row = msgspec.json.decode(found.body, type=ReviewBenchRow)
    rest = {name: getattr(row, name) for name in NOT_KEPT} | unread(found.body, ReviewBenchRow)
    paper = build_paper(
        row.forum_id,
        found.venue_id,
        year=row.year,
        number=row.paper_number,
        title=stated(row.title),
        abstract=stated(row.abstract),
        authors=_words(row.authors),
        keywords=_words(row.keywords),
        tldr=stated(row.tldr),
        primary_area=stated(row.primary_area),
        venue=stated(row.venue),
        decision=stated(row.decision),
        decision_comment=stated(row.decision_comment),
        extra={name: value for name, value in rest.items() if value is not None},
    )
    reviews, posts = [], []
    for number, answers in enumerate(row.reviews, 1):
        review, rebuttal = _read_review(answers, paper, found.object_id, number)
        reviews.append(review)
        posts += [review_post(review), *([response_post(review, rebuttal)] if rebuttal else [])]
    general = stated(row.author_rebuttal)
    posts += [response_post(paper, general)] if general else []
    return Reading(paper, tuple(reviews), tuple(posts))


def _words(names: list[str | None] | None) -> tuple[str, ...]:
    return tuple(name for name in names or () if name)


def _read_review(answers: Mapping[str, Any], paper: Paper, record_id: str, number: int) -> tuple[Review, str | None]:
    """One review, and what the authors answered to it."""
    form = ReviewForm(f"inferred:{paper.venue_id}", {})
    given = {name: answer for name, answer in answers.items() if answer is not None and answer != ""}
    review_id, reviewer, rebuttal = (_take(given, name, str) for name in ("review_id", "reviewer", "rebuttal"))
    revised = _take(given, "was_revised", bool)
    labels = _take_labels(given, answers, form)
    earlier = {name: given.pop(name) for name in list(given) if _is_initial(name, given, form)}
    reading = read_fields(given, form)
    scores = [
        replace(score, source=ScoreSource.PUBLISHED, label=labels.pop(score.field, score.label))
        for score in reading.scores
        if not _is_repeated(score, reading.scores)
    ]
    scores += [_read_initial(name, answer, labels.pop(name, None), form) for name, answer in earlier.items()]
    # What is left are answers of which the dataset itself says that they are no number.
    scores += [replace(_read_published(name, label, form), value=None) for name, label in labels.items()]
    review = build_review(
        paper,
        review_id or f"{record_id}/{number}",
        reviewer or f"unknown_{number}",
        title=reading.title,
        scores=tuple(scores),
        sections=reading.sections,
        final_justification=reading.final_justification,
        revised=revised,
        extra=reading.extra,
    )
    return review, rebuttal


def _take(given: dict[str, Any], name: str, kind: type[AnswerT]) -> AnswerT | None:
    """Take an answer out; None, and it stays, where it is of another kind."""
    return given.pop(name) if isinstance(given.get(name), kind) else None


def _take_labels(given: dict[str, Any], answers: Mapping[str, Any], form: ReviewForm) -> dict[str, str]:
    """Take out the verbatim answers behind scores, by the score's name."""
    scored = [name.removesuffix(LABEL) for name in given if name.endswith(LABEL) and isinstance(given[name], str)]
    return {
        name: given.pop(f"{name}{LABEL}")
        for name in scored
        if name in answers and form.aspect(name.removesuffix(INITIAL)) is not None
    }


def _read_published(name: str, answer: object, form: ReviewForm) -> Score:
    """A score, under the form's own name, at the time that the name in the dataset says."""
    score = read_score(answer, name.removesuffix(INITIAL), form, ScoreSource.PUBLISHED)
    return replace(score, phase=Phase.INITIAL) if name.endswith(INITIAL) else score


def _read_initial(name: str, answer: object, label: str | None, form: ReviewForm) -> Score:
    score = _read_published(name, answer, form)
    return replace(score, label=label or score.label)


def _is_initial(name: str, given: Mapping[str, Any], form: ReviewForm) -> bool:
    standing = name.removesuffix(INITIAL)
    return name != standing and standing in given and is_score(standing, given[name], form)


def _is_repeated(score: Score, scores: Sequence[Score]) -> bool:
    """Whether it is what the dataset itself repeats of a field of the form."""
    if score.field not in OVERALL or score.value is None:
        return False
    return any(
        other.field != score.field and (other.aspect, other.value) == (score.aspect, score.value) for other in scores
    )
