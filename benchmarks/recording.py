"""Runs a measurement and writes what it prints to `benchmarks/results`, from which docs/benchmarks.md is generated.

    python benchmarks/recording.py [--out FOLDER] NAME COMMAND...

runs a program whose measurement is described in NAME.json, which must be there; `benchmarks/run.py` records what it
measures by itself. What a program prints is its result: tables in Markdown, whose cells are typed here, and sentences.
The load is what other processes used of the processors in the same time.
"""

import argparse
import contextlib
import datetime
import io
import os
import platform
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from measured import RESULTS, Cell, Machine, Table, find_problems, read_result, settle, write_result

ROOT = Path(__file__).parents[1]
NUMBER = re.compile(r"-?[\d,]*\.?\d+")
AT_REST = 0.1
"""Cores that others use on average while a machine is called at rest."""


@dataclass(frozen=True, slots=True)
class Run:
    """The output of a run, and the load during it.

    Attributes:
        printed: All that it wrote to standard output.
        seconds: Of the clock.
        other_cores: Cores that other processes used on average.
    """

    printed: str
    seconds: float
    other_cores: float


def busy_seconds() -> float:
    """Return the processor time of the whole machine since its start; available on Linux only."""
    stat = Path("/proc/stat")
    if not stat.is_file():
        return 0.0
    ticks = [int(word) for word in stat.read_text(encoding="ascii").partition("\n")[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Return the processor time of this process and its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class _Tee(io.StringIO):
    """Keeps what is written, and shows it."""

    def write(self, text: str) -> int:
        """Write to both."""
        if sys.__stdout__ is not None:
            sys.__stdout__.write(text)
        return super().write(text)

    def flush(self) -> None:
        """Show what was written so far."""
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()


def watch(work: Callable[[], object]) -> Run:
    """Run something that prints its result."""
    kept, began, busy, own = _Tee(), time.monotonic(), busy_seconds(), own_seconds()
    with contextlib.redirect_stdout(kept):
        work()
    seconds = time.monotonic() - began
    others = max(0.0, busy_seconds() - busy - (own_seconds() - own)) / max(seconds, 1e-9)
    return Run(kept.getvalue(), seconds, round(others, 2))


def read_tables(printed: str) -> tuple[list[Table], list[str]]:
    r"""Return the tables of a text in Markdown, and its other lines.

    >>> tables, lines = read_tables("Two.\n\n| a | b |\n|---|---:|\n| x | **1,200** |\n| y | 50 % |\n")
    >>> tables[0].columns, tables[0].rows, lines
    (['a', 'b'], [['x', 1200], ['y', '50 %']], ['Two.'])
    """
    tables: list[Table] = []
    lines: list[str] = []
    inside = False
    for line in printed.splitlines():
        if line.startswith("|"):
            cells = [cell.strip().replace("**", "") for cell in line.strip().strip("|").split("|")]
            if not inside:
                tables.append(Table(columns=cells, rows=[]))
            elif not all(set(cell) <= set(":- ") and cell for cell in cells):
                tables[-1].rows.append([read_cell(cell) for cell in cells])
        elif line.strip():
            lines.append(line.strip())
        inside = line.startswith("|")
    for table in tables:
        _strip_percent(table)
    return tables, lines


def read_cell(text: str) -> Cell:
    """Return a cell as a number where it is one.

    >>> read_cell("1,277"), read_cell("0.40"), read_cell("-"), read_cell("1 / 2")
    (1277, 0.4, None, '1 / 2')
    """
    if text in {"", "–", "-"}:  # noqa: RUF001
        return None
    if not NUMBER.fullmatch(text):
        return text
    bare = text.replace(",", "")
    return float(bare) if "." in bare else int(bare)


def _strip_percent(table: Table) -> None:
    """Move the sign of per cent from the cells of a column to its name, where all have it."""
    for place, name in enumerate(table.columns):
        cells = [row[place] for row in table.rows if row[place] is not None]
        if cells and all(isinstance(cell, str) and re.fullmatch(rf"{NUMBER.pattern} ?%", cell) for cell in cells):
            table.columns[place] = f"{name}, %"
            for row in table.rows:
                row[place] = read_cell(str(row[place]).rstrip(" %")) if row[place] is not None else None


def find_machine() -> Machine:
    """Describe this machine in general words."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return Machine(
        cores=os.cpu_count() or 1,
        memory_gb=round(memory),
        processor=_find_processor(),
        system=platform.system(),
        python=platform.python_version(),
    )


def _find_processor() -> str:
    """Return the model's family without its number, such as "AMD EPYC, x86_64"."""
    cpuinfo = Path("/proc/cpuinfo")
    facts = cpuinfo.read_text(encoding="utf-8") if cpuinfo.is_file() else ""
    found = re.search(r"^model name\s*: (.+)$", facts, re.MULTILINE)
    words = re.sub(r"\((?:R|TM)\)|\bCPU\b|@.*", "", found[1]).split()[:2] if found else []
    return ", ".join([*([" ".join(words)] if words else []), platform.machine()])


def find_commit() -> str:
    """Return the commit that is checked out; "+" follows it where the code was changed since."""
    git = ["git", "-C", str(ROOT)]
    commit = subprocess.run([*git, "rev-parse", "--short=7", "HEAD"], capture_output=True, encoding="utf-8", check=True)
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "src"], check=False).returncode
    return commit.stdout.strip() + ("+" if changed else "")


def find_versions(names: Iterator[str]) -> dict[str, str]:
    """Return the installed versions of packages; those that are not installed are left out."""
    found = {}
    for name in names:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def record(name: str, run: Run, folder: Path = RESULTS) -> Path:
    """Replace the numbers of a described measurement by those of a run, and return its file.

    Raises:
        ValueError: The measurement is not described, or what was printed does not fit its description.
    """
    described = read_result(name, folder) or read_result(name)
    if described is None:
        raise ValueError(f"No file {name}.json describes this measurement; copy another one and change its words.")
    tables, lines = read_tables(run.printed)
    if not tables:
        raise ValueError(f"The measurement {name} printed no table.")
    for table, before in zip(tables, described.tables, strict=False):
        table.says = before.says
        table.peers, table.compared = before.peers, before.compared
    described.tables, described.lines, described.source = tables, lines, "run"
    described.minutes = round(run.seconds / 60, 1)
    described.other_cores = run.other_cores
    described.load = "at rest" if run.other_cores < AT_REST else "beside other work"
    described.date = datetime.datetime.now(datetime.UTC).date().isoformat()
    described.commit, described.machine = find_commit(), find_machine()
    described.versions |= find_versions(iter(described.versions))
    settle(described)
    problems = find_problems(described)
    if problems:
        write_result(name, described, folder / "unfit")
        raise ValueError(f"{name}: {'; '.join(problems)}; what was measured is in {folder / 'unfit'}")
    return write_result(name, described, folder)


def main() -> None:
    """Run a command and record what it prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of the file, without .json")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of the results")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    asked = parser.parse_args()

    def work() -> None:
        with subprocess.Popen(asked.command, stdout=subprocess.PIPE, encoding="utf-8") as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
        if process.returncode:
            raise SystemExit(f"{' '.join(asked.command)} failed.")

    print(f"Written: {record(asked.name, watch(work), asked.out)}")


if __name__ == "__main__":
    main()
