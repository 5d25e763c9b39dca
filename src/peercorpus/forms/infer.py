"""The last resort: a form inferred from a venue's own reviews, where neither an invitation nor a record tells it.

Which numbers may be answered is not known then: a score has its value, and no scale.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from peercorpus.forms.derive import is_yes_or_no
from peercorpus.forms.form import UNASKED, Question, ReviewForm
from peercorpus.forms.numbers import leading_number
from peercorpus.forms.scores import is_prose
from peercorpus.kinds import FieldType

ENOUGH = 8
"""Answers below this number prove nothing of what may be chosen."""
FEW = 24
"""A field that shows more different answers than this offers none to choose from. The longest scale known has 10."""


@dataclass(slots=True)
class Answers:
    """What was answered to one field; of the answers themselves no more than a few are kept.

    Attributes:
        distinct: The different texts and numbers, up to one more than `FEW`.
        is_written: Whether one of them is too long to be chosen.
    """

    count: int = 0
    lists: int = 0
    flags: int = 0
    leading_numbers: int = 0
    is_written: bool = False
    distinct: set[str] = field(default_factory=set)

    def add(self, answer: object) -> None:
        """Take in one more answer."""
        self.count += 1
        self.lists += isinstance(answer, list)
        self.flags += isinstance(answer, bool)
        if isinstance(answer, bool) or not isinstance(answer, int | float | str):
            return
        text = str(answer)
        self.is_written = self.is_written or is_prose(text, UNASKED)
        self.leading_numbers += leading_number(text) is not None
        if not self.is_written and len(self.distinct) <= FEW:
            self.distinct.add(text)

    @property
    def type(self) -> FieldType | None:
        """What the field asks for; None where there are too few answers to tell."""
        if self.lists or self.flags:
            return FieldType.LIST if self.lists else FieldType.FLAG
        if self.is_written or len(self.distinct) > FEW:
            return FieldType.TEXT
        if self.count < ENOUGH:
            return None
        if len(self.distinct) * 2 > self.count:
            return FieldType.TEXT
        if self.leading_numbers == self.count:
            return FieldType.SCORE
        return FieldType.FLAG if is_yes_or_no(self.distinct) else FieldType.CHOICE


def infer_form(venue_id: str, reviews: Iterable[Mapping[str, Any]]) -> ReviewForm:
    """The form that a venue's reviews seem to answer; where they are few, nothing but the names of its fields.

    Args:
        venue_id: The venue.
        reviews: The fields of each of its reviews, as a guest may read them.
    """
    seen: dict[str, Answers] = {}
    for fields in reviews:
        for name, answer in fields.items():
            seen.setdefault(name, Answers()).add(answer)
    chosen = {FieldType.FLAG, FieldType.LIST, FieldType.CHOICE}
    return ReviewForm(
        f"inferred:{venue_id}",
        {
            name: Question(name, order, type=answers.type, is_choice=answers.type in chosen)
            for order, (name, answers) in enumerate(seen.items(), 1)
        },
    )
