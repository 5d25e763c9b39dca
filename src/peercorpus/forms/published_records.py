"""Read records of ReviewBench and Re² as papers, reviews and posts.

What a dataset does not state stays None; columns without a place of their own go to `extra`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.answer_checks import find_contradiction
from peercorpus.forms.form import ReviewForm, is_score, read_score
from peercorpus.forms.reviews import fields_to_json, read_fields
from peercorpus.forms.scales import read_number
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.records.enums import (
    Aspect,
    PaperSource,
    Phase,
    PostKind,
    Role,
    ScoreSource,
    SectionKind,
    Status,
    VenueSource,
)
from peercorpus.records.papers import Paper
from peercorpus.records.published_datasets import (
    Answers,
    Re2Paper,
    Re2Review,
    Re2Scores,
    ReviewBenchRow,
    non_empty,
    undeclared_members,
)
from peercorpus.records.reviews import Post, Review, Section, join_prose
from peercorpus.records.scores import Score
from peercorpus.venues.venue_id import conference_of, track_of, year_of
from peercorpus.workspace.raw_store import RawObject

_OVERALL_ASPECTS = {"rating": Aspect.RECOMMENDATION, "confidence": Aspect.CONFIDENCE}
"""What both datasets call the overall scores, whatever the form calls them."""


@dataclass(frozen=True, slots=True)
class PublishedPaper:
    """One paper as a published record has it."""

    paper: Paper
    reviews: tuple[Review, ...]
    posts: tuple[Post, ...]


def build_paper(
    forum_id: str,
    venue_id: str,
    words: VenueVocabulary,
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
    """Return a paper from what a dataset states, in the words of its venue.

    `year` counts only if the venue id contains none.
    """
    status = words.status_of_decision(decision) if decision else Status.UNKNOWN
    if status is Status.UNKNOWN and venue:
        status = words.status_of_venue(venue)
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
        extra=fields_to_json(extra),
        known_from=PaperSource.RECORD,
        venue_from=VenueSource.RECORD,
    )


def _find_own_name(name: str, answer: object, form: ReviewForm) -> str:
    """Return the form's own name for an answer that a dataset calls `rating` or `confidence` at every venue.

    A confidence that the form's question cannot have offered keeps the dataset's name: some forms ask for experience.
    """
    aspect = _OVERALL_ASPECTS.get(name.casefold())
    if aspect is None or name.casefold() in form.lowered:
        return name
    asked = [question.name for question in form.questions.values() if form.aspect(question.name) is aspect]
    is_usable = len(asked) == 1 and (aspect is Aspect.RECOMMENDATION or not find_contradiction(asked[0], answer, form))
    return asked[0] if is_usable else name


def choose_form(
    paper: Paper, answers: Iterable[tuple[str, object]], declared: ReviewForm | None, words: VenueVocabulary
) -> tuple[ReviewForm, str | None]:
    """Return the form to read a review with, and the answer by which it contradicts the declared form, or None.

    Args:
        paper: The review's paper.
        answers: The scores by the dataset's names for their fields.
        declared: The form declared for the paper's venue, by the user or else by this package; None without one.
        words: The venue's own vocabulary.
    """
    inferred = ReviewForm(f"inferred:{paper.venue_id}", {}, aspects=words.aspects)
    if declared is None:
        return inferred, None
    for name, answer in answers:
        if (told := find_contradiction(_find_own_name(name, answer, declared), answer, declared)) is not None:
            return inferred, f"{name}: {told}"
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
    """Return a review from what a dataset states, read with the form declared for the venue, or else without one."""
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


def review_post(review: Review) -> Post:
    """Return the post that a review was."""
    text = join_prose({section.field: section.text for section in review.sections})
    speaker = (Role.REVIEWER, review.reviewer)
    return _build_post(review, review.review_id, None, PostKind.REVIEW, speaker, review.title, text)


def response_post(answered: Paper | Review, text: str) -> Post:
    """Return the authors' response to one review or to all; a dataset may have joined several posts into one."""
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


RE2_TEXT_FIELD = "review_content"


def read_re2_record(raw_record: RawObject, declared: ReviewForm | None, words: VenueVocabulary) -> PublishedPaper:
    """Return one paper of Re² with its reviews, read with the form declared for its venue, if any.

    Raises:
        msgspec.DecodeError: The record does not match the dataset's card.
    """
    record = msgspec.json.decode(raw_record.body, type=Re2Paper)
    other_columns = {"conference_year_track": record.conference_year_track} | undeclared_members(
        raw_record.body, Re2Paper
    )
    paper = build_paper(
        record.paper_id,
        raw_record.venue_id,
        words,
        decision=non_empty(record.decision),
        decision_comment=non_empty(record.metareview),
        extra={name: value for name, value in other_columns.items() if value is not None},
    )
    numbered = enumerate(record.reviews, 1)
    reviews = [
        _read_re2_review(answers, paper, f"{raw_record.object_id}/{n}", n, declared, words) for n, answers in numbered
    ]
    return PublishedPaper(paper, tuple(reviews), tuple(map(review_post, reviews)))


def _read_re2_review(
    answers: Answers, paper: Paper, review_id: str, number: int, declared: ReviewForm | None, words: VenueVocabulary
) -> Review:
    read = msgspec.convert(answers, Re2Review)
    named = {Phase.INITIAL: _name_re2_scores(read.initial_score), Phase.FINAL: _name_re2_scores(read.final_score)}
    form, conflict = choose_form(paper, (pair for pairs in named.values() for pair in pairs), declared, words)
    initial, final = (
        [
            _add_stated(score, answers.get(f"{phase.value}_score_unified"))
            for score in _read_re2_scores(named[phase], phase, form)
        ]
        for phase in (Phase.INITIAL, Phase.FINAL)
    )
    first_labels = {score.field: score.label for score in initial}
    # Scores of only one phase are ignored.
    is_changed = any(first_labels.get(score.field, score.label) != score.label for score in final)
    content = non_empty(read.review_content)
    kind = vocabulary.SECTIONS.get(RE2_TEXT_FIELD, SectionKind.OTHER)
    declared_names = Re2Review.__struct_fields__
    extra: dict[str, Any] = {name: answer for name, answer in answers.items() if name not in declared_names}
    # Score fields with lines that are not scores stay in `extra` as well.
    extra |= {
        name: answers[name]
        for name, scores in (("initial_score", read.initial_score), ("final_score", read.final_score))
        if scores is not None and any(not line.partition(":")[1] for line in _split_aspect_lines(scores))
    }
    return build_review(
        paper,
        review_id,
        non_empty(read.reviewer_id) or f"unknown_{number}",
        form=form,
        form_conflict=conflict,
        title=non_empty(read.review_title),
        scores=(*initial, *final),
        sections=(Section(kind, RE2_TEXT_FIELD, content),) if content else (),
        revised=True if is_changed else None,
        extra=extra,
    )


def _split_aspect_lines(scores: Re2Scores) -> list[str]:
    return (non_empty(scores.aspect_score) or "").splitlines()


def _name_re2_scores(scores: Re2Scores | None) -> list[tuple[str, str | float]]:
    """Return rating and confidence, then one answer for each aspect named in a line."""
    if scores is None:
        return []
    named: list[tuple[str, str | float | None]] = [("rating", scores.rating), ("confidence", scores.confidence)]
    for line in _split_aspect_lines(scores):
        aspect, colon, label = line.partition(":")
        named.append((aspect.strip(), label.strip() if colon else None))
    return [
        (name, answer)
        for name, answer in named
        if answer is not None and (not isinstance(answer, str) or non_empty(answer))
    ]


def _read_re2_scores(named: Sequence[tuple[str, str | float]], phase: Phase, form: ReviewForm) -> Iterator[Score]:
    """Yield one score for each name; several lines on one aspect make one score.

    Its label is all distinct answers, one per line; its value is None unless all have the same number.
    """
    scores_by_name: dict[str, list[Score]] = defaultdict(list)
    for name, answer in named:
        field = _find_own_name(name, answer, form)
        scores_by_name[name.casefold()].append(read_score(answer, field, form, ScoreSource.PUBLISHED))
    for same_name in scores_by_name.values():
        values = {score.value for score in same_name}
        labels = "\n".join(dict.fromkeys(score.label for score in same_name))
        if len(values) == 1:
            yield replace(same_name[0], phase=phase, label=labels)
        else:
            yield replace(same_name[0], phase=phase, label=labels, value=None, unified=None)


def _add_stated(score: Score, unified: object) -> Score:
    """Return a score with what Re² itself gives for it on its unified scale, which never replaces what we read."""
    names = {aspect: name for name, aspect in _OVERALL_ASPECTS.items()}
    stated = unified.get(names.get(score.aspect, "")) if isinstance(unified, dict) else None
    if isinstance(stated, bool) or not isinstance(stated, str | int | float) or non_empty(str(stated)) is None:
        return score
    number = read_number(stated, {}) if score.aspect is Aspect.RECOMMENDATION else None
    return replace(score, stated_unified=number, stated_label=str(stated))


EXTRA_COLUMNS = ("conference", "year", "track", "num_reviews")
"""Columns of a paper that go to `extra`: conference, year and track are read from the venue id instead."""
OVERALL_FIELDS = tuple(_OVERALL_ASPECTS)
EXTRA_FIELDS = ("extra_scores", "extra_text", "extra_other")
"""Columns in which ReviewBench, and releases of peercorpus, keep answers without a column of their own."""
_LABEL = "_label"
_INITIAL = "_initial"
_CLAIMED = "_initial_claimed"
"""Suffixes of columns: a score's verbatim answer, its first value, its first value as the reviewer claims it."""

AnswerT = TypeVar("AnswerT")


def read_reviewbench_record(
    raw_record: RawObject, declared: ReviewForm | None, words: VenueVocabulary
) -> PublishedPaper:
    """Return the paper of one row of ReviewBench, with responses and with reviews read with the form declared, if any.

    Raises:
        msgspec.DecodeError: The row does not match the dataset's card.
    """
    row = msgspec.json.decode(raw_record.body, type=ReviewBenchRow)
    other_columns = {name: getattr(row, name) for name in EXTRA_COLUMNS} | undeclared_members(
        raw_record.body, ReviewBenchRow
    )
    paper = build_paper(
        row.forum_id,
        raw_record.venue_id,
        words,
        year=row.year,
        number=row.paper_number,
        title=non_empty(row.title),
        abstract=non_empty(row.abstract),
        authors=_drop_empty_names(row.authors),
        keywords=_drop_empty_names(row.keywords),
        tldr=non_empty(row.tldr),
        primary_area=non_empty(row.primary_area),
        venue=non_empty(row.venue),
        decision=non_empty(row.decision),
        decision_comment=non_empty(row.decision_comment),
        extra={name: value for name, value in other_columns.items() if value is not None},
    )
    reviews, posts = [], []
    for number, answers in enumerate(row.reviews, 1):
        review, rebuttal = _read_reviewbench_review(answers, paper, raw_record.object_id, number, declared, words)
        reviews.append(review)
        posts += [review_post(review), *([response_post(review, rebuttal)] if rebuttal else [])]
    if general := non_empty(row.author_rebuttal):
        posts.append(response_post(paper, general))
    return PublishedPaper(paper, tuple(reviews), tuple(posts))


def _drop_empty_names(names: list[str | None] | None) -> tuple[str, ...]:
    return tuple(name for name in names or () if name)


def _read_reviewbench_review(
    answers: Mapping[str, Any],
    paper: Paper,
    record_id: str,
    number: int,
    declared: ReviewForm | None,
    words: VenueVocabulary,
) -> tuple[Review, str | None]:
    """Return one review and the authors' response to it, or None."""
    unread = {name: answer for name, answer in answers.items() if answer is not None and answer != ""}
    review_id, reviewer, rebuttal = (_take(unread, name, str) for name in ("review_id", "reviewer", "rebuttal"))
    revised = _take(unread, "was_revised", bool)
    # Answers that only the dataset, not the vocabulary, marks as scores have the aspect `OTHER`.
    extra_scores = unread.get("extra_scores")
    extra_names = map(str.lower, extra_scores) if isinstance(extra_scores, dict) else ()
    extra_aspects = {name: Aspect.OTHER for name in extra_names if name not in vocabulary.ASPECTS}
    names = answers.keys() | _take_extras(unread)
    form, conflict = choose_form(
        paper, ((_find_scored_name(name), answer) for name, answer in unread.items()), declared, words
    )
    unread = rename_overall(unread, form)
    names |= unread.keys()
    unasked = {name: aspect for name, aspect in extra_aspects.items() if name not in {*form.lowered, *form.aspects}}
    form = replace(form, aspects={**form.aspects, **unasked}) if unasked else form
    labels = _take_labels(unread, names, form)
    earlier = {name: unread.pop(name) for name in list(unread) if _is_initial(name, unread, form)}
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
    # The remaining labels belong to answers that the dataset itself marks as not being a number.
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


def _find_scored_name(name: str) -> str:
    """Return the name of the score that a column is about: its value, its first value or its label."""
    return _find_final_name(name.removesuffix(_LABEL))


def rename_overall(answers: Mapping[str, Any], form: ReviewForm) -> dict[str, Any]:
    """Return the answers with the form's own names of overall scores, unless the record itself has these as well."""
    renamed: dict[str, Any] = {}
    for name, answer in answers.items():
        score = _find_scored_name(name)
        own = _find_own_name(score, answers.get(score), form)
        renamed[name if own in answers else own + name.removeprefix(score)] = answer
    return renamed


def _take(answers: dict[str, Any], name: str, kind: type[AnswerT]) -> AnswerT | None:
    """Remove and return an answer; if it has another type, leave it and return None."""
    return answers.pop(name) if isinstance(answers.get(name), kind) else None


def _take_extras(answers: dict[str, Any]) -> set[str]:
    """Move the answers of the extra columns beside the others, unless a name is taken; return all their names."""
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
    """Remove and return the verbatim answers of scores, by the score's name."""
    labelled = [
        name.removesuffix(_LABEL) for name in answers if name.endswith(_LABEL) and isinstance(answers[name], str)
    ]
    scores = [name for name in labelled if name in names and form.aspect(_find_final_name(name)) is not None]
    return {name: answers.pop(f"{name}{_LABEL}") for name in scores}


def _take_first_texts(answers: dict[str, Any]) -> dict[str, str]:
    """Remove and return the texts as first posted, by the name of the final text."""
    initial = [name for name in answers if name.endswith(_INITIAL) and isinstance(answers[name], str)]
    names = [name.removesuffix(_INITIAL) for name in initial]
    return {name: answers.pop(f"{name}{_INITIAL}") for name in names if name in answers}


def _find_final_name(name: str) -> str:
    """Return the name of the final score for that of an initial one; any other name unchanged."""
    return name.removesuffix(_CLAIMED).removesuffix(_INITIAL)


def _read_published(name: str, answer: object, form: ReviewForm) -> Score:
    """Return a score under the form's own field name, with the phase that the dataset's column name states."""
    score = read_score(answer, _find_final_name(name), form, ScoreSource.PUBLISHED)
    if score.field == name:
        return score
    return replace(score, phase=Phase.INITIAL, source=ScoreSource.TEXT if name.endswith(_CLAIMED) else score.source)


def _is_initial(name: str, answers: Mapping[str, Any], form: ReviewForm) -> bool:
    final_name = _find_final_name(name)
    return name != final_name and final_name in answers and is_score(final_name, answers[name], form)


def _is_repeated(score: Score, scores: Sequence[Score]) -> bool:
    """Return whether an overall score only repeats the answer to another field of the form."""
    if score.field not in OVERALL_FIELDS or score.value is None:
        return False
    return any(
        other.field != score.field and (other.aspect, other.value) == (score.aspect, score.value) for other in scores
    )
