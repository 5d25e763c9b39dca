"""Texts of `report` and `explore`."""

from pathlib import Path

from peercorpus.records.counted_nouns import plural, verb
from peercorpus.report.page import PAGE_NAME
from peercorpus.report.write_report import ReportFiles


def report_written(written: ReportFiles, out: Path, *, is_filtered: bool) -> str:
    """Return what was drawn, what could not be drawn and why, and which page to open."""
    papers = plural(written.papers, "paper")
    if written.papers < written.every:
        papers = f"{written.papers:,} of {plural(written.every, 'paper')}"
    elif is_filtered and written.papers > 1:
        papers = f"all {papers}"
    number = len(written.empty)
    empty = f"; {plural(number, 'figure')} {verb(number, 'has', 'have')} nothing to draw:" if number else "."
    return "\n".join(
        [
            f"Drew {plural(written.figures, 'figure')} of {papers}{empty}",
            *(f"  '{title}': {reason}" for title, reason in written.empty),
            f"Open {out / PAGE_NAME} in a browser; the figures and their data are next to it.",
        ]
    )


def selection_written(papers: int, out: Path) -> str:
    """Return how many papers were written, and where."""
    return f"{plural(papers, 'paper')} in {out}"


def exposed(host: str) -> str:
    """Return the warning for an explorer that other machines can reach."""
    return f"WARNING: on '{host}' anyone who can reach this machine can read the whole corpus, without a password."


def serving(url: str) -> str:
    """Return where the explorer is."""
    return f"The corpus is at {url} until you press Ctrl-C."
