"""Compares what the catalogue says of venues with what OpenReview says; open to guests, two or three requests each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from peercorpus.errors import NotGivenError
from peercorpus.openreview.client import Client, Params
from peercorpus.openreview.discovery import BLIND, CLOSED_LISTS, OPEN_LISTS
from peercorpus.openreview.listing import LARGEST_PAGE, items_of
from peercorpus.openreview.objects import salvage, to_time
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.venues.catalogue import VenueRow, row_of

TOLERANCE = timedelta(hours=1)
"""Within it two deadlines are one: chairs set 23:59 or 24:00, and add minutes."""

LISTS = (BLIND, *OPEN_LISTS, *CLOSED_LISTS)


class Difference(StrEnum):
    """In what OpenReview and a row of the catalogue differ."""

    MISSING = "missing"
    """OpenReview has no such venue."""
    OTHER_API = "other_api"
    """It lives on the other API."""
    DUE_EARLIER = "due_earlier"
    """Its submission invitation closed before a deadline that the row has."""
    DUE_OTHER = "due_other"
    """The due date is not the row's, but may have another reason: OpenReview writes the time over it when chairs extend
    it or close it by hand, and may mean the abstracts where the row has full papers alone."""
    LIST_NOT_SHOWN = "list_not_shown"
    """It does not show a list that the row names, which may answer all the same."""


CONTRADICTIONS = frozenset({Difference.MISSING, Difference.OTHER_API, Difference.DUE_EARLIER})


@dataclass(frozen=True, slots=True)
class Found:
    """What OpenReview says of a venue.

    Attributes:
        api: 1 or 2.
        lists: The submission invitations it shows; None where it has too many invitations to tell from one answer.
        due: When submissions are due by its submission invitation; None on API v1, or where it does not say.
    """

    api: int
    lists: tuple[str, ...] | None
    due: datetime | None


@dataclass(frozen=True, slots=True)
class Checked:
    """One venue, as the catalogue and OpenReview have it.

    Attributes:
        row: None where it is not in the catalogue.
        found: None where OpenReview does not have it.
    """

    venue_id: str
    row: VenueRow | None
    found: Found | None
    differences: tuple[Difference, ...]

    @property
    def is_contradicted(self) -> bool:
        """Whether the row, or the name, must be wrong."""
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
) -> Iterator[Checked]:
    """Ask OpenReview for one venue after the other.

    Args:
        client: Where to ask; needs no account.
        venue_ids: In the catalogue or not.
        find_row: The catalogue to compare with.
        show: Told how far it is.

    Raises:
        SourceError: OpenReview could not be reached, or asks to come back later.
    """
    meter = Meter("catalogue", "venues checked", show, total=len(venue_ids))
    for venue_id in venue_ids:
        row, found = find_row(venue_id), _find(client, venue_id)
        differences = [Difference.MISSING] if found is None else list(_differences(row, found)) if row else []
        yield Checked(venue_id, row, found, tuple(differences))
        meter.advance()


def _differences(row: VenueRow, found: Found) -> Iterator[Difference]:
    if row.api not in {None, found.api}:
        yield Difference.OTHER_API
    deadlines = [deadline.at for deadline in (row.abstract_deadline, row.full_deadline) if deadline]
    if found.due and deadlines and all(abs(found.due - at) > TOLERANCE for at in deadlines):
        is_earlier = row.abstract_deadline is not None and found.due < deadlines[-1]
        yield Difference.DUE_EARLIER if is_earlier else Difference.DUE_OTHER
    if found.lists is not None and any(f"{row.id}/-/{name}" not in found.lists for name in row.lists):
        yield Difference.LIST_NOT_SHOWN


def _find(client: Client, venue_id: str) -> Found | None:
    for api in (2, 1):
        groups = _ask(client, api, "/groups", {"id": venue_id}, "groups")
        if groups:
            group = salvage(_Group, groups[0])
            return _find_v2(client, venue_id, group) if group.domain else _find_v1(client, venue_id)
    return None


def _find_v2(client: Client, venue_id: str, group: _Group) -> Found:
    setting = (group.content or {}).get("submission_id")
    named = setting.get("value") if isinstance(setting, dict) else None
    # Past its due date an invitation is left out of lists, unless expired ones are asked for.
    params: Params = {"id": named if isinstance(named, str) else f"{venue_id}/-/Submission", "expired": "true"}
    shown = [salvage(_Invitation, body) for body in _ask(client, 2, "/invitations", params, "invitations")]
    return Found(2, tuple(one.id for one in shown), _due(shown[0]) if shown else None)


def _find_v1(client: Client, venue_id: str) -> Found:
    params: Params = {"regex": f"{venue_id}/-/.*", "expired": "true", "limit": LARGEST_PAGE}
    shown = {salvage(_Invitation, body).id for body in _ask(client, 1, "/invitations", params, "invitations")}
    if len(shown) >= LARGEST_PAGE:
        # Until 2019 every paper had invitations under the venue's own.
        return Found(1, None, None)
    names = (f"{venue_id}/-/{name}" for name in LISTS)
    return Found(1, tuple(name for name in names if name in shown), None)


def _due(invitation: _Invitation) -> datetime | None:
    try:
        return to_time(invitation.duedate)
    except (ValueError, OverflowError, OSError):
        # No such year.
        return None


def _ask(client: Client, api: int, path: str, params: Params, member: str) -> list[bytes]:
    try:
        answer = client.get_json(api, path, params)
    except NotGivenError:
        return []
    return [bytes(body) for body in items_of(answer, member)]
