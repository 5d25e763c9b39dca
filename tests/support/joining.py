"""Rejoins the parts read from a review into the fields of its note."""

from collections.abc import Mapping
from typing import Any

from peercorpus.forms import vocabulary
from peercorpus.forms.reviews import ParsedReview
from peercorpus.records.scores import Score


def _answer(score: Score, given: Any) -> Any:
    """Return the answer that a score was read from: its label if that was a text, else its number.

    The note determines whether the form used numbers or texts, alone or as a list of one.
    """
    inner = given[0] if isinstance(given, list) else given
    answer: Any = score.label if isinstance(inner, str) else score.value
    if answer is None:
        answer = type(inner)(score.label)
    return [answer] if isinstance(given, list) else answer


def joined(reading: ParsedReview, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return every field that was read, once; a field in two places is an error.

    Args:
        reading: The reading of the note.
        fields: The note's fields, used only for their names and whether an answer is a number, a text or a list.
    """
    single = [name for name in fields if name.lower() in vocabulary.SINGLE_FIELDS and name not in reading.extra]
    slots = {vocabulary.SINGLE_FIELDS[name.lower()]: name for name in single}
    placed: list[tuple[str, Any]] = [
        *((section.field, section.text) for section in reading.sections),
        *((score.field, _answer(score, fields[score.field])) for score in reading.scores),
        *((slots[slot], text) for slot in slots if (text := getattr(reading, slot)) is not None),
        *reading.extra.items(),
    ]
    found = dict(placed)
    assert len(found) == len(placed), "A field stands in two places."
    return found
