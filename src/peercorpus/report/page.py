"""Render a report as one HTML page; the page itself is `templates/report.html`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import NamedTuple

import jinja2
import polars as pl
from markupsafe import Markup

from peercorpus.corpus.html_pages import page_templates
from peercorpus.report.corpus_statistics import Statistic
from peercorpus.report.figure_style import FAINT, FORMATS, INK, PAPER, SOFT
from peercorpus.report.panels import Panel
from peercorpus.report.source import FilteredSource
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.untrusted_text import escape_and_cut

PAGE_NAME = "report.html"
_MAX_ROWS = 200
"""Maximum number of rows of a table on the page; the CSV file has all."""
_VARIABLES = {INK: "var(--ink)", SOFT: "var(--soft)", FAINT: "var(--faint)", PAPER: "var(--paper)"}
"""Colours of a figure and the page's variables that replace them, which differ for light and dark."""
_YEARS = frozenset({"year", "from", "to"})
"""Columns of years, which have no thousands separator."""


class Drawing(NamedTuple):
    """An SVG figure as part of the page.

    Attributes:
        view_box: Its `viewBox`.
        content: Everything after its first tag, including the closing tag.
    """

    view_box: str
    content: Markup


def inline_svg(svg: str, name: str) -> Drawing:
    """Return one of our figures in the colours of the page; `name` is prefixed to each id to keep ids unique."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.DOTALL)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<style[^>]*>.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", body)
    for colour, variable in _VARIABLES.items():
        body = re.sub(rf'(fill|stroke)="{colour}"', rf'style="\1: {variable}"', body)
        body = body.replace(colour, variable)
    head, _, content = body.partition(">")
    view_box = re.search(r'viewBox="([^"]+)"', head)
    # Written by Matplotlib, with all text as outlines or escaped.
    return Drawing(view_box[1] if view_box else "", Markup(content))


class Column(NamedTuple):
    """The head of a column."""

    name: str
    is_number: bool


class Cell(NamedTuple):
    """One value of a table, as text."""

    text: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    """The table below a figure.

    Attributes:
        more_rows: Number of rows that are only in the CSV file.
    """

    columns: list[Column]
    rows: list[list[Cell]]
    more_rows: int


def _format_cell(column: str, value: object) -> Cell:
    if column in _YEARS:
        return Cell("" if value is None else str(value), is_number=True)
    if value is None:
        return Cell("")
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, int):
        return Cell(f"{value:,}", is_number=True)
    if isinstance(value, float):
        return Cell(f"{value:,.3f}", is_number=True)
    return Cell(str(value))


def _make_numbers(table: pl.DataFrame) -> Numbers:
    """Return the columns of a table without its lists (such as densities), which only the CSV file has."""
    flat = table.select(name for name, kind in table.schema.items() if not isinstance(kind, pl.List))
    return Numbers(
        columns=[Column(name, kind.is_numeric()) for name, kind in flat.schema.items()],
        rows=[
            [_format_cell(column, value) for column, value in row.items()]
            for row in flat.head(_MAX_ROWS).iter_rows(named=True)
        ],
        more_rows=max(0, flat.height - _MAX_ROWS),
    )


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure with its numbers.

    Attributes:
        svg: The content of its SVG file.
    """

    panel: Panel
    statistic: Statistic
    svg: str

    @property
    def drawing(self) -> Drawing:
        """The figure as part of the page."""
        return inline_svg(self.svg, self.panel.name)

    @property
    def numbers(self) -> Numbers:
        """The table below the figure."""
        return _make_numbers(self.statistic.table)


def _count_totals(source: FilteredSource) -> Iterator[tuple[int, str]]:
    numbers = {
        "paper": source.papers.height,
        "venue": source.papers["venue_id"].n_unique(),
        "review": source.reviews.height,
        "conversation": source.talks.height,
    }
    for thing, number in numbers.items():
        yield number, plural(number, thing).partition(" ")[2]


@cache
def _load_templates() -> jinja2.Environment:
    return page_templates("peercorpus.report", lambda text: escape_and_cut(text).replace(" %", "\N{NO-BREAK SPACE}%"))


def report_page(source: FilteredSource, figures: Sequence[ShownFigure]) -> str:
    """Return the page as HTML."""
    return (
        _load_templates()
        .get_template(PAGE_NAME)
        .render(
            source=source,
            papers=plural(source.papers.height, "paper"),
            totals=list(_count_totals(source)),
            parts=[(part, list(members)) for part, members in groupby(figures, key=lambda figure: figure.panel.part)],
            formats=(*FORMATS, "csv"),
            pooled=source.warn_of_pooling(),
        )
    )
