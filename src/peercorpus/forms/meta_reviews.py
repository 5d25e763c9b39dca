"""Read the recommendation, confidence and reasons of a meta-review."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm, find_score
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.records.enums import Aspect, PostKind, Status
from peercorpus.records.reviews import MetaReview, Section

IsProse = Callable[[str, object], bool]


def _match_any(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_TEXT = _match_any(vocabulary.META_REVIEW["text"])
_JUSTIFICATION = _match_any(vocabulary.META_REVIEW["justification"])
_NO_JUSTIFICATION = _match_any(vocabulary.META_REVIEW["no_justification"])
_RECOMMENDATIONS = tuple(vocabulary.META_REVIEW["recommendation"])
_VERDICTS = frozenset(vocabulary.META_REVIEW["verdict"])


def holds_meta_review(kind: PostKind, fields: Mapping[str, Any]) -> bool:
    """Return whether a reply is a meta-review, or a decision with a meta-review's text in a separate field.

    ICLR 2023 posted its meta-reviews only inside its decisions.
    """
    if kind is PostKind.DECISION:
        return any(isinstance(answer, str) and _TEXT.fullmatch(name) for name, answer in fields.items())
    return kind is PostKind.META_REVIEW


def _find_recommendation(
    fields: Mapping[str, Any], kind: PostKind, form: ReviewForm, words: VenueVocabulary
) -> tuple[str, str] | None:
    """Return the field with the recommendation and the verbatim answer; the verdict of a decision does not count."""
    lowered = {name.lower(): name for name in fields}
    scores = [name for name in lowered if form.aspect(name) is Aspect.RECOMMENDATION]
    for name in (*_RECOMMENDATIONS, *(field.lower() for field in words.decision_fields), *scores):
        answer = fields.get(lowered.get(name, ""))
        if isinstance(answer, list) and len(answer) == 1:
            answer = answer[0]
        if kind is PostKind.DECISION and name in _VERDICTS:
            continue
        if isinstance(answer, str | int | float) and not isinstance(answer, bool) and str(answer).strip():
            return lowered[name], str(answer)
    return None


_UNDECIDED = re.compile(r"\b(or|if|unless|not|no)\b|\?", re.IGNORECASE)
"""Matches words that make an option ambiguous: "accept or reject", "accept if there is space"."""


def find_status(recommendation: str, words: VenueVocabulary) -> Status | None:
    """Return the status that a recommendation means, as a whole or by its only clause with a verdict; None if unknown.

    >>> find_status("3: Sound but not Exciting Enough: Accept to Findings", VenueVocabulary())
    <Status.ACCEPTED: 'accepted'>
    >>> find_status("Discuss: accept or reject", VenueVocabulary())
    """
    clauses = [clause for clause in recommendation.split(":") if not _UNDECIDED.search(clause)]
    statuses = {words.status_of_decision(clause) for clause in (recommendation, *clauses)} - {Status.UNKNOWN}
    return statuses.pop() if len(statuses) == 1 else None


def _is_justification(name: str) -> bool:
    return _JUSTIFICATION.fullmatch(name) is not None and _NO_JUSTIFICATION.search(name) is None


def read_meta_review(
    fields: Mapping[str, Any], kind: PostKind, form: ReviewForm, words: VenueVocabulary, is_prose: IsProse
) -> MetaReview:
    """Return the answers of a meta-review.

    Args:
        fields: The fields of its note that everyone may read.
        kind: Kind of the post.
        form: The form that it answers; a form without questions if no invitation shows it.
        words: The venue's own vocabulary.
        is_prose: Returns whether a field with an answer is prose.
    """
    in_order = sorted(fields.items(), key=lambda field: form.place(field[0]))
    scores = [
        score
        for name, answer in in_order
        if (score := find_score(name, answer, form)) is not None
        and not (kind is PostKind.DECISION and name.lower() in _VERDICTS)
    ]
    found = _find_recommendation(fields, kind, form, words)
    return MetaReview(
        field=found[0] if found else None,
        recommendation=found[1] if found else None,
        recommends=find_status(found[1], words) if found else None,
        scores=tuple(scores),
        justifications=tuple(
            Section(form.section(name), name, answer)
            for name, answer in in_order
            if _is_justification(name) and is_prose(name, answer) and answer.strip()
        ),
    )
