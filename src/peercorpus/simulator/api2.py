"""Castings written as API v2 keeps them: one note a submission, with edits, replies and `{"value": …}` content."""

from collections import Counter
from collections.abc import Mapping

from peercorpus.simulator.casting import Casting
from peercorpus.simulator.holdings import Holdings, Json
from peercorpus.simulator.script import Entry
from peercorpus.simulator.submissions2 import Step, list_steps

LICENCE = "CC BY 4.0"
EVERYONE = ["everyone"]
NOBODY: list[str] = []
UNDER_A_REVIEW = ("Rebuttal", "Mandatory_Acknowledgement")
FOR_SCORES = ("Official_Review", "Review")


class Writer:
    """Writes castings into one API v2.

    Equal texts share one `{"value": …}` object, which keeps a large world small: whoever answers from the holdings
    copies before changing.
    """

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._values: dict[str | int, Json] = {}
        self._shared: dict[str, list[str]] = {}

    def write(self, casting: Casting) -> None:
        """Write a submission, its edits and everything said under it."""
        self._write_submission(casting)
        counts: Counter[str] = Counter()
        ids = {"": casting.forum_id}
        numbers: dict[str, int] = {}
        for entry in casting.thread:
            ids[entry.key] = casting.draw_id("entry", entry.key)
            invitation = self._invitation(casting, entry, numbers)
            counts[invitation] += 1
            numbers[entry.key] = counts[invitation]
            note = self._reply(casting, entry, ids, invitation, counts[invitation])
            self._holdings.notes[ids[entry.key]] = note
            if entry.kind in FOR_SCORES:
                self._write_review_edits(casting, entry, note)

    def _wrap(self, answer: object) -> Json:
        if isinstance(answer, str | int):
            return self._values.setdefault(answer, {"value": answer})
        return {"value": answer}

    def _content(self, casting: Casting, answers: Mapping[str, object]) -> dict[str, Json]:
        return {key: self._wrap(casting.spoken(answer)) for key, answer in answers.items()}

    def _invitation(self, casting: Casting, entry: Entry, numbers: Mapping[str, int]) -> str:
        if entry.kind in UNDER_A_REVIEW:
            return f"{casting.place}/{casting.venue.review_name}{numbers[entry.under]}/-/{entry.kind}"
        return f"{casting.place}/-/{entry.kind}"

    def _readers(self, casting: Casting, entry: Entry, signature: str) -> list[str]:
        if not entry.closed:
            return EVERYONE
        return [casting.venue.venue_id, f"{casting.place}/Area_Chairs", signature]

    def _reply(self, casting: Casting, entry: Entry, ids: Mapping[str, str], invitation: str, number: int) -> Json:
        signature, created = casting.signature(entry.by), casting.said(entry)
        is_released = entry.kind in FOR_SCORES
        modified = max(created, casting.calendar.released) if is_released else created
        content = self._content(casting, entry.content)
        for change in entry.changes:
            content |= self._content(casting, change.content)
            modified = casting.changed(change.at, entry.key)
        for name in entry.private:
            content[name] = content[name] | {"readers": [casting.venue.venue_id, f"{casting.place}/Area_Chairs"]}
        return {
            "id": ids[entry.key],
            "forum": casting.forum_id,
            "replyto": ids[entry.under],
            "number": number,
            "version": 2,
            "domain": casting.venue.venue_id,
            "invitations": [invitation, f"{casting.venue.venue_id}/-/Edit"] if is_released else [invitation],
            "parentInvitations": f"{casting.venue.venue_id}/-/{entry.kind}",
            "readers": self._readers(casting, entry, signature),
            "nonreaders": NOBODY,
            "writers": self._share(casting.venue.venue_id, signature),
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

    def _write_review_edits(self, casting: Casting, entry: Entry, note: Json) -> None:
        """Write the posting of a review (closed, as it was then), its release, and the edits the public may see."""
        place, signature, note_id = casting.place, casting.signature(entry.by), note["id"]
        invitation = f"{place}/-/{entry.kind}"
        posted = self._content(casting, entry.content)
        closed = [casting.venue.venue_id, f"{place}/Area_Chairs", signature]
        creation: Json = {"id": note_id, "forum": casting.forum_id, "replyto": casting.forum_id, "content": posted}
        self._edit(casting, invitation, casting.said(entry), creation, signature, closed, f"{entry.key}/0")
        release: Json = {"id": note_id, "readers": EVERYONE}
        chairs = casting.venue.venue_id
        self._edit(casting, f"{chairs}/-/Edit", casting.calendar.released, release, chairs, EVERYONE, f"{entry.key}/1")
        now = dict(posted)
        for step, change in enumerate(entry.changes, 2):
            # Reviewers send the whole form again, so each of these edits carries the state after it.
            now |= self._content(casting, change.content)
            moment = casting.changed(change.at, entry.key)
            whole: Json = {"id": note_id, "content": dict(now)}
            self._edit(casting, invitation, moment, whole, signature, EVERYONE, f"{entry.key}/{step}")

    def _edit(
        self, casting: Casting, invitation: str, moment: int, note: Json, signature: str, readers: list[str], name: str
    ) -> Json:
        edit: Json = {
            "id": casting.draw_id("edit", name),
            "invitation": invitation,
            "domain": casting.venue.venue_id,
            "readers": readers,
            "nonreaders": NOBODY,
            "writers": self._share(casting.venue.venue_id, signature),
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

    def _write_submission(self, casting: Casting) -> None:
        content: dict[str, Json] = {}
        steps = list_steps(casting)
        for count, step in enumerate(steps):
            patch = self._content(casting, step.answers)
            for name in step.hidden:
                patch[name] = patch[name] | {"readers": casting.inner_circle}
            content |= patch
            readers = EVERYONE if step.is_public else casting.inner_circle
            note: Json = {"id": casting.forum_id, "content": patch}
            edit = self._edit(casting, step.invitation, step.moment, note, step.by, readers, f"submission/{count}")
            if step.reposted:
                # A journal posts the first edit again under its own name when it opens the history.
                edit |= {"invitation": f"{casting.venue.venue_id}/-/Edit", "tmdate": step.reposted}
                edit["signatures"] = [casting.venue.venue_id]
        self._holdings.notes[casting.forum_id] = self._root(casting, steps, content)

    def _root(self, casting: Casting, steps: list[Step], content: dict[str, Json]) -> Json:
        created, modified = steps[0].moment, steps[-1].moment
        return {
            "id": casting.forum_id,
            "forum": casting.forum_id,
            "replyto": None,
            "number": casting.number,
            "version": 2,
            "domain": casting.venue.venue_id,
            "invitations": list(dict.fromkeys(step.invitation for step in steps)),
            "readers": EVERYONE,
            "nonreaders": NOBODY,
            "writers": casting.inner_circle,
            "signatures": [f"{casting.place}/Authors"],
            "cdate": created,
            "mdate": modified,
            "odate": casting.calendar.posted,
            "pdate": casting.calendar.decision if casting.script.status == "accepted" else None,
            "ddate": None,
            "tcdate": created,
            "tmdate": modified,
            "license": LICENCE,
            "content": content,
        }
