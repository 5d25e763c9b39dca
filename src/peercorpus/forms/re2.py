"""A record of Re²'s `REVIEWS_*.json` → a paper, its reviews and posts."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.published import Reading, build_paper, build_review, review_post
from peercorpus.forms.scores import read_score
from peercorpus.kinds import Phase, ScoreSource, SectionKind
from peercorpus.published.datasets import Answers, Re2Paper, Re2Review, Re2Scores, stated, unread
from peercorpus.raw import RawObject
from peercorpus.records import Paper, Review, Score, Section

CONTENT = "review_content"


def read_record(found: RawObject) -> Reading:
    """One paper with its reviews.

    Raises:
        msgspec.DecodeError: It does not hold what Re²'s card says it holds.
    """
    record = msgspec.json.decode(found.body, type=Re2Paper)
    rest = {"conference_year_track": record.conference_year_track} | unread(found.body, Re2Paper)
    paper = build_paper(
        record.paper_id,
        found.venue_id,
        decision=stated(record.decision),
        decision_comment=stated(record.metareview),
        extra={name: value for name, value in rest.items() if value is not None},
    )
    reviews = tuple(_read_review(each, paper, f"{found.object_id}/{n}", n) for n, each in enumerate(record.reviews, 1))
    return Reading(paper, reviews, tuple(map(review_post, reviews)))


def _read_review(answers: Answers, paper: Paper, review_id: str, number: int) -> Review:
    read = msgspec.convert(answers, Re2Review)
    form = ReviewForm(f"inferred:{paper.venue_id}", {})
    initial = list(_read_scores(read.initial_score, Phase.INITIAL, form))
    final = list(_read_scores(read.final_score, Phase.FINAL, form))
    content = stated(read.review_content)
    kind = vocabulary.SECTIONS.get(CONTENT, SectionKind.OTHER)
    known = Re2Review.__struct_fields__
    extra: dict[str, Any] = {name: answer for name, answer in answers.items() if name not in known}
    # Lines that are no scores stand where they were.
    extra |= {
        name: answers[name]
        for name, scores in (("initial_score", read.initial_score), ("final_score", read.final_score))
        if scores is not None and any(not line.partition(":")[1] for line in _lines(scores))
    }
    return build_review(
        paper,
        review_id,
        stated(read.reviewer_id) or f"unknown_{number}",
        title=stated(read.review_title),
        scores=(*initial, *final),
        sections=(Section(kind, CONTENT, content),) if content else (),
        revised=True if _is_changed(initial, final) else None,
        extra=extra,
    )


def _lines(scores: Re2Scores) -> list[str]:
    return (stated(scores.aspect_score) or "").splitlines()


def _read_scores(scores: Re2Scores | None, phase: Phase, form: ReviewForm) -> Iterator[Score]:
    """Rating and confidence, then one score for each line that names one; their scales are not known."""
    if scores is None:
        return
    named: list[tuple[str, str | float | None]] = [("rating", scores.rating), ("confidence", scores.confidence)]
    for line in _lines(scores):
        aspect, colon, label = line.partition(":")
        named.append((aspect.strip(), label.strip() if colon else None))
    for name, answer in named:
        if answer is not None and (not isinstance(answer, str) or stated(answer)):
            yield replace(read_score(answer, name, form, ScoreSource.PUBLISHED), phase=phase)


def _is_changed(initial: list[Score], final: list[Score]) -> bool:
    """Whether a score that both times name differs."""
    first = {score.field: score.label for score in initial}
    return any(first.get(score.field, score.label) != score.label for score in final)
