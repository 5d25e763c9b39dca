"""Compares rows of the venue catalogue with what OpenReview reports about the same venues.

Usage: check_catalogue.py [VENUE …] [--url-v1 URL] [--url-v2 URL]. Without a venue it checks the whole catalogue;
a venue outside the catalogue is looked up. Takes two or three requests per venue and no account. Exits with 1 if
OpenReview contradicts a row or does not have a venue, and with 2 if OpenReview cannot be reached.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from peercorpus.cli.console import ProgressLines, say
from peercorpus.errors import NotGivenError, PeercorpusError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.openreview.client import URL_V1, URL_V2, Client, Params
from peercorpus.openreview.listing import LARGEST_PAGE, read_list
from peercorpus.openreview.objects import decode_leniently, to_time
from peercorpus.openreview.venue_discovery import BLIND, CLOSED_LISTS, OPEN_LISTS
from peercorpus.venues.catalogue import VenueRow, row_of, rows
from peercorpus.venues.venue_names import read_venue_id
from peercorpus.wording.counted_nouns import plural

TOLERANCE = timedelta(hours=1)
"""Largest difference between two deadlines that count as the same: chairs set 23:59 or 24:00, and add minutes."""

_LIST_NAMES = (BLIND, *OPEN_LISTS, *CLOSED_LISTS)


class CatalogueDifference(StrEnum):
    """How OpenReview and a row of the catalogue differ."""

    MISSING = "missing"
    """OpenReview does not have the venue."""
    OTHER_API = "other_api"
    """The venue is on the other API."""
    DUE_EARLIER = "due_earlier"
    """The submission invitation closed before a deadline of the row."""
    DUE_OTHER = "due_other"
    """The due date is not the row's, but may have another reason: OpenReview overwrites it when chairs extend the
    deadline or close submission by hand, and it may be that of abstracts where the row has full papers only."""
    LIST_NOT_SHOWN = "list_not_shown"
    """The venue does not show a list that the row names; the list may respond all the same."""


CONTRADICTIONS = frozenset(
    {CatalogueDifference.MISSING, CatalogueDifference.OTHER_API, CatalogueDifference.DUE_EARLIER}
)
"""Differences that can only mean that the row, or the name of the venue, is wrong."""


@dataclass(frozen=True, slots=True)
class ListedVenue:
    """What OpenReview reports about a venue.

    Attributes:
        api: 1 or 2.
        lists: Its submission invitations; None if it has too many invitations for one response.
        due: Due date of its submission invitation; None on API v1, or if it has none.
    """

    api: int
    lists: tuple[str, ...] | None
    due: datetime | None


@dataclass(frozen=True, slots=True)
class CheckedVenue:
    """One venue, in the catalogue and on OpenReview.

    Attributes:
        row: None if the venue is not in the catalogue.
        found: None if OpenReview does not have the venue.
    """

    venue_id: str
    row: VenueRow | None
    found: ListedVenue | None
    differences: tuple[CatalogueDifference, ...]

    @property
    def is_contradicted(self) -> bool:
        """Return whether the row, or the name of the venue, must be wrong."""
        return not CONTRADICTIONS.isdisjoint(self.differences)


class _Group(msgspec.Struct):
    domain: str | None = None
    content: dict[str, Any] | None = None


class _Invitation(msgspec.Struct):
    id: str = ""
    duedate: int | None = None


def check_catalogue(
    client: Client,
    venue_ids: Sequence[str],
    find_row: Callable[[str], VenueRow | None] = row_of,
    show: Show = show_nothing,
) -> Iterator[CheckedVenue]:
    """Request one venue after another from OpenReview and compare each with its row.

    Args:
        client: Needs no account.
        venue_ids: In the catalogue or not.
        find_row: Returns the row of a venue, or None.
        show: Receives the progress.

    Raises:
        SourceError: OpenReview could not be reached, or asks the client to come back later.
    """
    meter = Meter("catalogue", "venues checked", show, total=len(venue_ids))
    for venue_id in venue_ids:
        row = find_row(venue_id)
        found = _find_venue(client, venue_id)
        yield CheckedVenue(venue_id, row, found, tuple(_compare(row, found)))
        meter.advance()


def _compare(row: VenueRow | None, found: ListedVenue | None) -> Iterator[CatalogueDifference]:
    if found is None:
        yield CatalogueDifference.MISSING
        return
    if row is None:
        return
    if row.api not in {None, found.api}:
        yield CatalogueDifference.OTHER_API
    deadlines = [deadline.at for deadline in (row.abstract_deadline, row.full_deadline) if deadline]
    if found.due and deadlines and all(abs(found.due - at) > TOLERANCE for at in deadlines):
        is_earlier = row.abstract_deadline is not None and found.due < deadlines[-1]
        yield CatalogueDifference.DUE_EARLIER if is_earlier else CatalogueDifference.DUE_OTHER
    if found.lists is not None and any(f"{row.id}/-/{name}" not in found.lists for name in row.lists):
        yield CatalogueDifference.LIST_NOT_SHOWN


def _find_venue(client: Client, venue_id: str) -> ListedVenue | None:
    for api in (2, 1):
        groups = _request(client, api, "/groups", {"id": venue_id}, "groups")
        if groups:
            group = decode_leniently(_Group, groups[0])
            return _find_on_v2(client, venue_id, group) if group.domain else _find_on_v1(client, venue_id)
    return None


def _find_on_v2(client: Client, venue_id: str, group: _Group) -> ListedVenue:
    setting = (group.content or {}).get("submission_id")
    invitation_id = setting.get("value") if isinstance(setting, dict) else None
    if not isinstance(invitation_id, str):
        invitation_id = f"{venue_id}/-/Submission"
    # Past its due date an invitation is left out of lists unless expired ones are requested.
    params: Params = {"id": invitation_id, "expired": "true"}
    bodies = _request(client, 2, "/invitations", params, "invitations")
    invitations = [decode_leniently(_Invitation, body) for body in bodies]
    due = _read_due_date(invitations[0]) if invitations else None
    return ListedVenue(2, tuple(invitation.id for invitation in invitations), due)


def _find_on_v1(client: Client, venue_id: str) -> ListedVenue:
    params: Params = {"regex": f"{venue_id}/-/.*", "expired": "true", "limit": LARGEST_PAGE}
    bodies = _request(client, 1, "/invitations", params, "invitations")
    shown = {decode_leniently(_Invitation, body).id for body in bodies}
    if len(shown) >= LARGEST_PAGE:
        # Until 2019 every paper had invitations under the venue's own.
        return ListedVenue(1, None, None)
    names = (f"{venue_id}/-/{name}" for name in _LIST_NAMES)
    return ListedVenue(1, tuple(name for name in names if name in shown), None)


def _read_due_date(invitation: _Invitation) -> datetime | None:
    try:
        return to_time(invitation.duedate)
    except (ValueError, OverflowError, OSError):
        return None  # A year outside the calendar.


def _request(client: Client, api: int, path: str, params: Params, member: str) -> list[bytes]:
    try:
        response = client.get_json(api, path, params)
    except NotGivenError:
        return []
    return [bytes(body) for body in read_list(response, member)]


def describe_check(checked: CheckedVenue) -> str | None:
    """Return one line on a venue, or None if its row and OpenReview agree."""
    if checked.row is None:
        where = f"OpenReview has it on {_describe_venue(checked.found)}" if checked.found else "nor on OpenReview"
        return f"{checked.venue_id}: not in the catalogue; {where}."
    parts = [_describe_difference(difference, checked.row, checked.found) for difference in checked.differences]
    return f"{checked.venue_id}: {'; '.join(parts)}." if parts else None


def _describe_difference(difference: CatalogueDifference, row: VenueRow, found: ListedVenue | None) -> str:
    if found is None:
        return "OpenReview does not have this venue"
    due = f"its submission invitation is due {_format_utc(found.due)}" if found.due else ""
    match difference:
        case CatalogueDifference.OTHER_API:
            return f"OpenReview has it on API v{found.api}, the catalogue on v{row.api}"
        case CatalogueDifference.DUE_EARLIER:
            return f"{due}, earlier than the catalogue: {_describe_deadlines(row)}"
        case CatalogueDifference.DUE_OTHER:
            return (
                f"{due}, the catalogue has: {_describe_deadlines(row)};"
                " it may be another stage's, or the time at which submission was closed by hand"
            )
    return f"OpenReview does not show its list {', '.join(row.lists)}, which may respond all the same"


def _describe_venue(found: ListedVenue) -> str:
    lists = f"list {', '.join(map(repr, found.lists))}" if found.lists else "no submission list shown"
    due = f", submissions due {_format_utc(found.due)}" if found.due else ""
    return f"API v{found.api}, {lists}{due}"


def _describe_deadlines(row: VenueRow) -> str:
    deadlines = {"abstracts": row.abstract_deadline, "full papers": row.full_deadline}
    return ", ".join(f"{what} {_format_utc(deadline.at)}" for what, deadline in deadlines.items() if deadline)


def _format_utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def summarise_checks(checked_venues: Sequence[CheckedVenue]) -> str:
    """Return how many venues agree with the catalogue, differ from it and contradict it; each counts once."""
    contradicted = sum(checked.is_contradicted for checked in checked_venues)
    differing = sum(bool(checked.differences) for checked in checked_venues) - contradicted
    unlisted = sum(checked.row is None and checked.found is not None for checked in checked_venues)
    agreeing = len(checked_venues) - contradicted - differing - unlisted
    return (
        f"{plural(len(checked_venues), 'venue')} checked: {agreeing} agree with the catalogue, {differing} differ, "
        f"{unlisted} not in the catalogue, {contradicted} missing or contradicting it."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the venues named, or the whole catalogue; return the exit code."""
    parser = argparse.ArgumentParser(description="Compare the venue catalogue with OpenReview.")
    parser.add_argument("venues", nargs="*", metavar="VENUE", type=read_venue_id, help="default: the whole catalogue")
    parser.add_argument("--url-v1", default=URL_V1, help="base URL of API v1")
    parser.add_argument("--url-v2", default=URL_V2, help="base URL of API v2")
    options = parser.parse_args(arguments)
    venue_ids = options.venues or [row.id for row in rows()]
    try:
        checked_venues = _report_checks(options.url_v1, options.url_v2, venue_ids)
    except PeercorpusError as error:
        print(f"check_catalogue: {error}", file=sys.stderr)
        return 2
    say(summarise_checks(checked_venues))
    return 1 if any(checked.is_contradicted for checked in checked_venues) else 0


def _report_checks(url_v1: str, url_v2: str, venue_ids: Sequence[str]) -> list[CheckedVenue]:
    checked_venues = []
    with ProgressLines() as lines, Client(url_v1, url_v2, on_wait=lines.wait) as client:
        for checked in check_catalogue(client, venue_ids, show=lines.show):
            checked_venues.append(checked)
            if line := describe_check(checked):
                say(line)
    return checked_venues


if __name__ == "__main__":
    sys.exit(main())
