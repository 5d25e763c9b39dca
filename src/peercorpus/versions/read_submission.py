"""Read what the raw objects of a forum state about the PDFs of its submission.

Every edit that submits a PDF becomes an upload, or is set aside with a reason.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import msgspec

from peercorpus.openreview.objects import (
    Edit,
    Note,
    field_is_shown,
    invitation_name,
    read_stored_edit,
    read_stored_note,
    to_time,
)
from peercorpus.records.enums import Reason
from peercorpus.versions.deadlines import Deadlines, Stages
from peercorpus.versions.uploads import (
    CREATION,
    LATEST,
    NO_FILE,
    SubmissionEdit,
    SubmissionPdfs,
    Upload,
    fold,
    is_complete,
    is_kept,
    is_one_for_months,
)
from peercorpus.workspace.delta_tables import Replacement
from peercorpus.workspace.raw_store import RawKind, RawObject

OPEN_FORMS = frozenset({"Submission", "submission"})
"""On API v1, the note of a blind paper comes from `Blind_Submission`; a note from these forms names its authors."""
KEPT = "/attachment/"
ATTACHED = "/original_pdf"
"""Suffix to the forum id in the edit id of a submitted file kept as an attachment."""


@dataclass(slots=True)
class Revisions:
    """The root note of one forum and the changes by its edits and references."""

    root: Note | None = None
    changes: list[SubmissionEdit] = field(default_factory=list)
    is_api_1: bool = False
    has_unreadable: bool = False


def _find_text(note: Note, name: str) -> str | None:
    value = note.fields.get(name)
    return value if isinstance(value, str) else None


def _find_pdf_path(note: Note) -> str | None:
    path = _find_text(note, "pdf")
    return path if path is not None and is_kept(path) else None


def _read_path(note: Note, *, starts_over: bool) -> str | None:
    """Return the PDF that a partial note names; None if it leaves it as it is, `NO_FILE` if it removes or hides it.

    An answer of API v2 with readers but without a value changes only who may see the PDF.
    """
    content = note.content or {}
    if "pdf" not in content:
        return NO_FILE if starts_over else None
    answer = content["pdf"]
    if isinstance(answer, dict) and "value" not in answer:
        return NO_FILE if answer.get("delete") is True else None
    return _find_text(note, "pdf") or NO_FILE


def _read_change(raw_edit: RawObject) -> SubmissionEdit:
    edit: Edit | Note = read_stored_edit(raw_edit) if raw_edit.kind is RawKind.EDIT else read_stored_note(raw_edit)
    note, invitation = (edit.note, edit.invitation or "") if isinstance(edit, Edit) else (edit, edit.created_by)
    kept = _find_text(note, "original_pdf") or ""
    return SubmissionEdit(
        edit_id=raw_edit.object_id,
        created_at=to_time(edit.tcdate),
        modified_at=to_time(edit.tmdate),
        invitation=invitation,
        is_public=edit.is_public,
        path=_read_path(note, starts_over=isinstance(edit, Edit) and edit.replacement is True),
        title=None if edit.ddate else _find_text(note, "title"),
        abstract=None if edit.ddate else _find_text(note, "abstract"),
        deleted_at=to_time(edit.ddate or None),
        attachment=kept if kept.startswith(KEPT) else None,
    )


def _add_object(raw_object: RawObject, revisions: Revisions, out: Replacement) -> None:
    if raw_object.kind is RawKind.PUBLISHED:
        return
    if raw_object.kind is RawKind.NOTE:
        if raw_object.object_id == raw_object.forum_id:
            revisions.root = read_stored_note(raw_object)
            revisions.is_api_1 = raw_object.api == 1
        return
    if raw_object.subject_id != raw_object.forum_id:
        out.set_aside(
            raw_object.object_id, raw_object.forum_id, Reason.EDIT_OF_A_REPLY, "It edits a reply, not the submission."
        )
        return
    try:
        change = _read_change(raw_object)
    except msgspec.ValidationError as error:
        out.set_aside(raw_object.object_id, raw_object.forum_id, Reason.UNREADABLE, str(error))
        revisions.has_unreadable = True
        return
    revisions.changes.append(change)
    if not change.is_public:
        out.set_aside(raw_object.object_id, raw_object.forum_id, Reason.NOT_PUBLIC, "It is not readable by everyone.")
    elif not change.can_be_had:
        out.set_aside(
            raw_object.object_id, raw_object.forum_id, Reason.NO_PDF, "It brings no PDF that OpenReview keeps."
        )


def _remove_repeats(
    forum_id: str, uploads: Sequence[Upload], root: Note, out: Replacement
) -> tuple[list[Upload], list[Upload]]:
    """Return uploads in time order, one per path, and the repeated ones.

    Of several uploads of one file, the one with the earliest last change counts, because it proves the file's age. The
    current PDF is last if no edit submitted it.
    """
    kept: dict[str, Upload] = {}
    for upload in sorted(
        uploads, key=lambda upload: (upload.settled_at or LATEST, upload.created_at or LATEST, upload.edit_id)
    ):
        kept.setdefault(upload.path, upload)
    repeats = [upload for upload in uploads if upload is not kept[upload.path]]
    for upload in repeats:
        detail = f"The same file as {kept[upload.path].edit_id} brought."
        out.set_aside(upload.edit_id, forum_id, Reason.PDF_UNCHANGED, detail)
    current = _find_pdf_path(root)
    if current is None:
        answer = (root.content or {}).get("pdf")
        is_hidden = not field_is_shown(answer)
        reason = Reason.NOT_PUBLIC if is_hidden else Reason.NO_PDF
        detail = "Its PDF is not readable by everyone." if is_hidden else "It names no PDF that OpenReview keeps."
        out.set_aside(forum_id, forum_id, reason, detail)
    elif current in kept:
        detail = f"The current PDF is the one {kept[current].edit_id} brought."
        out.set_aside(forum_id, forum_id, Reason.PDF_UNCHANGED, detail)
    else:
        kept[current] = Upload(
            edit_id=forum_id,
            path=current,
            created_at=None,
            modified_at=None,
            settled_at=None,
            invitation=None,
            title=_find_text(root, "title"),
            abstract=_find_text(root, "abstract"),
        )
    return sorted(kept.values(), key=lambda upload: (upload.created_at or LATEST, upload.edit_id)), repeats


def read_submission(
    forum_id: str, objects: Sequence[RawObject], venue_deadlines: Deadlines, first: datetime | None, out: Replacement
) -> SubmissionPdfs:
    """Return what the raw objects of one forum state about its PDFs, with the time of its first review."""
    revisions = Revisions()
    for raw_object in objects:
        _add_object(raw_object, revisions, out)
    root = revisions.root or Note()
    changes = revisions.changes
    shown = {change.invitation for change in changes if change.is_public}
    named = root.invitations or []
    # API v1 lists every reference; API v2 may hide some edits.
    public, hidden = fold(changes, is_whole=revisions.is_api_1 or shown.issuperset(named))
    uploads, repeats = _remove_repeats(forum_id, public, root, out)
    kept_path = _find_text(root, "original_pdf") or ""
    stages = venue_deadlines.stages if revisions.is_api_1 else venue_deadlines.stages_of_note(root.created_by)
    created_at, modified_at = to_time(root.tcdate), to_time(root.tmdate)
    is_back_dated = bool(root.tcdate and root.cdate and root.cdate < root.tcdate - CREATION / timedelta(milliseconds=1))
    # Only a time later than the creation shows that the record keeps it.
    is_kept_up = (
        not revisions.is_api_1 and created_at is not None and modified_at is not None and modified_at > created_at
    )
    return SubmissionPdfs(
        forum_id=forum_id,
        venue_id=venue_deadlines.venue_id,
        uploads=uploads,
        hidden=hidden,
        attachment=_attach(forum_id, kept_path) if kept_path.startswith(KEPT) else None,
        kept=[
            replace(_attach(forum_id, change.attachment), created_at=change.created_at, settled_at=change.settled_at)
            for change in changes
            if change.attachment is not None and change.is_public and change.deleted_at is None
        ],
        created_at=created_at,
        may_be_imported=created_at is None or is_back_dated,
        modified_at=modified_at if is_kept_up else None,
        current_path=_find_pdf_path(root),
        invitations=named,
        deadline=venue_deadlines.of(named),
        stated_deadlines=venue_deadlines.stated,
        known_stages=stages,
        first_review_at=first,
        sha256={},
        shown=frozenset(shown),
        names_are_open=revisions.is_api_1 and root.original is None and invitation_name(root.created_by) in OPEN_FORMS,
        is_one_for_months=revisions.is_api_1 and is_one_for_months(public),
        repeats=repeats,
        was_reopened=venue_deadlines.was_reopened(named),
        masked_as=root.created_by if revisions.is_api_1 else "",
        is_complete=_shows_history(revisions, root, shown, stages, first),
    )


def _attach(forum_id: str, path: str) -> Upload:
    return Upload(f"{forum_id}{ATTACHED}", path, created_at=None, modified_at=None, settled_at=None, invitation=None)


def _shows_history(
    revisions: Revisions, root: Note, shown: Collection[str], stages: Stages, first: datetime | None
) -> bool:
    """Return whether every change of the PDF is known: all references, or edits by every invitation that can change it.

    A journal may rewrite the first edit as the chairs' own; the submission form then has no edit.
    """
    if revisions.has_unreadable or not (revisions.is_api_1 or root.invitations):
        return False
    unseen = [
        name
        for name in root.invitations or ()
        if name not in shown and (not stages.is_harmless(name) or invitation_name(name) in stages.full_paper)
    ]
    is_blind = revisions.is_api_1 and root.original is not None
    return is_complete(
        revisions.changes,
        to_time(root.tcdate),
        _find_pdf_path(root),
        unseen,
        is_blind=is_blind,
        listed_until=first if revisions.is_api_1 else None,
    )
