"""The lines of a paper's text that are its author's, without what the page puts around them.

Left out are page separators, page numbers, running headers and line numbers; every line kept knows where it stands.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from peercorpus.records import PAGE_BREAK

AT_AN_EDGE = 2
"""Lines at the top and at the foot of a page that may be a running header or footer."""

ON_PAGES, OF_PAGES = 3, 0.4
"""A line at the edge of so many pages, and of such a share of them (odd and even ones may differ), numbers aside, is a
running header or footer."""

NUMBERED = 20
"""So many lines that count on by one are numbered lines, as templates print them for reviewers; nothing shorter is."""

APART = 60
"""Lines, at most, from one line number to the next: a formula, a figure or a table has none."""

LEFT_OUT = 2
"""Line numbers, at most, that stand inside a line, beside a formula, and so are not seen."""

HEADER = re.compile(
    r"(Under review (as|at|by|for)\b|Published as a|Published in Trans|Accepted (as|at|to)\b|Submitted to\b|Preprint\b"
    r"|\d+(st|[nr]d|th) Conference on Neural\b).{0,120}$"
)
DIGITS = re.compile(r"\d+")
LEADING, TRAILING = re.compile(r"(\d{1,4})(?=\s|$)"), re.compile(r"(?<=\s)(\d{1,4})$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text.

    Attributes:
        start: Where `words` begins, in characters of the whole text.
        words: Verbatim, without a line number and space around it; empty for a blank line inside a page.
        is_top: Whether it is the first of its page.
    """

    start: int
    words: str
    is_top: bool = False


def read_lines(text: str) -> list[Line]:
    r"""The author's lines of a text, in order.

    >>> [line.words for line in read_lines("Under review at X\nOne.\n\nTwo.\n1\n\n---\n\nThree.\n2")]
    ['One.', '', 'Two.', 'Three.']
    """
    pages = list(_pages(text))
    spans = _counted([line for page in pages for line in page])
    number = count()
    pages = [[kept for line in page if (kept := _unnumbered(line, spans.get(next(number))))] for page in pages]
    headers = _running(pages)
    return [line for page in pages for line in _trimmed(page, headers)]


def _pages(text: str) -> Iterator[list[Line]]:
    start = 0
    for page in text.split(PAGE_BREAK):
        lines = []
        at = start
        for words in page.split("\n"):
            lines.append(Line(at + len(words) - len(words.lstrip()), words.strip()))
            at += len(words) + 1
        yield lines
        start += len(page) + len(PAGE_BREAK)


def _unnumbered(line: Line, span: tuple[int, int] | None) -> Line | None:
    """A line without its line number; None where it is nothing else."""
    if span is None:
        return line
    begin, end = span
    words = line.words[:begin] or line.words[end:].lstrip()
    return Line(line.start + line.words.find(words), words.rstrip()) if words else None


def _counted(lines: Sequence[Line]) -> dict[int, tuple[int, int]]:
    """Where in a line its line number stands, of the lines that have one."""
    last: dict[int, tuple[int, int]] = {}
    chains: list[list[tuple[int, int, int]]] = []
    for index, line in enumerate(lines):
        for found in _numbers(line.words):
            number = int(found[1])
            nearest = (last.get(number - step) for step in range(1, LEFT_OUT + 2))
            before = next((one for one in nearest if one and 0 < index - one[0] <= APART), None)
            if before is None:
                chains.append([])
                before = (index, len(chains) - 1)
            chains[before[1]].append((index, *found.span(1)))
            last[number] = (index, before[1])
    return {index: (start, end) for chain in chains if len(chain) >= NUMBERED for index, start, end in chain}


def _numbers(words: str) -> Iterator[re.Match[str]]:
    """The numbers at the ends of a line."""
    first = LEADING.match(words)
    if first:
        yield first
    last = TRAILING.search(words, max(0, len(words) - 5))
    if last and last.start(1) != 0:
        yield last


def _edges(page: Sequence[Line]) -> list[Line]:
    filled = [line for line in page if line.words and not line.words.isdigit()]
    return [*filled[:AT_AN_EDGE], *filled[AT_AN_EDGE:][-AT_AN_EDGE:]]


def _pattern(line: Line) -> str:
    return DIGITS.sub("0", line.words)


def _running(pages: Sequence[Sequence[Line]]) -> set[str]:
    seen = Counter(pattern for page in pages for pattern in {_pattern(line) for line in _edges(page)})
    enough = max(ON_PAGES, OF_PAGES * len(pages))
    return {pattern for pattern, number in seen.items() if number >= enough}


def _trimmed(page: Sequence[Line], headers: set[str]) -> list[Line]:
    """A page without running headers, page numbers, and blank lines at its edges."""
    edges = {line.start for line in _edges(page) if _pattern(line) in headers or HEADER.match(line.words)}
    kept = [line for line in page if not (line.words and line.start in edges)]
    filled = [place for place, line in enumerate(kept) if not _is_no_text(line)]
    if not filled:
        return []
    first, *others = kept[filled[0] : filled[-1] + 1]
    return [replace(first, is_top=True), *others]


def _is_no_text(line: Line) -> bool:
    return not line.words or line.words.isdigit()
