"""The structure of a formula from where its pieces stand: fractions, roots, lying braces, tall brackets."""

from collections.abc import Sequence

from peercorpus.texts.layout.formulas_composed import composed, inner, joined, rows_of, without
from peercorpus.texts.layout.formulas_nodes import BRACKETS, ENDS, SCRIPT, TALL, Node
from peercorpus.texts.layout.formulas_symbols import AXIS
from peercorpus.texts.layout.formulas_written import written
from peercorpus.texts.layout.shapes import Box

MOST = 800
"""Pieces of a formula whose structure is sought."""
NEAR = 0.45
"""Gap between a bar and what stands above or below it, in the size of the font, at most."""
LINES = 1.6
"""Distance of the bars of two fractions one below the other, in the size of what is between, at least."""
FARTHEST = 40.0
"""Distance of two bars, in points, that have nothing to do with each other."""


def build(nodes: Sequence[Node], bars: Sequence[Box]) -> list[Node]:
    """The rows of a formula from top to bottom, each as one piece.

    Args:
        nodes: In any order.
        bars: The thin rules among them.
    """
    if len(nodes) > MOST:
        ordered = sorted(nodes, key=lambda node: node.left)
        return [joined(written(ordered), ordered, doubts=len(ordered))]
    found, bars = _with_braces(_with_brackets(nodes), bars)
    unused: list[Box] = []
    found = _with_bars(found, bars, unused)
    lines = [joined(written(row), row) for row in rows_of(composed(found))]
    if lines:
        lines[0].doubts += 2 * len(unused) + abs(sum(map(_imbalance, lines)))
    return lines


def _imbalance(row: Node) -> int:
    """Brackets that open in a row, less those that close."""
    return sum((letter in BRACKETS) - (letter in ENDS) for letter in row.latex)


def _with_brackets(nodes: Sequence[Node]) -> list[Node]:
    """Tall brackets out of their parts."""
    parts = sorted((node for node in nodes if node.kind == "part"), key=lambda node: (round(node.left / 2), -node.top))
    kept = [node for node in nodes if node.kind != "part"]
    column: list[Node] = []
    for part in [*parts, None]:
        if column and (
            part is None or abs(part.left - column[0].left) > 2 or part.top < column[-1].bottom - column[0].size
        ):
            kept.append(_bracket(column))
            column = []
        if part is not None:
            column.append(part)
    return kept


def _bracket(column: Sequence[Node]) -> Node:
    names = [TALL.get(part.latex, part.latex) for part in column if part.latex not in "⎪⎢⎥"] or ["∣"]
    bracket = joined(names[0], column)
    bracket.kind, bracket.base = "tall", bracket.level - AXIS * bracket.size
    return bracket


def _with_braces(nodes: Sequence[Node], bars: Sequence[Box]) -> tuple[list[Node], list[Box]]:
    """What stands over or under a lying brace, as one piece, and the bars that are no part of a brace."""
    parts = sorted((node for node in nodes if node.kind == "brace"), key=lambda node: (round(node.top / 3), node.left))
    found, kept = [node for node in nodes if node.kind != "brace"], list(bars)
    for at in range(0, len(parts) - 3, 4):
        first, last = parts[at], parts[at + 3]
        kept = [
            bar
            for bar in kept
            if not (first.left <= bar.left <= last.right and abs(_height(bar) - first.top) < first.size)
        ]
        is_under = first.latex == "⏟"
        within = [node for node in found if first.left - 1 <= node.middle <= last.right + 1]
        beyond = [
            node
            for node in found
            if node.size < SCRIPT * first.size
            and abs(node.middle - (first.left + last.right) / 2) < last.right - first.left
        ]
        up = _stack(
            sorted(
                (node for node in (within if is_under else beyond) if node.level > first.level),
                key=lambda node: node.bottom,
            ),
            first.top,
            1,
            1.0,
        )
        down = _stack(
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
        latex = f"\\{'under' if is_under else 'over'}brace{{{inner(_with_bars(body, _among(body, kept), []))}}}"
        latex += f"{'_' if is_under else '^'}{{{inner(label)}}}" if label else ""
        found = [*without(found, [*body, *label]), joined(latex, [*body, *label], base=_base_of(body))]
    return found, kept


def _among(nodes: Sequence[Node], bars: Sequence[Box]) -> list[Box]:
    left, right = min(node.left for node in nodes), max(node.right for node in nodes)
    return [bar for bar in bars if left - 2 <= bar.left and bar.right <= right + 2]


def _base_of(nodes: Sequence[Node]) -> float:
    size = max(node.size for node in nodes)
    bases = sorted(node.base for node in nodes if node.size > SCRIPT * size)
    return bases[len(bases) // 2]


def _with_bars(nodes: Sequence[Node], bars: Sequence[Box], unused: list[Box]) -> list[Node]:
    """Fractions and roots, from the shortest bar to the longest; a bar that is of neither is put to the unused."""
    found = list(nodes)
    own = [bar for bar in bars if not _roots(nodes, bar)]
    for bar in sorted(bars, key=lambda bar: bar.right - bar.left):
        changed = _root(found, bar) or _fraction(found, bar, own) or _overline(found, bar)
        found = changed or found
        if changed is None:
            unused.append(bar)
    return found


def _height(bar: Box) -> float:
    return (bar.bottom + bar.top) / 2


def _roots(nodes: Sequence[Node], bar: Box) -> list[Node]:
    """The root a bar belongs to, if any."""
    y = _height(bar)
    return [
        node
        for node in nodes
        if node.kind == "root"
        and abs(node.right - bar.left) < 0.25 * node.size
        and abs(node.top - y) < 0.25 * node.size
    ]


def _root(nodes: Sequence[Node], bar: Box) -> list[Node] | None:
    y, roots = _height(bar), _roots(nodes, bar)
    if not roots:
        return None
    root = roots[0]
    inside = [
        node
        for node in nodes
        if node is not root
        and bar.left - 1 <= node.middle <= bar.right + 0.3
        and root.bottom - 0.3 * root.size < node.level < y
    ]
    if not inside:
        return None
    plain = [node for node in inside if node.size > SCRIPT * max(one.size for one in inside)]
    base = plain[0].base
    return [*without(nodes, [root, *inside]), joined(f"\\sqrt{{{inner(inside)}}}", [root, *inside], base=base)]


def _fraction(nodes: Sequence[Node], bar: Box, bars: Sequence[Box]) -> list[Node] | None:
    y = _height(bar)
    near = [node for node in nodes if bar.left - 1.5 <= node.middle <= bar.right + 1.5]
    low, high = _reach(bar, bars, near)
    within = [
        node
        for node in nodes
        if bar.left - 1.5 <= node.middle <= bar.right + 1.5
        and node.right - node.left < bar.right - bar.left + 6
        and low < node.level < high
    ]
    above = _stack(sorted((node for node in within if node.level > y), key=lambda node: node.bottom), y, +1)
    below = _stack(sorted((node for node in within if node.level < y), key=lambda node: -node.top), y, -1)
    if not above or not below:
        return None
    parts = [*above, *below]
    size = max(node.size for node in parts)
    latex = f"\\frac{{{inner(above)}}}{{{inner(below)}}}"
    return [*without(nodes, parts), joined(latex, parts, base=y - AXIS * size)]


def _reach(bar: Box, bars: Sequence[Box], nodes: Sequence[Node]) -> tuple[float, float]:
    """How far down and up a fraction can go: half the way to the bar of another fraction, above or below."""
    y, low, high = _height(bar), float("-inf"), float("inf")
    for other in bars:
        far = _height(other)
        if other is bar or other.left >= bar.right or other.right <= bar.left or abs(far - y) > FARTHEST:
            continue
        between = [node.size for node in nodes if min(y, far) < node.level < max(y, far)]
        if abs(far - y) > LINES * max(between, default=0.0) and far > y:
            high = min(high, (y + far) / 2)
        elif abs(far - y) > LINES * max(between, default=0.0):
            low = max(low, (y + far) / 2)
    return low, high


def _stack(nodes: Sequence[Node], y: float, sign: int, most: float = NEAR) -> list[Node]:
    """The pieces on one side of a bar, as far as they touch it or each other."""
    taken: list[Node] = []
    edge = y
    for node in nodes:
        near, far = (node.bottom, node.top) if sign > 0 else (-node.top, -node.bottom)
        if near - sign * edge > (most if not taken else 0.12) * node.size:
            break
        taken.append(node)
        edge = sign * max(sign * edge, far)
    return taken


def _overline(nodes: Sequence[Node], bar: Box) -> list[Node] | None:
    y = _height(bar)
    inside = [
        node
        for node in nodes
        if bar.left - 1 <= node.middle <= bar.right + 1 and -0.2 * node.size < y - node.top < NEAR * node.size
    ]
    if not inside or bar.right - bar.left > 60:
        return None
    return [*without(nodes, inside), joined(f"\\overline{{{inner(inside)}}}", inside, base=inside[0].base)]
