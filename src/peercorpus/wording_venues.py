"""What `peercorpus venues` says: the catalogue as a table or as JSON, and what OpenReview says otherwise."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from peercorpus.harvest.catalogue_check import Checked, Difference, Found
from peercorpus.venues.catalogue import Deadline, VenueRow, Visibility
from peercorpus.wording import plural

LONGEST_ID = 46
"""A longer id has a line of its own, so that a table fits into 100 columns."""

WIDTHS = (3, 10, 16, 8, 4)
SEEN = {
    Visibility.PUBLIC: "all",
    Visibility.REJECTED_OPT_IN: "opt-in",
    Visibility.ACCEPTED_ONLY: "accepted",
    Visibility.SOME_REVIEWS: "some",
    Visibility.REVIEWS_PRIVATE: "none",
    Visibility.NOTHING: "no paper",
    Visibility.REVERTED_BEFORE_DISCUSSION: "reverted",
}
LEGEND = """\
Deadlines are in UTC. Reviews that the public sees: those of all submissions; opt-in: of accepted
papers, and of rejected ones if their authors agreed; of accepted ones alone; some; none; no paper:
nothing at all; reverted: all, as they stood before the discussion. Sure: A observed, B read in code
that runs, C one weak source, D remembered. '-' is not known. Sources and remarks: --json"""


def table(rows: Sequence[VenueRow]) -> str:
    """The catalogue, a line a venue, and what its words mean."""
    lines = [_line("venue", "API", "abstracts", "full papers", "reviews", "sure")]
    lines += [
        _line(
            row.id,
            f"v{row.api}" if row.api else "-",
            _moment(row.abstract_deadline, "%Y-%m-%d"),
            _moment(row.full_deadline, "%Y-%m-%d %H:%M"),
            SEEN[row.visibility] if row.visibility else "-",
            row.confidence.value,
        )
        for row in rows
    ]
    return "\n".join([*lines, "", f"{plural(len(rows), 'venue')}.", LEGEND])


def as_json(rows: Sequence[VenueRow]) -> str:
    """The catalogue as one JSON array, each row with what its id says; what is not known is null."""
    said = [{**msgspec.to_builtins(row), "family": row.family, "year": row.year, "track": row.track} for row in rows]
    return msgspec.json.format(msgspec.json.encode(said)).decode()


def checked_line(checked: Checked) -> str | None:
    """What there is to say of a venue; None where its row and OpenReview agree."""
    if checked.row is None:
        where = f"OpenReview has it on {_place(checked.found)}" if checked.found else "nor does OpenReview have it"
        return f"{checked.venue_id}: not in the catalogue; {where}."
    said = [_difference(one, checked.row, checked.found) for one in checked.differences]
    return f"{checked.venue_id}: {'; '.join(said)}." if said else None


def _difference(difference: Difference, row: VenueRow, found: Found | None) -> str:
    if found is None:
        return "OpenReview has no such venue"
    due = f"its submission invitation says due {_utc(found.due)}" if found.due else ""
    match difference:
        case Difference.OTHER_API:
            return f"OpenReview has it on API v{found.api}, the catalogue on v{row.api}"
        case Difference.DUE_EARLIER:
            return f"{due}, earlier than the catalogue: {_deadlines(row)}"
        case Difference.DUE_OTHER:
            return (
                f"{due}, the catalogue: {_deadlines(row)}; it may mean another stage, or the time it was closed by hand"
            )
    return f"OpenReview does not show its list {', '.join(row.lists)}, which may answer all the same"


def check_sum(checked: Sequence[Checked]) -> str:
    """How many venues agree, differ and contradict the catalogue."""
    contradicted = sum(one.is_contradicted for one in checked)
    differing = sum(bool(one.differences) for one in checked) - contradicted
    unlisted = sum(one.row is None and one.found is not None for one in checked)
    agreeing = len(checked) - contradicted - differing - unlisted
    return (
        f"{plural(len(checked), 'venue')} checked: {agreeing} as the catalogue says, {differing} that differ, "
        f"{unlisted} not in the catalogue, {contradicted} that contradict it or are missing."
    )


def _line(*cells: str) -> str:
    venue, *others = cells
    rest = "  ".join(f"{cell:<{width}}" for cell, width in zip(others, WIDTHS, strict=True))
    begin = f"{venue}\n{'':<{LONGEST_ID}}" if len(venue) > LONGEST_ID else f"{venue:<{LONGEST_ID}}"
    return f"{begin}  {rest}".rstrip()


def _moment(deadline: Deadline | None, form: str) -> str:
    return f"{deadline.at:{form}}" if deadline else "-"


def _place(found: Found) -> str:
    lists = "no submission list shown" if not found.lists else f"list {', '.join(map(repr, found.lists))}"
    due = f", submissions due {_utc(found.due)}" if found.due else ""
    return f"API v{found.api}, {lists}{due}"


def _deadlines(row: VenueRow) -> str:
    known = {"abstracts": row.abstract_deadline, "full papers": row.full_deadline}
    return ", ".join(f"{what} {_utc(deadline.at)}" for what, deadline in known.items() if deadline)


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
