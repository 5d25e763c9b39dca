"""The life of a submission on API v2: each edit of its note, in order, from the first upload to the camera-ready."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from peercorpus.simulator.casting import Casting
from peercorpus.simulator.script import Draft
from peercorpus.simulator.venues import DAY_MS

Answers: TypeAlias = dict[str, object]

VENUE_IDS = {
    "accepted": "",
    "rejected": "/Rejected_Submission",
    "withdrawn": "/Withdrawn_Submission",
    "desk_rejected": "/Desk_Rejected_Submission",
    "under_review": "/Submission",
}
JOURNAL_IDS = VENUE_IDS | {"rejected": "/Rejected", "desk_rejected": "/Desk_Rejected", "under_review": "/Under_Review"}
JOURNAL_LABELS = {
    "rejected": "Rejected by {}",
    "withdrawn": "Withdrawn by Authors",
    "desk_rejected": "Desk rejected by {}",
    "under_review": "Under review for {}",
}
LABELS = {
    "rejected": "Submitted to {}",
    "withdrawn": "{} Conference Withdrawn Submission",
    "desk_rejected": "{} Conference Desk Rejected Submission",
    "under_review": "{} Conference Submission",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One edit of a submission: the fields it sets, who signs it, and whether the public may read it.

    Attributes:
        hidden: The fields that only the venue and the authors may read on the note.
        reposted: When the edit was written again, with its first date kept; 0 for never.
    """

    invitation: str
    moment: int
    answers: Answers
    by: str
    is_public: bool
    hidden: tuple[str, ...] = ()
    reposted: int = 0


def list_steps(casting: Casting) -> list[Step]:
    """Give the edits of a submission in the order in which they were made."""
    steps = _journal_steps(casting) if casting.venue.rolling else _conference_steps(casting)
    return sorted(steps, key=lambda step: step.moment)


def venue_string(casting: Casting, status: str) -> str:
    """Give the verbatim `venue` of a submission in that state."""
    venue = casting.venue
    if status == "accepted":
        return venue.labels[casting.script.decision]
    return (JOURNAL_LABELS if venue.rolling else LABELS)[status].format(venue.short)


def _conference_steps(casting: Casting) -> Iterator[Step]:
    script, calendar, venue = casting.script, casting.calendar, casting.venue
    authors, place = f"{casting.place}/Authors", casting.place
    yield from _uploads(casting)
    posted_as = "under_review" if script.touched or script.status != "rejected" else "rejected"
    name = venue.venue_id
    posted = _state(casting, posted_as) | _people(casting)
    yield Step(f"{name}/-/Post_Submission", calendar.posted, posted, name, False, ("authors", "authorids"))
    if script.status in ("withdrawn", "desk_rejected"):
        tail = "Withdrawn_Submission" if script.status == "withdrawn" else "Desk_Rejected_Submission"
        yield Step(f"{name}/-/{tail}", _left(casting), _state(casting, script.status), name, False)
    if Draft.REBUTTAL in script.versions:
        revised: Answers = {"abstract": script.abstract, "pdf": casting.path(Draft.REBUTTAL)}
        moment = casting.submitted(Draft.REBUTTAL)
        yield Step(f"{place}/-/Rebuttal_Revision", moment, revised, authors, True)
    if script.decision and script.touched:
        hidden = () if script.status == "accepted" or venue.unmasks else ("authors", "authorids")
        released = _state(casting, script.status) | _people(casting) | {"_bibtex": _bibtex(casting)}
        yield Step(f"{name}/-/Edit", calendar.decision + DAY_MS, released, name, False, hidden)
    if Draft.CAMERA_READY in script.versions:
        final: Answers = _record(casting) | {"pdf": casting.path(Draft.CAMERA_READY)}
        moment = casting.submitted(Draft.CAMERA_READY)
        yield Step(f"{place}/-/Camera_Ready_Revision", moment, final, authors, script.public_history)


def _uploads(casting: Casting) -> Iterator[Step]:
    """Give what the authors sent before the deadline: at some venues first the abstract, then the paper."""
    script, submission = casting.script, casting.venue.submission
    authors, first = f"{casting.place}/Authors", _record(casting)
    paper: Answers = {"pdf": casting.path(Draft.SUBMISSION)}
    is_public, moment = script.public_history and not casting.calendar.registration, casting.submitted()
    if Draft.EARLY in script.versions:
        first["pdf"] = casting.path(Draft.EARLY)
    elif not casting.calendar.registration:
        first |= paper
    hidden = ("authors", "authorids")
    yield Step(submission, casting.registered(), first, authors, is_public, hidden)
    if casting.calendar.registration:
        yield Step(f"{casting.place}/-/Full_Submission", moment, paper, authors, False)
    elif Draft.EARLY in script.versions:
        yield Step(submission, moment, paper, authors, is_public)


def _journal_steps(casting: Casting) -> Iterator[Step]:
    """Give the edits at a journal, which opens the whole history when review begins."""
    script, calendar, venue = casting.script, casting.calendar, casting.venue
    authors, name, hidden = f"{casting.place}/Authors", venue.venue_id, ("authors", "authorids")
    first = _record(casting) | {"pdf": casting.path(Draft.SUBMISSION)}
    yield Step(venue.submission, casting.submitted(), first, authors, True, hidden, calendar.posted)
    yield Step(f"{name}/-/Edit", calendar.posted - 60_000, {}, name, True)
    yield Step(f"{name}/-/Under_Review", calendar.posted, _state(casting, "under_review"), name, True)
    if Draft.REBUTTAL in script.versions:
        revised: Answers = {"abstract": script.abstract, "pdf": casting.path(Draft.REBUTTAL)}
        yield Step(f"{casting.place}/-/Revision", casting.submitted(Draft.REBUTTAL), revised, authors, True)
    if Draft.CAMERA_READY in script.versions:
        final: Answers = {"pdf": casting.path(Draft.CAMERA_READY)}
        moment = casting.submitted(Draft.CAMERA_READY)
        yield Step(f"{casting.place}/-/Camera_Ready_Revision", moment, final, authors, True)
    if script.status == "accepted":
        state = _state(casting, "accepted") | _people(casting) | {"_bibtex": _bibtex(casting)}
        yield Step(f"{name}/-/Accepted", calendar.camera_ready + 6 * DAY_MS, state, name, True)
    elif script.status != "under_review":
        tail = {"rejected": "Rejected", "withdrawn": "Withdrawn_Submission"}.get(script.status, "Desk_Rejected")
        yield Step(f"{name}/-/{tail}", _left(casting), _state(casting, script.status), name, True)


def _left(casting: Casting) -> int:
    """Give the moment at which a paper left: its withdrawal or desk rejection, else the decision."""
    for entry in casting.script.thread:
        if entry.kind in ("Withdrawal", "Desk_Rejection"):
            return casting.said(entry) + 60_000
    return casting.calendar.decision + DAY_MS


def _state(casting: Casting, status: str) -> Answers:
    ids = JOURNAL_IDS if casting.venue.rolling else VENUE_IDS
    return {"venue": venue_string(casting, status), "venueid": casting.venue.venue_id + ids[status]}


def _people(casting: Casting) -> Answers:
    authors = list(casting.script.authors)
    return {"authors": authors, "authorids": [f"~{author.replace(' ', '_')}1" for author in authors]}


def _record(casting: Casting) -> Answers:
    """Give what the submission form asks, without the PDF."""
    script = casting.script
    record: Answers = {"title": script.title} | _people(casting) | {"keywords": list(script.keywords)}
    if script.tldr:
        record["TLDR"] = script.tldr
    record["abstract"] = script.abstract
    if script.area:
        record["primary_area"] = script.area
    return record


def _bibtex(casting: Casting) -> str:
    script = casting.script
    key = script.authors[0].split()[-1].lower()
    entry = (
        f"title={{{script.title}}},\nauthor={{{' and '.join(script.authors)}}},\nbooktitle={{{casting.venue.title}}}"
    )
    return f"@inproceedings{{\n{key}{casting.number},\n{entry}\n}}"
