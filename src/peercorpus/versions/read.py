"""The stage that finds every PDF of every submission of a venue, and the one the reviewers read.

A row in is an edit, a reference, a submission's current PDF, or a published record that may hold the text of a paper;
each becomes a version or is set aside with a reason.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import msgspec

from peercorpus.kinds import PostKind, Reason
from peercorpus.openreview.objects import Edit, Note, read_edit, read_note, to_time
from peercorpus.published.datasets import HOLD_TEXT
from peercorpus.raw import Kind, RawObject
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Replacement
from peercorpus.venues import catalogue
from peercorpus.versions import invitations
from peercorpus.versions.choose import Submission, Upload, read_versions
from peercorpus.versions.deadline import read_deadline
from peercorpus.versions.published import read_published
from peercorpus.workspace import Workspace

NAME = "choose_versions"
LATEST = datetime.max.replace(tzinfo=UTC)
ATTACHED = "/original_pdf"
"""Behind a forum id: the edit id under which the attachment of the submitted file is kept."""


@dataclass(slots=True)
class Revisions:
    """One forum's root note and the uploads its edits and references show."""

    root: Note | None = None
    uploads: list[Upload] = field(default_factory=list)
    hidden: list[Upload] = field(default_factory=list)


def _pdf_path(note: Note) -> str | None:
    path = note.fields.get("pdf")
    return path if isinstance(path, str) and path.startswith("/pdf/") else None


def _read_upload(found: RawObject) -> tuple[Upload | None, bool]:
    """The PDF an edit or reference brought, and whether everyone may read it.

    No upload where it names none of OpenReview's own, or was deleted.
    """
    edit: Edit | Note = read_edit(found.body) if found.kind is Kind.EDIT else read_note(found.body)
    note, invitation = (edit.note, edit.invitation) if isinstance(edit, Edit) else (edit, edit.created_by)
    path = None if edit.ddate else _pdf_path(note)
    created, modified = to_time(edit.tcdate), to_time(edit.tmdate)
    settled = max(created, modified or created) if created else None
    upload = Upload(found.object_id, path, created, modified, settled, invitation) if path else None
    return upload, edit.is_public


def _take(found: RawObject, revisions: Revisions, out: Replacement) -> None:
    """Take in one raw object; an edit that brings no PDF of the submission is set aside."""
    if found.kind is Kind.PUBLISHED:
        return
    if found.kind is Kind.NOTE:
        if found.object_id == found.forum_id:
            revisions.root = read_note(found.body)
        return
    if found.subject_id != found.forum_id:
        out.set_aside(found.object_id, found.forum_id, Reason.EDIT_OF_A_REPLY, "It edits a reply, not the submission.")
        return
    try:
        upload, is_public = _read_upload(found)
    except msgspec.ValidationError as error:
        out.set_aside(found.object_id, found.forum_id, Reason.UNREADABLE, str(error))
        return
    if not is_public:
        revisions.hidden.extend([upload] if upload else [])
        out.set_aside(found.object_id, found.forum_id, Reason.NOT_PUBLIC, "It is not readable by everyone.")
        return
    if upload is None:
        out.set_aside(found.object_id, found.forum_id, Reason.NO_PDF, "It brings no PDF that OpenReview keeps.")
        return
    revisions.uploads.append(upload)


def _distinct(forum_id: str, revisions: Revisions, current: str | None, out: Replacement) -> list[Upload]:
    """Uploads in time order, the first of each path; the current PDF comes last if no edit brought it."""
    kept: dict[str, Upload] = {}
    for upload in sorted(revisions.uploads, key=lambda upload: (upload.created_at or LATEST, upload.edit_id)):
        if upload.path in kept:
            detail = f"The same file as {kept[upload.path].edit_id} brought."
            out.set_aside(upload.edit_id, forum_id, Reason.PDF_UNCHANGED, detail)
        else:
            kept[upload.path] = upload
    if current is None:
        out.set_aside(forum_id, forum_id, Reason.NO_PDF, "The submission names no PDF that OpenReview keeps.")
    elif current in kept:
        detail = f"The current PDF is the one {kept[current].edit_id} brought."
        out.set_aside(forum_id, forum_id, Reason.PDF_UNCHANGED, detail)
    else:
        kept[current] = Upload(forum_id, current, None, None, None, None)
    return list(kept.values())


class Reviewed:
    """When each forum got its first review, walked beside the forums in order of their id."""

    def __init__(self, workspace: Workspace, venue_id: str) -> None:
        self._rows = self._first(workspace, venue_id)
        self._next = next(self._rows, None)

    @staticmethod
    def _first(workspace: Workspace, venue_id: str) -> Iterator[tuple[str, datetime]]:
        columns = ["forum_id", "kind", "created_at"]
        for batch in workspace.tables.batches("3-posts", venue_id, columns):
            for forum_id, kind, created_at in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if kind == PostKind.REVIEW and created_at is not None:
                    yield forum_id, created_at

    def first(self, forum_id: str) -> datetime | None:
        """The time of the earliest review; forums must be asked for in order."""
        found = None
        while self._next is not None and self._next[0] <= forum_id:
            if self._next[0] == forum_id:
                found = min(found or self._next[1], self._next[1])
            self._next = next(self._rows, None)
        return found


def _papers(workspace: Workspace, venue_id: str) -> set[str]:
    return {
        row for batch in workspace.tables.batches("1-papers", venue_id, ["forum_id"]) for row in batch[0].to_pylist()
    }


def _attachment(root: Note, forum_id: str) -> Upload | None:
    path = root.fields.get("original_pdf")
    known = isinstance(path, str) and path.startswith("/attachment/")
    return Upload(f"{forum_id}{ATTACHED}", str(path), None, None, None, None) if known else None


def run(workspace: Workspace, venue_id: str, _: Options, key: str, report: Report) -> None:
    """Find the versions of every paper of a venue."""
    papers, reviewed = _papers(workspace, venue_id), Reviewed(workspace, venue_id)
    roots = workspace.raw.roots(venue_id)
    sha256 = {stored.path: stored.sha256 for stored in workspace.raw.files(venue_id) if stored.sha256}
    kinds = (Kind.NOTE, Kind.REFERENCE, Kind.EDIT, Kind.PUBLISHED)
    total = workspace.raw.count_forums(venue_id)
    with workspace.tables.replacing(("4-versions",), venue_id, NAME, key) as out:
        for done, (forum_id, objects) in enumerate(workspace.raw.by_forum(kinds, venue_id), 1):
            report(done, total)
            read_published(objects, has_paper=forum_id in papers, is_held=forum_id in roots, venue_id=venue_id, out=out)
            if forum_id not in papers or forum_id not in roots:
                _set_aside_without_paper(forum_id, objects, out)
                continue
            submission = _submission(workspace, venue_id, forum_id, objects, out)
            known = replace(submission, first_review_at=reviewed.first(forum_id), sha256=sha256)
            for version in read_versions(known) if known.uploads else ():
                out.add(version)


def _submission(
    workspace: Workspace, venue_id: str, forum_id: str, objects: Sequence[RawObject], out: Replacement
) -> Submission:
    """What the raw objects of one forum say of its PDFs."""
    revisions = Revisions()
    for found in objects:
        _take(found, revisions, out)
    root = revisions.root or Note()
    current = _pdf_path(root)
    return Submission(
        forum_id=forum_id,
        venue_id=venue_id,
        uploads=_distinct(forum_id, revisions, current, out),
        hidden=revisions.hidden,
        attachment=_attachment(root, forum_id),
        current_path=current,
        invitations=root.invitations or (),
        deadline=read_deadline(workspace.raw, venue_id, root.invitations or []),
        first_review_at=None,
        sha256={},
    )


def _set_aside_without_paper(forum_id: str, objects: Sequence[RawObject], out: Replacement) -> None:
    for found in objects:
        if found.kind in {Kind.EDIT, Kind.REFERENCE}:
            detail = "The submission it belongs to is not in the workspace, or not public."
            out.set_aside(found.object_id, forum_id, Reason.FORUM_MISSING, detail)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Edits + references + one current PDF a paper + published records that may hold a text = versions + set aside.

    Attachments come on top of both sides. Of a paper that a published record tells of, no PDF is known.
    """
    raw, tables = workspace.raw, workspace.tables
    edits = raw.count(Kind.REFERENCE, venue_id) + raw.count(Kind.EDIT, venue_id)
    texts = sum(raw.count(Kind.PUBLISHED, venue_id, dataset.prefix) for dataset in HOLD_TEXT)
    papers = len(_papers(workspace, venue_id) & raw.roots(venue_id))
    attached = sum(
        edit_id.endswith(ATTACHED)
        for batch in tables.batches("4-versions", venue_id, ["edit_id"])
        for edit_id in batch.column(0).to_pylist()
    )
    rows_in = edits + papers + attached + texts
    rows_out = tables.count("4-versions", venue_id)
    return (Balance(NAME, venue_id, "edits and PDFs", rows_in, rows_out, tables.set_aside_counts(venue_id, NAME)),)


STAGE = Stage(
    NAME,
    1,
    (Kind.NOTE, Kind.REFERENCE, Kind.EDIT, Kind.INVITATION, Kind.PUBLISHED, "file"),
    ("1-papers", "3-posts"),
    ("4-versions",),
    (),
    run,
    balance,
    made_with=lambda _: f"{invitations.DIGEST} {catalogue.DIGEST}",
)
