"""Makes docs/benchmarks.md of the files in `benchmarks/results`; every number on the page is from one of them."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

# Last, as the folder has modules with everyday names.
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from measured import Cell, Result, Stage, Target, load_results, number

BEGINNING = """\
How fast peercorpus is, how much memory it takes, and how often its rules are right. Each number is from a file in
[`benchmarks/results`](../benchmarks/results), which also has the whole tables, the sizes of the inputs and
what limits the measurement.
"""
EXPLANATION = """\
## How to read the numbers

- **Compare numbers within one file only.** They were measured in one run, one after the other. Most measurements
  shared the machine with other work, as the file says (`load`); processor time ("s CPU") then tells more than
  seconds of the clock, and ratios tell more than either.
- **Date and commit** are those of the code that was measured (`source` is `page` where the numbers were entered from
  an earlier page and have not been measured again).
- **Quality** was measured on recorded reviews, threads and PDFs that are not in the repository, or on invented ones
  that are. Where the same data were used to develop the rules, `limits` says so: expect less on other data.

## How to measure again

`python benchmarks/run.py NAME` repeats one measurement, prints its tables and replaces its file; `make docs` then
writes this page anew. `python benchmarks/recording.py NAME COMMAND…` does so for a program that takes arguments. A run
counts as at rest if other processes used less than a tenth of a core. Inputs that are not in the repository are named
by variables of the environment, which the modules in `benchmarks` describe.
"""
NONE = "\u2013"
"""The cell without a number: a dash."""


def benchmarks_lines(notice: str) -> Iterator[str]:
    """Yield the lines of the page.

    Raises:
        ValueError: A file of results is not valid; the message names it.
    """
    results = load_results()
    yield from ("# Benchmarks", "", notice, "", *BEGINNING.splitlines(), "")
    yield from ("## Targets", "", *_target_lines(results), "", *EXPLANATION.splitlines())


def link_result(name: str, result: Result) -> str:
    """Return a link to the file of a result."""
    return f"[{result.title}](../benchmarks/results/{name}.json)"


def _target_lines(results: Mapping[str, Result]) -> Iterator[str]:
    yield from ("| target | aimed at | measured | result | in |", "|---|---:|---:|---|---|")
    for stage in Stage:
        for name, result in results.items():
            for target in result.targets if result.stage is stage else ():
                aimed = f"{target.sense} {_with_unit(target.bound, target.unit)}"
                found = NONE if target.measured is None else _with_unit(target.measured, target.unit)
                yield f"| {target.says} | {aimed} | {found} | {_verdict(target)} | {link_result(name, result)} |"


def _verdict(target: Target) -> str:
    return {None: "not measured", True: "met", False: "**missed**"}[target.met]


def _with_unit(value: float, unit: str) -> str:
    return f"{show(value)}\u00a0{unit}" if unit else show(value)


def show(cell: Cell) -> str:
    r"""Return a cell as a page shows it.

    >>> show(1277), show(6.0), show(0.052), show([1.0, 3.0, 2.0]), show(None)
    ('1,277', '6', '0.052', '2', '\u2013')
    """
    if isinstance(cell, str):
        return cell
    value = number(cell)
    if value is None:
        return NONE
    return f"{value:,.0f}" if value == int(value) else f"{value:,}"
