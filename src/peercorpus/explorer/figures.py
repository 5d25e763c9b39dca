"""Lay out the figures of the home page: columns and bars stacked by decision, and scores before and after."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from peercorpus.records.counted_nouns import plural

WIDTH = 400.0
"""Width of a drawing, in its own units."""
HEIGHT = 132.0
"""Height of the tallest column."""
TOP = 18.0
"""Room above it, for its number."""
BASE = TOP + HEIGHT
"""Vertical position of the base line of columns."""
_GAP = 0.22
"""Share of a column's room that stays free."""
_LEAST = 1.0
"""Height or width of a count above 0, so that it can be seen and clicked."""
_ROUGH = 10_000


@dataclass(frozen=True, slots=True)
class Series:
    """The meaning of one colour.

    Attributes:
        name: In words.
        colour: Its class in the style sheet.
    """

    name: str
    colour: str


@dataclass(frozen=True, slots=True)
class Cell:
    """The papers of one group and one series.

    Attributes:
        link: Query string of the search that finds exactly these papers.
    """

    series: Series
    papers: int
    link: str


@dataclass(frozen=True, slots=True)
class Group:
    """One column or bar.

    Attributes:
        cells: One for each series, in the order in which they are stacked.
        link: Query string of the search that finds exactly its papers.
        note: Label above a column, or after a bar.
        short: Label below a column: the name, or as much of it as there is room for.
    """

    name: str
    cells: Sequence[Cell]
    link: str
    note: str = ""
    short: str = ""

    @property
    def papers(self) -> int:
        """Number of papers of all series."""
        return sum(cell.papers for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Box:
    """The rectangle of a cell in a drawing, in the drawing's units."""

    cell: Cell
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Stacked:
    """Papers by group and series, to be drawn as columns (`boxes`) or as bars (`bars`).

    Attributes:
        key: Its HTML id.
        says: What it shows, in one sentence.
        axis: Meaning of the names of the groups.
        unknown: Number of papers that are in no group, by reason.
    """

    key: str
    title: str
    says: str
    axis: str
    series: Sequence[Series]
    groups: Sequence[Group]
    unknown: Mapping[str, int] = field(default_factory=dict)

    @property
    def papers(self) -> int:
        """Number of papers that are drawn."""
        return sum(group.papers for group in self.groups)

    @property
    def shown(self) -> str:
        """How many papers are drawn and how many not, as in "n = 12 papers; not known: 3 (no year)"."""
        return describe_n(self.papers, self.unknown)

    @property
    def room(self) -> float:
        """Width of a column with the gap beside it."""
        return WIDTH / max(1, len(self.groups))

    @property
    def _most(self) -> int:
        return max((group.papers for group in self.groups), default=0) or 1

    def middle(self, index: int) -> float:
        """Return the horizontal middle of a column."""
        return (index + 0.5) * self.room

    def top(self, group: Group) -> float:
        """Return the vertical place of the upper end of a column."""
        return BASE - sum(_length(cell.papers, self._most, HEIGHT) for cell in group.cells)

    def boxes(self, index: int) -> Iterator[Box]:
        """Yield the rectangles of a column, from below."""
        y = BASE
        for cell in self.groups[index].cells:
            height = _length(cell.papers, self._most, HEIGHT)
            y -= height
            if height:
                yield Box(cell, (index + _GAP / 2) * self.room, y, (1 - _GAP) * self.room, height)

    def bars(self, index: int) -> Iterator[Box]:
        """Yield the rectangles of a bar, from the left; the longest bar is 100 wide, and each 10 high."""
        x = 0.0
        for cell in self.groups[index].cells:
            width = _length(cell.papers, self._most, 100.0)
            if width:
                yield Box(cell, x, 0.0, width, 10.0)
            x += width


def _length(papers: int, most: int, longest: float) -> float:
    return max(_LEAST, longest * papers / most) if papers else 0.0


def describe_n(papers: int, unknown: Mapping[str, int]) -> str:
    """Return how many papers were counted and how many not, by reason.

    >>> describe_n(1200, {"no year": 3, "no score": 0})
    'n = 1,200 papers; not known: 3 (no year)'
    """
    missing = [f"{count:,} ({reason})" for reason, count in unknown.items() if count]
    return f"n = {plural(papers, 'paper')}" + (f"; not known: {', '.join(missing)}" if missing else "")


def format_count(count: int) -> str:
    """Format a count for the narrow room above a column.

    >>> format_count(1234), format_count(61_500)
    ('1,234', '62k')
    """
    return f"{count:,}" if count < _ROUGH else f"{count / 1000:.0f}k"


@dataclass(frozen=True, slots=True)
class Drift:
    """The mean ratings of the papers of a year, as first given and now, on [0, 1] of the scale.

    Attributes:
        short: The year, or as much of it as there is room for.
    """

    year: int
    short: str
    papers: int
    first: float
    now: float
    link: str


@dataclass(frozen=True, slots=True)
class Drifts:
    """Mean ratings before and after the discussion, by year; attributes as those of `Stacked`."""

    key: str
    title: str
    says: str
    years: Sequence[Drift]
    unknown: Mapping[str, int] = field(default_factory=dict)

    @property
    def papers(self) -> int:
        """Number of papers that are drawn."""
        return sum(drift.papers for drift in self.years)

    @property
    def shown(self) -> str:
        """How many papers are drawn and how many not."""
        return describe_n(self.papers, self.unknown)

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest mean of the vertical axis: tenths of the scale around all means."""
        means = [mean for drift in self.years for mean in (drift.first, drift.now)]
        low = int(min(means) * 10 - 1e-9) / 10
        high = -int(-max(means) * 10 - 1) / 10
        return low, min(1.0, max(high, low + 0.2))

    @property
    def lines(self) -> list[tuple[float, float]]:
        """Means at which a line is drawn, with its vertical place."""
        low, high = self.bounds
        steps = round((high - low) * 10)
        return [(low + step / 10, self.y(low + step / 10)) for step in range(steps + 1)]

    def y(self, mean: float) -> float:
        """Return the vertical place of a mean."""
        low, high = self.bounds
        return BASE - HEIGHT * (mean - low) / (high - low)

    def middle(self, index: int) -> float:
        """Return the horizontal place of a year, to the right of the axis."""
        return 40 + (index + 0.5) * (WIDTH - 40) / len(self.years)
