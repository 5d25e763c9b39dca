"""Find the API version, submission invitations and review form of a venue from its group."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from peercorpus.errors import NotGivenError, VenueNotFoundError
from peercorpus.openreview.client import Client
from peercorpus.openreview.listing import fetch_pages, object_id, read_list
from peercorpus.openreview.objects import decode_leniently
from peercorpus.wording.suggestions import find_close

BLIND = "Blind_Submission"
OPEN_LISTS = ("Submission", "submission", "Full_Submission")
CLOSED_LISTS = ("Withdrawn_Submission", "Desk_Rejected_Submission")
"""Lists that an API v1 venue moves papers to; their notes may be public even if the invitation itself is not."""


@dataclass(frozen=True, slots=True)
class VenueProfile:
    """What is needed to harvest a venue.

    Attributes:
        lists: Its submission invitations, all of which are to be listed.
        group: The request URL and its group as received.
        invitations: The request URL and body of each of its own invitations, as received.
    """

    venue_id: str
    api: int
    lists: tuple[str, ...]
    review_name: str
    group: tuple[str, bytes]
    invitations: tuple[tuple[str, bytes], ...]

    @property
    def has_review_form(self) -> bool:
        """Whether the venue-wide review invitation was among those received."""
        form_id = f"{self.venue_id}/-/{self.review_name}"
        return any(object_id(body) == form_id for _, body in self.invitations)


class _Group(msgspec.Struct):
    id: str
    domain: str | None = None
    members: list[str] = msgspec.field(default_factory=list)
    content: dict[str, msgspec.Raw] | None = None

    @classmethod
    def of(cls, body: bytes | msgspec.Raw) -> "_Group":
        return decode_leniently(cls, bytes(body))

    def setting(self, name: str) -> str | None:
        """Return a setting of an API v2 venue; None if it is missing or not text."""
        try:
            return msgspec.json.decode((self.content or {})[name], type=dict[str, str])["value"]
        except (KeyError, msgspec.DecodeError):
            return None


def discover(client: Client, venue_id: str, known_lists: Sequence[str] = ()) -> VenueProfile:
    """Find a venue on API v2, else on API v1.

    `known_lists` are the submission invitations to use if the venue shows none.

    Raises:
        VenueNotFoundError: Neither API has such a group.
    """
    for api in (2, 1):
        received = _fetch_group(client, api, venue_id)
        if received is not None and (api == 1 or _Group.of(received[1]).domain):
            break
    else:
        raise VenueNotFoundError(f"OpenReview has no venue '{venue_id}'; {_suggest_venue(client, venue_id)}")
    group = _Group.of(received[1])
    invitations = tuple(_fetch_invitations(client, api, venue_id))
    shown = {object_id(body) for _, body in invitations}
    lists = _v2_lists(venue_id, group, shown, known_lists) if api == 2 else _v1_lists(venue_id, shown, known_lists)
    review_name = group.setting("review_name") or _review_name(venue_id, invitations)
    return VenueProfile(
        venue_id=venue_id, api=api, lists=tuple(lists), review_name=review_name, group=received, invitations=invitations
    )


def _review_name(venue_id: str, invitations: Sequence[tuple[str, bytes]]) -> str:
    """Return the name of a venue's review invitation; journals call it `Review` without stating it in a setting."""
    ids = {object_id(body) for _, body in invitations}
    is_plain = f"{venue_id}/-/Review" in ids and f"{venue_id}/-/Official_Review" not in ids
    return "Review" if is_plain else "Official_Review"


def _v2_lists(venue_id: str, group: _Group, shown: set[str], known_lists: Sequence[str]) -> list[str]:
    """Return the submission invitations of an API v2 venue: the one in its settings, or else the known ones."""
    name = group.setting("submission_name")
    stated = group.setting("submission_id") or (name and f"{venue_id}/-/{name}")
    usual = f"{venue_id}/-/Submission"
    return [stated or usual] if stated or usual in shown or not known_lists else [*known_lists]


def _v1_lists(venue_id: str, shown: set[str], known_lists: Sequence[str]) -> list[str]:
    """Return the submission invitations of an API v1 venue; blind submissions replace the originals behind them."""
    names = [name for name in (BLIND, *OPEN_LISTS) if f"{venue_id}/-/{name}" in shown]
    if BLIND in names:
        names = [BLIND]
    open_lists = [f"{venue_id}/-/{name}" for name in names or (BLIND, "Submission", "submission")]
    closed_lists = [f"{venue_id}/-/{name}" for name in CLOSED_LISTS]
    return list(dict.fromkeys([*(open_lists if names or not known_lists else known_lists), *closed_lists]))


def is_closed_list(invitation: str) -> bool:
    """Return whether an invitation lists the withdrawn or desk-rejected papers of a venue.

    >>> is_closed_list("V/-/Withdrawn_Submission"), is_closed_list("V/-/Blind_Submission")
    (True, False)
    """
    return invitation.rpartition("/-/")[2] in CLOSED_LISTS


def _fetch_group(client: Client, api: int, group_id: str) -> tuple[str, bytes] | None:
    try:
        answer = client.get_json(api, "/groups", {"id": group_id})
    except NotGivenError:
        return None
    groups = read_list(answer, "groups")
    return (answer.source, bytes(groups[0])) if groups else None


def _fetch_invitations(client: Client, api: int, venue_id: str) -> list[tuple[str, bytes]]:
    """Fetch the venue's own invitations; its papers have thousands, which repeat its forms."""
    # API v1 documents no order for this list, so none is requested; no venue has more than one page of its own there.
    selection = {"prefix": f"{venue_id}/-/", "sort": "id"} if api == 2 else {"regex": f"{venue_id}/-/.*"}
    pages = fetch_pages(client, api, "/invitations", {**selection, "expired": "true"})
    return [(page.source, bytes(item)) for page in pages for item in page.items]


def _suggest_venue(client: Client, venue_id: str) -> str:
    listed_ids: set[str] = set()
    for api in (2, 1):
        group = _fetch_group(client, api, "venues")
        listed_ids |= set(_Group.of(group[1]).members) if group else set()
    close = find_close(venue_id, listed_ids)
    if venue_id in listed_ids:
        return "the venue exists here, but --url-v1 and --url-v2 seem to be swapped."
    if close is not None:
        return f"did you mean '{close}'?"
    return "copy its id, such as 'ICLR.cc/2024/Conference', from the URL of its page."
