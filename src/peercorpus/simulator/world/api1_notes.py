"""Write papers and their threads as API v1 stores them: notes and references."""

from collections import Counter
from collections.abc import Iterator, Mapping

from peercorpus.simulator.world.holdings import Holdings, Json
from peercorpus.simulator.world.papers import Draft, ThreadEntry
from peercorpus.simulator.world.timeline import PaperTimeline
from peercorpus.simulator.world.venues import DAY_MS

EVERYONE = ["everyone"]
NOBODY: list[str] = []
REVISED_FIELDS = ("title", "abstract", "pdf", "code")
# The service's programs edit old notes for years; those references have no PDF and no relevant text.
BOOKKEEPING_DAYS = (1180, 1391, 1864)


class Api1Writer:
    """Writes papers into the objects of API v1."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings

    def write(self, timeline: PaperTimeline) -> None:
        """Write the original, the blind copy, its references and all replies."""
        self._write_submission(timeline)
        counts: Counter[str] = Counter()
        ids = {"": timeline.forum_id}
        for entry in timeline.thread:
            counts[entry.kind] += 1
            ids[entry.key] = timeline.draw_id("entry", entry.key)
            note = self._reply(timeline, entry, ids, counts[entry.kind])
            self._holdings.notes[ids[entry.key]] = note
            if entry.changes:
                self._write_review_references(timeline, entry, note)

    def _reply(self, timeline: PaperTimeline, entry: ThreadEntry, ids: Mapping[str, str], number: int) -> Json:
        signature = timeline.signature(entry.by)
        created = timeline.said(entry)
        content = {key: timeline.spoken(answer) for key, answer in entry.content.items()}
        modified = created
        for change in entry.changes:
            content |= {key: timeline.spoken(answer) for key, answer in change.content.items()}
            modified = timeline.changed(change.at, entry.key)
        invitation = f"{timeline.place}/-/{entry.kind}"
        note = _note(ids[entry.key], timeline.forum_id, invitation, created, modified, signature, content)
        note |= {"number": number, "replyto": ids[entry.under]}
        if entry.closed:
            note["readers"] = [f"{timeline.venue.venue_id}/Program_Chairs", f"{timeline.place}/Area_Chairs", signature]
        if entry.deleted:
            note |= {"ddate": modified + 3_600_000, "tmdate": modified + 3_600_000}
        return note

    def _write_review_references(self, timeline: PaperTimeline, entry: ThreadEntry, note: Json) -> None:
        """Write every version of a changed review; on API v1 all of them are public."""
        content = {key: timeline.spoken(answer) for key, answer in entry.content.items()}
        moments = [timeline.said(entry), *(timeline.changed(change.at, entry.key) for change in entry.changes)]
        patches: list[Mapping[str, object]] = [{}, *(change.content for change in entry.changes)]
        for step, (moment, patch) in enumerate(zip(moments, patches, strict=True)):
            content = content | {key: timeline.spoken(answer) for key, answer in patch.items()}
            reference_id = timeline.draw_id("reference", entry.key, step)
            reference = note | {"id": reference_id, "referent": note["id"], "content": content}
            self._holdings.edits[reference_id] = reference | {"tcdate": moment, "tmdate": moment}

    def _write_submission(self, timeline: PaperTimeline) -> None:
        uploads = list(_uploads(timeline))
        last: Json = {}
        for _, content in uploads:
            last |= content
        self._write_original(timeline, uploads[0][0], last)
        blind = _blind_note(timeline, last)
        self._holdings.notes[timeline.forum_id] = blind
        for step, (moment, content) in enumerate(uploads):
            self._refer(timeline, blind, f"upload/{step}", moment, _mask_authors(timeline, content), is_authors=True)
        overlay = {
            key: value for key, value in _mask_authors(timeline, last).items() if key in ("authors", "authorids")
        }
        overlay |= {key: last[key] for key in ("_bibtex", "original_pdf") if key in last}
        self._refer(timeline, blind, "overlay", timeline.calendar.posted, overlay, is_authors=False)
        for days in BOOKKEEPING_DAYS:
            moment = timeline.calendar.posted + int((days + timeline.draw_share("bookkeeping", days)) * DAY_MS)
            kept = overlay | {"community_implementations": f"[{days % 3} code implementations](https://example.org)"}
            self._refer(timeline, blind, f"bookkeeping/{days}", moment, kept, is_authors=True)

    def _write_original(self, timeline: PaperTimeline, moment: int, content: Json) -> None:
        original_id = timeline.draw_id("original")
        venue_id = timeline.venue.venue_id
        original = _note(original_id, original_id, f"{venue_id}/-/Submission", moment, moment, "", content)
        readers = [venue_id, f"{timeline.place}/Authors"]
        self._holdings.notes[original_id] = original | {
            "number": timeline.number,
            "readers": readers,
            "signatures": readers[1:],
            "writers": readers,
        }

    def _refer(
        self, timeline: PaperTimeline, blind: Json, name: str, moment: int, content: Json, *, is_authors: bool
    ) -> None:
        reference_id = timeline.draw_id("reference", name)
        invitation = f"{timeline.venue.venue_id}/-/Blind_Submission"
        reference = blind | {"id": reference_id, "referent": timeline.forum_id, "content": content, "pdate": None}
        reference |= {"invitation": invitation, "tcdate": moment, "tmdate": moment}
        self._holdings.edits[reference_id] = reference
        if is_authors:
            self._holdings.author_edits.add(reference_id)


def _uploads(timeline: PaperTimeline) -> Iterator[tuple[int, Json]]:
    """Yield the time and content of each upload: first the whole form, then the fields of a shorter one."""
    script = timeline.script
    form: Json = {
        "title": script.title,
        "authors": list(script.authors),
        "authorids": [f"~{author.replace(' ', '_')}1" for author in script.authors],
        "keywords": list(script.keywords),
        "TL;DR": script.tldr,
        "abstract": script.abstract,
        "paperhash": f"{script.authors[0].split()[-1].lower()}|{script.title.lower().replace(' ', '_')}",
    }
    first = True
    for version in sorted(script.versions):
        content = form | {"pdf": timeline.path(version)}
        if not first and version is not Draft.CAMERA_READY:
            content = {key: value for key, value in content.items() if key in REVISED_FIELDS}
        if version is Draft.CAMERA_READY:
            content["code"] = f"https://git.example.org/{timeline.forum_id}"
        if version is Draft.SUBMISSION and script.public_history:
            content["original_pdf"] = timeline.path(version, "attachment")
        yield timeline.submitted(version), content
        first = False


def _mask_authors(timeline: PaperTimeline, content: Json) -> Json:
    """Replace the authors by anonymous ones, unless the paper was decided or the content has none."""
    if timeline.script.status in ("accepted", "rejected") or "authors" not in content:
        return content
    return content | {"authors": ["Anonymous"], "authorids": [f"{timeline.place}/Authors"]}


def _blind_note(timeline: PaperTimeline, content: Json) -> Json:
    script, venue, calendar = timeline.script, timeline.venue, timeline.calendar
    tails = {"withdrawn": "Withdrawn_Submission", "desk_rejected": "Desk_Rejected_Submission"}
    invitation = f"{venue.venue_id}/-/{tails.get(script.status, 'Blind_Submission')}"
    shown = _mask_authors(timeline, content)
    if script.status == "accepted":
        shown = shown | {"venue": venue.labels[script.decision]}
    if script.decision:
        # As on API v1 itself, rejected papers have the bare venue id too.
        shown = shown | {"venueid": venue.venue_id}
    modified = calendar.posted + int((BOOKKEEPING_DAYS[-1] + 1) * DAY_MS)
    note = _note(timeline.forum_id, timeline.forum_id, invitation, calendar.posted, modified, venue.venue_id, shown)
    return note | {
        "original": timeline.draw_id("original"),
        "number": timeline.number,
        "odate": calendar.posted + 250,
        "pdate": calendar.decision if script.status == "accepted" else None,
    }


def _note(
    note_id: str, forum_id: str, invitation: str, created: int, modified: int, signature: str, content: Json
) -> Json:
    return {
        "id": note_id,
        "original": None,
        "number": 1,
        "cdate": created,
        "pdate": None,
        "odate": None,
        "mdate": None,
        "tcdate": created,
        "tmdate": modified,
        "ddate": None,
        "content": content,
        "forum": forum_id,
        "referent": None,
        "invitation": invitation,
        "replyto": None,
        "readers": EVERYONE,
        "nonreaders": NOBODY,
        "signatures": [signature],
        "writers": [signature],
    }
