"""Which lines are of a display formula, and which are prose."""

import re
from collections.abc import Sequence

from peercorpus.texts.layout.blocks import Body
from peercorpus.texts.layout.columns import Columns
from peercorpus.texts.layout.formulas_nodes import NAMES, RELATIONS, WITH_LIMITS
from peercorpus.texts.layout.formulas_prose import is_upright
from peercorpus.texts.layout.formulas_symbols import sign
from peercorpus.texts.layout.glyphs import Run
from peercorpus.texts.layout.lines import Line

NUMBER = re.compile(r"\s*\(((?:[A-Z]{1,2}\.?)?\d{1,3}(?:\.\d{1,3})*[a-z]?'*)\)$")
"""The number of a formula, at the end of a line."""
WORD = re.compile(r"[^\W\d_]{2,}(?![^\W\d_]|-?(?:\$\s?)?\()")
"""A word that is no name of a function before its parenthesis; a dollar stands for any formula."""
STEP = re.compile(r"\d{1,3}:\s|(?:if|for|while|return|end|else|repeat|until|require|ensure|input|output)\b", re.I)
"""How a line of an algorithm begins."""
BRACES = frozenset("\x1a(\x08n8:<>\uf8f1\uf8f2\uf8f3\uf8f4{⎧⎨⎩")
"""What tall braces are read as."""
MOST = 300
"""Lines of a formula."""
APART = 0.9
"""Gap between two lines of one formula, in lines of the body, at most."""
BELOW, ABOVE = 0.8, 1.2
"""How far limits and the origins of large signs are off the baseline, in the size of their line, at least."""
LEAST = 0.5
"""Share of signs, digits and letters of formulas in a display, at least."""
LONG = 50
"""Characters of a line without formulas that is no part of one."""


def _length(line: Line) -> int:
    """Characters without spaces between runs."""
    return sum([len(run.text) for run in line.runs])


def _words(line: Line) -> int:
    """Letters of its words of prose; the name of a function before its parenthesis is none."""
    prose = "".join(
        (" " if run.has_space and run.size > 0.85 * line.size else "")
        + (run.text if _is_plain(run, line) else "(" if run.text[:1] == "(" else "$")
        for run in line.runs
    )
    return sum(len(word) for word in WORD.findall(prose) if word not in NAMES and word not in WITH_LIMITS)


def _is_plain(run: Run, line: Line) -> bool:
    return not run.font.is_maths and run.size > 0.85 * line.size


def _formal(line: Line) -> float:
    """Characters of formulas in a line."""
    return sum(
        len(run.text)
        if run.font.is_maths or run.size < 0.85 * line.size
        else sum(not letter.isalpha() for letter in run.text)
        for run in line.runs
    )


def has_words(line: Line) -> bool:
    """Whether it has a word of prose."""
    return _words(line) > 0


def has_maths(line: Line) -> bool:
    """Whether it has a letter or sign from a font of formulas."""
    for run in line.runs:
        if run.font.is_maths or (is_upright(run.font.name) and not RELATIONS.isdisjoint(run.text)):
            return True
    return False


def is_plain_text(line: Line) -> bool:
    """Whether a line is long and has no letter or sign of a formula."""
    return _length(line) > LONG and not has_maths(line)


def ends_paragraph(line: Line, following: Line | None, columns: Columns, body: Body) -> bool:
    """Whether a line at the left end of its column ends far from the right end, with nothing beside it."""
    left, right = columns.of(line)
    if line.left > left + 0.5 * body.size or line.right > right - 3 * body.size:
        return line.left <= left + 0.5 * body.size and read_number(line, columns, body) is None and _words(line) > 0
    is_beside = (
        following is not None
        and abs(following.base - line.base) < 1.5 * body.size
        and following.left > line.right - body.size
    )
    return not is_beside


def _is_prose(line: Line, columns: Columns, body: Body) -> bool:
    """Whether a line begins with a word, at the left end of its column."""
    first = line.runs[0]
    if first.font.is_maths or line.left > columns.of(line)[0] + 0.5 * body.size:
        return False
    return any(word not in NAMES and word not in WITH_LIMITS for word in WORD.findall(first.text))


def is_formal(line: Line, columns: Columns, body: Body) -> bool:
    """Whether a line can be the first of a display formula."""
    if STEP.match(line.text) or line.size > 1.3 * body.size or _is_prose(line, columns, body) or _words(line) > 12:
        return False
    if not has_maths(line):
        return _length(line) <= 12 and not line.runs[0].font.is_bold
    is_call = _words(line) == 0 and "(" in line.text and line.left > columns.of(line)[0] + 2 * body.size
    return is_call or _formal(line) >= LEAST * (_length(line) - 4)


def belongs(line: Line, group: Sequence[Line], ends: tuple[float, float], columns: Columns, body: Body) -> bool:
    """Whether a line goes on with a formula, the ends of whose lines are known."""
    if (
        not group
        or len(group) > MOST
        or (
            columns.number(line) != columns.number(group[0])
            and min(columns.number(line), columns.number(group[0])) >= 0
        )
    ):
        return False
    (low, high), (bottom, top) = ends_of(line), ends
    reach = APART * body.leading + 0.6 * body.size
    if low > top + 1.5 * reach or high < bottom - 1.5 * reach:
        return False
    if NUMBER.fullmatch(line.text):
        return True
    if any(_is_case(line, run) for one in group for run in one.runs):
        return True
    if STEP.match(line.text) or _is_prose(line, columns, body):
        return False
    if (
        line.size < 0.85 * body.size
        and _length(line) <= 24
        and any(one.left < line.right and line.left < one.right for one in group)
    ):
        return True
    words = _words(line)
    is_beside = any(abs(one.base - line.base) < 0.3 * body.size and line.left > one.left for one in group)
    if words > (30 if is_beside else 12):
        return False
    return (
        (has_maths(line) and _formal(line) >= LEAST * (_length(line) - words * is_beside - 4))
        or is_beside
        or (words == 0 and _length(line) <= 16)
    )


def ends_of(line: Line) -> tuple[float, float]:
    """The lowest and the highest baseline in a line, with its large signs and their limits, without mere scripts."""
    low, high = line.base - BELOW * line.size, line.base + ABOVE * line.size
    bases = [line.base, *(run.base for run in line.runs if not low <= run.base <= high)]
    return min(bases), max(bases)


def _is_case(line: Line, run: Run) -> bool:
    """Whether a line stands behind a tall brace."""
    if run.text not in BRACES or line.left < run.right - 1 or line.left > run.right + 300:
        return False
    depth = sign(run.font.name, run.text).depth * run.size if run.font.is_maths else 0.0
    return depth > 1.7 * run.size and run.base - depth - 2 < line.base < run.base + 2


def read_number(line: Line, columns: Columns, body: Body) -> re.Match[str] | None:
    """The number of a formula at the end of a line, at the right end of its column."""
    run = line.runs[-1]
    number = NUMBER.search(run.text) if ")" in run.text[-2:] else None
    if number is None:
        return None
    is_at_end = run.right > columns.of(line)[1] - 2.5 * body.size
    gap = run.left - line.runs[-2].right if len(line.runs) > 1 else body.size
    if number.start():
        return number if is_at_end else None
    # A formula that is too long for its column runs into its number.
    is_apart = gap > 0.3 * body.size or gap < -0.1 * body.size
    return number if (is_at_end and is_apart) or gap > 0.9 * body.size else None
