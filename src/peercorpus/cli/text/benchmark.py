"""Texts of `bench`: where the tables are, what could not be answered, the order of papers, and how two runs differ."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from peercorpus.installation import advise_install
from peercorpus.metrics.paired_intervals import PAIRED, PairedDifference
from peercorpus.records.counted_nouns import plural


def unanswered(notes: Sequence[str], errors: Mapping[str, int], *, is_whole: bool) -> Iterator[str]:
    """Yield notes, the errors with their counts, and the next step if cases are missing."""
    yield from notes
    for error, count in errors.items():
        yield f"Error, {plural(count, 'time')}: {error}"
    if not is_whole:
        yield "Some cases have no answer: fix what the errors name and run the same command again to resume."


KEEP_ERRORS = "With --keep-errors these cases count as answers without a score."


def tables_written(logs: Path, name: str = "leaderboard") -> str:
    """Return where the tables are, and how to see each answer."""
    path = logs / f"{name}.md"
    return f"\nThe tables are {path}, .csv and .html; see each answer: inspect view --log-dir {logs}"


def plot_left_out() -> str:
    """Return why there is no reliability plot, and what to do."""
    return f"The reliability plot is left out: it needs Matplotlib; {advise_install('report')}"


def plot_written(path: Path, cases: str) -> str:
    """Return where the reliability plot of a table is."""
    return f"Calibration of the probabilities of the cases {cases}: {path}"


def unusable_log(path: Path, *, is_log: bool) -> str:
    """Return why a log cannot be compared, and what to do."""
    if is_log:
        return f"The run in '{path}' is incomplete; run the same command again to complete it."
    return f"'{path}' is not a log of the benchmark; name a file of the folder given as --logs."


def compared(first: str, second: str, differences: Sequence[tuple[str, PairedDifference | str]]) -> str:
    """Return the differences of two runs, one metric a line; a metric that has none is listed with the reason."""
    lines = [f"{first} minus {second}, with {PAIRED}:"]
    for name, result in differences:
        if isinstance(result, str):
            lines.append(f"  {name}: {result}")
            continue
        bounds = "" if result.bounds is None else f" [{result.bounds[0]:+.4f}, {result.bounds[1]:+.4f}]"
        lines.append(f"  {name}: {result.value:+.4f}{bounds}, p = {result.p:.4f} ({plural(result.papers, 'paper')})")
    return "\n".join(lines)


NOTHING_TO_RANK = "No complete run of 'acceptance' or 'scores' is there to rank papers by."
