"""Read records of Re² as papers, reviews and posts.

Members of a record that have no field in the paper or review, and that an export in Re²'s format could not reproduce,
are stored in `extra` under their own names.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm, read_score
from peercorpus.forms.published_records import (
    OVERALL_ASPECTS,
    PublishedPaper,
    build_paper,
    build_review,
    choose_form,
    find_own_name,
    review_post,
)
from peercorpus.forms.reviews import fields_to_json
from peercorpus.forms.scales import read_number
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.importers import re2
from peercorpus.importers.re2 import Re2Paper, Re2Rebuttal, Re2Review, Re2Scores, Re2Text
from peercorpus.importers.reader import Answers, StatedPaper
from peercorpus.records.datasets import Dataset, drop_number, non_empty, parse_dataset
from peercorpus.records.enums import Aspect, Phase, ScoreSource, SectionKind
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Review, Section
from peercorpus.records.scores import Score
from peercorpus.workspace.raw_store import RawObject


def read_re2_record(raw_record: RawObject, declared: ReviewForm | None, words: VenueVocabulary) -> PublishedPaper:
    """Return one paper of Re² with its reviews, read with the form declared for its venue, if any.

    Raises:
        msgspec.DecodeError: The record does not match the dataset's card.
    """
    record = msgspec.json.decode(raw_record.body, type=Re2Paper)
    stated = StatedPaper(decision=non_empty(record.decision), decision_comment=non_empty(record.metareview))
    paper = build_paper(record.paper_id, raw_record.venue_id, words, stated)
    numbered = enumerate(record.reviews, 1)
    reviews = [
        _read_re2_review(answers, paper, f"{raw_record.object_id}/{n}", n, declared, words) for n, answers in numbered
    ]
    written = re2.write_ratings(
        *([[score for score in one.scores if score.phase is phase] for one in reviews] for phase in _PHASES)
    )
    written |= {"decision": paper.decision, "metareview": paper.decision_comment, "paper_id": record.paper_id}
    kept = re2.list_lost(msgspec.json.decode(raw_record.body, type=Answers), written)
    kept.pop("reviews", None)
    paper = replace(paper, extra=fields_to_json(kept))
    return PublishedPaper(paper, tuple(reviews), tuple(map(review_post, reviews)))


_PHASES = (Phase.INITIAL, Phase.FINAL)


BARE = {Dataset.RE2_REBUTTAL: Re2Rebuttal, Dataset.RE2_TEXT: Re2Text}
"""Records of a conversation or text, which make a paper known if there is no fuller record of it."""


def read_bare_paper(raw_records: Iterable[RawObject], words: VenueVocabulary) -> Paper | None:
    """Return a paper known only from conversations or its text; None if no such record can be read.

    Everything but its id and venue is null.
    """
    of_kind = {kind: [one for one in raw_records if parse_dataset(one.object_id) is kind] for kind in BARE}
    for kind, records in of_kind.items():
        for raw_record in sorted(records, key=lambda one: (drop_number(one.object_id), one.body)):
            with suppress(msgspec.DecodeError):
                place = msgspec.json.decode(raw_record.body, type=BARE[kind]).conference_year_track
                stated = StatedPaper(extra={"conference_year_track": place} if place else {})
                return build_paper(raw_record.forum_id, raw_record.venue_id, words, stated)
    return None


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
        for phase in _PHASES
    )
    first_labels = {score.field: score.label for score in initial}
    # Scores of only one phase are ignored.
    is_changed = any(first_labels.get(score.field, score.label) != score.label for score in final)
    reviewer = non_empty(read.reviewer_id) or f"unknown_{number}"
    title, content = non_empty(read.review_title), non_empty(read.review_content)
    kind = vocabulary.SECTIONS.get(re2.TEXT, SectionKind.OTHER)
    written = re2.write_review(reviewer, title, content, initial, final)
    return build_review(
        paper,
        review_id,
        reviewer,
        form=form,
        form_conflict=conflict,
        title=title,
        scores=(*initial, *final),
        sections=(Section(kind, re2.TEXT, content),) if content else (),
        revised=True if is_changed else None,
        extra=re2.list_lost(answers, written),
    )


def _name_re2_scores(scores: Re2Scores | None) -> list[tuple[str, str | float]]:
    """Return rating and confidence, followed by one answer for each aspect named in a line."""
    if scores is None:
        return []
    named: list[tuple[str, str | float | None]] = [("rating", scores.rating), ("confidence", scores.confidence)]
    for line in (non_empty(scores.aspect_score) or "").splitlines():
        aspect, colon, label = line.partition(":")
        named.append((aspect.strip(), label.strip() if colon else None))
    return [
        (name, answer)
        for name, answer in named
        if answer is not None and (not isinstance(answer, str) or non_empty(answer))
    ]


def _read_re2_scores(named: Sequence[tuple[str, str | float]], phase: Phase, form: ReviewForm) -> Iterator[Score]:
    """Yield one score for each name; several lines on one aspect make one score.

    The label consists of all distinct answers, one per line; the value is None unless all have the same number.
    """
    scores_by_name: dict[str, list[Score]] = defaultdict(list)
    for name, answer in named:
        field = find_own_name(name, answer, form)
        scores_by_name[name.casefold()].append(read_score(answer, field, form, ScoreSource.PUBLISHED))
    for same_name in scores_by_name.values():
        values = {score.value for score in same_name}
        labels = "\n".join(dict.fromkeys(score.label for score in same_name))
        if len(values) == 1:
            yield replace(same_name[0], phase=phase, label=labels)
        else:
            yield replace(same_name[0], phase=phase, label=labels, value=None, unified=None)


def _add_stated(score: Score, unified: object) -> Score:
    """Return a score with Re²'s own value on its unified scale, which never replaces the value read here."""
    names = {aspect: name for name, aspect in OVERALL_ASPECTS.items()}
    stated = unified.get(names.get(score.aspect, "")) if isinstance(unified, dict) else None
    if isinstance(stated, bool) or not isinstance(stated, str | int | float) or non_empty(str(stated)) is None:
        return score
    number = read_number(stated, {}) if score.aspect is Aspect.RECOMMENDATION else None
    return replace(score, stated_unified=number, stated_label=str(stated))
