"""The blocks a paper is made of, and what is usual in its body."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

from peercorpus.texts.layout.lines import Line


class Kind(Enum):
    """What a block is."""

    TITLE = auto()
    HEADING = auto()
    PARAGRAPH = auto()
    ITEM = auto()
    CAPTION = auto()
    FOOTNOTE = auto()
    ENTRY = auto()
    TABLE = auto()
    FORMULA = auto()
    LISTING = auto()


@dataclass(slots=True)
class Block:
    """Lines that belong together.

    Attributes:
        page: On which it begins, from 0.
        lines: In the order in which they are read.
        level: Of a heading: 1 for a section, 2 for one inside it, and so on; 0 for every other block.
        markdown: Of what is not put together from lines, such as a table; None elsewhere until it is written.
        sureness: Of a formula, on [0, 1]; None for every other block.
    """

    kind: Kind
    page: int
    lines: list[Line]
    level: int = 0
    markdown: str | None = None
    sureness: float | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """What is usual in a paper.

    Attributes:
        size: Of its font, in points.
        leading: From one baseline to the next, in points.
        is_mono: Whether its characters are equally wide, as those of a typewriter.
    """

    size: float
    leading: float
    is_mono: bool = False

    def leading_of(self, line: Line) -> float:
        """From the baseline of a line to the next one in its paragraph, in points."""
        return max(self.leading * line.size / self.size, 1.05 * line.size)


def measure(pages: Sequence[Sequence[Line]]) -> Body:
    """The size that most characters have, and the step that most lines of that size make."""
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
