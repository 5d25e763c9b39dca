"""Texts of `diff`, `verify` and `push`."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from peercorpus.cli.text.formatting import align
from peercorpus.release.diff import ColumnChange, Differences
from peercorpus.release.hub import HubUpload
from peercorpus.release.provenance import ChangedInput
from peercorpus.release.verify.files import Check
from peercorpus.release.verify.verify import Verification
from peercorpus.wording.counted_nouns import plural, verb
from peercorpus.wording.untrusted_text import escape_controls

HEADER = ("venue", "configuration", "added", "changed", "gone", "taken down")


def same_release(newest: Path) -> str:
    """Return that the newest release is up to date and was not written again."""
    return f"Nothing new: '{newest}' is up to date and stays as it is."


def differences_table(differences: Differences, *, with_ids: bool) -> str:
    """Return the differences of two releases: a table by venue, changed splits, changed columns."""
    rows = sorted(
        (venue_id, config, delta) for config, deltas in differences.rows.items() for venue_id, delta in deltas.items()
    )
    counts = [
        (
            escape_controls(venue_id) or "no one venue",
            escape_controls(config),
            f"{len(delta.added):,}",
            f"{len(delta.changed):,}",
            f"{len(delta.gone):,}",
            "" if delta.taken_down is None else f"{delta.taken_down:,}",
        )
        for venue_id, config, delta in rows
    ]
    lines = align([HEADER, *counts], {0, 1}) if counts else []
    if with_ids:
        lines += [
            f"{what} {escape_controls(config)} {escape_controls(venue_id)} {escape_controls(row_id)}"
            for venue_id, config, delta in rows
            for what, ids in (("added", delta.added), ("changed", delta.changed), ("gone", delta.gone))
            for row_id in sorted(ids)
        ]
    lines += _splits(differences, with_ids=with_ids)
    lines += [_column(change) for change in differences.columns]
    return "\n".join(lines) or "Nothing differs."


def _splits(differences: Differences, *, with_ids: bool) -> Iterator[str]:
    moved = [change for change in differences.splits if change.after is not None]
    if differences.splits or differences.splits_added:
        lost = len(differences.splits) - len(moved)
        yield (
            f"Splits: {plural(len(moved), 'paper')} changed theirs, {lost:,} lost theirs,"
            f" {differences.splits_added:,} {verb(differences.splits_added, 'is', 'are')} new."
        )
    for change in differences.splits if with_ids else ():
        after = change.after or "no split"
        yield f"split {change.profile} {escape_controls(change.forum_id)} {change.before} -> {after}"


def _column(change: ColumnChange) -> str:
    config = escape_controls(change.config)
    if change.column is None:
        return f"Configuration '{config}': only in the {'earlier' if change.after is None else 'later'} release."
    before, after = change.before or "not there", change.after or "not there"
    column = escape_controls(change.column)
    return f"Column '{column}' of '{config}': {escape_controls(before)} -> {escape_controls(after)}."


def verified(verification: Verification) -> str:
    """Return each check with the number of rows checked and the faults found, and the verdict."""
    lines = [line for check in verification.checks for line in _check(check)]
    failed = [check.name for check in verification.checks if check.found]
    if verification.is_compared:
        lines.append(_rebuilding(verification.moved))
    lines.append(f"The release fails: {', '.join(failed)}." if failed else "The release passes every check.")
    return "\n".join(lines)


def verification_to_json(verification: Verification) -> str:
    """Return the results of all checks as one JSON object."""
    content = {
        "holds": verification.holds,
        "checks": [
            {
                "name": check.name,
                "what": check.noun,
                "checked": check.looked_at,
                "faults": check.found,
                "first_faults": [
                    {"file": breach.file, "id": breach.record_id, "what": breach.what} for breach in check.breaches
                ],
                "not_checked": check.left_out,
            }
            for check in verification.checks
        ],
        "is_compared": verification.is_compared,
        "changed_since": None
        if verification.moved is None
        else [{"venue_id": change.venue_id, "what": change.what} for change in verification.moved],
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _check(check: Check) -> Iterator[str]:
    state = plural(check.found, "fault") if check.found else "no fault"
    if 0 < check.rows < check.found:
        state += f", in {plural(check.rows, 'row')} and {plural(check.found - check.rows, 'list')} of splits"
    if check.looked_at or check.found or not check.left_out:
        yield f"{check.name:<9} {plural(check.looked_at, check.noun)}: {state}"
    if check.left_out:
        yield unchecked(check)
    for breach in check.breaches:
        record = "" if breach.record_id is None else f" {escape_controls(breach.record_id)}"
        yield f"  {escape_controls(breach.file)}{record}: {escape_controls(breach.what, 300)}"
    if check.found > len(check.breaches):
        yield f"  and {check.found - len(check.breaches):,} more"


def unchecked(check: Check) -> str:
    """Return what a check left out, and why."""
    return "\n".join(f"{check.name:<9} not checked: {reason}" for reason in check.left_out)


def _rebuilding(moved: Sequence[ChangedInput] | None) -> str:
    if moved is None:
        return "The release does not say what it was made from (inputs.json)."
    if not moved:
        return "The workspace is unchanged since the release was made: it can be made again byte for byte."
    lines = ["The workspace has changed since the release was made; it differs in:"]
    venues = dict.fromkeys(change.venue_id for change in moved)
    for venue_id in venues:
        names = ", ".join(change.what for change in moved if change.venue_id == venue_id)
        lines.append(
            f"  {'all venues' if venue_id is None else escape_controls(venue_id)}: {escape_controls(names, 300)}"
        )
    return "\n".join(lines)


def _size(size_bytes: int) -> str:
    """Return a size in bytes, kB or MB.

    >>> _size(900), _size(12_300), _size(4_560_000)
    ('900 B', '12.3 kB', '4.6 MB')
    """
    if size_bytes < 1_000:
        return f"{size_bytes} B"
    return f"{size_bytes / 1e3:,.1f} kB" if size_bytes < 1e6 else f"{size_bytes / 1e6:,.1f} MB"


def planned_upload(plan: HubUpload, *, private: bool) -> str:
    """Return what an upload would do: its files, where they would go, and what would be removed."""
    state = "it exists" if plan.is_there else "it does not exist, or the token may not see it; it would be created"
    if plan.is_private or (private and not plan.is_there):
        state += ", private"
    lines = [f"To {plan.endpoint}/datasets/{plan.hub_id}: {state}."]
    files = [(escape_controls(name, 300), _size(size)) for name, size in plan.files.items()]
    lines += [f"  {line}" for line in align(files, {0})]
    lines += [f"  removed, as it belongs to an earlier release: {escape_controls(name, 300)}" for name in plan.stale]
    total = _size(sum(plan.files.values()))
    return "\n".join([*lines, f"{plural(len(plan.files), 'file')}, {total}. Nothing was uploaded; add --yes to do it."])


def uploaded(plan: HubUpload, commit: str) -> str:
    """Return what was uploaded, and where it is."""
    total = _size(sum(plan.files.values()))
    gone = f"; {plural(len(plan.stale), 'file')} of an earlier release removed" if plan.stale else ""
    number = plural(len(plan.files), "file")
    url = f"{plan.endpoint}/datasets/{plan.hub_id}"
    return f"{number}, {total}, are in {url}, unchanged{gone}.\n{escape_controls(commit, 300)}"
