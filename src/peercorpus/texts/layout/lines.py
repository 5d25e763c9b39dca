"""Lines of text from runs: what stands side by side on one baseline, with what is raised or lowered beside it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from peercorpus.texts.layout.formulas_symbols import ALONE, hang, negates, stands_over
from peercorpus.texts.layout.glyphs import ACCENTS, Run

SAME = 0.2
"""Difference of two baselines, in the size of the font, up to which they are one."""
SMALLER = 0.9
"""Size of a raised or lowered run over that of its line, at most."""
RAISED = 0.8
"""How far, in the size of the font, such a run is off the baseline at most."""
WIDE = 1.6
"""A gap, in the size of the font, behind which another line begins."""
BESIDE = 0.6
"""A gap up to which a raised or lowered run belongs to a line; and how far back a run may begin."""

KERNED = 0.25
"""Such a difference where the second run begins inside the first, as in the name of LaTeX."""
BACK = 2.5
"""How far back a lowered run may begin: below a raised one."""
SCRIPTS = 24
"""Raised and lowered runs beside one sign that are looked at."""
BESIDE_TALL = 1.4
"""How far such a run is off the baseline at most, where it stands beside a sign taller than its line."""
LEVEL = 0.35
"""Difference of the baseline that a tall sign is centred over from that of its line, at most."""
STEP = re.compile(r"\d{1,3}:$")
"""The number of a step of an algorithm."""
INSIDE = 12.0
"""A gap, in the size of the font, behind such a number at most: nested steps are set further in."""


@dataclass(slots=True)
class Line:
    """Runs on one baseline.

    Attributes:
        left: Points from the left edge of the page; `right` likewise.
        base: Of its largest font, in points above the lower edge of the page.
        size: Of its largest font, in points.
        page: From 0.
    """

    runs: list[Run]
    left: float
    right: float
    base: float
    size: float
    page: int
    _text: str | None = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str:
        """Its runs, with a single space where there is space."""
        if self._text is None:
            runs = self.runs
            said = (
                runs[0].text
                if len(runs) == 1
                else "".join([f" {one.text}" if one.has_space else one.text for one in runs])
            )
            self._text = said.lstrip()
        return self._text

    @property
    def is_cut(self) -> bool:
        """Whether it ends inside a word."""
        return self.runs[-1].is_cut

    @property
    def characters(self) -> int:
        """How many there are."""
        return len(self.text)

    def share(self, quality: str) -> float:
        """Share of its characters whose font has a quality ("is_bold")."""
        runs = self.runs
        if len(runs) == 1:
            return float(getattr(runs[0].font, quality))
        total = sum([len(run.text) for run in runs])
        return sum([len(run.text) for run in runs if getattr(run.font, quality)]) / total if total else 0.0


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does.

    >>> [ends_sentence(text) for text in ("So it is.", "(So it is.)", "So it")]
    [True, True, False]
    """
    return text.rstrip("\"'\u201d\u2019)]")[-1:] in tuple(".!?:;")


def read_lines(runs: Iterable[Run], page: int) -> list[Line]:
    """The lines of a page in the order of its content.

    Args:
        runs: Of the page.
        page: Its number, from 0.
    """
    lines: list[Line] = []
    line: Line | None = None
    for run in runs:
        if line is not None and _continues(line, run):
            _append(line, run)
        else:
            line = Line([run], run.left, run.right, _level(run), run.size, page)
            lines.append(line)
    return lines


def _level(run: Run) -> float:
    """The baseline of the line a run stands in: tall signs hang from their top, and are centred on its axis."""
    return run.base - hang(run.text, run.font.name) * run.size if run.font.is_maths else run.base


def _continues(line: Line, run: Run) -> bool:
    size = line.size if line.size > run.size else run.size
    gap, off = run.left - line.right, abs(run.base - line.base)
    if len(run.text) == 1 and stands_over(run.text, run.font.name):
        is_over = run.text in ALONE and run.left > line.runs[-1].left - 0.1 * size
        if (-1.2 * size < gap or is_over) and gap < BESIDE * size and off < 1.2 * size:
            return True
        if -1.2 * size < gap < WIDE * size and abs(_level(run) - line.base) < LEVEL * size:
            return True
    is_script = run.size <= SMALLER * line.size
    back = BACK if off > 0.1 * size and is_script else BESIDE
    if not -back * size <= gap <= WIDE * size:
        if gap > 0:
            return gap <= INSIDE * size and off <= SAME * size and len(line.runs) == 1 and bool(STEP.match(line.text))
        return (off <= SAME * size and _is_under(run, line.runs[-1])) or (is_script and _is_script(line, run, off))
    if off <= SAME * size or (gap < 0 and off <= KERNED * size):
        return True
    if gap > BESIDE * size:
        return False
    if is_script:
        return off <= RAISED * size or (off <= BESIDE_TALL * size and _is_script(line, run, off))
    return line.size <= SMALLER * run.size and off <= RAISED * size


def _is_script(line: Line, run: Run, off: float) -> bool:
    """Whether a small run stands beside the last sign on the baseline: under what is raised, or at a tall sign."""
    for before in islice(reversed(line.runs), SCRIPTS):
        if before.size > SMALLER * line.size:
            is_tall = before.font.is_maths and hang(before.text, before.font.name) > 0
            reach = BESIDE_TALL if is_tall else RAISED
            least = max(before.left - BESIDE * line.size, before.right - WIDE * line.size)
            return run.left >= least and off <= reach * line.size
    return False


def _is_under(run: Run, before: Run) -> bool:
    """Whether a run stands under the accent before it, which is wider, or is struck through by the slash before it."""
    if before.font.is_maths and negates(before.text, before.font.name):
        return before.right - run.left < WIDE * run.size
    return len(before.text) == 1 and before.text in ACCENTS and abs(before.left - run.left) < BESIDE * run.size


def _append(line: Line, run: Run) -> None:
    """A run larger than what stands before it, such as the first word behind a footnote mark, tells the baseline."""
    line.runs.append(run)
    if run.left < line.left:
        line.left = run.left
    if run.right > line.right:
        line.right = run.right
    if run.size > 1.05 * line.size:
        line.size, line.base = run.size, _level(run)
