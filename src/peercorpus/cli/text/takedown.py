"""Texts of `takedown`: what an id removes, what the next release leaves out, and which releases still contain it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.cli.text import releases
from peercorpus.cli.text.formatting import counts_by_kind
from peercorpus.records.counted_nouns import plural
from peercorpus.records.untrusted_text import escape_controls

if TYPE_CHECKING:
    from peercorpus.corpus.takedown import Takedown
    from peercorpus.release.published import Holder
    from peercorpus.release.verify.verify import Verification


@dataclass(frozen=True, slots=True)
class TakedownReport:
    """What is taken down, and where it still is.

    Attributes:
        counts: Records that a release of all venues leaves out, by kind.
        unlisted: Ids that were to be removed from the list and were not on it.
        removed: Ids that were removed from the list.
        holders: Releases that still contain what is taken down.
        release: The release that was written; None if none was requested.
        verification: Its checks.
    """

    takedown: "Takedown"
    counts: Mapping[str, int]
    unlisted: Sequence[str]
    removed: Sequence[str]
    holders: "Sequence[Holder]"
    release: Path | None
    verification: "Verification | None"


def taken_down(report: TakedownReport) -> str:
    """Return what each id of the takedown list removes, what the next release leaves out, and where it still is."""
    return "\n".join(_list_lines(report))


def _list_lines(report: TakedownReport) -> Iterator[str]:
    yield from (f"{listed}: was not listed." for listed in report.unlisted)
    if report.removed:
        yield f"No longer listed: {', '.join(report.removed)}."
    for entry in report.takedown.ids:
        removed = counts_by_kind({"papers": len(entry.forums), "posts": len(entry.posts)})
        is_known = entry.forums or entry.posts
        yield f"{entry.listed}: {removed if is_known else 'nothing in the public tables has this id; it stays listed.'}"
    yield f"The next release leaves out: {counts_by_kind(report.counts)}."
    if report.release is not None and report.verification is not None:
        yield f"Released in '{report.release}'."
        yield releases.verified(report.verification)
    yield from map(_name_holder, report.holders)


def _name_holder(holder: "Holder") -> str:
    place = holder.place
    where = f"'{escape_controls(place.where, 300)}'"
    does = "may still contain" if holder.rows is None else "still contains"
    rows = "" if holder.rows is None else f" in {plural(holder.rows, 'row')}"
    if place.hub_id is None:
        return f"{where} {does} what is taken down{rows}; publish it again, or delete it."
    return (
        f"The revision {where} of '{escape_controls(place.hub_id)}' {does} what is taken down{rows}; push the new"
        " release and delete the history of the dataset there."
    )


def to_json(report: TakedownReport) -> str:
    """Return the same as one JSON object."""
    ids = [
        {"id": entry.listed, "kind": entry.kind, "papers": sorted(entry.forums), "posts": sorted(entry.posts)}
        for entry in report.takedown.ids
    ]
    holders = [
        {"where": holder.place.where, "hub_id": holder.place.hub_id, "rows": holder.rows} for holder in report.holders
    ]
    verification = report.verification
    return json.dumps(
        {
            "ids": ids,
            "not_listed": [*report.unlisted],
            "leaves_out": dict(report.counts),
            "release": report.release and str(report.release),
            "verified": verification and verification.holds,
            "held_by": holders,
        },
        indent=1,
        ensure_ascii=False,
    )
