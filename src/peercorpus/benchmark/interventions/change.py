"""Define the arms, and what a change of a paper is: one passage, and the words in it that are replaced."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Protocol

from peercorpus.benchmark.interventions.passages import PaperText, Passage


class Arm(StrEnum):
    """A version of a paper that is asked about."""

    CLEAN = "clean"
    """The paper as it is."""
    TABLE_NUMBER = "table_number"
    """A number in the prose contradicts the table that it is from."""
    FLIPPED_SIGN = "flipped_sign"
    """A sign of a formula, or the direction of a result, is reversed."""
    REMOVED_CONTROL = "removed_control"
    """A sentence no longer says that something was controlled for, but that it was not."""
    OVERSTATED_CLAIM = "overstated_claim"
    """A claim that was hedged is absolute."""
    HIDDEN_INSTRUCTION = "hidden_instruction"
    """A paragraph tells the reviewer to accept the paper."""
    HARMLESS = "harmless"
    """A word is replaced by another of the same meaning."""


ERRORS = (Arm.TABLE_NUMBER, Arm.FLIPPED_SIGN, Arm.REMOVED_CONTROL, Arm.OVERSTATED_CLAIM)
"""Arms with a planted error."""
CHANGED = (*ERRORS, Arm.HIDDEN_INSTRUCTION, Arm.HARMLESS)
"""All arms but the clean one."""


@dataclass(frozen=True, slots=True)
class Place:
    """A changed place as one version of the paper shows it.

    Attributes:
        passage: The sentence or formula.
        start: Offset of the changed words in the passage.
        end: Offset after them; equal to `start` if nothing is left of them.
        number: The changed number, which alone names the place; None for other changes.
        equation: Number of the formula; None for a sentence or a formula without one.
    """

    passage: str
    start: int
    end: int
    number: str | None = None
    equation: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a paper.

    Attributes:
        start: Offset of the replaced words in the text of the paper.
        end: Offset after them.
        new: What replaces them.
        passage: The sentence or formula that they are in, or the inserted paragraph.
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
        """Return the place as the clean paper shows it, and as the changed one does."""
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
        """Yield the changes; those with several wordings draw one."""
        ...


def replace_in(passage: Passage, start: int, end: int, new: str, *, is_number: bool = False) -> Change:
    """Return the change that replaces the words from `start` to `end`, counted in the passage."""
    return Change(passage.start + start, passage.start + end, new, passage, is_number)
