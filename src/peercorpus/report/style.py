"""One style for all figures: readable in black and white and by the colour-blind, vector fonts, the same bytes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from textwrap import fill
from typing import TYPE_CHECKING, Any

from peercorpus.audit.visible import visible
from peercorpus.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 6.3
"""Inches: the text width of a page of A4 or letter paper."""
INK, SOFT, FAINT, PAPER = "#1b1e23", "#5d6570", "#c9cfd6", "#fefefe"
"""The page puts its own colours in their place, for light and for dark."""
BLUE, ORANGE, GREEN, SKY, VERMILION, YELLOW, PURPLE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#56b4e9",
    "#d55e00",
    "#f0e442",
    "#cc79a7",
)
"""Okabe and Ito's colours (2008), which people with any common colour blindness tell apart."""
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oo")
LABEL = 30
"""Characters of a name that a figure shows; the table has it whole."""
LINE = 118
"""Characters of a line of a figure's width."""
FORMATS = ("pdf", "svg", "png")
DPI = 200
RULES: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "text.color": INK,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.0,
    "xtick.major.size": 2.5,
    "ytick.major.size": 0.0,
    "hatch.linewidth": 0.5,
    "patch.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "text.parse_math": False,
    "text.usetex": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "peercorpus",
    "path.simplify": False,
}
METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "Creator": "peercorpus", "Producer": None},
    "svg": {"Date": None, "Creator": "peercorpus"},
    "png": {"Software": None},
}
"""No time and no version of anything, so that equal numbers give equal bytes."""


@contextmanager
def styled() -> Iterator[None]:
    """All figures are made and written within.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise MissingExtraError("matplotlib", "report") from None
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(RULES)
        yield


@cache
def _letters() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def name(text: str | None) -> str:
    """A name from outside as a figure shows it: short, and a box for every letter that the font does not have."""
    shown = visible(" ".join((text or "none named").split()), LABEL)
    return "".join(one if ord(one) in _letters() else "\u25a1" for one in shown)


def new_figure(height: float) -> "Figure":
    """An empty figure of the text width, of so many inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def numbered(figure: "Figure", shown: str) -> "Figure":
    """The figure with a line on top that says of how many things it is."""
    figure.suptitle(fill(shown, LINE), x=0.005, ha="left", fontsize=7.5, fontweight="normal", color=SOFT)
    return figure


def rows_height(rows: int, above: float = 0.95, each: float = 0.24) -> float:
    """Inches that so many rows take."""
    return above + each * max(rows, 2)


def thousands(value: float, _: object = None) -> str:
    """A number at an axis."""
    return f"{value:,.10g}"


def whole_percent(value: float, _: object = None) -> str:
    """A share at an axis."""
    return f"{100 * value:.0f} %"


def name_rows(axes: "Axes", labels: Sequence[str], *, shown: bool = True) -> None:
    """One row a label, the first on top."""
    axes.set_yticks(range(len(labels)), list(labels) if shown else [""] * len(labels))
    axes.set_ylim(len(labels) - 0.4, -0.6)


def whole_numbers(axes: "Axes", axis: str, most: int = 6) -> None:
    """An axis of whole numbers, with thousands parted."""
    from matplotlib.ticker import MaxNLocator

    part = axes.xaxis if axis == "x" else axes.yaxis
    part.set_major_locator(MaxNLocator(most, integer=True))
    part.set_major_formatter(thousands)


def grid(axes: "Axes", axis: str = "x") -> None:
    """Faint lines across one axis."""
    axes.grid(visible=True, axis="x" if axis == "x" else "y")


def written(figure: "Figure", kind: str) -> bytes:
    """A figure as a file of a format; call it within `styled`."""
    held = BytesIO()
    face = PAPER if kind == "png" else "none"
    figure.savefig(held, format=kind, dpi=DPI, metadata=METADATA[kind], facecolor=face)
    return held.getvalue()
