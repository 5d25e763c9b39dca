"""Render rankings as Markdown, CSV and HTML."""

from collections.abc import Iterator, Sequence

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.leaderboard_render import RenderedTable, format_csv, render_page, render_tables
from peercorpus.benchmark.ranking import Ranking, Table

ORDERS = {
    BenchTask.ACCEPTANCE: "the one that was accepted above the one that was not",
    BenchTask.SCORES: "the one with the higher mean recommendation above the other",
}
"""The right order of two papers, by task."""
HEAD = ("ranked by", "in the right order", "pairs", "papers", "venues", "tied", "no order", "unscored", "not drawn")


def list_tables(tables: Sequence[Table]) -> list[RenderedTable]:
    """Return the rankings as tables of text."""
    return [_make_table(table) for table in tables]


def _make_table(table: Table) -> RenderedTable:
    protocol = table.protocol
    return RenderedTable(
        title=f"{protocol.task}, in pairs",
        above=[
            f"Share of pairs of papers of one venue and year in the right order ({ORDERS[protocol.task]}), ties"
            " counting half, with 95 % intervals over papers, * where some draws have no pair. Not counted are pairs"
            " that people do not order, answers without a score, and papers of large venues that were not drawn.",
            f"Split '{protocol.split}', release {protocol.release[:12]}, cases {protocol.cases[:12]}, prompts"
            f" {protocol.prompts}, {protocol.paper}.",
            *([table.pooled] if table.pooled else []),
            *([] if table.rankings else ["No two papers of one venue have an order."]),
        ],
        head=HEAD,
        rows=[_format_row(ranking) for ranking in table.rankings],
        below=[f"{ranking.name}: {ranking.says}" for ranking in table.rankings if ranking.says],
    )


def _format_row(ranking: Ranking) -> list[str]:
    share = ranking.concordance
    bounds = "" if share.low is None or share.high is None else f" [{share.low:.3f}, {share.high:.3f}]"
    return [
        ranking.name,
        f"{share.value:.3f}{bounds}{'*' if share.undefined else ''}",
        f"{ranking.pairs:,}",
        f"{share.papers:,}",
        f"{ranking.groups:,}",
        f"{ranking.tied:.1%}",
        f"{ranking.even:,}",
        f"{ranking.left_out:,}",
        f"{ranking.not_drawn:,}",
    ]


TITLE = "Papers in pairs"


def render_markdown(tables: Sequence[Table]) -> str:
    """Render all rankings as Markdown."""
    return render_tables(TITLE, list_tables(tables), [])


def render_html(tables: Sequence[Table]) -> str:
    """Render all rankings as one HTML page without scripts."""
    return render_page(TITLE, list_tables(tables), [])


COLUMNS = (
    *("task", "name", "value", "low", "high", "pairs", "papers", "venues", "tied", "without_order", "unscored"),
    *("not_drawn", "draws_without_it", "says", "split", "profile", "release", "cases", "prompts", "paper"),
)


def render_csv(tables: Sequence[Table]) -> str:
    """Render all rankings as CSV, one per line, unrounded."""
    return format_csv(COLUMNS, _csv_lines(tables))


def _csv_lines(tables: Sequence[Table]) -> Iterator[tuple[object, ...]]:
    for table in tables:
        protocol = table.protocol
        of_table = (
            protocol.split,
            protocol.profile,
            protocol.release,
            protocol.cases,
            protocol.prompts,
            protocol.paper,
        )
        for ranking in table.rankings:
            share = ranking.concordance
            yield (
                *(protocol.task, ranking.name, share.value, share.low, share.high, ranking.pairs, share.papers),
                *(ranking.groups, ranking.tied, ranking.even, ranking.left_out, ranking.not_drawn, share.undefined),
                *(ranking.says, *of_table),
            )
