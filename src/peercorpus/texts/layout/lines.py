"""Lines of text from runs: what stands side by side on one baseline, with what is raised or lowered beside it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from peercorpus.texts.layout.formulas_symbols import stands_over
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
            line = Line([run], run.left, run.right, run.base, run.size, page)
            lines.append(line)
    return lines


def _continues(line: Line, run: Run) -> bool:
    size = line.size if line.size > run.size else run.size
    gap, off = run.left - line.right, abs(run.base - line.base)
    if (
        len(run.text) == 1
        and stands_over(run.text, run.font.name)
        and -1.2 * size < gap < BESIDE * size
        and off < 1.2 * size
    ):
        return True
    back = BACK if off > 0.1 * size and run.size <= SMALLER * line.size else BESIDE
    if not -back * size <= gap <= WIDE * size:
        return gap < 0 and off <= SAME * size and _is_under(run, line.runs[-1])
    if off <= SAME * size or (gap < 0 and off <= KERNED * size):
        return True
    is_script = run.size <= SMALLER * line.size or line.size <= SMALLER * run.size
    return is_script and off <= RAISED * size and gap <= BESIDE * size


def _is_under(run: Run, before: Run) -> bool:
    """Whether a run stands under the accent before it, which is wider."""
    return len(before.text) == 1 and before.text in ACCENTS and abs(before.left - run.left) < BESIDE * run.size


def _append(line: Line, run: Run) -> None:
    """A run larger than what stands before it, such as the first word behind a footnote mark, tells the baseline."""
    line.runs.append(run)
    if run.left < line.left:
        line.left = run.left
    if run.right > line.right:
        line.right = run.right
    if run.size > 1.05 * line.size:
        line.size, line.base = run.size, run.base
