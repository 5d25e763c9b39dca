"""Write a report: the page, each figure as PDF, SVG, PNG and CSV, and all numbers as JSON.

`compute_statistic` and `draw_figure` compute a single statistic or figure, for the Python interface.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from peercorpus.corpus.filters import parse_all
from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Executor
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.metrics.marked_share import Sample
from peercorpus.models.token_counts import load_token_counter
from peercorpus.records.enums import Role
from peercorpus.release.folder import MANIFEST, replace_folder
from peercorpus.release.table1 import DatasetCounts, DatasetRow, PaperFacts, make_row
from peercorpus.report.corpus_sources import ReleaseSource, WorkspaceSource
from peercorpus.report.corpus_statistics import Statistic
from peercorpus.report.figure_style import FORMATS, figure_bytes, styled
from peercorpus.report.model_statistics import read_model_texts
from peercorpus.report.page import PAGE_NAME, ShownFigure, report_page
from peercorpus.report.panels import FigureProfile, Panel, find_panel, select_panels
from peercorpus.report.source import RATING, CorpusSource, FilteredSource
from peercorpus.wording.counted_nouns import in_plural
from peercorpus.wording.untrusted_text import escape_csv_cell
from peercorpus.workspace.workspace import open_workspace

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NUMBERS = "numbers.json"
_CHECKSUMS = "checksums.json"
_DIGITS = 6
"""Decimals in CSV and JSON files; more would show rounding errors."""


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Counts of a written report.

    Attributes:
        papers: Number of papers that meet the conditions.
        every: Number of papers in the whole corpus.
        figures: Number of figures that show something.
        empty: Title of each other figure with nothing to draw, and the reason.
    """

    papers: int
    every: int
    figures: int
    empty: tuple[tuple[str, str], ...]


@contextmanager
def open_source(
    folder: Path,
    where: Iterable[str] = (),
    tokenizer: str | None = None,
    spread: Executor | None = None,
    by_venue: Executor | None = None,
) -> Iterator[FilteredSource]:
    """Open a workspace or a release, restricted to the papers that meet conditions.

    Args:
        folder: A workspace or a release.
        where: Conditions that papers must meet.
        tokenizer: Tokenizer for measuring lengths; None counts words and punctuation marks.
        spread: Executor for counting a tokenizer's tokens; None counts them in this process.
        by_venue: Executor for the other counts of a workspace's texts; None counts in this process.

    Raises:
        PeercorpusError: The folder is neither, a condition or the tokenizer does not exist, or no paper is chosen.
        TableError: The tables of the workspace have not been built, or have no paper.
    """
    conditions = parse_all(where)
    counter = load_token_counter(tokenizer, spread)
    if (folder / "raw.db").is_file():
        with open_workspace(folder, write=False) as workspace:
            source = FilteredSource(WorkspaceSource(workspace, counter, by_venue), conditions)
            source.require_papers()
            yield source
    elif (folder / MANIFEST).is_file():
        source = FilteredSource(ReleaseSource(folder, counter), conditions)
        source.require_papers()
        yield source
    else:
        raise PeercorpusError(
            f"'{folder}' is neither a workspace (raw.db) nor a release ({MANIFEST}); name a folder that 'peercorpus"
            " harvest' or 'peercorpus publish' wrote."
        )


def choose_papers(folder: Path, where: Iterable[str]) -> frozenset[str] | None:
    """Return the forum ids of the papers that meet conditions; None, for all papers, without a condition.

    Raises:
        PeercorpusError: As for `open_source`.
        TableError: As for `open_source`.
    """
    conditions = list(where)
    if not conditions:
        return None
    with open_source(folder, conditions) as source:
        return frozenset(source.papers["forum_id"])


def _read_model(path: Path | None) -> Sample | None:
    return None if path is None else read_model_texts(path)


def compute_statistic(
    folder: Path,
    name: str,
    where: Iterable[str] = (),
    tokenizer: str | None = None,
    model_texts: Path | None = None,
) -> Statistic:
    """Compute one statistic of a workspace or a release; the names are those of `PANELS`.

    Raises:
        PeercorpusError: As for `open_source`, or there is no such statistic, or `model_texts` cannot be read.
        TableError: The tables of the workspace have not been built.
    """
    (panel,) = select_panels([name], model=_read_model(model_texts))
    with open_source(folder, where, tokenizer) as source:
        return _compute(panel, source)


def _compute(panel: Panel, source: FilteredSource) -> Statistic:
    """Return a statistic whose method says if it pools venues with different rules."""
    computed = panel.statistic(source)
    return replace(computed, how=f"{computed.how} {source.warn_of_pooling(is_brief=True)}".rstrip())


def draw_figure(
    folder: Path,
    name: str,
    where: Iterable[str] = (),
    tokenizer: str | None = None,
    model_texts: Path | None = None,
) -> "Figure":
    """Draw one figure of a workspace or a release; save it with its method `savefig`.

    Raises:
        PeercorpusError: As for `compute_statistic`.
        TableError: As for `compute_statistic`.
        MissingExtraError: Matplotlib is not installed.
    """
    with styled():
        return find_panel(name).draw(compute_statistic(folder, name, where, tokenizer, model_texts))


def _to_csv_cells(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table as text cells: lists joined by ";", and no text that a spreadsheet would execute as a formula."""
    texts = pl.col(pl.String).map_elements(escape_csv_cell, return_dtype=pl.String)
    lists = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
    items = (pl.col(name).list.eval(pl.element().round(_DIGITS).cast(pl.String)).list.join(";") for name in lists)
    return table.with_columns(texts, *items)


def _write_panel(folder: Path, panel: Panel, computed: Statistic) -> ShownFigure:
    drawn = panel.draw(computed)
    contents = {kind: figure_bytes(drawn, kind) for kind in FORMATS}
    for kind, content in contents.items():
        (folder / f"{panel.name}.{kind}").write_bytes(content)
    _to_csv_cells(computed.table).write_csv(folder / f"{panel.name}.csv", float_precision=_DIGITS)
    return ShownFigure(panel, computed, contents["svg"].decode())


def _to_json(source: FilteredSource, shown: Sequence[ShownFigure]) -> str:
    panels = {
        item.panel.name: {
            "title": item.panel.title,
            "n": item.statistic.n,
            "of": in_plural(item.statistic.of),
            "drawn": item.panel.limited(item.statistic).n,
            "not_known": dict(item.statistic.unknown),
            "facts": {name: round(value, _DIGITS) for name, value in item.statistic.facts.items()},
            "says": item.statistic.says,
            "how": item.statistic.how,
        }
        for item in shown
    }
    conditions = [str(condition) for condition in source.conditions]
    report: dict[str, object] = {
        "source": source.name,
        "where": conditions,
        "tokens": source.tokens,
        "pooled": source.warn_of_pooling(),
        "figures": panels,
    }
    if any(item.panel.needs_points for item in shown):
        report["venues_with_points"] = source.point_venues
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def _count_files(source: FilteredSource, shown: Sequence[ShownFigure]) -> ReportFiles:
    empty = tuple((item.panel.title, item.statistic.why) for item in shown if item.statistic.why)
    return ReportFiles(source.papers.height, source.every, len(shown) - len(empty), empty)


def write_report(
    folder: Path,
    out: Path,
    where: Iterable[str] = (),
    tokenizer: str | None = None,
    show: Show = show_nothing,
    spread: Executor | None = None,
    figures: Iterable[str] = (),
    profile: FigureProfile = FigureProfile.PEERCORPUS,
    model_texts: Path | None = None,
    by_venue: Executor | None = None,
) -> ReportFiles:
    """Write a report of a workspace or a release; an earlier report in `out` is replaced as a whole, at the end.

    Args:
        folder: A workspace or a release.
        out: The folder to write.
        where: As for `open_source`.
        tokenizer: As for `open_source`.
        show: Receives the progress, figure by figure.
        spread: As for `open_source`.
        figures: Names of the figures to draw; empty means all of the profile.
        profile: The set of figures to draw.
        model_texts: Reviews written by a model, as read by `read_model_texts`; None gives only lower bounds.
        by_venue: As for `open_source`.

    Raises:
        PeercorpusError: As for `open_source`, `out` contains other files, a figure does not exist, or the model's
            texts cannot be read.
        MissingExtraError: Matplotlib is not installed.
    """
    named = tuple(figures)
    chosen = select_panels(named, profile, _read_model(model_texts))
    with (
        open_source(folder, where, tokenizer, spread, by_venue) as source,
        styled(),
        replace_folder(out, "a report", _CHECKSUMS) as partial,
    ):
        panels = [panel for panel in chosen if named or source.point_venues or not panel.needs_points]
        meter = Meter(source.name, "drawing figures", show)
        shown = []
        for done, panel in enumerate(panels, 1):
            computed = _compute(panel, source)
            shown.append(_write_panel(partial, panel, computed))
            meter.report(done, len(panels))
        (partial / PAGE_NAME).write_text(report_page(source, shown), encoding="utf-8")
        (partial / _NUMBERS).write_text(_to_json(source, shown), encoding="utf-8")
        return _count_files(source, shown)


def dataset_row(source: CorpusSource, name: str | None = None) -> DatasetRow:
    """Return a corpus's row in the form of Re²'s Table 1; the name defaults to that of the source."""
    counts = DatasetCounts()
    for row in _join_facts(source).iter_rows(named=True):
        counts.add(PaperFacts(**row))
    return make_row(name or source.name, counts, source.own_rows)


def _join_facts(source: CorpusSource) -> pl.DataFrame:
    """Return the fields of `PaperFacts` for each paper."""
    is_changed = pl.col("rating_initial") != pl.col("rating_final")
    worded = source.review_tokens.filter(pl.col("tokens") > 0).group_by("forum_id").agg(worded=pl.len())
    reviews = source.reviews.group_by("forum_id").agg(
        reviews=pl.len(),
        rated=RATING.count(),
        with_aspects=(pl.col("aspect_scores") > 0).sum(),
        compared=is_changed.count(),
        changed=is_changed.sum(),
    )
    spoken = source.turns.filter(role=Role.AUTHOR.value).select("conversation_id", "forum_id").unique()
    rebuttals = spoken.group_by("forum_id").agg(rebuttals=pl.len())
    papers = source.papers.select("forum_id", "venue_id", "conference", "year", "status")
    for counts in (worded, reviews, rebuttals):
        papers = papers.join(counts, on="forum_id", how="left", maintain_order="left")
    texts = source.paper_tokens.filter(pl.col("tokens") > 0).select("forum_id", "grade", has_text=pl.lit(value=True))
    papers = papers.join(texts, on="forum_id", how="left", maintain_order="left")
    return papers.with_columns(
        pl.col("worded", "reviews", "rated", "with_aspects", "compared", "changed", "rebuttals").fill_null(0),
        pl.col("has_text").fill_null(value=False),
        has_meta_review=pl.col("forum_id").is_in(source.meta_reviews["forum_id"].implode()),
    ).drop("forum_id")
