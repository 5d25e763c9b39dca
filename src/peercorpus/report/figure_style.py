"""Set the Matplotlib style of all figures: sizes, fonts, colours, axes; equal numbers give equal bytes."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from io import BytesIO
from textwrap import fill
from typing import TYPE_CHECKING, Any

from peercorpus.errors import MissingExtraError
from peercorpus.wording.untrusted_text import escape_and_cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 6.3
"""Width of a figure in inches: the text width of an A4 or letter page."""
INK = "#1b1e23"
SOFT = "#5d6570"
FAINT = "#c9cfd6"
PAPER = "#fefefe"
"""The page replaces these four with its own colours for light and dark."""
# Colours of Okabe and Ito (2008), distinguishable with any common form of colour blindness.
BLUE = "#0072b2"
ORANGE = "#e69f00"
GREEN = "#009e73"
SKY = "#56b4e9"
VERMILION = "#d55e00"
YELLOW = "#f0e442"
PURPLE = "#cc79a7"
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oo", "++", "||||", "**")
BAR_STYLE: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.6, "height": 0.62}
_MAX_LABEL_CHARACTERS = 30
"""Longer names are truncated in figures; the table has them in full."""
_TITLE_POINTS = 9.0
_TITLE_CHARACTERS = 84
_LINE_CHARACTERS = 110
"""Characters of a title or another line that fit the width of a figure, even if they are wide."""
FORMATS = ("pdf", "svg", "png")
_DPI = 200
"""Dots per inch of PNG files."""
_RC_PARAMS: Any = {
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
_METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "Creator": "peercorpus", "Producer": None},
    "svg": {"Date": None, "Creator": "peercorpus"},
    "png": {"Software": None},
}
"""Metadata without dates and versions, so that equal numbers give equal bytes."""
_SHAPING_TABLES = ("GDEF", "GPOS", "GSUB", "MATH", "kern")


@contextmanager
def styled() -> Iterator[None]:
    """Set the style for the figures that are made and written within the context.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise MissingExtraError("matplotlib", "report") from None
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC_PARAMS)
        yield


@cache
def _list_font_characters() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def name(text: str | None) -> str:
    """Return an untrusted name for a figure: shortened, with a box for each character missing in the font."""
    shown = escape_and_cut(" ".join((text or "none named").split()), _MAX_LABEL_CHARACTERS)
    return "".join(character if ord(character) in _list_font_characters() else "\u25a1" for character in shown)


def new_figure(height: float) -> "Figure":
    """Return an empty figure of the text width; `height` is in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def add_heading(figure: "Figure", title: str, shown: str) -> "Figure":
    """Add the title above a figure, and below the title a line with the number of items."""
    heading, counts = fill(title, _TITLE_CHARACTERS), fill(shown, _LINE_CHARACTERS)
    room = "\n\N{NO-BREAK SPACE}" * (1 + counts.count("\n"))  # The layout makes room for this text only.
    text = figure.suptitle(heading + room, x=0.005, ha="left", fontsize=_TITLE_POINTS, fontweight="bold", color=INK)
    text.set_linespacing(1.25)
    below_points = 4 + 1.25 * _TITLE_POINTS * (1 + heading.count("\n"))
    figure.axes[0].annotate(
        counts,
        (0.005, 1),
        (0, -below_points),
        xycoords="figure fraction",
        textcoords="offset points",
        va="top",
        fontsize=7.5,
        color=SOFT,
        annotation_clip=False,
    ).set_in_layout(False)
    return figure


def rows_height(rows: int, above: float = 0.95, each: float = 0.24) -> float:
    """Return the height in inches of a figure with a number of rows."""
    return above + each * max(rows, 2)


def thousands(value: float, _: object = None) -> str:
    """Format a tick with a separator of thousands."""
    return f"{value:,.10g}"


def whole_percent(value: float, _: object = None) -> str:
    """Format a tick on [0, 1] as whole per cent."""
    return f"{100 * value:.0f} %"


def name_rows(axes: "Axes", labels: Sequence[str], *, shown: bool = True) -> None:
    """Label the rows of the vertical axis, the first one on top; `shown` False leaves the labels empty."""
    axes.set_yticks(range(len(labels)), list(labels) if shown else [""] * len(labels))
    axes.set_ylim(len(labels) - 0.4, -0.6)


def label_bars(axes: "Axes", ends: Sequence[float], texts: Iterable[str]) -> None:
    """Write a text beside the end of each horizontal bar."""
    for row, (end, text) in enumerate(zip(ends, texts, strict=True)):
        axes.annotate(text, (end, row), (3, 0), textcoords="offset points", va="center", fontsize=7.5)


def whole_numbers(axes: "Axes", axis: str, most: int = 6) -> None:
    """Put at most `most` ticks on an axis, at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ticked = axes.xaxis if axis == "x" else axes.yaxis
    ticked.set_major_locator(MaxNLocator(most, integer=True))
    ticked.set_major_formatter(thousands)


def draw_delay(axes: "Axes", ends: Sequence[float], y: float, colour: str, start: float, label: str) -> None:
    """Draw the distribution of a delay in one row of a logarithmic axis, and write its label where the axis starts.

    `ends` are the tenth percentile, the quartiles with the median between them, and the ninetieth percentile; those
    before the start of the axis are drawn there.
    """
    low, first, middle, third, high = (max(start, end) for end in ends)
    axes.plot([low, high], [y, y], color=INK, linewidth=0.8)
    axes.barh(y, third - first, left=first, height=0.5, color=colour, edgecolor=INK, linewidth=0.7, zorder=3)
    axes.plot([middle, middle], [y - 0.25, y + 0.25], color=INK, linewidth=2, zorder=4)
    axes.annotate(label, (start, y), (2, 0), textcoords="offset points", va="center", fontsize=7, color=INK)


def grid(axes: "Axes", axis: str = "x") -> None:
    """Draw faint lines at the ticks of one axis."""
    axes.grid(visible=True, axis="x" if axis == "x" else "y")


def figure_bytes(figure: "Figure", kind: str) -> bytes:
    """Return a figure as a file of a format of `FORMATS`; call it within `styled`."""
    buffer = BytesIO()
    face = PAPER if kind == "png" else "none"
    with _fonts_of_glyphs() if kind == "pdf" else nullcontext():
        figure.savefig(buffer, format=kind, dpi=_DPI, metadata=_METADATA[kind], facecolor=face)
    return buffer.getvalue()


@contextmanager
def _fonts_of_glyphs() -> Iterator[None]:
    """Leave the tables for shaping text out of the fonts of PDF files, where the place of every glyph is stated.

    Reducing these tables to the glyphs of each figure would take a fifth of the time of a report.
    """
    from fontTools.subset import Options

    before = Options._drop_tables_default
    Options._drop_tables_default = [*before, *_SHAPING_TABLES]
    try:
        yield
    finally:
        Options._drop_tables_default = before
