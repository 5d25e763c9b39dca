"""Define the arms, and changes to a paper: one passage, and the words in it that are replaced."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Protocol

from peercorpus.benchmark.interventions.passages import PaperText, Passage


class Arm(StrEnum):
    """A version of a paper that is asked about."""

    CLEAN = "clean"
    """The unchanged paper."""
    TABLE_NUMBER = "table_number"
    """A number in the prose contradicts its table."""
    FLIPPED_SIGN = "flipped_sign"
    """A sign of a formula, or the direction of a result, is reversed."""
    REMOVED_CONTROL = "removed_control"
    """A sentence says that something was not controlled for, instead of that it was."""
    OVERSTATED_CLAIM = "overstated_claim"
    """A claim that was hedged is absolute."""
    HIDDEN_INSTRUCTION = "hidden_instruction"
    """A paragraph tells the reviewer to accept the paper."""
    HARMLESS = "harmless"
    """A word is replaced by a synonym."""


ERRORS = (Arm.TABLE_NUMBER, Arm.FLIPPED_SIGN, Arm.REMOVED_CONTROL, Arm.OVERSTATED_CLAIM)
"""Arms with a planted error."""
CHANGED = (*ERRORS, Arm.HIDDEN_INSTRUCTION, Arm.HARMLESS)
"""All arms except the clean one."""


@dataclass(frozen=True, slots=True)
class Place:
    """A changed place in one version of the paper.

    Attributes:
        passage: The sentence or formula.
        start: Offset of the changed words in the passage.
        end: Offset after them; equal to `start` if nothing is left of them.
        number: The changed number, which by itself identifies the place; None for other changes.
        equation: Number of the formula; None for a sentence or a formula without one.
    """

    passage: str
    start: int
    end: int
    number: str | None = None
    equation: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a paper.

    Attributes:
        start: Offset of the replaced words in the text of the paper.
        end: Offset after them.
        new: The replacement.
        passage: The sentence or formula that contains them, or the inserted paragraph.
        is_number: Whether a number is replaced by a number.
    """

    start: int
    end: int
    new: str
    passage: Passage
    is_number: bool = False

    def apply(self, text: str) -> str:
        """Return the text of the paper with this change."""
        return text[: self.start] + self.new + text[self.end :]

    def places(self) -> tuple[Place, Place]:
        """Return the place in the clean paper and in the changed one."""
        passage = self.passage
        start = self.start - passage.start
        end = self.end - passage.start
        old = passage.text[start:end]
        changed = passage.text[:start] + self.new + passage.text[end:]
        return (
            Place(passage.text, start, end, old if self.is_number else None, passage.number),
            Place(changed, start, start + len(self.new), self.new if self.is_number else None, passage.number),
        )


class Rule(Protocol):
    """Lists the changes of one rule that a paper allows, in the order of its text."""

    def __call__(self, paper: PaperText, chance: Random) -> Iterator[Change]:
        """Yield the changes; if there are several wordings, one is drawn."""
        ...


def replace_in(passage: Passage, start: int, end: int, new: str, *, is_number: bool = False) -> Change:
    """Return the change that replaces the words from `start` to `end`, as offsets in the passage."""
    return Change(passage.start + start, passage.start + end, new, passage, is_number)
