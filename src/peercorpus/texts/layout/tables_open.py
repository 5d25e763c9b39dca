"""Tables that no rules enclose: rows in columns above or below a caption, or beyond the rules of a table."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from peercorpus.texts.layout.glyphs import Run
from peercorpus.texts.layout.shapes import Box
from peercorpus.texts.layout.tables_cells import Piece, Row, Word, column_of, crosses, find_gaps, read_rows
from peercorpus.texts.layout.tables_rules import Frame, Shelf

REACH = 420.0
"""Height above or below a caption in which a table is looked for, in points."""
MOST_CAPTIONS = 20
"""Captions of a page that are looked at, at most."""
CAPTION_LINES = 10
"""Lines of a caption, at most."""
STEP = 2.1
"""Distance of two rows, in the size of the font, at most."""
FIRST_STEP = 3.6
"""Distance of a caption from the first row, in the size of the font, at most."""
FEWEST = 3
"""Rows with several cells, at least."""
SEVERAL = 0.6
"""Share of the rows that have several cells, at least."""
ASIDE, BELOW, ABOVE = 60.0, 45.0, 110.0
"""How far from a table the first run of its caption stands, in points, at most."""
MOST_WORDS = 7
"""Words of a row that is all one cell, at most."""
TEXT_WORDS = 4
"""Words between two wide gaps of a line of text, on average, that a row of a table does not have."""
NUMBERS = 0.25
"""Share of the cells that hold a digit, at least, where no rule is drawn."""
LONG = 30
"""Characters of a run that tells whether a page has two columns."""

BESIDE = 150.0
"""Height below or above the rules of a table in which further rows are looked for, in points."""
NEXT = 1.7
"""Distance of such a row from the one before, in the size of the font, at most."""

ReadWords = Callable[[Sequence[Run]], list[Word]]
"""Gives the words of runs."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is needed of a page.

    Attributes:
        captions: First runs of captions.
        rules: Horizontal lines; `uprights` are the vertical ones.
    """

    runs: Sequence[Run]
    shelf: Shelf
    captions: Sequence[Run]
    rules: Sequence[Box]
    uprights: Sequence[Box]


def find_open_frames(page: Page, taken: Sequence[Box], words: ReadWords) -> Iterator[list[Frame]]:
    """Places above and below each caption where no table has been found yet, the nearer one first."""
    for caption in page.captions[:MOST_CAPTIONS]:
        if "tab" not in caption.text.casefold() or _has_table(caption, taken):
            continue
        column = _column(page.runs, caption)
        sides = [_rows_beside(page, caption, column, words, is_below=is_below) for is_below in (True, False)]
        sides = [rows for rows in sides if rows]
        sides.sort(key=lambda rows: min(abs(row.base - caption.base) for row in rows))
        yield [_frame(rows, page) for rows in sides]


def _has_table(caption: Run, taken: Sequence[Box]) -> bool:
    middle = (caption.left + caption.right) / 2
    return any(
        box.left - ASIDE < middle < box.right + ASIDE and box.bottom - BELOW < caption.base < box.top + ABOVE
        for box in taken
    )


def _column(runs: Sequence[Run], caption: Run) -> tuple[float, float]:
    """Left and right end of the column that a caption is in."""
    long = [run for run in runs if len(run.text) >= LONG] or [caption]
    left, right = min(run.left for run in long), max(run.right for run in long)
    middle = (left + right) / 2
    crossing = sum(run.left < middle - 15 and run.right > middle + 15 for run in long)
    if 2 * crossing > len(long) or caption.left < middle - 15 < middle + 15 < caption.right:
        return left - 5, right + 5
    return (left - 5, middle) if (caption.left + caption.right) / 2 < middle else (middle, right + 5)


def _rows_beside(
    page: Page, caption: Run, column: tuple[float, float], words: ReadWords, *, is_below: bool
) -> list[Row]:
    """The rows with several cells next to a caption, from top to bottom."""
    left, right = column
    edge = caption.base + 1 if is_below else caption.base + 0.5 * caption.size
    box = Box(left, edge - REACH, right, edge) if is_below else Box(left, edge, right, edge + REACH)
    said = words(page.shelf.within(box))
    if not said:
        return []
    rows = read_rows(said, [])
    tops = [rule.top for rule in page.rules if rule.left < right and rule.right > left]
    others = [run.base for run in page.captions if run is not caption]
    if not is_below:
        rows.reverse()
        return _grown(rows, caption.base, others, tops, right - left)[::-1]
    lines = 0
    while lines < min(CAPTION_LINES, len(rows)) and _may_be_caption(rows[lines], right - left):
        lines += 1
    return _grown(rows[lines:], rows[lines - 1].base, others, tops, right - left) if lines else []


def _grown(rows: Sequence[Row], edge: float, others: Sequence[float], tops: Sequence[float], width: float) -> list[Row]:
    """The first rows, up to where something else begins than a table.

    Args:
        rows: From the caption on.
        edge: Height of the line of the caption next to them, in points.
        others: Heights of other captions.
        tops: Heights of rules.
        width: Of the column, in points.
    """
    kept: list[Row] = []
    for row in rows:
        low, high = sorted((edge, row.base))
        most = STEP if kept and not any(low < top < high for top in tops) else FIRST_STEP
        if high - low > most * row.size or _is_text(row.pieces, width):
            break
        if any(abs(base - row.base) < 0.5 * row.size for base in others):
            break
        kept.append(row)
        edge = row.base
    while kept and len(kept[-1].pieces) == 1:
        kept.pop()
    several = [row for row in kept if len(row.pieces) > 1]
    return kept if len(several) >= max(FEWEST, SEVERAL * len(kept)) else []


def _may_be_caption(row: Row, width: float) -> bool:
    return len(row.pieces) == 1 or _is_text(row.pieces, width)


def _is_text(pieces: Sequence[Piece], width: float) -> bool:
    """Whether a row is a line of text: it has hardly a gap, and goes over the column or has many words."""
    extent, words = pieces[-1].right - pieces[0].left, sum(piece.count for piece in pieces)
    if len(pieces) == 1:
        return extent > 0.6 * width or words > MOST_WORDS
    return extent > 0.85 * width and words > TEXT_WORDS * len(pieces)


def _frame(rows: Sequence[Row], page: Page) -> Frame:
    size = rows[0].size
    left, right = min(row.pieces[0].left for row in rows), max(row.pieces[-1].right for row in rows)
    box = Box(left - 2, rows[-1].base - 0.4 * size, right + 2, rows[0].base + size)
    inside = [
        rule
        for rule in page.rules
        if box.left - 20 < (rule.left + rule.right) / 2 < box.right + 20 and box.bottom < rule.top < box.top
    ]
    full = [rule.top for rule in inside if rule.right - rule.left > 0.8 * (right - left)]
    beside = [one for one in page.uprights if box.holds(one.left, (one.top + one.bottom) / 2)]
    heights = sorted({box.top, box.bottom, *full}, reverse=True)
    return Frame(box, heights, [rule for rule in inside if rule.top not in full], beside, is_open=not full)


def extended(frame: Frame, lines: Sequence[Row], gaps: Sequence[float], page: Page, words: ReadWords) -> Frame:
    """A frame with the rows that go on beyond its last rule, or stand above its first one.

    Args:
        frame: As the rules have it.
        lines: The lines in it; where there is but one, it is the head of what stands below.
        gaps: Where its columns end.
        page: What is around it.
        words: Gives the words of runs.
    """
    box = frame.box
    across = [rule.top for rule in page.rules if min(rule.right, box.right) - max(rule.left, box.left) > 5]
    floor = max([top for top in across if top < box.bottom - 3], default=0.0)
    ceiling = min([top for top in across if top > box.top + 3], default=box.top + BESIDE)
    below = _near(page, Box(box.left, max(floor, box.bottom - REACH), box.right, box.bottom))
    above = page.shelf.within(Box(box.left, box.top, box.right, min(ceiling, box.top + BESIDE)))
    rows = _read(page, below, words)
    if len(lines) == 1:
        gaps = find_gaps([*lines, *rows], 1)
    bottom = _reach(rows, box.bottom, gaps)
    top = _reach(_read(page, above, words)[::-1], box.top, gaps)
    if bottom is None and top is None:
        return frame
    low = box.bottom if bottom is None else bottom.base - 0.4 * bottom.size
    high = box.top if top is None else top.base + top.size
    heights = sorted({*frame.heights, low, high}, reverse=True)
    box = Box(box.left, low, box.right, high)
    return Frame(box, heights, frame.rules, [one for one in page.uprights if _is_in(one, box)])


def _is_in(upright: Box, box: Box) -> bool:
    return box.holds(upright.left, (upright.top + upright.bottom) / 2)


def _near(page: Page, box: Box) -> list[Run]:
    """The runs in a box from its top down to the first caption or the first wide space."""
    kept: list[Run] = []
    edge = box.top
    for run in reversed(page.shelf.within(box)):
        if edge - run.base > NEXT * run.size or any(run is caption for caption in page.captions):
            break
        kept.append(run)
        edge = run.base
    return kept


def _read(page: Page, runs: Sequence[Run], words: ReadWords) -> list[Row]:
    """The rows that runs make up; none where a caption is among them."""
    if not runs or any(run is caption for run in runs for caption in page.captions):
        return []
    said = words(runs)
    return read_rows(said, []) if said else []


def _reach(rows: Sequence[Row], edge: float, gaps: Sequence[float]) -> Row | None:
    """The last of the rows that stand in the columns of a table, one close to the other."""
    last = None
    for row in rows:
        own = {column_of(one, gaps) for one in row.pieces if not crosses(one, gaps)}
        if abs(edge - row.base) > NEXT * row.size or len(row.pieces) < 2 or len(own) < len(row.pieces):
            break
        last, edge = row, row.base
    return last
