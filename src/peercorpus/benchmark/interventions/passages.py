"""Split the Markdown of a paper into passages of prose, sentences, display formulas and numbers of tables."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from peercorpus.benchmark.messages import REFERENCES

BLOCK = re.compile(r"(?:(?!\n[^\S\n]*\n).)+", re.DOTALL)
"""Matches text without a blank line."""
NO_PROSE = re.compile(
    r"\s*(?:#|\||\$\$|```|!\[|<|\[\d[\d,]* tokens|(?:Figure|Fig\.|Table|Algorithm|Listing)\s+\w+\s*[:.])"
)
"""Matches the beginning of a block that is a heading, table, formula, program, image, footnote, note of a cut, or
caption."""
BACK_MATTER = re.compile(
    r"^#{1,6}[^\S\n]++(?:[\dA-Z.]++[^\S\n]++)?+"
    r"(?:acknowledge?ments?|appendix\b.*|checklist|.*\bpaper checklist|.*\bstatement)[^\w\n]*+$",
    re.IGNORECASE | re.MULTILINE,
)
"""Matches a heading after which the text is no longer the paper's argument."""
SENTENCE_END = re.compile(
    r"(?<!e\.g\.)(?<!i\.e\.)(?<!et al\.)(?<!Fig\.)(?<!Figs\.)(?<!Eq\.)(?<!Eqs\.)(?<!Sec\.)(?<!Tab\.)(?<!vs\.)(?<!cf\.)"
    r"(?<!resp\.)(?<!approx\.)(?<!w\.r\.t\.)(?<!No\.)(?<=[.!?])[\"”)]?\s+(?=[A-Z(\[“\"$])"
)
MIN_WORDS = 8
MAX_WORDS = 80
CITATION = re.compile(r"\bet al\b|\[\d+(?:[,–-]\s*\d+)*\]|\([^()]*\b(?:19|20)\d\d[a-z]?\b[^()]*\)")
FORMULA = re.compile(r"\$\$(?P<body>(?:(?!\$\$).)+)\$\$(?:[^\S\n]*\((?P<number>\w+(?:\.\w+)?)\))?", re.DOTALL)
DECIMAL = re.compile(r"(?<![\w.,$\\^_{-])\d+\.\d+(?![\w.]*[\d_^])")
"""Matches a decimal number that is not part of a name, a formula or a longer number."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a display formula.

    Attributes:
        start: Offset in the text of the paper.
        number: Number of a formula; None if it has none.
    """

    text: str
    start: int
    number: str | None = None


class PaperText:
    """The text of a paper as shown in a question, with the places that may be changed.

    Nothing after the heading of the references, acknowledgements or appendix is changed.
    """

    def __init__(self, text: str) -> None:
        """Set the shown text."""
        self.text = text
        ends = (heading.search(text) for heading in (REFERENCES, BACK_MATTER))
        self.end = min((match.start() for match in ends if match), default=len(text))

    @cached_property
    def blocks(self) -> list[Passage]:
        """Blocks of prose."""
        blocks = (Passage(match[0], match.start()) for match in BLOCK.finditer(self.text, 0, self.end))
        return [block for block in blocks if not NO_PROSE.match(block.text)]

    @cached_property
    def sentences(self) -> list[Passage]:
        """Sentences of prose with 8 to 80 words."""
        return [
            sentence
            for block in self.blocks
            for sentence in _split(block)
            if MIN_WORDS <= len(sentence.text.split()) <= MAX_WORDS and sentence.text.rstrip()[-1] in ".!?"
        ]

    @cached_property
    def formulas(self) -> list[Passage]:
        """Display formulas with the number beside them."""
        matches = FORMULA.finditer(self.text, 0, self.end)
        return [Passage(match[0], match.start(), match["number"]) for match in matches]

    @cached_property
    def table_numbers(self) -> set[str]:
        """Decimal numbers in the cells of tables."""
        rows = (line for line in self.text.split("\n") if line.startswith("|"))
        return {number for row in rows for number in DECIMAL.findall(row)}

    @cached_property
    def prose_numbers(self) -> Counter[str]:
        """Decimal numbers outside tables, with their counts."""
        lines = (line for line in self.text.split("\n") if not line.startswith("|"))
        return Counter(number for line in lines for number in DECIMAL.findall(line))


def _split(block: Passage) -> Iterator[Passage]:
    start = 0
    for match in SENTENCE_END.finditer(block.text):
        yield Passage(block.text[start : match.start()], block.start + start)
        start = match.end()
    yield Passage(block.text[start:], block.start + start)


def cites(sentence: str) -> bool:
    """Return whether a sentence cites other work.

    >>> cites("Others found it (Kite et al., 2020)."), cites("We found it in Table 2 (see above).")
    (True, False)
    """
    return CITATION.search(sentence) is not None
