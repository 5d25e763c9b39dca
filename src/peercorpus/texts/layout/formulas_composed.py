"""Operators with their limits, matrices, and rows: what a formula has beside its bars."""

from collections.abc import Sequence
from dataclasses import replace

from peercorpus.texts.layout.formulas_nodes import BRACKETS, SCRIPT, WITH_LIMITS, Node, size_of
from peercorpus.texts.layout.formulas_written import written

CELL = 0.7
"""Gap between two columns of a matrix, in the size of the font, at least."""
ROW = 0.9
"""Distance of the baselines of two rows, in the size of the font, at least."""
STOP = 0.2
"""How far a stop behind all rows is off the baseline of each of them, in the size of the font, at least."""
BREAK = r" \\ "
"""Between two rows, in LaTeX."""
MATRICES = {"(": "pmatrix", "[": "bmatrix", "{": "Bmatrix", "∣": "vmatrix", "∥": "Vmatrix"}

EXPECTATIONS = frozenset("𝔼ℙ𝕍")
"""Letters under which a limit may stand."""


def joined(latex: str, parts: Sequence[Node], *, base: float | None = None, doubts: int = 0) -> Node:
    """Several pieces as one."""
    size = max(node.size for node in parts)
    return Node(
        latex,
        min(node.left for node in parts),
        max(node.right for node in parts),
        min(node.bottom for node in parts),
        max(node.top for node in parts),
        parts[0].base if base is None else base,
        size,
        "built",
        sum(node.glyphs for node in parts),
        sum(node.doubts for node in parts) + doubts,
    )


def without(nodes: Sequence[Node], gone: Sequence[Node]) -> list[Node]:
    ids = {id(node) for node in gone}
    return [node for node in nodes if id(node) not in ids]


def inner(nodes: Sequence[Node]) -> str:
    """What stands in a part of a formula; its rows are put side by side where it has several."""
    return BREAK.join(written(row) for row in rows_of(composed(nodes)))


def composed(nodes: Sequence[Node]) -> list[Node]:
    return _with_matrices(_with_limits(_with_names(nodes)))


def _with_names(nodes: Sequence[Node]) -> list[Node]:
    """`arg max` as one operator."""
    args = [node for node in nodes if node.latex == "arg"]
    found = list(nodes)
    for arg in args:
        for node in nodes:
            if (
                node.latex in {"max", "min"}
                and abs(node.base - arg.base) < 1
                and 0 <= node.left - arg.right < 0.6 * arg.size
            ):
                both = joined(f"arg {node.latex}", [arg, node])
                both.kind = "name"
                found = [*without(found, [arg, node]), both]
                break
    return found


def _with_limits(nodes: Sequence[Node]) -> list[Node]:
    """Sums, maxima and the like with what stands below and above them."""
    operators = [
        node for node in nodes if node.kind == "large" or node.latex in WITH_LIMITS or node.latex in EXPECTATIONS
    ]
    found = list(nodes)
    for operator in sorted(operators, key=lambda node: node.size):
        if not any(node is operator for node in found):
            continue
        small = [
            node
            for node in found
            if node.size < SCRIPT * operator.size and abs(node.middle - operator.middle) < 8 * operator.size
        ]
        is_large = operator.kind == "large"
        bottom, most = (
            (operator.bottom, 1.0) if is_large else (operator.base, 0.45 if len(operator.latex) == 1 else 0.75)
        )
        low = [node for node in small if node.level < bottom and bottom - node.top < most * operator.size]
        high = [node for node in small if node.level > operator.top and node.bottom - operator.top < operator.size]
        low, high = _cluster(low, operator), _cluster(high, operator) if is_large else []
        low += _below(low, small)
        if not low and not high:
            continue
        latex = written([operator])
        latex += f"_{{{inner(low)}}}" if low else ""
        latex += f"^{{{inner(high)}}}" if high else ""
        # Between its neighbours stands the operator, though its limits may reach over them.
        built = replace(
            joined(latex, [operator, *low, *high], base=operator.base), left=operator.left, right=operator.right
        )
        found = [*without(found, [operator, *low, *high]), built]
    return found


def _below(low: Sequence[Node], small: Sequence[Node]) -> list[Node]:
    """The second line of a limit."""
    if not low:
        return []
    edge, taken = min(node.bottom for node in low), {id(node) for node in low}
    left, right = min(node.left for node in low), max(node.right for node in low)
    return [
        node
        for node in small
        if id(node) not in taken and left - 2 <= node.middle <= right + 2 and -0.5 < (edge - node.top) / node.size < 0.4
    ]


def _cluster(nodes: list[Node], operator: Node) -> list[Node]:
    """The pieces side by side whose middle is that of the operator."""
    nodes.sort(key=lambda node: node.left)
    clusters: list[list[Node]] = []
    right = 0.0
    for node in nodes:
        if clusters and node.left - right < 0.2 * operator.size:
            clusters[-1].append(node)
            right = max(right, node.right)
        else:
            clusters.append([node])
            right = node.right
    for cluster in clusters:
        left, right = cluster[0].left, max(node.right for node in cluster)
        if left - 1 <= operator.middle <= right + 1 and abs(
            (left + right) / 2 - operator.middle
        ) < 0.5 * operator.size + 0.25 * (right - left):
            return cluster
    return []


def _with_matrices(nodes: Sequence[Node]) -> list[Node]:
    found = list(nodes)
    tall = sorted(
        (node for node in nodes if node.kind == "tall" and node.top - node.bottom > 1.7 * node.size),
        key=lambda node: node.left,
    )
    opened: list[Node] = []
    for node in tall:
        if node.latex in BRACKETS or (node.latex in "∣∥" and not any(one.latex == node.latex for one in opened)):
            opened.append(node)
        elif opened and abs(opened[-1].level - node.level) < 0.4 * node.size:
            found = _matrix(found, opened.pop(), node)
    for node in reversed(opened):
        if node.latex == "{":
            found = _matrix(found, node, None)
    return found


def _matrix(nodes: list[Node], begin: Node, end: Node | None) -> list[Node]:
    right = end.left if end else float("inf")
    inside = [
        node
        for node in nodes
        if node is not begin
        and begin.right - 1 <= node.middle <= right
        and begin.bottom - 2 < node.level < begin.top + 2
    ]
    inside = inside if end else _without_stop(inside)
    rows = rows_of(inside)
    if len(rows) < 2:
        return nodes
    cuts = _cuts(inside)[: None if end else 1]
    lines = [" & ".join(written(cell) for cell in _cells(row, cuts)) for row in rows]
    parts = [begin, *inside, *([end] if end else [])]
    name = MATRICES.get(begin.latex, "matrix") if end else "cases"
    latex = f"\\begin{{{name}}} {BREAK.join(lines)} \\end{{{name}}}"
    return [*without(nodes, parts), joined(latex, parts, base=begin.base)]


def _without_stop(nodes: list[Node]) -> list[Node]:
    """The pieces without a stop that stands at their right end between two of their rows."""
    if not nodes:
        return nodes
    stop = max(nodes, key=lambda node: node.left)
    is_apart = all(abs(stop.base - node.base) > STOP * node.size for node in nodes if node is not stop)
    return [node for node in nodes if node is not stop] if stop.latex in ".,;" and is_apart else nodes


def _cuts(nodes: Sequence[Node]) -> list[float]:
    """Where the columns of a matrix part: gaps that go through all its rows."""
    ordered = sorted(nodes, key=lambda node: node.left)
    cuts, right = [], ordered[0].right
    for node in ordered:
        if node.left - right > CELL * node.size and node.size > 0:
            cuts.append((node.left + right) / 2)
        right = max(right, node.right)
    return cuts


def _cells(row: Sequence[Node], cuts: Sequence[float]) -> list[list[Node]]:
    cells: list[list[Node]] = [[] for _ in range(len(cuts) + 1)]
    for node in row:
        cells[sum(node.middle > cut for cut in cuts)].append(node)
    return cells


def rows_of(nodes: Sequence[Node]) -> list[list[Node]]:
    """Pieces by their baseline from top to bottom, each row from left to right."""
    if not nodes:
        return []
    size = size_of(nodes)
    large = [node for node in nodes if node.size > SCRIPT * size]
    plain = [node for node in large if node.kind in {"letter", "text", "name"}] or large
    bases: list[float] = []
    for node in sorted(plain, key=lambda node: -node.base):
        if not bases or bases[-1] - node.base > ROW * size:
            bases.append(node.base)
    rows: list[list[Node]] = [[] for _ in bases]
    for node in sorted(nodes, key=lambda node: node.left):
        rows[min(range(len(bases)), key=lambda number: abs(bases[number] - node.base))].append(node)
    return rows
