"""Results of measurements: the JSON files in `benchmarks/results`, from which docs/benchmarks.md is generated.

A file has a description, which people write once (title, stage, what is measured, targets, limits), and what a run of
its command replaces: tables, date, commit, machine, load, versions. `recording.py` writes the second part.
"""

import math
import statistics
from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

RESULTS = Path(__file__).with_name("results")

Cell = float | int | str | list[float] | None
"""One cell of a table: a number, a text, nothing, or all samples of a number, whose median is shown."""


class Stage(StrEnum):
    """The part of the product that was measured, in the order of the page; the value is the heading there."""

    HARVEST = "Harvest"
    BUILD = "Build"
    PDFS = "PDFs"
    VERSIONS = "Versions"
    CONVERSATIONS = "Conversations"
    POINTS = "Points"
    LINKS = "Links"
    PUBLISH = "Publish and verify"
    REPORT = "Report"
    EXPLORER = "Explorer"
    SITE = "Site"
    BENCHMARK = "Benchmark and metrics"
    TUNING = "Fine-tuning"
    WHOLE = "All stages"
    FAULTS = "Kills and hostile texts"


class Machine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The machine in general words.

    Attributes:
        cores: That the measurement could use.
        memory_gb: Of the machine.
        processor: Kind of processor; "not recorded" where nobody wrote it down.
        system: Operating system.
        python: Version of CPython.
    """

    cores: int
    memory_gb: int
    processor: str
    system: str
    python: str


class Samples(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often each number was measured, and which one is shown: "the only one", "the best", "the median", …."""

    n: int
    shown: str


class Place(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number in the tables.

    Attributes:
        table: Index of the table.
        row: The first cells of the row, joined by " · "; empty for all rows, of which the worst counts.
        column: Name of the column.
    """

    row: str
    column: str
    table: int = 0


class Target(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A target, and whether it is met.

    Attributes:
        says: The target in words, without its number.
        sense: On which side of the bound the target is met.
        bound: The number to reach.
        unit: Of bound and number; empty for a ratio or a share.
        of: Where the measured number is in the tables; None where it was entered by hand.
        by: Place whose number divides that of `of`.
        less: Place whose number is taken from that of `of`.
        measured: The number to compare with the bound; None if it was not measured.
        met: Whether it is met; None if it was not measured.
    """

    says: str
    sense: Literal["at most", "at least"]
    bound: float
    unit: str = ""
    of: Place | None = None
    by: Place | None = None
    less: Place | None = None
    measured: float | None = None
    met: bool | None = None


class Table(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One table.

    Attributes:
        says: A sentence above it; may be empty.
        columns: Names, with their units.
        rows: As many cells each as there are columns.
        peers: Rows that measure other software, each with our row for the same work, both named as `Place` does.
        compared: Column by which our row is divided by the other's; empty where the table has the ratio already.
    """

    columns: list[str]
    rows: list[list[Cell]]
    says: str = ""
    peers: dict[str, str] = {}
    compared: str = ""


class Result(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One measurement.

    Attributes:
        title: Its heading.
        stage: What it measures.
        measured: One or two sentences: what was measured, on which inputs.
        command: What repeats it, from the root of the repository; empty where nothing does.
        minutes: What the command took; None if not recorded.
        date: Of the measurement; of the commit that wrote the numbers down where `source` is "page".
        commit: The code that was measured; the commit that wrote the numbers down where `source` is "page".
        source: "run" where `recording.py` wrote the numbers, "kept" where a program's own result file is committed,
            "page" where they were entered from the printed output.
        machine: On which machine.
        load: Whether other processes worked on the machine at the same time.
        other_cores: Cores that other processes used on average; None if not recorded.
        versions: Of the software measured beside ours, and of libraries that do the work.
        inputs: Sizes.
        samples: How often.
        tables: What came out.
        lines: Sentences that the program printed beside its tables.
        targets: What was aimed at.
        limits: One or two sentences: what the numbers do not show, and what limits them.
    """

    title: str
    stage: Stage
    measured: str
    command: str
    date: str
    commit: str
    source: Literal["run", "kept", "page"]
    machine: Machine
    load: Literal["at rest", "beside other work", "not recorded"]
    samples: Samples
    limits: str
    minutes: float | None = None
    other_cores: float | None = None
    versions: dict[str, str] = {}
    inputs: dict[str, int | float | str] = {}
    tables: list[Table] = []
    lines: list[str] = []
    targets: list[Target] = []


def load_results(folder: Path = RESULTS) -> dict[str, Result]:
    """Return the results by the names of their files.

    Raises:
        ValueError: A file is not a result, or not whole; the message names it.
    """
    results = {}
    for path in sorted(folder.glob("*.json")):
        result = read_result(path.stem, folder)
        if result is not None:
            results[path.stem] = result
            if problems := find_problems(result):
                raise ValueError(f"{path.name}: {'; '.join(problems)}")
    return results


def read_result(name: str, folder: Path = RESULTS) -> Result | None:
    """Return one result, even if it is incomplete; None without a file.

    Raises:
        ValueError: The file is not a result; the message names it.
    """
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Result)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path.name}: {error}") from error


def write_result(name: str, result: Result, folder: Path = RESULTS) -> Path:
    """Write one result, and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    return path


def number(cell: Cell) -> float | None:
    """Return the number of a cell, of samples their median; None where there is none.

    >>> number([3.0, 1.0, 2.0]), number("all"), number(5)
    (2.0, None, 5)
    """
    if isinstance(cell, list):
        return statistics.median(cell)
    return None if cell is None or isinstance(cell, str) else cell


def row_name(row: list[Cell], cells: int) -> str:
    """Return the first cells of a row as a `Place` names it.

    >>> row_name(["acceptance", 1000, "loop", 1.8], 2)
    'acceptance · 1000'
    """
    return " · ".join("" if cell is None else str(cell) for cell in row[:cells])


def find_rows(table: Table, name: str) -> list[list[Cell]]:
    """Return the rows of a name; all rows for an empty one."""
    cells = name.count(" · ") + 1
    return [row for row in table.rows if name in ("", row_name(row, cells))]


def find_numbers(tables: list[Table], place: Place) -> list[float]:
    """Return the numbers at a place; none if there is no such table, column or row."""
    table = tables[place.table] if place.table < len(tables) else None
    if table is None or place.column not in table.columns:
        return []
    column = table.columns.index(place.column)
    found = (number(row[column]) for row in find_rows(table, place.row))
    return [value for value in found if value is not None]


def compute(target: Target, tables: list[Table]) -> float | None:
    """Return the number of a target from the tables, of several the worst; None where it is not there."""
    if target.of is None:
        return target.measured
    numbers = find_numbers(tables, target.of)
    if target.by is not None:
        divisors = find_numbers(tables, target.by)
        numbers = [value / divisors[0] for value in numbers] if divisors else []
    if target.less is not None:
        taken = find_numbers(tables, target.less)
        numbers = [value - taken[0] for value in numbers] if taken else []
    if not numbers:
        return None
    return round_off(max(numbers) if target.sense == "at most" else min(numbers))


def round_off(value: float) -> float:
    """Return a number with three digits, or all of those before the point.

    >>> round_off(1.68423), round_off(2022.4), round_off(0.05213)
    (1.68, 2022.0, 0.0521)
    """
    if value == 0 or abs(value) >= 1_000:
        return float(round(value))
    return round(value, 2 - math.floor(math.log10(abs(value))))


def is_met(target: Target) -> bool | None:
    """Return whether the measured number reaches the bound."""
    if target.measured is None:
        return None
    return target.measured <= target.bound if target.sense == "at most" else target.measured >= target.bound


def settle(result: Result) -> None:
    """Compute the numbers of the targets, and whether they are met."""
    for target in result.targets:
        target.measured = compute(target, result.tables)
        target.met = is_met(target)


def find_problems(result: Result) -> list[str]:
    """Return what is wrong with a result beyond its types."""
    texts = {"title": result.title, "measured": result.measured, "limits": result.limits, "date": result.date}
    problems = [f"'{name}' is empty" for name, text in texts.items() if not text]
    if result.source == "run" and not result.command:
        problems.append("a run without a command")
    for index, table in enumerate(result.tables):
        if any(len(row) != len(table.columns) for row in table.rows):
            problems.append(f"table {index} has a row that is not as long as its heading")
        absent = [name for pair in table.peers.items() for name in pair if not find_rows(table, name)]
        if absent:
            problems.append(f"table {index} has no row {absent}")
        if table.compared and table.compared not in table.columns:
            problems.append(f"table {index} has no column '{table.compared}'")
    return problems + [
        f"the target '{target.says}' does not follow from the tables"
        for target in result.targets
        if target.measured != compute(target, result.tables) or target.met != is_met(target) or _is_lost(target)
    ]


def _is_lost(target: Target) -> bool:
    """Whether the number of a target should be in the tables and is not."""
    return target.of is not None and target.measured is None
