"""Define the part of a paper that a question shows: as a control, its title and abstract or only its title."""

import hashlib
from enum import StrEnum

REST = "[The rest of the paper is not shown. Answer all the same.]"
"""Text after the part of a paper that a control shows."""
WORDS_DIGEST = hashlib.sha256(REST.encode()).hexdigest()[:12]
"""First 12 digits of the SHA-256 of this text, which is not part of the prompts that show papers."""


class PaperPart(StrEnum):
    """Part of a paper that a question shows."""

    PAPER = "paper"
    """Its title and text, within the budget."""
    ABSTRACT = "abstract"
    """Its title and abstract."""
    TITLE = "title"

    @property
    def arm(self) -> str:
        """Name of the arm with this part, as in tables."""
        return _ARMS[self]


_ARMS = {PaperPart.PAPER: "the paper", PaperPart.ABSTRACT: "title and abstract", PaperPart.TITLE: "title alone"}
CONTROLS = (PaperPart.ABSTRACT, PaperPart.TITLE)
"""The arms other than the whole paper."""
