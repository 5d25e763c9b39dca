"""Small bar charts for a page: numbers → lengths, drawn by the template as SVG without any style of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH = 100.0
"""Of the longest bar."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar.

    Attributes:
        width: On [0, `WIDTH`]; what is not nothing is at least half a unit wide.
        share: Of all, on [0, 1].
        link: The query string of the papers it stands for; None where they cannot be asked for.
    """

    label: str
    count: int
    width: float
    share: float
    link: str | None


@dataclass(frozen=True, slots=True)
class Bars:
    """A chart.

    Attributes:
        noun: What is counted.
    """

    title: str
    noun: str
    bars: Sequence[Bar]

    @property
    def total(self) -> int:
        """How many there are in all."""
        return sum(bar.count for bar in self.bars)


def bars(title: str, noun: str, counts: Mapping[str, int], links: Mapping[str, str] | None = None) -> Bars:
    """A chart of counts by label, in their order."""
    most, total = max(counts.values(), default=0), sum(counts.values())
    drawn = [
        Bar(
            label,
            count,
            max(0.5, WIDTH * count / most) if count else 0.0,
            count / total if total else 0.0,
            (links or {}).get(label),
        )
        for label, count in counts.items()
    ]
    return Bars(title, noun, drawn)
