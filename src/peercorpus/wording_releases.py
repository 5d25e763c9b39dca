"""What the command line says of releases: what is new, what differs, what does not hold, what is uploaded."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from peercorpus.publish.checks import Breach, Check
from peercorpus.publish.differences import ColumnChange, Delta, Differences
from peercorpus.publish.hub_upload import Upload
from peercorpus.publish.inputs import Moved
from peercorpus.publish.verify import Verification
from peercorpus.wording import plural, printable

HEADER = ("venue", "configuration", "added", "changed", "gone", "taken down")


def same_release(newest: Path) -> str:
    """That there was nothing new to keep."""
    return f"Nothing new: '{newest}' is what this would be, and stays as it is."


def differences(found: Differences, *, with_ids: bool) -> str:
    """A table by venue, the sides and the columns; "nothing differs" where nothing does."""
    rows = sorted(
        (venue_id, config, delta) for config, deltas in found.rows.items() for venue_id, delta in deltas.items()
    )
    counts = [
        (printable(venue_id) or "no one venue", printable(config), *_counts(delta)) for venue_id, config, delta in rows
    ]
    lines = list(_table([HEADER, *counts])) if counts else []
    if with_ids:
        lines += [line for row in rows for line in _ids(*row)]
    lines += _sides(found, with_ids=with_ids)
    lines += [_column(change) for change in found.columns]
    return "\n".join(lines) or "Nothing differs."


def _counts(delta: Delta) -> tuple[str, ...]:
    counts = [f"{len(ids):,}" for ids in (delta.added, delta.changed, delta.gone)]
    return (*counts, "" if delta.taken_down is None else f"{delta.taken_down:,}")


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.ljust(width) if number < 2 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _ids(venue_id: str, config: str, delta: Delta) -> Iterator[str]:
    for what, ids in (("added", delta.added), ("changed", delta.changed), ("gone", delta.gone)):
        for one in sorted(ids):
            yield f"{what} {printable(config)} {printable(venue_id)} {printable(one)}"


def _sides(found: Differences, *, with_ids: bool) -> Iterator[str]:
    moved = [change for change in found.sides if change.after is not None]
    if found.sides or found.sides_added:
        lost = len(found.sides) - len(moved)
        yield (
            f"Sides: {plural(len(moved), 'paper')} changed theirs, {lost:,} lost theirs, {found.sides_added:,} are new."
        )
    for change in found.sides if with_ids else ():
        after = change.after or "no side"
        yield f"side {change.profile} {printable(change.forum_id)} {change.before} -> {after}"


def _column(change: ColumnChange) -> str:
    config = printable(change.config)
    if change.column is None:
        return f"Configuration '{config}': only in the {'earlier' if change.after is None else 'later'} release."
    before, after = change.before or "not there", change.after or "not there"
    return f"Column '{printable(change.column)}' of '{config}': {printable(before)} -> {printable(after)}."


def verified(found: Verification) -> str:
    """Every check with what it looked at and what does not hold."""
    lines = [line for check in found.checks for line in _check(check)]
    failed = [check.name for check in found.checks if check.found]
    if found.is_compared:
        lines.append(_rebuilding(found.moved))
    lines.append(f"This release does not hold: {', '.join(failed)}." if failed else "This release holds what it says.")
    return "\n".join(lines)


def _check(check: Check) -> Iterator[str]:
    state = plural(check.found, "breach").replace("breachs", "breaches") if check.found else "none amiss"
    if check.looked_at or check.found or not check.left_out:
        yield f"{check.name:<9} {plural(check.looked_at, check.noun)}: {state}"
    yield from (f"{check.name:<9} not checked: {reason}" for reason in check.left_out)
    yield from (f"  {_breach(breach)}" for breach in check.breaches)
    if check.found > len(check.breaches):
        yield f"  and {check.found - len(check.breaches):,} more"


def _breach(breach: Breach) -> str:
    of = "" if breach.record_id is None else f" {printable(breach.record_id)}"
    return f"{printable(breach.file)}{of}: {printable(breach.what, 300)}"


def _rebuilding(moved: Sequence[Moved] | None) -> str:
    if moved is None:
        return "The release does not say what it was made of (inputs.json)."
    if not moved:
        return "The workspace is what the release was made of: it can be made again byte for byte."
    lines = ["The workspace is no longer what the release was made of; it differs in:"]
    venues = dict.fromkeys(one.venue_id for one in moved)
    for venue_id in venues:
        names = ", ".join(one.what for one in moved if one.venue_id == venue_id)
        lines.append(f"  {'all venues' if venue_id is None else printable(venue_id)}: {printable(names, 300)}")
    return "\n".join(lines)


def _size(size_bytes: int) -> str:
    """A size in bytes, kB or MB.

    >>> _size(900), _size(12_300), _size(4_560_000)
    ('900 B', '12.3 kB', '4.6 MB')
    """
    if size_bytes < 1_000:
        return f"{size_bytes} B"
    return f"{size_bytes / 1e3:,.1f} kB" if size_bytes < 1e6 else f"{size_bytes / 1e6:,.1f} MB"


def planned_upload(plan: Upload, *, private: bool) -> str:
    """What an upload would do: every file, where to, and what is there."""
    state = "it exists" if plan.is_there else "it does not exist, or the token may not see it; it would be created"
    if plan.is_private or (private and not plan.is_there):
        state += ", private"
    width = max(map(len, plan.files))
    lines = [f"To {plan.endpoint}/datasets/{plan.hub_id}: {state}."]
    lines += [f"  {printable(name, 300):<{width}}  {_size(size):>10}" for name, size in plan.files.items()]
    lines += [f"  removed, as it is of an earlier release: {printable(name, 300)}" for name in plan.stale]
    total = _size(sum(plan.files.values()))
    return "\n".join([*lines, f"{plural(len(plan.files), 'file')}, {total}. Nothing was uploaded; add --yes to do it."])


def uploaded(plan: Upload, commit: str) -> str:
    """What was uploaded, and where it is."""
    total = _size(sum(plan.files.values()))
    gone = f"; {plural(len(plan.stale), 'file')} of an earlier release removed" if plan.stale else ""
    number = plural(len(plan.files), "file")
    place = f"{plan.endpoint}/datasets/{plan.hub_id}"
    return f"{number}, {total}, are in {place} as they are here{gone}.\n{printable(commit, 300)}"
