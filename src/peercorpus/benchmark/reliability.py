"""Plot the calibration of acceptance probabilities: the share of papers accepted, by stated probability."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from peercorpus.metrics.intervals.papers import wilson_interval
from peercorpus.metrics.prediction import ReliabilityBin
from peercorpus.report.figure_style import (
    BLUE,
    FAINT,
    INK,
    add_heading,
    figure_bytes,
    grid,
    name,
    new_figure,
    styled,
    whole_percent,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 3
PANEL_HEIGHT_IN = 2.1


def draw_reliability(runs: Mapping[str, Sequence[ReliabilityBin]]) -> bytes:
    """Return an SVG with a panel for each run; bars are 95 % score intervals, and sizes follow the answers of a bin.

    Args:
        runs: The bins of each run, by its name.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    with styled():
        rows = -(-len(runs) // COLUMNS)
        figure = new_figure(0.3 + PANEL_HEIGHT_IN * rows)
        panels = figure.subplots(rows, COLUMNS, squeeze=False, sharex=True, sharey=True).flat
        for axes, (run, bins) in zip(panels, runs.items(), strict=False):
            _draw_panel(axes, name(run), bins)
        for axes in list(figure.axes)[len(runs) :]:
            axes.set_visible(False)
        answers = sum(each.count for bins in runs.values() for each in bins)
        add_heading(figure, "Papers accepted, by the probability of acceptance stated", f"n = {answers:,} answers")
        return figure_bytes(figure, "svg")


def _draw_panel(axes: "Axes", title: str, bins: Sequence[ReliabilityBin]) -> None:
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1)
    whole = sum(each.count for each in bins)
    for each in bins:
        bounds = wilson_interval(each.accepted * each.count, each.count)
        assert bounds is not None
        axes.plot([each.said, each.said], bounds, color=INK, linewidth=0.7)
        axes.scatter([each.said], [each.accepted], s=6 + 60 * each.count / whole, color=BLUE, zorder=3)
    axes.set_title(f"{title} ({whole:,})", fontsize=7)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel="stated", ylabel="accepted")
    axes.xaxis.set_major_formatter(whole_percent)
    axes.yaxis.set_major_formatter(whole_percent)
    grid(axes)
    grid(axes, "y")
