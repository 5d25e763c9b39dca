"""Texts of `check`: what is damaged in a workspace, what a repair did, and what to do next."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from peercorpus.pipeline.integrity import Damage, Integrity, Repair

LISTED = 20
"""Most damages listed."""


def found(integrity: "Integrity") -> str:
    """Return what was checked, and what is damaged."""
    checked = (
        f"{integrity.objects:,} objects, {integrity.files:,} PDFs and {integrity.tables:,} parts of tables checked"
    )
    if not integrity.damages:
        lines = [f"{checked}: all are what was stored."]
    else:
        count = len(integrity.damages)
        lines = [f"{checked}; damaged: {count:,}."]
        lines += [_name(damage) for damage in integrity.damages[:LISTED]]
        if count > LISTED:
            lines.append(f"… and {count - LISTED:,} more.")
        if any(damage.held.value == "database" for damage in integrity.damages):
            lines.append(
                "SQLite cannot read raw.db whole: restore a backup of it, or harvest and import into a new workspace."
            )
    if integrity.lost:
        lines.append(
            f"{len(integrity.lost):,} objects that a repair set aside have not been received again. What a harvest or"
            " an import since then did not bring is lost in that version:"
        )
        lines += [f"- {each.kind} {each.object_id} of {each.venue_id}" for each in integrity.lost[:LISTED]]
    return "\n".join(lines)


def _name(damage: "Damage") -> str:
    of = f" of {damage.venue_id}" if damage.venue_id else ""
    return f"- {damage.held.value}: {damage.name}{of}: {damage.detail}"


def repaired(repair: "Repair", workspace: Path) -> str:
    """Return what was set aside, and the commands that bring it back."""
    if not repair.set_aside:
        return "Nothing was set aside."
    steps = []
    if repair.harvest:
        steps.append(f"peercorpus harvest {' '.join(repair.harvest)} --workspace {workspace}")
    steps += [f"import again what brought '{source}'" for source in repair.imported]
    steps.append(f"peercorpus build --workspace {workspace} --retry")
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return f"{len(repair.set_aside):,} set aside. Next:\n{listed}"
