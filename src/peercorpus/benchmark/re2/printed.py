"""Read the tables printed in the Re² paper, and the differences between its protocol and ours."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from peercorpus.benchmark.cases import BenchTask


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


def printed_tables(task: BenchTask, *, is_judged: bool) -> Sequence[tuple[str, PrintedRows]]:
    """Return the printed tables of a task with their titles; with the judge's of discussions, if ours were judged.

    The paper has none for meta-reviews.
    """
    if task is BenchTask.META_REVIEW:
        return []
    paper = read_printed()
    rows: PrintedRows = getattr(paper, task.value)
    tables = [(f"Re²: {task}", rows)]
    return [*tables, ("Re²: judged, 1 to 10", paper.judge)] if is_judged and task is BenchTask.REBUTTAL else tables
