"""Write papers and their threads as API v2 stores them: notes and the edits that made them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from peercorpus.simulator.world.holdings import Holdings, Json
from peercorpus.simulator.world.papers import Draft, ThreadEntry
from peercorpus.simulator.world.timeline import PaperTimeline
from peercorpus.simulator.world.venues import DAY_MS

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
class EditStep:
    """An edit of a submission: the fields that it sets, its signer, and whether it is public.

    Attributes:
        hidden: The note's fields that only the venue and the authors may read.
        reposted: Time when the edit was written again with its original date; 0 for never.
    """

    invitation: str
    moment: int
    answers: Answers
    by: str
    is_public: bool
    hidden: tuple[str, ...] = ()
    reposted: int = 0


def list_steps(timeline: PaperTimeline) -> list[EditStep]:
    """Return the edits of a submission in chronological order."""
    steps = _journal_steps(timeline) if timeline.venue.rolling else _conference_steps(timeline)
    return sorted(steps, key=lambda step: step.moment)


def venue_string(timeline: PaperTimeline, status: str) -> str:
    """Return the verbatim `venue` of a submission in that state."""
    venue = timeline.venue
    if status == "accepted":
        return venue.labels[timeline.script.decision]
    return (JOURNAL_LABELS if venue.rolling else LABELS)[status].format(venue.short)


def _conference_steps(timeline: PaperTimeline) -> Iterator[EditStep]:
    script, calendar, venue = timeline.script, timeline.calendar, timeline.venue
    authors = f"{timeline.place}/Authors"
    group = timeline.place
    yield from _uploads(timeline)
    posted_as = "under_review" if script.touched or script.status != "rejected" else "rejected"
    name = venue.venue_id
    posted = _state(timeline, posted_as) | _people(timeline)
    yield EditStep(f"{name}/-/Post_Submission", calendar.posted, posted, name, False, ("authors", "authorids"))
    if script.status in ("withdrawn", "desk_rejected"):
        tail = "Withdrawn_Submission" if script.status == "withdrawn" else "Desk_Rejected_Submission"
        yield EditStep(f"{name}/-/{tail}", _find_departure(timeline), _state(timeline, script.status), name, False)
    if Draft.REBUTTAL in script.versions:
        revised: Answers = {"abstract": script.abstract, "pdf": timeline.path(Draft.REBUTTAL)}
        moment = timeline.submitted(Draft.REBUTTAL)
        yield EditStep(f"{group}/-/Rebuttal_Revision", moment, revised, authors, True)
    if script.decision and script.touched:
        hidden = () if script.status == "accepted" or venue.unmasks else ("authors", "authorids")
        released = _state(timeline, script.status) | _people(timeline) | {"_bibtex": _bibtex(timeline)}
        yield EditStep(f"{name}/-/Edit", calendar.decision + DAY_MS, released, name, False, hidden)
    if Draft.CAMERA_READY in script.versions:
        final: Answers = _record(timeline) | {"pdf": timeline.path(Draft.CAMERA_READY)}
        moment = timeline.submitted(Draft.CAMERA_READY)
        yield EditStep(f"{group}/-/Camera_Ready_Revision", moment, final, authors, script.public_history)


def _uploads(timeline: PaperTimeline) -> Iterator[EditStep]:
    """Yield the authors' edits before the deadline; some venues collect abstracts first."""
    script = timeline.script
    submission = timeline.venue.submission
    authors = f"{timeline.place}/Authors"
    first = _record(timeline)
    paper: Answers = {"pdf": timeline.path(Draft.SUBMISSION)}
    is_public = script.public_history and not timeline.calendar.registration
    moment = timeline.submitted()
    if Draft.EARLY in script.versions:
        first["pdf"] = timeline.path(Draft.EARLY)
    elif not timeline.calendar.registration:
        first |= paper
    hidden = ("authors", "authorids")
    yield EditStep(submission, timeline.registered(), first, authors, is_public, hidden)
    if timeline.calendar.registration:
        yield EditStep(f"{timeline.place}/-/Full_Submission", moment, paper, authors, False)
    elif Draft.EARLY in script.versions:
        yield EditStep(submission, moment, paper, authors, is_public)


def _journal_steps(timeline: PaperTimeline) -> Iterator[EditStep]:
    """Return the edits at a journal, which opens the whole history when review begins."""
    script, calendar, venue = timeline.script, timeline.calendar, timeline.venue
    authors = f"{timeline.place}/Authors"
    name = venue.venue_id
    hidden = ("authors", "authorids")
    first = _record(timeline) | {"pdf": timeline.path(Draft.SUBMISSION)}
    yield EditStep(venue.submission, timeline.submitted(), first, authors, True, hidden, calendar.posted)
    yield EditStep(f"{name}/-/Edit", calendar.posted - 60_000, {}, name, True)
    yield EditStep(f"{name}/-/Under_Review", calendar.posted, _state(timeline, "under_review"), name, True)
    if Draft.REBUTTAL in script.versions:
        revised: Answers = {"abstract": script.abstract, "pdf": timeline.path(Draft.REBUTTAL)}
        yield EditStep(f"{timeline.place}/-/Revision", timeline.submitted(Draft.REBUTTAL), revised, authors, True)
    if Draft.CAMERA_READY in script.versions:
        final: Answers = {"pdf": timeline.path(Draft.CAMERA_READY)}
        moment = timeline.submitted(Draft.CAMERA_READY)
        yield EditStep(f"{timeline.place}/-/Camera_Ready_Revision", moment, final, authors, True)
    if script.status == "accepted":
        state = _state(timeline, "accepted") | _people(timeline) | {"_bibtex": _bibtex(timeline)}
        yield EditStep(f"{name}/-/Accepted", calendar.camera_ready + 6 * DAY_MS, state, name, True)
    elif script.status != "under_review":
        tail = {"rejected": "Rejected", "withdrawn": "Withdrawn_Submission"}.get(script.status, "Desk_Rejected")
        yield EditStep(f"{name}/-/{tail}", _find_departure(timeline), _state(timeline, script.status), name, True)


def _find_departure(timeline: PaperTimeline) -> int:
    """Return the time of a paper's withdrawal or desk rejection, else of its decision."""
    for entry in timeline.script.thread:
        if entry.kind in ("Withdrawal", "Desk_Rejection"):
            return timeline.said(entry) + 60_000
    return timeline.calendar.decision + DAY_MS


def _state(timeline: PaperTimeline, status: str) -> Answers:
    ids = JOURNAL_IDS if timeline.venue.rolling else VENUE_IDS
    return {"venue": venue_string(timeline, status), "venueid": timeline.venue.venue_id + ids[status]}


def _people(timeline: PaperTimeline) -> Answers:
    authors = list(timeline.script.authors)
    return {"authors": authors, "authorids": [f"~{author.replace(' ', '_')}1" for author in authors]}


def _record(timeline: PaperTimeline) -> Answers:
    script = timeline.script
    record: Answers = {"title": script.title} | _people(timeline) | {"keywords": list(script.keywords)}
    if script.tldr:
        record["TLDR"] = script.tldr
    record["abstract"] = script.abstract
    if script.area:
        record["primary_area"] = script.area
    return record


def _bibtex(timeline: PaperTimeline) -> str:
    script = timeline.script
    key = script.authors[0].split()[-1].lower()
    entry = (
        f"title={{{script.title}}},\nauthor={{{' and '.join(script.authors)}}},\nbooktitle={{{timeline.venue.title}}}"
    )
    return f"@inproceedings{{\n{key}{timeline.number},\n{entry}\n}}"


LICENCE = "CC BY 4.0"
EVERYONE = ["everyone"]
NOBODY: list[str] = []
UNDER_A_REVIEW = ("Rebuttal", "Mandatory_Acknowledgement")
FOR_SCORES = ("Official_Review", "Review")


class Api2Writer:
    """Writes papers into the objects of API v2.

    Equal texts share one `{"value": …}` object, which saves memory in a large world; code that serves the holdings must
    copy an object before changing it.
    """

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._values: dict[str | int, Json] = {}
        self._shared: dict[str, list[str]] = {}

    def write(self, timeline: PaperTimeline) -> None:
        """Write a submission, its edits and all replies."""
        self._write_submission(timeline)
        counts: Counter[str] = Counter()
        ids = {"": timeline.forum_id}
        numbers: dict[str, int] = {}
        for entry in timeline.thread:
            ids[entry.key] = timeline.draw_id("entry", entry.key)
            group = timeline.place
            if entry.kind in UNDER_A_REVIEW:
                group = f"{group}/{timeline.venue.review_name}{numbers[entry.under]}"
            invitation = f"{group}/-/{entry.kind}"
            counts[invitation] += 1
            numbers[entry.key] = counts[invitation]
            note = self._reply(timeline, entry, ids, invitation, counts[invitation])
            self._holdings.notes[ids[entry.key]] = note
            if entry.kind in FOR_SCORES:
                self._write_review_edits(timeline, entry, note)

    def _content(self, timeline: PaperTimeline, answers: Mapping[str, object]) -> dict[str, Json]:
        content: dict[str, Json] = {}
        for key, answer in answers.items():
            value = timeline.spoken(answer)
            wrapped: Json = {"value": value}
            content[key] = self._values.setdefault(value, wrapped) if isinstance(value, str | int) else wrapped
        return content

    def _reply(
        self, timeline: PaperTimeline, entry: ThreadEntry, ids: Mapping[str, str], invitation: str, number: int
    ) -> Json:
        signature = timeline.signature(entry.by)
        created = timeline.said(entry)
        is_released = entry.kind in FOR_SCORES
        modified = max(created, timeline.calendar.released) if is_released else created
        content = self._content(timeline, entry.content)
        for change in entry.changes:
            content |= self._content(timeline, change.content)
            modified = timeline.changed(change.at, entry.key)
        for name in entry.private:
            content[name] = content[name] | {"readers": [timeline.venue.venue_id, f"{timeline.place}/Area_Chairs"]}
        closed_to = [timeline.venue.venue_id, f"{timeline.place}/Area_Chairs", signature]
        return {
            "id": ids[entry.key],
            "forum": timeline.forum_id,
            "replyto": ids[entry.under],
            "number": number,
            "version": 2,
            "domain": timeline.venue.venue_id,
            "invitations": [invitation, f"{timeline.venue.venue_id}/-/Edit"] if is_released else [invitation],
            "parentInvitations": f"{timeline.venue.venue_id}/-/{entry.kind}",
            "readers": closed_to if entry.closed else EVERYONE,
            "nonreaders": NOBODY,
            "writers": self._share(timeline.venue.venue_id, signature),
            "signatures": self._share(signature),
            "cdate": created,
            "mdate": modified,
            "odate": None,
            "pdate": None,
            "ddate": modified + 3_600_000 if entry.deleted else None,
            "tcdate": created,
            "tmdate": modified + 3_600_000 if entry.deleted else modified,
            "license": LICENCE,
            "content": content,
        }

    def _share(self, *names: str) -> list[str]:
        return self._shared.setdefault("\n".join(names), list(names))

    def _write_review_edits(self, timeline: PaperTimeline, entry: ThreadEntry, note: Json) -> None:
        """Write the edit that posted a review (then not public), the one that released it, and its public edits."""
        group = timeline.place
        signature = timeline.signature(entry.by)
        note_id = note["id"]
        invitation = f"{group}/-/{entry.kind}"
        posted = self._content(timeline, entry.content)
        closed = [timeline.venue.venue_id, f"{group}/Area_Chairs", signature]
        creation: Json = {"id": note_id, "forum": timeline.forum_id, "replyto": timeline.forum_id, "content": posted}
        self._edit(timeline, invitation, timeline.said(entry), creation, signature, closed, f"{entry.key}/0")
        release: Json = {"id": note_id, "readers": EVERYONE}
        chairs = timeline.venue.venue_id
        self._edit(
            timeline, f"{chairs}/-/Edit", timeline.calendar.released, release, chairs, EVERYONE, f"{entry.key}/1"
        )
        now = dict(posted)
        for step, change in enumerate(entry.changes, 2):
            # Reviewers submit the whole form again, so each of these edits contains the complete new state.
            now |= self._content(timeline, change.content)
            moment = timeline.changed(change.at, entry.key)
            revision: Json = {"id": note_id, "content": dict(now)}
            self._edit(timeline, invitation, moment, revision, signature, EVERYONE, f"{entry.key}/{step}")

    def _edit(
        self,
        timeline: PaperTimeline,
        invitation: str,
        moment: int,
        note: Json,
        signature: str,
        readers: list[str],
        name: str,
    ) -> Json:
        edit: Json = {
            "id": timeline.draw_id("edit", name),
            "invitation": invitation,
            "domain": timeline.venue.venue_id,
            "readers": readers,
            "nonreaders": NOBODY,
            "writers": self._share(timeline.venue.venue_id, signature),
            "signatures": self._share(signature),
            "cdate": moment,
            "mdate": moment,
            "tcdate": moment,
            "tmdate": moment,
            "ddate": None,
            "version": 2,
            "note": note,
        }
        self._holdings.edits[str(edit["id"])] = edit
        return edit

    def _write_submission(self, timeline: PaperTimeline) -> None:
        content: dict[str, Json] = {}
        steps = list_steps(timeline)
        for count, step in enumerate(steps):
            patch = self._content(timeline, step.answers)
            for name in step.hidden:
                patch[name] = patch[name] | {"readers": timeline.inner_circle}
            content |= patch
            readers = EVERYONE if step.is_public else timeline.inner_circle
            note: Json = {"id": timeline.forum_id, "content": patch}
            edit = self._edit(timeline, step.invitation, step.moment, note, step.by, readers, f"submission/{count}")
            if step.reposted:
                # A journal reposts the first edit under its own name when it opens the history.
                edit |= {"invitation": f"{timeline.venue.venue_id}/-/Edit", "tmdate": step.reposted}
                edit["signatures"] = [timeline.venue.venue_id]
        self._holdings.notes[timeline.forum_id] = self._root(timeline, steps, content)

    def _root(self, timeline: PaperTimeline, steps: list[EditStep], content: dict[str, Json]) -> Json:
        created, modified = steps[0].moment, steps[-1].moment
        return {
            "id": timeline.forum_id,
            "forum": timeline.forum_id,
            "replyto": None,
            "number": timeline.number,
            "version": 2,
            "domain": timeline.venue.venue_id,
            "invitations": list(dict.fromkeys(step.invitation for step in steps)),
            "readers": EVERYONE,
            "nonreaders": NOBODY,
            "writers": timeline.inner_circle,
            "signatures": [f"{timeline.place}/Authors"],
            "cdate": created,
            "mdate": modified,
            "odate": timeline.calendar.posted,
            "pdate": timeline.calendar.decision if timeline.script.status == "accepted" else None,
            "ddate": None,
            "tcdate": created,
            "tmdate": modified,
            "license": LICENCE,
            "content": content,
        }
