"""Read the body of a paper's text, without line numbers and running headers, and with captions and footnotes separated.

`read_body_lines` removes what the page layout adds. `separate_asides` separates captions, footnotes and the words in
figures from the running text of a plain-text paper, so that sentences interrupted by them are joined again.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from peercorpus.records.documents import PAGE_BREAK

EDGE_LINES = 2
"""Number of lines at the top and at the bottom of a page that may be a running header or footer."""

MIN_HEADER_PAGES = 3
"""Minimum number of pages with the same line, ignoring numbers, for it to be a running header or footer."""

MIN_HEADER_SHARE = 0.4
"""Minimum share of such pages; below one half, because odd and even pages may differ."""

MIN_NUMBERED_LINES = 20
"""Minimum length of a series of numbers at line ends to count as line numbers, which submission templates print."""

MAX_LINES_BETWEEN_NUMBERS = 60
"""Maximum number of lines from one line number to the next: formulas, figures and tables have none."""

MAX_SKIPPED_NUMBERS = 2
"""Maximum number of missing line numbers in between: next to a formula, one may be inside a line and is not found."""

HEADER = re.compile(
    r"(Under review (as|at|by|for)\b|Published as a|Published in Trans|Accepted (as|at|to)\b|Submitted to\b|Preprint\b"
    r"|\d+(st|[nr]d|th) Conference on Neural\b).{0,120}$"
)
DIGITS = re.compile(r"\d+")
LEADING_NUMBER = re.compile(r"(\d{1,4})(?=\s|$)")
TRAILING_NUMBER = re.compile(r"(?<=\s)(\d{1,4})$")


@dataclass(frozen=True, slots=True)
class BodyLine:
    """A line of the body of a text.

    Attributes:
        start: Offset of `words` in the whole text, in characters.
        words: The line verbatim, without line number and surrounding space; empty for a blank line inside a page.
        is_top: Whether it is the first line of its page.
    """

    start: int
    words: str
    is_top: bool = False


def read_body_lines(text: str) -> list[BodyLine]:
    r"""Return the lines of a text in order, without line numbers, running headers and page numbers.

    >>> [line.words for line in read_body_lines("Under review at X\nOne.\n\nTwo.\n1\n\n---\n\nThree.\n2")]
    ['One.', '', 'Two.', 'Three.']
    """
    pages = list(_split_pages(text))
    spans = _find_line_numbers([line for page in pages for line in page])
    index = count()
    pages = [[kept for line in page if (kept := _remove_number(line, spans.get(next(index))))] for page in pages]
    counts = Counter(
        pattern for page in pages for pattern in {_build_header_pattern(line) for line in _find_edge_lines(page)}
    )
    enough = max(MIN_HEADER_PAGES, MIN_HEADER_SHARE * len(pages))
    headers = {pattern for pattern, number in counts.items() if number >= enough}
    return [line for page in pages for line in _trim_page(page, headers)]


def _split_pages(text: str) -> Iterator[list[BodyLine]]:
    page_start = 0
    for page in text.split(PAGE_BREAK):
        lines = []
        line_start = page_start
        for words in page.split("\n"):
            lines.append(BodyLine(line_start + len(words) - len(words.lstrip()), words.strip()))
            line_start += len(words) + 1
        yield lines
        page_start += len(page) + len(PAGE_BREAK)


def _find_line_numbers(lines: Sequence[BodyLine]) -> dict[int, tuple[int, int]]:
    """Return the span of the line number of each line that has one, by index of the line.

    Numbers at line ends are chained to the nearest earlier one that is 1 to 3 lower; long chains are line numbers. If
    two in one line continue a chain ("043 5 Proof of Theorem 1"), the larger is the line number.
    """
    last_seen: dict[int, tuple[int, int]] = {}  # number → index of its line, index of its chain
    chains: list[dict[int, re.Match[str]]] = []  # index of a line → its number
    for index, line in enumerate(lines):
        # Few lines begin or end with a number, and this check is cheaper than a search.
        if not (line.words[:1].isdigit() or line.words[-1:].isdigit()):
            continue
        for match in _find_outer_numbers(line.words):
            number = int(match[1])
            lower = (last_seen.get(number - step) for step in range(1, MAX_SKIPPED_NUMBERS + 2))
            previous = next((seen for seen in lower if seen and 0 < index - seen[0] <= MAX_LINES_BETWEEN_NUMBERS), None)
            if previous is None:
                chain = len(chains)
                chains.append({})
            else:
                _, chain = previous
            if index not in chains[chain] or number > int(chains[chain][index][1]):
                chains[chain][index] = match
                last_seen[number] = (index, chain)
    long_chains = (chain for chain in chains if len(chain) >= MIN_NUMBERED_LINES)
    return {index: match.span(1) for chain in long_chains for index, match in chain.items()}


def _find_outer_numbers(words: str) -> Iterator[re.Match[str]]:
    first = LEADING_NUMBER.match(words)
    if first:
        yield first
    last = TRAILING_NUMBER.search(words, max(0, len(words) - 5))
    if last and last.start(1) != 0:
        yield last


def _remove_number(line: BodyLine, span: tuple[int, int] | None) -> BodyLine | None:
    if span is None:
        return line
    begin, end = span
    words = line.words[:begin] or line.words[end:].lstrip()
    return BodyLine(line.start + line.words.find(words), words.rstrip()) if words else None


def _find_edge_lines(page: Sequence[BodyLine]) -> list[BodyLine]:
    filled = [line for line in page if not _is_blank_or_number(line)]
    return [*filled[:EDGE_LINES], *filled[EDGE_LINES:][-EDGE_LINES:]]


def _build_header_pattern(line: BodyLine) -> str:
    return DIGITS.sub("0", line.words)


def _trim_page(page: Sequence[BodyLine], headers: set[str]) -> list[BodyLine]:
    dropped = {
        line.start
        for line in _find_edge_lines(page)
        if _build_header_pattern(line) in headers or HEADER.match(line.words)
    }
    kept = [line for line in page if not (line.words and line.start in dropped)]
    filled = [index for index, line in enumerate(kept) if not _is_blank_or_number(line)]
    if not filled:
        return []
    first, *others = kept[filled[0] : filled[-1] + 1]
    return [replace(first, is_top=True), *others]


def _is_blank_or_number(line: BodyLine) -> bool:
    return not line.words or line.words.isdigit()


CAPTION = re.compile(
    r"[*_]{0,2}(Figure|Fig\.|Table)\s+([A-Z]\.?)?\d{1,3}(\.\d{1,3})?\s*(?P<stop>:|[.|](?=[*_]*\s+[A-Z(]))"
)
REFERRING = re.compile(r"(^|\W)(and|at|by|from|in|of|on|see|than|the|to|with)$", re.IGNORECASE)
"""Matches the end of a line after which "Figure 1." ends the sentence and does not begin a caption."""

FOOTNOTE = re.compile('(\\d{1,2}|[\u2217\u2020\u2021\xa7\xb6]|\\*(?=[^*]*$))(?=["\u201c(]?[A-Z][a-z]|https?:)')
NOTICE = re.compile(r"Preliminary work\. +Under review|Proceedings of the \$?\d+( |\^\{|<sup>)?(st|[nr]d|th)\b")
ENDED = re.compile("[.!?][\"'\u201d\u2019)\\]]*$")

MAX_ASIDE_LINES = 20
"""Maximum number of lines of a caption or a footnote."""

MAX_FIGURE_LINES = 100
"""Maximum number of lines of words inside a figure."""

SHORT_LINE_SHARE = 0.75
"""A line with fewer characters than this share of the next line's is the last of its paragraph."""


def separate_asides(lines: Sequence[BodyLine]) -> tuple[list[BodyLine], list[Sequence[BodyLine]]]:
    r"""Separate the running text from captions, footnotes and the words in figures.

    Returns:
        The lines of the running text, and the lines of each aside (a footnote without its mark). Conference notices are
            in neither.

    >>> lines = ["We go", "Figure 1: A road.", "1They say.", "on."]
    >>> flow, asides = separate_asides([BodyLine(20 * number, words) for number, words in enumerate(lines)])
    >>> [line.words for line in flow]
    ['We go', 'on.']
    >>> [line.words for aside in asides for line in aside]
    ['Figure 1: A road.', 'They say.']
    """
    flow: list[BodyLine] = []
    asides: list[Sequence[BodyLine]] = []
    index = 0
    while index < len(lines):
        first = _find_start_of_aside(lines[index])
        if first is None or (flow and is_reference(first.words, flow[-1].words)):
            flow.append(lines[index])
            index += 1
            continue
        end = index + 1
        while end < min(len(lines), index + MAX_ASIDE_LINES) and not _ends_aside(lines[end - 1].words, lines[end]):
            end += 1
        if not NOTICE.match(first.words):
            figure = _words_of_figure(flow, first)
            del flow[len(flow) - len(figure) :]
            asides += [figure, [first, *lines[index + 1 : end]]]
        index = end
    return flow, asides


def _find_start_of_aside(line: BodyLine) -> BodyLine | None:
    """Return the line without its mark if it begins a caption, a footnote or a notice, otherwise None."""
    if CAPTION.match(line.words) or NOTICE.match(line.words):
        return line
    mark = FOOTNOTE.match(line.words)
    return BodyLine(line.start + mark.end(), line.words[mark.end() :]) if mark else None


def is_reference(words: str, before: str) -> bool:
    """Return whether an apparent caption is the end of the sentence before it, as in "shown in Figure 1."."""
    caption = CAPTION.match(words)
    return caption is not None and caption["stop"] == "." and REFERRING.search(before) is not None


def _words_of_figure(flow: Sequence[BodyLine], caption: BodyLine) -> Sequence[BodyLine]:
    """Return the short lines above a caption if they reach the top of the page, otherwise none."""
    for back in range(1, min(len(flow), MAX_FIGURE_LINES) + 1):
        line = flow[-back]
        if len(line.words) >= SHORT_LINE_SHARE * len(caption.words):
            break
        if line.is_top:
            return flow[-back:]
    return []


def _ends_aside(words: str, following: BodyLine) -> bool:
    if ENDED.search(words) or not following.words or _find_start_of_aside(following):
        return True
    return len(words) < SHORT_LINE_SHARE * len(following.words)
