"""Assign cells that span several columns or rows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf

from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.tables.cells import CellRow, CellText, column_of, crosses

_MAX_OFF_CENTRE_EM = 0.35
"""Maximum distance of the centre of a spanning cell from the centre of its columns, in em."""
_MAX_RULE_DISTANCE_EM = 1.2
"""Maximum distance of a head from the rule below it, in em."""
_MAX_OVERHANG_POINTS = 2.0
"""Maximum overhang of a head beyond its columns, in points."""
_MAX_HEAD_LINES = 3
_MAX_HEAD_LEADING_EM = 1.35
"""Maximum distance of two such lines, in em."""
_MAX_OFF_MIDDLE_STEPS = 0.25
"""Maximum distance of a row head from the middle of its rows, in row distances."""

Extent = tuple[float, float]
Head = tuple[float, CellText]
"""A line of a row head: its height in points, and its text."""
_EMPTY_EXTENT: Extent = (inf, -inf)


def extents(lines: Sequence[CellRow], gaps: Sequence[float]) -> list[Extent]:
    """Return the extent of the text of each column, without text across columns; (inf, -inf) without own text."""
    by_column = [_EMPTY_EXTENT] * (len(gaps) + 1)
    for piece in (other for line in lines for other in line.pieces if not crosses(other, gaps)):
        column = column_of(piece, gaps)
        left, right = by_column[column]
        by_column[column] = min(left, piece.left), max(right, piece.right)
    return by_column


def heads_over(
    head: Sequence[CellRow], body: Sequence[CellRow], gaps: Sequence[float], rules: Sequence[Box]
) -> Iterator[list[tuple[range, CellText]]]:
    """Yield, for each line of the heads, the columns that each cell spans."""
    for number, line in enumerate(head):
        below = head[number + 1 :]
        own = extents([*below, *body], gaps) if below else []
        headed = max(({column_of(other, gaps) for other in row.pieces} for row in below), key=len, default=set())
        columns_taken = {column_of(piece, gaps) for piece in line.pieces}
        shared = _span_evenly(line, own, headed, gaps)
        spanned: list[tuple[range, CellText]] = []
        for piece in reversed(line.pieces):
            column = column_of(piece, gaps)
            over = range(column, column + 1)
            if column in headed:
                free = headed - columns_taken | {column}
                over = (
                    _span_rule(line, piece, own, rules)
                    or shared.get(column)
                    or _span_centred(line, piece, own, gaps, free)
                )
                over = over if free.issuperset(over) else range(column, column + 1)
            columns_taken.update(over)
            spanned.append((over, piece))
        yield spanned[::-1]


def _span_evenly(line: CellRow, own: Sequence[Extent], headed: set[int], gaps: Sequence[float]) -> dict[int, range]:
    heads = [piece for piece in line.pieces if column_of(piece, gaps) in headed]
    if len(heads) < 2:
        return {}
    for width in range(len(headed) // len(heads), 1, -1):
        first = max(headed) + 1 - width * len(heads)
        over = [range(start, start + width) for start in range(first, max(headed), width)]
        if headed.issuperset(range(first, max(headed))) and all(
            _is_middle(line, piece, own[columns[0]], own[columns[-1]])
            for columns, piece in zip(over, heads, strict=True)
        ):
            return {column_of(piece, gaps): columns for columns, piece in zip(over, heads, strict=True)}
    return {}


def _span_rule(line: CellRow, piece: CellText, own: Sequence[Extent], rules: Sequence[Box]) -> range | None:
    middle = (piece.left + piece.right) / 2
    for rule in rules:
        if 0 < line.base - rule.top < _MAX_RULE_DISTANCE_EM * line.size and rule.left < middle < rule.right:
            others = (other for other in line.pieces if other is not piece)
            over = [column for column, (left, right) in enumerate(own) if rule.left < (left + right) / 2 < rule.right]
            if over and not any(rule.left < (other.left + other.right) / 2 < rule.right for other in others):
                return range(over[0], over[-1] + 1)
    return None


def _span_centred(
    line: CellRow, piece: CellText, own: Sequence[Extent], gaps: Sequence[float], free: set[int]
) -> range:
    first = last = column = column_of(piece, gaps)
    if not crosses(piece, gaps) and _is_aligned(line, piece, own[column]):
        return range(column, column + 1)
    while first - 1 in free:
        first -= 1
    while last + 1 in free:
        last += 1
    near = [range(low, high + 1) for low in range(first, column + 1) for high in range(column, last + 1)]
    near.sort(key=len, reverse=True)
    over = (over for over in near if _is_middle(line, piece, own[over[0]], own[over[-1]]))
    below = [
        column
        for column in free
        if piece.left - _MAX_OVERHANG_POINTS <= own[column][0] < own[column][1] <= piece.right + _MAX_OVERHANG_POINTS
    ]
    is_below = column in below and len(below) == max(below) - min(below) + 1
    return next(over, range(min(below), max(below) + 1) if is_below else range(column, column + 1))


def _is_aligned(line: CellRow, piece: CellText, own: Extent) -> bool:
    left, right = piece.left - own[0], piece.right - own[1]
    return (
        abs(left) <= _MAX_OVERHANG_POINTS
        or abs(right) <= _MAX_OVERHANG_POINTS
        or abs(left + right) / 2 <= _MAX_OFF_CENTRE_EM * line.size
    )


def _is_middle(line: CellRow, piece: CellText, first: Extent, last: Extent) -> bool:
    left, right = first[0], last[1]
    if not left - _MAX_OVERHANG_POINTS <= piece.left < piece.right <= right + _MAX_OVERHANG_POINTS:
        return False
    return abs((piece.left + piece.right) / 2 - (left + right) / 2) <= _MAX_OFF_CENTRE_EM * line.size


def begin_titles(lines: Sequence[CellRow], gaps: Sequence[float]) -> None:
    """Make a row that is a single cell centred over the table begin in the table's first column."""
    alone = [line for line in lines if len(line.pieces) == 1]
    if not alone or len(alone) == len(lines):
        return
    own = extents([line for line in lines if len(line.pieces) > 1], gaps)
    for line in alone:
        (piece,) = line.pieces
        column = column_of(piece, gaps)
        is_own = not crosses(piece, gaps) and (column == 0 or _is_middle(line, piece, own[column], own[column]))
        if (
            not is_own
            and abs(piece.left - own[column][0]) > _MAX_OVERHANG_POINTS
            and _is_middle(line, piece, own[0], own[-1])
        ):
            piece.start = min(own[0][0], piece.left - 1)


def begin_groups(rows: Sequence[list[CellRow]], gaps: Sequence[float]) -> list[list[CellRow]]:
    """Move each row head centred beside several rows to the first of them, if all rows belong to such groups."""
    for column in range(min(2, len(gaps))):
        rows = _group_rows(rows, column, gaps)
    return list(rows)


def _group_rows(rows: Sequence[list[CellRow]], column: int, gaps: Sequence[float]) -> list[list[CellRow]]:
    heads: list[Head] = []
    bases: list[float] = []
    beside: list[int] = []
    for number, row in enumerate(rows):
        own = [(line.base, other) for line in row for other in line.pieces if column_of(other, gaps) == column]
        heights_beside = [line.base for line in row if any(column_of(other, gaps) != column for other in line.pieces)]
        heads += own
        bases += [(heights_beside[0] + heights_beside[-1]) / 2] if heights_beside else []
        beside += [number] if heights_beside else []
    is_above = bool(heads) and len(bases) > 1 and heads[0][0] < bases[0] - 0.1 * rows[0][0].size
    groups = _match_heads(bases, heads) if is_above else None
    if groups is None:
        return list(rows)
    moved = {id(piece) for _, piece in heads}
    kept = [
        [CellRow(other.base, other.size, [text for text in other.pieces if id(text) not in moved]) for other in row]
        for row in rows
    ]
    ends = [*(index for index, _ in groups[1:]), len(bases)]
    for (index, lines), end in zip(groups, ends, strict=True):
        kept[beside[index]][0].pieces.insert(0, replace(_merge_pieces(lines), row_span=end - index))
    return [row for row in ([line for line in row if line.pieces] for row in kept) if row]


def _match_heads(bases: Sequence[float], heads: Sequence[Head]) -> list[tuple[int, list[CellText]]] | None:
    """Return the first row of each group and the lines of its head; None if a row or head is left over."""
    near = _MAX_OFF_MIDDLE_STEPS * min(upper - lower for upper, lower in pairwise(bases))
    states_seen: set[tuple[int, int]] = set()
    states: list[tuple[int, int, list[tuple[int, list[CellText]]]]] = [(0, 0, [])]
    while states:
        first_row, first_line, groups = states.pop()
        if first_row == len(bases) and first_line == len(heads):
            return groups
        if (first_row, first_line) in states_seen or first_row == len(bases) or first_line == len(heads):
            continue
        states_seen.add((first_row, first_line))
        for row_count, line_count in _group_sizes(bases, heads, first_row, first_line, near):
            lines = [piece for _, piece in heads[first_line : first_line + line_count]]
            states.append((first_row + row_count, first_line + line_count, [*groups, (first_row, lines)]))
    return None


def _group_sizes(
    bases: Sequence[float], heads: Sequence[Head], first_row: int, first_line: int, near: float
) -> Iterator[tuple[int, int]]:
    first, piece = heads[first_line]
    for count, (end, _) in enumerate(heads[first_line : first_line + _MAX_HEAD_LINES], 1):
        if count > 1 and heads[first_line + count - 2][0] - end > _MAX_HEAD_LEADING_EM * piece.words[0].size:
            return
        last = first + end - bases[first_row]
        low = next((number for number in range(first_row, len(bases)) if abs(bases[number] - last) <= 2 * near), None)
        behind = heads[first_line + count][0] if first_line + count < len(heads) else -inf
        if low is not None and end > bases[low] - near > behind:
            yield low + 1 - first_row, count


def _merge_pieces(pieces: Sequence[CellText]) -> CellText:
    first, *more = pieces
    words = list(first.words)
    for piece in more:
        words += [piece.words[0]._replace(is_spaced=not words[-1].text.endswith("-")), *piece.words[1:]]
    return CellText(
        words=words,
        left=min(other.left for other in pieces),
        right=max(other.right for other in pieces),
        start=first.start,
    )
