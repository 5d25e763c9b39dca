"""The rows of an algorithm or a program, and how they are written: in a fence, indented as they are printed."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from statistics import median

from peercorpus.texts.layout.blocks import Block
from peercorpus.texts.layout.formulas import inline, whole
from peercorpus.texts.layout.formulas_symbols import kind_of
from peercorpus.texts.layout.glyphs import Run
from peercorpus.texts.layout.joining import Joiner
from peercorpus.texts.layout.lines import Line

KEYWORD = re.compile(
    r"(?:if|else|elseif|for|foreach|forall|while|do|repeat|until|loop|return|end|procedure|function|"
    r"(?:require|ensure|inputs?|outputs?|initiali[sz]e|initiali[sz]ation|data|result)\s?:?)(?!\w)",
    re.IGNORECASE,
)
"""How a line of an algorithm begins."""
INPUT = re.compile(r"(?:Require|Ensure|Inputs?|Outputs?|Data|Result|Parameters?)\s?:", re.IGNORECASE)
"""How a line begins that says what goes into an algorithm, or comes out of it."""
OPEN = re.compile(r"[\w,]$")
"""How a row ends that may go on."""
CALL = re.compile(r"[\w.\-]+\(")
NUMBER = re.compile(r"(\d{1,3}):?$")
NUMBERED = re.compile(r"(\d{1,3}):\s*")
SAME = 0.3
"""Difference of two baselines, in the size of the font, up to which lines stand side by side."""
SMALLER = 0.85
"""Size of what is raised or lowered over that of its row, at most."""
RAISED = 1.0
"""How far that is off the baseline, in the size of the row, at most."""
FULL = 3.0
"""How far, in the size of the font, a row ends before the right end that goes on in the next one, at most."""
SPACE = 0.5
"""Width of a space of indentation, in the size of the font."""
DEEPEST = 40
"""Spaces of indentation, at most."""
COUNTING = 0.8
"""Share of the steps from one number to the next that are one, at least."""
BLANK = 1.6
"""Step over the usual one, from which on blank lines stand between two rows."""
MOST_BLANK = 2
RULE = re.compile(r"\s*-+\s*$")


@dataclass(slots=True)
class Row:
    """What stands side by side.

    Attributes:
        lines: From left to right.
        formula: The Markdown of a display formula; empty for every other row.
        base: Of its first line, in points above the lower edge of the page; its `size` likewise.
    """

    lines: list[Line]
    formula: str
    base: float
    size: float

    @property
    def text(self) -> str:
        """Its words."""
        return " ".join(line.text for line in self.lines)

    @property
    def left(self) -> float:
        """Where it begins, in points."""
        return self.lines[0].left

    @property
    def right(self) -> float:
        """Where it ends, in points."""
        return max(line.right for line in self.lines)

    def share(self, quality: str) -> float:
        """Share of its characters whose font has a quality."""
        total = sum(line.characters for line in self.lines)
        return sum(line.share(quality) * line.characters for line in self.lines) / max(1, total)

    def takes(self, line: Line) -> bool:
        """Whether a line stands beside the others, or is raised or lowered there."""
        off = abs(line.base - self.base)
        if self.formula:
            return False
        return off <= SAME * self.size or (
            line.size < SMALLER * self.size and off < RAISED * self.size and line.left > self.left
        )


def rows_of(items: Iterable[Line | Block]) -> list[Row]:
    """The rows that lines make, and display formulas, in their order."""
    rows: list[Row] = []
    for item in items:
        if isinstance(item, Block):
            first = item.lines[0]
            rows.append(Row(item.lines, item.markdown or "", first.base, first.size))
        elif rows and rows[-1].takes(item):
            rows[-1].lines.append(item)
        else:
            rows.append(Row([item], "", item.base, item.size))
    return rows


def _fenced(texts: Sequence[str]) -> str:
    """Lines in a fence that is longer than any inside."""
    longest = max((len(found) for text in texts for found in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([fence, *texts, fence])


def as_code(rows: Sequence[Row]) -> str:
    """Rows of a program: every character in its column, with the blank lines between them."""
    runs = [run for row in rows for line in row.lines for run in line.runs if len(run.text) > 1]
    width = median([(run.right - run.left) / (len(run.text) + run.is_cut) for run in runs] or [0.5 * rows[0].size])
    left = min(row.left for row in rows)
    steps = [high.base - low.base for high, low in pairwise(rows)]
    usual = min((step for step in steps if step > 0.5 * rows[0].size), default=rows[0].size)
    texts: list[str] = []
    for row, step in zip(rows, [0.0, *steps], strict=True):
        text = _in_columns(row, left, max(0.1, width))
        # A rule between blank lines would divide two pages.
        if step > BLANK * usual and not RULE.match(text) and not (texts and RULE.match(texts[-1])):
            texts += [""] * min(MOST_BLANK, round(step / usual) - 1)
        texts.append(text)
    return _fenced(texts)


def _in_columns(row: Row, left: float, width: float) -> str:
    """A row of a program, with as many spaces before each word as its place tells."""
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
    """A row of an algorithm.

    Attributes:
        number: As printed; empty where it has none.
        left: Where it begins behind its number, in points.
        right: Where it ends, in points.
        text: Its Markdown, without the number.
    """

    number: str
    left: float
    right: float
    text: str
    is_cut: bool
    has_maths: bool


def as_steps(rows: Sequence[Row], right: float, joiner: Joiner) -> str:
    """Rows of an algorithm: each with its number and indentation, formulas as elsewhere.

    Args:
        rows: From the first to the last.
        right: Where a full row ends, in points.
        joiner: For steps that go over several rows.
    """
    is_numbered = _counts_on(rows)
    steps: list[_Step] = []
    for row in rows:
        step = _read(row, is_numbered=is_numbered)
        if steps and not row.formula and _goes_on(steps[-1], step, right - FULL * row.size):
            before = steps[-1]
            before.text = whole(joiner.join(before.text, step.text, is_cut=before.is_cut))
            before.right, before.is_cut = step.right, step.is_cut
        else:
            steps.append(step)
    return _fenced(_indented(steps, SPACE * rows[0].size))


def _counts_on(rows: Sequence[Row]) -> bool:
    """Whether rows begin with numbers that count on."""
    found = [int(number[1]) for row in rows if (number := NUMBER.match(row.lines[0].runs[0].text))]
    found = found or [int(number[1]) for row in rows if (number := NUMBERED.match(row.text))]
    steps = [low - high == 1 for high, low in pairwise(found)]
    return bool(steps) and sum(steps) >= COUNTING * len(steps)


def _read(row: Row, *, is_numbered: bool) -> _Step:
    if row.formula:
        return _Step("", row.left, row.right, row.formula, is_cut=False, has_maths=True)
    runs, *others = [_with_signs(line.runs) for line in row.lines]
    number, lines = "", row.lines
    bare = NUMBER.match(runs[0].text) if is_numbered else None
    if bare and (len(runs) > 1 or others):
        number, runs = bare[0], runs[1:]
        lines = lines if runs else lines[1:]
    texts = [
        whole(inline(part, line.base, line.size)) for part, line in zip([runs, *others], row.lines, strict=True) if part
    ]
    within = NUMBERED.match(texts[0]) if is_numbered and not number else None
    if within:
        number, texts[0] = within[0].rstrip(), texts[0][within.end() :]
    first = runs[0] if runs else others[0][0]
    return _Step(
        number, first.left, row.right, "  ".join(texts), is_cut=lines[-1].is_cut, has_maths=first.font.is_maths
    )


def _with_signs(runs: Sequence[Run]) -> list[Run]:
    """Runs with the triangle before a comment: TeX's font of letters has it at the code of a full stop."""
    signed: list[Run] = []
    for run, following in zip_longest(runs, runs[1:]):
        is_alone = run.text.endswith(" .") or (run.text == "." and run.has_space)
        is_before_words = following is not None and following.has_space and not following.font.is_maths
        if is_alone and is_before_words and kind_of(run.font.name) == "oml":
            before = run.text[:-1].rstrip()
            signed += [replace(run, text=before)] if before else []
            signed.append(replace(run, text="\u25b7", font=following.font, has_space=True))
        else:
            signed.append(run)
    return signed


def _goes_on(before: _Step, step: _Step, full: float) -> bool:
    """Whether a row goes on with the step above, which is full."""
    if step.number or KEYWORD.match(step.text) or step.left < before.left - 1:
        return False
    if before.is_cut:
        return True
    if before.right <= full:
        return False
    if before.number or (INPUT.match(before.text) and step.left > before.left + 1):
        return True
    is_lower = step.text[:1].islower() and not step.has_maths and not CALL.match(step.text)
    return is_lower and bool(OPEN.search(before.text))


def _indented(steps: Sequence[_Step], space: float) -> list[str]:
    """The steps with their numbers one below the other, and as much space before each as it is printed with."""
    margins = [min((step.left for step in steps if bool(step.number) == kind), default=0.0) for kind in (False, True)]
    wide = max(len(step.number) for step in steps)
    texts = []
    for step in steps:
        number = f"{step.number:>{wide}} " if step.number else ""
        depth = min(DEEPEST, round((step.left - margins[bool(step.number)]) / space))
        texts.append((number + " " * depth + step.text + ("-" if step.is_cut else "")).rstrip())
    return texts
