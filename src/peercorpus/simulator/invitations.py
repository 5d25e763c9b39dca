"""The invitations of the simulated service, with their forms and dates, as each API writes them."""

from functools import cache

from peercorpus.simulator.casting import GRACE_MS
from peercorpus.simulator.fields import Field
from peercorpus.simulator.holdings import Holdings, Json
from peercorpus.simulator.venues import DAY_MS, Venue

SUBMISSION_FIELDS = ("title", "authors", "authorids", "keywords", "TLDR", "abstract", "pdf")


def write_invitations(holdings: Holdings, venue: Venue) -> None:
    """Write the submission invitation and one invitation a stage for the whole venue."""
    write = _write_v1 if venue.api == 1 else _write_v2
    write(holdings, venue)


def write_review_invitation(holdings: Holdings, venue: Venue, place: str, forum_id: str) -> None:
    """Write one paper's own review invitation; the form is shared with the venue's."""
    name = f"{place}/-/{venue.review_name}"
    parent, fields = f"{venue.venue_id}/-/{venue.review_name}", venue.forms[venue.review_name]
    invitation = _invitation(venue, name, venue.calendar.reviews, venue.calendar.released)
    if venue.api == 1:
        reply: Json = {"forum": forum_id, "replyto": forum_id, "content": _questions_v1(fields)}
        holdings.invitations[name] = invitation | {"super": parent, "reply": reply}
        return
    note: Json = {"forum": forum_id, "replyto": forum_id, "content": _questions_v2(fields)}
    edit: Json = {"note": note}
    holdings.invitations[name] = invitation | {"domain": venue.venue_id, "invitations": [parent], "edit": edit}


def _write_v1(holdings: Holdings, venue: Venue) -> None:
    calendar, name = venue.calendar, venue.venue_id
    submission = _invitation(venue, venue.submission, calendar.opens, calendar.deadline) | {
        "reply": {"content": {key: {"order": order} for order, key in enumerate(SUBMISSION_FIELDS, 1)}},
    }
    holdings.invitations[venue.submission] = submission
    for tail in ("Blind_Submission", "Withdrawn_Submission", "Desk_Rejected_Submission"):
        invitation = _invitation(venue, f"{name}/-/{tail}", calendar.posted, 0)
        holdings.invitations[f"{name}/-/{tail}"] = invitation | {"reply": {"content": {}}}
    for stage, fields in venue.forms.items():
        invitation = _invitation(venue, f"{name}/-/{stage}", calendar.reviews, 0)
        holdings.invitations[f"{name}/-/{stage}"] = invitation | {"reply": {"content": _questions_v1(fields)}}


def _write_v2(holdings: Holdings, venue: Venue) -> None:
    calendar, name = venue.calendar, venue.venue_id
    content = {key: {"order": order} for order, key in enumerate(SUBMISSION_FIELDS, 1)}
    # Where title and abstract come first, theirs is the deadline that this invitation shows.
    due = 0 if venue.rolling else calendar.registration or calendar.deadline
    submission = _invitation(venue, venue.submission, calendar.opens, due)
    holdings.invitations[venue.submission] = submission | {"domain": name, "edit": {"note": {"content": content}}}
    for stage, fields in venue.forms.items():
        invitation = _invitation(venue, f"{name}/-/{stage}", calendar.reviews, 0)
        note: Json = {"content": _questions_v2(fields)}
        edit: Json = {"invitation": {"edit": {"note": note}}}
        holdings.invitations[f"{name}/-/{stage}"] = invitation | {"domain": name, "edit": edit}


@cache
def _questions_v1(fields: tuple[Field, ...]) -> Json:
    return {field.name: field.as_v1(order) for order, field in enumerate(fields, 1)}


@cache
def _questions_v2(fields: tuple[Field, ...]) -> Json:
    return {field.name: field.as_v2(order) for order, field in enumerate(fields, 1)}


def _invitation(venue: Venue, name: str, opens: int, due: int) -> Json:
    return {
        "id": name,
        "readers": ["everyone"],
        "nonreaders": [],
        "writers": [venue.venue_id],
        "signatures": [venue.venue_id],
        "invitees": ["~"] if name == venue.submission else [venue.venue_id],
        "noninvitees": [],
        "cdate": opens,
        "duedate": due or None,
        "expdate": due + GRACE_MS if due else None,
        "ddate": None,
        "tcdate": opens - 10 * DAY_MS,
        "tmdate": opens - DAY_MS,
    }
