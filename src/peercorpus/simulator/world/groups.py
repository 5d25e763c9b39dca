"""Write the groups and invitations of the invented venues."""

from collections.abc import Sequence
from functools import cache

from peercorpus.simulator.world.forms import FormField
from peercorpus.simulator.world.holdings import Holdings, Json, World
from peercorpus.simulator.world.timeline import GRACE_MS
from peercorpus.simulator.world.venues import DAY_MS, Venue

INSIDER_ID = "~Simulated_Insider1"

SUPPORT = "OpenReview.net/Support"
FIXED = ("host", "venues", "active_venues")


def write_groups(world: World, venues: Sequence[Venue]) -> None:
    """Write each venue's group only to its own API, and the fixed groups to both."""
    for venue in venues:
        holdings = world.v1 if venue.api == 1 else world.v2
        parts = venue.venue_id.split("/")
        for depth in range(1, len(parts)):
            group_id = "/".join(parts[:depth])
            holdings.groups[group_id] = _group(venue, group_id)
        group = _group(venue, venue.venue_id) | {"members": [f"{venue.venue_id}/Program_Chairs"]}
        if venue.api == 2:
            settings = _journal_settings(venue) if venue.rolling else _conference_settings(venue)
            group |= {"version": 2, "content": {key: {"value": value} for key, value in settings.items()}}
        holdings.groups[venue.venue_id] = group
        chairs_id = f"{venue.venue_id}/Program_Chairs"
        chairs = _group(venue, chairs_id) | {"members": [INSIDER_ID], "readers": [venue.venue_id, chairs_id]}
        holdings.groups[chairs_id] = chairs
    hosts = list(dict.fromkeys(venue.host for venue in venues))
    members = {key: [venue.venue_id for venue in venues] for key in FIXED} | {"host": hosts}
    for group_id, ids in members.items():
        world.v1.groups[group_id] = _fixed_group(group_id, ids) | {"domain": None}
        world.v2.groups[group_id] = _fixed_group(group_id, ids) | {"domain": group_id}


def _fixed_group(group_id: str, members: list[str]) -> Json:
    return {
        "id": group_id,
        "cdate": 1_500_000_000_000,
        "ddate": None,
        "tcdate": 1_500_000_000_000,
        "tmdate": 1_500_000_000_000,
        "members": members,
        "readers": ["everyone"],
        "writers": [SUPPORT],
        "signatures": [SUPPORT],
        "signatories": [],
        "nonreaders": [],
    }


def _group(venue: Venue, group_id: str) -> Json:
    opened = venue.calendar.opens - 60 * 86_400_000
    return {
        "id": group_id,
        "parent": group_id.rpartition("/")[0] or None,
        "domain": None if venue.api == 1 else group_id,
        "host": venue.host,
        "cdate": opened,
        "ddate": None,
        "tcdate": opened,
        "tmdate": opened,
        "members": [],
        "readers": ["everyone"],
        "nonreaders": [],
        "writers": [group_id],
        "signatures": [SUPPORT],
        "signatories": [group_id],
        "web": None,
    }


def _journal_settings(venue: Venue) -> Json:
    return {
        "title": venue.title,
        "subtitle": venue.short,
        "website": venue.website,
        "contact": "editors@jle.example.org",
        "submission_id": venue.submission,
        "under_review_venue_id": f"{venue.venue_id}/Under_Review",
        "decision_pending_venue_id": f"{venue.venue_id}/Decision_Pending",
    }


def _conference_settings(venue: Venue) -> Json:
    name = venue.venue_id
    settings: Json = {
        "title": venue.title,
        "subtitle": venue.short,
        "website": venue.website,
        "contact": f"chairs@{venue.host.lower()}.example.org",
        "submission_id": venue.submission,
        "submission_name": venue.paper_name,
        "submission_venue_id": f"{name}/Submission",
        "withdrawn_venue_id": f"{name}/Withdrawn_Submission",
        "desk_rejected_venue_id": f"{name}/Desk_Rejected_Submission",
        "rejected_venue_id": f"{name}/Rejected_Submission",
        "withdrawn_submission_id": f"{name}/-/Withdrawn_Submission",
        "desk_rejected_submission_id": f"{name}/-/Desk_Rejected_Submission",
        "public_submissions": True,
        "public_withdrawn_submissions": True,
        "public_desk_rejected_submissions": True,
        "review_name": venue.review_name,
        "comment_name": "Official_Comment",
        "decision_name": "Decision",
        "decision_field_name": "decision",
        "accept_decision_options": list(venue.labels),
        "withdrawal_name": "Withdrawal",
        "desk_rejection_name": "Desk_Rejection",
        "reviewers_name": "Reviewers",
        "reviewers_anon_name": "Reviewer_",
        "area_chairs_name": "Area_Chairs",
        "area_chairs_anon_name": "Area_Chair_",
        "authors_name": "Authors",
        "program_chairs_id": f"{name}/Program_Chairs",
    }
    return settings | _named_fields(venue)


def _named_fields(venue: Venue) -> Json:
    """Return the settings of only some venues: the field of the rating, and the names of optional stages."""
    fields = {question.name for question in venue.forms[venue.review_name]}
    named: Json = {}
    if "rating" in fields:
        named |= {"review_rating": "rating", "review_confidence": "confidence"}
    else:
        named |= {"review_rating": "Soundness", "review_confidence": "Reviewer_Confidence"}
    if venue.calendar.registration:
        named["full_submission_invitation_id"] = f"{venue.venue_id}/-/Full_Submission"
    if "Rebuttal" in venue.forms:
        named["rebuttal_name"] = "Rebuttal"
    if "Meta_Review" in venue.forms:
        named |= {"meta_review_name": "Meta_Review", "meta_review_recommendation": "recommendation"}
    return named


SUBMISSION_FIELDS = ("title", "authors", "authorids", "keywords", "TLDR", "abstract", "pdf")


def write_invitations(holdings: Holdings, venue: Venue) -> None:
    """Write the submission invitation and one invitation per stage for the whole venue."""
    write = _write_v1 if venue.api == 1 else _write_v2
    write(holdings, venue)


def write_review_invitation(holdings: Holdings, venue: Venue, paper_group: str, forum_id: str) -> None:
    """Write the review invitation of one paper, which has the same form as the venue's."""
    name = f"{paper_group}/-/{venue.review_name}"
    parent = f"{venue.venue_id}/-/{venue.review_name}"
    fields = venue.forms[venue.review_name]
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
    # If title and abstract are due first, this invitation shows their deadline.
    due = 0 if venue.rolling else calendar.registration or calendar.deadline
    submission = _invitation(venue, venue.submission, calendar.opens, due)
    holdings.invitations[venue.submission] = submission | {"domain": name, "edit": {"note": {"content": content}}}
    for stage, fields in venue.forms.items():
        invitation = _invitation(venue, f"{name}/-/{stage}", calendar.reviews, 0)
        note: Json = {"content": _questions_v2(fields)}
        edit: Json = {"invitation": {"edit": {"note": note}}}
        holdings.invitations[f"{name}/-/{stage}"] = invitation | {"domain": name, "edit": edit}


@cache
def _questions_v1(fields: tuple[FormField, ...]) -> Json:
    return {field.name: field.as_v1(order) for order, field in enumerate(fields, 1)}


@cache
def _questions_v2(fields: tuple[FormField, ...]) -> Json:
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
