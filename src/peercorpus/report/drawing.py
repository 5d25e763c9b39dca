"""Figures of counts: each draws one table and adds no number."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from peercorpus.report.discussion import MOST_TURNS
from peercorpus.report.holdings import GRADES, STATUSES
from peercorpus.report.statistic import TOP, Statistic, counted, percent
from peercorpus.report.style import (
    BLUE,
    FAINT,
    GREEN,
    HATCHES,
    INK,
    ORANGE,
    PAPER,
    PURPLE,
    SKY,
    SOFT,
    VERMILION,
    YELLOW,
    grid,
    name,
    name_rows,
    new_figure,
    rows_height,
    thousands,
    whole_numbers,
    whole_percent,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.6, "height": 0.62}
VENUES, REASONS, YEARS = 24, 16, 12
"""Rows that a figure shows at most; the table has all."""


def empty(statistic: Statistic) -> "Figure":
    """Why there is nothing to draw."""
    figure = new_figure(1.1)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.text(0.5, 0.5, statistic.why, ha="center", va="center", color=SOFT, wrap=True)
    return figure


def histogram(statistic: Statistic) -> "Figure":
    """Bars from bound to bound, the open bin hatched, with the quartiles above."""
    table, figure = statistic.table, new_figure(2.6)
    axes = figure.subplots()
    low, high, counts = (table[column].to_list() for column in table.columns)
    width = next(b - a for a, b in zip(low, high, strict=True) if b is not None)
    is_open = [bound is None for bound in high]
    bars = axes.bar(low, counts, width=width, align="edge", color=SKY, edgecolor=INK, linewidth=0.5)
    for bar, opened in zip(bars, is_open, strict=True):
        bar.set(hatch="////" if opened else "", facecolor=PAPER if opened else SKY)
    top, facts = 1.06 * max(counts), statistic.facts
    axes.plot([facts["lower quartile"], facts["upper quartile"]], [top, top], color=INK, linewidth=3, alpha=0.35)
    axes.plot(facts["median"], top, marker="o", color=INK, markersize=4)
    axes.annotate(
        f"median {facts['median']:,.0f}",
        (max(facts["upper quartile"], facts["median"]), top),
        (4, 0),
        textcoords="offset points",
        va="center",
        fontsize=7.5,
    )
    axes.set(xlabel="tokens", ylabel=statistic.of, ylim=(0, 1.16 * max(counts)), xlim=(min(low), max(low) + width))
    if is_open[-1]:
        ends = f"{low[-1]:,} and more"
        axes.annotate(ends, (low[-1] + width, counts[-1]), (0, 3), textcoords="offset points", ha="right", fontsize=7)
    axes.xaxis.set_major_formatter(thousands)
    whole_numbers(axes, "y")
    grid(axes, "y")
    return figure


def _bars(axes: "Axes", values: Sequence[float | None], colour: str, hatch: str = "") -> None:
    axes.barh(range(len(values)), [value or 0 for value in values], color=colour, hatch=hatch, **BAR)
    most = max([value or 0 for value in values], default=0)
    for row, value in enumerate(values):
        axes.annotate(
            f"{value or 0:,}", (value or 0, row), (3, 0), textcoords="offset points", va="center", fontsize=7.5
        )
    axes.set_xlim(0, 1.2 * (most or 1))
    whole_numbers(axes, "x", 4)
    grid(axes)


def papers_and_reviews(statistic: Statistic) -> "Figure":
    """Two columns of bars, a row a conference."""
    table = statistic.table.head(TOP)
    figure = new_figure(rows_height(table.height))
    left, right = figure.subplots(1, 2)
    labels = [name(one) for one in table["conference"]]
    _bars(left, table["papers"].to_list(), SKY)
    _bars(right, table["reviews"].to_list(), ORANGE, "////")
    name_rows(left, labels)
    name_rows(right, labels, shown=False)
    left.set_title("Papers")
    right.set_title("Reviews")
    return figure


def heat(
    axes: "Axes", cells: Sequence[Sequence[float | None]], texts: Sequence[Sequence[str]], columns: Sequence[str]
) -> None:
    """Cells shaded by their share of the greatest on [0, 1], with their numbers; nothing where nothing is known."""
    for row, shares in enumerate(cells):
        for place, share in enumerate(shares):
            size = {"width": 0.94, "height": 0.86}
            if share is not None:
                axes.add_patch(_cell(place, row, BLUE, 0.06 + 0.6 * share, **size))
            axes.text(place, row, texts[row][place], ha="center", va="center", fontsize=7.5, color=INK)
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set_xlim(-0.55, len(columns) - 0.45)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _cell(place: int, row: int, colour: str, alpha: float, *, width: float, height: float) -> Any:  # noqa: ANN401
    from matplotlib.patches import Rectangle

    return Rectangle((place - width / 2, row - height / 2), width, height, color=colour, alpha=alpha, linewidth=0)


def rebuttals(statistic: Statistic) -> "Figure":
    """A row a conference, a column a year."""
    table, shown = statistic.table, statistic.table["conference"].unique(maintain_order=True).to_list()[:TOP]
    named = table.filter(pl.col("conference").is_in(shown))["year"]
    columns = [*sorted(named.drop_nulls().unique().to_list())[-YEARS:], *([None] if named.null_count() else [])]
    found = {(row["conference"], row["year"]): row["rebuttals"] for row in table.iter_rows(named=True)}
    most = max(found.values()) or 1
    counts = [[found.get((one, year)) for year in columns] for one in shown]
    cells = [[None if count is None else count / most for count in row] for row in counts]
    texts = [["" if count is None else f"{count:,}" for count in row] for row in counts]
    figure = new_figure(rows_height(len(shown), 0.7))
    axes = figure.subplots()
    heat(axes, cells, texts, ["no year" if year is None else str(year) for year in columns])
    name_rows(axes, [name(one) for one in shown])
    return figure


def keywords(statistic: Statistic) -> "Figure":
    """Bars of submissions, and beside them points of the share accepted."""
    table = statistic.table
    figure = new_figure(rows_height(table.height))
    left, right = figure.subplots(1, 2, width_ratios=[1.2, 1])
    labels = [name(one) for one in table["keyword"]]
    _bars(left, table["submissions"].to_list(), SKY)
    name_rows(left, labels)
    left.set_title("Submissions")
    for row, (share, decided) in enumerate(table.select("share_accepted", "decided").iter_rows()):
        if share is None:
            right.text(0.02, row, "none decided", va="center", fontsize=7, color=SOFT)
            continue
        right.plot([0, share], [row, row], color=FAINT, linewidth=1)
        right.plot(share, row, marker="o", color=VERMILION, markeredgecolor=INK, markeredgewidth=0.5, markersize=5)
        text = f"{percent(share)} of {decided:,}"
        is_right = share > 0.6
        right.annotate(
            text,
            (share, row),
            (-6 if is_right else 6, 0),
            textcoords="offset points",
            va="center",
            ha="right" if is_right else "left",
            fontsize=7.5,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.8},
        )
    right.set_xlim(-0.02, 1.02)
    right.xaxis.set_major_formatter(whole_percent)
    name_rows(right, labels, shown=False)
    right.set_title("Accepted, of those decided")
    grid(right)
    return figure


GRADE_LOOKS: Mapping[str, tuple[str, str]] = dict(
    zip(
        GRADES,
        zip((BLUE, SKY, GREEN, YELLOW, ORANGE, PURPLE, PAPER), HATCHES, strict=True),
        strict=True,
    )
)


def grades(statistic: Statistic) -> "Figure":
    """One bar of shares a status."""
    table = statistic.table
    statuses = [status for status in STATUSES if status in table["status"].to_list()]
    figure = new_figure(rows_height(len(statuses), 1.35, 0.3))
    axes = figure.subplots()
    sums = dict(table.group_by("status").agg(pl.col("papers").sum()).iter_rows())
    found = {(status, grade): papers for status, grade, papers in table.iter_rows()}
    left = [0.0] * len(statuses)
    for grade, (colour, hatch) in GRADE_LOOKS.items():
        shares = [found.get((status, grade), 0) / sums[status] for status in statuses]
        if not any(shares):
            continue
        label = grade.replace("_", " ")
        axes.barh(range(len(statuses)), shares, left=left, color=colour, hatch=hatch, label=label, **BAR)
        left = [a + b for a, b in zip(left, shares, strict=True)]
    labels = [f"{status.replace('_', ' ')}  (n = {sums[status]:,})" for status in statuses]
    name_rows(axes, labels)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(whole_percent)
    figure.legend(loc="outside lower center", ncols=4, handlelength=2.2, handleheight=1.1)
    return figure


def turns(statistic: Statistic) -> "Figure":
    """A bar for each number of turns, parted by whether the authors answered."""
    table, figure = statistic.table, new_figure(2.7)
    axes = figure.subplots()
    places = table["turns"].to_list()
    answered = table["answered"].to_list()
    silent = [a - b for a, b in zip(table["conversations"].to_list(), answered, strict=True)]
    looks: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.6, "width": 0.7}
    axes.bar(places, answered, color=GREEN, label="the authors answered", **looks)
    axes.bar(places, silent, bottom=answered, color=PAPER, hatch="////", label="they did not", **looks)
    for place, total in zip(places, table["conversations"].to_list(), strict=True):
        axes.annotate(f"{total:,}", (place, total), (0, 2), textcoords="offset points", ha="center", fontsize=7)
    labels = [f"{place}+" if place == MOST_TURNS else str(place) for place in places]
    axes.set_xticks(places, labels)
    axes.set(xlabel="turns of a conversation", ylabel="conversations")
    axes.margins(y=0.12)
    whole_numbers(axes, "y")
    axes.legend(loc="upper right")
    grid(axes, "y")
    return figure


def set_aside(statistic: Statistic) -> "Figure":
    """A bar for each stage and reason."""
    table = statistic.table.head(REASONS)
    figure = new_figure(rows_height(table.height, 0.7))
    axes = figure.subplots()
    _bars(axes, table["rows"].to_list(), ORANGE)
    words = table.select(pl.concat_str("stage", pl.lit(": "), "reason").str.replace_all("_", " ")).to_series()
    name_rows(axes, words.to_list())
    return figure


def completeness(statistic: Statistic) -> "Figure":
    """A row a venue; shares in cells."""
    table = statistic.table.head(VENUES)
    pairs = (
        ("papers_reviewed", "papers", "papers\nreviewed"),
        ("reviews_with_rating", "reviews", "reviews\nrated"),
        ("pdfs_here", "pdfs", "PDFs\nfetched"),
        ("papers_with_text", "papers", "initial\ntexts"),
    )
    cells, texts = [], []
    is_listed = table["listed_to_the_end"].count() > 0
    for row in table.iter_rows(named=True):
        shares = [row[part] / row[whole] if row[whole] else None for part, whole, _ in pairs]
        listed = {True: "yes", False: "no", None: "–"}[row["listed_to_the_end"]]
        cells.append([*shares, *[None] * is_listed])
        texts.append([*("–" if share is None else percent(share) for share in shares), *[listed] * is_listed])
    figure = new_figure(rows_height(table.height, 0.9, 0.22))
    axes = figure.subplots()
    heat(axes, cells, texts, [*(label for _, _, label in pairs), *["listed\nto the end"] * is_listed])
    labels = [f"{name(row['venue_id'])}  ({counted(row['papers'], 'papers')})" for row in table.iter_rows(named=True)]
    name_rows(axes, labels)
    return figure
