"""Encode the reviews of a paper in the fields of ReviewBench's column `reviews_json`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from peercorpus.importers.reviewbench import (
    EXTRA_OTHER,
    EXTRA_SCORES,
    EXTRA_TEXT,
    drop_shape,
    read_shape,
    take_out,
    texts_of_review,
)
from peercorpus.records.enums import Phase, ScoreSource
from peercorpus.records.reviews import Review, select_own
from peercorpus.records.scores import Score
from peercorpus.venues.ai_reviews import holds_model_chat
from peercorpus.wording.untrusted_text import redact_people

# The fields documented in the card of Samarth0710/reviewbench (README.md at 7d1b399), in its order. It says that a
# field missing in a form is an empty string or None, but not which; here a text is empty, and a number or a truth value
# is None.
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
"""Documented fields that are not answers to a question of the form."""
TEXTS = {name for name, absent in FIELDS.items() if absent == ""} - OF_THE_RECORD
NUMBERS = {name for name, absent in FIELDS.items() if absent is None} - OF_THE_RECORD

_FIRST_GIVEN = {ScoreSource.TEXT: "_initial_claimed"}


def as_number(value: float | None) -> float | int | None:
    """Return a score as the simplest JSON number: 6.0 becomes 6."""
    return int(value) if value is not None and value == int(value) else value


class ReviewEntry:
    """One review in ReviewBench's fields, filled answer by answer.

    An answer goes to the documented field of its name, in lower case, if it has that field's type. Otherwise a number
    goes to `extra_scores`, a text to `extra_text`, and anything else to `extra_other`, which ReviewBench lacks.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields: dict[str, Any] = {**FIELDS, **fields}
        self._free = set(FIELDS) - set(fields)
        self._scores: dict[str, Any] = {}
        self._texts: dict[str, Any] = {}
        self._other: dict[str, Any] = {}

    def put(self, field: str, answer: object, suffix: str = "") -> None:
        """Add an answer that is not a score."""
        name = field.lower() + suffix
        if not isinstance(answer, str):
            _put(self._other, field, answer)
        elif name in TEXTS & self._free:
            self._fill(name, answer)
        else:
            _put(self._texts, name if suffix and field.lower() in TEXTS else field + suffix, answer)

    def put_score(self, score: Score, suffix: str) -> None:
        """Add a score as a number, and its verbatim label if that says more than the number."""
        number = as_number(score.value)
        field = score.field.lower()
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
        """Return all fields, and the extra ones under `extra_scores`, `extra_text` and `extra_other`."""
        extras = {EXTRA_SCORES: self._scores, EXTRA_TEXT: self._texts, EXTRA_OTHER: self._other}
        return self._fields | extras


def _put(extras: dict[str, Any], name: str, answer: object) -> str:
    """Add an answer under its name, or under `form_<name>` if that name is taken; return the name used."""
    while name in extras and extras[name] != answer:
        name = f"form_{name}"
    extras[name] = answer
    return name


def review_entry(review: Review, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return one review as an object with the same fields as every other.

    Args:
        review: The review.
        row: Its row of `reviews`, for the fields in both: `rating`, `confidence` and `rebuttal`.
    """
    entry = ReviewEntry(
        {
            "review_id": review.review_id,
            "reviewer": review.reviewer,
            "rating": row["rating"],
            "confidence": row["confidence"],
            "rebuttal": row["rebuttal"],
            "was_revised": review.revised,
            "final_justification": review.final_justification or "",
        }
    )
    if review.title is not None:
        entry.put("title", review.title)
    standing = {score.field: score.label for score in review.scores if score.phase is Phase.FINAL}
    for score in review.scores:
        if score.phase is Phase.AT_DECISION:
            continue  # ReviewBench has no such phase; the configurations `reviews` and `scores` do.
        is_earlier = score.phase is Phase.INITIAL and score.field in standing
        if is_earlier and score.label == standing[score.field]:
            continue  # ReviewBench names a first score only if it changed.
        entry.put_score(score, _FIRST_GIVEN.get(score.source, "_initial") if is_earlier else "")
    for section in select_own(review.sections):
        entry.put(section.field, section.text)
    for section in select_own(review.initial_sections):
        entry.put(section.field, section.text, "_initial")
    if review.updated_fields:
        entry.put("updated_fields", review.updated_fields)
    for name, answer in json.loads(drop_shape(review.extra or "{}")).items():
        if not holds_model_chat(name):
            entry.put(name, answer)
    return entry.whole()


def card_entry(review: Review, row: Mapping[str, Any], response: str | None) -> dict[str, Any]:
    """Return one review in ReviewBench's form: as in ReviewBench's own row, or with the members named in its card.

    Args:
        review: The review.
        row: Its row of `reviews`.
        response: The authors' response to it in a record of ReviewBench; None without one.
    """
    shape = read_shape(review.extra)
    if shape is not None:
        said: dict[str, Any] = take_out(shape, texts_of_review(review, response))
        return said
    entry = review_entry(review, row)
    other = entry.pop(EXTRA_OTHER)
    # ReviewBench has only texts and scores; other answers are JSON there.
    for name, answer in other.items():
        _put(entry[EXTRA_TEXT], name, json.dumps(answer, ensure_ascii=False))
    return entry


def reviews_json(reviews: Sequence[Review], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return all reviews of a paper as a JSON list, with e-mail addresses and profile ids masked.

    Args:
        reviews: The reviews to publish.
        rows: Their rows of `reviews`, in the same order.
    """
    entries = [review_entry(review, row) for review, row in zip(reviews, rows, strict=True)]
    return json.dumps(redact_people(entries), ensure_ascii=False)
