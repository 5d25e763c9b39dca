"""Write the rows of algorithms and programs as fenced, indented code."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from statistics import median

from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.math_fonts import font_encoding, sign
from peercorpus.texts.layout.blocks import Block, TextLine
from peercorpus.texts.layout.formulas.detection import join_broken
from peercorpus.texts.layout.formulas.inline import inline
from peercorpus.texts.layout.hyphenation import Dehyphenator

KEYWORD = re.compile(
    r"(?:if|else|elseif|for|foreach|forall|while|do|repeat|until|loop|return|end|procedure|function|"
    r"(?:require|ensure|inputs?|outputs?|initiali[sz]e|initiali[sz]ation|data|result)\s?:?)(?!\w)",
    re.IGNORECASE,
)
INPUT = re.compile(r"(?:Require|Ensure|Inputs?|Outputs?|Data|Result|Parameters?)\s?:", re.IGNORECASE)
_OPEN_END = re.compile(r"[\w,]$")
"""End of a row that may continue."""
_CALL = re.compile(r"[\w.\-]+\(")
_STEP_NUMBER = re.compile(r"(\d{1,3}):?$")
_STEP_PREFIX = re.compile(r"(\d{1,3}):\s*")
_BARE_PREFIX = re.compile(r"(\d{1,3})\s+")
MAX_ROW_OFFSET_EM = 0.3
"""Maximum distance of the baselines of two lines side by side, in em."""
_MAX_SCRIPT_SIZE_RATIO = 0.85
"""Maximum font size of a superscript or subscript, relative to its row."""
_MAX_SCRIPT_OFFSET_EM = 1.0
"""Maximum distance of a superscript or subscript from the baseline of its row, in em."""
_MAX_FULL_ROW_GAP_EM = 3.0
"""Maximum distance from the end of a row that continues on the next one to the right edge, in em."""
_SPACE_WIDTH_EM = 0.5
"""Width of one space of indentation, in em."""
_LETTER_WIDTH_EM = 0.5
_MAX_INDENT_SPACES = 40
_MIN_CONSECUTIVE_SHARE = 0.8
_MIN_BLANK_STEP_RATIO = 1.6
"""Distance of two rows, relative to the usual one, above which blank lines are written."""
_MAX_BLANK_LINES = 2
_HORIZONTAL_RULE = re.compile(r"\s*-+\s*$")


@dataclass(slots=True)
class ListingRow:
    """Lines side by side in a listing, or the Markdown of a formula; `base` and `size` are of the first line."""

    lines: list[TextLine]
    formula: str
    base: float
    size: float

    @property
    def text(self) -> str:
        """Text of all its lines."""
        return " ".join(line.text for line in self.lines)

    @property
    def left(self) -> float:
        """Left edge, in points."""
        return self.lines[0].left

    @property
    def right(self) -> float:
        """Right edge, in points."""
        return max(line.right for line in self.lines)

    def share(self, quality: str) -> float:
        """Return the share of its characters whose font has a property."""
        total = sum(line.characters for line in self.lines)
        return sum(line.share(quality) * line.characters for line in self.lines) / max(1, total)

    def takes(self, line: TextLine) -> bool:
        """Return whether a line is beside the others, or is a superscript or subscript there."""
        off = abs(line.base - self.base)
        if self.formula:
            return False
        return off <= MAX_ROW_OFFSET_EM * self.size or (
            line.size < _MAX_SCRIPT_SIZE_RATIO * self.size
            and off < _MAX_SCRIPT_OFFSET_EM * self.size
            and line.left > self.left
        )


def find_listing_rows(items: Iterable[TextLine | Block]) -> list[ListingRow]:
    """Group lines into rows, in order; a display formula forms its own row."""
    rows: list[ListingRow] = []
    for item in items:
        if isinstance(item, Block):
            first = item.lines[0]
            rows.append(ListingRow(lines=item.lines, formula=item.markdown or "", base=first.base, size=first.size))
        elif rows and rows[-1].takes(item):
            rows[-1].lines.append(item)
        else:
            rows.append(ListingRow(lines=[item], formula="", base=item.base, size=item.size))
    return rows


def _fence(texts: Sequence[str]) -> str:
    """Return lines in a code fence longer than any inside."""
    longest = max((len(ticks) for text in texts for ticks in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([fence, *texts, fence])


def as_code(rows: Sequence[ListingRow]) -> str:
    """Write the rows of a program: every character in its column, with blank lines in between."""
    runs = [run for row in rows for line in row.lines for run in line.runs if len(run.text) > 1]
    width = median([(run.right - run.left) / (len(run.text) + run.is_cut) for run in runs] or [0.5 * rows[0].size])
    left = min(row.left for row in rows)
    steps = [high.base - low.base for high, low in pairwise(rows)]
    usual = min((step for step in steps if step > 0.5 * rows[0].size), default=rows[0].size)
    texts: list[str] = []
    for row, step in zip(rows, [0.0, *steps], strict=True):
        text = _align_row(row, left, max(0.1, width))
        # A rule between blank lines would be read as a page break.
        if (
            step > _MIN_BLANK_STEP_RATIO * usual
            and not _HORIZONTAL_RULE.match(text)
            and not (texts and _HORIZONTAL_RULE.match(texts[-1]))
        ):
            texts += [""] * min(_MAX_BLANK_LINES, round(step / usual) - 1)
        texts.append(text)
    return _fence(texts)


def _align_row(row: ListingRow, left: float, width: float) -> str:
    text = ""
    for line in row.lines:
        for run in line.runs:
            column = round((run.left - left) / width)
            has_gap = run.has_space or run is line.runs[0]
            if column > len(text) + (0 if has_gap else 1):
                text += " " * (column - len(text))
            elif text and has_gap and not text.endswith(" "):
                text += " "
            text += run.text + ("-" if run.is_cut else "")
    return text.rstrip()


@dataclass(slots=True)
class _Step:
    """A row of an algorithm, without its number; `is_cut` if it ends inside a divided word."""

    number: str
    left: float
    right: float
    text: str
    is_cut: bool
    has_maths: bool


def as_steps(rows: Sequence[ListingRow], right: float, joiner: Dehyphenator) -> str:
    """Write the rows of an algorithm, each with its number and indentation; `right` is the edge of a full row, in
    points.
    """
    is_numbered = _are_numbered(rows)
    prefix = _STEP_PREFIX if any(_STEP_PREFIX.match(row.text) for row in rows) else _BARE_PREFIX
    steps: list[_Step] = []
    for row in rows:
        step = _read_step(row, prefix if is_numbered else None)
        if steps and not row.formula and _continues_step(steps[-1], step, right - _MAX_FULL_ROW_GAP_EM * row.size):
            before = steps[-1]
            before.text = join_broken(joiner.join(before.text, step.text, is_cut=before.is_cut))
            before.right = step.right
            before.is_cut = step.is_cut
        else:
            steps.append(step)
    return _fence(_indent(steps, _SPACE_WIDTH_EM * rows[0].size))


def _are_numbered(rows: Sequence[ListingRow]) -> bool:
    numbers = [int(number[1]) for row in rows if (number := _STEP_NUMBER.match(row.lines[0].runs[0].text))]
    numbers = numbers or [int(number[1]) for row in rows if (number := _STEP_PREFIX.match(row.text))]
    steps = [low - high == 1 for high, low in pairwise(numbers)]
    return bool(steps) and sum(steps) >= _MIN_CONSECUTIVE_SHARE * len(steps)


def _read_step(row: ListingRow, prefix: re.Pattern[str] | None) -> _Step:
    if row.formula:
        return _Step(number="", left=row.left, right=row.right, text=row.formula, is_cut=False, has_maths=True)
    runs, *others = [_restore_triangles(line.runs) for line in row.lines]
    number = ""
    lines = row.lines
    bare = _STEP_NUMBER.match(runs[0].text) if prefix else None
    if bare and (len(runs) > 1 or others):
        number = bare[0]
        runs = runs[1:]
        lines = lines if runs else lines[1:]
    elif prefix and (glued := prefix.match(runs[0].text)) and glued.end() < len(runs[0].text):
        number = glued[0].rstrip()
        runs = [_cut_off(runs[0], glued.end(), row.size), *runs[1:]]
    texts = [
        join_broken(inline(part, line.base, line.size))
        for part, line in zip([runs, *others], row.lines, strict=True)
        if part
    ]
    within = prefix.match(texts[0]) if prefix and not number else None
    if within:
        number = within[0].rstrip()
        texts[0] = texts[0][within.end() :]
    first = runs[0] if runs else others[0][0]
    return _Step(
        number=number,
        left=first.left,
        right=row.right,
        text="  ".join(texts),
        is_cut=lines[-1].is_cut,
        has_maths=first.font.is_maths,
    )


def _cut_off(run: TextRun, end: int, size: float) -> TextRun:
    text = run.text[end:]
    return replace(run, text=text, left=max(run.left, run.right - _LETTER_WIDTH_EM * size * len(text)))


def _restore_triangles(runs: Sequence[TextRun]) -> list[TextRun]:
    """Return runs with the triangle before a comment, TeX's code of a full stop, in the comment's font."""
    signed: list[TextRun] = []
    for run, following in zip_longest(runs, runs[1:]):
        is_alone = run.text[-2:-1] == " " or (len(run.text) == 1 and run.has_space)
        is_before_words = following is not None and following.has_space and not following.font.is_maths
        if is_alone and is_before_words and _ends_with_triangle(run):
            before = run.text[:-1].rstrip()
            signed += [replace(run, text=before)] if before else []
            signed.append(replace(run, text="\u25b7", font=following.font, has_space=True))
        else:
            signed.append(run)
    return signed


def _ends_with_triangle(run: TextRun) -> bool:
    mark, font = run.text[-1], run.font
    is_stop = mark == "." and font_encoding(font.name) == "oml"
    return is_stop or (font.is_maths and sign(font.name, mark).text == "\u25b7")


def _continues_step(before: _Step, step: _Step, full: float) -> bool:
    if step.number or KEYWORD.match(step.text):
        return False
    # The algorithm packages set the continuation of an indented step at the margin of all steps.
    if step.left < before.left - 1 and not (before.number and step.text[:1].islower()):
        return False
    if before.is_cut:
        return True
    if before.right <= full:
        return False
    if before.number or (INPUT.match(before.text) and step.left > before.left + 1):
        return True
    is_lower = step.text[:1].islower() and not step.has_maths and not _CALL.match(step.text)
    return is_lower and bool(_OPEN_END.search(before.text))


def _indent(steps: Sequence[_Step], space: float) -> list[str]:
    margins = [min((step.left for step in steps if bool(step.number) == kind), default=0.0) for kind in (False, True)]
    wide = max(len(step.number) for step in steps)
    texts = []
    for step in steps:
        number = f"{step.number:>{wide}} " if step.number else ""
        depth = min(_MAX_INDENT_SPACES, round((step.left - margins[bool(step.number)]) / space))
        texts.append((number + " " * depth + step.text + ("-" if step.is_cut else "")).rstrip())
    return texts
