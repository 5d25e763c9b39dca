"""The cells of a table put together: heads of columns, cells of several lines, cells over several columns."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from peercorpus.texts.layout.shapes import Box
from peercorpus.texts.layout.tables_bands import CLOSE, LONG, Band, band_gaps, by_space, is_ruled, without_chances
from peercorpus.texts.layout.tables_cells import Piece, Row, Word, column_of, crosses, find_gaps, read_rows
from peercorpus.texts.layout.tables_rules import Frame
from peercorpus.texts.layout.tables_spans import begin_groups, begin_titles, heads_over

FEWEST_ROWS = 3
"""Lines without an empty cell, at least, that are rows of their own."""
PADDING = 6.0
"""Distance of the text of a cell from the end of a rule over its column, in points."""
LEADING = 1.35
"""Distance of two lines of one cell, in the size of the font, at most."""
MOST_HEAD_LINES = 5
"""Lines of the heads of columns, at most, that are put together."""
MOST_PAIRS = 20_000
"""Rules times lines of a table, beyond which headings over several columns are not looked for."""
NUMERIC = re.compile(
    r"[-\u2212\u2013+<>≤≥~≈±$↑↓*†‡(\[]*\d[\d.,%\u00d7xX·±()\[\]/:\u2212\u2013\-+*†‡^\s eE^kKMBGs]*$|"
    r"[-\u2013—\u2212✓✗✔✘\u00d7√]$"
)
"""A cell that holds a value and no words."""


@dataclass(slots=True)
class Grid:
    """The cells of a table.

    Attributes:
        rows: Texts, as many in each row as there are columns.
        lines: What stands on one baseline each, as it was found.
        gaps: Where columns end, in points.
    """

    rows: list[list[str]]
    lines: list[Row]
    gaps: list[float]

    def markdown(self) -> str:
        """The table with pipes."""
        head, *body = ([escaped(text) for text in row] for row in self.rows)
        return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body))


def escaped(text: str) -> str:
    """The text of a cell, so that it cannot end the cell."""
    return text.replace("|", "\\|")


def read_grid(words: Sequence[Word], frame: Frame) -> Grid | None:
    """The cells that words in a frame make up; None where there are none."""
    height = frame.box.top - frame.box.bottom
    uprights = sorted({round(one.left, 1) for one in frame.uprights if one.top - one.bottom > 0})
    lines = read_rows(words, uprights if height > 0 else [])
    _set_starts(lines, frame.rules)
    first_body = _first_body(lines, frame)
    gaps = _gaps(lines, first_body, frame)
    bands: list[Band] = list(_bands(lines, frame))
    found = _banded(bands, frame)
    bands, gaps = found or (bands, gaps)
    if not gaps:
        return None
    begin_titles(lines, gaps)
    if len(bands) > 2 and _is_of_heads(bands[1], gaps):
        bands = [[*bands[0], *bands[1]], *bands[2:]]
    head = _head(bands, gaps, frame.rules)
    rows = [head] if head else []
    body = bands[1:] if head else bands
    is_grid = len(frame.uprights) > 1 and len(bands) > 3 and not any(_is_stacked(band, gaps, 1) for band in body)
    for band in body:
        rows += [_cells(band, gaps)] if is_grid or found else _rows(band, frame, gaps)
    return Grid(rows, lines, gaps) if rows else None


def _gaps(lines: Sequence[Row], first_body: int, frame: Frame) -> list[float]:
    """Where columns end, without wide spaces below heads of columns that are told by a rule."""
    gaps = find_gaps(lines, first_body)
    if len(frame.heights) < 3 or not 0 < first_body < len(lines):
        return gaps
    heads, body = lines[:first_body], lines[first_body:]
    whole = Row(heads[0].base, heads[0].size, [piece for line in heads for piece in line.pieces])
    return without_chances(gaps, [whole, *body], [heads, *([line] for line in body)])


def _banded(bands: Sequence[Band], frame: Frame) -> tuple[list[Band], list[float]] | None:
    """Bands that are a row each, and where their columns end; None where rows are not told by rules or space."""
    parted = by_space(bands)
    for some in (bands, parted) if frame.uprights else (parted, bands):
        gaps = band_gaps(some)
        if is_ruled(some, gaps) and not any(_is_stacked(band, gaps, 1) for band in some[1:]):
            return list(some), gaps
    return None


def _set_starts(lines: Sequence[Row], rules: Sequence[Box]) -> None:
    """Let headings over several columns begin where the rule below them does."""
    if len(rules) * len(lines) > MOST_PAIRS:
        return
    for line in lines:
        below = [rule for rule in rules if 0 < line.base - rule.top < 1.2 * line.size]
        for rule in below:
            over = [piece for piece in line.pieces if rule.left < (piece.left + piece.right) / 2 < rule.right]
            if len(over) == 1:
                over[0].start = min(over[0].left, rule.left + PADDING)


def _first_body(lines: Sequence[Row], frame: Frame) -> int:
    """The number of the first line below the second rule."""
    if len(frame.heights) < 3:
        return 1
    return sum(line.base > frame.heights[1] for line in lines)


def _bands(lines: Sequence[Row], frame: Frame) -> Iterable[list[Row]]:
    """The lines between two rules each."""
    edges = frame.heights[1:]
    band: list[Row] = []
    at = 0
    for line in lines:
        is_behind = False
        while at < len(edges) and line.base < edges[at] - 0.5:
            at += 1
            is_behind = True
        if is_behind and band:
            yield band
            band = []
        band.append(line)
    if band:
        yield band


def _head(bands: Sequence[Sequence[Row]], gaps: Sequence[float], rules: Sequence[Box]) -> list[str] | None:
    """The heads of the columns, where the first band is nothing else."""
    if len(bands) < 2 or len(bands[0]) > MOST_HEAD_LINES or _is_stacked(bands[0], gaps):
        return None
    whole = sum(len(_columns(line, gaps)) > len(gaps) for line in bands[0])
    return _heads(bands, gaps, rules) if whole < FEWEST_ROWS else None


def _heads(bands: Sequence[Sequence[Row]], gaps: Sequence[float], rules: Sequence[Box]) -> list[str]:
    """One row of all lines of the heads, one over several columns said in each of them."""
    said: list[list[str]] = [[] for _ in range(len(gaps) + 1)]
    body = [line for band in bands[1:] for line in band]
    for line in heads_over(bands[0], body, gaps, rules):
        own: dict[int, list[str]] = {}
        for columns, piece in line:
            for number in columns:
                own.setdefault(number, []).append(piece.text)
        for number, texts in own.items():
            said[number].append(" ".join(texts))
    return [_joined(parts) for parts in said]


def _is_of_heads(band: Band, gaps: Sequence[float]) -> bool:
    """Whether a line between two rules goes on with the heads above: it has no head of its own, and no value."""
    columns = _columns(band[0], gaps)
    return len(band) == 1 and len(columns) > 1 and 0 not in columns and not any(map(_is_value, columns.values()))


def _columns(line: Row, gaps: Sequence[float]) -> dict[int, list[Piece]]:
    found: dict[int, list[Piece]] = {}
    for piece in line.pieces:
        found.setdefault(column_of(piece, gaps), []).append(piece)
    return found


def _cells(lines: Sequence[Row], gaps: Sequence[float]) -> list[str]:
    """One row of all lines."""
    said: list[list[str]] = [[] for _ in range(len(gaps) + 1)]
    for line in lines:
        for number, pieces in _columns(line, gaps).items():
            said[number].append(" ".join(piece.text for piece in pieces))
    return [_joined(parts) for parts in said]


def _joined(parts: Sequence[str]) -> str:
    text = ""
    for part in parts:
        if text.endswith("-") and text[-2:-1].isalpha() and part[:1].isalnum():
            text = (text[:-1] if part[0].islower() else text) + part
        else:
            text = f"{text} {part}" if text else part
    return text


def _is_stacked(lines: Sequence[Row], gaps: Sequence[float], least: int = 2) -> bool:
    """Whether values stand one below the other in several columns: then the lines are rows of their own."""
    seen: dict[int, int] = {}
    for line in lines:
        for number, pieces in _columns(line, gaps).items():
            if _is_value(pieces):
                seen[number] = seen.get(number, 0) + 1
    return sum(count > 1 for count in seen.values()) >= min(least, len(gaps))


def _rows(band: Sequence[Row], frame: Frame, gaps: Sequence[float]) -> list[list[str]]:
    """The rows between two rules: lines that go on with cells of the line above are put to it."""
    if _is_one_row(band, gaps):
        return [_cells(band, gaps)]
    groups: list[list[Row]] = []
    for line in band:
        if groups and _goes_on(groups[-1], line, frame, gaps):
            groups[-1].append(line)
        else:
            groups.append([line])
    return [_cells(group, gaps) for group in begin_groups(groups, gaps)]


def _is_one_row(band: Sequence[Row], gaps: Sequence[float]) -> bool:
    """Whether the lines are one long text, with at most one other cell beside it in each column."""
    lines = [_columns(line, gaps) for line in band]
    if len(lines) < 3 or 2 * sum(len(columns) > 1 for columns in lines) > len(lines):
        return False
    if not any(piece.count >= LONG for line in band for piece in line.pieces):
        return False
    own = [[at for at, columns in enumerate(lines) if number in columns] for number in range(len(gaps) + 1)]
    filled = sorted((places for places in own if places), key=len)
    return len(filled) > 1 and all(places[-1] - places[0] < len(places) for places in filled[:-1])


def _goes_on(group: Sequence[Row], line: Row, frame: Frame, gaps: Sequence[float]) -> bool:
    above = group[-1]
    step = above.base - line.base
    columns, before = _columns(line, gaps), _columns(above, gaps)
    common = columns.keys() & before.keys()
    if any(_is_value(columns[number]) and _is_value(before[number]) for number in common):
        return False
    if step < CLOSE * line.size:
        far = [one for one in group if one.base - line.base >= CLOSE * line.size]
        is_apart = any(columns.keys() & _columns(one, gaps).keys() for one in far)
        return not _is_stacked([*group, line], gaps) and (not is_apart or _goes_on(far, line, frame, gaps))
    if step > LEADING * line.size or any(line.base < rule.top < above.base for rule in frame.rules):
        return False
    if not common or common not in (columns.keys(), before.keys()) or any(crosses(one, gaps) for one in line.pieces):
        return False
    new = columns.keys() - before.keys()
    if any(new & _columns(one, gaps).keys() for one in group):
        return False
    if len(columns) >= len(before) and not all(sum(one.count for one in before[at]) >= LONG for at in common):
        return False
    return all(_is_full(number, columns[number], before[number], frame, gaps) for number in common)


def _is_value(pieces: Sequence[Piece]) -> bool:
    return all(NUMERIC.match(piece.text) for piece in pieces)


def _is_full(number: int, pieces: Sequence[Piece], above: Sequence[Piece], frame: Frame, gaps: Sequence[float]) -> bool:
    """Whether the first word of a cell would not have found place at the end of the cell above."""
    edge = gaps[number] if number < len(gaps) else frame.box.right
    word = pieces[0].words[0]
    return above[-1].right + (word.right - word.left) + 0.3 * word.size > edge - 0.6 * word.size
