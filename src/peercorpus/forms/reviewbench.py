"""A row of ReviewBench → a paper, its reviews and posts.

`rating` and `confidence` stand in every review beside the form's own fields. In a release of peercorpus itself a field
that ends in `_label` or `_initial` beside one of that name holds the verbatim answer behind a score, or what was given
first (`_initial_claimed`: in the reviewer's own words), and `extra_other` the answers that are neither number nor text.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.published import Reading, build_paper, build_review, response_post, review_post
from peercorpus.forms.reviews import read_fields
from peercorpus.forms.scores import is_score, read_score
from peercorpus.kinds import Aspect, Phase, ScoreSource
from peercorpus.published.datasets import ReviewBenchRow, stated, unread
from peercorpus.raw import RawObject
from peercorpus.records import Paper, Review, Score

NOT_KEPT = ("conference", "year", "track", "num_reviews")
"""Columns of a paper that go to `extra`: the venue's id says the first three, as the catalogue reads it."""
OVERALL = ("rating", "confidence")
EXTRAS = ("extra_scores", "extra_text", "extra_other")
"""Where ReviewBench, and a release of ours, keep the answers that have no field of their own."""
LABEL, INITIAL, CLAIMED = "_label", "_initial", "_initial_claimed"

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
    given = {name: answer for name, answer in answers.items() if answer is not None and answer != ""}
    review_id, reviewer, rebuttal = (_take(given, name, str) for name in ("review_id", "reviewer", "rebuttal"))
    revised = _take(given, "was_revised", bool)
    form = ReviewForm(f"inferred:{paper.venue_id}", {}, _aspects_of_extras(given))
    beside = _take_extras(given)
    labels = _take_labels(given, answers.keys() | beside, form)
    earlier = {name: given.pop(name) for name in list(given) if _is_initial(name, given, form)}
    first = _take_first_texts(given)
    updated = _take(given, "updated_fields", list) or []
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
    initial_sections = read_fields(first, form).sections
    return replace(review, initial_sections=initial_sections, updated_fields=tuple(map(str, updated))), rebuttal


def _take(given: dict[str, Any], name: str, kind: type[AnswerT]) -> AnswerT | None:
    """Take an answer out; None, and it stays, where it is of another kind."""
    return given.pop(name) if isinstance(given.get(name), kind) else None


def _aspects_of_extras(given: Mapping[str, Any]) -> dict[str, Aspect]:
    """What the answers are about of which the dataset says that they are scores, and the vocabulary nothing."""
    scores = given.get("extra_scores")
    names = (name.lower() for name in scores) if isinstance(scores, dict) else ()
    return {name: Aspect.OTHER for name in names if name not in vocabulary.ASPECTS}


def _take_extras(given: dict[str, Any]) -> set[str]:
    """Put the answers that are kept apart beside the others, unless their name is taken; the names of all of them."""
    names: set[str] = set()
    for key in EXTRAS:
        apart = _take(given, key, dict) or {}
        names |= apart.keys()
        rest = {name: answer for name, answer in apart.items() if given.get(name, answer) != answer}
        given |= {name: answer for name, answer in apart.items() if name not in rest and answer not in (None, "")}
        given |= {key: rest} if rest else {}
    return names


def _take_labels(given: dict[str, Any], names: Set[str], form: ReviewForm) -> dict[str, str]:
    """Take out the verbatim answers behind scores, by the score's name."""
    scored = [name.removesuffix(LABEL) for name in given if name.endswith(LABEL) and isinstance(given[name], str)]
    return {
        name: given.pop(f"{name}{LABEL}")
        for name in scored
        if name in names and form.aspect(_standing(name)) is not None
    }


def _take_first_texts(given: dict[str, Any]) -> dict[str, str]:
    """Take out the texts as first given, by the name of the text that stands now."""
    names = [name for name in given if name.endswith(INITIAL) and isinstance(given[name], str)]
    return {name.removesuffix(INITIAL): given.pop(name) for name in names if name.removesuffix(INITIAL) in given}


def _standing(name: str) -> str:
    """What a score as first given is called as it stands now; any other name as it is."""
    return name.removesuffix(CLAIMED).removesuffix(INITIAL)


def _read_published(name: str, answer: object, form: ReviewForm) -> Score:
    """A score, under the form's own name, at the time that the name in the dataset says."""
    score = read_score(answer, _standing(name), form, ScoreSource.PUBLISHED)
    if score.field == name:
        return score
    return replace(score, phase=Phase.INITIAL, source=ScoreSource.TEXT if name.endswith(CLAIMED) else score.source)


def _read_initial(name: str, answer: object, label: str | None, form: ReviewForm) -> Score:
    score = _read_published(name, answer, form)
    return replace(score, label=label or score.label)


def _is_initial(name: str, given: Mapping[str, Any], form: ReviewForm) -> bool:
    standing = _standing(name)
    return name != standing and standing in given and is_score(standing, given[name], form)


def _is_repeated(score: Score, scores: Sequence[Score]) -> bool:
    """Whether it is what the dataset itself repeats of a field of the form."""
    if score.field not in OVERALL or score.value is None:
        return False
    return any(
        other.field != score.field and (other.aspect, other.value) == (score.aspect, score.value) for other in scores
    )
