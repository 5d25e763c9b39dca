"""Find algorithms and program listings."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.blocks import Block, BlockKind, Body, TextLine, ends_sentence
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.hyphenation import Dehyphenator
from peercorpus.texts.layout.listing_rows import (
    INPUT,
    KEYWORD,
    MAX_ROW_OFFSET_EM,
    ListingRow,
    as_code,
    as_steps,
    find_listing_rows,
)

_ALGORITHM_CAPTION = re.compile(r"(?:Algorithm|Procedure|Protocol)\s*(?:[A-Z]\.?)?\d+(?!\d|\s+[a-z]{2,} )")
_NUMBERED_STEP = re.compile(r"(\d{1,3}):(?=\s|$)")
_FIRST_STEP = re.compile(r"1(?::(?=\s|$)|(?!\S))")
_BARE_NUMBER = re.compile(r"(\d{1,3})(?!\S)")
_ANY_NUMBER = re.compile(r"\d{1,3}:?\s*")
_PROCEDURE = re.compile(r"[A-Z][\w\-]*\s?\(.*\)$")
"""Head of a procedure, as in "Insertion-Sort(A)"."""
_MAX_UNNUMBERED_LINES = 100
_MAX_UNNUMBERED_STEP_EM = 2.0
_SAME_EDGE_EM = 0.5
"""Maximum distance of a line from the left edge of its algorithm, to the left, in em."""
_MAX_NUMBER_OFFSET_EM = 1.5
"""Maximum distance of the left edges of two step numbers of one algorithm, in em."""
_CONTROL = re.compile(
    r"(?:if|else|elseif|for|foreach|forall|while|do|repeat|until|return|end|procedure|function)(?!\w)"
)
"""Word in bold at the start of a step; words of prose in bold begin with a capital."""
_MIN_NUMBER_GAP_EM = 0.6
"""Minimum distance of a step from its number if no colon follows the number, in em."""
_ADDRESS = re.compile(r"@|\bhttps?\b|\b10\.\d{4,5}/|\bdoi\.org|\bwww\.|\b(?:arxiv|github)\.")
_MIN_LISTING_ROWS = 3
"""Minimum lines of a program, or numbered steps of an algorithm without rules."""
_MIN_STEPS = 2
"""Minimum number of lines between two rules that begin like steps."""
_MIN_MONO_SHARE = 0.8
"""Minimum share of monospaced characters in a line of a program."""
_MIN_RULE_LENGTH_POINTS = 60.0
"""Minimum length of a rule above or below an algorithm, in points."""
_MAX_RULE_END_DIFFERENCE_POINTS = 3.0
"""Maximum difference of the ends of two rules of one algorithm, in points."""
_MAX_CAPTION_HEIGHT_EM = 5.0
"""Maximum height of the caption between two rules, in em."""
_MAX_TEXT_STEP_LEADINGS = 1.15
"""Maximum distance of a line from the text above that it may continue, in leadings."""
_LISTING_CAPTION = re.compile(r"Listing\s*\d")
_MAX_LISTING_STEP_EM = 3.5
"""Maximum distance of two lines of one program, or of one algorithm without rules, in em."""
_MIN_ALGORITHM_WIDTH_EM = 8.0
"""Minimum distance of the step numbers of two algorithms side by side, in em."""
_MIN_NUMBER_INDENT_EM = 1.5
"""Distance from the step numbers of an algorithm to its left edge, in em."""
_MAX_CANDIDATES = 100
"""Maximum number of lines of a page that are tried as the first step of an algorithm, or as the next."""
_MAX_LINES_BETWEEN_STEPS = 8
"""Maximum lines between two step numbers: long steps, or the pieces of a formula."""


class ListingItem(NamedTuple):
    """A listing found on a page: the indices of the items that it replaces, and the blocks in place of the first."""

    places: set[int]
    blocks: list[Block]


def replace_listings(
    items: Sequence[TextLine | Block], rules: Sequence[Box], columns: PageColumns, body: Body, joiner: Dehyphenator
) -> list[TextLine | Block]:
    """Return the items of a page with each algorithm and program as a block instead of its lines."""
    page = _Page(items=items, rules=rules, columns=columns, body=body, joiner=joiner, taken=set())
    return _replace(page, [*zip(_FINDERS, _find_candidates(items), strict=True)])


def replace_plain_listings(
    lines: Sequence[TextLine], rules: Sequence[Box], columns: PageColumns, body: Body, joiner: Dehyphenator
) -> list[TextLine | Block]:
    """Return the lines of a page, before formulas are found, with each algorithm without rules as a block."""
    heads, firsts, _, controls = _find_candidates(lines)
    if not (firsts or controls) or any(_find_rules(lines[head], rules) for head in heads):
        return list(lines)
    page = _Page(items=lines, rules=rules, columns=columns, body=body, joiner=joiner, taken=set())
    return _replace(page, [(_find_bare_numbers, firsts), (_find_unnumbered, controls)])


def _replace(page: "_Page", finders: Iterable[tuple["_Finder", Sequence[int]]]) -> list[TextLine | Block]:
    listings: dict[int, ListingItem] = {}
    for finder, candidates in finders:
        for index in candidates:
            line = page.line(index)
            listing = finder(page, index, line) if line is not None else None
            if listing is not None:
                listings[min(listing.places)] = listing
                page.taken.update(listing.places)
    if not listings:
        return list(page.items)
    kept: list[TextLine | Block] = []
    for index, item in enumerate(page.items):
        if index in listings:
            kept += listings[index].blocks
        elif index not in page.taken:
            kept.append(item)
    return kept


def _find_candidates(items: Sequence[TextLine | Block]) -> tuple[list[int], ...]:
    heads, firsts, programs, controls = [], [], [], []
    for index, item in enumerate(items):
        if not isinstance(item, TextLine):
            continue
        run = item.runs[0]
        if run.font.is_mono:
            programs.append(index)
        if run.font.is_bold and _CONTROL.match(run.text):
            controls.append(index)
        if run.text.startswith(("A", "P", "1")):
            if _ALGORITHM_CAPTION.match(item.text):
                heads.append(index)
            elif _FIRST_STEP.match(item.text):
                firsts.append(index)
    return heads, firsts[:_MAX_CANDIDATES], programs, controls


@dataclass(frozen=True)
class _Page:
    items: Sequence[TextLine | Block]
    rules: Sequence[Box]
    columns: PageColumns
    body: Body
    joiner: Dehyphenator
    taken: set[int]

    @cached_property
    def bare_numbers(self) -> dict[int, list[int]]:
        """Indices of the lines that begin with a bare number, by number, from top to bottom."""
        by_number: defaultdict[int, list[int]] = defaultdict(list)
        for index, item in enumerate(self.items):
            number = _BARE_NUMBER.match(item.text) if isinstance(item, TextLine) else None
            if number:
                by_number[int(number[1])].append(index)
        for indices in by_number.values():
            indices.sort(key=self.height, reverse=True)
        return by_number

    def within(self, left: float, bottom: float, right: float, top: float) -> list[int]:
        indices = []
        for index, item in enumerate(self.items):
            first = item if isinstance(item, TextLine) else next(iter(item.lines), None)
            is_inside = first is not None and left <= first.left < right and bottom < first.base < top
            if is_inside and index not in self.taken:
                indices.append(index)
        return indices

    def height(self, index: int) -> float:
        item = self.items[index]
        return item.base if isinstance(item, TextLine) else item.lines[0].base

    def rows(self, indices: Sequence[int]) -> list[ListingRow]:
        return find_listing_rows([self.items[index] for index in indices])

    def line(self, index: int) -> TextLine | None:
        item = self.items[index]
        return item if isinstance(item, TextLine) and index not in self.taken else None


def _find_ruled(page: _Page, index: int, head: TextLine) -> ListingItem | None:
    box = _find_rules(head, page.rules)
    if box is None:
        return None
    top, middle, bottom = box
    left, right = middle.left - _MAX_RULE_END_DIFFERENCE_POINTS, middle.right
    caption = page.within(left, middle.bottom, right, top.top)
    step_indices = page.within(left, bottom.bottom - 1, right, middle.top)
    rows = page.rows(step_indices)
    if index not in caption or not _are_steps(rows) or any(page.line(number) is None for number in caption):
        return None
    lines = [line for number in caption if (line := page.line(number)) is not None]
    steps = _make_listing_block(rows, lambda: as_steps(rows, right, page.joiner))
    return ListingItem({*caption, *step_indices}, [Block(BlockKind.CAPTION, head.page, lines), steps])


def _find_rules(head: TextLine, rules: Sequence[Box]) -> tuple[Box, Box, Box] | None:
    size = head.size
    below = sorted(
        (
            rule
            for rule in rules
            if rule.right - rule.left > _MIN_RULE_LENGTH_POINTS and rule.bottom < head.base + 2.5 * size
        ),
        key=lambda rule: -rule.bottom,
    )
    for top in takewhile(lambda rule: rule.bottom > head.base + 0.4 * size, below):
        alike = [
            rule
            for rule in below
            if rule.bottom < head.base
            and abs(rule.left - top.left) < _MAX_RULE_END_DIFFERENCE_POINTS
            and abs(rule.right - top.right) < _MAX_RULE_END_DIFFERENCE_POINTS
            and rule.left < head.left + size
        ]
        if len(alike) >= _MIN_STEPS and alike[0].bottom > head.base - _MAX_CAPTION_HEIGHT_EM * size:
            return top, alike[0], alike[1]
    return None


def _are_steps(rows: Sequence[ListingRow]) -> bool:
    steps = sum(bool(_NUMBERED_STEP.match(row.text) or KEYWORD.match(row.text)) for row in rows)
    return steps >= _MIN_STEPS or _is_program(rows)


def _make_listing_block(rows: Sequence[ListingRow], steps: Callable[[], str]) -> Block:
    lines = [line for row in rows for line in row.lines]
    markdown = as_code(rows) if _is_program(rows) else steps()
    return Block(BlockKind.LISTING, lines[0].page, lines, markdown=markdown)


def _make_algorithm(page: _Page, indices: Iterable[int], rows: Sequence[ListingRow], right: float) -> ListingItem:
    return ListingItem(set(indices), [_make_listing_block(rows, lambda: as_steps(rows, right, page.joiner))])


def _is_program(rows: Sequence[ListingRow]) -> bool:
    return bool(rows) and sum(row.share("is_mono") >= _MIN_MONO_SHARE for row in rows) > 0.7 * len(rows)


def _find_numbered(page: _Page, index: int, first: TextLine) -> ListingItem | None:
    if not _NUMBERED_STEP.match(first.text):
        return _find_bare_numbers(page, index, first)
    if first.runs[0].font.is_bold:
        return None
    last = index
    before = first
    number = 1
    begin = _find_beginning(page, index)
    for line_index in range(index + 1, len(page.items)):
        line = page.line(line_index)
        if (
            line is None
            or line_index - last > _MAX_LINES_BETWEEN_STEPS
            or not -MAX_ROW_OFFSET_EM * line.size < before.base - line.base < _MAX_LISTING_STEP_EM * line.size
        ):
            break
        step = _NUMBERED_STEP.match(line.text)
        if step and int(step[1]) == number + 1 and abs(line.left - first.left) < 1.5 * line.size:
            last = line_index
            before = line
            number += 1
    if number < _MIN_LISTING_ROWS:
        return None
    last = _find_end(page, last, first)
    rows = page.rows(range(begin, last + 1))
    if not any(KEYWORD.match(_ANY_NUMBER.sub("", row.text, count=1)) for row in rows):
        return None
    return _make_algorithm(page, range(begin, last + 1), rows, page.columns.of(first)[1])


def _find_bare_numbers(page: _Page, index: int, first: TextLine) -> ListingItem | None:
    """Return the algorithm whose steps have numbers without a colon; its lines may come in any order."""
    numbers = _follow_numbers(page, first)
    if len(numbers) < _MIN_LISTING_ROWS:
        return None
    size = max(run.size for run in first.runs)
    left, right = min(line.left for line in numbers) - 1, _find_right_edge(page, numbers)
    indices = set(page.within(left, numbers[-1].base - 0.5 * size, right, first.base + 0.5 * size))
    if index not in indices:
        return None
    indices |= {*range(_find_beginning(page, min(indices)), min(indices))}
    rows = page.rows(sorted(indices, key=page.height, reverse=True))
    for row in rows:
        row.lines.sort(key=lambda line: line.left)
    if not any(_begins_with_bold_keyword(row) for row in rows):
        return None
    return _make_algorithm(page, indices, rows, right)


def _find_right_edge(page: _Page, numbers: Sequence[TextLine]) -> float:
    first = numbers[0]
    beside = (
        line.left - _MIN_NUMBER_INDENT_EM * line.size
        for index in page.bare_numbers.get(1, [])[:_MAX_CANDIDATES]
        if (line := page.line(index)) is not None
        and line.left > first.left + _MIN_ALGORITHM_WIDTH_EM * line.size
        and _overlaps(numbers, _follow_numbers(page, line))
    )
    return min(beside, default=page.columns.of(first)[1])


def _overlaps(numbers: Sequence[TextLine], others: Sequence[TextLine]) -> bool:
    return len(others) >= _MIN_LISTING_ROWS and numbers[-1].base < others[0].base and others[-1].base < numbers[0].base


def _follow_numbers(page: _Page, first: TextLine) -> list[TextLine]:
    found = [first] if _begins_steps(first) else []
    after: TextLine | None = first
    while found and after is not None:
        indices = page.bare_numbers.get(len(found) + 1, [])
        below = bisect_right(indices, -found[-1].base, key=lambda index: -page.height(index))
        lines = filter(None, map(page.line, indices[below : below + _MAX_CANDIDATES]))
        after = next((line for line in lines if _is_next(line, found)), None)
        found += [after] if after is not None else []
    return found


def _is_next(line: TextLine, found: Sequence[TextLine]) -> bool:
    step = found[-1].base - line.base
    is_near = 0 < step < _MAX_LISTING_STEP_EM * max(run.size for run in line.runs)
    return is_near and abs(line.left - found[0].left) < _MAX_NUMBER_OFFSET_EM * line.size


def _begins_steps(line: TextLine) -> bool:
    first, *others = line.runs
    return first.text == "1" and (not others or others[0].left - first.right > _MIN_NUMBER_GAP_EM * first.size)


def _begins_with_bold_keyword(row: ListingRow) -> bool:
    runs = [run for line in row.lines for run in line.runs]
    words = [run for run in runs if not run.text.isdecimal()]
    return bool(words) and words[0].font.is_bold and bool(KEYWORD.match(words[0].text))


def _find_beginning(page: _Page, begin: int) -> int:
    for index in range(begin - 1, max(-1, begin - _MAX_LINES_BETWEEN_STEPS - 1), -1):
        line, below = page.line(index), page.line(index + 1)
        if (
            line is None
            or below is None
            or not 0 <= line.base - below.base < 1.8 * below.size
            or _ALGORITHM_CAPTION.match(line.text)
        ):
            break
        if INPUT.match(line.text) or (index == begin - 1 and _PROCEDURE.match(line.text)):
            begin = index
    return begin


def _find_end(page: _Page, last: int, first: TextLine) -> int:
    for index in range(last + 1, min(len(page.items), last + _MAX_LINES_BETWEEN_STEPS)):
        line, before = page.line(index), page.line(index - 1)
        if line is None or before is None:
            break
        step = before.base - line.base
        is_beside = abs(step) < MAX_ROW_OFFSET_EM * line.size and line.left >= before.right - 1
        goes_on = 0 < step < 1.5 * line.size and line.left > first.left + 0.8 * line.size
        is_full = before.right > page.columns.of(before)[1] - 3 * line.size
        if not is_beside and not (goes_on and is_full):
            break
        last = index
    return last


def _find_program(page: _Page, index: int, first: TextLine) -> ListingItem | None:
    if page.body.is_mono or not _is_mono(first) or _is_in_text(page, index, first):
        return None
    program_indices = [index]
    before = first
    for line_index in range(index + 1, len(page.items)):
        line = page.line(line_index)
        if line is None or not _is_mono(line) or abs(line.size - first.size) > 0.08 * first.size:
            break
        if not -MAX_ROW_OFFSET_EM * line.size < before.base - line.base < _MAX_LISTING_STEP_EM * line.size:
            break
        program_indices.append(line_index)
        before = line
    rows = page.rows(program_indices)
    if len(rows) < _MIN_LISTING_ROWS or 2 * _count_addresses(rows) >= len(rows):
        return None
    return ListingItem(set(program_indices), [_make_listing_block(rows, lambda: as_code(rows))])


def _count_addresses(rows: Sequence[ListingRow]) -> int:
    count = 0
    is_inside = False
    for row in rows:
        is_inside = bool(_ADDRESS.search(row.text)) or (is_inside and " " not in row.text)
        count += is_inside
    return count


def _is_in_text(page: _Page, index: int, line: TextLine) -> bool:
    before = page.line(index - 1) if index else None
    if before is None or ends_sentence(before.text) or _LISTING_CAPTION.match(before.text):
        return False
    return 0 < before.base - line.base <= _MAX_TEXT_STEP_LEADINGS * page.body.leading_of(line)


def _is_mono(line: TextLine) -> bool:
    return line.runs[0].font.is_mono and line.share("is_mono") >= _MIN_MONO_SHARE


def _find_unnumbered(page: _Page, index: int, first: TextLine) -> ListingItem | None:
    last = index
    before = first
    count = 1
    for line_index in range(index + 1, min(len(page.items), index + _MAX_UNNUMBERED_LINES)):
        line = page.line(line_index)
        is_next = line is not None and _is_below(before, line) and line.left > first.left - _SAME_EDGE_EM * line.size
        if line is None or line_index - last > _MAX_LINES_BETWEEN_STEPS or not is_next:
            break
        if line.runs[0].font.is_bold and _CONTROL.match(line.text):
            last = line_index
            count += 1
        before = line
    if count < _MIN_LISTING_ROWS:
        return None
    begin = _find_first_statement(page, _find_beginning(page, index))
    rows = page.rows(range(begin, last + 1))
    return _make_algorithm(page, range(begin, last + 1), rows, page.columns.of(first)[1])


def _is_below(before: TextLine, line: TextLine) -> bool:
    return -MAX_ROW_OFFSET_EM * line.size < before.base - line.base < _MAX_UNNUMBERED_STEP_EM * line.size


def _find_first_statement(page: _Page, begin: int) -> int:
    while begin > 0:
        line, below = page.line(begin - 1), page.line(begin)
        if line is None or below is None or not line.runs[0].font.is_maths or not _is_below(line, below):
            break
        begin -= 1
    return begin


_Finder = Callable[[_Page, int, TextLine], ListingItem | None]
_FINDERS = (_find_ruled, _find_numbered, _find_program, _find_unnumbered)
