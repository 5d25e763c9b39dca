"""Makes docs/benchmarks.md of the files in `benchmarks/results`; every number on the page is from one of them."""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# Last, as the folder has modules with everyday names.
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from measured import Cell, Machine, Result, Stage, Table, Target, find_rows, load_results, number, round_off

BEGINNING = """\
How fast peercorpus is, how much memory it takes, and how often its rules are right. Each number is from a file in
[`benchmarks/results`](../benchmarks/results), which also has the sizes of the inputs and all that was printed.
"""
EXPLANATION = """\
## How to read the numbers

- **Compare numbers within one table only.** They were measured in one run, one after the other. Most measurements
  shared the machine with other work, as the line below each table says; processor time ("s CPU") then tells more than
  seconds of the clock, and ratios tell more than either.
- **Date and commit** are those of the code that was measured. "Entered from the output of" a commit means that the
  numbers were first written down in that commit and have not been measured again since.
- **Other software** is marked *other*. "Ours by it" divides our number by that of the other software.
- **A dash** means that there is no such number, or that nobody measured it.
- **Quality** was measured on recorded reviews, threads and PDFs that are not in the repository, or on invented ones
  that are. Where the same data were used to develop the rules, the footnote says so: expect less on other data.

## How to measure again

`python benchmarks/run.py NAME` repeats one measurement, prints its tables and replaces its file; `make docs` then
writes this page anew. `python benchmarks/recording.py NAME COMMAND…` does so for a program that takes arguments. A run
counts as at rest if other processes used less than a tenth of a core. Inputs that are not in the repository are named
by variables of the environment, which the modules in `benchmarks` describe.
"""
NONE = "\u2013"
"""The cell without a number: a dash."""
NOTES = {"run": "Measured on", "kept": "Measured on", "page": "Entered from the output of"}


def benchmarks_lines(notice: str) -> Iterator[str]:
    """Yield the lines of the page.

    Raises:
        ValueError: A file of results is not valid; the message names it.
    """
    results = load_results()
    yield from ("# Benchmarks", "", notice, "", *BEGINNING.splitlines(), "")
    yield from ("## Targets", "", *_target_lines(results.values()), "")
    yield from (*EXPLANATION.splitlines(), "", "## Machines", "", *_machine_lines(results.values()))
    for stage in Stage:
        of_stage = {name: result for name, result in results.items() if result.stage is stage}
        if of_stage:
            yield from ("", f"## {stage.value}")
        for name, result in of_stage.items():
            yield from ("", *_result_lines(name, result, _machines(results.values())))
    yield ""
    yield from (f"[^{name}]: {result.limits}" for name, result in results.items())


def _machines(results: Iterable[Result]) -> list[Machine]:
    """Return the different machines, that of the newest result first."""
    newest_first = sorted(results, key=lambda result: (result.date, result.source == "run"), reverse=True)
    return list(dict.fromkeys(result.machine for result in newest_first))


def _machine_lines(results: Iterable[Result]) -> Iterator[str]:
    yield from ("| machine | cores | memory, GB | processor | system | Python |", "|---|---:|---:|---|---|---|")
    for place, one in enumerate(_machines(results)):
        cells = (one.cores, one.memory_gb, one.processor, one.system, one.python)
        yield f"| {_letter(place)} | {' | '.join(map(str, cells))} |"


def _letter(place: int) -> str:
    return chr(ord("A") + place)


def slug(title: str) -> str:
    """Return the anchor of a heading.

    >>> slug("The model's texts, a share")
    'the-models-texts-a-share'
    """
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _target_lines(results: Iterable[Result]) -> Iterator[str]:
    yield from ("| target | aimed at | measured | result | in |", "|---|---:|---:|---|---|")
    for stage in Stage:
        for result in results:
            for target in result.targets if result.stage is stage else ():
                aimed = f"{target.sense} {_with_unit(target.bound, target.unit)}"
                found = NONE if target.measured is None else _with_unit(target.measured, target.unit)
                link = f"[{result.title}](#{slug(result.title)})"
                yield f"| {target.says} | {aimed} | {found} | {_verdict(target)} | {link} |"


def _verdict(target: Target) -> str:
    return {None: "not measured", True: "met", False: "**missed**"}[target.met]


def _with_unit(value: float, unit: str) -> str:
    return f"{show(value)}\u00a0{unit}" if unit else show(value)


def show(cell: Cell) -> str:
    r"""Return a cell as the page shows it.

    >>> show(1277), show(6.0), show(0.052), show([1.0, 3.0, 2.0]), show(None)
    ('1,277', '6', '0.052', '2', '\u2013')
    """
    if isinstance(cell, str):
        return cell
    value = number(cell)
    if value is None:
        return NONE
    return f"{value:,.0f}" if value == int(value) else f"{value:,}"


def _result_lines(name: str, result: Result, machines: list[Machine]) -> Iterator[str]:
    yield from (f"### {result.title}", "")
    minutes = f" (takes {show(result.minutes)} minutes)" if result.minutes else ""
    yield f"{result.measured}" + (f" Repeat it with `{result.command}`{minutes}." if result.command else "")
    for table in result.tables:
        if table.in_page:
            yield from ("", *([table.says, ""] if table.says else []), *_table_lines(table))
    if result.lines:
        yield from ("", " ".join(_sentence(line) for line in result.lines))
    yield from ("", f"{_provenance(result, _letter(machines.index(result.machine)))}[^{name}]")


def _sentence(line: str) -> str:
    return line if line[-1] in ".;:" else f"{line}."


def _provenance(result: Result, machine: str) -> str:
    load = f"load: {result.load}"
    if result.other_cores and result.load != "at rest":
        load += f" that used {show(result.other_cores)} of {result.machine.cores} cores"
    versions = "".join(f", {name} {version}" for name, version in result.versions.items())
    begin = f"{NOTES[result.source]} {result.date}" if result.source != "page" else NOTES["page"]
    commit = f"`{result.commit}`" + (f" ({result.date})" if result.source == "page" else "")
    of = f", {result.samples.shown} of {result.samples.n}" if result.samples.n > 1 else ""
    return f"*{begin}{' at' if result.source != 'page' else ''} {commit}, machine {machine}, {load}{of}{versions}.*"


def _table_lines(table: Table) -> Iterator[str]:
    ratio = [f"ours by it, {table.compared}"] if table.compared else []
    numeric = [all(not isinstance(row[place], str) for row in table.rows) for place in range(len(table.columns))]
    yield f"| {' | '.join([*table.columns, *ratio])} |"
    yield f"|{'|'.join([*('---:' if one else '---' for one in numeric), *('---:' for _ in ratio)])}|"
    for row in table.rows:
        peer = next((name for name in table.peers if row in find_rows(table, name)), None)
        cells = [show(cell) for cell in row]
        if peer is not None:
            cells[peer.count(" · ")] += " *(other)*"
        if ratio:
            cells.append("" if peer is None else _ratio(table, row, find_rows(table, table.peers[peer])[0]))
        yield f"| {' | '.join(cells)} |"


def _ratio(table: Table, theirs: list[Cell], ours: list[Cell]) -> str:
    column = table.columns.index(table.compared)
    above, below = number(ours[column]), number(theirs[column])
    return NONE if above is None or not below else show(round_off(above / below))
