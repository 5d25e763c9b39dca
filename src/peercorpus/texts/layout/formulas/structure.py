"""Build fractions, roots, brackets, operators with limits and matrices from nodes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from peercorpus.pdf.math_fonts import AXIS_EM
from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.formulas.doubts import count_doubts, count_overlaps
from peercorpus.texts.layout.formulas.latex import row_latex
from peercorpus.texts.layout.formulas.matrices import (
    PLAIN_KINDS,
    ROW_BREAK,
    group_baselines,
    join_matrices,
    join_nodes,
    remove,
)
from peercorpus.texts.layout.formulas.nodes import (
    BRACKET_PIECES,
    FENCES,
    LIMIT_OPERATORS,
    MAX_SCRIPT_SIZE_RATIO,
    FormulaNode,
    join_dots,
    row_size,
    shrink_large,
)

_TWO_WORD_OPERATORS = {
    ("arg", "max"): "arg max",
    ("arg", "min"): "arg min",
    ("lim", "sup"): "limsup",
    ("lim", "inf"): "liminf",
}
"""Operators of two words, with their names."""
_MAX_LIMIT_GAP_EM = 0.4
"""Maximum gap between two symbols of one limit, in em of the operator."""
_MAX_LIMIT_NODES = 40
"""Maximum nodes of the touching limits of several operators."""
_MIN_TEXT_SIZE_RATIO = 0.8
"""Minimum font size of an operator in a text font, relative to the letters of its row; scripts are smaller."""
_EXPECTATIONS = frozenset("𝔼ℙ𝕍")
"""Letters that may have a limit below."""


class _Inner(NamedTuple):
    latex: str
    doubts: int


_NOTHING = _Inner("", 0)


def _write_inner(nodes: Sequence[FormulaNode]) -> _Inner:
    rows = group_baselines(compose(nodes))
    parts = [row_latex(row) for row in rows]
    latex = parts[0] if len(parts) == 1 else f"\\substack{{{ROW_BREAK.join(parts)}}}"
    return _Inner(latex, sum(map(count_overlaps, rows)))


def compose(nodes: Sequence[FormulaNode]) -> list[FormulaNode]:
    """Return the nodes with operators, limits and matrices composed."""
    named = _join_names(nodes)
    operators = [
        node for node in named if node.kind == "large" or node.latex in LIMIT_OPERATORS or node.latex in _EXPECTATIONS
    ]
    return join_matrices(_join_limits(named, operators))


def _join_names(nodes: Sequence[FormulaNode]) -> list[FormulaNode]:
    joined = list(nodes)
    for first in nodes:
        for node in nodes if first.latex in {"arg", "lim"} else ():
            name = _TWO_WORD_OPERATORS.get((first.latex, node.latex))
            if name and abs(node.base - first.base) < 1 and 0 <= node.left - first.right < 0.6 * first.size:
                both = join_nodes(name, [first, node])
                both.kind = "name"
                joined = [*remove(joined, [first, node]), both]
                break
    return joined


def _join_limits(
    nodes: Sequence[FormulaNode], operators: Sequence[FormulaNode], bars: Sequence[Box] = ()
) -> list[FormulaNode]:
    """Join sums, maxima and similar operators with their limits, unless a bar separates them."""
    joined = list(nodes)
    full = row_size(nodes) if nodes else 0.0
    for operator in sorted(operators, key=lambda node: node.size):
        if not any(node is operator for node in joined):
            continue
        size = full if operator.size > _MIN_TEXT_SIZE_RATIO * full else operator.size
        small = [
            node
            for node in joined
            if node.size < MAX_SCRIPT_SIZE_RATIO * size
            and node is not operator
            and abs(node.middle - operator.middle) < 8 * operator.size
        ]
        is_large = operator.kind == "large"
        bottom, most = (
            (operator.bottom, 1.0) if is_large else (operator.base, 0.45 if len(operator.latex) == 1 else 0.75)
        )
        low = [node for node in small if node.level < bottom and bottom - node.top < most * operator.size]
        high = [node for node in small if node.level > operator.top and node.bottom - operator.top < operator.size]
        low, high = (
            [node for node in part if not any(_is_between(bar, node, operator) for bar in bars)] for part in (low, high)
        )
        low = _find_centred_cluster(low, operator, operators)
        high = _find_centred_cluster(high, operator, operators) if is_large else []
        low += _find_second_limit_line(low, small)
        if not low and not high:
            continue
        below, above = (_write_inner(part) if part else _NOTHING for part in (low, high))
        latex = row_latex([operator])
        latex += f"_{{{below.latex}}}" if low else ""
        latex += f"^{{{above.latex}}}" if high else ""
        # The operator keeps its own edges: its limits may extend over its neighbours.
        built = replace(
            join_nodes(latex, [operator, *low, *high], base=operator.base, doubts=below.doubts + above.doubts),
            left=operator.left,
            right=operator.right,
        )
        joined = [*remove(joined, [operator, *low, *high]), built]
    return joined


def _is_between(bar: Box, node: FormulaNode, other: FormulaNode) -> bool:
    low, high = sorted((node.level, other.level))
    return (
        low < _measure_bar_height(bar) < high
        and bar.left < max(node.right, other.right)
        and bar.right > min(node.left, other.left)
    )


def _find_second_limit_line(low: Sequence[FormulaNode], small: Sequence[FormulaNode]) -> list[FormulaNode]:
    if not low:
        return []
    edge = min(node.bottom for node in low)
    first_ids = {id(node) for node in low}
    left, right = min(node.left for node in low), max(node.right for node in low)
    return [
        node
        for node in small
        if id(node) not in first_ids
        and left - 2 <= node.middle <= right + 2
        and -0.5 < (edge - node.top) / node.size < 0.4
    ]


def _find_centred_cluster(
    nodes: list[FormulaNode], operator: FormulaNode, operators: Sequence[FormulaNode]
) -> list[FormulaNode]:
    """Return the adjacent nodes whose centre is that of the operator; limits of its neighbours may touch them."""
    nodes.sort(key=lambda node: node.left)
    clusters: list[list[FormulaNode]] = []
    right = 0.0
    for node in nodes:
        if clusters and node.left - right < _MAX_LIMIT_GAP_EM * operator.size:
            clusters[-1].append(node)
            right = max(right, node.right)
        else:
            clusters.append([node])
            right = node.right
    for cluster in clusters:
        left, right = cluster[0].left, max(node.right for node in cluster)
        if left - 1 <= operator.middle <= right + 1:
            if any(_is_neighbour(other, operator) and left < other.middle < right for other in operators):
                return _find_centred_part(cluster, operator)
            off = abs((left + right) / 2 - operator.middle)
            return cluster if off < 0.5 * operator.size + 0.25 * (right - left) else []
    return []


def _is_neighbour(other: FormulaNode, operator: FormulaNode) -> bool:
    return other is not operator and abs(other.base - operator.base) < _MAX_ROW_OFFSET_EM * operator.size


def _find_centred_part(cluster: Sequence[FormulaNode], operator: FormulaNode) -> list[FormulaNode]:
    count = min(len(cluster), _MAX_LIMIT_NODES)
    parts = (cluster[start:end] for start in range(count) for end in range(start + 1, count + 1))
    centred = [
        part
        for part in parts
        if abs((part[0].left + max(node.right for node in part)) / 2 - operator.middle) < 0.15 * operator.size
    ]
    longest: Sequence[FormulaNode] = max(centred, key=len, default=())
    return list(longest)


_MAX_PIECE_SHIFT_POINTS = 0.5
"""Maximum distance of the left edges of two pieces of a tall bracket, in points."""
_MAX_PIECE_GAP_EM = 0.12
"""Maximum gap between two pieces of a tall bracket or of a horizontal brace, in em."""
_MAX_BRACE_STEP_EM = 0.3
"""Maximum distance of the tops of two pieces of a horizontal brace, in em."""
_MAX_NODES = 800
_MAX_INDEX_SIZE_RATIO = 0.75
"""Maximum font size of the index of a root, relative to the root."""
_MIN_INDEX_OVERLAP_EM = 0.05
"""Minimum length by which the index of a root extends over the left edge of its sign, in em."""
_STOPS = frozenset(".,;")
"""Punctuation after a formula, which is never the last thing under a bar."""
_MAX_ROW_OFFSET_EM = 0.5
"""Maximum distance of two baselines of one row, in em."""
_MAX_BAR_GAP_EM = 0.45
"""Maximum gap between a bar and the nodes above or below it, in em."""
_MIN_FRACTION_DISTANCE_EM = 1.6
"""Minimum distance of the bars of two fractions one below the other, in em of the nodes in between."""
_MAX_BAR_DISTANCE_POINTS = 40.0
"""Distance of two bars above which they are unrelated, in points."""


def build_rows(nodes: Sequence[FormulaNode], bars: Sequence[Box]) -> list[FormulaNode]:
    """Return the rows of a formula from top to bottom, each joined into one node."""
    if len(nodes) > _MAX_NODES:
        ordered = sorted(nodes, key=lambda node: node.left)
        return [join_nodes(row_latex(ordered), ordered, doubts=len(ordered))]
    joined, bars = _join_braces(_join_brackets(join_dots(shrink_large(nodes))), bars)
    unused: list[Box] = []
    joined = _join_limits(joined, [node for node in joined if node.kind == "large"], bars)
    joined = _join_bars(joined, bars, unused)
    rows = group_baselines(compose(joined))
    lines = [join_nodes(row_latex(row), row, doubts=count_overlaps(row)) for row in rows]
    if lines:
        lines[0].doubts += 2 * len(unused) + count_doubts(lines)
    return lines


def _join_brackets(nodes: Sequence[FormulaNode]) -> list[FormulaNode]:
    pieces = [node for node in nodes if node.kind == "part"]
    pieces += [node for node in nodes if _is_among_pieces(node, pieces)]
    parts = sorted(pieces, key=lambda node: (round(node.left), -node.top))
    kept = remove(nodes, pieces)
    column: list[FormulaNode] = []
    for part in [*parts, None]:
        if column and (part is None or not _continues_column(column[-1], part)):
            names = [BRACKET_PIECES.get(piece.latex, piece.latex) for piece in column if piece.latex not in "⎪⎢⎥"]
            bracket = join_nodes(names[0] if names else "∣", column)
            bracket.kind = "tall"
            bracket.base = bracket.level - AXIS_EM * bracket.size
            kept.append(bracket)
            column = []
        if part is not None:
            column.append(part)
    return kept


def _is_among_pieces(node: FormulaNode, pieces: Sequence[FormulaNode]) -> bool:
    """Return whether a bracket is a piece of a tall one: some fonts give an extension the whole bracket's code."""
    return (
        node.kind == "letter"
        and node.latex in FENCES
        and any(
            abs(piece.left - node.left) <= _MAX_PIECE_SHIFT_POINTS
            and abs(piece.right - node.right) <= _MAX_PIECE_SHIFT_POINTS
            and piece.bottom < node.top
            and node.bottom < piece.top
            for piece in pieces
        )
    )


def _continues_column(above: FormulaNode, part: FormulaNode) -> bool:
    gap = above.bottom - part.top
    return (
        abs(part.left - above.left) <= _MAX_PIECE_SHIFT_POINTS
        and part.top < above.top
        and gap <= _MAX_PIECE_GAP_EM * part.size
    )


def _join_braces(nodes: Sequence[FormulaNode], bars: Sequence[Box]) -> tuple[list[FormulaNode], list[Box]]:
    parts = _sort_brace_parts([node for node in nodes if node.kind == "brace"])
    joined = [node for node in nodes if node.kind != "brace"]
    kept = list(bars)
    for first, last in _group_brace_parts(parts):
        kept = [
            bar
            for bar in kept
            if not (first.left <= bar.left <= last.right and abs(_measure_bar_height(bar) - first.top) < first.size)
        ]
        is_under = first.latex == "⏟"
        within = [node for node in joined if first.left - 1 <= node.middle <= last.right + 1]
        beyond = [
            node
            for node in joined
            if node.size < MAX_SCRIPT_SIZE_RATIO * first.size
            and abs(node.middle - (first.left + last.right) / 2) < last.right - first.left
        ]
        up = _take_touching_nodes(
            sorted(
                (node for node in (within if is_under else beyond) if node.level > first.level),
                key=lambda node: node.bottom,
            ),
            first.top,
            1,
            1.0,
        )
        down = _take_touching_nodes(
            sorted(
                (node for node in (beyond if is_under else within) if node.level < first.level),
                key=lambda node: -node.top,
            ),
            first.bottom,
            -1,
            1.0,
        )
        body, label = (up, down) if is_under else (down, up)
        if not body:
            continue
        inner = _write_inner(_join_bars(body, _select_bars_among(body, kept), []))
        beside = _write_inner(label) if label else _NOTHING
        latex = f"\\{'under' if is_under else 'over'}brace{{{inner.latex}}}"
        latex += f"{'_' if is_under else '^'}{{{beside.latex}}}" if label else ""
        joined = [
            *remove(joined, [*body, *label]),
            join_nodes(latex, [*body, *label], base=_find_median_baseline(body), doubts=inner.doubts + beside.doubts),
        ]
    return joined, kept


def _sort_brace_parts(parts: Sequence[FormulaNode]) -> list[FormulaNode]:
    levels: list[list[FormulaNode]] = []
    for part in sorted(parts, key=lambda part: -part.top):
        if levels and levels[-1][-1].top - part.top < _MAX_BRACE_STEP_EM * part.size:
            levels[-1].append(part)
        else:
            levels.append([part])
    return [part for level in levels for part in sorted(level, key=lambda part: part.left)]


def _group_brace_parts(parts: Sequence[FormulaNode]) -> Iterator[tuple[FormulaNode, FormulaNode]]:
    """Yield the first and last part of each horizontal brace: four in a TeX font, else those that touch."""
    index = 0
    while index < len(parts):
        is_of_four = "".join(part.latex for part in parts[index : index + 4]) in {"⏞⏟⏟⏞", "⏟⏞⏞⏟"}
        last = index + 3 if is_of_four else index
        while not is_of_four and last + 1 < len(parts) and _is_next_piece(parts[last], parts[last + 1]):
            last += 1
        yield parts[index], parts[last]
        index = last + 1


def _is_next_piece(part: FormulaNode, following: FormulaNode) -> bool:
    is_level = abs(part.level - following.level) < _MAX_PIECE_GAP_EM * part.size
    return part.latex == following.latex and is_level and following.left - part.right < _MAX_PIECE_GAP_EM * part.size


def _select_bars_among(nodes: Sequence[FormulaNode], bars: Sequence[Box]) -> list[Box]:
    left, right = min(node.left for node in nodes), max(node.right for node in nodes)
    return [bar for bar in bars if left - 2 <= bar.left and bar.right <= right + 2]


def _find_median_baseline(nodes: Sequence[FormulaNode]) -> float:
    size = max(node.size for node in nodes)
    bases = sorted(node.base for node in nodes if node.size > MAX_SCRIPT_SIZE_RATIO * size)
    return bases[len(bases) // 2]


def _join_bars(nodes: Sequence[FormulaNode], bars: Sequence[Box], unused: list[Box]) -> list[FormulaNode]:
    joined = list(nodes)
    own = [bar for bar in bars if not _find_roots(nodes, bar)]
    for bar in sorted(bars, key=lambda bar: bar.right - bar.left):
        changed = _join_root(joined, bar) or _join_fraction(joined, bar, own) or _join_overline(joined, bar)
        joined = changed or joined
        if changed is None:
            unused.append(bar)
    return joined


def _measure_bar_height(bar: Box) -> float:
    return (bar.bottom + bar.top) / 2


def _find_roots(nodes: Sequence[FormulaNode], bar: Box) -> list[FormulaNode]:
    y = _measure_bar_height(bar)
    return [
        node
        for node in nodes
        if node.kind == "root"
        and abs(node.right - bar.left) < 0.25 * node.size
        and abs(node.top - y) < 0.25 * node.size
    ]


def _join_root(nodes: Sequence[FormulaNode], bar: Box) -> list[FormulaNode] | None:
    y = _measure_bar_height(bar)
    roots = _find_roots(nodes, bar)
    if not roots:
        return None
    root = roots[0]
    index = [
        node
        for node in nodes
        if node.size < _MAX_INDEX_SIZE_RATIO * root.size
        and root.left - 0.5 * root.size < node.left
        and root.left + _MIN_INDEX_OVERLAP_EM * root.size < node.right < root.right
        and root.bottom < node.bottom
        and node.top < root.top + _MIN_INDEX_OVERLAP_EM * root.size
    ]
    inside = [
        node
        for node in nodes
        if node is not root
        and bar.left - 1 <= node.middle <= bar.right + 0.3
        and root.bottom - 0.3 * root.size < node.level < y
    ]
    last = max(inside, key=lambda node: node.right, default=None)
    if last is not None and last.latex in _STOPS:  # The start of a full stop after the bar is an estimate.
        inside = remove(inside, [last])
    if not inside:
        return None
    plain = [node for node in inside if node.size > MAX_SCRIPT_SIZE_RATIO * max(other.size for other in inside)]
    base = plain[0].base
    order = f"[{_write_inner(index).latex}]" if index else ""
    parts = [root, *inside, *index]
    inner = _write_inner(inside)
    latex = f"\\sqrt{order}{{{inner.latex}}}"
    return [*remove(nodes, parts), join_nodes(latex, parts, base=base, doubts=inner.doubts)]


def _join_fraction(nodes: Sequence[FormulaNode], bar: Box, bars: Sequence[Box]) -> list[FormulaNode] | None:
    y = _measure_bar_height(bar)
    near = [node for node in nodes if bar.left - 1.5 <= node.middle <= bar.right + 1.5]
    low, high = _measure_fraction_reach(bar, bars, near)
    within = [
        node
        for node in nodes
        if bar.left - 1.5 <= node.middle <= bar.right + 1.5
        and node.right - node.left < bar.right - bar.left + 6
        and low < node.level < high
    ]
    above = _take_touching_nodes(
        sorted((node for node in within if node.level > y), key=lambda node: node.bottom), bar.top, +1
    )
    below = _take_touching_nodes(
        sorted((node for node in within if node.level < y), key=lambda node: -node.top), bar.bottom, -1
    )
    if not above or not below:
        return None
    parts = [*above, *below]
    size = max(node.size for node in parts)
    numerator, denominator = _write_inner(above), _write_inner(below)
    latex = f"\\frac{{{numerator.latex}}}{{{denominator.latex}}}"
    doubts = numerator.doubts + denominator.doubts
    return [*remove(nodes, parts), join_nodes(latex, parts, base=y - AXIS_EM * size, doubts=doubts)]


def _measure_fraction_reach(bar: Box, bars: Sequence[Box], nodes: Sequence[FormulaNode]) -> tuple[float, float]:
    """Return the lowest and highest level of a fraction, in points: half way to the bars of other fractions."""
    y = _measure_bar_height(bar)
    low, high = float("-inf"), float("inf")
    for other in bars:
        far = _measure_bar_height(other)
        if (
            other is bar
            or other.left >= bar.right
            or other.right <= bar.left
            or abs(far - y) > _MAX_BAR_DISTANCE_POINTS
        ):
            continue
        between = [node.size for node in nodes if min(y, far) < node.level < max(y, far)]
        # If nothing is in between, the other bar is a line over the denominator.
        if not between or abs(far - y) <= _MIN_FRACTION_DISTANCE_EM * max(between):
            continue
        if far > y:
            high = min(high, (y + far) / 2)
        else:
            low = max(low, (y + far) / 2)
    return low, high


def _take_touching_nodes(
    nodes: Sequence[FormulaNode], y: float, sign: int, most: float = _MAX_BAR_GAP_EM
) -> list[FormulaNode]:
    """Return the nodes on one side of a bar, as far as they touch it or each other."""
    touching: list[FormulaNode] = []
    edge = y
    first = [node for node in nodes if (node.bottom if sign > 0 else -node.top) - sign * y <= most * node.size]
    size = max((node.size for node in first), default=0.0)
    bases = [node.base for node in first if node.size > MAX_SCRIPT_SIZE_RATIO * size and node.kind in PLAIN_KINDS]
    for node in nodes:
        near, far = (node.bottom, node.top) if sign > 0 else (-node.top, -node.bottom)
        if near - sign * edge > (most if not touching else 0.12) * node.size:
            break
        is_larger = node.size * MAX_SCRIPT_SIZE_RATIO > size
        is_beyond = near - sign * edge > -0.2 * node.size if is_larger else _is_on_other_row(node, bases, size)
        if most == _MAX_BAR_GAP_EM and is_beyond:
            break
        touching.append(node)
        edge = sign * max(sign * edge, far)
        if is_larger and node.kind in PLAIN_KINDS:
            size, bases = node.size, [node.base]  # Only scripts were next to the bar.
    return touching


def _is_on_other_row(node: FormulaNode, bases: Sequence[float], size: float) -> bool:
    """Return whether a node belongs to the next row, of a matrix for example, rather than to that of the first base."""
    is_full = node.size > MAX_SCRIPT_SIZE_RATIO * size and node.kind in PLAIN_KINDS
    return bool(bases) and is_full and abs(node.base - bases[0]) > _MAX_ROW_OFFSET_EM * size


def _join_overline(nodes: Sequence[FormulaNode], bar: Box) -> list[FormulaNode] | None:
    y = _measure_bar_height(bar)
    inside = [
        node
        for node in nodes
        if bar.left - 1 <= node.middle <= bar.right + 1
        and -0.2 * node.size < y - node.top < _MAX_BAR_GAP_EM * node.size
        and node.latex not in _STOPS
    ]
    if not inside or bar.right - bar.left > 60:
        return None
    inner = _write_inner(inside)
    latex = f"\\overline{{{inner.latex}}}"
    return [*remove(nodes, inside), join_nodes(latex, inside, base=inside[0].base, doubts=inner.doubts)]
