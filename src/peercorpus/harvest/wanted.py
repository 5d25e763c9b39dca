"""Which PDFs a venue has: the current one of each paper, and the one each edit brought; the most useful first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from peercorpus.harvest.submissions import is_review
from peercorpus.harvest.visit import Visit
from peercorpus.openreview.objects import Edit, Note, salvage
from peercorpus.raw import Kind

FILES = "/pdf/"
"""Where OpenReview keeps its own; anything else is a link to somewhere else (2013 to 2017, mostly arXiv)."""

CURRENT = "/pdf"
"""The route of the current PDF of a note."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file: which edit brought it, and how to ask for it.

    Attributes:
        edit_id: The edit or reference; the forum id for the current PDF; `<forum id>/original_pdf` for that attachment.
        path: OpenReview's own path of the file.
        created_ms: When the edit was made; None for what is current, whose file may be of any time.
        number: Of the paper, within the venue; None where not known.
        is_first: Whether it is the one of its paper to fetch before all others.
    """

    edit_id: str
    path: str
    forum_id: str
    route: str
    params: tuple[tuple[str, str], ...]
    created_ms: int | None = None
    number: int | None = None
    is_first: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """What a stored file is found by."""
        return self.edit_id, self.path


def list_wanted(visit: Visit) -> list[Wanted]:
    """Every file there is to have, one of each paper before all others: what the reviewers read, as far as can be told.

    That is the last file before the first review; where no edit shows one, the current one.
    """
    # Edits first: a file asked for by its edit is that edit's; the current one may change between listing and asking.
    found = [*(_of_references(visit) if visit.api == 1 else _of_edits(visit)), *_of_papers(visit)]
    chosen = set(sorted({wanted.forum_id for wanted in found})[: visit.limit])
    files = {wanted.key: wanted for wanted in found if wanted.forum_id in chosen}
    first = _first_of_each(list(files.values()), _first_reviews(visit))
    marked = [replace(wanted, is_first=first[wanted.forum_id] == wanted.key) for wanted in files.values()]
    return sorted(marked, key=lambda wanted: not wanted.is_first)


def _first_of_each(files: list[Wanted], reviewed_ms: dict[str, int]) -> dict[str, tuple[str, str]]:
    best: dict[str, tuple[int, tuple[str, str]]] = {}
    for wanted in files:
        created_ms = -1 if wanted.created_ms is None else wanted.created_ms
        if created_ms < reviewed_ms.get(wanted.forum_id, created_ms + 1):
            best[wanted.forum_id] = max(best.get(wanted.forum_id, (-2, wanted.key)), (created_ms, wanted.key))
        else:
            best.setdefault(wanted.forum_id, (-2, wanted.key))
    return {forum_id: key for forum_id, (_, key) in best.items()}


def _first_reviews(visit: Visit) -> dict[str, int]:
    """When the first review of each paper was written, epoch milliseconds."""
    first: dict[str, int] = {}
    for found in visit.raw.latest(Kind.NOTE, visit.venue_id):
        note = salvage(Note, found.body)
        if note.created_ms is not None and is_review(visit, note.created_by):
            first[found.forum_id] = min(first.get(found.forum_id, note.created_ms), note.created_ms)
    return first


def _of_papers(visit: Visit) -> Iterator[Wanted]:
    for found in visit.raw.latest(Kind.NOTE, visit.venue_id):
        if found.object_id != found.forum_id:
            continue
        note, forum_id = salvage(Note, found.body), found.forum_id
        if (path := path_of(note, "pdf")) is not None and path.startswith(FILES):
            yield Wanted(forum_id, path, forum_id, CURRENT, (("id", forum_id),), number=note.number)
        if (path := path_of(note, "original_pdf")) is not None:
            params = (("name", "original_pdf"), ("id", forum_id))
            yield Wanted(f"{forum_id}/original_pdf", path, forum_id, "/attachment", params, note.created_ms)


def _of_references(visit: Visit) -> Iterator[Wanted]:
    for found in visit.raw.latest(Kind.REFERENCE, visit.venue_id):
        note = note_of(Kind.REFERENCE, found.body)
        path = path_of(note, "pdf") if found.subject_id == found.forum_id else None
        if path is not None and path.startswith(FILES):
            params = (("id", found.object_id),)
            yield Wanted(found.object_id, path, found.forum_id, "/references/pdf", params, note.created_ms)


def _of_edits(visit: Visit) -> Iterator[Wanted]:
    for found in visit.raw.latest(Kind.EDIT, visit.venue_id):
        edit = salvage(Edit, found.body)
        path = path_of(edit.note, "pdf") if found.subject_id == found.forum_id else None
        if path is not None and path.startswith(FILES):
            params = (("id", found.object_id), ("name", "pdf"))
            yield Wanted(found.object_id, path, found.forum_id, "/notes/edits/attachment", params, edit.tcdate)


def path_of(note: Note, name: str) -> str | None:
    """OpenReview's own path of a file that a field of a note names; None where it names none of its own."""
    path = note.fields.get(name)
    return path if isinstance(path, str) and path.startswith("/") else None


def note_of(kind: Kind, body: bytes) -> Note:
    """The note, or the part of it, that a reference or an edit carries."""
    return salvage(Edit, body).note if kind is Kind.EDIT else salvage(Note, body)
