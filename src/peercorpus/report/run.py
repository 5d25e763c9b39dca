"""Opens what statistics are made of, and writes the report: a page, and each figure as PDF, SVG, PNG and CSV."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from peercorpus.errors import PeercorpusError
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.publish.csv_cells import as_cell
from peercorpus.publish.release import MANIFEST, releasing
from peercorpus.report.chosen import Chosen
from peercorpus.report.page import PAGE, Shown, page
from peercorpus.report.panels import PANELS, Panel, panel_of
from peercorpus.report.release_source import ReleaseSource
from peercorpus.report.statistic import Statistic
from peercorpus.report.style import FORMATS, styled, written
from peercorpus.report.tokens import tokens_of
from peercorpus.report.workspace_source import WorkspaceSource
from peercorpus.spread import Spread
from peercorpus.where import parse_all
from peercorpus.workspace import open_workspace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUMBERS, CHECKSUMS = "numbers.json", "checksums.json"
DIGITS = 6
"""After the point, in CSV files; what is behind them tells of rounding alone."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a report was written of.

    Attributes:
        papers: Those that meet the conditions, of `every`.
        empty: Titles of figures with nothing to draw, with why.
    """

    papers: int
    every: int
    figures: int
    empty: tuple[tuple[str, str], ...]


@contextmanager
def opened(
    folder: Path, where: Iterable[str] = (), tokenizer: str | None = None, spread: Spread | None = None
) -> Iterator[Chosen]:
    """The papers of a workspace or a release that meet conditions, with all that belongs to them.

    Tokens are counted here, or by the processes of `spread`.

    Raises:
        PeercorpusError: It is neither, or a condition is none, or there is no such tokenizer.
        TableError: The tables of the workspace are not built.
    """
    conditions, counting = parse_all(where), tokens_of(tokenizer, spread)
    if (folder / "raw.db").is_file():
        with open_workspace(folder, write=False) as workspace:
            yield Chosen(WorkspaceSource(workspace, counting), conditions)
    elif (folder / MANIFEST).is_file():
        yield Chosen(ReleaseSource(folder, counting), conditions)
    else:
        raise PeercorpusError(
            f"'{folder}' is neither a workspace (raw.db) nor a release ({MANIFEST}); name a folder that 'peercorpus"
            " harvest' or 'peercorpus publish' wrote."
        )


def statistic(folder: Path, name: str, where: Iterable[str] = (), tokenizer: str | None = None) -> Statistic:
    """One statistic of a workspace or a release; the names are those of `PANELS`.

    Raises:
        PeercorpusError: As `opened`, or there is no such statistic.
    """
    panel = panel_of(name)
    with opened(folder, where, tokenizer) as source:
        return panel.statistic(source)


def figure(folder: Path, name: str, where: Iterable[str] = (), tokenizer: str | None = None) -> "Figure":
    """One figure of a workspace or a release; save it with its own `savefig`.

    Raises:
        PeercorpusError: As `statistic`.
        MissingExtraError: Matplotlib is not installed.
    """
    with styled():
        return panel_of(name).draw(statistic(folder, name, where, tokenizer))


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    """A table as a CSV file has it: lists are texts, and no text is run as a formula."""
    texts = pl.col(pl.String).map_elements(as_cell, return_dtype=pl.String)
    lists = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
    items = (pl.col(name).list.eval(pl.element().round(DIGITS).cast(pl.String)).list.join(";") for name in lists)
    return table.with_columns(texts, *items)


def _write_panel(folder: Path, panel: Panel, made: Statistic) -> Shown:
    drawn, svg = panel.draw(made), b""
    for kind in FORMATS:
        content = written(drawn, kind)
        (folder / f"{panel.name}.{kind}").write_bytes(content)
        svg = content if kind == "svg" else svg
    _flat(made.table).write_csv(folder / f"{panel.name}.csv", float_precision=DIGITS)
    return Shown(panel, made, svg.decode())


def _numbers(source: Chosen, shown: Iterable[Shown]) -> str:
    panels = {
        one.panel.name: {
            "title": one.panel.title,
            "n": one.made.n,
            "of": one.made.of,
            "not_known": dict(one.made.unknown),
            "facts": {name: round(value, DIGITS) for name, value in one.made.facts.items()},
            "says": one.made.says,
            "how": one.made.how,
        }
        for one in shown
    }
    told = {"source": source.name, "where": [str(one) for one in source.conditions], "tokens": source.tokens}
    return json.dumps(told | {"figures": panels}, indent=1, ensure_ascii=False) + "\n"


def write_report(
    folder: Path,
    out: Path,
    where: Iterable[str] = (),
    tokenizer: str | None = None,
    show: Show = show_nothing,
    spread: Spread | None = None,
) -> Written:
    """Write a report of a workspace or a release; one that is in `out` is replaced, at the end and at once.

    Raises:
        PeercorpusError: As `opened`, or `out` holds other files.
        MissingExtraError: Matplotlib is not installed.
    """
    with opened(folder, where, tokenizer, spread) as source, styled(), releasing(out, "a report", CHECKSUMS) as partial:
        every, meter, shown = source.every, Meter(source.name, "report", show), []
        for done, panel in enumerate(PANELS.values(), 1):
            shown.append(_write_panel(partial, panel, panel.statistic(source)))
            meter.report(done, len(PANELS))
        (partial / PAGE).write_text(page(source, shown))
        (partial / NUMBERS).write_text(_numbers(source, shown))
        empty = tuple((one.panel.title, one.made.why) for one in shown if one.made.why)
        return Written(source.papers.height, every, len(shown), empty)
