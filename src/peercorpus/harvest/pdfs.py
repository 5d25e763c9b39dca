"""The PDFs of a venue: the current one of each paper, and the one each edit brought; equal paths are fetched once."""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

from peercorpus.errors import NotGivenError
from peercorpus.harvest.visit import Visit
from peercorpus.openreview.listing import items_of
from peercorpus.openreview.objects import Edit, Note, salvage
from peercorpus.raw import Kind, StoredFile

JUST_NOW_MS = 10 * 60_000
"""How long a listing is trusted to say which PDF is the current one."""

FILES = "/pdf/"
"""Where OpenReview keeps its own; anything else is a link to somewhere else (2013 to 2017, mostly arXiv)."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file: which edit brought it, and how to ask for it.

    Attributes:
        edit_id: The edit or reference; the forum id for the current PDF; `<forum id>/original_pdf` for that attachment.
        path: OpenReview's own path of the file.
    """

    edit_id: str
    path: str
    forum_id: str
    route: str
    params: tuple[tuple[str, str], ...]


def harvest_pdfs(visit: Visit) -> None:
    """Fetch the files that are still missing; one that cannot be had is remembered with the reason."""
    known = {(stored.edit_id, stored.path): stored for stored in visit.raw.files(visit.venue_id)}
    asked = {key: stored for key, stored in known.items() if _is_here(visit, stored)}
    at_hand = {stored.path: stored for stored in asked.values() if stored.sha256 is not None}
    missing = [
        wanted
        for wanted in _wanted(visit)
        if (stored := asked.get((wanted.edit_id, wanted.path))) is None or (visit.refresh and stored.problem)
    ]
    meter = visit.meter("files", 0, len(missing))
    for wanted in missing:
        same = at_hand.get(wanted.path)
        stored = (
            _again(visit, wanted, same)
            if same is not None
            else _fetch(visit, wanted, known.get((wanted.edit_id, wanted.path)))
        )
        visit.raw.add_file(stored)
        if stored.problem is None:
            at_hand[wanted.path] = stored
        meter.advance()


def _is_here(visit: Visit, stored: StoredFile) -> bool:
    """Whether what is remembered of a file still holds: it may have been removed from the workspace by hand."""
    return stored.sha256 is None or visit.files.has(stored.sha256)


def _wanted(visit: Visit) -> list[Wanted]:
    # Edits first: a file asked for by its edit is that edit's; the current one may change between listing and asking.
    found = [*(_of_references(visit) if visit.api == 1 else _of_edits(visit)), *_of_papers(visit)]
    chosen = set(sorted({wanted.forum_id for wanted in found})[: visit.limit])
    return list({(wanted.edit_id, wanted.path): wanted for wanted in found if wanted.forum_id in chosen}.values())


def _of_papers(visit: Visit) -> Iterator[Wanted]:
    for found in visit.raw.latest(Kind.NOTE, visit.venue_id):
        if found.object_id != found.forum_id:
            continue
        note, forum_id = salvage(Note, found.body), found.forum_id
        if (path := _path(note, "pdf")) is not None and path.startswith(FILES):
            yield Wanted(forum_id, path, forum_id, "/pdf", (("id", forum_id),))
        if (path := _path(note, "original_pdf")) is not None:
            params = (("name", "original_pdf"), ("id", forum_id))
            yield Wanted(f"{forum_id}/original_pdf", path, forum_id, "/attachment", params)


def _of_references(visit: Visit) -> Iterator[Wanted]:
    for found in visit.raw.latest(Kind.REFERENCE, visit.venue_id):
        path = _path(salvage(Note, found.body), "pdf") if found.subject_id == found.forum_id else None
        if path is not None and path.startswith(FILES):
            yield Wanted(found.object_id, path, found.forum_id, "/references/pdf", (("id", found.object_id),))


def _of_edits(visit: Visit) -> Iterator[Wanted]:
    for found in visit.raw.latest(Kind.EDIT, visit.venue_id):
        path = _path(salvage(Edit, found.body).note, "pdf") if found.subject_id == found.forum_id else None
        if path is not None and path.startswith(FILES):
            params = (("id", found.object_id), ("name", "pdf"))
            yield Wanted(found.object_id, path, found.forum_id, "/notes/edits/attachment", params)


def _path(note: Note, name: str) -> str | None:
    path = note.fields.get(name)
    return path if isinstance(path, str) and path.startswith("/") else None


def _again(visit: Visit, wanted: Wanted, same: StoredFile) -> StoredFile:
    return StoredFile(
        wanted.edit_id, wanted.path, visit.venue_id, wanted.forum_id, same.sha256, same.size_bytes, problem=None
    )


def _fetch(visit: Visit, wanted: Wanted, before: StoredFile | None) -> StoredFile:
    """Ask for a file; where OpenReview gives none, or another than its path had before, say so in `problem`."""
    key = (wanted.edit_id, wanted.path, visit.venue_id, wanted.forum_id)
    try:
        if wanted.route == "/pdf" and not _is_current(visit, wanted):
            return StoredFile(*key, sha256=None, size_bytes=None, problem="replaced since the paper was listed")
        content = visit.client.get_file(visit.api, wanted.route, dict(wanted.params))
    except NotGivenError as error:
        return StoredFile(*key, sha256=None, size_bytes=None, problem=error.reason)
    if before is not None and before.sha256 not in {None, hashlib.sha256(content).hexdigest()}:
        return StoredFile(*key, before.sha256, before.size_bytes, problem="another file came under its path")
    return StoredFile(*key, sha256=visit.files.add(content), size_bytes=len(content), problem=None)


def _is_current(visit: Visit, wanted: Wanted) -> bool:
    """Whether `/pdf?id=` still gives the file the note named when it was listed; asked for unless that was just now."""
    if visit.raw.shown_ms(wanted.forum_id) >= time.time_ns() // 1_000_000 - JUST_NOW_MS:
        return True
    answer = visit.client.get_json(visit.api, "/notes", {"id": wanted.forum_id})
    notes = [salvage(Note, bytes(item)) for item in items_of(answer, "notes")]
    return any(_path(note, "pdf") == wanted.path for note in notes)
