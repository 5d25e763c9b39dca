"""What Re² printed, as data beside our own tables: never in one column with ours, as the protocols differ."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from peercorpus.benchmark.cases import BenchTask


@dataclass(frozen=True, slots=True)
class Printed:
    """A table that was printed.

    Attributes:
        columns: The names of the measures.
        rows: The model, and its numbers.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads((files("peercorpus.benchmark") / "published.toml").read_text("utf-8"))


def source() -> str:
    """Where the tables were printed."""
    return str(_read()["source"])


def differences() -> list[str]:
    """How that protocol differs from ours."""
    return list(_read()["differences"])


def printed(task: BenchTask, *, is_judged: bool) -> list[Printed]:
    """The tables of a task, with the judge's where ours was judged; which task that is of, we have not read."""
    titles = {task.value: f"Re²: {task}"}
    if is_judged:
        titles["judge"] = "Re²: judged, 1 to 10"
    return [_table(title, _read()[name]) for name, title in titles.items()]


def _table(title: str, told: dict[str, Any]) -> Printed:
    rows = tuple((str(name), tuple(map(float, numbers))) for name, *numbers in told["rows"])
    return Printed(title, tuple(told["columns"]), rows)
