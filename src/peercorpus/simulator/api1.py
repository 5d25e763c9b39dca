"""Castings written as API v1 keeps them: an original and its blind copy, one invitation a note, flat content."""

from collections import Counter
from collections.abc import Iterator, Mapping

from peercorpus.simulator.casting import Casting
from peercorpus.simulator.holdings import Holdings, Json
from peercorpus.simulator.script import Draft, Entry
from peercorpus.simulator.venues import DAY_MS

EVERYONE = ["everyone"]
NOBODY: list[str] = []
REVISED_FIELDS = ("title", "abstract", "pdf", "code")
# Programs of the service touch old notes for years after: no PDF, and nothing that a reader looks for.
BOOKKEEPING_DAYS = (1180, 1391, 1864)


class Writer:
    """Writes castings into one API v1."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings

    def write(self, casting: Casting) -> None:
        """Write the original, the blind copy, its references and everything said under it."""
        self._write_submission(casting)
        counts: Counter[str] = Counter()
        ids = {"": casting.forum_id}
        for entry in casting.thread:
            counts[entry.kind] += 1
            ids[entry.key] = casting.draw_id("entry", entry.key)
            note = self._reply(casting, entry, ids, counts[entry.kind])
            self._holdings.notes[ids[entry.key]] = note
            if entry.changes:
                self._write_review_references(casting, entry, note)

    def _reply(self, casting: Casting, entry: Entry, ids: Mapping[str, str], number: int) -> Json:
        signature, created = casting.signature(entry.by), casting.said(entry)
        content = {key: casting.spoken(answer) for key, answer in entry.content.items()}
        modified = created
        for change in entry.changes:
            content |= {key: casting.spoken(answer) for key, answer in change.content.items()}
            modified = casting.changed(change.at, entry.key)
        invitation = f"{casting.place}/-/{entry.kind}"
        note = _note(ids[entry.key], casting.forum_id, invitation, created, modified, signature, content)
        note |= {"number": number, "replyto": ids[entry.under]}
        if entry.closed:
            note["readers"] = [f"{casting.venue.venue_id}/Program_Chairs", f"{casting.place}/Area_Chairs", signature]
        if entry.deleted:
            note |= {"ddate": modified + 3_600_000, "tmdate": modified + 3_600_000}
        return note

    def _write_review_references(self, casting: Casting, entry: Entry, note: Json) -> None:
        """Write every version of a review that was changed; on API v1 they are all public."""
        content = {key: casting.spoken(answer) for key, answer in entry.content.items()}
        moments = [casting.said(entry), *(casting.changed(change.at, entry.key) for change in entry.changes)]
        patches: list[Mapping[str, object]] = [{}, *(change.content for change in entry.changes)]
        for step, (moment, patch) in enumerate(zip(moments, patches, strict=True)):
            content = content | {key: casting.spoken(answer) for key, answer in patch.items()}
            reference_id = casting.draw_id("reference", entry.key, step)
            reference = note | {"id": reference_id, "referent": note["id"], "content": content}
            self._holdings.edits[reference_id] = reference | {"tcdate": moment, "tmdate": moment}

    def _write_submission(self, casting: Casting) -> None:
        uploads = list(_uploads(casting))
        last: Json = {}
        for _, content in uploads:
            last |= content
        self._write_original(casting, uploads[0][0], last)
        blind = _blind_note(casting, last)
        self._holdings.notes[casting.forum_id] = blind
        for step, (moment, content) in enumerate(uploads):
            self._refer(casting, blind, f"upload/{step}", moment, _masked(casting, content), is_authors=True)
        overlay = {key: value for key, value in _masked(casting, last).items() if key in ("authors", "authorids")}
        overlay |= {key: last[key] for key in ("_bibtex", "original_pdf") if key in last}
        self._refer(casting, blind, "overlay", casting.calendar.posted, overlay, is_authors=False)
        for days in BOOKKEEPING_DAYS:
            moment = casting.calendar.posted + int((days + casting.draw_share("bookkeeping", days)) * DAY_MS)
            kept = overlay | {"community_implementations": f"[{days % 3} code implementations](https://example.org)"}
            self._refer(casting, blind, f"bookkeeping/{days}", moment, kept, is_authors=True)

    def _write_original(self, casting: Casting, moment: int, content: Json) -> None:
        original_id, venue_id = casting.draw_id("original"), casting.venue.venue_id
        original = _note(original_id, original_id, f"{venue_id}/-/Submission", moment, moment, "", content)
        readers = [venue_id, f"{casting.place}/Authors"]
        self._holdings.notes[original_id] = original | {
            "number": casting.number,
            "readers": readers,
            "signatures": readers[1:],
            "writers": readers,
        }

    def _refer(self, casting: Casting, blind: Json, name: str, moment: int, content: Json, *, is_authors: bool) -> None:
        reference_id = casting.draw_id("reference", name)
        invitation = f"{casting.venue.venue_id}/-/Blind_Submission"
        reference = blind | {"id": reference_id, "referent": casting.forum_id, "content": content, "pdate": None}
        reference |= {"invitation": invitation, "tcdate": moment, "tmdate": moment}
        self._holdings.edits[reference_id] = reference
        if is_authors:
            self._holdings.author_edits.add(reference_id)


def _uploads(casting: Casting) -> Iterator[tuple[int, Json]]:
    """Give what the authors sent, with its moment: the whole form first, later the fields of a shorter form."""
    script = casting.script
    whole: Json = {
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
        content = whole | {"pdf": casting.path(version)}
        if not first and version is not Draft.CAMERA_READY:
            content = {key: value for key, value in content.items() if key in REVISED_FIELDS}
        if version is Draft.CAMERA_READY:
            content["code"] = f"https://git.example.org/{casting.forum_id}"
        if version is Draft.SUBMISSION and script.public_history:
            content["original_pdf"] = casting.path(version, "attachment")
        yield casting.submitted(version), content
        first = False


def _masked(casting: Casting, content: Json) -> Json:
    """Put the blind copy's authors over the original's, where there are any."""
    if casting.script.status in ("accepted", "rejected") or "authors" not in content:
        return content
    return content | {"authors": ["Anonymous"], "authorids": [f"{casting.place}/Authors"]}


def _blind_note(casting: Casting, content: Json) -> Json:
    script, venue, calendar = casting.script, casting.venue, casting.calendar
    tails = {"withdrawn": "Withdrawn_Submission", "desk_rejected": "Desk_Rejected_Submission"}
    invitation = f"{venue.venue_id}/-/{tails.get(script.status, 'Blind_Submission')}"
    shown = _masked(casting, content)
    if script.status == "accepted":
        shown = shown | {"venue": venue.labels[script.decision]}
    if script.decision:
        # As on API v1 itself, the bare venue id stands on rejected papers too.
        shown = shown | {"venueid": venue.venue_id}
    modified = calendar.posted + int((BOOKKEEPING_DAYS[-1] + 1) * DAY_MS)
    note = _note(casting.forum_id, casting.forum_id, invitation, calendar.posted, modified, venue.venue_id, shown)
    return note | {
        "original": casting.draw_id("original"),
        "number": casting.number,
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
