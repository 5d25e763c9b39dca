"""Decide which lines and parts of lines are formulas and which are prose."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.math_fonts import CACHED_CALLS, font_encoding, sign
from peercorpus.texts.layout.blocks import Body, TextLine
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.formulas.nodes import (
    CLOSING_BRACKETS,
    LARGE_OPERATORS,
    LIMIT_OPERATORS,
    OPENING_BRACKETS,
    OPERATOR_NAMES,
    RELATIONS,
    SPACED_SIGNS,
    FormulaNode,
    nodes_of,
)

FORMULA_HEAD = re.compile(
    r"(?:\s*(?:[()\[\],;:=+\-−/<>|!']|\d+(?:\.\d+)?(?![\w%])|[A-Za-z](?!\w)|(?:log|exp|max|min|sin|cos|tanh)(?![a-z])))+"
)
"""Start of a prose run that belongs to the formula before it."""
FORMULA_TAIL = re.compile(
    r"(?:(?:(?<![\w])(?:log|exp|max|min|sin|cos|tanh|det|Pr|ln|[Γ-Ω])|[(\[=+/<>|]|(?<![\w.,])\d+(?:\.\d+)?)\s*)+$"
)
"""End of a prose run that belongs to the formula after it."""
MAX_PROSE_CHARACTERS = 60
"""Characters of prose next to a formula in which its start or end is searched."""
_BROKEN_FORMULA = re.compile(rf"([{''.join(sorted(SPACED_SIGNS))}])\$ (?:\$(?=[^ $])|(−?\d+(?:\.\d+)?)(?![\w.]*\w))")
"""A formula that ends with an operator, followed by a formula or a number."""
_BROKEN_BEFORE_SIGN = re.compile(rf"(?<=[^\s$])\$ \$ ?(?=[{''.join(sorted(RELATIONS))}])")
"""The gap between a formula and one that begins with a relation."""
_LATEX_LOGO = re.compile(r"\$L\^[A𝐀]\$TEX")
TRAILING_MARKS = ",.;:!?' "
"""Punctuation that follows a formula but is not part of it."""
_UPRIGHT_FONT = re.compile(r"(?:CMR|CMBX|LMRoman|SFRM|CMSS)\d", re.I)
"""Fonts with upright letters in formulas; if the text is set in another font, they belong to a formula."""


_TEX_TEXT_FONT = re.compile(r"(?:CM|LM|SF)[A-Z]", re.I)


@lru_cache(CACHED_CALLS)
def is_foreign(font: str) -> bool:
    """Return whether a text font is of a family other than TeX's upright fonts of formulas."""
    return _TEX_TEXT_FONT.match(font) is None


@lru_cache(CACHED_CALLS)
def is_upright(font: str) -> bool:
    """Return whether a font name belongs to an upright font of formulas."""
    return _UPRIGHT_FONT.match(font) is not None


FUNCTION_NAME = re.compile(r"[^\W\d_][\w\-]+\(?$")
NUCLEUS = re.compile(r"(?<![\w.])(?:\d+(?:\.\d+)?|[A-Za-zΑ-ω]|lim|max|min|sup|inf|log|exp|argmax|argmin)$|[)\]]$")
"""Text that a superscript or subscript in prose may belong to."""


def join_broken(text: str) -> str:
    """Join formulas in running text that are broken after an operator or before a relation.

    >>> join_broken("as long as $k <$ 1, and $a =$ $b$ holds")
    'as long as $k < 1$, and $a = b$ holds'
    >>> join_broken("so $v'$ $=Γ$")
    "so $v' =Γ$"
    """
    if "$" not in text:
        return text
    text = _LATEX_LOGO.sub("LaTeX", text) if "TEX" in text else text
    text = _BROKEN_BEFORE_SIGN.sub(" ", text) if "$ $" in text else text
    return _BROKEN_FORMULA.sub(lambda match: f"{match[1]} {match[2]}$" if match[2] else f"{match[1]} ", text)


def closing_part(head: str, nodes: Sequence[FormulaNode]) -> str:
    """Return the part of the text after a formula that closes its brackets, without the sentence's punctuation."""
    least = depth = sum(
        (node.latex in OPENING_BRACKETS) - (node.latex in CLOSING_BRACKETS) for node in nodes if len(node.latex) == 1
    )
    last = 0
    begins = nodes[-1].latex in SPACED_SIGNS or nodes[-1].latex in "./"
    for index, letter in enumerate(head):
        if letter in OPENING_BRACKETS:
            depth += 1
        elif letter in CLOSING_BRACKETS:
            depth -= 1
            if depth < 0:
                break
            least = min(least, depth)
            last = index + 1
        elif depth > least:
            continue
        elif letter in ",;":
            break
        elif (
            letter.isdigit()
            and not head[last:index].strip(" =+-−/<>|.0123456789")
            and (begins or head[:index].strip(" 0123456789."))
        ):
            last = index + 1
    return head[:last]


def part_nodes(run: TextRun, text: str) -> Sequence[FormulaNode]:
    """Return the nodes of part of a run."""
    part = replace(run, text=text, is_cut=False)
    return [node for node in nodes_of(part) if node.latex not in OPERATOR_NAMES or node.kind == "name"]


_EQUATION_NUMBER = re.compile(r"(?<!\s)\s*+\(((?:[A-Z]{1,2}\.?)?\d{1,3}(?:\.\d{1,3})*[a-z]?'*)\)$")
"""Number of a formula, at the end of a line."""
_LEADING_NUMBER = re.compile(r"\(((?:[A-Z]{1,2}\.?)?\d{1,3}(?:\.\d{1,3})*[a-z]?'*)\)\s+(?=\S)")
"""Number of a formula at the start of a line."""
_WORD = re.compile(r"[^\W\d_]{2,}(?![^\W\d_]|-?(?:\$\s?)?\()")
"""A word that is not the name of a function before a parenthesis; a dollar sign stands for any formula."""
_ALGORITHM_LINE = re.compile(
    r"\d{1,3}:\s|(?:if|for|while|return|end|else|repeat|until|require|ensure|input|output)\b", re.I
)
_BRACE_CODES = frozenset("\x1a(\x08n8:<>\uf8f1\uf8f2\uf8f3\uf8f4{⎧⎨⎩")
"""Characters that tall braces are read as."""
_MAX_LINES = 300
_MAX_LINE_GAP_LEADINGS = 0.9
"""Maximum gap between two lines of one formula, in leadings of the body."""
_MIN_PAGE_NUMBER_LEADINGS = 1.2
"""Minimum distance of a page number below a formula, in leadings of the body."""
_MIN_LOWER_LIMIT_EM = 0.8
"""Minimum distance of limits and origins of large symbols below the baseline, in em."""
_MIN_UPPER_LIMIT_EM = 1.2
"""Minimum distance of limits and origins of large symbols above the baseline, in em."""
_MIN_FORMAL_SHARE = 0.5
"""Minimum share of symbols, digits and letters of formulas in a display."""
_MIN_SCRIPT_OFFSET_EM = 0.05
"""Minimum distance of a script from the baseline of its line, in em."""
_MIN_PROSE_CHARACTERS = 50
"""Characters of a line without formulas above which it is not part of a display."""


def _count_characters(line: TextLine) -> int:
    return sum([len(run.text) for run in line.runs])


def _find_words(line: TextLine) -> Iterator[str]:
    prose = ""
    for run in line.runs:
        # Small capitals are on the baseline.
        is_script = run.size <= 0.85 * line.size and abs(run.base - line.base) > _MIN_SCRIPT_OFFSET_EM * line.size
        prose += " " if run.has_space and not is_script else ""
        if run.font.is_maths or is_script:
            prose += "(" if run.font.is_maths and sign(run.font.name, run.text[0]).text == "(" else "$"
        else:
            prose += run.text
    for match in _WORD.finditer(prose):
        if match[0] not in OPERATOR_NAMES and match[0] not in LIMIT_OPERATORS:
            yield match[0]


def _count_word_letters(line: TextLine) -> int:
    return sum(map(len, _find_words(line)))


def _count_formal(line: TextLine) -> float:
    return sum(
        len(run.text)
        if run.font.is_maths or run.size < 0.85 * line.size
        else sum(not letter.isalpha() for letter in run.text)
        for run in line.runs
    )


def _measure_letters(line: TextLine) -> float:
    """Return the font size of a line, in points, without operators that are enlarged letters of a text font."""
    return max((run.size for run in line.runs if run.text not in LARGE_OPERATORS), default=line.size)


def has_words(line: TextLine) -> bool:
    """Return whether a line has a word of prose."""
    return next(_find_words(line), None) is not None


def has_maths(line: TextLine) -> bool:
    """Return whether a line has a letter or symbol in a maths font."""
    for run in line.runs:
        if run.font.is_maths or (is_upright(run.font.name) and not RELATIONS.isdisjoint(run.text)):
            return True
    return False


def is_plain_text(line: TextLine) -> bool:
    """Return whether a line is long and has no letter or symbol of a formula."""
    return _count_characters(line) > _MIN_PROSE_CHARACTERS and not has_maths(line)


def ends_paragraph(line: TextLine, following: TextLine | None, columns: PageColumns, body: Body) -> bool:
    """Return whether a line at the left edge of its column ends far from the right edge, with nothing beside it."""
    left, right = columns.of(line)
    if line.left > left + 0.5 * body.size or line.right > right - 3 * body.size:
        return (
            line.left <= left + 0.5 * body.size
            and find_equation_number(line, columns, body) is None
            and has_words(line)
        )
    if _EQUATION_NUMBER.fullmatch(line.text) or split_leading_number(line, columns, body):
        return False
    if not has_words(line) and (_has_tall_symbol(line) or _goes_on(line, following)):
        return False
    if following is None or abs(following.base - line.base) >= 1.5 * body.size:
        return True
    is_limit = following.size < 0.85 * body.size and line.left < following.left < line.right and not has_words(line)
    return following.left <= line.right - body.size and not is_limit


def _has_tall_symbol(line: TextLine) -> bool:
    return any(_is_large(run) or run.ink or run.text in LARGE_OPERATORS for run in line.runs)


def _goes_on(line: TextLine, following: TextLine | None) -> bool:
    ends = line.text.rstrip()[-1:]
    return ends in SPACED_SIGNS or (following is not None and following.text[:1] in RELATIONS)


def _is_prose(line: TextLine, columns: PageColumns, body: Body) -> bool:
    first = line.runs[0]
    if first.font.is_maths or line.left > columns.of(line)[0] + 0.5 * body.size:
        return False
    return any(word not in OPERATOR_NAMES and word not in LIMIT_OPERATORS for word in _WORD.findall(first.text))


def is_formal(line: TextLine, columns: PageColumns, body: Body) -> bool:
    """Return whether a line can be the first of a display formula."""
    if (
        _ALGORITHM_LINE.match(line.text)
        or _measure_letters(line) > 1.3 * body.size
        or _is_prose(line, columns, body)
        or (words := _count_word_letters(line)) > 12
    ):
        return False
    if not has_maths(line):
        return _count_characters(line) <= 12 and not line.runs[0].font.is_bold
    is_call = words == 0 and "(" in line.text and line.left > columns.of(line)[0] + 2 * body.size
    return is_call or _count_formal(line) >= _MIN_FORMAL_SHARE * (_count_characters(line) - 4)


def belongs(
    line: TextLine, group: Sequence[TextLine], ends: tuple[float, float], columns: PageColumns, body: Body
) -> bool:
    """Return whether a line continues a display formula, whose lines have the lowest and highest baseline `ends`."""
    if not group or len(group) > _MAX_LINES or not _is_in_column(line, group, columns, body):
        return False
    (low, high) = baseline_range(line)
    (bottom, top) = ends
    # The limits of a sum in a fraction are furthest from the line of the fraction.
    is_limit = line.size < 0.85 * body.size and _count_characters(line) <= 8
    reach = (1.9 if is_limit else 1.5) * (_MAX_LINE_GAP_LEADINGS * body.leading + 0.6 * body.size)
    if low > top + reach or high < bottom - reach:
        return False
    if line.text.isdigit() and high < bottom - _MIN_PAGE_NUMBER_LEADINGS * body.leading:
        return False
    if _EQUATION_NUMBER.fullmatch(line.text):
        return True
    if any(_is_case(line, run) for other in group for run in other.runs):
        return True
    is_beside = any(abs(other.base - line.base) < 0.3 * body.size and line.left > other.left for other in group)
    if (not is_beside and _ALGORITHM_LINE.match(line.text)) or _is_prose(line, columns, body):
        return False
    if (
        line.size < 0.85 * body.size
        and _count_characters(line) <= 24
        and any(other.left < line.right and line.left < other.right for other in group)
    ):
        return True
    words = _count_word_letters(line)
    if words > (30 if is_beside else 12):
        return False
    return (
        (
            has_maths(line)
            and _count_formal(line) >= _MIN_FORMAL_SHARE * (_count_characters(line) - words * is_beside - 4)
        )
        or is_beside
        or (words == 0 and _count_characters(line) <= 16)
    )


def _is_in_column(line: TextLine, group: Sequence[TextLine], columns: PageColumns, body: Body) -> bool:
    """Return whether a line is in the column of a group, or touches it if a display spans the columns."""
    number = columns.number(line)
    numbers = {columns.number(other) for other in (group[0], group[-1])}
    return number < 0 or number in numbers or -1 in numbers or any(_touches(line, other, body) for other in group[-4:])


def _touches(line: TextLine, before: TextLine, body: Body) -> bool:
    return abs(before.base - line.base) < body.size and 0 <= line.left - before.right < 0.5 * body.size


def baseline_range(line: TextLine) -> tuple[float, float]:
    """Return the lowest and highest baseline in a line, including large symbols and limits, without scripts."""
    low, high = line.base - _MIN_LOWER_LIMIT_EM * line.size, line.base + _MIN_UPPER_LIMIT_EM * line.size
    edges = [edge for run in line.runs if run.ink for ink in run.ink.values() for edge in ink]
    edges += [run.base - sign(run.font.name, run.text).depth * run.size for run in line.runs if _is_large(run)]
    bases = [line.base, *(height for height in (*(run.base for run in line.runs), *edges) if not low <= height <= high)]
    return min(bases), max(bases)


def _is_large(run: TextRun) -> bool:
    return run.font.is_maths and len(run.text) == 1 and font_encoding(run.font.name) == "omx"


def _is_case(line: TextLine, run: TextRun) -> bool:
    if run.text not in _BRACE_CODES or line.left < run.right - 1 or line.left > run.right + 300:
        return False
    depth = sign(run.font.name, run.text).depth * run.size if run.font.is_maths else 0.0
    return depth > 1.7 * run.size and run.base - depth - 2 < line.base < run.base + 2


def split_leading_number(line: TextLine, columns: PageColumns, body: Body) -> tuple[str, TextLine] | None:
    """Return the number at the left edge of a column and the formula after it; None if there is none."""
    first = line.runs[0]
    match = _LEADING_NUMBER.match(first.text)
    if match is None or line.left > columns.of(line)[0] + 0.5 * body.size:
        return None
    text = first.text[match.end() :]
    # The start of the text after the number is an estimate.
    left = max(first.left, first.right - 0.6 * first.size * len(text))
    return match[1], replace(line, runs=[replace(first, text=text, left=left), *line.runs[1:]], left=left, _text=None)


def find_equation_number(line: TextLine, columns: PageColumns, body: Body) -> re.Match[str] | None:
    """Return the match of a formula's number at the end of a line and of its column; None if there is none."""
    run = line.runs[-1]
    number = _EQUATION_NUMBER.search(run.text) if ")" in run.text[-2:] else None
    if number is None:
        return None
    is_at_end = run.right > columns.of(line)[1] - 2.5 * body.size
    gap = run.left - line.runs[-2].right if len(line.runs) > 1 else body.size
    if number.start():
        return number if is_at_end else None
    # A formula too long for its column overlaps its number.
    is_apart = gap > 0.3 * body.size or gap < -0.1 * body.size
    return number if (is_at_end and is_apart) or gap > 0.9 * body.size else None
