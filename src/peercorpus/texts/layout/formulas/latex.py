"""Write a row of formula nodes as LaTeX."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from peercorpus.pdf.glyphs import ACCENTS
from peercorpus.pdf.math_fonts import SLASH
from peercorpus.texts.layout.formulas.nodes import (
    FENCES,
    MAX_SCRIPT_SIZE_RATIO,
    OPERATOR_NAMES,
    RELATIONS,
    SPACED_SIGNS,
    FormulaNode,
    row_size,
)

_MIN_SCRIPT_OFFSET_EM = 0.1
"""Minimum distance of a superscript or subscript from the baseline, in em of its row."""
_MAX_ROW_OFFSET_EM = 0.04
"""Maximum distance from the baseline of a word in a text font that is smaller than the font of the maths, in em."""
_MIN_TEXT_SIZE_RATIO = 0.75
"""Minimum font size of such a word, relative to the row; scripts are smaller."""
_MIN_SHRINKING_SIZE_POINTS = 6.1
"""Font size below which scripts of scripts are not set smaller, in points."""
_MAX_ACCENT_NODES = 1500
"""Maximum nodes of a row in which accents are joined to letters."""
_MAX_SCRIPT_DEPTH = 12
_NO_SPACE_AFTER = "([{⌊⌈⟨ "
"""Characters that need no space after them."""
_LATEX_ESCAPES = str.maketrans(
    {"{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&", "_": r"\_", "$": r"\$", "\\": "∖", "~": "∼", "^": "∧"}
)
_SINGLE_WORD_TEXT = re.compile(r"\\text\{([^\W\d_]+)\}")
r"""Matches a single word, which is set with the shorter `\rm`."""
_DOTS = re.compile(r"(?<!·)·[ ]?·[ ]?·(?!·)|(?<!\.)\.[ ]?\.[ ]?\.(?!\.)")
"""Three dots, which TeX sets one by one."""
_ROMAN_WORD = re.compile(r"\{\\rm [^\W\d_]+\}")
_NEGATABLE = RELATIONS | frozenset("∃∋≡∣∥⊢≅↔⊒⊑")
"""Symbols that a slash negates."""
_SPACING_FORMS = {mark: sign for sign, mark in ACCENTS.items()} | {SLASH: "/", "\u20d7": "→"}
"""Spacing forms of combining accents, for accents above nothing."""
_MIN_SPACE_EM = 0.18
"""Minimum gap that is a space, in em."""
_MAX_TOUCHING_GAP_EM = 0.12
"""Maximum gap between two symbols that form one, in em."""
_MULTI_GLYPH_SIGNS = {sign: sign for sign in (":=", "::=", "=:", "!=", "==", "<=", ">=", "+=", "-=", "->", "=>")} | {
    "−→": "⟶", "←−": "⟵", "←→": "⟷", "=⇒": "⟹", "⇐=": "⟸", "⇐⇒": "⟺", "∫∫": "∬", "∬∫": "∭",
}  # fmt: skip
"""Symbols printed as several glyphs."""
_MIN_QUAD_EM = 0.95
r"""Minimum gap that is a wide space (`\quad`), in em."""
_THIN_SPACE_EM = 0.1
"""Width added to that minimum after a comma, which has its own thin space, in em."""
_BINARY_SIGNS = SPACED_SIGNS | frozenset("∩∪·∘⊙⊗⊕∧∨∖/")
"""Symbols between two operands, never next to a wide space."""
_ENDS_WITH_COMMAND = re.compile(r"\\[A-Za-z]+$")


def row_latex(nodes: Sequence[FormulaNode], depth: int = 0) -> str:
    """Write a row of nodes as LaTeX, with superscripts and subscripts; `depth` of the row of a formula is 0."""
    if not nodes:
        return ""
    size = row_size(nodes)
    base = _find_baseline(nodes, size)
    parts: list[str] = []
    scripts = _Scripts(base, size, depth)
    before: FormulaNode | None = None
    right = edge = nodes[0].left
    for node in _join_accents(nodes):
        where = scripts.choose_list(node) if parts and depth < _MAX_SCRIPT_DEPTH else None
        if where is not None:
            where.append(_shrink_fence(node, where, size))
            edge = max(edge, node.right)
            continue
        scripts.close(parts, right)
        if before is not None and not depth and _are_apart(before, node, (node.left - edge) / size):
            parts.append(r"\quad ")
        latex = _write_node(node)
        gap = node.left - right
        sign = _MULTI_GLYPH_SIGNS.get(parts[-1].strip() + latex) if parts else None
        if sign and gap < _MAX_TOUCHING_GAP_EM * size:
            parts[-1] = sign if sign in "∬∭" else f" {sign} "
        else:
            _append(parts, latex, node.kind == "text", bool(parts) and gap > _MIN_SPACE_EM * size)
        right = node.right
        before = node
        edge = max(edge, right)
    scripts.close(parts, right)
    latex = "".join(parts).replace("  ", " ")
    if "." in latex or "·" in latex:
        latex = _DOTS.sub(lambda match: "⋯" if "·" in match[0] else "…", latex)
    return (_SINGLE_WORD_TEXT.sub(r"{\\rm \1}", latex) if "\\text{" in latex else latex).strip()


def _are_apart(before: FormulaNode, after: FormulaNode, gap: float) -> bool:
    if gap < _MIN_QUAD_EM + _THIN_SPACE_EM * (before.latex in ",;"):
        return False
    return all(node.kind in {"letter", "text"} and node.latex not in _BINARY_SIGNS for node in (before, after))


def _shrink_fence(node: FormulaNode, beside: Sequence[FormulaNode], size: float) -> FormulaNode:
    """Return a node of a script; a bracket of full size gets the size of the nodes next to it."""
    if node.size <= MAX_SCRIPT_SIZE_RATIO * size or node.latex not in FENCES:
        return node
    first = max(beside, key=lambda other: other.size, default=None)
    return replace(node, size=first.size if first else 0.7 * size, base=first.base if first else node.base)


def _join_accents(nodes: Sequence[FormulaNode]) -> list[FormulaNode]:
    if len(nodes) > _MAX_ACCENT_NODES or not any(node.kind == "accent" for node in nodes):
        return list(nodes)
    joined = [node for node in nodes if node.kind != "accent"]
    for accent in nodes:
        if accent.kind != "accent":
            continue
        near = [node for node in joined if _can_bear(node, accent)]
        target = min(
            near, key=lambda node: abs(node.middle - accent.middle) + abs(node.size - accent.size), default=None
        )
        if target is not None and abs(target.middle - accent.middle) < accent.size:
            index = next(number for number, node in enumerate(joined) if node is target)
            joined[index] = replace(target, latex=unicodedata.normalize("NFC", target.latex + accent.latex))
        else:
            index = next((number for number, node in enumerate(joined) if node.left > accent.left), len(joined))
            joined.insert(index, replace(accent, latex=_SPACING_FORMS.get(accent.latex, accent.latex), kind="letter"))
    return joined


def _can_bear(node: FormulaNode, accent: FormulaNode) -> bool:
    if len(node.latex) != 1:
        return False
    return node.latex in _NEGATABLE if accent.latex == SLASH else node.latex.isalnum()


def _find_baseline(nodes: Sequence[FormulaNode], size: float) -> float:
    if size <= _MIN_SHRINKING_SIZE_POINTS:
        return nodes[0].base
    plain = [
        node.base
        for node in nodes
        if node.size > MAX_SCRIPT_SIZE_RATIO * size and node.kind in {"letter", "text", "name"}
    ]
    bases = sorted(plain or [node.base for node in nodes if node.size > MAX_SCRIPT_SIZE_RATIO * size])
    return bases[len(bases) // 2]


class _Scripts:
    def __init__(self, base: float, size: float, depth: int) -> None:
        self._base = base
        self._size = size
        self._depth = depth
        self._low: list[FormulaNode] = []
        self._high: list[FormulaNode] = []

    def choose_list(self, node: FormulaNode) -> list[FormulaNode] | None:
        off = node.base - self._base
        size = self._size
        if node.kind == "built":
            if abs(off) < (0.3 if node.size > MAX_SCRIPT_SIZE_RATIO * size else 0.2) * size:
                return None
        elif self._is_fence(node, abs(off)):
            pass
        elif (abs(off) < _MAX_ROW_OFFSET_EM * size and node.size > _MIN_TEXT_SIZE_RATIO * size) or (
            node.size > MAX_SCRIPT_SIZE_RATIO * size
            and (size > _MIN_SHRINKING_SIZE_POINTS or abs(off) < 0.15 * size or node.kind != "letter")
        ):
            return None
        low, high = self._low, self._high
        if abs(off) < _MIN_SCRIPT_OFFSET_EM * size and not low and not high:
            return None
        last = low[-1] if low and (not high or low[-1].right > high[-1].right) else high[-1] if high else None
        if (
            last is not None
            and node.size < MAX_SCRIPT_SIZE_RATIO * last.size
            and abs(node.base - last.base) < 0.6 * last.size
        ):
            return low if low and last is low[-1] else high
        return high if off > 0.1 * size else low

    def _is_fence(self, node: FormulaNode, off: float) -> bool:
        if node.kind == "tall":
            return off > 0.15 * self._size and bool(self._low or self._high)
        return node.kind == "letter" and node.latex in FENCES and 0.25 * self._size < off < 0.7 * self._size

    def close(self, parts: list[str], right: float) -> None:
        if not self._low and not self._high:
            return
        low, high = row_latex(self._low, self._depth + 1), row_latex(self._high, self._depth + 1)
        if self._is_fraction(right):
            parts.append(f"\\frac{{{high}}}{{{low}}}")
        else:
            scripts = _write_script("_", low) + (
                "'" * len(high) if high and not high.strip("′") else _write_script("^", high)
            )
            parts += (scripts,) if scripts else ()
        self._low = []
        self._high = []

    def _is_fraction(self, right: float) -> bool:
        """Return whether the scripts are centred above each other and set apart, like a small fraction."""
        low = self._low
        high = self._high
        size = self._size
        if not low or not high or self._base - low[0].base < 0.3 * size or high[0].base - self._base < 0.3 * size:
            return False
        if min(low[0].left, high[0].left) - right < 0.09 * size:
            return False
        middles = [(min(node.left for node in part) + max(node.right for node in part)) / 2 for part in (low, high)]
        return abs(middles[0] - middles[1]) < 0.08 * size


def _write_script(mark: str, latex: str) -> str:
    if not latex:
        return ""
    return f"{mark}{latex}" if len(latex) == 1 or _ROMAN_WORD.fullmatch(latex) else f"{mark}{{{latex}}}"


def _write_node(node: FormulaNode) -> str:
    latex = node.latex
    if node.kind == "built":
        return latex
    if node.kind == "text":
        return f"\\text{{{latex.translate(_LATEX_ESCAPES)}}}"
    if node.kind == "name":
        return "".join(f"\\{word}" if word in OPERATOR_NAMES else f"\\text{{{word}}}" for word in latex.split())
    return latex.translate(_LATEX_ESCAPES)


def _append(parts: list[str], latex: str, is_text: bool, is_apart: bool) -> None:
    before = parts[-1] if parts else ""
    was_text = before.startswith("\\text{")
    if is_text and was_text:
        parts[-1] = f"{before[:-1]} {latex[6:]}"
    elif not before or (latex == "→" and before == " ↦ "):
        parts.append("" if before else latex)
    elif is_text and is_apart and before[-1] not in _NO_SPACE_AFTER:
        parts.append(f"\\text{{ {latex[6:]}")
    elif latex in SPACED_SIGNS:
        parts.append(f" {latex} ")
    elif was_text and is_apart and latex[:1] not in "([":
        parts[-1] = f"{before[:-1]} }}"
        parts.append(latex)
    elif (_ENDS_WITH_COMMAND.search(before) and latex[:1].isalnum()) or (latex[:1].isdigit() and before[-1:].isdigit()):
        parts.append(f" {latex}")
    else:
        parts.append(latex)
