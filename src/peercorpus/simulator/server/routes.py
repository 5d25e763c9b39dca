"""Serve the routes of both APIs other than lists: search, files, venues and profiles."""

import io
from collections.abc import Callable
from pathlib import PurePosixPath
from zipfile import ZipFile, ZipInfo

from peercorpus.simulator.server.index import may_read, values_of, visible_object
from peercorpus.simulator.server.listings import (
    EDITS,
    GROUPS,
    INVITATIONS,
    MOST_ROWS,
    NOTES_V1,
    NOTES_V2,
    REFERENCES,
    ListRoute,
    answer_list,
    page_of,
    read_paging,
)
from peercorpus.simulator.server.requests import Call
from peercorpus.simulator.server.responses import ApiError, Response, browser_page, invalid, json_answer, not_found
from peercorpus.simulator.world.holdings import Json

_MOST_FILES = 50


def static_pdf(call: Call, path: str) -> Response:
    """Handle `GET /pdf/<hash>.pdf`: return the file at its own path, while it is the current one of a note.

    Source: according to other projects, the live service returned 404 for ten of eleven paths of old versions.
    """
    for note in call.shelves.notes_with_pdf(path):
        if may_read(note, call.caller) and not note.get("ddate"):
            return _send_file(call, visible_object(note, call.caller), "pdf", path)
    raise _no_file("pdf", path)


def _edit_pdf(call: Call) -> Response:
    return _edit_file(call, call.query.get("name", "pdf"))


def _edit_attachment(call: Call) -> Response:
    return _edit_file(call, call.required("name"))


def _edit_file(call: Call, field: str) -> Response:
    edit = visible_object(call.shelves.edits.one(call.required("id"), call.caller), call.caller)
    note = edit.get("note") if call.api == "v2" else edit
    return _send_file(call, note if isinstance(note, dict) else {}, field, str(edit["id"]))


def _note_files(call: Call, field: str) -> Response:
    """Return the current file in a field of one or several notes."""
    ids = call.query["ids"].split(",") if "ids" in call.query else []
    if len(ids) > _MOST_FILES:
        raise invalid("ids", len(ids), f"must NOT have more than {_MOST_FILES} items", limit=_MOST_FILES)
    if len(ids) > 1:
        return _zip_files(call, field, ids)
    # For a single id the file itself is returned, even if the parameter is `ids`.
    note_id = ids[0] if ids else call.required("id")
    note = visible_object(call.shelves.notes.one(note_id, call.caller), call.caller)
    return _send_file(call, note, field, note_id)


def _send_file(call: Call, thing: Json, field: str, thing_id: str) -> Response:
    path, read = _file(call, thing, field) or (None, None)
    if path is None or read is None:
        raise _no_file(field, thing_id)
    is_pdf = path.suffix == ".pdf"
    disposition = f'{"inline" if is_pdf else "attachment"}; filename="{path.name}"'
    kind = "application/pdf" if is_pdf else "application/octet-stream"
    return Response(read(), content_type=kind, headers={"Content-Disposition": disposition})


def _zip_files(call: Call, field: str, ids: list[str]) -> Response:
    """Return the files of several notes, without notes that the caller may not read or that lack the file."""
    archive = io.BytesIO()
    with ZipFile(archive, "w") as members:
        for note_id in dict.fromkeys(ids):
            note = call.shelves.notes.things.get(note_id)
            if note is None or note.get("ddate") or not may_read(note, call.caller):
                continue
            file = _file(call, visible_object(note, call.caller), field)
            if file is not None:
                path, read = file
                name = f"{note.get('number')}_{field}{path.suffix}"
                # An explicit date, since zip refuses clocks before 1980.
                members.writestr(ZipInfo(f"{note_id}_{name}" if name in members.namelist() else name), read())
    headers = {"Content-Disposition": f'attachment; filename="{field}.zip"'}
    return Response(archive.getvalue(), content_type="application/zip", headers=headers)


def _file(call: Call, thing: Json, field: str) -> tuple[PurePosixPath, Callable[[], bytes]] | None:
    """Return the path in a field and the reader of its bytes; only files listed in the holdings are read."""
    content = thing.get("content")
    value = content.get(field) if isinstance(content, dict) else None
    path = value.get("value") if isinstance(value, dict) else value
    read = call.shelves.files.get(path) if isinstance(path, str) else None
    return (PurePosixPath(str(path)), read) if read is not None else None


def _no_file(field: str, thing_id: str) -> ApiError:
    return not_found("Attachment", f"{field} of {thing_id}")


_SOURCES = ("all", "forum", "reply")


def answer_note_search(call: Call) -> Response:
    """Handle `POST /notes/search`: return the readable notes among the ids in the body."""
    ids = call.body.get("ids")
    if not isinstance(ids, list) or len(ids) > MOST_ROWS:
        raise invalid("ids", ids, f"must be a list of at most {MOST_ROWS} ids")
    notes = [note for note_id in ids if (note := call.shelves.notes.things.get(str(note_id))) is not None]
    readable = [
        visible_object(note, call.caller) for note in notes if may_read(note, call.caller) and not note.get("ddate")
    ]
    return json_answer({"notes": readable, "count": len(readable)})


def search_notes(call: Call) -> Response:
    """Handle `GET /notes/search`: return the readable notes with a text in any field, or in the one named by `content`.

    The live service sorts by relevance; here the newest come first.
    """
    term = call.query.get("term") or call.required("query")
    source = call.query.get("source", "all")
    if source not in _SOURCES:
        raise invalid("source", source, f"must be one of {', '.join(_SOURCES)}")
    group = call.query.get("group", "all")
    matches = [
        seen
        for note in call.shelves.notes.newest_first
        if may_read(note, call.caller)
        and not note.get("ddate")
        and source in ("all", "forum" if note["id"] == note.get("forum") else "reply")
        and (group == "all" or any(name.startswith(f"{group}/") for name in values_of(note, "invitation")))
        and _holds(seen := visible_object(note, call.caller), term.casefold(), call.query.get("content", "all"))
    ]
    return json_answer({"notes": page_of(matches, read_paging(call.query)), "count": len(matches)})


def _holds(note: Json, term: str, name: str) -> bool:
    content = note.get("content")
    fields = list(content) if name == "all" and isinstance(content, dict) else [name]
    return any(term in value.casefold() for field in fields for value in values_of(note, f"content.{field}"))


Route = Callable[[Call], Response]
OPEN_TO_GUESTS = frozenset({"groups", "invitations", "venues", "profiles", "login", "mfa", "refreshToken", "challenge"})


def is_open_to_guests(path: str) -> bool:
    """Return whether the challenge gate lets a guest through to this path."""
    return path.split("/")[1] in OPEN_TO_GUESTS


def route_of(api: str, method: str, path: str) -> Route:
    """Return the handler of a request.

    Raises:
        ApiError: This API has no such route.
    """
    route = _ROUTES[api].get((method, path))
    if route is None and method == "GET" and path.startswith("/pdf/"):
        return lambda call: static_pdf(call, path)
    if route is None:
        raise ApiError(404, "NotFoundError", f"The route {method} {path} was not found", path=path)
    return route


def _venues(call: Call) -> Response:
    """Handle `GET /venues`: return the venues listed in the group `venues`, or those named."""
    asked = call.query.get("id") or call.query.get("ids")
    listed = call.shelves.groups.things.get("venues", {})
    ids = asked.split(",") if asked else values_of(listed, "member")
    venues: list[Json] = []
    for venue_id in ids:
        group = call.shelves.groups.things.get(venue_id)
        if group is not None and may_read(group, call.caller):
            content = visible_object(group, call.caller).get("content")
            title = {"title": {"value": group["id"]}}
            venues.append({"id": group["id"], "content": content if isinstance(content, dict) else title})
    return json_answer({"venues": venues})


def _profiles(call: Call) -> Response:
    """Handle `GET /profiles`: return the caller's own profile if requested; the simulator has no others."""
    if call.caller.user is None:
        return json_answer({"profiles": [], "count": 0})
    own = call.accounts.profile(call.caller)
    asked = {call.query[name] for name in ("id", "confirmedEmail", "email") if name in call.query}
    profiles = [own] if asked <= call.caller.names else []
    return json_answer({"profiles": profiles, "count": len(profiles)})


def _list(listing: ListRoute) -> Route:
    return lambda call: answer_list(call, listing)


_BOTH: dict[tuple[str, str], Route] = {
    ("GET", "/groups"): _list(GROUPS),
    ("GET", "/invitations"): _list(INVITATIONS),
    ("GET", "/pdf"): lambda call: _note_files(call, "pdf"),
    ("GET", "/attachment"): lambda call: _note_files(call, call.required("name")),
    ("GET", "/profiles"): _profiles,
    ("GET", "/venues"): _venues,
    ("GET", "/challenge"): lambda _call: browser_page(),
    ("GET", "/notes/search"): search_notes,
    ("POST", "/notes/search"): answer_note_search,
    ("POST", "/login"): lambda call: call.accounts.sign_in(call.body),
    ("POST", "/mfa/challenge"): lambda call: call.accounts.challenge(call.body),
    ("POST", "/mfa/verify"): lambda call: call.accounts.verify(call.body),
    ("POST", "/refreshToken"): lambda call: call.accounts.refresh(call.caller),
}
_ROUTES: dict[str, dict[tuple[str, str], Route]] = {
    "v1": {
        **_BOTH,
        ("GET", "/notes"): _list(NOTES_V1),
        ("GET", "/references"): _list(REFERENCES),
        ("GET", "/references/pdf"): _edit_pdf,
        ("GET", "/references/attachment"): _edit_attachment,
    },
    "v2": {
        **_BOTH,
        ("GET", "/notes"): _list(NOTES_V2),
        ("GET", "/notes/edits"): _list(EDITS),
        ("GET", "/notes/edits/pdf"): _edit_pdf,
        ("GET", "/notes/edits/attachment"): _edit_attachment,
    },
}
