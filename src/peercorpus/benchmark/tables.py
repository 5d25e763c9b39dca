"""Tables of the benchmark, and how they are written: as Markdown, as one HTML page, and their numbers as CSV."""

import csv
import html
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from peercorpus.wording.untrusted_text import escape_csv_cell
from peercorpus.workspace.object_store import write_whole

NONE = "-"
"""Cell without a number."""
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;"
    "background:#fff}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.85rem}"
    "th,td{padding:.3rem .6rem;border-bottom:1px solid #ccc;text-align:left;white-space:nowrap}"
    ".wide{overflow-x:auto}li,p{color:#444;overflow-wrap:anywhere}"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#eee}li,p{color:#bbb}th,td{border-color:#444}}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
NOT_IN_TABLES = "Not in the tables"


@dataclass(frozen=True, slots=True)
class Table:
    """A table as text.

    Attributes:
        above: Sentences above it.
        keys: Explanations of single values, listed after these sentences.
        below: Sentences listed below it.
    """

    title: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    above: Sequence[str] = ()
    keys: Sequence[str] = ()
    below: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables under one title, and the numbers in them.

    Attributes:
        columns: Head of the numbers as CSV.
        numbers: Their rows, unrounded.
        notes: What is in none of the tables, and why.
    """

    title: str
    tables: Sequence[Table]
    columns: Sequence[str]
    numbers: Sequence[Sequence[object]]
    notes: Sequence[str] = ()

    def to_markdown(self) -> str:
        """Return all tables as Markdown."""
        lines = [f"# {self.title}"]
        for table in self.tables:
            lines += ["", f"## {table.title}", "", *table.above, ""]
            lines += [*(f"- {sentence}" for sentence in table.keys), ""] if table.keys else []
            rows = [table.head, ["---"] * len(table.head), *table.rows] if table.rows else []
            lines += [*map(_format_bar, rows), ""] if rows else []
            lines += [f"- {sentence}" for sentence in table.below]
        if self.notes:
            lines += ["", f"## {NOT_IN_TABLES}", "", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def to_html(self) -> str:
        """Return all tables as one HTML page without scripts."""
        sections = [*map(_render_section, self.tables)]
        left_out = f"<section><h2>{NOT_IN_TABLES}</h2>{_render_list(self.notes)}</section>" if self.notes else ""
        body = "\n".join(sections)
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport"'
            f' content="width=device-width,initial-scale=1"><meta http-equiv="Content-Security-Policy"'
            f' content="{POLICY}"><title>{self.title}</title><style>{STYLE}</style></head><body><main>'
            f"<h1>{self.title}</h1>\n{body}\n{left_out}</main></body></html>\n"
        )

    def to_csv(self) -> str:
        """Return the numbers as CSV, in which no text is a formula."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for line in self.numbers:
            writer.writerow([escape_csv_cell(value) if isinstance(value, str) else value for value in line])
        return text.getvalue()

    def write(self, folder: Path, name: str, *, page: bool = True) -> None:
        """Write the tables to files of a name, each whole or not at all; the HTML page only if `page` is set."""
        texts = {"md": self.to_markdown(), "csv": self.to_csv()} | ({"html": self.to_html()} if page else {})
        for kind, text in texts.items():
            write_whole(folder / f"{name}.{kind}", text.encode())


def _format_bar(cells: Sequence[str]) -> str:
    shown = (html.escape(" ".join(cell.split()), quote=False).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(shown)} |"


def _render_list(sentences: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(sentence)}</li>' for sentence in sentences)}</ul>"


def _render_section(table: Table) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    above = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in table.above)
    above += _render_list(table.keys) if table.keys else ""
    rows = "\n".join(line(row, "td") for row in table.rows)
    head = f"<thead>{line(table.head, 'th')}</thead>"
    grid = f'<div class="wide" tabindex="0"><table>{head}<tbody>\n{rows}\n</tbody></table></div>' if table.rows else ""
    return f"<section><h2>{html.escape(table.title)}</h2>{above}{grid}{_render_list(table.below)}</section>"
