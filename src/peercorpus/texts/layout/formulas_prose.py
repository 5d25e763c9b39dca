"""Where a formula ends, and the prose around it begins."""

import re
from collections.abc import Sequence
from functools import lru_cache

from peercorpus.texts.layout.formulas_nodes import BRACKETS, ENDS, NAMES, SPACED, Node, nodes_of
from peercorpus.texts.layout.formulas_symbols import MOST
from peercorpus.texts.layout.glyphs import Run

HEAD = re.compile(
    r"(?:\s*(?:[()\[\],;:=+\-−/<>|!']|\d+(?:\.\d+)?(?![\w%])|[A-Za-z](?!\w)|(?:log|exp|max|min|sin|cos|tanh)(?![a-z])))+"
)
"""What a run of prose may begin with that belongs to the formula before it."""
TAIL = re.compile(r"(?:(?:(?<![\w])(?:log|exp|max|min|sin|cos|tanh)|[(\[=+/<>|]|(?<![\w.,])\d+(?:\.\d+)?)\s*)+$")
"""What a run of prose may end with that belongs to the formula behind it."""
NEAR = 60
"""Characters of prose beside a formula in which its beginning or end is sought."""
BROKEN = re.compile(rf"([{''.join(sorted(SPACED))}])\$ (?:\$(?=[^ $])|(−?\d+(?:\.\d+)?)(?![\w.]*\w))")
"""A formula that ends with a sign, and a formula or a number behind it."""
LOGO = re.compile(r"\$L\^[A𝐀]\$TEX")
"""The name of LaTeX, as it sets it."""
SOFT = ",.;:!?' "
"""What ends no formula, though it stands behind one."""
UPRIGHT = re.compile(r"(?:CMR|CMBX|LMRoman|SFRM|CMSS)\d", re.I)
"""Fonts whose letters are upright in formulas; where the text is in another font, they are of a formula."""


@lru_cache(MOST)
def is_upright(font: str) -> bool:
    """Whether a font is one of those, by its name."""
    return UPRIGHT.match(font) is not None


CALL = re.compile(r"[^\W\d_][\w\-]+\(?$")
"""The name of a function, in the midst of a formula."""
NUCLEUS = re.compile(r"(?<![\w.])(?:\d+(?:\.\d+)?|[A-Za-zΑ-ω]|lim|max|min|sup|inf|log|exp|argmax|argmin)$|[)\]]$")
"""What stands before a raised or lowered piece of a formula, in prose."""


def whole(text: str) -> str:
    """Running text, with the formulas whole that the end of a line breaks behind a sign.

    >>> whole("as long as $k <$ 1, and $a =$ $b$ holds")
    'as long as $k < 1$, and $a = b$ holds'
    """
    if "$" not in text:
        return text
    text = LOGO.sub("LaTeX", text)
    return BROKEN.sub(lambda found: f"{found[1]} {found[2]}$" if found[2] else f"{found[1]} ", text)


def closed(head: str, nodes: Sequence[Node]) -> str:
    """As much of the text behind a formula as closes its brackets, and no comma or stop of the sentence."""
    least = depth = sum((node.latex in BRACKETS) - (node.latex in ENDS) for node in nodes if len(node.latex) == 1)
    last, begins = 0, nodes[-1].latex in SPACED or nodes[-1].latex in "./"
    for at, letter in enumerate(head):
        if letter in BRACKETS:
            depth += 1
        elif letter in ENDS:
            depth -= 1
            if depth < 0:
                break
            least = min(least, depth)
            last = at + 1
        elif depth > least:
            continue
        elif letter in ",;":
            break
        elif (
            letter.isdigit()
            and not head[last:at].strip(" =+-−/<>|.0123456789")
            and (begins or head[:at].strip(" 0123456789."))
        ):
            last = at + 1
    return head[:last]


def pieces_of(run: Run, text: str) -> Sequence[Node]:
    """The pieces of a part of a run."""
    part = Run(text, run.left, run.right, run.base, run.size, run.font, run.has_space, False, run.start, run.end)
    return [node for node in nodes_of(part) if node.latex not in NAMES or node.kind == "name"]
