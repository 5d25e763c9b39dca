"""Read and edit `reminders.tsv` of a workspace: a person's decisions on which of the authors' posts are reminders.

A line has the id of a post, `reminder` or `keep`, the day and a note, separated by tabs; the last two may be missing,
and "#" starts a comment line. `build` reads the file when it makes conversations, and it overrides the rule; a release
names it.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path

from peercorpus.corpus.takedown import read_utf8
from peercorpus.errors import PeercorpusError
from peercorpus.workspace.private_files import replace_file
from peercorpus.workspace.workspace import Workspace

LIST = "reminders.tsv"
_HEAD = "# post\tdecision (reminder, keep)\tdate\tnote"
_POST_ID = re.compile(r"[A-Za-z0-9_:./-]+")
_MAX_FIELDS = 4


class Verdict(StrEnum):
    """A person's decision on a post."""

    REMINDER = "reminder"
    """It is only a reminder: it is set aside, whatever the outcome of the rule."""
    KEEP = "keep"
    """It has content: it stays in its conversation, whatever the outcome of the rule."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of the file.

    Attributes:
        day: Day of the decision; None if the line does not state it.
        note: Reason; empty if the line does not state one.
    """

    post_id: str
    verdict: Verdict
    day: date | None = None
    note: str = ""


Decisions = Mapping[str, Decision]
"""Decisions by id of the post."""


def read_decisions(folder: Path) -> dict[str, Decision]:
    """Return the decisions of a workspace by post, in the order of the file; empty if there is no file.

    Raises:
        PeercorpusError: A line is not a decision, two lines contradict each other, or the file is not UTF-8.
    """
    path = folder / LIST
    decisions: dict[str, Decision] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(read_utf8(path).split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        decision = _parse_line(line)
        if isinstance(decision, str):
            raise PeercorpusError(
                f"Line {number} of '{path}' is not a decision: {decision}. Expected a post's id, 'reminder' or 'keep',"
                " a day and a note, separated by tabs; correct the line, or put a '#' before it."
            )
        before = decisions.get(decision.post_id)
        if before is not None and before.verdict is not decision.verdict:
            raise PeercorpusError(
                f"Lines {lines[decision.post_id]} and {number} of '{path}' contradict each other: '{decision.post_id}'"
                f" is '{before.verdict}' and '{decision.verdict}'. Delete one of them."
            )
        decisions[decision.post_id] = decision
        lines[decision.post_id] = number
    return decisions


def _parse_line(line: str) -> Decision | str:
    """Return the decision of a line, or a description of what is wrong with it."""
    fields = [field.strip() for field in line.split("\t")]
    if not 2 <= len(fields) <= _MAX_FIELDS:
        return f"it has {len(fields)} fields"
    post_id, verdict, day, note = (*fields, "", "")[:_MAX_FIELDS]
    if not _POST_ID.fullmatch(post_id):
        return "it does not begin with the id of a post"
    if verdict not in set(Verdict):
        return f"'{verdict}' is not a decision"
    try:
        decided_on = date.fromisoformat(day) if day else None
    except ValueError:
        return f"'{day}' is not a day (such as 2026-11-23)"
    return Decision(post_id, Verdict(verdict), decided_on, note)


def write_decisions(folder: Path, decided: Iterable[Decision], undone: Iterable[str] = ()) -> None:
    """Add decisions, replacing earlier ones on the same posts, and withdraw others; comment lines stay.

    Raises:
        PeercorpusError: As `read_decisions`; nothing is changed.
    """
    read_decisions(folder)
    path = folder / LIST
    new = {decision.post_id: decision for decision in decided}
    changed = {*new, *undone}
    kept = [
        line for line in read_utf8(path).split("\n") if line.strip() and line.partition("\t")[0].strip() not in changed
    ]
    replace_file(path, (*(() if kept else (_HEAD,)), *kept, *map(_format_line, new.values())))


def _format_line(decision: Decision) -> str:
    day = decision.day.isoformat() if decision.day else ""
    return "\t".join([decision.post_id, decision.verdict, day, " ".join(decision.note.split())]).rstrip("\t")


def count_verdicts(workspace: Workspace) -> Counter[Verdict]:
    """Return the number of decided posts of a workspace, by decision; raises as `read_decisions`."""
    return Counter(decision.verdict for decision in read_decisions(workspace.folder).values())


def digest_file(folder: Path) -> str | None:
    """Return the sha256 of the file, or None if there is none."""
    path = folder / LIST
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def digest_of_venue(workspace: Workspace, venue_id: str) -> str:
    """Return a digest of the decisions on a venue's posts, without notes and days, which affect no row; empty for none.

    Raises:
        PeercorpusError: As `read_decisions`.
    """
    decisions = read_decisions(workspace.folder)
    if not decisions:
        return ""
    batches = workspace.tables.batches("3-posts", venue_id, ["post_id"])
    here = {post_id for batch in batches for post_id in batch.column("post_id").to_pylist() if post_id in decisions}
    pairs = sorted((post_id, decisions[post_id].verdict.value) for post_id in here)
    return hashlib.sha256(json.dumps(pairs).encode()).hexdigest() if pairs else ""
