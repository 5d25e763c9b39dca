"""Find places that may contain a table, by rules or next to a caption."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import attrgetter

from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.tables.cells import CellRow, CellText, Word, column_of, crosses, find_gaps, read_cell_rows

MAX_RULES = 3_000
"""Maximum number of rules on a page that is searched for tables; more belong to a drawing."""
_MAX_RULE_GROUPS = 50
"""Maximum groups of rules with equal ends on a page."""
_MAX_FRAMES = 40
_MIN_TABLE_WIDTH_POINTS = 40.0
_MAX_RULE_GAP_POINTS = 1.5
"""Maximum gap between two pieces of one rule, in points."""
_MAX_RULE_END_DIFFERENCE_POINTS = 3.0
"""Maximum difference of the ends of two rules of one table, in points."""
_MAX_DOUBLE_RULE_GAP_POINTS = 6.0
"""Maximum distance of two rules that form a double rule, in points."""
_MIN_THICK_RATIO = 1.3
"""Minimum thickness of a table's outer rules relative to its thinnest rule, if they are thicker."""
_MAX_GAP_BELOW_RULE_EM = 3.5
"""Maximum distance of a baseline from the rule above it, in em."""
_MAX_GAP_ABOVE_RULE_EM = 2.2
"""Maximum distance of a baseline from the rule below it, in em."""


@dataclass(slots=True)
class Frame:
    """A place that may contain a table, with the heights of its rules from top to bottom; `rules` are shorter ones
    inside, such as below a head across columns; `is_open` if no rule is drawn at all.
    """

    box: Box
    heights: list[float]
    rules: list[Box]
    uprights: list[Box]
    is_open: bool = False


class RunsByHeight:
    """The runs of a page, sorted by height."""

    def __init__(self, runs: Sequence[TextRun]) -> None:
        self._runs = sorted(runs, key=attrgetter("base"))
        self._bases = [run.base for run in self._runs]

    def within(self, box: Box) -> list[TextRun]:
        """Return the runs whose baseline and centre are inside a box."""
        first, behind = bisect_right(self._bases, box.bottom), bisect_left(self._bases, box.top)
        return [run for run in self._runs[first:behind] if box.left <= (run.left + run.right) / 2 <= box.right]


IsProse = Callable[[Box, Sequence[TextRun]], bool]


def find_frames(
    rules: Sequence[Box], uprights: Sequence[Box], shelf: RunsByHeight, breaks: Sequence[TextRun], is_prose: IsProse
) -> list[Frame]:
    """Return places that may contain a table, the largest first; `breaks`, starts of captions, are never inside."""
    if len(rules) > MAX_RULES or len(uprights) > MAX_RULES:
        return []
    joined = join_rules(rules)
    chains = [chain for group in _group_rules(joined) for chain in _split_group(group, shelf, breaks, is_prose)]
    chains.sort(key=lambda chain: -(chain[0].right - chain[0].left) * (chain[0].top - chain[-1].bottom))
    return [_make_ruled_frame(chain, joined, uprights) for chain in chains[:_MAX_FRAMES]]


def _make_ruled_frame(chain: Sequence[Box], rules: Sequence[Box], uprights: Sequence[Box]) -> Frame:
    box = Box(chain[0].left, chain[-1].bottom, chain[0].right, chain[0].top)
    wide = Box(
        box.left - _MAX_RULE_END_DIFFERENCE_POINTS,
        box.bottom - _MAX_RULE_END_DIFFERENCE_POINTS,
        box.right + _MAX_RULE_END_DIFFERENCE_POINTS,
        box.top + _MAX_RULE_END_DIFFERENCE_POINTS,
    )
    own = {id(rule) for rule in chain}
    inner = [line for line in rules if id(line) not in own and wide.holds((line.left + line.right) / 2, line.top)]
    beside = [line for line in uprights if wide.holds(line.left, (line.top + line.bottom) / 2)]
    return Frame(box=box, heights=[rule.top for rule in chain], rules=inner, uprights=beside)


def join_rules(rules: Sequence[Box]) -> list[Box]:
    """Return the rules with those drawn in pieces joined."""
    joined: list[Box] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.bottom), rule.left)):
        last = joined[-1] if joined else None
        if last and abs(last.bottom - rule.bottom) <= 1 and rule.left <= last.right + _MAX_RULE_GAP_POINTS:
            joined[-1] = Box(last.left, last.bottom, max(last.right, rule.right), max(last.top, rule.top))
        else:
            joined.append(rule)
    return joined


def _group_rules(rules: Sequence[Box]) -> Iterator[list[Box]]:
    groups: list[list[Box]] = []
    for rule in sorted(rules, key=lambda rule: (rule.left, rule.right)):
        if rule.right - rule.left < _MIN_TABLE_WIDTH_POINTS:
            continue
        for group in reversed(groups[-12:]):
            if (
                abs(group[0].left - rule.left) <= _MAX_RULE_END_DIFFERENCE_POINTS
                and abs(group[0].right - rule.right) <= _MAX_RULE_END_DIFFERENCE_POINTS
            ):
                group.append(rule)
                break
        else:
            groups.append([rule])
    several = sorted((group for group in groups if len(group) > 1), key=len, reverse=True)
    for group in several[:_MAX_RULE_GROUPS]:
        yield sorted(group, key=lambda rule: -rule.top)


def _split_group(
    group: Sequence[Box], shelf: RunsByHeight, breaks: Sequence[TextRun], is_prose: IsProse
) -> Iterator[list[Box]]:
    ends = _find_last_rules(group)
    chain: list[Box] = []
    for number, rule in enumerate(group):
        if chain and (number - 1 in ends or not _holds_rows(chain[-1], rule, shelf, breaks, is_prose)):
            if len(chain) > 1:
                yield chain
            chain = []
        chain.append(rule)
    if len(chain) > 1:
        yield chain


def _find_last_rules(group: Sequence[Box]) -> set[int]:
    thin = min(rule.top - rule.bottom for rule in group)
    thick = [number for number, rule in enumerate(group) if rule.top - rule.bottom >= _MIN_THICK_RATIO * thin]
    is_paired = len(thick) % 2 == 0 and len(group) > len(thick) > 2 and thick[0] == 0
    if not is_paired or any(low - high < 2 for high, low in zip(thick[::2], thick[1::2], strict=True)):
        return set()
    return set(thick[1::2])


def _holds_rows(upper: Box, lower: Box, shelf: RunsByHeight, breaks: Sequence[TextRun], is_prose: IsProse) -> bool:
    if any(lower.top < run.base < upper.bottom and upper.left - 40 < run.left < upper.right for run in breaks):
        return False
    box = Box(upper.left, lower.top, upper.right, upper.bottom)
    if box.top - box.bottom <= _MAX_DOUBLE_RULE_GAP_POINTS:
        return True
    runs = shelf.within(box)
    return bool(runs) and not _is_loose(box, runs) and not is_prose(box, runs)


def _is_loose(box: Box, runs: Sequence[TextRun]) -> bool:
    first, last = max(runs, key=attrgetter("base")), min(runs, key=attrgetter("base"))
    return (
        box.top - first.base > _MAX_GAP_BELOW_RULE_EM * first.size
        or last.base - box.bottom > _MAX_GAP_ABOVE_RULE_EM * last.size
    )


_SEARCH_HEIGHT_POINTS = 420.0
"""Height above or below a caption that is searched for a table, in points."""
_MAX_CAPTIONS = 20
_MAX_CAPTION_LINES = 10
_MAX_ROW_STEP_EM = 2.1
_MAX_FIRST_STEP_EM = 3.6
"""Maximum distance of a caption from the first row, in em."""
_MIN_ROWS = 3
_MIN_ROWS_SHARE = 0.6
_MAX_CAPTION_ASIDE_POINTS = 60.0
"""Maximum distance of a caption to the left or right of its table, in points."""
_MAX_CAPTION_BELOW_POINTS = 45.0
"""Maximum distance of a caption below its table, in points."""
_MAX_CAPTION_ABOVE_POINTS = 110.0
"""Maximum distance of the first line of a caption above its table, in points."""
_MAX_SINGLE_CELL_WORDS = 7
"""Maximum words of a row that is a single cell."""
_MIN_TEXT_WORDS = 4
"""Average number of words between two wide gaps above which a row is a line of text."""
MIN_OPEN_NUMBER_SHARE = 0.25
"""Minimum share of cells with a digit in a table without rules."""
_MIN_COLUMN_RUN_CHARACTERS = 30
"""Minimum characters of a run that is used to detect two columns."""

_EXTENSION_HEIGHT_POINTS = 150.0
"""Height below or above the rules of a table that is searched for further rows, in points."""
_MAX_EXTENSION_STEP_EM = 1.7
"""Maximum distance of such a row from the one before, in em."""

ReadWords = Callable[[Sequence[TextRun]], list[Word]]


@dataclass(frozen=True, slots=True)
class TablePage:
    """The parts of a page that are needed to find tables; `captions` are their first runs."""

    runs: Sequence[TextRun]
    shelf: RunsByHeight
    captions: Sequence[TextRun]
    rules: Sequence[Box]
    uprights: Sequence[Box]


def find_open_frames(page: TablePage, table_boxes: Sequence[Box], words: ReadWords) -> Iterator[list[Frame]]:
    """Yield places above and below each caption that has no table yet, the nearer one first."""
    for caption in page.captions[:_MAX_CAPTIONS]:
        if "tab" not in caption.text.casefold() or _has_table(caption, table_boxes):
            continue
        column = _find_caption_column(page.runs, caption)
        sides = [_find_rows_near_caption(page, caption, column, words, is_below=is_below) for is_below in (True, False)]
        sides = [rows for rows in sides if rows]
        sides.sort(key=lambda rows: min(abs(row.base - caption.base) for row in rows))
        yield [_make_open_frame(rows, page) for rows in sides]


def _has_table(caption: TextRun, table_boxes: Sequence[Box]) -> bool:
    middle = (caption.left + caption.right) / 2
    return any(
        box.left - _MAX_CAPTION_ASIDE_POINTS < middle < box.right + _MAX_CAPTION_ASIDE_POINTS
        and box.bottom - _MAX_CAPTION_BELOW_POINTS < caption.base < box.top + _MAX_CAPTION_ABOVE_POINTS
        for box in table_boxes
    )


def _find_caption_column(runs: Sequence[TextRun], caption: TextRun) -> tuple[float, float]:
    long = [run for run in runs if len(run.text) >= _MIN_COLUMN_RUN_CHARACTERS] or [caption]
    left, right = min(run.left for run in long), max(run.right for run in long)
    middle = (left + right) / 2
    crossing = sum(run.left < middle - 15 and run.right > middle + 15 for run in long)
    if 2 * crossing > len(long) or caption.left < middle - 15 < middle + 15 < caption.right:
        return left - 5, right + 5
    return (left - 5, middle) if (caption.left + caption.right) / 2 < middle else (middle, right + 5)


def _find_rows_near_caption(
    page: TablePage, caption: TextRun, column: tuple[float, float], words: ReadWords, *, is_below: bool
) -> list[CellRow]:
    left, right = column
    edge = caption.base + 1 if is_below else caption.base + 0.5 * caption.size
    box = (
        Box(left, edge - _SEARCH_HEIGHT_POINTS, right, edge)
        if is_below
        else Box(left, edge, right, edge + _SEARCH_HEIGHT_POINTS)
    )
    words_near = words(page.shelf.within(box))
    if not words_near:
        return []
    rows = read_cell_rows(words_near, [])
    tops = [rule.top for rule in page.rules if rule.left < right and rule.right > left]
    others = [run.base for run in page.captions if run is not caption]
    if not is_below:
        rows.reverse()
        return _take_rows(rows, caption.base, others, tops, right - left)[::-1]
    caption_rows = list(
        takewhile(lambda row: len(row.pieces) == 1 or _is_text(row.pieces, right - left), rows[:_MAX_CAPTION_LINES])
    )
    if not caption_rows:
        return []
    return _take_rows(rows[len(caption_rows) :], caption_rows[-1].base, others, tops, right - left)


def _take_rows(
    rows: Sequence[CellRow], edge: float, others: Sequence[float], tops: Sequence[float], width: float
) -> list[CellRow]:
    """Return the first rows, up to the end of the table."""
    kept: list[CellRow] = []
    for row in rows:
        low, high = sorted((edge, row.base))
        most = _MAX_ROW_STEP_EM if kept and not any(low < top < high for top in tops) else _MAX_FIRST_STEP_EM
        if high - low > most * row.size or _is_text(row.pieces, width):
            break
        if any(abs(base - row.base) < 0.5 * row.size for base in others):
            break
        kept.append(row)
        edge = row.base
    while kept and len(kept[-1].pieces) == 1:
        kept.pop()
    several = [row for row in kept if len(row.pieces) > 1]
    return kept if len(several) >= max(_MIN_ROWS, _MIN_ROWS_SHARE * len(kept)) else []


def _is_text(pieces: Sequence[CellText], width: float) -> bool:
    extent = pieces[-1].right - pieces[0].left
    words = sum(piece.count for piece in pieces)
    if len(pieces) == 1:
        return extent > 0.6 * width or words > _MAX_SINGLE_CELL_WORDS
    return extent > 0.85 * width and words > _MIN_TEXT_WORDS * len(pieces)


def _make_open_frame(rows: Sequence[CellRow], page: TablePage) -> Frame:
    size = rows[0].size
    left, right = min(row.pieces[0].left for row in rows), max(row.pieces[-1].right for row in rows)
    box = Box(left - 2, rows[-1].base - 0.4 * size, right + 2, rows[0].base + size)
    inside = [
        rule
        for rule in page.rules
        if box.left - 20 < (rule.left + rule.right) / 2 < box.right + 20 and box.bottom < rule.top < box.top
    ]
    full = [rule.top for rule in inside if rule.right - rule.left > 0.8 * (right - left)]
    beside = [line for line in page.uprights if box.holds(line.left, (line.top + line.bottom) / 2)]
    heights = sorted({box.top, box.bottom, *full}, reverse=True)
    return Frame(
        box=box,
        heights=heights,
        rules=[rule for rule in inside if rule.top not in full],
        uprights=beside,
        is_open=not full,
    )


def extend(frame: Frame, lines: Sequence[CellRow], gaps: Sequence[float], page: TablePage, words: ReadWords) -> Frame:
    """Return a frame extended by the rows that continue beyond its last rule, or precede its first one."""
    box = frame.box
    across = [rule.top for rule in page.rules if min(rule.right, box.right) - max(rule.left, box.left) > 5]
    floor = max([top for top in across if top < box.bottom - 3], default=0.0)
    ceiling = min([top for top in across if top > box.top + 3], default=box.top + _EXTENSION_HEIGHT_POINTS)
    below = _find_runs_below(page, Box(box.left, max(floor, box.bottom - _SEARCH_HEIGHT_POINTS), box.right, box.bottom))
    above = page.shelf.within(Box(box.left, box.top, box.right, min(ceiling, box.top + _EXTENSION_HEIGHT_POINTS)))
    rows = _read_rows(page, below, words)
    if len(lines) == 1:
        gaps = find_gaps([*lines, *rows], 1)
    bottom = _find_last_row(rows, box.bottom, gaps)
    top = _find_last_row(_read_rows(page, above, words)[::-1], box.top, gaps)
    if bottom is None and top is None:
        return frame
    low = box.bottom if bottom is None else bottom.base - 0.4 * bottom.size
    high = box.top if top is None else top.base + top.size
    heights = sorted({*frame.heights, low, high}, reverse=True)
    box = Box(box.left, low, box.right, high)
    uprights = [line for line in page.uprights if box.holds(line.left, (line.top + line.bottom) / 2)]
    return Frame(box=box, heights=heights, rules=frame.rules, uprights=uprights)


def _find_runs_below(page: TablePage, box: Box) -> list[TextRun]:
    kept: list[TextRun] = []
    edge = box.top
    for run in reversed(page.shelf.within(box)):
        if edge - run.base > _MAX_EXTENSION_STEP_EM * run.size or any(run is caption for caption in page.captions):
            break
        kept.append(run)
        edge = run.base
    return kept


def _read_rows(page: TablePage, runs: Sequence[TextRun], words: ReadWords) -> list[CellRow]:
    if not runs or any(run is caption for run in runs for caption in page.captions):
        return []
    row_words = words(runs)
    return read_cell_rows(row_words, []) if row_words else []


def _find_last_row(rows: Sequence[CellRow], edge: float, gaps: Sequence[float]) -> CellRow | None:
    last = None
    for row in rows:
        own = {column_of(piece, gaps) for piece in row.pieces if not crosses(piece, gaps)}
        if (
            abs(edge - row.base) > _MAX_EXTENSION_STEP_EM * row.size
            or len(row.pieces) < 2
            or len(own) < len(row.pieces)
        ):
            break
        last = row
        edge = row.base
    return last
