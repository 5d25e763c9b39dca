"""The groups of the simulated service: venues as each API describes them, their parents, and the fixed lists."""

from collections.abc import Sequence

from peercorpus.simulator.accounts import INSIDER_ID
from peercorpus.simulator.holdings import Json, World
from peercorpus.simulator.venues import Venue

SUPPORT = "OpenReview.net/Support"
FIXED = ("host", "venues", "active_venues")


def write_groups(world: World, venues: Sequence[Venue]) -> None:
    """Write each venue's group on its own API alone, and the fixed groups on both."""
    for venue in venues:
        holdings = world.v1 if venue.api == 1 else world.v2
        for group_id in _ancestors(venue):
            holdings.groups[group_id] = _group(venue, group_id)
        holdings.groups[venue.venue_id] = _venue_group(venue)
        holdings.groups[f"{venue.venue_id}/Program_Chairs"] = _chairs(venue)
    hosts = list(dict.fromkeys(venue.host for venue in venues))
    members = {key: [venue.venue_id for venue in venues] for key in FIXED} | {"host": hosts}
    for group_id, ids in members.items():
        world.v1.groups[group_id] = _fixed_group(group_id, ids) | {"domain": None}
        world.v2.groups[group_id] = _fixed_group(group_id, ids) | {"domain": group_id}


def _ancestors(venue: Venue) -> list[str]:
    parts = venue.venue_id.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


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


def _venue_group(venue: Venue) -> Json:
    group = _group(venue, venue.venue_id) | {"members": [f"{venue.venue_id}/Program_Chairs"]}
    if venue.api == 1:
        return group
    settings = _journal_settings(venue) if venue.rolling else _conference_settings(venue)
    return group | {"version": 2, "content": {key: {"value": value} for key, value in settings.items()}}


def _chairs(venue: Venue) -> Json:
    group_id = f"{venue.venue_id}/Program_Chairs"
    return _group(venue, group_id) | {"members": [INSIDER_ID], "readers": [venue.venue_id, group_id]}


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
    """Give the settings that only some venues have: where the rating stands, and the names of optional stages."""
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
