"""A paper made to fit into so many tokens: never silently, and always in the same way.

References and all that follows them (appendices, checklists) go first, then paragraphs from the end.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from peercorpus import prompts
from peercorpus.errors import PeercorpusError
from peercorpus.publish.tokens import WORD_OR_SIGN, load_counter

TOKEN = re.compile(WORD_OR_SIGN)
REFERENCES = re.compile(r"^#{1,6}\s+(?:\S+\s+)?(?:references|bibliography)\W*$", re.IGNORECASE | re.MULTILINE)
WAY = "references and all after them first, then paragraphs from the end"
"""How a paper is cut, in the words of logs and tables."""
FEWEST_TOKENS = 64
"""Below this nothing of a paper is left but the note that it was cut."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of a paper is shown.

    Attributes:
        tokens: At most; None for all of it.
        tokenizer: As `publish.tokens.load_counter` takes it; None: a token is a word or one other sign.

    Raises:
        PeercorpusError: It is too small for any paper.
    """

    tokens: int | None = None
    tokenizer: str | None = None

    def __post_init__(self) -> None:
        """Check the number."""
        if self.tokens is not None and self.tokens < FEWEST_TOKENS:
            raise PeercorpusError(f"A paper needs a budget of {FEWEST_TOKENS} tokens at least.")

    @property
    def says(self) -> str:
        """What a token is, and how many there may be."""
        unit = "words and signs" if self.tokenizer is None else f"tokens of '{self.tokenizer}'"
        return "whole papers" if self.tokens is None else f"at most {self.tokens:,} {unit} of a paper"

    def counter(self) -> Callable[[str], int]:
        """What counts tokens.

        Raises:
            PeercorpusError: There is no such tokenizer.
        """
        return count_words_and_signs if self.tokenizer is None else load_counter(self.tokenizer)


@dataclass(frozen=True, slots=True)
class Shown:
    """A paper as it is shown.

    Attributes:
        tokens: Of the whole text; None where nothing limits it.
        left_out: Tokens that are not shown.
        is_body_cut: Whether more is left out than the references and what follows them.
    """

    text: str
    tokens: int | None = None
    left_out: int = 0
    is_body_cut: bool = False


def count_words_and_signs(text: str) -> int:
    """Words and other signs.

    >>> count_words_and_signs("It's new (2024).")
    8
    """
    return len(TOKEN.findall(text))


def _fitting(text: str, most: int, count: Callable[[str], int]) -> str:
    """The longest beginning of whole paragraphs that fits; of the first one as many words as fit."""
    paragraphs = text.split("\n\n")
    low, high = 0, len(paragraphs)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count("\n\n".join(paragraphs[:middle])) <= most else (low, middle - 1)
    if low:
        return "\n\n".join(paragraphs[:low])
    words = paragraphs[0].split(" ")
    while words and count(" ".join(words)) > most:
        del words[-max(1, len(words) // 8) :]
    return " ".join(words)


def shorten(text: str, most: int | None, count: Callable[[str], int]) -> Shown:
    r"""A text of at most so many tokens, with a note where it was cut.

    Args:
        text: Markdown.
        most: Tokens, the note included; None for no limit.
        count: The tokens of a text.

    >>> shorten("# A\n\nOne two.\n\n## References\n\n" + "x " * 99, 40, count_words_and_signs).text[:24]
    '# A\n\nOne two.\n\n[102 toke'
    """
    if most is None:
        return Shown(text)
    total = count(text)
    if total <= most:
        return Shown(text, total)
    references = REFERENCES.search(text)
    body = text[: references.start()].rstrip() if references else text
    room = most - count(prompts.CUT.format(tokens=f"{total:,}"))
    kept = body if count(body) <= room else _fitting(body, room, count)
    left_out = total - count(kept)
    note = prompts.CUT.format(tokens=f"{left_out:,}")
    return Shown("\n\n".join(filter(None, [kept, note])), total, left_out, kept != body)
