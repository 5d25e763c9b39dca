"""The stage that finds every PDF of every submission of a venue, and the one the reviewers read.

A row in is an edit, a reference, a submission's current PDF, or a published record that may hold the text of a paper;
each becomes a version or is set aside with a reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

import msgspec

from peercorpus.file_records import Inspection
from peercorpus.kinds import PostKind, Reason, Status
from peercorpus.openreview.objects import Edit, Note, read_edit, read_note, tail_of, to_time
from peercorpus.published.datasets import HOLD_TEXT
from peercorpus.raw import Kind, RawObject
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Replacement
from peercorpus.venues import catalogue
from peercorpus.versions import deadline, invitations
from peercorpus.versions.deadline import Deadlines
from peercorpus.versions.opinion import judge
from peercorpus.versions.published import read_published
from peercorpus.versions.rows import read_versions
from peercorpus.versions.uploads import LATEST, Change, Opinion, Submission, Upload, fold, is_kept, is_one_for_months
from peercorpus.workspace import Workspace

NAME = "choose_versions"
OPEN_FORMS = frozenset({"Submission", "submission"})
"""At API v1 a blind paper's note was made by `Blind_Submission`; one made by these forms shows who wrote it."""
ATTACHED = "/original_pdf"
"""Behind a forum id: the edit id under which the attachment of the submitted file is kept."""


@dataclass(slots=True)
class Revisions:
    """One forum's root note and what its edits and references change."""

    root: Note | None = None
    changes: list[Change] = field(default_factory=list)
    is_api_1: bool = False


def _text(note: Note, name: str) -> str | None:
    found = note.fields.get(name)
    return found if isinstance(found, str) else None


def _pdf_path(note: Note) -> str | None:
    path = _text(note, "pdf")
    return path if path is not None and is_kept(path) else None


def _read_change(found: RawObject) -> Change:
    """What an edit or reference says of the paper; no title and abstract where it was deleted."""
    edit: Edit | Note = read_edit(found.body) if found.kind is Kind.EDIT else read_note(found.body)
    note, invitation = (edit.note, edit.invitation or "") if isinstance(edit, Edit) else (edit, edit.created_by)
    texts = (None, None) if edit.ddate else (_text(note, "title"), _text(note, "abstract"))
    times, path = (to_time(edit.tcdate), to_time(edit.tmdate)), _text(note, "pdf") or None
    return Change(
        found.object_id, *times, invitation, edit.is_public, path, *texts, deleted_at=to_time(edit.ddate or None)
    )


def _take(found: RawObject, revisions: Revisions, out: Replacement) -> None:
    """Take in one raw object; an edit that brings no PDF of the submission is set aside."""
    if found.kind is Kind.PUBLISHED:
        return
    if found.kind is Kind.NOTE:
        if found.object_id == found.forum_id:
            revisions.root, revisions.is_api_1 = read_note(found.body), found.api == 1
        return
    if found.subject_id != found.forum_id:
        out.set_aside(found.object_id, found.forum_id, Reason.EDIT_OF_A_REPLY, "It edits a reply, not the submission.")
        return
    try:
        change = _read_change(found)
    except msgspec.ValidationError as error:
        out.set_aside(found.object_id, found.forum_id, Reason.UNREADABLE, str(error))
        return
    revisions.changes.append(change)
    if not change.is_public:
        out.set_aside(found.object_id, found.forum_id, Reason.NOT_PUBLIC, "It is not readable by everyone.")
    elif not change.can_be_had:
        out.set_aside(found.object_id, found.forum_id, Reason.NO_PDF, "It brings no PDF that OpenReview keeps.")


def _distinct(
    forum_id: str, uploads: Sequence[Upload], root: Note, out: Replacement
) -> tuple[list[Upload], list[Upload]]:
    """Uploads in time order, one of each path, and the others.

    Of several that name one file, the one counts that was written first and not again: it proves how old the file is.
    The current PDF comes last if none brought it.
    """
    kept: dict[str, Upload] = {}
    for upload in sorted(uploads, key=lambda one: (one.settled_at or LATEST, one.created_at or LATEST, one.edit_id)):
        kept.setdefault(upload.path, upload)
    repeats = [upload for upload in uploads if upload is not kept[upload.path]]
    for upload in repeats:
        detail = f"The same file as {kept[upload.path].edit_id} brought."
        out.set_aside(upload.edit_id, forum_id, Reason.PDF_UNCHANGED, detail)
    current = _pdf_path(root)
    if current is None:
        out.set_aside(forum_id, forum_id, Reason.NO_PDF, "The submission names no PDF that OpenReview keeps.")
    elif current in kept:
        detail = f"The current PDF is the one {kept[current].edit_id} brought."
        out.set_aside(forum_id, forum_id, Reason.PDF_UNCHANGED, detail)
    else:
        kept[current] = Upload(forum_id, current, None, None, None, None, _text(root, "title"), _text(root, "abstract"))
    return sorted(kept.values(), key=lambda one: (one.created_at or LATEST, one.edit_id)), repeats


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


class Decided(NamedTuple):
    """What became of a paper, and when."""

    is_accepted: bool
    decided_at: datetime | None


def _papers(workspace: Workspace, venue_id: str) -> dict[str, Decided]:
    columns = ["forum_id", "status", "decided_at"]
    return {
        forum_id: Decided(status == Status.ACCEPTED, decided_at)
        for batch in workspace.tables.batches("1-papers", venue_id, columns)
        for forum_id, status, decided_at in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    }


def _attachment(root: Note, forum_id: str) -> Upload | None:
    path = _text(root, "original_pdf")
    known = path is not None and path.startswith("/attachment/")
    return Upload(f"{forum_id}{ATTACHED}", str(path), None, None, None, None) if known else None


def _opinion(
    inspections: Mapping[str, Inspection], names_are_open: bool, sha256: str, until: datetime | None
) -> Opinion | None:
    """What a file says of itself, if it was looked into."""
    inspection = inspections.get(sha256)
    return judge(inspection, until, names_are_open=names_are_open) if inspection else None


def run(workspace: Workspace, venue_id: str, _: Options, key: str, report: Report) -> None:
    """Find the versions of every paper of a venue."""
    papers, reviewed = _papers(workspace, venue_id), Reviewed(workspace, venue_id)
    roots, deadlines = workspace.raw.roots(venue_id), Deadlines(workspace.raw, venue_id)
    sha256 = {stored.path: stored.sha256 for stored in workspace.raw.files(venue_id) if stored.sha256}
    inspections = {inspection.sha256: inspection for inspection in workspace.tables.read(Inspection, venue_id)}
    total = workspace.raw.count_forums(venue_id)
    kinds = (Kind.NOTE, Kind.REFERENCE, Kind.EDIT, Kind.PUBLISHED)
    forums = workspace.raw.by_forum(kinds, venue_id, with_replies=False)
    with workspace.tables.replacing(("4-versions",), venue_id, NAME, key) as out:
        for done, (forum_id, objects) in enumerate(forums, 1):
            report(done, total)
            read_published(objects, has_paper=forum_id in papers, is_held=forum_id in roots, venue_id=venue_id, out=out)
            if forum_id not in papers or forum_id not in roots:
                _set_aside_without_paper(forum_id, objects, out)
                continue
            decided, first_review_at = papers[forum_id], reviewed.first(forum_id)
            found = _submission(forum_id, objects, deadlines, out)
            known = replace(
                found,
                first_review_at=first_review_at,
                sha256=sha256,
                is_accepted=decided.is_accepted,
                decided_at=decided.decided_at,
                opinion=partial(_opinion, inspections, found.names_are_open),
            )
            for version in read_versions(known) if known.uploads or known.attachment else ():
                out.add(version)


def _submission(forum_id: str, objects: Sequence[RawObject], deadlines: Deadlines, out: Replacement) -> Submission:
    """What the raw objects of one forum say of its PDFs."""
    revisions = Revisions()
    for found in objects:
        _take(found, revisions, out)
    root, changes = revisions.root or Note(), revisions.changes
    shown, named = {one.invitation for one in changes if one.is_public}, root.invitations or []
    # API v1 lists every reference; of API v2's edits some may be kept from us.
    public, hidden = fold(changes, is_whole=revisions.is_api_1 or shown.issuperset(named))
    uploads, repeats = _distinct(forum_id, public, root, out)
    return Submission(
        forum_id=forum_id,
        venue_id=deadlines.venue_id,
        uploads=uploads,
        hidden=hidden,
        attachment=_attachment(root, forum_id),
        current_path=_pdf_path(root),
        invitations=named,
        deadline=deadlines.of(named),
        first_review_at=None,
        sha256={},
        shown=frozenset(shown),
        names_are_open=revisions.is_api_1 and root.original is None and tail_of(root.created_by) in OPEN_FORMS,
        is_one_for_months=revisions.is_api_1 and is_one_for_months(public),
        repeats=repeats,
        was_reopened=deadlines.was_reopened(named),
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
    papers = len(_papers(workspace, venue_id).keys() & raw.roots(venue_id))
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
    2,
    (Kind.NOTE, Kind.REFERENCE, Kind.EDIT, Kind.INVITATION, Kind.PUBLISHED, "file"),
    ("1-papers", "3-posts", "0-inspections"),
    ("4-versions",),
    (),
    run,
    balance,
    made_with=lambda _: f"{invitations.DIGEST} {catalogue.DIGEST} {deadline.DIGEST}",
)
