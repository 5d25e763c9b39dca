"""Algorithms and listings of programs: found by what they look like, and kept line by line.

An algorithm stands between rules below its caption, or has steps that are numbered "1:", "2:" and so on. A program is
set in a font whose characters are equally wide.
"""

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

from peercorpus.texts.layout.blocks import Block, Body, Kind
from peercorpus.texts.layout.columns import Columns
from peercorpus.texts.layout.joining import Joiner
from peercorpus.texts.layout.lines import Line, ends_sentence
from peercorpus.texts.layout.listings_rows import INPUT, KEYWORD, SAME, Row, as_code, as_steps, rows_of
from peercorpus.texts.layout.shapes import Box

HEAD = re.compile(r"(?:Algorithm|Procedure|Protocol)\s*(?:[A-Z]\.?)?\d+(?!\d|\s+[a-z]{2,} )")
STEP = re.compile(r"(\d{1,3}):(?=\s|$)")
FIRST = re.compile(r"1:(?=\s|$)")
ADDRESS = re.compile(r"@|\bhttps?\b|\b10\.\d{4,5}/|\bdoi\.org|\bwww\.|\b(?:arxiv|github)\.")
FEWEST = 3
"""Lines of a program, or numbered steps of an algorithm without rules, at least."""
STEPS = 2
"""Lines between rules that begin as steps do, at least."""
MONO = 0.8
"""Share of the characters of a line of a program that are equally wide."""
LONG = 60.0
"""Length of a rule above or below an algorithm, in points, at least."""
ALIKE = 3.0
"""Difference of the ends of two rules that belong together, in points, at most."""
CAPTION = 5.0
"""Height of the caption between two rules, in the size of the font, at most."""
CLOSE = 1.15
"""Step over the leading, up to which a line may go on with the text above it."""
LABEL = re.compile(r"Listing\s*\d")
FAR = 3.5
"""Step between two lines of one program, or of one algorithm without rules, in the size of the font, at most."""
BETWEEN = 8
"""Lines that may stand between two numbers: a step that goes over several, or its scattered formula."""


class Item(NamedTuple):
    """What was found among the items of a page.

    Attributes:
        places: Which items it takes the place of.
        blocks: What stands there instead, where the first of them did.
    """

    places: set[int]
    blocks: list[Block]


def with_listings(
    items: Sequence[Line | Block], rules: Sequence[Box], columns: Columns, body: Body, joiner: Joiner
) -> list[Line | Block]:
    """What a page holds, with a block for each algorithm and program in place of its lines.

    Args:
        items: In the order in which they are read.
        rules: Of the page.
        columns: Of the page.
        body: Of the paper.
        joiner: For steps that go over several lines.
    """
    page = _Page(items, rules, columns, body, joiner, set())
    found: dict[int, Item] = {}
    for finder, places in zip((_between_rules, _numbered, _program), _beginnings(items), strict=True):
        for at in places:
            line = page.line(at)
            one = finder(page, at, line) if line is not None else None
            if one is not None:
                found[min(one.places)] = one
                page.taken.update(one.places)
    if not found:
        return list(items)
    kept: list[Line | Block] = []
    for at, item in enumerate(items):
        if at in found:
            kept += found[at].blocks
        elif at not in page.taken:
            kept.append(item)
    return kept


def _beginnings(items: Sequence[Line | Block]) -> tuple[list[int], list[int], list[int]]:
    """The items that may be the caption of an algorithm, its first numbered step, or a line of a program."""
    heads, firsts, programs = [], [], []
    for at, item in enumerate(items):
        if not isinstance(item, Line):
            continue
        run = item.runs[0]
        if run.font.is_mono:
            programs.append(at)
        if run.text.startswith(("A", "P", "1")):
            if HEAD.match(item.text):
                heads.append(at)
            elif FIRST.match(item.text):
                firsts.append(at)
    return heads, firsts, programs


class _Page(NamedTuple):
    """What the finders look at."""

    items: Sequence[Line | Block]
    rules: Sequence[Box]
    columns: Columns
    body: Body
    joiner: Joiner
    taken: set[int]

    def within(self, left: float, bottom: float, right: float, top: float) -> list[int]:
        """The items inside a rectangle that nothing else has taken."""
        return [
            at
            for at, item in enumerate(self.items)
            if at not in self.taken
            and (line := _first(item)) is not None
            and left <= line.left < right
            and bottom < line.base < top
        ]

    def rows(self, places: Sequence[int]) -> list[Row]:
        """The rows that items make."""
        return rows_of([self.items[at] for at in places])

    def line(self, at: int) -> Line | None:
        """A line that nothing else has taken; None for anything else."""
        item = self.items[at]
        return item if isinstance(item, Line) and at not in self.taken else None


def _first(item: Line | Block) -> Line | None:
    return item if isinstance(item, Line) else next(iter(item.lines), None)


def _between_rules(page: _Page, at: int, head: Line) -> Item | None:
    """The algorithm whose caption a line begins, between two rules, and that goes down to a third one."""
    box = _rules_around(head, page.rules)
    if box is None:
        return None
    top, middle, bottom = box
    left, right = middle.left - ALIKE, middle.right
    caption = page.within(left, middle.bottom, right, top.top)
    places = page.within(left, bottom.bottom - 1, right, middle.top)
    rows = page.rows(places)
    if at not in caption or not _are_steps(rows) or any(page.line(number) is None for number in caption):
        return None
    lines = [line for number in caption if (line := page.line(number)) is not None]
    steps = _listing(rows, lambda: as_steps(rows, right, page.joiner))
    return Item({*caption, *places}, [Block(Kind.CAPTION, head.page, lines), steps])


def _rules_around(head: Line, rules: Sequence[Box]) -> tuple[Box, Box, Box] | None:
    """The rules above and below a caption, and the one that ends what is below it."""
    size = head.size
    below = sorted(
        (rule for rule in rules if rule.right - rule.left > LONG and rule.bottom < head.base + 2.5 * size),
        key=lambda rule: -rule.bottom,
    )
    for top in takewhile(lambda rule: rule.bottom > head.base + 0.4 * size, below):
        alike = [
            rule
            for rule in below
            if rule.bottom < head.base
            and abs(rule.left - top.left) < ALIKE
            and abs(rule.right - top.right) < ALIKE
            and rule.left < head.left + size
        ]
        if len(alike) >= STEPS and alike[0].bottom > head.base - CAPTION * size:
            return top, alike[0], alike[1]
    return None


def _are_steps(rows: Sequence[Row]) -> bool:
    """Whether rows begin as the steps of an algorithm do, or are those of a program."""
    steps = sum(bool(STEP.match(row.text) or KEYWORD.match(row.text)) for row in rows)
    return steps >= STEPS or _is_program(rows)


def _listing(rows: Sequence[Row], steps: Callable[[], str]) -> Block:
    """Rows of a program verbatim, those of an algorithm with their formulas."""
    lines = [line for row in rows for line in row.lines]
    markdown = as_code(rows) if _is_program(rows) else steps()
    return Block(Kind.LISTING, lines[0].page, lines, markdown=markdown)


def _is_program(rows: Sequence[Row]) -> bool:
    return bool(rows) and sum(row.share("is_mono") >= MONO for row in rows) > 0.7 * len(rows)


def _numbered(page: _Page, at: int, first: Line) -> Item | None:
    """The algorithm whose first numbered step a line is."""
    if first.runs[0].font.is_bold:
        return None
    last, number, begin = at, 1, _begin(page, at)
    for place in range(at + 1, len(page.items)):
        line = page.line(place)
        if line is None or place - last > BETWEEN or not -SAME * line.size < _step(page, last, line) < FAR * line.size:
            break
        step = STEP.match(line.text)
        if step and int(step[1]) == number + 1 and abs(line.left - first.left) < 1.5 * line.size:
            last, number = place, number + 1
    if number < FEWEST:
        return None
    last = _end(page, last, first)
    rows = page.rows(range(begin, last + 1))
    right = page.columns.of(first)[1]
    if not any(KEYWORD.match(STEP.sub("", row.text).strip()) for row in rows):
        return None
    return Item(set(range(begin, last + 1)), [_listing(rows, lambda: as_steps(rows, right, page.joiner))])


def _step(page: _Page, at: int, line: Line) -> float:
    before = page.line(at)
    return before.base - line.base if before is not None else 0.0


def _begin(page: _Page, at: int) -> int:
    """Where the lines begin that say what goes into an algorithm, above its first step."""
    for place in range(at - 1, max(-1, at - BETWEEN - 1), -1):
        line, below = page.line(place), page.line(place + 1)
        if line is None or below is None or not 0 <= line.base - below.base < 1.8 * below.size or HEAD.match(line.text):
            break
        if INPUT.match(line.text):
            at = place
    return at


def _end(page: _Page, last: int, first: Line) -> int:
    """Where the last step ends: with what stands beside it, and with lines that go on below, inside it."""
    for place in range(last + 1, min(len(page.items), last + BETWEEN)):
        line, before = page.line(place), page.line(place - 1)
        if line is None or before is None:
            break
        step = before.base - line.base
        is_beside = abs(step) < SAME * line.size and line.left >= before.right - 1
        goes_on = 0 < step < 1.5 * line.size and line.left > first.left + 0.8 * line.size
        is_full = before.right > page.columns.of(before)[1] - 3 * line.size
        if not is_beside and not (goes_on and is_full):
            break
        last = place
    return last


def _program(page: _Page, at: int, first: Line) -> Item | None:
    """The program that begins with a line."""
    if page.body.is_mono or not _is_mono(first) or _is_in_text(page, at, first):
        return None
    places, before = [at], first
    for place in range(at + 1, len(page.items)):
        line = page.line(place)
        if line is None or not _is_mono(line) or abs(line.size - first.size) > 0.08 * first.size:
            break
        if not -SAME * line.size < before.base - line.base < FAR * line.size:
            break
        places.append(place)
        before = line
    rows = page.rows(places)
    if len(rows) < FEWEST or 2 * _addresses(rows) >= len(rows):
        return None
    return Item(set(places), [_listing(rows, lambda: as_code(rows))])


def _addresses(rows: Sequence[Row]) -> int:
    """How many rows have an address, or go on with one."""
    found, is_inside = 0, False
    for row in rows:
        is_inside = bool(ADDRESS.search(row.text)) or (is_inside and " " not in row.text)
        found += is_inside
    return found


def _is_in_text(page: _Page, at: int, line: Line) -> bool:
    """Whether a line goes on with the text right above it, as an address does that goes over several lines."""
    before = page.line(at - 1) if at else None
    if before is None or ends_sentence(before.text) or LABEL.match(before.text):
        return False
    return 0 < before.base - line.base <= CLOSE * page.body.leading_of(line)


def _is_mono(line: Line) -> bool:
    return line.runs[0].font.is_mono and line.share("is_mono") >= MONO
