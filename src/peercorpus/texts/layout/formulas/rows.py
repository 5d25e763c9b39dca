"""Join nodes of a formula into one, and group them into rows."""

from collections.abc import Sequence

from peercorpus.texts.layout.formulas.nodes import MAX_SCRIPT_SIZE_RATIO, FormulaNode, row_size

ROW_BREAK = r" \\ "
"""LaTeX between two rows."""
PLAIN_KINDS = frozenset({"letter", "text", "name"})
"""Kinds of nodes that are on the baseline of their row."""
_MIN_ROW_DISTANCE_EM = 0.8
"""Minimum distance of the baselines of two rows, in em."""


def join_nodes(latex: str, parts: Sequence[FormulaNode], *, base: float | None = None, doubts: int = 0) -> FormulaNode:
    """Join several nodes into one.

    Args:
        latex: LaTeX of the result.
        parts: The nodes.
        base: Baseline of the result, in points; None for that of the first node.
        doubts: Uncertain glyphs in addition to those of the nodes.
    """
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
