"""Texts of `export`: what each file contains, and what was left out and why."""

from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import counts_by_kind
from peercorpus.finetune.other_trainers import STARTED, Trainer
from peercorpus.records.counted_nouns import plural

if TYPE_CHECKING:
    from peercorpus.release.exports.layouts import Exported
    from peercorpus.release.exports.workspace_export import WorkspaceExport


def exported(export: "Exported", out: Path) -> str:
    """Return what each file of an export contains, and what was left out and why."""
    lines = [f"The {export.wanted.layout} files are in {out}; its README.md says how to open them."]
    for file in export.files:
        rows, papers = plural(file.samples.rows, "row"), plural(file.samples.papers, "paper")
        tokens = "" if file.samples.tokens is None else f", {plural(file.samples.tokens, 'token')}"
        lines.append(
            f"{file.name}: {rows} of {papers}{tokens}" if file.samples.rows else f"{file.name}: not written, no rows"
        )
        lines += [f"  left out {number:,}: {reason}" for reason, number in sorted(file.samples.left_out.items())]
        lines += [f"  {file.samples.cut:,} with a cut paper"] if file.samples.cut else []
        lines += [f"  {file.samples.unanswered:,} end before an unanswered message"] if file.samples.unanswered else []
        lines += _after_decision(file.samples.after_decision)
    return "\n".join(lines)


def _after_decision(turns: int) -> list[str]:
    """Return the line on turns that were posted after the decision; empty if there are none."""
    return [f"  left out: {plural(turns, 'turn')} posted after the decision"] if turns else []


def workspace_exported(written: "WorkspaceExport", out: Path) -> str:
    """Return how many dialogues of a workspace were written, and what is not among them."""
    tokens = "" if written.tokens is None else f", {plural(written.tokens, 'token')}"
    number, messages = plural(written.dialogues, "dialogue"), plural(written.messages, "message")
    counted = f"{number} with {messages}{tokens} are in {out}."
    lines = [counted if written.dialogues else f"There is no dialogue to write; {out} is unchanged."]
    lines += [f"  left out {number:,}: {reason}" for reason, number in sorted(written.left_out.items())]
    lines += [f"  {written.cut:,} with a cut paper"] if written.cut else []
    lines += _after_decision(written.after_decision)
    lines += [f"  left out: taken down {counts_by_kind(written.taken_down)}"] if written.taken_down.total() else []
    for remedy in written.remedies:
        more = plural(remedy.dialogues, "dialogue")
        lines.append(f"With {remedy.options}, what was left out would make {more}.")
    return "\n".join(lines)


def handed_over(folder: Path, trainer: Trainer) -> str:
    """Return where the files for another trainer are, and the command that starts it."""
    return (
        f"The training examples and settings are in {folder}, with a list of settings that are not carried over;"
        f" start there: {STARTED[trainer]}"
    )
