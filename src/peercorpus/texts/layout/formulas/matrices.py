"""Build matrices and cases from the nodes between two tall brackets, or after a brace."""

from collections.abc import Iterator, Sequence

from peercorpus.texts.layout.formulas.latex import row_latex
from peercorpus.texts.layout.formulas.nodes import (
    MAX_SCRIPT_SIZE_RATIO,
    OPENING_BRACKETS,
    SPACED_SIGNS,
    FormulaNode,
    row_size,
)

ROW_BREAK = r" \\ "
PLAIN_KINDS = frozenset({"letter", "text", "name"})
"""Kinds of nodes that are on the baseline of their row."""
_MIN_ROW_DISTANCE_EM = 0.8
"""Minimum distance of the baselines of two rows, in em."""


def join_nodes(latex: str, parts: Sequence[FormulaNode], *, base: float | None = None, doubts: int = 0) -> FormulaNode:
    """Join several nodes into one with this LaTeX, on the baseline of the first unless `base` is given."""
    size = max(node.size for node in parts)
    return FormulaNode(
        latex=latex,
        left=min(node.left for node in parts),
        right=max(node.right for node in parts),
        bottom=min(node.bottom for node in parts),
        top=max(node.top for node in parts),
        base=parts[0].base if base is None else base,
        size=size,
        kind="built",
        glyphs=sum(node.glyphs for node in parts),
        doubts=sum(node.doubts for node in parts) + doubts,
    )


def remove(nodes: Sequence[FormulaNode], gone: Sequence[FormulaNode]) -> list[FormulaNode]:
    """Return the nodes without some of them, compared by identity."""
    ids = {id(node) for node in gone}
    return [node for node in nodes if id(node) not in ids]


def group_baselines(nodes: Sequence[FormulaNode]) -> list[list[FormulaNode]]:
    """Group nodes by baseline from top to bottom, each row from left to right."""
    if not nodes:
        return []
    size = row_size(nodes)
    large = [node for node in nodes if node.size > MAX_SCRIPT_SIZE_RATIO * size]
    plain = [node for node in large if node.kind in PLAIN_KINDS] or large
    bases: list[float] = []
    for node in sorted(plain, key=lambda node: -node.base):
        if not bases or bases[-1] - node.base > _MIN_ROW_DISTANCE_EM * size:
            bases.append(node.base)
    ordered = sorted(nodes, key=lambda node: node.left)
    if len(bases) == 1:
        return [ordered]
    rows: list[list[FormulaNode]] = [[] for _ in bases]
    for node in ordered:
        rows[min(range(len(bases)), key=lambda number: abs(bases[number] - node.base))].append(node)
    return rows


_MIN_COLUMN_GAP_EM = 0.26
"""Minimum gap between two columns of a matrix, in em; around a binary operator it is at most 0.22 em."""
_MIN_GAP_BEHIND_SIGN_EM = 0.7
"""Minimum gap after a sign, in em; after a relation it is 0.28 em."""
_MIN_CASE_GAP_EM = 0.7
"""Minimum gap before the conditions of cases, in em."""
_MIN_STOP_OFFSET_EM = 0.2
"""Minimum distance of a full stop after all rows from the baseline of each, in em."""
_MATRIX_ENVIRONMENTS = {"(": "pmatrix", "[": "bmatrix", "{": "Bmatrix", "∣": "vmatrix", "∥": "Vmatrix"}
"""LaTeX environment for each opening bracket."""


def join_matrices(nodes: Sequence[FormulaNode]) -> list[FormulaNode]:
    """Return the nodes with those between two tall brackets, or after a brace, joined into a matrix or cases."""
    joined = list(nodes)
    tall = sorted(
        (node for node in nodes if node.kind == "tall" and node.top - node.bottom > 1.7 * node.size),
        key=lambda node: node.left,
    )
    opened: list[FormulaNode] = []
    for node in tall:
        if node.latex in OPENING_BRACKETS or (
            node.latex in "∣∥" and not any(other.latex == node.latex for other in opened)
        ):
            opened.append(node)
        elif opened and abs(opened[-1].level - node.level) < 0.4 * node.size:
            joined = _join_matrix(joined, opened.pop(), node)
    for node in reversed(opened):
        if node.latex == "{":
            joined = _join_matrix(joined, node, None)
    return joined


def _join_matrix(nodes: list[FormulaNode], begin: FormulaNode, end: FormulaNode | None) -> list[FormulaNode]:
    right = end.left if end else float("inf")
    inside = [
        node
        for node in nodes
        if node is not begin
        and begin.right - 1 <= node.middle <= right
        and begin.bottom - 2 < node.level < begin.top + 2
    ]
    inside = inside if end else _remove_stop(inside)
    rows = group_baselines(inside)
    if len(rows) < 2:
        return nodes
    cuts = _find_cuts(inside) if end else _find_case_cut(inside)
    lines = []
    for row in rows:
        cells: list[list[FormulaNode]] = [[] for _ in range(len(cuts) + 1)]
        for node in row:
            cells[sum(node.middle > cut for cut in cuts)].append(node)
        lines.append(" & ".join(map(row_latex, cells)))
    parts = [begin, *inside, *([end] if end else [])]
    name = _MATRIX_ENVIRONMENTS.get(begin.latex, "matrix") if end else "cases"
    latex = f"\\begin{{{name}}} {ROW_BREAK.join(lines)} \\end{{{name}}}"
    return [*remove(nodes, parts), join_nodes(latex, parts, base=begin.base)]


def _remove_stop(nodes: list[FormulaNode]) -> list[FormulaNode]:
    if not nodes:
        return nodes
    stop = max(nodes, key=lambda node: node.left)
    is_apart = all(abs(stop.base - node.base) > _MIN_STOP_OFFSET_EM * node.size for node in nodes if node is not stop)
    return [node for node in nodes if node is not stop] if stop.latex in ".,;" and is_apart else nodes


def _find_cuts(nodes: Sequence[FormulaNode]) -> list[float]:
    """Return the column boundaries of a matrix, in points: gaps through all its rows, except beside a sign."""
    return [
        (left + right) / 2
        for before, left, right in _find_gaps(nodes)
        if right - left
        > (_MIN_GAP_BEHIND_SIGN_EM if before.latex in SPACED_SIGNS else _MIN_COLUMN_GAP_EM) * before.size
    ]


def _find_case_cut(nodes: Sequence[FormulaNode]) -> list[float]:
    least = _MIN_CASE_GAP_EM * row_size(nodes)
    return [(left + right) / 2 for _, left, right in _find_gaps(nodes) if right - left > least][:1]


def _find_gaps(nodes: Sequence[FormulaNode]) -> Iterator[tuple[FormulaNode, float, float]]:
    ordered = sorted(nodes, key=lambda node: node.left)
    last = ordered[0]
    for node in ordered:
        if node.left > last.right:
            yield last, last.right, node.left
        if node.right > last.right:
            last = node
