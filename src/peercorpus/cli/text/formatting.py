"""Format what all texts share: plurals, durations, sizes, progress lines, excerpts, the next command."""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from peercorpus.execution.progress import Progress
from peercorpus.records.reviews import Conversation, Turn
from peercorpus.wording.counted_nouns import plural

EXCERPT_CHARACTERS = 240
"""Longest excerpt of a turn, in characters."""

_WIDEST_TABLE = 10_000
"""Width in columns that no table reaches, so that no cell is cut."""


def duration(seconds: float) -> str:
    """Return a duration in hours, minutes and seconds.

    >>> duration(4.2), duration(75), duration(7300)
    ('4 s', '1 min 15 s', '2 h 1 min')
    """
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"


def progress_line(progress: Progress) -> str:
    """Return one line on the progress of a step, with the time left if it is known and not over.

    >>> progress_line(Progress("V", "reading PDFs", 120, 400, 185.0))
    'V: reading PDFs 120 of 400, about 3 min 5 s left'
    """
    line = str(progress)
    if progress.eta_s is not None and progress.done != progress.total:
        line += f", about {duration(progress.eta_s)} left"
    return line


def excerpt(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_CHARACTERS else line[:EXCERPT_CHARACTERS].rsplit(" ", 1)[0] + " …"


def conversation_lines(conversation: Conversation) -> str:
    """Return a conversation in brief: who speaks, and the beginning of each turn."""
    lines = [f"The conversation with {conversation.reviewer} of {conversation.forum_id} ({conversation.venue_id}):"]
    for turn in conversation.turns:
        posts = f", {len(turn.post_ids)} posts merged" if len(turn.post_ids) > 1 else ""
        when = f"{turn.created_at:%Y-%m-%d}" if turn.created_at else "no date"
        lines.append(f"  {turn.role.value} ({when}{posts}): {excerpt(turn.text or _changes_of_form(turn))}")
    return "\n".join(lines)


def _changes_of_form(turn: Turn) -> str:
    """Return what the reviewer changed in the form at a turn without a post."""
    changed = [f"{change.field} {_number(change.before)} → {_number(change.after)}" for change in turn.score_changes]
    return "; ".join([*changed, turn.final_justification or ""]).strip("; ")


def _number(score: float | None) -> str:
    return "?" if score is None else f"{score:g}"


def size(size_bytes: int) -> str:
    """Return a size in kilobytes, from one megabyte on in megabytes, and from one gigabyte on in gigabytes.

    >>> size(45_600), size(4_560_000), size(2_500_000_000)
    ('46 kB', '5 MB', '2.5 GB')
    """
    if size_bytes < 1e6:
        return f"{size_bytes / 1e3:,.0f} kB"
    return f"{size_bytes / 1e6:,.0f} MB" if size_bytes < 1e9 else f"{size_bytes / 1e9:,.1f} GB"


def next_step(command: str, workspace: Path) -> str:
    """Return the command to type next, ready to paste.

    >>> next_step("build", Path("-a b"))
    "Next: peercorpus build -w './-a b'"
    """
    folder = f"./{workspace}" if str(workspace).startswith("-") else str(workspace)
    return f"Next: peercorpus {command} -w {shlex.quote(folder)}"


def next_steps(command: str, workspace: Path, *others: str) -> str:
    """Return the command to type next, ready to paste, and the names of others that one may want, on one line.

    >>> next_steps("status", Path("corpus"), "explore", "report")
    'Next: peercorpus status -w corpus (or explore, report)'
    """
    return f"{next_step(command, workspace)} (or {', '.join(others)})"


def align(rows: Iterable[Sequence[str]], texts: Collection[int]) -> list[str]:
    """Return rows as lines with aligned columns: those at the positions `texts` to the left, numbers to the right.

    >>> align([("venue", "papers"), ("V", "12")], {0})
    ['venue  papers', 'V          12']
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for row in rows:
        table.add_row(
            *(Text(cell, no_wrap=True, justify="left" if at in texts else "right") for at, cell in enumerate(row))
        )
    console = Console(width=_WIDEST_TABLE, color_system=None)
    with console.capture() as shown:
        console.print(table)
    return [line.rstrip() for line in shown.get().splitlines()]


def counts_by_kind(counts: Mapping[str, int]) -> str:
    """Return counts by kind, given in the plural; "nothing" if all are 0.

    >>> counts_by_kind({"papers": 1, "ai_reviews": 2}), counts_by_kind({"papers": 0})
    ('1 paper, 2 AI reviews', 'nothing')
    """
    named = ((kind.replace("ai_", "AI ").removesuffix("s"), count) for kind, count in counts.items() if count)
    return ", ".join(plural(count, kind) for kind, count in named) or "nothing"
