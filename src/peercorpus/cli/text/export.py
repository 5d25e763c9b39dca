"""Texts of `export`: what each file contains, and what was left out and why."""

from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.finetune.other_trainers import STARTED, Trainer
from peercorpus.records.counted_nouns import plural

if TYPE_CHECKING:
    from peercorpus.release.exports.layouts import Exported


def exported(export: "Exported", out: Path) -> str:
    """Return what each file of an export contains, and what was left out and why."""
    lines = [f"The {export.wanted.layout} files are in {out}; its README.md says how to open them."]
    for file in export.files:
        rows, papers = plural(file.samples.rows, "row"), plural(file.samples.papers, "paper")
        lines.append(f"{file.name}: {rows} of {papers}" if file.samples.rows else f"{file.name}: not written, no rows")
        lines += [f"  left out {number:,}: {reason}" for reason, number in sorted(file.samples.left_out.items())]
        lines += [f"  {file.samples.cut:,} with a cut paper"] if file.samples.cut else []
        lines += [f"  {file.samples.unanswered:,} end before an unanswered message"] if file.samples.unanswered else []
        late = plural(file.samples.after_decision, "turn")
        lines += [f"  left out: {late} posted after the decision"] if file.samples.after_decision else []
    return "\n".join(lines)


def handed_over(folder: Path, trainer: Trainer) -> str:
    """Return where the files for another trainer are, and the command that starts it."""
    return (
        f"The training examples and settings are in {folder}, with a list of settings that are not carried over;"
        f" start there: {STARTED[trainer]}"
    )
