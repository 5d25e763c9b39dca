"""The reviews of a paper as ReviewBench's `reviews_json`: each has all its fields, and whatever else was answered."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from peercorpus import chosen
from peercorpus.kinds import Aspect, Phase, ScoreSource
from peercorpus.openreview.objects import blot_people
from peercorpus.records import Review, Score

# The fields that the card of Samarth0710/reviewbench documents (README.md at 7d1b399), in its own order. It says that
# what a form has not is an empty string or None, and not which; here a text is empty, a number and a truth value None.
FIELDS: Mapping[str, str | None] = {
    "review_id": "",
    "reviewer": "",
    "rating": None,
    "confidence": None,
    "rebuttal": "",
    "summary": "",
    "questions": "",
    "limitations": "",
    "strengths": "",
    "weaknesses": "",
    "soundness": None,
    "presentation": None,
    "contribution": None,
    "quality": None,
    "clarity": None,
    "significance": None,
    "originality": None,
    "strengths_and_weaknesses": "",
    "was_revised": None,
    "final_justification": "",
    "claims_and_evidence": "",
    "theoretical_claims": "",
    "experimental_designs_or_analyses": "",
    "relation_to_broader_scientific_literature": "",
    "essential_references_not_discussed": "",
    "paper_topic_and_main_contributions": "",
    "reasons_to_accept": "",
    "reasons_to_reject": "",
    "excitement": None,
    "reproducibility": None,
    "ethical_concerns": "",
    "summary_of_paper": "",
    "summary_of_recommendation": "",
    "technical_quality": None,
    "clarity_of_presentation": None,
    "potential_impact": None,
    "robotics_focus": None,
}
OF_THE_RECORD = {"review_id", "reviewer", "rebuttal", "was_revised", "final_justification"}
"""Documented fields that are no answer to a question of the form."""
TEXTS = {name for name, absent in FIELDS.items() if absent == ""} - OF_THE_RECORD
NUMBERS = {name for name, absent in FIELDS.items() if absent is None} - OF_THE_RECORD

_FIRST_GIVEN = {ScoreSource.TEXT: "_initial_claimed"}


def as_number(value: float | None) -> float | int | None:
    """A score as JSON shows it best: 6.0 becomes 6."""
    return int(value) if value is not None and value == int(value) else value


def chosen_score(scores: Iterable[Score], aspect: Aspect, field: str) -> float | int | None:
    """The number of the score that is chosen for an aspect; None if none is, or it holds none."""
    found = chosen.chosen_score(scores, aspect, field)
    return as_number(found.value) if found else None


class Entry:
    """One review as ReviewBench has it, filled answer by answer.

    An answer goes to the documented field of its name, in lower case, if it is of that field's kind; else a number goes
    to `extra_scores`, a text to `extra_text`, and what is neither to `extra_other`, which is ours.
    """

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._fields: dict[str, Any] = {**FIELDS, **known}
        self._free = set(FIELDS) - set(known)
        self._scores: dict[str, Any] = {}
        self._texts: dict[str, Any] = {}
        self._other: dict[str, Any] = {}

    def put(self, field: str, answer: object, suffix: str = "") -> None:
        """Write an answer that is no score."""
        name = field.lower() + suffix
        if not isinstance(answer, str):
            _put(self._other, field, answer)
        elif name in TEXTS & self._free:
            self._fill(name, answer)
        else:
            _put(self._texts, name if suffix and field.lower() in TEXTS else field + suffix, answer)

    def put_score(self, score: Score, suffix: str) -> None:
        """Write a score as a number, and its verbatim label beside it where that says more."""
        number, field = as_number(score.value), score.field.lower()
        name = (field if field in FIELDS else score.field) + suffix
        if number is None and name in TEXTS & self._free:
            self._fill(name, score.label)
            return
        if name in NUMBERS & self._free:
            self._fill(name, number)
        elif name not in NUMBERS or self._fields[name] != number:
            name = _put(self._scores, name, number)
        if score.label.strip() != str(number):
            _put(self._texts, f"{name}_label", score.label)

    def _fill(self, name: str, answer: object) -> None:
        self._fields[name] = answer
        self._free.remove(name)

    def whole(self) -> dict[str, Any]:
        """All that was written."""
        extras = {"extra_scores": self._scores, "extra_text": self._texts, "extra_other": self._other}
        return self._fields | extras


def _put(extras: dict[str, Any], name: str, answer: object) -> str:
    """Write an answer under its name, or under `form_<name>` where another answer has it; the name it got."""
    while name in extras and extras[name] != answer:
        name = f"form_{name}"
    extras[name] = answer
    return name


def review_entry(review: Review, rebuttal: str) -> dict[str, Any]:
    """One review as an object with the same fields as every other.

    Args:
        review: The review.
        rebuttal: What the authors answered to it; empty where they did not.
    """
    entry = Entry(
        {
            "review_id": review.review_id,
            "reviewer": review.reviewer,
            "rating": chosen_score(review.scores, Aspect.RECOMMENDATION, "rating"),
            "confidence": chosen_score(review.scores, Aspect.CONFIDENCE, "confidence"),
            "rebuttal": rebuttal,
            "was_revised": review.revised,
            "final_justification": review.final_justification or "",
        }
    )
    if review.title is not None:
        entry.put("title", review.title)
    standing = {score.field for score in review.scores if score.phase is Phase.FINAL}
    for score in review.scores:
        is_earlier = score.phase is Phase.INITIAL and score.field in standing
        entry.put_score(score, _FIRST_GIVEN.get(score.source, "_initial") if is_earlier else "")
    for section in review.sections:
        entry.put(section.field, section.text)
    for section in review.initial_sections:
        entry.put(section.field, section.text, "_initial")
    if review.updated_fields:
        entry.put("updated_fields", review.updated_fields)
    for name, answer in json.loads(review.extra or "{}").items():
        entry.put(name, answer)
    return entry.whole()


def reviews_json(reviews: Sequence[Review], rebuttals: Mapping[str, str]) -> str:
    """All reviews of a paper as a JSON list.

    Args:
        reviews: Those to publish.
        rebuttals: What the authors answered, by reviewer.
    """
    entries = [review_entry(review, rebuttals.get(review.reviewer, "")) for review in reviews]
    return json.dumps(blot_people(entries), ensure_ascii=False)
