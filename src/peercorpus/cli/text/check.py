"""Texts of `check`: what is damaged in a workspace, what a repair did, and what to do next."""

from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.records.counted_nouns import plural, verb

if TYPE_CHECKING:
    from peercorpus.pipeline.integrity import Damage, Integrity, Repair
    from peercorpus.workspace.raw_recovery import Recovery

KEY_LOST = "The key of the pseudonyms is lost: reviewers get different pseudonyms from those in earlier releases."
LISTED = 20
"""Most damages listed."""


def found(integrity: "Integrity") -> str:
    """Return what was checked, and what is damaged."""
    checked = (
        f"{plural(integrity.objects, 'object')}, {plural(integrity.files, 'PDF')} and"
        f" {plural(integrity.tables, 'part')} of tables checked"
    )
    if not integrity.damages:
        lines = [f"{checked}: all unchanged since they were stored."]
    else:
        count = len(integrity.damages)
        lines = [f"{checked}; damaged: {count:,}."]
        lines += [_name(damage) for damage in integrity.damages[:LISTED]]
        if count > LISTED:
            lines.append(f"… and {count - LISTED:,} more.")
        if any(damage.held.value == "database" for damage in integrity.damages):
            lines.append(
                "SQLite cannot read all of raw.db: restore a backup, or recover the intact part with 'peercorpus check"
                " --repair'."
            )
    if integrity.lost:
        lines.append(
            f"{plural(len(integrity.lost), 'object')} that a repair set aside"
            f" {verb(len(integrity.lost), 'has', 'have')} not been received again. A version that no later"
            " harvest or import has brought back is lost:"
        )
        lines += [f"- {each.kind} {each.object_id} of {each.venue_id}" for each in integrity.lost[:LISTED]]
    return "\n".join(lines)


def _name(damage: "Damage") -> str:
    of = f" of {damage.venue_id}" if damage.venue_id else ""
    return f"- {damage.held.value}: {damage.name}{of}: {damage.detail}"


def recovered(recovery: "Recovery", workspace: Path) -> str:
    """Return what was recovered from a damaged raw.db, what is lost, and the commands that bring it back."""
    lines = [
        f"raw.db was damaged. {plural(recovery.objects, 'object')} {verb(recovery.objects, 'is', 'are')} intact and in"
        f" the new one; at least {recovery.lost:,} {verb(recovery.lost, 'is', 'are')} not. The"
        f" damaged one is '{recovery.kept}'."
    ]
    if not recovery.has_key:
        lines.append(KEY_LOST)
    lines.append(
        f"Next: peercorpus harvest {' '.join(recovery.venue_ids)} --workspace {workspace} requests all lists and"
        " histories again; import your files again; then run 'peercorpus build'."
    )
    return "\n".join(lines)


def repaired(repair: "Repair", workspace: Path) -> str:
    """Return what was set aside, and the commands that bring it back."""
    if not repair.set_aside:
        return "Nothing was set aside."
    steps = []
    if repair.harvest:
        steps.append(f"peercorpus harvest {' '.join(repair.harvest)} --workspace {workspace}")
    steps += [f"import '{source}' again" for source in repair.imported]
    steps.append(f"peercorpus build --workspace {workspace} --retry")
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    lost = f"\n{KEY_LOST}" if repair.has_new_key else ""
    return f"{len(repair.set_aside):,} set aside or stored again.{lost} Next:\n{listed}"
