"""Makes docs/benchmarks.md of the files in `benchmarks/results`; every number on the page is from one of them."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

# Last, as the folder has modules with everyday names.
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from measured import Cell, Result, Stage, load_results, number

BEGINNING = """\
Targets set beforehand. Each number links to its file, which has the whole tables, the date and commit of the code, the
sizes of the inputs and what limits the measurement. A number in bold missed its target.
"""
EXPLANATION = """\
## How to read the numbers

- **Compare numbers within one file only.** Most measurements shared the machine with other work (`load`): processor
  time then tells more than seconds of the clock, and ratios tell more than either.
- **Quality** was measured on recorded reviews, threads and PDFs that are not in the repository, or on invented ones
  that are. Where rules were developed on the same data, `limits` says so: expect less on other data.

`python benchmarks/run.py NAME` repeats a measurement and replaces its file; `python benchmarks/recording.py NAME
COMMAND…` does so for a program that takes arguments. `make docs` then writes this page. The modules in `benchmarks`
name the variables of the environment that point to inputs outside the repository.
"""
NONE = "\u2013"
"""The cell without a number: a dash."""
SIGNS = {"at least": "≥", "at most": "≤"}


def benchmarks_lines(notice: str) -> Iterator[str]:
    """Yield the lines of the page.

    Raises:
        ValueError: A file of results is not valid; the message names it.
    """
    results = load_results()
    yield from ("# Benchmarks", "", notice, "", *BEGINNING.splitlines(), "")
    yield from ("## Targets", "", *_target_lines(results), "", *EXPLANATION.splitlines())


def _target_lines(results: Mapping[str, Result]) -> Iterator[str]:
    yield from ("| target | aimed at | measured |", "|---|---:|---:|")
    for stage in Stage:
        for name, result in results.items():
            for target in result.targets if result.stage is stage else ():
                found = NONE if target.measured is None else _with_unit(target.measured, target.unit)
                linked = f"[{found}](../benchmarks/results/{name}.json)"
                shown = f"**{linked}**" if target.met is False else linked
                aimed = f"{SIGNS[target.sense]}\u00a0{_with_unit(target.bound, target.unit)}"
                yield f"| {target.says} | {aimed} | {shown} |"


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
