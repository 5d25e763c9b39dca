"""The files: of a note, of an edit, of a reference, one at a time or as a zip."""

import io
from collections.abc import Callable
from pathlib import PurePosixPath
from zipfile import ZipFile

from peercorpus.simulator.answers import Answer, ApiError, invalid, not_found
from peercorpus.simulator.calls import Call
from peercorpus.simulator.holdings import Json
from peercorpus.simulator.visibility import may_read, shown

_MOST_FILES = 50


def note_pdf(call: Call) -> Answer:
    """Answer `GET /pdf`: the current PDF of a note, or of several."""
    return _note_files(call, "pdf")


def note_attachment(call: Call) -> Answer:
    """Answer `GET /attachment`: the current file in a field of a note, or of several."""
    return _note_files(call, call.required("name"))


def edit_pdf(call: Call) -> Answer:
    """Answer `GET /notes/edits/pdf` and `GET /references/pdf`: the PDF that an edit brought."""
    return _edit_file(call, call.query.get("name", "pdf"))


def edit_attachment(call: Call) -> Answer:
    """Answer `GET /notes/edits/attachment` and `GET /references/attachment`: the file that an edit brought."""
    return _edit_file(call, call.required("name"))


def static_pdf(call: Call, path: str) -> Answer:
    """Answer `GET /pdf/<hash>.pdf`: the file under its own path, while it is the current one of a note.

    Source: of eleven paths of old versions, ten were answered 404 by the live service, as other projects report.
    """
    for note in call.shelves.notes_with_pdf(path):
        if may_read(note, call.caller) and not note.get("ddate"):
            return _sent(call, shown(note, call.caller), "pdf", path)
    raise _no_file("pdf", path)


def _edit_file(call: Call, field: str) -> Answer:
    edit = shown(call.shelves.edits.one(call.required("id"), call.caller), call.caller)
    note = edit.get("note") if call.api == "v2" else edit
    return _sent(call, note if isinstance(note, dict) else {}, field, str(edit["id"]))


def _note_files(call: Call, field: str) -> Answer:
    ids = call.query["ids"].split(",") if "ids" in call.query else []
    if len(ids) > _MOST_FILES:
        raise invalid("ids", len(ids), f"must NOT have more than {_MOST_FILES} items", limit=_MOST_FILES)
    if len(ids) > 1:
        return _zipped(call, field, ids)
    # One id is answered with the file itself, even where it came as `ids`.
    note_id = ids[0] if ids else call.required("id")
    note = shown(call.shelves.notes.one(note_id, call.caller), call.caller)
    return _sent(call, note, field, note_id)


def _sent(call: Call, thing: Json, field: str, thing_id: str) -> Answer:
    path, read = _file(call, thing, field) or (None, None)
    if path is None or read is None:
        raise _no_file(field, thing_id)
    is_pdf = path.suffix == ".pdf"
    disposition = f'{"inline" if is_pdf else "attachment"}; filename="{path.name}"'
    kind = "application/pdf" if is_pdf else "application/octet-stream"
    return Answer(read(), content_type=kind, headers={"Content-Disposition": disposition})


def _zipped(call: Call, field: str, ids: list[str]) -> Answer:
    """The files of several notes; what the caller may not read, or has no such file, is left out."""
    archive = io.BytesIO()
    with ZipFile(archive, "w") as members:
        for note_id in dict.fromkeys(ids):
            note = call.shelves.notes.things.get(note_id)
            if note is None or note.get("ddate") or not may_read(note, call.caller):
                continue
            found = _file(call, shown(note, call.caller), field)
            if found is not None:
                path, read = found
                name = f"{note.get('number')}_{field}{path.suffix}"
                members.writestr(f"{note_id}_{name}" if name in members.namelist() else name, read())
    headers = {"Content-Disposition": f'attachment; filename="{field}.zip"'}
    return Answer(archive.getvalue(), content_type="application/zip", headers=headers)


def _file(call: Call, thing: Json, field: str) -> tuple[PurePosixPath, Callable[[], bytes]] | None:
    """The path that a field names and the reader of its bytes; only what the holdings list is ever read."""
    content = thing.get("content")
    value = content.get(field) if isinstance(content, dict) else None
    path = value.get("value") if isinstance(value, dict) else value
    read = call.shelves.files.get(path) if isinstance(path, str) else None
    return (PurePosixPath(str(path)), read) if read is not None else None


def _no_file(field: str, thing_id: str) -> ApiError:
    return not_found("Attachment", f"{field} of {thing_id}")
