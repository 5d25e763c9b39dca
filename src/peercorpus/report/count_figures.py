"""Draw the figures of counts: histograms, bars, and tables with shaded cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from peercorpus.report.corpus_statistics import GRADES, STATUSES, Statistic, percent
from peercorpus.report.figure_style import (
    BAR_STYLE,
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
    label_bars,
    name,
    name_rows,
    new_figure,
    rows_height,
    thousands,
    whole_numbers,
    whole_percent,
)
from peercorpus.report.review_statistics import MOST_TURNS
from peercorpus.wording.counted_nouns import in_plural, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BELOW_LABEL = 6
"""Number of last bars of a histogram that the label of the open one may cover."""
VENUES = 24
REASONS = 16
YEARS = 12
"""Maximum number of years, venues or reasons in a figure; the table has all."""


def keep_all(statistic: Statistic) -> Statistic:
    """Return the whole statistic, since the figure has room for all of it."""
    return statistic


def keep_first(statistic: Statistic, rows: int, counts: str) -> Statistic:
    """Return a statistic with only its first rows; `n` is the sum of their column `counts`."""
    table = statistic.table.head(rows)
    return replace(statistic, table=table, n=int(table[counts].sum()))


def keep_last_years(statistic: Statistic, conferences: int) -> Statistic:
    """Return the rebuttals of the first conferences in the last 12 years and without a year."""
    table = statistic.table
    shown = table["conference"].unique(maintain_order=True).to_list()[:conferences]
    table = table.filter(pl.col("conference").is_in(shown))
    years = sorted(table["year"].drop_nulls().unique().to_list())[-YEARS:]
    table = table.filter(pl.col("year").is_null() | pl.col("year").is_in(years))
    return replace(statistic, table=table, n=int(table["rebuttals"].sum()))


def empty(statistic: Statistic) -> "Figure":
    """Draw the reason why there is nothing to draw."""
    figure = new_figure(1.1)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.text(0.5, 0.5, statistic.why, ha="center", va="center", color=SOFT, wrap=True)
    return figure


def draw_histogram(statistic: Statistic) -> "Figure":
    """Draw bars between the bounds of the bins, the open bin hatched, with the quartiles above."""
    table = statistic.table
    figure = new_figure(2.6)
    axes = figure.subplots()
    low, high, counts = (table[column].to_list() for column in table.columns)
    width = next(b - a for a, b in zip(low, high, strict=True) if b is not None)
    is_open = [bound is None for bound in high]
    bars = axes.bar(low, counts, width=width, align="edge", color=SKY, edgecolor=INK, linewidth=0.5)
    for bar, opened in zip(bars, is_open, strict=True):
        bar.set(hatch="////" if opened else "", facecolor=PAPER if opened else SKY)
    top = 1.06 * max(counts)
    facts = statistic.facts
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
    axes.set(
        xlabel=statistic.unit,
        ylabel=in_plural(statistic.of),
        ylim=(0, 1.16 * max(counts)),
        xlim=(min(low), max(low) + width),
    )
    if is_open[-1]:
        ends = f"{low[-1]:,} and more"
        above = max(counts[-_BELOW_LABEL:])
        axes.annotate(ends, (low[-1] + width, above), (0, 3), textcoords="offset points", ha="right", fontsize=7)
    axes.xaxis.set_major_formatter(thousands)
    whole_numbers(axes, "y")
    grid(axes, "y")
    return figure


def _draw_bars(axes: "Axes", values: Sequence[float], colour: str, hatch: str = "") -> None:
    axes.barh(range(len(values)), values, color=colour, hatch=hatch, **BAR_STYLE)
    label_bars(axes, values, [f"{value:,}" for value in values])
    axes.set_xlim(0, 1.2 * (max(values, default=0) or 1))
    whole_numbers(axes, "x", 4)
    grid(axes)


def draw_papers_and_reviews(statistic: Statistic) -> "Figure":
    """Draw papers and reviews as two columns of bars, with a row for each conference."""
    table = statistic.table
    figure = new_figure(rows_height(table.height))
    left, right = figure.subplots(1, 2)
    labels = [name(conference) for conference in table["conference"]]
    _draw_bars(left, table["papers"].to_list(), SKY)
    _draw_bars(right, table["reviews"].to_list(), ORANGE, "////")
    name_rows(left, labels)
    name_rows(right, labels, shown=False)
    left.set_xlabel("papers")
    right.set_xlabel("reviews")
    return figure


def heat(
    axes: "Axes", cells: Sequence[Sequence[float | None]], texts: Sequence[Sequence[str]], columns: Sequence[str]
) -> None:
    """Draw a table of cells with their texts, each shaded by its value on [0, 1]; None leaves a cell unshaded."""
    for row, shares in enumerate(cells):
        for column, share in enumerate(shares):
            if share is not None:
                axes.add_patch(_make_shaded_cell(column, row, share))
            axes.text(column, row, texts[row][column], ha="center", va="center", fontsize=7.5, color=INK)
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set_xlim(-0.55, len(columns) - 0.45)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _make_shaded_cell(column: int, row: int, share: float) -> Any:  # noqa: ANN401 -- Matplotlib has no types
    from matplotlib.patches import Rectangle

    width = 0.94
    height = 0.86
    corner = (column - width / 2, row - height / 2)
    return Rectangle(corner, width, height, color=BLUE, alpha=0.06 + 0.6 * share, linewidth=0)


def draw_rebuttals(statistic: Statistic) -> "Figure":
    """Draw the number of rebuttals in a row for each conference and a column for each year."""
    table = statistic.table
    shown = table["conference"].unique(maintain_order=True).to_list()
    named = table["year"]
    columns = [*sorted(named.drop_nulls().unique().to_list()), *([None] if named.null_count() else [])]
    rebuttals = {(row["conference"], row["year"]): row["rebuttals"] for row in table.iter_rows(named=True)}
    most = max(rebuttals.values()) or 1
    counts = [[rebuttals.get((conference, year)) for year in columns] for conference in shown]
    cells = [[None if count is None else count / most for count in row] for row in counts]
    texts = [["" if count is None else f"{count:,}" for count in row] for row in counts]
    figure = new_figure(rows_height(len(shown), 1.0))
    axes = figure.subplots()
    axes.set_xlabel("rebuttals, by the year that the venue names")
    heat(axes, cells, texts, ["no year" if year is None else str(year) for year in columns])
    name_rows(axes, [name(conference) for conference in shown])
    return figure


def draw_keywords(statistic: Statistic) -> "Figure":
    """Draw the submissions of each keyword as bars, and the share accepted as points."""
    table = statistic.table
    figure = new_figure(rows_height(table.height))
    left, right = figure.subplots(1, 2, width_ratios=[1.2, 1])
    labels = [name(keyword) for keyword in table["keyword"]]
    _draw_bars(left, table["submissions"].to_list(), SKY)
    name_rows(left, labels)
    left.set_xlabel("submissions")
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
    right.set_xlabel("share accepted, of those decided")
    grid(right)
    return figure


_GRADE_STYLES: Mapping[str, tuple[str, str]] = dict(
    zip(
        GRADES,
        zip((BLUE, SKY, GREEN, VERMILION, YELLOW, ORANGE, PURPLE, SKY, FAINT, PAPER), HATCHES, strict=True),
        strict=True,
    )
)


def draw_grades(statistic: Statistic) -> "Figure":
    """Draw the shares of the grades as one bar for each status."""
    table = statistic.table
    statuses = [status for status in STATUSES if status in table["status"].to_list()]
    figure = new_figure(rows_height(len(statuses), 1.35, 0.3))
    axes = figure.subplots()
    sums = dict(table.group_by("status").agg(pl.col("papers").sum()).iter_rows())
    papers_by = {(status, grade): papers for status, grade, papers in table.iter_rows()}
    left = [0.0] * len(statuses)
    for grade, (colour, hatch) in _GRADE_STYLES.items():
        shares = [papers_by.get((status, grade), 0) / sums[status] for status in statuses]
        if not any(shares):
            continue
        label = grade.replace("_", " ")
        axes.barh(range(len(statuses)), shares, left=left, color=colour, hatch=hatch, label=label, **BAR_STYLE)
        left = [a + b for a, b in zip(left, shares, strict=True)]
    labels = [f"{status.replace('_', ' ')}  (n = {sums[status]:,})" for status in statuses]
    name_rows(axes, labels)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(whole_percent)
    axes.set_xlabel("share of the papers of a status")
    figure.legend(loc="outside lower center", ncols=4, handlelength=2.2, handleheight=1.1)
    return figure


def draw_turns(statistic: Statistic) -> "Figure":
    """Draw a bar for each number of turns, split by whether the authors answered."""
    table = statistic.table
    figure = new_figure(2.7)
    axes = figure.subplots()
    turns = table["turns"].to_list()
    answered = table["answered"].to_list()
    silent = [total - count for total, count in zip(table["conversations"].to_list(), answered, strict=True)]
    style: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.6, "width": 0.7}
    axes.bar(turns, answered, color=GREEN, label="the authors answered", **style)
    axes.bar(turns, silent, bottom=answered, color=PAPER, hatch="////", label="they did not", **style)
    for number, total in zip(turns, table["conversations"].to_list(), strict=True):
        axes.annotate(f"{total:,}", (number, total), (0, 2), textcoords="offset points", ha="center", fontsize=7)
    labels = [f"{number}+" if number == MOST_TURNS else str(number) for number in turns]
    axes.set_xticks(turns, labels)
    axes.set(xlabel="turns of a conversation", ylabel="conversations")
    axes.margins(y=0.12)
    whole_numbers(axes, "y")
    axes.legend(loc="upper right")
    grid(axes, "y")
    return figure


def draw_set_aside(statistic: Statistic) -> "Figure":
    """Draw a bar for each stage and reason."""
    table = statistic.table
    figure = new_figure(rows_height(table.height, 1.0))
    axes = figure.subplots()
    _draw_bars(axes, table["rows"].to_list(), ORANGE)
    axes.set_xlabel("rows set aside")
    words = table.select(pl.concat_str("stage", pl.lit(": "), "reason").str.replace_all("_", " ")).to_series()
    name_rows(axes, words.to_list())
    return figure


def draw_completeness(statistic: Statistic) -> "Figure":
    """Draw a row for each venue, with shares in shaded cells."""
    table = statistic.table
    pairs = (
        ("papers_reviewed", "papers", "papers\nreviewed"),
        ("reviews_with_rating", "reviews", "reviews\nrated"),
        ("pdfs_here", "pdfs", "PDFs\nfetched"),
        ("papers_with_text", "papers", "papers\nwith text"),
    )
    cells, texts = [], []
    is_listed = table["listed_to_the_end"].count() > 0
    for row in table.iter_rows(named=True):
        shares = [row[part] / row[whole] if row[whole] else None for part, whole, _ in pairs]
        listed = {True: "yes", False: "no", None: "–"}[row["listed_to_the_end"]]
        cells.append([*shares, *[None] * is_listed])
        texts.append([*("–" if share is None else percent(share) for share in shares), *[listed] * is_listed])
    figure = new_figure(rows_height(table.height, 1.2, 0.22))
    axes = figure.subplots()
    axes.set_xlabel("per cent of what is known of the venue")
    heat(axes, cells, texts, [*(label for _, _, label in pairs), *["listed\nto the end"] * is_listed])
    labels = [f"{name(row['venue_id'])}  ({plural(row['papers'], 'paper')})" for row in table.iter_rows(named=True)]
    name_rows(axes, labels)
    return figure
