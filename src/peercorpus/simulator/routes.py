"""The routes of both APIs, and which of them stay open to guests when an account is asked for."""

from collections.abc import Callable

from peercorpus.simulator.answers import Answer, ApiError, browser_page, json_answer
from peercorpus.simulator.calls import Call
from peercorpus.simulator.downloads import edit_attachment, edit_pdf, note_attachment, note_pdf, static_pdf
from peercorpus.simulator.holdings import Json
from peercorpus.simulator.listings import (
    EDITS,
    GROUPS,
    INVITATIONS,
    NOTES_V1,
    NOTES_V2,
    REFERENCES,
    Listing,
    answer_list,
)
from peercorpus.simulator.search import find_notes, search_notes
from peercorpus.simulator.shelves import values_of
from peercorpus.simulator.visibility import may_read, shown

Route = Callable[[Call], Answer]
OPEN_TO_GUESTS = frozenset({"groups", "invitations", "venues", "profiles", "login", "mfa", "refreshToken", "challenge"})


def is_open_to_guests(path: str) -> bool:
    """Whether the challenge gate lets a guest through to this path."""
    return path.split("/")[1] in OPEN_TO_GUESTS


def route_of(api: str, method: str, path: str) -> Route:
    """What answers a request.

    Raises:
        ApiError: This API has no such route.
    """
    route = _ROUTES[api].get((method, path))
    if route is None and method == "GET" and path.startswith("/pdf/"):
        return lambda call: static_pdf(call, path)
    if route is None:
        raise ApiError(404, "NotFoundError", f"The route {method} {path} was not found", path=path)
    return route


def _venues(call: Call) -> Answer:
    """Answer `GET /venues`: the venues that the group `venues` lists, or those that are named."""
    asked = call.query.get("id") or call.query.get("ids")
    listed = call.shelves.groups.things.get("venues", {})
    ids = asked.split(",") if asked else values_of(listed, "member")
    groups = [group for venue_id in ids if (group := call.shelves.groups.things.get(venue_id)) is not None]
    return json_answer(
        {"venues": [_venue(shown(group, call.caller)) for group in groups if may_read(group, call.caller)]}
    )


def _venue(group: Json) -> Json:
    content = group.get("content")
    return {"id": group["id"], "content": content if isinstance(content, dict) else {"title": {"value": group["id"]}}}


def _profiles(call: Call) -> Answer:
    """Answer `GET /profiles`: the caller's own, where it is asked for; the simulated service shows no other."""
    if call.caller.user is None:
        return json_answer({"profiles": [], "count": 0})
    own = call.accounts.profile(call.caller)
    asked = {call.query[name] for name in ("id", "confirmedEmail", "email") if name in call.query}
    found = [own] if asked <= call.caller.names else []
    return json_answer({"profiles": found, "count": len(found)})


def _list(listing: Listing) -> Route:
    return lambda call: answer_list(call, listing)


_BOTH: dict[tuple[str, str], Route] = {
    ("GET", "/groups"): _list(GROUPS),
    ("GET", "/invitations"): _list(INVITATIONS),
    ("GET", "/pdf"): note_pdf,
    ("GET", "/attachment"): note_attachment,
    ("GET", "/profiles"): _profiles,
    ("GET", "/venues"): _venues,
    ("GET", "/challenge"): lambda _call: browser_page(),
    ("GET", "/notes/search"): search_notes,
    ("POST", "/notes/search"): find_notes,
    ("POST", "/login"): lambda call: call.accounts.sign_in(call.body),
    ("POST", "/mfa/challenge"): lambda call: call.accounts.challenge(call.body),
    ("POST", "/mfa/verify"): lambda call: call.accounts.verify(call.body),
    ("POST", "/refreshToken"): lambda call: call.accounts.refresh(call.caller),
}
_ROUTES: dict[str, dict[tuple[str, str], Route]] = {
    "v1": {
        **_BOTH,
        ("GET", "/notes"): _list(NOTES_V1),
        ("GET", "/references"): _list(REFERENCES),
        ("GET", "/references/pdf"): edit_pdf,
        ("GET", "/references/attachment"): edit_attachment,
    },
    "v2": {
        **_BOTH,
        ("GET", "/notes"): _list(NOTES_V2),
        ("GET", "/notes/edits"): _list(EDITS),
        ("GET", "/notes/edits/pdf"): edit_pdf,
        ("GET", "/notes/edits/attachment"): edit_attachment,
    },
}
