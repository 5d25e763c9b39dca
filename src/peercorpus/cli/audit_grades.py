"""`peercorpus audit grades`: which papers have a provably initial version, and what a venue is good for."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from peercorpus.cli.audit import audit
from peercorpus.cli.console import say

if TYPE_CHECKING:
    from peercorpus.audit.grades import VenueGrades
    from peercorpus.audit.shares import Difference, Share

UNKNOWN = "-"
EXAMPLES = 5
"""Contradictions named in a table; the JSON has all."""

HEADS = ("exact", "attach", "unrev", "likely", "before", "unavail", "none")
LEGEND = """\
exact, attach, unrev: provably initial (exact, exact_attachment, unrevised);
likely: unrevised_likely; before: before_first_review; unavail: unavailable;
none: no version is known; initial: the share that is provably initial. '-' is a share of nothing.
In brackets the 95 % interval (Wilson 1927; of the difference Newcombe 1998)."""

NO_LEAN = "No lean of provable versions to accepted or to rejected papers is beyond doubt here."


@audit.command
def grades(
    workspace: Annotated[Path, Parameter(name="WORKSPACE")],
    /,
    *,
    json_: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> None:
    """Show how sure the initial version of each paper is, by venue, year and decision, and who is left out by that.

    Below stand the difference between accepted and rejected papers, files that contradict their grade, and the papers
    that each task can use.

    Parameters
    ----------
    workspace
        The folder that holds the corpus.
    json_
        As one JSON object.
    """
    import msgspec

    from peercorpus.audit.grades import read_grades
    from peercorpus.pipeline import require_built
    from peercorpus.workspace import open_workspace

    with open_workspace(workspace, write=False) as opened:
        require_built(opened)
        found = read_grades(opened.tables)
    say(msgspec.json.format(msgspec.json.encode(as_json(found))).decode() if json_ else "\n".join(lines(found)))


def lines(venues: Sequence["VenueGrades"]) -> Iterator[str]:
    """The report as text, 100 columns wide at most."""
    yield f"  {'decision':<13} {'papers':>8}" + "".join(f"{head:>9}" for head in HEADS) + f"{'initial':>10}"
    for venue in venues:
        yield from _grade_lines(venue)
    yield from ("", *LEGEND.splitlines(), "", f"{'provably initial':<44} {'accepted':>24} {'rejected':>24}")
    for venue in venues:
        yield from _bias_lines(_printable(venue.venue_id), [venue])
    yield from _bias_lines("all", venues)
    yield from caveats(venues) if any(caveats(venues)) else (NO_LEAN,)
    yield from ("", "Papers that a task can use", f"{'':<31}{'papers':>8}{'':>1}" + _task_heads())
    for venue in venues:
        yield from _task_lines(venue)
    yield from _file_lines(venues)


def _printable(venue_id: str, most: int = 98) -> str:
    from peercorpus.wording import printable

    shown = printable(venue_id, most)
    return shown if len(shown) <= most + 1 else f"{shown[:most]}\u2026"


def _grade_lines(venue: "VenueGrades") -> Iterator[str]:
    from peercorpus.audit.grades import provable
    from peercorpus.kinds import Grade, Status

    for year in _years(venue):
        name = _printable(venue.venue_id, 90)
        yield f"{name} ({UNKNOWN if year is None else year})"
        for status in Status:
            counts = [venue.grades[year, status, grade] for grade in (*Grade, None)]
            value = provable([venue], status, year).value
            if value is not None:
                cells = "".join(f"{count:>9,}" for count in counts)
                yield f"  {status.value:<13} {sum(counts):>8,}{cells}{100 * value:>8.1f} %"


def _years(venue: "VenueGrades") -> list[int | None]:
    return sorted({year for year, _, _ in venue.grades}, key=lambda year: (year is None, year or 0))


def _bias_lines(name: str, venues: Sequence["VenueGrades"]) -> Iterator[str]:
    from peercorpus.audit.grades import bias

    found = bias(venues)
    if len(name) > 44:
        yield name
        name = ""
    yield f"{name:<44} {_share(found.first):>24} {_share(found.second):>24}"
    if found.value is not None and found.interval is not None:
        low, high = (100 * end for end in found.interval)
        yield f"  difference {100 * found.value:+.1f} ({low:+.1f} to {high:+.1f}) percentage points"


def _share(share: "Share") -> str:
    if share.value is None or share.interval is None:
        return f"{UNKNOWN} of 0"
    low, high = (100 * end for end in share.interval)
    return f"{100 * share.value:.1f} % ({low:.0f}-{high:.0f}) of {share.of:,}"


def caveats(venues: Sequence["VenueGrades"]) -> Iterator[str]:
    """One sentence where provable versions lean to accepted or to rejected papers beyond doubt; else none."""
    from peercorpus.audit.grades import bias

    for leans, what in ((-1, "rejected"), (1, "accepted")):
        where = [_printable(venue.venue_id) for venue in venues if bias([venue]).leans == leans]
        everywhere = bias(venues).leans == leans
        if where or everywhere:
            named = "the whole corpus" if everywhere else f"{len(where)} of {len(venues)} venues"
            yield f"Provable versions lean to {what} papers in {named}:"
            yield "what is found on them alone does not hold for all papers."


def _task_heads() -> str:
    from peercorpus.audit.grades import Task

    return "".join(f"{task.value:>15}" for task in Task)


def _task_lines(venue: "VenueGrades") -> Iterator[str]:
    from peercorpus.audit.grades import Task

    name = _printable(venue.venue_id)
    if len(name) > 30:
        yield name
        name = ""
    shares = [venue.use(task) for task in Task]
    cells = (f"{UNKNOWN if one.value is None else f'{one.count:,} ({one.value:.0%})':>15}" for one in shares)
    yield f"{name:<31}{venue.papers:>8,} " + "".join(cells)


def _file_lines(venues: Sequence["VenueGrades"]) -> Iterator[str]:
    files, found = sum(venue.files for venue in venues), [one for venue in venues for one in venue.contradictions]
    number = f"{len(found):,}" if files else UNKNOWN
    yield ""
    yield f"Files that say they are a later version than was chosen: {number} of {files:,} looked into."
    yield from (f"  {_printable(one.forum_id)[:40]}: {one.grade.value}" for one in found[:EXAMPLES])
    if len(found) > EXAMPLES:
        yield f"  and {len(found) - EXAMPLES:,} more, all in the JSON"


def as_json(venues: Sequence["VenueGrades"]) -> dict[str, Any]:
    """The report for programs; a share of nothing is null."""
    from peercorpus.audit.grades import bias

    return {
        "venues": [_venue_json(venue) for venue in venues],
        "bias": _difference_json(bias(venues)),
        "caveats": [" ".join(caveats(venues))] if any(caveats(venues)) else [],
    }


def _venue_json(venue: "VenueGrades") -> dict[str, Any]:
    from peercorpus.audit.grades import Task, bias, provable
    from peercorpus.kinds import Grade, Status

    decisions = [
        {
            "year": year,
            "status": status.value,
            "grades": {grade.value if grade else "none": venue.grades[year, status, grade] for grade in (*Grade, None)},
            "provably_initial": _share_json(provable([venue], status, year)),
        }
        for year in _years(venue)
        for status in Status
        if provable([venue], status, year).of
    ]
    return {
        "venue_id": venue.venue_id,
        "papers": venue.papers,
        "decisions": decisions,
        "bias": _difference_json(bias([venue])),
        "usable": {task.value: _share_json(venue.use(task)) for task in Task},
        "files_looked_into": venue.files,
        "contradictions": [
            {"forum_id": one.forum_id, "grade": one.grade.value, "rule": one.rule} for one in venue.contradictions
        ]
        if venue.files
        else None,
    }


def _share_json(share: "Share") -> dict[str, Any]:
    return {"papers": share.count, "of": share.of, "share": share.value, "interval": share.interval}


def _difference_json(found: "Difference") -> dict[str, Any]:
    return {
        "accepted": _share_json(found.first),
        "rejected": _share_json(found.second),
        "difference": found.value,
        "interval": found.interval,
    }
