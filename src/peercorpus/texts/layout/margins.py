"""What stands around the text of a paper: line numbers in the margins, running headers and footers, page numbers."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise, zip_longest

from peercorpus.texts.layout.columns import LONG
from peercorpus.texts.layout.glyphs import Run
from peercorpus.texts.layout.lines import Line

NUMBER = re.compile(r"\d{1,4}$")
BAND = 3.0
"""Width, in points, of the bands in which numbers that end at one place are sought."""
FEWEST = 5
"""Line numbers of a page that make a ruler."""
FEWEST_PAGES = 2
"""Pages before one, at least, that tell where its number stands."""
RISING = 0.8
"""Share of the steps of a ruler from one number to the next that are one, at least."""
OUTSIDE = 0.04
"""Share of a page's runs that may stand beyond a ruler."""
EDGE = 0.085
"""Share of the height of a page, at either end, where headers and footers stand."""
ON_PAGES, OF_PAGES = 4, 0.3
"""What stands there on so many pages, or on such a share of them, is a header or a footer."""
NEAR = 1.6
"""Step between two lines of a paragraph, in the size of the font, at most."""
DASH = r"[-\u2013\u2014]"
PAGE_NUMBER = re.compile(
    rf"(?:page\s+)?(?:\d{{1,4}}|[ivxl]{{1,5}})(?:\s*(?:of|/)\s*\d{{1,4}})?$|{DASH}\s*\d{{1,4}}\s*{DASH}$", re.IGNORECASE
)
DIGITS = re.compile(r"\d+")
NOTICE = re.compile(
    r"preprint\b|preliminary work|(?:manuscript |currently )?under review|(?:submitted|accepted|to appear)\b|"
    r"published (?:as|at|in)\b|proceedings of\b|copyright\b|\u00a9|(?:\S+ ){0,3}(?:conference|symposium|workshop) on\b",
    re.IGNORECASE,
)
"""How a line begins that tells at the edge of the first page where a paper appears."""
ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}
LETTERS = 3
"""Letters of a header or a footer, at least."""
SMALLEST, LARGEST = 0.75, 1.5
"""Size of a page number over that of the lines of its page."""
BESIDE = 0.95
"""Difference of the heights of two lines, in the size of the font, up to which they stand side by side."""
COUNTED = 3
"""Pages whose numbers count on, from which on a number that does not is no page number."""

Ruler = tuple[bool, int]
"""Whether it stands on the right of the text, and its band."""


class Rulers:
    """The rulers of a document and the place of its page numbers, learnt from its pages as they come."""

    def __init__(self) -> None:
        self._known: set[Ruler] = set()
        self._places: Counter[tuple[int, int, int]] = Counter()

    def page_number(self, runs: Sequence[Run], index: int, height: float) -> Run | None:
        """The number of a page, where it counts on from those of other pages and stands where they did.

        Args:
            runs: Of the page.
            index: Of the page, from 0.
            height: Of the page, in points.
        """
        low, high = EDGE * height, (1 - EDGE) * height
        for run in runs:
            if not low <= run.base <= high and NUMBER.match(run.text):
                place = (int(run.text) - index, round((run.left + run.right) / 2), round(run.base))
                self._places[place] += 1
                if self._places[place] > FEWEST_PAGES:
                    return run
        return None

    def without(self, runs: Sequence[Run]) -> list[Run]:
        """The runs of a page without line numbers."""
        bands: dict[int, list[Run]] = defaultdict(list)
        for run in runs:
            if len(run.text) <= 4 and NUMBER.match(run.text):
                bands[round(run.right / BAND)].append(run)
        gone: set[int] = set()
        for band in sorted(bands):
            near = [run for key in (band - 1, band, band + 1) for run in bands.get(key, ())]
            for on_right in (False, True):
                if self._is_ruler(near, runs, (on_right, band)):
                    gone.update(map(id, near))
        return [run for run in runs if id(run) not in gone] if gone else list(runs)

    def _is_ruler(self, numbers: Sequence[Run], runs: Sequence[Run], ruler: Ruler) -> bool:
        """Whether numbers count on from top to bottom, or stand where others did; and next to nothing beyond them."""
        if ruler not in self._known and not _count_on(numbers):
            return False
        if not _is_outside(numbers, runs, on_right=ruler[0]):
            return False
        self._known.update((ruler[0], band) for band in range(ruler[1] - 1, ruler[1] + 2))
        return True


def _count_on(numbers: Sequence[Run]) -> bool:
    if len(numbers) < FEWEST:
        return False
    ordered = [int(run.text) for run in sorted(numbers, key=lambda run: -run.base)]
    return sum(low - high == 1 for high, low in pairwise(ordered)) >= RISING * (len(ordered) - 1)


def _is_outside(numbers: Sequence[Run], runs: Sequence[Run], *, on_right: bool) -> bool:
    if on_right:
        edge = min(run.left for run in numbers) + 1
        beyond = sum([run.right > edge for run in runs])
    else:
        edge = max(run.right for run in numbers) - 1
        beyond = sum([run.left < edge for run in runs])
    return beyond - len(numbers) <= max(2, OUTSIDE * len(runs))


def without_headers(pages: Sequence[Sequence[Line]], heights: Sequence[float]) -> list[list[Line]]:
    """The lines of all pages without running headers, footers and page numbers.

    Args:
        pages: The lines of each.
        heights: Of the pages, in points.
    """
    edges = [[line for line in page if _is_at_edge(line, height)] for page, height in zip(pages, heights, strict=True)]
    headers = _headers(pages, edges)
    kept = [[line for line in page if id(line) not in headers] for page in pages]
    numbers = [_numbers(page, height) for page, height in zip(kept, heights, strict=True)]
    gone = _page_numbers(kept, numbers)
    return [[line for line in page if id(line) not in gone] for page in kept]


def _headers(pages: Sequence[Sequence[Line]], edges: Sequence[Sequence[Line]]) -> set[int]:
    """What says the same at the same height on several pages, what stands there instead, and notices on the first."""
    seen = Counter(masked for page in edges for masked in {_masked(line) for line in page})
    enough = max(2, min(ON_PAGES, round(OF_PAGES * len(pages))))
    headers = [[line for line in page if seen[_masked(line)] >= enough and _has_words(line)] for page in edges]
    rows = _rows(headers, enough)
    gone = {id(line) for page in headers for line in page}
    for page, at_edge in zip(pages, edges, strict=True):
        others = [line for line in at_edge if round(line.base) in rows and not PAGE_NUMBER.match(line.text)]
        gone.update(id(line) for line in others if _stands_apart(line, page))
    return gone | (_notices(edges[0], pages[0]) if pages else set())


def _numbers(page: Sequence[Line], height: float) -> list[Line]:
    """The numbers near the edges of a page that are set in the size of its text, from the outermost inwards."""
    found = [line for line in page if PAGE_NUMBER.match(line.text) and _is_at_edge(line, height)]
    if not found:
        return []
    sizes = sorted([line.size for line in page if line.characters >= LONG] or [line.size for line in page])
    usual = sizes[len(sizes) // 2]
    found = [line for line in found if SMALLEST * usual < line.size < LARGEST * usual]
    return sorted(found, key=lambda line: -abs(line.base - height / 2))


def _page_numbers(pages: Sequence[Sequence[Line]], numbers: Sequence[Sequence[Line]]) -> set[int]:
    """The outermost number of each page that counts on from those of other pages, or where that cannot be told, any.

    Text beside it is let pass only where several others of its count stand at its very height: it runs over the edge.
    """
    alone = {id(line) for page, found in zip(pages, numbers, strict=True) for line in found if _is_alone(line, page)}
    starts = Counter(_start(line) for found in numbers for line in found if id(line) in alone)
    places = Counter((_start(line), round(line.base)) for found in numbers for line in found)
    can_tell = max(starts.values(), default=0) >= COUNTED

    def is_page_number(line: Line) -> bool:
        if id(line) in alone and (not can_tell or starts[_start(line)] > 1):
            return True
        return places[_start(line), round(line.base)] >= COUNTED

    outermost = (next(filter(is_page_number, found), None) for found in numbers)
    return {id(line) for line in outermost if line is not None}


def _is_alone(line: Line, page: Sequence[Line]) -> bool:
    return all(line is one or abs(line.base - one.base) > BESIDE * line.size for one in page)


def _start(line: Line) -> tuple[bool, int]:
    """Whether a page number is a Roman one, and the number of the first page that it counts from."""
    digits = DIGITS.search(line.text)
    if digits:
        return False, int(digits[0]) - line.page
    values = [ROMAN[letter] for letter in line.text.casefold().removeprefix("page").strip() if letter in ROMAN]
    value = sum(-one if one < after else one for one, after in zip_longest(values, values[1:], fillvalue=0))
    return True, value - line.page


def _has_words(line: Line) -> bool:
    """Unlike the end of a reference, which may be a year, and a piece of a formula."""
    return sum(map(str.isalpha, line.text)) >= LETTERS and not PAGE_NUMBER.match(line.text)


def _rows(headers: Sequence[Sequence[Line]], enough: int) -> set[int]:
    """Where they stand on enough pages: others do that change from page to page, such as the names of sections."""
    rows = Counter(row for page in headers for row in {round(one.base) for one in page})
    return {row + off for row, number in rows.items() if number >= enough for off in (-1, 0, 1)}


def _stands_apart(line: Line, page: Sequence[Line]) -> bool:
    """Whether a line is none of a paragraph: nothing stands closely above or below."""
    return not _is_close(line, page, above=NEAR, below=NEAR)


def _is_close(line: Line, page: Sequence[Line], *, above: float, below: float = 0.0) -> bool:
    """Whether another line stands so closely, in the size of the font of the line."""
    size = line.size
    return any(
        0.5 * size < one.base - line.base < above * size or 0.5 * size < line.base - one.base < below * size
        for one in page
    )


def _notices(at_edge: Sequence[Line], page: Sequence[Line]) -> set[int]:
    """The lines of the first page, by their identity, that tell where the paper appears; no other page repeats them."""
    found: set[int] = set()
    last: Line | None = None
    sizes = sorted(line.size for line in page)
    for line in at_edge:
        if line.size > 1.05 * sizes[len(sizes) // 2]:
            continue
        goes_on = last is not None and line.size == last.size and 0 < last.base - line.base < 1.5 * line.size
        if goes_on or (NOTICE.match(line.text) and not _is_close(line, page, above=NEAR)):
            found.update(id(one) for one in at_edge if round(one.base) == round(line.base))
            last = line
    return found


def _is_at_edge(line: Line, height: float) -> bool:
    return not EDGE * height <= line.base <= (1 - EDGE) * height


def _masked(line: Line) -> str:
    return DIGITS.sub("0", line.text).casefold()
