"""State which part of a paper a question shows: as a control, its title and abstract or its title alone."""

import hashlib
from enum import StrEnum

REST = "[The rest of the paper is not shown. Answer all the same.]"
"""Stands after the part of a paper that a control shows."""
WORDS_DIGEST = hashlib.sha256(REST.encode()).hexdigest()[:12]
"""First 12 digits of the SHA-256 of these words; they are no part of the prompts that show papers."""


class PaperPart(StrEnum):
    """What a question shows of a paper."""

    PAPER = "paper"
    """Its title and text, as far as the budget allows."""
    ABSTRACT = "abstract"
    """Its title and abstract."""
    TITLE = "title"

    @property
    def arm(self) -> str:
        """Name of the arm that is shown this part, as in tables."""
        return _ARMS[self]


_ARMS = {PaperPart.PAPER: "the paper", PaperPart.ABSTRACT: "title and abstract", PaperPart.TITLE: "title alone"}
CONTROLS = (PaperPart.ABSTRACT, PaperPart.TITLE)
"""The arms beside that of the paper."""
