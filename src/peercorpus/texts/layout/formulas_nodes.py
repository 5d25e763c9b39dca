"""The pieces a formula is built from: glyphs with their place."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from peercorpus.texts.layout.formulas_symbols import AXIS, MOST, clean, is_mapped, kind_of, sign
from peercorpus.texts.layout.glyphs import Font, Run

SCRIPT = 0.87
"""Size of a raised or lowered piece over that of its row, at most."""
BRACKETS = "([{⌊⌈⟨"
ENDS = ")]}⌋⌉⟩"
TALL = dict(zip("⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎞⎟⎠⎤⎥⎦⎫⎬⎭", "((([[[{{{∣)))]]]}}}", strict=True))
"""Parts of tall brackets, and what they are parts of."""
LARGE = frozenset("∑∏∐⋃⋂⨁⨂⨆⋁⋀")
NAMES = frozenset({
    "log", "exp", "sin", "cos", "tan", "tanh", "sinh", "cosh", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "ln",
    "lg", "max", "min", "sup", "inf", "lim", "arg", "det", "dim", "ker", "gcd", "deg", "Pr",
})  # fmt: skip
"""Words that LaTeX has a command for."""
WITH_LIMITS = frozenset({"max", "min", "sup", "inf", "lim", "argmax", "argmin", "det", "Pr", "arg max", "arg min"})
RELATIONS = frozenset("=<>≤≥≈≡∼≃∝∈∉≠≢≁≮≯≰≱→←↦⇒⇔⊂⊄⊆⊈⊊⊃⊇≪≫≺≻⪯⪰≼≽⩽⩾≜≔")
SPACED = RELATIONS | frozenset("+−±∓×")
TOKEN = re.compile(r"[^\W\d_]{2,}|\d+(?:[.,]\d+)*|\S")
HUNG = frozenset({"tall", "large", "root", "part"})
"""Kinds of pieces that do not tell the size of their row."""
STANDING = 0.83
"""Height of a root that stands on the line, in the size of its font."""
BUILT = Font("built", is_bold=False, is_italic=False, is_mono=False, is_maths=True, is_small_capitals=False)
"""The font of a run whose text is LaTeX already."""
NARROW = frozenset("iljtf.,;:'|()[]!1 ")
"""Characters that are about half as wide as others."""


@dataclass(slots=True)
class Node:
    """A piece with its place.

    Attributes:
        left: Points from the left edge of the page; `right` likewise; `bottom`, `top` and `base` from its lower edge.
        size: Of its font, in points.
        kind: `letter`, `text`, `name`, `large`, `tall`, `part`, `brace`, `root`, `accent`, `built`, or `unknown`.
        glyphs: How many it has taken in; `doubts` of them have no sure place or meaning.
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
        """Half way from left to right."""
        return (self.left + self.right) / 2

    @property
    def level(self) -> float:
        """Half way from bottom to top."""
        return (self.bottom + self.top) / 2


def size_of(nodes: Sequence[Node]) -> float:
    """The size of a row: of its largest letter, as large signs are as large in scripts."""
    letters = [node.size for node in nodes if node.kind not in HUNG]
    return max(letters or [node.size for node in nodes])


def large_of(runs: Iterable[Run]) -> bool:
    """Whether the large signs among runs come from a font with a Unicode table."""
    letters = {letter for run in runs if run.font.is_maths and kind_of(run.font.name) == "omx" for letter in run.text}
    return bool(letters) and is_mapped(letters)


def nodes_of(run: Run, has_table: bool = False) -> Iterator[Node]:
    """The pieces of a run; their places within it are estimates."""
    font, text = run.font, run.text
    if font is BUILT:
        yield Node(
            text, run.left, run.right, run.base - 0.2 * run.size, run.base + 0.7 * run.size, run.base, run.size, "built"
        )
        return
    if (font.is_maths and kind_of(font.name)) or (
        font.is_bold and len(text) <= 3 and (text.isupper() or len(text) == 2)
    ):
        pieces = [(letter, number, number + 1) for number, letter in enumerate(text) if letter != " " or len(text) == 1]
    else:
        pieces = [(found[0], found.start(), found.end()) for found in TOKEN.finditer(text)]
    if not pieces:
        return
    if len(pieces) == 1:
        yield _node(run, pieces[0][0], run.left, run.right, has_table)
        return
    ends = _ends(run)
    for piece, start, end in pieces:
        yield _node(run, piece, ends[start], ends[end], has_table)


def _ends(run: Run) -> list[float]:
    """Estimates of where each character of a run begins and the last one ends: spaces take what is left."""
    widths = [0.0 if letter == " " else 0.3 if letter in NARROW else 0.55 for letter in run.text]
    total, spaces = sum(widths) * run.size, run.text.count(" ")
    rest = run.right - run.left - total
    gap = rest / spaces if spaces and rest > 0 else 0.0
    scale = run.size if gap else (run.right - run.left) / (sum(widths) + 0.25 * spaces)
    ends = [run.left]
    for letter, width in zip(run.text, widths, strict=True):
        ends.append(ends[-1] + ((gap or 0.25 * scale) if letter == " " else width * scale))
    return ends


@lru_cache(MOST)
def _meaning(name: str, is_maths: bool, is_bold: bool, piece: str, has_table: bool) -> tuple[str, str, float, float]:
    """What a character is, by its font: LaTeX, kind, depth, and by how much its base is lifted, in its size."""
    text, depth = sign(name, piece, has_table) if is_maths else (clean(piece), 0.0)
    if is_bold or name.startswith(("CMMIB", "LMMathItalic10-Bold")):
        text = _bold(text)
    lift = 0.0
    if text == "√" and not depth:
        # Fonts of TeX hang it from its top; those of Unicode set it on the line.
        lift = 0.0 if kind_of(name) else STANDING
        depth = 0.96
    return text, "part" if text in ("∣", "∥") and depth else _kind(text), depth, lift


def _node(run: Run, piece: str, left: float, right: float, has_table: bool) -> Node:
    size, base = run.size, run.base
    if len(piece) > 1:
        kind = "letter" if piece[0].isdigit() else "name" if piece in NAMES or piece in WITH_LIMITS else "text"
        return Node(piece, left, right, base, base + 0.7 * size, base, size, kind, len(piece))
    font = run.font
    text, kind, depth, lift = _meaning(font.name, font.is_maths, font.is_bold, piece, has_table)
    base += lift * size
    if not depth:
        return Node(text, left, right, base - 0.2 * size, base + 0.7 * size, base, size, kind, 1, not text)
    low = base - depth * size
    return Node(
        text, left, right, low, base, (low + base) / 2 - AXIS * size, size, kind if kind != "letter" else "tall"
    )


def _kind(text: str) -> str:
    if not text:
        return "unknown"
    if text in LARGE:
        return "large"
    if text in TALL:
        return "part"
    if text in "⏞⏟":
        return "brace"
    if text == "√":
        return "root"
    if unicodedata.combining(text):
        return "accent"
    return "letter"


def _bold(text: str) -> str:
    if len(text) == 1 and text.isascii():
        for first, last, start in (("A", "Z", 0x1D400), ("a", "z", 0x1D41A), ("0", "9", 0x1D7CE)):
            if first <= text <= last:
                return chr(start + ord(text) - ord(first))
    return text


def without_parts(nodes: Sequence[Node]) -> Sequence[Node]:
    """The pieces with one sign for all parts of a tall bracket or bar, which stand below each other."""
    if not any(node.kind == "part" for node in nodes):
        return nodes
    kept: list[Node] = []
    for node in nodes:
        before = kept[-1] if kept else None
        if node.kind != "part":
            kept.append(node)
        elif before is None or before.kind != "tall" or abs(before.left - node.left) > 1:
            kept.append(replace(node, latex=TALL.get(node.latex, node.latex), kind="tall"))
        else:
            low, high = min(before.bottom, node.bottom), max(before.top, node.top)
            kept[-1] = replace(before, bottom=low, top=high, base=(low + high) / 2 - AXIS * node.size)
    return kept
