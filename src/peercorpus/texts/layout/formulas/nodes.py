"""Split glyph runs into the nodes of a formula, which have a place, a size and a kind."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from peercorpus.pdf.glyphs import Font, TextRun
from peercorpus.pdf.math_fonts import (
    AXIS_EM,
    CACHED_CALLS,
    UNKNOWN,
    font_encoding,
    has_own_sizes,
    has_unicode_table,
    normalise_sign,
    sign,
)

MAX_SCRIPT_SIZE_RATIO = 0.87
"""Maximum font size of a superscript or subscript, relative to its row."""
OPENING_BRACKETS = "([{⌊⌈⟨"
CLOSING_BRACKETS = ")]}⌋⌉⟩"
BRACKET_PIECES = dict(zip("⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎞⎟⎠⎤⎥⎦⎫⎬⎭", "((([[[{{{∣)))]]]}}}", strict=True))
"""Pieces of tall brackets, with the bracket that each belongs to."""
LARGE_OPERATORS = frozenset("∑∏∐⋃⋂⨀⨁⨂⨄⨆⋁⋀")
OPERATOR_NAMES = frozenset({
    "log", "exp", "sin", "cos", "tan", "tanh", "sinh", "cosh", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "ln",
    "lg", "max", "min", "sup", "inf", "lim", "limsup", "liminf", "arg", "det", "dim", "ker", "gcd", "deg", "Pr",
})  # fmt: skip
"""Words with a LaTeX command."""
LIMIT_OPERATORS = frozenset({
    "max", "min", "sup", "inf", "lim", "limsup", "liminf", "argmax", "argmin", "det", "Pr", "arg max", "arg min",
})  # fmt: skip
RELATIONS = frozenset("=<>≤≥≈≡∼≃∝∈∉≠≢≁≮≯≰≱→←↦⇒⇔⊂⊄⊆⊈⊊⊃⊇≪≫≺≻⪯⪰≼≽⩽⩾≜≔∋∌≅≍≐≲≳⊑⊒⊢⊨⇐↔⟵⟶⟷⟸⟹⟺")
SPACED_SIGNS = RELATIONS | frozenset("+−±∓×")
"""Symbols written with a space on both sides."""
_TOKEN = re.compile(r"[^\W\d_\u0370-\u03ff\u2100-\u214f\U0001d400-\U0001d7ff]{2,}|\d+(?:[.,]\d+)*|\S")
_HUNG_KINDS = frozenset({"tall", "large", "root", "part"})
"""Kinds of nodes that do not determine the size of their row."""
FENCES = frozenset("()[]{}∣∥⟨⟩")
"""Brackets and bars, which are larger than the letters of their row if they stretch with it."""
_MAX_FENCE_OFFSET_EM = 0.15
"""Maximum distance of the baselines of a fence and the letters beside it, in em; scripts are further away."""
_MIN_STRETCHED_EM = 1.05
"""Minimum height of a stretched bracket, in em."""
_MIN_LARGE_RATIO = 1.2
_LARGE_LEVEL_EM = 0.33
"""Height of the centre of an operator of a text font above its baseline, in em."""
_ROOT_HEIGHT_EM = 0.83
"""Height of a root sign that sits on the baseline, in em."""
LATEX_FONT = Font("built", is_bold=False, is_italic=False, is_mono=False, is_maths=True, is_small_capitals=False)
"""Font of a run whose text is already LaTeX."""
_SHORT_WORDS = frozenset(
    ["if", "or", "in", "is", "of", "to", "by", "at", "as", "on", "we", "be", "an", "so", "no", "it"]
)
"""Words of two letters, which in italics are not a product of two variables."""
_NARROW_CHARACTERS = frozenset("iljtf.,;:'|()[]!1 ")
"""Characters about half as wide as others."""


@dataclass(slots=True)
class FormulaNode:
    """A piece of a formula and its place on the page, in points.

    `latex` is its text, or LaTeX if it is `built`; `kind` is one of letter, text, name, large, tall, part, brace, root,
    accent, built, unknown; `doubts` of its `glyphs` have no certain place or meaning.
    """

    latex: str
    left: float
    right: float
    bottom: float
    top: float
    base: float
    size: float
    kind: str
    glyphs: int = 1
    doubts: int = 0

    @property
    def middle(self) -> float:
        """Horizontal centre, in points."""
        return (self.left + self.right) / 2

    @property
    def level(self) -> float:
        """Vertical centre, in points."""
        return (self.bottom + self.top) / 2


def row_size(nodes: Sequence[FormulaNode]) -> float:
    """Return the font size of a row: of its largest letter, without large symbols and fences, which do not shrink."""
    letters = [node for node in nodes if node.kind not in _HUNG_KINDS]
    plain = [node for node in letters if node.latex not in FENCES]
    sizes = [node.size for node in plain] + [
        node.size
        for node in letters
        if node.latex in FENCES
        and not any(abs(other.base - node.base) < _MAX_FENCE_OFFSET_EM * node.size for other in plain)
    ]
    return max(sizes or [node.size for node in nodes])


def shrink_large(nodes: Sequence[FormulaNode]) -> list[FormulaNode]:
    """Return the nodes with large operators of a larger font in the size of their row, centred on its math axis."""
    plain = [node.size for node in nodes if node.kind not in _HUNG_KINDS and node.kind != "large"]
    size = max(plain, default=float("inf"))
    return [
        replace(node, size=size, base=node.base + _LARGE_LEVEL_EM * node.size - AXIS_EM * size)
        if node.kind == "large" and node.size > _MIN_LARGE_RATIO * size
        else node
        for node in nodes
    ]


def join_dots(nodes: Sequence[FormulaNode]) -> list[FormulaNode]:
    """Return the nodes with three vertical or diagonal dots joined into one."""
    dots = sorted((node for node in nodes if node.latex == "."), key=lambda node: (node.left, -node.base))
    joined = list(nodes)
    while len(dots) >= 3:
        first = dots.pop(0)
        for latex, step_em in (("⋮", 0.0), ("⋱", 0.4)):
            second = _find_next_dot(dots, first, step_em)
            third = _find_next_dot(dots, second, step_em) if second else None
            if second and third:
                gone = {id(first), id(second), id(third)}
                dots = [dot for dot in dots if id(dot) not in gone]
                dot = replace(second, latex=latex, left=first.left, right=third.right, glyphs=3)
                joined = [node for node in joined if id(node) not in gone] + [replace(dot, base=third.base)]
                break
    return joined


def _find_next_dot(dots: Sequence[FormulaNode], dot: FormulaNode, step_em: float) -> FormulaNode | None:
    size = dot.size
    for other in dots:
        is_below = 0.2 * size < dot.base - other.base < 0.5 * size
        if is_below and abs(other.left - dot.left - step_em * size) < 0.1 * size:
            return other
    return None


def has_mapped_symbols(runs: Iterable[TextRun]) -> bool:
    """Return whether the large symbols of these runs come from a font with a Unicode table."""
    letters = {
        letter for run in runs if run.font.is_maths and font_encoding(run.font.name) == "omx" for letter in run.text
    }
    return bool(letters) and has_unicode_table(letters)


def nodes_of(run: TextRun, has_table: bool = False) -> Iterator[FormulaNode]:
    """Yield the nodes of a run; their positions inside the run are estimates."""
    font = run.font
    text = run.text
    if font is LATEX_FONT:
        yield FormulaNode(
            latex=text,
            left=run.left,
            right=run.right,
            bottom=run.base - 0.2 * run.size,
            top=run.base + 0.7 * run.size,
            base=run.base,
            size=run.size,
            kind="built",
        )
        return
    pieces = _split_run(text, font)
    if not pieces:
        return
    edges = _estimate_edges(run) if len(pieces) > 1 else []
    for piece, start, end in pieces:
        left, right = (edges[start], edges[end]) if edges else (run.left, run.right)
        node = _make_node(run, piece, left, right, has_table)
        ink = run.ink.get(start) if run.ink else None
        yield _stretch(node, *ink, has_own_sizes(font.name)) if ink else node


def read_signs(run: TextRun) -> str:
    """Return the text of the nodes of a run, in less than half the time of creating them."""
    font = run.font
    if font is LATEX_FONT:
        return run.text
    return "".join(
        [
            piece if len(piece) > 1 else _interpret(font.name, font.is_maths, font.is_bold, piece, False)[0]
            for piece, _, _ in _split_run(run.text, font)
        ]
    )


def _split_run(text: str, font: Font) -> list[tuple[str, int, int]]:
    if (font.is_maths and font_encoding(font.name)) or (
        font.is_bold and len(text) <= 3 and (text.isupper() or len(text) == 2)
    ):
        has_codes = font_encoding(font.name) == "omx" and not has_unicode_table(frozenset(text))
        ends = (0, len(text) - 1) if has_codes else ()
        pieces = [(letter, number, number + 1) for number, letter in enumerate(text) if letter != " " or number in ends]
    else:
        pieces = [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(text)]
    if font.is_italic and not font.is_maths:
        return [part for piece in pieces for part in _split_product(piece)]
    return pieces


def _split_product(piece: tuple[str, int, int]) -> list[tuple[str, int, int]]:
    text, start, _ = piece
    if len(text) != 2 or not text.isalpha() or text.lower() in _SHORT_WORDS:
        return [piece]
    return [(letter, start + number, start + number + 1) for number, letter in enumerate(text)]


def _stretch(node: FormulaNode, bottom: float, top: float, is_hung: bool) -> FormulaNode:
    """Return the node of a symbol with measured edges; a bracket may be tall."""
    kind = node.kind
    if kind not in {"large", "root", "part", "brace"}:
        if top - bottom < _MIN_STRETCHED_EM * node.size and kind != "tall":
            return node
        kind = "part" if node.latex in "∣∥" and not is_hung else "tall"
    base = (bottom + top) / 2 - AXIS_EM * node.size if is_hung and kind in {"large", "tall"} else node.base
    return replace(node, bottom=bottom, top=top, base=base, kind=kind)


def _estimate_edges(run: TextRun) -> list[float]:
    widths = [0.0 if letter == " " else 0.3 if letter in _NARROW_CHARACTERS else 0.55 for letter in run.text]
    total = sum(widths) * run.size
    spaces = run.text.count(" ")
    space_width = run.right - run.left - total
    gap = space_width / spaces if spaces and space_width > 0 else 0.0
    scale = run.size if gap else (run.right - run.left) / (sum(widths) + 0.25 * spaces)
    ends = [run.left]
    for letter, width in zip(run.text, widths, strict=True):
        ends.append(ends[-1] + ((gap or 0.25 * scale) if letter == " " else width * scale))
    return ends


@lru_cache(CACHED_CALLS)
def _interpret(name: str, is_maths: bool, is_bold: bool, piece: str, has_table: bool) -> tuple[str, str, float, float]:
    """Return the LaTeX, kind, depth and lift of the baseline (both in em) of a character in a font."""
    text, depth = sign(name, piece, has_table) if is_maths else (normalise_sign(piece), 0.0)
    if is_bold or name.startswith(("CMMIB", "LMMathItalic10-Bold")):
        text = _to_bold(text)
    lift = 0.0
    if text == "√" and not depth:
        # TeX fonts hang the root from its top; Unicode fonts set it on the baseline.
        lift = 0.0 if font_encoding(name) else _ROOT_HEIGHT_EM
        depth = 0.96
    return text, "part" if text in ("∣", "∥") and depth else _classify_sign(text), depth, lift


def _make_node(run: TextRun, piece: str, left: float, right: float, has_table: bool) -> FormulaNode:
    size = run.size
    base = run.base
    if len(piece) > 1:
        kind = (
            "letter"
            if piece[0].isdigit()
            else "name"
            if piece in OPERATOR_NAMES or piece in LIMIT_OPERATORS
            else "text"
        )
        # Passed by position, since keyword arguments double the time of creating a node.
        return FormulaNode(piece, left, right, base, base + 0.7 * size, base, size, kind, len(piece))
    font = run.font
    text, kind, depth, lift = _interpret(font.name, font.is_maths, font.is_bold, piece, has_table)
    base += lift * size
    if not depth:
        return FormulaNode(
            text, left, right, base - 0.2 * size, base + 0.7 * size, base, size, kind, 1, kind == "unknown"
        )
    low = base - depth * size
    return FormulaNode(
        latex=text,
        left=left,
        right=right,
        bottom=low,
        top=base,
        base=(low + base) / 2 - AXIS_EM * size,
        size=size,
        kind=kind if kind != "letter" else "tall",
    )


def _classify_sign(text: str) -> str:
    if text in ("", UNKNOWN):
        return "unknown"
    if text in LARGE_OPERATORS:
        return "large"
    if text in BRACKET_PIECES:
        return "part"
    if text in "⏞⏟":
        return "brace"
    if text == "√":
        return "root"
    if unicodedata.combining(text):
        return "accent"
    return "letter"


def _to_bold(text: str) -> str:
    if len(text) == 1 and text.isascii():
        for first, last, start in (("A", "Z", 0x1D400), ("a", "z", 0x1D41A), ("0", "9", 0x1D7CE)):
            if first <= text <= last:
                return chr(start + ord(text) - ord(first))
    return text


def join_bracket_pieces(nodes: Sequence[FormulaNode]) -> Sequence[FormulaNode]:
    """Return the nodes with the stacked pieces of each tall bracket or bar joined into one."""
    if not any(node.kind == "part" for node in nodes):
        return nodes
    kept: list[FormulaNode] = []
    for node in nodes:
        before = kept[-1] if kept else None
        if node.kind != "part":
            kept.append(node)
        elif before is None or before.kind != "tall" or abs(before.left - node.left) > 1:
            kept.append(replace(node, latex=BRACKET_PIECES.get(node.latex, node.latex), kind="tall"))
        else:
            low, high = min(before.bottom, node.bottom), max(before.top, node.top)
            kept[-1] = replace(before, bottom=low, top=high, base=(low + high) / 2 - AXIS_EM * node.size)
    return kept
