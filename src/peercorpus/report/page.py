"""The report as one page that needs nothing else: no script, nothing fetched; names from data are only ever text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

import polars as pl

from peercorpus.audit.visible import visible
from peercorpus.report.chosen import Chosen
from peercorpus.report.page_style import STYLE
from peercorpus.report.panels import Panel
from peercorpus.report.statistic import Statistic, counted
from peercorpus.report.style import FAINT, FORMATS, INK, PAPER, SOFT

PAGE = "report.html"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
ROWS = 200
"""Rows of a table that the page shows; the CSV file has all."""
COLOURS = {INK: "var(--ink)", SOFT: "var(--soft)", FAINT: "var(--faint)", PAPER: "var(--paper)"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure with its numbers.

    Attributes:
        svg: As the file has it.
    """

    panel: Panel
    made: Statistic
    svg: str


def shown(text: str) -> str:
    r"""A text from outside as HTML shows it: markup is letters, control characters are written as escapes.

    >>> shown("<b>\u202e")
    '&lt;b&gt;\\u202e'
    """
    return escape(visible(text)).replace(" %", "&nbsp;%")


def inlined(svg: str, name: str, says: str) -> str:
    """A figure as a part of the page: in its colours, with ids of its own, and told in words."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.DOTALL)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<style[^>]*>.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", body)
    for colour, variable in COLOURS.items():
        body = re.sub(rf'(fill|stroke)="{colour}"', rf'style="\1: {variable}"', body)
        body = body.replace(colour, variable)
    head, _, rest = body.partition(">")
    view = re.search(r'viewBox="[^"]+"', head)
    return (
        f'<svg {view[0] if view else ""} role="img" aria-label="{says}" xmlns="http://www.w3.org/2000/svg"'
        f' xmlns:xlink="http://www.w3.org/1999/xlink">{rest}'
    )


def _cell(value: object) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, int | float):
        return f"<td class=number>{value:,}</td>" if isinstance(value, int) else f"<td class=number>{value:,.3f}</td>"
    return f"<td>{shown(str(value))}</td>"


def _table(table: pl.DataFrame) -> str:
    """The numbers; densities and the like, which are lists, are in the CSV file alone."""
    flat = table.select(name for name, kind in table.schema.items() if not isinstance(kind, pl.List))
    heads = "".join(
        f"<th{' class=number' if kind.is_numeric() else ''}>{shown(name.replace('_', ' '))}</th>"
        for name, kind in flat.schema.items()
    )
    years = {"year", "from", "to"}
    rows = "".join(
        f"<tr>{''.join(_year(one) if name in years else _cell(one) for name, one in row.items())}</tr>"
        for row in flat.head(ROWS).iter_rows(named=True)
    )
    more = f"<p class=quiet>{flat.height - ROWS:,} more rows are in the CSV file.</p>" if flat.height > ROWS else ""
    return f"<div class=scroll><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{more}"


def _year(value: object) -> str:
    return f"<td class=number>{'' if value is None else value}</td>"


def _figure(one: Shown) -> str:
    panel, made = one.panel, one.made
    files = " · ".join(f'<a href="{panel.name}.{kind}" download>{kind.upper()}</a>' for kind in (*FORMATS, "csv"))
    drawn = inlined(one.svg, panel.name, shown(f"{panel.title}: {made.shown}. {made.says}"))
    numbers = "" if made.why else f"<details><summary>The numbers</summary>{_table(made.table)}</details>"
    says = "" if made.why else f"<p>{shown(made.says)}</p>"
    return (
        f'<section id="{panel.name}"><h3>{shown(panel.title)}</h3>{says}'
        f"<figure>{drawn}<figcaption><p>{shown(panel.read)}</p>"
        f"<p class=quiet>{shown(made.how)}</p></figcaption></figure>"
        f"{numbers}<p class=files>{files}</p></section>"
    )


def _parts(panels: Sequence[Shown]) -> Iterator[tuple[str, list[Shown]]]:
    for part, held in groupby(panels, key=lambda one: one.panel.part):
        yield part, list(held)


def _contents(panels: Sequence[Shown]) -> str:
    def items(held: Sequence[Shown]) -> str:
        return "".join(f'<li><a href="#{one.panel.name}">{shown(one.panel.title)}</a></li>' for one in held)

    parts = "".join(f"<li>{shown(part)}<ul>{items(held)}</ul></li>" for part, held in _parts(panels))
    return f"<nav aria-label=Contents><ul>{parts}</ul></nav>"


def _head(source: Chosen) -> str:
    chosen = " and ".join(f"<code>{shown(str(one))}</code>" for one in source.conditions)
    few = f" of {source.every:,}, those with {chosen}" if chosen else ""
    numbers = (
        (source.papers.height, "papers"),
        (source.papers["venue_id"].n_unique(), "venues"),
        (source.reviews.height, "reviews"),
        (source.talks.height, "conversations"),
    )
    tiles = "".join(
        f"<li><b>{number:,}</b> {counted(number, things).partition(' ')[2]}</li>" for number, things in numbers
    )
    return (
        f"<header><h1>{shown(source.name)}</h1><p>Statistics of {counted(source.papers.height, 'papers')}{few}, drawn"
        " by peercorpus. Only what everyone may read is counted; what is not known is stated, never guessed.</p>"
        f"<ul class=tiles>{tiles}</ul></header>"
    )


def page(source: Chosen, panels: Sequence[Shown]) -> str:
    """The whole page."""
    body = "".join(f"<h2>{shown(part)}</h2>{''.join(map(_figure, held))}" for part, held in _parts(panels))
    title = f"Statistics of {shown(source.name)}"
    return (
        '<!doctype html>\n<html lang="en-GB"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{title}</title><style>{STYLE}</style></head>'
        f"<body>{_head(source)}{_contents(panels)}<main>{body}</main></body></html>\n"
    )
