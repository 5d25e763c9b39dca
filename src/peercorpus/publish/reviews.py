"""The reviews of a paper as ReviewBench's `reviews_json`: one flat object per review, whatever its form asked."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from peercorpus.kinds import Aspect, Phase
from peercorpus.openreview.objects import blot_people
from peercorpus.records import Review, Score


def as_number(value: float | None) -> float | int | None:
    """A score as JSON shows it best: 6.0 becomes 6."""
    return int(value) if value is not None and value.is_integer() else value


def chosen_score(scores: Iterable[Score], aspect: Aspect) -> float | int | None:
    """The number given for an aspect as it stands now, or as first given where only that is known; None if none."""
    given = [score for score in scores if score.aspect is aspect]
    final = [score for score in given if score.phase is Phase.FINAL]
    return next((as_number(score.value) for score in final or given), None)


def _put(entry: dict[str, Any], key: str, value: object) -> None:
    """Write an answer under the form's own name; under `form_<name>` where something else has that name."""
    if key in entry and entry[key] == value:
        return
    while key in entry:
        key = f"form_{key}"
    entry[key] = value


def _put_score(entry: dict[str, Any], score: Score, name: str) -> None:
    number = as_number(score.value)
    _put(entry, name, number)
    if score.label.strip() != str(number):
        _put(entry, f"{name}_label", score.label)


def review_entry(review: Review, rebuttal: str) -> dict[str, Any]:
    """One review as a flat object.

    Args:
        review: The review.
        rebuttal: What the authors answered to it; empty where they did not.
    """
    entry: dict[str, Any] = {
        "review_id": review.review_id,
        "reviewer": review.reviewer,
        "rating": chosen_score(review.scores, Aspect.RECOMMENDATION),
        "confidence": chosen_score(review.scores, Aspect.CONFIDENCE),
        "rebuttal": rebuttal,
        "was_revised": review.revised,
        "final_justification": review.final_justification,
    }
    if review.title is not None:
        _put(entry, "title", review.title)
    standing = {score.field for score in review.scores if score.phase is Phase.FINAL}
    for score in review.scores:
        is_earlier = score.phase is Phase.INITIAL and score.field in standing
        _put_score(entry, score, f"{score.field}_initial" if is_earlier else score.field)
    for section in review.sections:
        _put(entry, section.field, section.text)
    for name, answer in json.loads(review.extra or "{}").items():
        _put(entry, name, answer)
    return entry


def reviews_json(reviews: Sequence[Review], rebuttals: Mapping[str, str]) -> str:
    """All reviews of a paper as a JSON list.

    Args:
        reviews: Those to publish.
        rebuttals: What the authors answered, by reviewer.
    """
    entries = [review_entry(review, rebuttals.get(review.reviewer, "")) for review in reviews]
    return json.dumps(blot_people(entries), ensure_ascii=False)
