"""A row of pieces of a formula, written as LaTeX."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from peercorpus.texts.layout.formulas_nodes import NAMES, RELATIONS, SCRIPT, SPACED, Node, size_of
from peercorpus.texts.layout.formulas_symbols import SLASH
from peercorpus.texts.layout.glyphs import ACCENTS

OFF = 0.1
"""How far such a piece is off the baseline at least, in the size of its row."""
SMALLEST = 6.1
"""Size, in points, below which scripts of scripts are no smaller than what they stand beside."""
LONGEST = 1500
"""Pieces of a row in which accents are joined to their letters."""
DEEPEST = 12
"""Scripts of scripts that are followed."""
OPEN = "([{⌊⌈⟨ "
"""What needs no space behind it."""
ESCAPED = str.maketrans(
    {"{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&", "_": r"\_", "$": r"\$", "\\": "∖", "~": "∼", "^": "∧"}
)
SINGLE = re.compile(r"\\text\{([^\W\d_]+)\}")
"""A word by itself: it needs no command of a word's length."""
WHOLE = re.compile(r"\{\\rm [^\W\d_]+\}")
NEGATABLE = RELATIONS | frozenset("∃∋≡∣∥⊢≅↔⊒⊑")
"""What a slash goes through."""
APART = {mark: sign for sign, mark in ACCENTS.items()} | {SLASH: "/", "\u20d7": "→"}
"""Accents as signs of their own, for those that stand over nothing."""
GAP = 0.18
"""Gap that is a space, in the size of the font, at least."""
TOUCHING = 0.12
"""Gap between two signs that are one, in the size of the font, at most."""
JOINED = frozenset({":=", "::=", "=:", "!=", "==", "<=", ">=", "+=", "-=", "->", "=>"})
"""Signs that are printed as several."""
QUAD = 0.95
"""Gap that is a wide space, in the size of the font, at least; behind a comma there is a thin one as well."""
THIN = 0.1
JOINING = SPACED | frozenset("∩∪·∘⊙⊗⊕∧∨∖/")
"""Signs between two pieces, however wide the space beside them is."""
FENCES = frozenset("()[]{}∣∥⟨⟩")
"""Brackets and bars, which are of full size in a script where they stretch with what is in them."""
ENDS_WITH_NAME = re.compile(r"\\[A-Za-z]+$")


def written(nodes: Sequence[Node], depth: int = 0) -> str:
    """A row of pieces, from left to right, with what is raised or lowered beside them."""
    if not nodes:
        return ""
    size = size_of(nodes)
    base = _base(nodes, size)
    parts: list[str] = []
    scripts = _Scripts(base, size, depth)
    before: Node | None = None
    right = edge = nodes[0].left
    for node in _with_accents(nodes):
        where = scripts.of(node) if parts and depth < DEEPEST else None
        if where is not None:
            where.append(_fitted(node, where, size))
            edge = max(edge, node.right)
            continue
        scripts.close(parts, right)
        if before is not None and not depth and _are_apart(before, node, (node.left - edge) / size):
            parts.append(r"\quad ")
        latex, gap = _one(node), node.left - right
        if parts and gap < TOUCHING * size and parts[-1].strip() + latex in JOINED:
            parts[-1] = f" {parts[-1].strip()}{latex} "
        else:
            _push(parts, latex, node.kind == "text", bool(parts) and gap > GAP * size)
        right, before = node.right, node
        edge = max(edge, right)
    scripts.close(parts, right)
    return SINGLE.sub(r"{\\rm \1}", "".join(parts)).replace("  ", " ").strip()


def _are_apart(before: Node, after: Node, gap: float) -> bool:
    """Whether a wide space is between two pieces: none beside a sign, nor beside limits that are wider than theirs."""
    if gap < QUAD + THIN * (before.latex in ",;"):
        return False
    return all(node.kind in {"letter", "text"} and node.latex not in JOINING for node in (before, after))


def _fitted(node: Node, beside: Sequence[Node], size: float) -> Node:
    """A piece of scripts; brackets of full size, as they stand in some, are as small as what they stand beside."""
    if node.size <= SCRIPT * size or node.latex not in FENCES:
        return node
    first = max(beside, key=lambda one: one.size, default=None)
    return replace(node, size=first.size if first else 0.7 * size, base=first.base if first else node.base)


def _with_accents(nodes: Sequence[Node]) -> list[Node]:
    """The pieces with each accent joined to the letter it stands over, and each slash to the sign it negates."""
    if len(nodes) > LONGEST or not any(node.kind == "accent" for node in nodes):
        return list(nodes)
    found = [node for node in nodes if node.kind != "accent"]
    for accent in nodes:
        if accent.kind != "accent":
            continue
        near = [node for node in found if _bears(node, accent)]
        target = min(
            near, key=lambda node: abs(node.middle - accent.middle) + abs(node.size - accent.size), default=None
        )
        if target is not None and abs(target.middle - accent.middle) < accent.size:
            at = next(number for number, node in enumerate(found) if node is target)
            found[at] = replace(target, latex=unicodedata.normalize("NFC", target.latex + accent.latex))
        else:
            at = next((number for number, node in enumerate(found) if node.left > accent.left), len(found))
            found.insert(at, replace(accent, latex=APART.get(accent.latex, accent.latex), kind="letter"))
    return found


def _bears(node: Node, accent: Node) -> bool:
    """Whether a piece can have an accent, or a slash through it."""
    if len(node.latex) != 1:
        return False
    return node.latex in NEGATABLE if accent.latex == SLASH else node.latex.isalnum()


def _base(nodes: Sequence[Node], size: float) -> float:
    """The baseline of most of the largest pieces."""
    if size <= SMALLEST:
        return nodes[0].base
    plain = [node.base for node in nodes if node.size > SCRIPT * size and node.kind in {"letter", "text", "name"}]
    found = sorted(plain or [node.base for node in nodes if node.size > SCRIPT * size])
    return found[len(found) // 2]


class _Scripts:
    """What is lowered and raised beside a piece, until the next piece on the baseline comes."""

    def __init__(self, base: float, size: float, depth: int) -> None:
        self._base, self._size, self._depth = base, size, depth
        self._low: list[Node] = []
        self._high: list[Node] = []

    def of(self, node: Node) -> list[Node] | None:
        """Where a piece goes; None where it stands in the row."""
        off, size = node.base - self._base, self._size
        if node.kind == "built":
            if abs(off) < (0.3 if node.size > SCRIPT * size else 0.2) * size:
                return None
        elif self._is_fence(node, abs(off)):
            pass
        elif node.size > SCRIPT * size and (size > SMALLEST or abs(off) < 0.15 * size or node.kind != "letter"):
            return None
        low, high = self._low, self._high
        if abs(off) < OFF * size and not low and not high:
            return None
        last = low[-1] if low and (not high or low[-1].right > high[-1].right) else high[-1] if high else None
        if last is not None and node.size < SCRIPT * last.size and abs(node.base - last.base) < 0.6 * last.size:
            return low if low and last is low[-1] else high
        return high if off > 0.1 * size else low

    def _is_fence(self, node: Node, off: float) -> bool:
        """Whether a piece is a bracket of a script, though it is not small."""
        if node.kind == "tall":
            return off > 0.15 * self._size and bool(self._low or self._high)
        return node.kind == "letter" and node.latex in FENCES and 0.25 * self._size < off < 0.7 * self._size

    def close(self, parts: list[str], right: float) -> None:
        """Write them behind the piece that ends at `right`."""
        if not self._low and not self._high:
            return
        low, high = written(self._low, self._depth + 1), written(self._high, self._depth + 1)
        if self._is_fraction(right):
            parts.append(f"\\frac{{{high}}}{{{low}}}")
        else:
            written_ = _script("_", low) + ("'" * len(high) if high and not high.strip("′") else _script("^", high))
            parts += (written_,) if written_ else ()
        self._low, self._high = [], []

    def _is_fraction(self, right: float) -> bool:
        """Whether they stand centred over each other and apart from the piece before, as in a small fraction."""
        low, high, size = self._low, self._high, self._size
        if not low or not high or self._base - low[0].base < 0.3 * size or high[0].base - self._base < 0.3 * size:
            return False
        if min(low[0].left, high[0].left) - right < 0.09 * size:
            return False
        middles = [(min(node.left for node in part) + max(node.right for node in part)) / 2 for part in (low, high)]
        return abs(middles[0] - middles[1]) < 0.08 * size


def _script(mark: str, latex: str) -> str:
    if not latex:
        return ""
    return f"{mark}{latex}" if len(latex) == 1 or WHOLE.fullmatch(latex) else f"{mark}{{{latex}}}"


def _one(node: Node) -> str:
    latex = node.latex
    if node.kind == "built":
        return latex
    if node.kind == "text":
        return f"\\text{{{latex.translate(ESCAPED)}}}"
    if node.kind == "name":
        return "".join(f"\\{word}" if word in NAMES else f"\\text{{{word}}}" for word in latex.split())
    return latex.translate(ESCAPED)


def _push(parts: list[str], latex: str, is_text: bool, is_apart: bool) -> None:
    """Put a piece behind the others, with space where LaTeX or a reader needs it."""
    before = parts[-1] if parts else ""
    was_text = before.startswith("\\text{")
    if is_text and was_text:
        parts[-1] = f"{before[:-1]} {latex[6:]}"
    elif not before or (latex == "→" and before == " ↦ "):
        parts.append("" if before else latex)
    elif is_text and is_apart and before[-1] not in OPEN:
        parts.append(f"\\text{{ {latex[6:]}")
    elif latex in SPACED:
        parts.append(f" {latex} ")
    elif was_text and is_apart and latex[:1] not in "([":
        parts[-1] = f"{before[:-1]} }}"
        parts.append(latex)
    elif (ENDS_WITH_NAME.search(before) and latex[:1].isalnum()) or (latex[:1].isdigit() and before[-1:].isdigit()):
        parts.append(f" {latex}")
    else:
        parts.append(latex)
