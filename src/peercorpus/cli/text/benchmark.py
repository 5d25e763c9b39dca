"""Texts of `bench`: where the tables are, what could not be answered, the order of papers, and how two runs differ."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import plural
from peercorpus.metrics.intervals import PairedDifference

if TYPE_CHECKING:
    from peercorpus.benchmark.ranking import Ranking, Table


def unanswered(notes: Sequence[str], errors: Mapping[str, int], *, is_whole: bool) -> Iterator[str]:
    """Yield notes, the errors with their counts, and the next step if cases are missing."""
    yield from notes
    for error, count in errors.items():
        yield f"Error, {count:,} times: {error}"
    if not is_whole:
        yield "Some cases have no answer: fix what the errors name and run the same command again to resume."


KEEP_ERRORS = "With --keep-errors these cases count as answers without a score."


def tables_written(folder: Path, logs: Path, name: str = "leaderboard") -> str:
    """Return where the tables are, and how to see each answer."""
    path = folder / f"{name}.md"
    return f"\nThe tables are {path}, .csv and .html; see each answer: inspect view --log-dir {logs}"


NO_PLOT = "The reliability plot is left out: it needs Matplotlib (pip install 'peercorpus[report]')."


def plot_written(path: Path, cases: str) -> str:
    """Return where the reliability plot of a table is."""
    return f"How well the probabilities of the cases {cases} hold: {path}"


def unusable_log(path: Path, *, is_log: bool) -> str:
    """Return why a log cannot be compared, and what to do."""
    if is_log:
        return f"The run in '{path}' is incomplete; run the same command again to complete it."
    return f"'{path}' is not a log of the benchmark; name a file of the folder given as --logs."


def compared(first: str, second: str, differences: Sequence[tuple[str, PairedDifference | str]]) -> str:
    """Return the differences of two runs, one metric a line; a metric that has none is listed with the reason."""
    lines = [f"{first} minus {second}, with 95 % interval and p-value of the paired bootstrap over papers:"]
    for name, result in differences:
        if isinstance(result, str):
            lines.append(f"  {name}: {result}")
            continue
        difference = result.difference
        lines.append(
            f"  {name}: {difference.value:+.4f} [{difference.low:+.4f}, {difference.high:+.4f}],"
            f" p = {result.p:.4f} ({difference.papers:,} papers)"
        )
    return "\n".join(lines)


def _ranked_line(ranking: "Ranking") -> str:
    share = ranking.concordance
    bounds = "" if share.low is None or share.high is None else f" [{share.low:.3f}, {share.high:.3f}]"
    star = "*" if share.undefined else ""
    pairs = f"{plural(ranking.pairs, 'pair')} of {plural(share.papers, 'paper')}, {plural(ranking.groups, 'venue')}"
    parts = [f"{pairs}; {ranking.tied:.1%} tied; {plural(ranking.even, 'pair')} without an order"]
    parts += [f"{plural(ranking.left_out, 'answer')} without a score left out"] if ranking.left_out else []
    parts += [f"{plural(ranking.not_drawn, 'paper')} of large venues not drawn"] if ranking.not_drawn else []
    parts += [ranking.says] if ranking.says else []
    return f"  {ranking.name}: {share.value:.3f}{bounds}{star} ({'; '.join(parts)})"


ORDERS = {
    "acceptance": "the one that was accepted above the one that was not",
    "scores": "the one with the higher mean recommendation above the other",
}
"""What the right order of two papers is, by task."""


def ranked(tables: "Sequence[Table]") -> str:
    """Return how often each run puts two papers of one venue and year in the right order."""
    lines = []
    for table in tables:
        protocol = table.protocol
        lines.append(
            f"{protocol.task}: share of pairs of papers of one venue and year in the right order"
            f" ({ORDERS[protocol.task]}), ties counting half, with 95 % intervals over papers; side '{protocol.side}',"
            f" release {protocol.release[:12]}, cases {protocol.cases[:12]}, prompts {protocol.prompts},"
            f" {protocol.paper}:"
        )
        lines += [_ranked_line(ranking) for ranking in table.rankings] or [
            "  No two papers of one venue have an order."
        ]
    return "\n".join(lines) or "No complete run of 'acceptance' or 'scores' is there to rank papers by."


def changes_written(out: Path, papers: int, arms: Mapping[str, int], left_out: Mapping[str, int]) -> str:
    """Return where the changes of papers are, how many there are of each kind, and what is left out."""
    made = ", ".join(f"{arm} {count:,}" for arm, count in arms.items()) or "none"
    lines = [f"The changes of {papers:,} papers are in {out}. Papers by arm: {made}."]
    lines += [f"Left out, {what}: {count:,}" for what, count in sorted(left_out.items())]
    return "\n".join(lines)
