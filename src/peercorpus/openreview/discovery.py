"""What a venue is called and on which API it lives, read from its own group."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from peercorpus.errors import NotGivenError, VenueNotFoundError
from peercorpus.openreview.client import Client, Params
from peercorpus.openreview.listing import LARGEST_PAGE, check_new, id_of, items_of
from peercorpus.openreview.objects import salvage

BLIND = "Blind_Submission"
OPEN_LISTS = ("Submission", "submission", "Full_Submission")
CLOSED_LISTS = ("Withdrawn_Submission", "Desk_Rejected_Submission")


@dataclass(frozen=True, slots=True)
class VenueProfile:
    """What is needed to harvest a venue.

    Attributes:
        api: 1 or 2.
        lists: The invitations of its submissions, each to be listed.
        review_name: What its review invitation is called.
        group: Its group as received, and the request it answered.
        invitations: Its own invitations as received, each with the request it answered.
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
        wanted = f"{self.venue_id}/-/{self.review_name}"
        return any(id_of(body) == wanted for _, body in self.invitations)


class _Group(msgspec.Struct):
    id: str
    domain: str | None = None
    members: list[str] = msgspec.field(default_factory=list)
    content: dict[str, msgspec.Raw] | None = None

    @classmethod
    def of(cls, body: bytes | msgspec.Raw) -> "_Group":
        return salvage(cls, bytes(body))

    def setting(self, name: str) -> str | None:
        """A setting of an API v2 venue; None where it has none, or it is no text."""
        try:
            return msgspec.json.decode((self.content or {})[name], type=dict[str, str])["value"]
        except (KeyError, msgspec.DecodeError):
            return None


def discover(client: Client, venue_id: str, known_lists: Sequence[str] = ()) -> VenueProfile:
    """Find a venue on API v2, else on API v1.

    Args:
        client: Where to ask.
        venue_id: The id of its group.
        known_lists: Submission lists to use where an API v1 venue shows no submission invitation.

    Raises:
        VenueNotFoundError: Neither API has such a group.
    """
    for api in (2, 1):
        found = _fetch_group(client, api, venue_id)
        if found is not None and (api == 1 or _Group.of(found[1]).domain):
            break
    else:
        raise VenueNotFoundError(f"OpenReview has no venue '{venue_id}'; {_suggestion(client, venue_id)}")
    group = _Group.of(found[1])
    invitations = tuple(_fetch_invitations(client, api, venue_id))
    if api == 2:
        lists: Sequence[str] = (group.setting("submission_id") or f"{venue_id}/-/{_name(group)}",)
    else:
        lists = _v1_lists(venue_id, {id_of(body) for _, body in invitations}, known_lists)
    review_name = group.setting("review_name") or _review_name(venue_id, invitations)
    return VenueProfile(venue_id, api, tuple(lists), review_name, found, invitations)


def _name(group: _Group) -> str:
    return group.setting("submission_name") or "Submission"


def _review_name(venue_id: str, invitations: Sequence[tuple[str, bytes]]) -> str:
    """Journals name their review invitation `Review`, and do not say so in their group."""
    ids = {id_of(body) for _, body in invitations}
    is_plain = f"{venue_id}/-/Review" in ids and f"{venue_id}/-/Official_Review" not in ids
    return "Review" if is_plain else "Official_Review"


def _v1_lists(venue_id: str, there: set[str], known_lists: Sequence[str]) -> list[str]:
    """The lists of an API v1 venue; where it has a blind one, the originals behind it are not listed as well."""
    names = [name for name in (BLIND, *OPEN_LISTS, *CLOSED_LISTS) if f"{venue_id}/-/{name}" in there]
    if BLIND in names:
        names = [name for name in names if name not in OPEN_LISTS]
    found = [f"{venue_id}/-/{name}" for name in names]
    if set(names) <= set(CLOSED_LISTS):
        found = [*(known_lists or [f"{venue_id}/-/{name}" for name in (BLIND, "Submission", "submission")]), *found]
    return found


def _fetch_group(client: Client, api: int, group_id: str) -> tuple[str, bytes] | None:
    try:
        answer = client.get_json(api, "/groups", {"id": group_id})
    except NotGivenError:
        return None
    groups = items_of(answer, "groups")
    return (answer.source, bytes(groups[0])) if groups else None


def _fetch_invitations(client: Client, api: int, venue_id: str) -> list[tuple[str, bytes]]:
    """The invitations of the venue itself; those of its papers are thousands, and repeat its forms."""
    wanted = {"prefix": f"{venue_id}/-/"} if api == 2 else {"regex": f"{venue_id}/-/.*"}
    found: list[tuple[str, bytes]] = []
    before = None
    while True:
        params: Params = {**wanted, "expired": "true", "limit": LARGEST_PAGE, "offset": len(found)}
        answer = client.get_json(api, "/invitations", params)
        items = items_of(answer, "invitations")
        check_new(answer, items, before)
        before = items
        found += [(answer.source, bytes(item)) for item in items]
        if len(items) < LARGEST_PAGE:
            return found


def _suggestion(client: Client, venue_id: str) -> str:
    known: set[str] = set()
    for api in (2, 1):
        group = _fetch_group(client, api, "venues")
        known |= set(_Group.of(group[1]).members) if group else set()
    by_lower = {name.lower(): name for name in sorted(known)}
    close = difflib.get_close_matches(venue_id.lower(), by_lower, n=1, cutoff=0.85)
    if venue_id in known:
        return "it is a venue of this OpenReview, so --url-v1 and --url-v2 seem to be exchanged."
    if close:
        return f"did you mean '{by_lower[close[0]]}'?"
    return "copy its id from the address of its page, such as 'ICLR.cc/2024/Conference'."
