"""List the PDFs of a venue, most useful first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from peercorpus.harvest.session import VenueSession
from peercorpus.harvest.submissions import is_review
from peercorpus.openreview.objects import FILES, Edit, Note, decode_leniently, decode_note, file_path
from peercorpus.workspace.raw_store import RawKind

CURRENT = "/pdf"
"""API route of the current PDF of a note."""


@dataclass(frozen=True, slots=True)
class PdfRequest:
    """One file: the edit that brought it, and how to request it.

    Attributes:
        edit_id: Id of the edit or reference; the forum id for the current PDF; `<forum id>/original_pdf` for that
            attachment.
        created_ms: Creation time of the edit; None for the current PDF, which may be of any time.
        is_first: Whether it is the file of its paper to fetch before all others.
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
        """Key under which the file is stored."""
        return self.edit_id, self.path


def list_wanted(session: VenueSession) -> list[PdfRequest]:
    """Return every file of a venue, starting with the PDF of each paper that its reviewers most likely read.

    That is the last file before the first review or, if no edit shows one, the current file.
    """
    # Edits first: a file requested by its edit belongs to it; the current one may change between listing and request.
    requests = [*(_list_references(session) if session.api == 1 else _list_edits(session)), *_list_current(session)]
    chosen = set(sorted({request.forum_id for request in requests})[: session.limit])
    files = {request.key: request for request in requests if request.forum_id in chosen}
    first = _choose_first(list(files.values()), _read_first_reviews(session))
    marked = [replace(request, is_first=first[request.forum_id] == request.key) for request in files.values()]
    return sorted(marked, key=lambda request: not request.is_first)


def _choose_first(files: list[PdfRequest], reviewed_ms: dict[str, int]) -> dict[str, tuple[str, str]]:
    best: dict[str, tuple[int, tuple[str, str]]] = {}
    for request in files:
        created_ms = -1 if request.created_ms is None else request.created_ms
        if created_ms < reviewed_ms.get(request.forum_id, created_ms + 1):
            best[request.forum_id] = max(best.get(request.forum_id, (-2, request.key)), (created_ms, request.key))
        else:
            best.setdefault(request.forum_id, (-2, request.key))
    return {forum_id: key for forum_id, (_, key) in best.items()}


def _read_first_reviews(session: VenueSession) -> dict[str, int]:
    """Return when the first review of each paper was written, in milliseconds since the epoch."""
    first: dict[str, int] = {}
    for stored in session.raw.latest(RawKind.NOTE, session.venue_id):
        note = decode_leniently(Note, stored.body)
        if note.created_ms is not None and is_review(session, note):
            first[stored.forum_id] = min(first.get(stored.forum_id, note.created_ms), note.created_ms)
    return first


def _list_current(session: VenueSession) -> Iterator[PdfRequest]:
    for stored in session.raw.latest(RawKind.NOTE, session.venue_id):
        if stored.object_id != stored.forum_id:
            continue
        note = decode_leniently(Note, stored.body)
        forum_id = stored.forum_id
        if (path := file_path(note, "pdf")) is not None and path.startswith(FILES):
            yield PdfRequest(
                edit_id=forum_id,
                path=path,
                forum_id=forum_id,
                route=CURRENT,
                params=(("id", forum_id),),
                number=note.number,
            )
        if (path := file_path(note, "original_pdf")) is not None:
            params = (("name", "original_pdf"), ("id", forum_id))
            yield PdfRequest(
                edit_id=f"{forum_id}/original_pdf",
                path=path,
                forum_id=forum_id,
                route="/attachment",
                params=params,
                created_ms=note.created_ms,
            )


def _list_references(session: VenueSession) -> Iterator[PdfRequest]:
    for stored in session.raw.latest(RawKind.REFERENCE, session.venue_id):
        note = decode_note(RawKind.REFERENCE, stored.body)
        path = file_path(note, "pdf") if stored.subject_id == stored.forum_id else None
        if path is not None and path.startswith(FILES):
            params = (("id", stored.object_id),)
            yield PdfRequest(
                edit_id=stored.object_id,
                path=path,
                forum_id=stored.forum_id,
                route="/references/pdf",
                params=params,
                created_ms=note.created_ms,
            )


def _list_edits(session: VenueSession) -> Iterator[PdfRequest]:
    papers = session.raw.roots(session.venue_id)
    for stored in session.raw.latest(RawKind.EDIT, session.venue_id):
        edit = decode_leniently(Edit, stored.body)
        is_of_paper = stored.subject_id == stored.forum_id and stored.forum_id in papers
        path = file_path(edit.note, "pdf") if is_of_paper else None
        if path is not None and path.startswith(FILES):
            params = (("id", stored.object_id), ("name", "pdf"))
            yield PdfRequest(
                edit_id=stored.object_id,
                path=path,
                forum_id=stored.forum_id,
                route="/notes/edits/attachment",
                params=params,
                created_ms=edit.tcdate,
            )
