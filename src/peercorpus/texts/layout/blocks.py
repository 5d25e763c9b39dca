"""Build text lines from glyph runs, and define the blocks made of lines."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

from peercorpus.pdf.glyphs import ACCENTS, TextRun
from peercorpus.pdf.math_fonts import SPACING_ACCENTS, ends_with_slash, is_above_baseline, origin_height_em
from peercorpus.pdf.shapes import Box
from peercorpus.records.blocks import TableCell
from peercorpus.records.enums import BlockKind as BlockKind

MAX_BASELINE_OFFSET_EM = 0.2
"""Maximum distance of two baselines that count as one, in em."""
_MAX_SCRIPT_SIZE_RATIO = 0.9
"""Maximum font size of a superscript or subscript, relative to its line."""
_MAX_SCRIPT_OFFSET_EM = 0.8
"""Maximum distance of a superscript or subscript from the baseline, in em."""
MAX_LINE_GAP_EM = 1.6
"""Maximum gap between two runs of one line, in em."""
MAX_SCRIPT_GAP_EM = 0.6
"""Maximum gap before a superscript or subscript, and maximum overlap of two runs, in em."""

_MAX_KERNED_OFFSET_EM = 0.25
"""Maximum distance of two baselines if the second run begins inside the first, as in the LaTeX logo, in em."""
_MAX_SUBSCRIPT_OVERLAP_EM = 2.5
"""Maximum distance that a subscript may begin to the left of the line's end, below a superscript, in em."""
_MAX_SCRIPTS_PER_SIGN = 24
"""Maximum number of superscripts and subscripts searched next to one symbol."""
_MAX_TALL_SCRIPT_OFFSET_EM = 1.4
"""Maximum distance of a script from the baseline next to a symbol taller than its line, in em."""
_MAX_TALL_SIGN_OFFSET_EM = 0.35
"""Maximum distance of the baseline implied by a tall symbol from that of its line, in em."""
_STEP_NUMBER = re.compile(r"\d{1,3}:$")
_MAX_STEP_INDENT_EM = 12.0
"""Maximum gap after a step number, in em; nested steps are indented."""


@dataclass(slots=True)
class TextLine:
    """Glyph runs on one baseline from left to right, in points; `base` and `size` are of the largest font."""

    runs: list[TextRun]
    left: float
    right: float
    base: float
    size: float
    page: int
    _text: str | None = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str:
        """Text of all runs, with single spaces between words."""
        if self._text is None:
            runs = self.runs
            text = (
                runs[0].text
                if len(runs) == 1
                else "".join([f" {run.text}" if run.has_space else run.text for run in runs])
            )
            self._text = text.lstrip()
        return self._text

    @property
    def is_cut(self) -> bool:
        """True if it ends inside a divided word."""
        return self.runs[-1].is_cut

    @property
    def characters(self) -> int:
        """Number of characters, including spaces."""
        return len(self.text)

    def share(self, quality: str) -> float:
        """Return the share of its characters whose font has a property, such as "is_bold"."""
        runs = self.runs
        if len(runs) == 1:
            return float(getattr(runs[0].font, quality))
        total = sum([len(run.text) for run in runs])
        return sum([len(run.text) for run in runs if getattr(run.font, quality)]) / total if total else 0.0


def ends_sentence(text: str) -> bool:
    """Return whether text ends like a sentence.

    >>> [ends_sentence(text) for text in ("So it is.", "(So it is.)", "So it")]
    [True, True, False]
    """
    return text.rstrip("\"'\u201d\u2019)]")[-1:] in tuple(".!?:;")


def read_lines(runs: Iterable[TextRun], page: int) -> list[TextLine]:
    """Build the lines of a page, in the order of its content."""
    lines: list[TextLine] = []
    line: TextLine | None = None
    for run in runs:
        if line is not None and _continues(line, run):
            _append(line, run)
        else:
            line = TextLine(
                runs=[run], left=run.left, right=run.right, base=_find_line_baseline(run), size=run.size, page=page
            )
            lines.append(line)
    return lines


def _find_line_baseline(run: TextRun) -> float:
    """Return the baseline of a run's line; tall symbols hang from their top and are centred on the math axis."""
    return run.base - origin_height_em(run.text, run.font.name) * run.size if run.font.is_maths else run.base


def _continues(line: TextLine, run: TextRun) -> bool:
    size = line.size if line.size > run.size else run.size
    gap = run.left - line.right
    off = abs(run.base - line.base)
    if len(run.text) == 1 and is_above_baseline(run.text, run.font.name):
        is_over = run.text in SPACING_ACCENTS and run.left > line.runs[-1].left - 0.1 * size
        if (-1.2 * size < gap or is_over) and gap < MAX_SCRIPT_GAP_EM * size and off < 1.2 * size:
            return True
        if (
            -1.2 * size < gap < MAX_LINE_GAP_EM * size
            and abs(_find_line_baseline(run) - line.base) < _MAX_TALL_SIGN_OFFSET_EM * size
        ):
            return True
    is_script = run.size <= _MAX_SCRIPT_SIZE_RATIO * line.size
    back = _MAX_SUBSCRIPT_OVERLAP_EM if off > 0.1 * size and is_script else MAX_SCRIPT_GAP_EM
    if not -back * size <= gap <= MAX_LINE_GAP_EM * size:
        if gap > 0:
            return (
                gap <= _MAX_STEP_INDENT_EM * size
                and off <= MAX_BASELINE_OFFSET_EM * size
                and len(line.runs) == 1
                and bool(_STEP_NUMBER.match(line.text))
            )
        return (off <= MAX_BASELINE_OFFSET_EM * size and _is_under(run, line.runs[-1])) or (
            is_script and _is_script(line, run, off)
        )
    if off <= MAX_BASELINE_OFFSET_EM * size or (gap < 0 and off <= _MAX_KERNED_OFFSET_EM * size):
        return True
    if gap > MAX_SCRIPT_GAP_EM * size:
        return False
    if is_script:
        return off <= _MAX_SCRIPT_OFFSET_EM * size or (
            off <= _MAX_TALL_SCRIPT_OFFSET_EM * size and _is_script(line, run, off)
        )
    return line.size <= _MAX_SCRIPT_SIZE_RATIO * run.size and off <= _MAX_SCRIPT_OFFSET_EM * size


def _is_script(line: TextLine, run: TextRun, off: float) -> bool:
    """Return whether a small run is a script of the last symbol on the baseline."""
    for before in islice(reversed(line.runs), _MAX_SCRIPTS_PER_SIGN):
        if before.size > _MAX_SCRIPT_SIZE_RATIO * line.size:
            is_tall = before.font.is_maths and origin_height_em(before.text, before.font.name) > 0
            reach = _MAX_TALL_SCRIPT_OFFSET_EM if is_tall else _MAX_SCRIPT_OFFSET_EM
            least = max(before.left - MAX_SCRIPT_GAP_EM * line.size, before.right - MAX_LINE_GAP_EM * line.size)
            return run.left >= least and off <= reach * line.size
    return False


def _is_under(run: TextRun, before: TextRun) -> bool:
    """Return whether a run is below the wider accent before it, or is negated by the slash before it."""
    if before.font.is_maths and ends_with_slash(before.text, before.font.name):
        return before.right - run.left < MAX_LINE_GAP_EM * run.size
    return (
        len(before.text) == 1 and before.text in ACCENTS and abs(before.left - run.left) < MAX_SCRIPT_GAP_EM * run.size
    )


def _append(line: TextLine, run: TextRun) -> None:
    line.runs.append(run)
    if run.left < line.left:
        line.left = run.left
    if run.right > line.right:
        line.right = run.right
    if run.size > 1.05 * line.size:
        line.size = run.size
        line.base = _find_line_baseline(run)


@dataclass(slots=True)
class Block:
    """Lines that belong together.

    Attributes:
        kind: What the block is.
        page: Index of the page on which it begins, from 0.
        lines: Its lines, in reading order.
        level: Heading level: 1 for a section, 2 for a subsection and so on; 0 for other blocks.
        markdown: Finished Markdown, of tables for example; None until the lines are written.
        sureness: Confidence in a formula, from 0 to 1; None for other blocks.
        box: Place of a table or a formula on its page; None for blocks whose place follows from their lines.
        number: Number of a formula, without parentheses; None if there is none.
        latex: LaTeX of a formula, without dollar signs; None for other blocks.
        cells: Cells of a table.
    """

    kind: BlockKind
    page: int
    lines: list[TextLine]
    level: int = 0
    markdown: str | None = None
    sureness: float | None = None
    box: Box | None = None
    number: str | None = None
    latex: str | None = None
    cells: Sequence[TableCell] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """Measures of the body text of a paper: font size and distance of baselines, in points."""

    size: float
    leading: float
    is_mono: bool = False

    def leading_of(self, line: TextLine) -> float:
        """Return the expected distance from the baseline of a line to the next one in its paragraph, in points."""
        return max(self.leading * line.size / self.size, 1.05 * line.size)


def measure_page(pages: Sequence[Sequence[TextLine]]) -> Body:
    """Return the most common font size, by characters, and the most common leading of lines in that size."""
    sizes: Counter[float] = Counter()
    mono: Counter[bool] = Counter()
    for line in (line for page in pages for line in page):
        sizes[round(line.size * 2) / 2] += line.characters
        mono[line.runs[0].font.is_mono] += line.characters
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    steps: Counter[float] = Counter()
    for high, low in (pair for page in pages for pair in pairwise(page)):
        step = high.base - low.base
        if abs(high.size - size) < 0.6 and abs(low.size - size) < 0.6 and 0.8 * size < step < 2.2 * size:
            steps[round(step * 2) / 2] += 1
    return Body(size, steps.most_common(1)[0][0] if steps else 1.2 * size, mono[True] > mono[False])
