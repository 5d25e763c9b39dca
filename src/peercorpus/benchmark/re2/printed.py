"""Read the tables printed in the Re² paper, and the differences between its protocol and ours."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.tables import Table


@dataclass(frozen=True, slots=True)
class PrintedRows:
    """Rows of a printed table.

    Attributes:
        columns: Names of the measures.
        rows: Name of a model, then its numbers as printed, with the deviation after ±.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class PrintedPaper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tables printed in the paper.

    Attributes:
        source: The paper and its tables.
        differences: Differences between its protocol and ours, one sentence each.
        judge: The ratings of Table 5; the other attributes have the names of the tasks.
    """

    source: str
    differences: tuple[str, ...]
    acceptance: PrintedRows
    scores: PrintedRows
    review: PrintedRows
    rebuttal: PrintedRows
    judge: PrintedRows


@cache
def read_printed() -> PrintedPaper:
    """Read the printed tables."""
    text = (files("peercorpus.benchmark.re2") / "printed.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), PrintedPaper)


def printed_tables(task: BenchTask, *, is_judged: bool) -> list[Table]:
    """Return the printed tables of a task; with the judge's of discussions, if ours were judged.

    The paper has none for meta-reviews.
    """
    if task is BenchTask.META_REVIEW:
        return []
    parts: dict[str, PrintedRows] = {f"Re²: {task}": getattr(read_printed(), task.value)}
    if is_judged and task is BenchTask.REBUTTAL:
        parts["Re²: judged, 1 to 10"] = read_printed().judge
    return [
        Table(f"{title} (as printed; another protocol)", ["model", *printed.columns], printed.rows)
        for title, printed in parts.items()
    ]


def about_printed() -> Table:
    """Return the source of the printed numbers, and the differences in protocol."""
    above = [f"Source: {read_printed().source}.", "Not to be compared with ours number by number:"]
    return Table("About the printed tables", above=above, below=read_printed().differences)
