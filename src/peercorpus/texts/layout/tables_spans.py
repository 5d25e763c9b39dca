"""Cells over several columns or rows of a table: heads of columns, titles of its parts, heads of rows."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf

from peercorpus.texts.layout.shapes import Box
from peercorpus.texts.layout.tables_cells import Piece, Row, column_of, crosses

CENTRED = 0.35
"""Distance of the middles of a cell and of what it is over, in the size of the font, at most."""
BELOW = 1.2
"""Distance of a head from the rule below it, in the size of the font, at most."""
OUT = 2.0
"""How far a head may stick out of what it is over, in points."""
MOST_LINES = 3
"""Lines of a head of several rows, at most."""
LEADING = 1.35
"""Distance of two of these lines, in the size of the font, at most."""
OFF = 0.25
"""How far the head of several rows is off their middle, in the distance of two rows, at most."""

Extent = tuple[float, float]
"""Left and right end, in points."""
Head = tuple[float, Piece]
"""A line of the head of rows and its height, in points."""
NOWHERE: Extent = (inf, -inf)


def extents(lines: Sequence[Row], gaps: Sequence[float]) -> list[Extent]:
    """How far what stands in one column alone reaches, column by column."""
    found = [NOWHERE] * (len(gaps) + 1)
    for piece in (one for line in lines for one in line.pieces if not crosses(one, gaps)):
        at = column_of(piece, gaps)
        left, right = found[at]
        found[at] = min(left, piece.left), max(right, piece.right)
    return found


def heads_over(
    head: Sequence[Row], body: Sequence[Row], gaps: Sequence[float], rules: Sequence[Box]
) -> Iterator[list[tuple[range, Piece]]]:
    """The columns that each cell of the heads is over, line by line."""
    for number, line in enumerate(head):
        below = head[number + 1 :]
        own = extents([*below, *body], gaps) if below else []
        headed = max(({column_of(one, gaps) for one in row.pieces} for row in below), key=len, default=set())
        taken = {column_of(piece, gaps) for piece in line.pieces}
        shared = _shared(line, own, headed, gaps)
        found: list[tuple[range, Piece]] = []
        for piece in reversed(line.pieces):
            at = column_of(piece, gaps)
            over = range(at, at + 1)
            if at in headed:
                free = headed - taken | {at}
                over = _ruled(line, piece, own, rules) or shared.get(at) or _centred(line, piece, own, gaps, free)
                over = over if free.issuperset(over) else range(at, at + 1)
            taken.update(over)
            found.append((over, piece))
        yield found[::-1]


def _shared(line: Row, own: Sequence[Extent], headed: set[int], gaps: Sequence[float]) -> dict[int, range]:
    """The columns of each head of a line, where they have as many each and stand in the middle of them."""
    heads = [piece for piece in line.pieces if column_of(piece, gaps) in headed]
    if len(heads) < 2:
        return {}
    for many in range(len(headed) // len(heads), 1, -1):
        first = max(headed) + 1 - many * len(heads)
        over = [range(at, at + many) for at in range(first, max(headed), many)]
        if headed.issuperset(range(first, max(headed))) and all(
            _is_middle(line, piece, own[some[0]], own[some[-1]]) for some, piece in zip(over, heads, strict=True)
        ):
            return {column_of(piece, gaps): some for some, piece in zip(over, heads, strict=True)}
    return {}


def _ruled(line: Row, piece: Piece, own: Sequence[Extent], rules: Sequence[Box]) -> range | None:
    """The columns above which the rule below a head is drawn, where it has one to itself."""
    middle = (piece.left + piece.right) / 2
    for rule in rules:
        if 0 < line.base - rule.top < BELOW * line.size and rule.left < middle < rule.right:
            others = (one for one in line.pieces if one is not piece)
            over = [at for at, (left, right) in enumerate(own) if rule.left < (left + right) / 2 < rule.right]
            if over and not any(rule.left < (one.left + one.right) / 2 < rule.right for one in others):
                return range(over[0], over[-1] + 1)
    return None


def _centred(line: Row, piece: Piece, own: Sequence[Extent], gaps: Sequence[float], free: set[int]) -> range:
    """The most columns that a head stands in the middle of, unless it belongs to one; none but free ones."""
    first = last = at = column_of(piece, gaps)
    if not crosses(piece, gaps) and _is_beside(line, piece, own[at]):
        return range(at, at + 1)
    while first - 1 in free:
        first -= 1
    while last + 1 in free:
        last += 1
    near = [range(one, two + 1) for one in range(first, at + 1) for two in range(at, last + 1)]
    near.sort(key=len, reverse=True)
    over = (over for over in near if _is_middle(line, piece, own[over[0]], own[over[-1]]))
    below = [at for at in free if piece.left - OUT <= own[at][0] < own[at][1] <= piece.right + OUT]
    is_below = at in below and len(below) == max(below) - min(below) + 1
    return next(over, range(min(below), max(below) + 1) if is_below else range(at, at + 1))


def _is_beside(line: Row, piece: Piece, own: Extent) -> bool:
    """Whether a head begins, ends or has its middle where the rest of its column does."""
    left, right = piece.left - own[0], piece.right - own[1]
    return abs(left) <= OUT or abs(right) <= OUT or abs(left + right) / 2 <= CENTRED * line.size


def _is_middle(line: Row, piece: Piece, first: Extent, last: Extent) -> bool:
    """Whether a cell stands in the middle between the left end of one column and the right end of another."""
    left, right = first[0], last[1]
    if not left - OUT <= piece.left < piece.right <= right + OUT:
        return False
    return abs((piece.left + piece.right) / 2 - (left + right) / 2) <= CENTRED * line.size


def begin_titles(lines: Sequence[Row], gaps: Sequence[float]) -> None:
    """Let what stands alone in the middle of a table, over its columns, begin in the first of them."""
    alone = [line for line in lines if len(line.pieces) == 1]
    if not alone or len(alone) == len(lines):
        return
    own = extents([line for line in lines if len(line.pieces) > 1], gaps)
    for line in alone:
        (piece,) = line.pieces
        at = column_of(piece, gaps)
        is_own = not crosses(piece, gaps) and (at == 0 or _is_middle(line, piece, own[at], own[at]))
        if not is_own and abs(piece.left - own[at][0]) > OUT and _is_middle(line, piece, own[0], own[-1]):
            piece.start = min(own[0][0], piece.left - 1)


def begin_groups(rows: Sequence[list[Row]], gaps: Sequence[float]) -> list[list[Row]]:
    """Rows of one or more lines, each head that stands beside the middle of several put to the first of them.

    Nothing is moved unless all rows are in such groups, and the first of these has several.
    """
    for column in range(min(2, len(gaps))):
        rows = _grouped(rows, column, gaps)
    return list(rows)


def _grouped(rows: Sequence[list[Row]], column: int, gaps: Sequence[float]) -> list[list[Row]]:
    heads: list[Head] = []
    bases: list[float] = []
    beside: list[int] = []
    for number, row in enumerate(rows):
        own = [(line.base, one) for line in row for one in line.pieces if column_of(one, gaps) == column]
        some = [line.base for line in row if any(column_of(one, gaps) != column for one in line.pieces)]
        heads += own
        bases += [(some[0] + some[-1]) / 2] if some else []
        beside += [number] if some else []
    is_above = bool(heads) and len(bases) > 1 and heads[0][0] < bases[0] - 0.1 * rows[0][0].size
    groups = _groups(bases, heads) if is_above else None
    if groups is None:
        return list(rows)
    moved = {id(piece) for _, piece in heads}
    kept = [[Row(one.base, one.size, [it for it in one.pieces if id(it) not in moved]) for one in row] for row in rows]
    for at, lines in groups:
        kept[beside[at]][0].pieces.insert(0, _one(lines))
    return [row for row in ([line for line in row if line.pieces] for row in kept) if row]


def _groups(bases: Sequence[float], heads: Sequence[Head]) -> list[tuple[int, list[Piece]]] | None:
    """The first row of each group and the lines of its head; None where some row or head is in no group.

    Args:
        bases: Middles of the rows, from top to bottom, in points.
        heads: Lines of heads, likewise, with their heights.
    """
    near = OFF * min(one - two for one, two in pairwise(bases))
    seen: set[tuple[int, int]] = set()
    ways: list[tuple[int, int, list[tuple[int, list[Piece]]]]] = [(0, 0, [])]
    while ways:
        at, taken, found = ways.pop()
        if at == len(bases) and taken == len(heads):
            return found
        if (at, taken) in seen or at == len(bases) or taken == len(heads):
            continue
        seen.add((at, taken))
        for many, count in _group(bases, heads, at, taken, near):
            lines = [piece for _, piece in heads[taken : taken + count]]
            ways.append((at + many, taken + count, [*found, (at, lines)]))
    return None


def _group(
    bases: Sequence[float], heads: Sequence[Head], at: int, taken: int, near: float
) -> Iterator[tuple[int, int]]:
    """How many rows, from one on, the next head may stand beside the middle of, and how many lines it has then."""
    first, piece = heads[taken]
    for count, (end, _) in enumerate(heads[taken : taken + MOST_LINES], 1):
        if count > 1 and heads[taken + count - 2][0] - end > LEADING * piece.words[0].size:
            return
        last = first + end - bases[at]
        low = next((number for number in range(at, len(bases)) if abs(bases[number] - last) <= 2 * near), None)
        behind = heads[taken + count][0] if taken + count < len(heads) else -inf
        if low is not None and end > bases[low] - near > behind:
            yield low + 1 - at, count


def _one(pieces: Sequence[Piece]) -> Piece:
    """The lines of a head as one piece."""
    first, *more = pieces
    words = list(first.words)
    for piece in more:
        words += [piece.words[0]._replace(is_spaced=not words[-1].text.endswith("-")), *piece.words[1:]]
    return Piece(words, min(one.left for one in pieces), max(one.right for one in pieces), first.start)
