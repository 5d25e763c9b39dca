"""Remove line numbers, running headers, footers and page numbers."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise, zip_longest

from peercorpus.pdf.glyphs import TextRun
from peercorpus.texts.layout.blocks import TextLine
from peercorpus.texts.layout.columns import MIN_PROSE_CHARACTERS
from peercorpus.texts.layout.heading_numbers import read_roman

_NUMBER = re.compile(r"\d{1,4}$")
_BAND_WIDTH_POINTS = 3.0
"""Width of the vertical bands in which numbers with the same right edge are collected, in points."""
_MIN_LINE_NUMBERS = 5
"""Minimum numbers on a page that form a column of line numbers."""
_MIN_EARLIER_PAGES = 2
"""Minimum earlier pages that establish the place of the page number."""
_MIN_CONSECUTIVE_SHARE = 0.8
"""Minimum share of consecutive numbers in a column of line numbers."""
_MAX_MARK_GAP_EM = 0.4
"""Maximum distance of text from a raised number before it, in em."""
_MAX_OUTSIDE_SHARE = 0.04
"""Maximum share of the runs of a page beyond the line numbers."""
_EDGE_SHARE = 0.085
"""Height of the zone of headers, and of footers, as a share of the page height."""
_MIN_HEADER_PAGES = 4
"""Pages on which the text of a header or footer must occur, if the paper is long."""
_MIN_HEADER_PAGE_SHARE = 0.3
"""Share of the pages on which it must occur, if the paper is short."""
_MAX_PARAGRAPH_STEP_EM = 1.6
_DASH = r"[-\u2013\u2014]"
_PAGE_NUMBER = re.compile(
    rf"(?:page\s+)?(?:\d{{1,4}}|[ivxl]{{1,5}})(?:\s*(?:of|/)\s*\d{{1,4}})?$|{_DASH}\s*\d{{1,4}}\s*{_DASH}$",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_NOTICE = re.compile(
    r"preprint\b|preliminary work|(?:manuscript |currently )?under review|(?:submitted|accepted|to appear)\b|"
    r"published (?:as|at|in)\b|proceedings of\b|copyright\b|\u00a9|(?:\S+ ){0,3}(?:conference|symposium|workshop) on\b",
    re.IGNORECASE,
)
"""Beginning of a publication notice at the edge of the first page."""
_ROMAN_DIGITS = frozenset("ivxl")
_MIN_HEADER_LETTERS = 3
_MIN_PAGE_NUMBER_SIZE_RATIO = 0.75
"""Minimum font size of a page number, relative to the text of its page."""
_MIN_SMALL_NUMBER_SIZE_RATIO = 0.6
"""The same for numbers at one height on several pages, such as the IEEE's beside the running header."""
_MAX_PAGE_NUMBER_SIZE_RATIO = 1.5
_MAX_SIDE_BY_SIDE_OFFSET_EM = 0.95
"""Maximum distance of the baselines of two lines side by side, in em."""
_FROM_ONE = (False, 1)
"""Result of `_read_number_offset` if pages are numbered from 1."""
_MIN_PAGE_NUMBER_GAP_EM = 1.6
"""Minimum distance of a page number that is far from the edges of its page from other lines, in em."""
_MIN_COUNTED_PAGES = 3
"""Number of pages with consecutive numbers after which other numbers are no longer accepted."""

Ruler = tuple[bool, int]
"""A column of line numbers: whether it is to the right of the text, and its band."""


class LineNumberColumns:
    """Learns the columns of line numbers and the place of page numbers from the pages of a document."""

    def __init__(self) -> None:
        self._known: set[Ruler] = set()
        self._places: Counter[tuple[int, int, int]] = Counter()

    def page_number(self, runs: Sequence[TextRun], index: int, height: float) -> TextRun | None:
        """Return the page number, if it continues those of earlier pages at the same place; None otherwise."""
        low, high = _EDGE_SHARE * height, (1 - _EDGE_SHARE) * height
        for run in runs:
            if not low <= run.base <= high and _NUMBER.match(run.text):
                place = (int(run.text) - index, round((run.left + run.right) / 2), round(run.base))
                self._places[place] += 1
                if self._places[place] > _MIN_EARLIER_PAGES:
                    return run
        return None

    def without(self, runs: Sequence[TextRun]) -> list[TextRun]:
        """Return the runs of a page without line numbers."""
        bands: dict[int, list[TextRun]] = defaultdict(list)
        for run, after in zip_longest(runs, runs[1:]):
            if len(run.text) <= 4 and _NUMBER.match(run.text) and not (after and _is_mark_of(run, after)):
                bands[round(run.right / _BAND_WIDTH_POINTS)].append(run)
        gone: set[int] = set()
        for band in sorted(bands):
            near = [run for key in (band - 1, band, band + 1) for run in bands.get(key, ())]
            for on_right in (False, True):
                if self._is_ruler(near, runs, (on_right, band)):
                    gone.update(map(id, near))
        return [run for run in runs if id(run) not in gone] if gone else list(runs)

    def _is_ruler(self, numbers: Sequence[TextRun], runs: Sequence[TextRun], ruler: Ruler) -> bool:
        counts_up = _count_up(numbers)
        if ruler in self._known:
            if counts_up:
                return True  # Even if wide formulas extend beyond the numbers.
        elif not counts_up:
            return False
        if not _is_outside(numbers, runs, on_right=ruler[0]):
            return False
        self._known.update((ruler[0], band) for band in range(ruler[1] - 1, ruler[1] + 2))
        return True


def _is_mark_of(number: TextRun, after: TextRun) -> bool:
    """Return whether a number is raised right before a text, like that of a footnote or a bibliography entry."""
    is_raised = 0 < number.base - after.base < after.size
    return is_raised and number.size < after.size and abs(after.left - number.right) < _MAX_MARK_GAP_EM * after.size


def _count_up(numbers: Sequence[TextRun]) -> bool:
    if len(numbers) < _MIN_LINE_NUMBERS:
        return False
    ordered = [int(run.text) for run in sorted(numbers, key=lambda run: -run.base)]
    return sum(low - high == 1 for high, low in pairwise(ordered)) >= _MIN_CONSECUTIVE_SHARE * (len(ordered) - 1)


def _is_outside(numbers: Sequence[TextRun], runs: Sequence[TextRun], *, on_right: bool) -> bool:
    if on_right:
        edge = min(run.left for run in numbers) + 1
        beyond = sum([run.right > edge for run in runs])
    else:
        edge = max(run.right for run in numbers) - 1
        beyond = sum([run.left < edge for run in runs])
    return beyond - len(numbers) <= max(2, _MAX_OUTSIDE_SHARE * len(runs))


def remove_headers(pages: Sequence[Sequence[TextLine]], heights: Sequence[float]) -> list[list[TextLine]]:
    """Return the lines of all pages without running headers, footers and page numbers."""
    edges = [[line for line in page if _is_at_edge(line, height)] for page, height in zip(pages, heights, strict=True)]
    headers = _find_headers(pages, edges)
    kept = [[line for line in page if id(line) not in headers] for page in pages]
    found = [_find_number_candidates(page, height) for page, height in zip(kept, heights, strict=True)]
    gone = _find_page_numbers(kept, [numbers for numbers, _ in found], set().union(*(likely for _, likely in found)))
    return [[line for line in page if id(line) not in gone] for page in kept]


def _find_headers(pages: Sequence[Sequence[TextLine]], edges: Sequence[Sequence[TextLine]]) -> set[int]:
    """Return the ids of running headers and footers, and of notices on the first page."""
    seen = Counter(masked for page in edges for masked in {_mask_digits(line) for line in page})
    enough = max(2, min(_MIN_HEADER_PAGES, round(_MIN_HEADER_PAGE_SHARE * len(pages))))
    headers = [[line for line in page if seen[_mask_digits(line)] >= enough and _has_words(line)] for page in edges]
    counts = Counter(row for page in headers for row in {round(line.base) for line in page})
    # Other headers at these heights may change, such as section names.
    rows = {row + off for row, number in counts.items() if number >= enough for off in (-1, 0, 1)}
    gone = {id(line) for page in headers for line in page}
    for page, at_edge in zip(pages, edges, strict=True):
        others = [line for line in at_edge if round(line.base) in rows and not _PAGE_NUMBER.match(line.text)]
        gone.update(
            id(line)
            for line in others
            if not _is_close(line, page, above=_MAX_PARAGRAPH_STEP_EM, below=_MAX_PARAGRAPH_STEP_EM)
        )
    return gone | (_find_notices(edges[0], pages[0]) if pages else set())


def _find_number_candidates(page: Sequence[TextLine], height: float) -> tuple[list[TextLine], set[int]]:
    """Return the numbers that may be the page's, the outermost first, and the ids of the likely ones."""
    ends = {id(max(page, key=_get_base)), id(min(page, key=_get_base))} if page else set()
    candidates = [
        line for line in page if _PAGE_NUMBER.match(line.text) and (_is_at_edge(line, height) or id(line) in ends)
    ]
    if not candidates:
        return [], set()
    sizes = sorted(
        [line.size for line in page if line.characters >= MIN_PROSE_CHARACTERS] or [line.size for line in page]
    )
    usual = sizes[len(sizes) // 2]
    candidates = [
        line
        for line in candidates
        if _MIN_SMALL_NUMBER_SIZE_RATIO * usual < line.size < _MAX_PAGE_NUMBER_SIZE_RATIO * usual
    ]
    likely = {
        id(line)
        for line in candidates
        if line.size > _MIN_PAGE_NUMBER_SIZE_RATIO * usual
        and (_is_at_edge(line, height) or (_read_number_offset(line) == _FROM_ONE and _is_outermost(line, page)))
    }
    return sorted(candidates, key=lambda line: -abs(line.base - height / 2)), likely


def _get_base(line: TextLine) -> float:
    return line.base


def _find_page_numbers(
    pages: Sequence[Sequence[TextLine]], numbers: Sequence[Sequence[TextLine]], likely: set[int]
) -> set[int]:
    """Return the `id()` of each page's page number.

    This is the outermost number that continues the numbers of other pages, or any likely number on a separate line if
    no such sequence is found. A number beside other text, or an unlikely one, counts only if several numbers of its
    sequence are at the same height.
    """
    alone = {
        id(line)
        for page, candidates in zip(pages, numbers, strict=True)
        for line in candidates
        if id(line) in likely
        and all(
            line is other or abs(line.base - other.base) > _MAX_SIDE_BY_SIDE_OFFSET_EM * line.size for other in page
        )
    }
    starts = Counter(_read_number_offset(line) for candidates in numbers for line in candidates if id(line) in alone)
    places = Counter((_read_number_offset(line), round(line.base)) for candidates in numbers for line in candidates)
    can_tell = max(starts.values(), default=0) >= _MIN_COUNTED_PAGES

    def is_page_number(line: TextLine) -> bool:
        if id(line) in alone and (not can_tell or starts[_read_number_offset(line)] > 1):
            return True
        return places[_read_number_offset(line), round(line.base)] >= _MIN_COUNTED_PAGES

    outermost = (next(filter(is_page_number, candidates), None) for candidates in numbers)
    return {id(line) for line in outermost if line is not None}


def _read_number_offset(line: TextLine) -> tuple[bool, int]:
    digits = _DIGITS.search(line.text)
    if digits:
        return False, int(digits[0]) - line.page
    roman = "".join(letter for letter in line.text.casefold().removeprefix("page") if letter in _ROMAN_DIGITS)
    return True, read_roman(roman) - line.page


def _has_words(line: TextLine) -> bool:
    return sum(map(str.isalpha, line.text)) >= _MIN_HEADER_LETTERS and not _PAGE_NUMBER.match(line.text)


def _is_close(line: TextLine, page: Sequence[TextLine], *, above: float, below: float = 0.0) -> bool:
    size = line.size
    return any(
        0.5 * size < other.base - line.base < above * size or 0.5 * size < line.base - other.base < below * size
        for other in page
    )


def _find_notices(at_edge: Sequence[TextLine], page: Sequence[TextLine]) -> set[int]:
    notices: set[int] = set()
    last: TextLine | None = None
    sizes = sorted(line.size for line in page)
    for line in at_edge:
        if line.size > 1.05 * sizes[len(sizes) // 2]:
            continue
        goes_on = last is not None and line.size == last.size and 0 < last.base - line.base < 1.5 * line.size
        if goes_on or (_NOTICE.match(line.text) and not _is_close(line, page, above=_MAX_PARAGRAPH_STEP_EM)):
            notices.update(id(other) for other in at_edge if round(other.base) == round(line.base))
            last = line
    return notices


def _is_outermost(line: TextLine, page: Sequence[TextLine]) -> bool:
    gap = _MIN_PAGE_NUMBER_GAP_EM * line.size
    others = [other.base - line.base for other in page if other is not line]
    return bool(others) and (all(off > gap for off in others) or all(off < -gap for off in others))


def _is_at_edge(line: TextLine, height: float) -> bool:
    return not _EDGE_SHARE * height <= line.base <= (1 - _EDGE_SHARE) * height


def _mask_digits(line: TextLine) -> str:
    return _DIGITS.sub("0", line.text).casefold()
