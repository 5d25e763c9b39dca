"""Change the simulated world between two harvests, or between two pages of a list."""

from collections.abc import Callable
from functools import partial
from threading import Lock
from time import time
from typing import cast

import msgspec

from peercorpus.simulator.server.damage import Event, Fault
from peercorpus.simulator.server.index import values_of
from peercorpus.simulator.server.listings import NOTES_V1, NOTES_V2, PARAMETERS, answer_list
from peercorpus.simulator.server.requests import Call, Request
from peercorpus.simulator.world.api2_notes import JOURNAL_LABELS, LABELS
from peercorpus.simulator.world.holdings import Holdings, Json, World, draw_id, draw_path
from peercorpus.simulator.world.pdfs import stamp
from peercorpus.simulator.world.venues import find_venues

EVERYONE = ["everyone"]
REVISED_FIELDS = ("title", "abstract", "pdf")


def edit_rating(
    world: World, review_id: str, value: object, at_ms: int, *, field: str = "rating", public: bool = True
) -> None:
    """Make a reviewer change a score.

    The value is the new answer in the words of the form, a number or `8: Accept`; the time is in milliseconds since the
    epoch, as below. At most venues the edit is not public; API v1 has no hidden edits.
    """
    holdings = _holdings(world, review_id)
    note = holdings.notes[review_id]
    if holdings is world.v1:
        if not any(reference["referent"] == review_id for reference in holdings.edits.values()):
            _refer(holdings, note, _content(note), int(str(note["tcdate"])))
        changed = _with_content(note, {field: value}, at_ms)
        _refer(holdings, changed, _content(changed), at_ms)
    else:
        changed = _with_content(note, {field: {"value": value}}, at_ms)
        signatures = _names(note, "signatures")
        invitation = _names(note, "invitations")[0]
        readers = EVERYONE if public else _names(note, "writers")
        _edit(holdings, note, invitation, {"content": _content(changed)}, at_ms, signatures, readers)
    holdings.notes[review_id] = changed


def post_reply(
    world: World,
    forum_id: str,
    text: str,
    at_ms: int,
    *,
    under: str | None = None,
    by: str = "Authors",
    kind: str = "Official_Comment",
    field: str = "comment",
) -> str:
    """Post a public reply.

    It answers the note `under`, or the submission; `by` is a group of the paper or a profile (`~Ada_Example1`), `kind`
    the last path element of its invitation, `field` that of the form for the text.

    Returns:
        The id of the reply.
    """
    holdings = _holdings(world, forum_id)
    is_v1 = holdings is world.v1
    return _reply(holdings, forum_id, {field: text if is_v1 else {"value": text}}, at_ms, under=under, by=by, kind=kind)


def delete_note(world: World, note_id: str, at_ms: int) -> None:
    """Delete a note softly: requests with `trash=true` still get it."""
    holdings = _holdings(world, note_id)
    holdings.notes[note_id] = holdings.notes[note_id] | {"ddate": at_ms, "tmdate": at_ms}


def hide_note(world: World, note_id: str) -> None:
    """Hide a note from the public, so that only its venue and its authors may read it."""
    holdings = _holdings(world, note_id)
    note = holdings.notes[note_id]
    holdings.notes[note_id] = note | {"readers": [*dict.fromkeys([_venue_id(note), *_names(note, "signatures")])]}


def replace_pdf(
    world: World, forum_id: str, at_ms: int, *, stage: str = "Camera_Ready_Revision", public: bool = True
) -> str:
    """Make the authors upload another PDF.

    The submission must have a PDF; `stage` is the last path element of the invitation on API v2, where an edit may be
    hidden.

    Returns:
        The path of the new file.
    """
    holdings = _holdings(world, forum_id)
    note = holdings.notes[forum_id]
    mark = draw_path(forum_id, "replaced", at_ms)
    path = f"/pdf/{mark}.pdf"
    read = holdings.files[values_of(note, "content.pdf")[0]]
    holdings.files[path] = lambda: stamp(read(), mark)
    if holdings is world.v1:
        changed = _with_content(note, {"pdf": path}, at_ms)
        fields = {name: value for name, value in _content(changed).items() if name in REVISED_FIELDS}
        holdings.author_edits.add(_refer(holdings, changed, fields, at_ms))
    else:
        changed = _with_content(note, {"pdf": {"value": path}}, at_ms)
        invitation = f"{_place(note)}/-/{stage}"
        changed["invitations"] = [*dict.fromkeys([*_names(note, "invitations"), invitation])]
        readers = EVERYONE if public else _names(note, "writers")
        patch: Json = {"content": {"pdf": {"value": path}}}
        _edit(holdings, note, invitation, patch, at_ms, _names(note, "signatures"), readers)
    holdings.notes[forum_id] = changed
    return path


def withdraw(world: World, forum_id: str, at_ms: int) -> str:
    """Make the authors withdraw a submission; return the id of the withdrawal note."""
    holdings = _holdings(world, forum_id)
    note = holdings.notes[forum_id]
    venue_id = _venue_id(note)
    invitation = f"{venue_id}/-/Withdrawn_Submission"
    if holdings is world.v1:
        holdings.notes[forum_id] = note | {"invitation": invitation, "tmdate": at_ms}
        answers: Json = {
            "title": "Submission Withdrawn by the Authors",
            "withdrawal confirmation": "I have read and agree with the venue's withdrawal policy.",
        }
        return _reply(holdings, forum_id, answers, at_ms, kind="Withdraw")
    (venue,) = find_venues([venue_id])
    label = (JOURNAL_LABELS if venue.rolling else LABELS)["withdrawn"].format(venue.short)
    state: Json = {"venue": {"value": label}, "venueid": {"value": f"{venue_id}/Withdrawn_Submission"}}
    invitations = [*dict.fromkeys([*_names(note, "invitations"), invitation])]
    holdings.notes[forum_id] = _with_content(note, state, at_ms) | {"invitations": invitations, "pdate": None}
    _edit(holdings, note, invitation, {"content": state}, at_ms, [venue_id], _names(note, "writers"))
    agreed = "I have read and agree with the venue's withdrawal policy on behalf of us all."
    return _reply(holdings, forum_id, {"withdrawal_confirmation": {"value": agreed}}, at_ms, kind="Withdrawal")


def post_late(world: World, forum_id: str, at_ms: int) -> str:
    """Publish another submission, as old as this one and before it in the order of ids; return its id."""
    holdings = _holdings(world, forum_id)
    note = holdings.notes[forum_id]
    late_id = f"0{forum_id[1:]}"
    title = f"{values_of(note, 'content.title')[0]} (opened late)"
    content: Json = {"title": title if holdings is world.v1 else {"value": title}}
    late = _with_content(note, content, at_ms) | {"id": late_id, "forum": late_id, "original": None}
    holdings.notes[late_id] = late if holdings is world.v1 else {k: v for k, v in late.items() if k != "original"}
    return late_id


def _holdings(world: World, note_id: str) -> Holdings:
    for holdings in (world.v1, world.v2):
        if note_id in holdings.notes:
            return holdings
    raise KeyError(note_id)


def _reply(
    holdings: Holdings,
    forum_id: str,
    content: Json,
    at_ms: int,
    *,
    kind: str,
    under: str | None = None,
    by: str = "Authors",
) -> str:
    root = holdings.notes[forum_id]
    signature = by if by.startswith("~") else f"{_place(root)}/{by}"
    reply_id = draw_id(forum_id, kind, under, by, at_ms)
    invitation = f"{_place(root)}/-/{kind}"
    reply = root | {"id": reply_id, "replyto": under or forum_id, "content": content, "readers": EVERYONE}
    reply |= {"cdate": at_ms, "mdate": at_ms, "tcdate": at_ms, "tmdate": at_ms, "odate": None, "pdate": None}
    reply |= {"signatures": [signature], "writers": [_venue_id(root), signature]}
    reply["number"] = 1 + sum(invitation in values_of(note, "invitation") for note in holdings.notes.values())
    if "invitations" in root:
        parent = f"{_venue_id(root)}/-/{kind}"
        reply |= {"invitations": [invitation], "parentInvitations": parent}
    else:
        reply |= {"invitation": invitation, "original": None, "mdate": None}
    holdings.notes[reply_id] = reply
    return reply_id


def _refer(holdings: Holdings, note: Json, content: Json, at_ms: int) -> str:
    reference_id = draw_id(str(note["id"]), "reference", at_ms)
    reference = note | {"id": reference_id, "referent": note["id"], "content": content}
    holdings.edits[reference_id] = reference | {"tcdate": at_ms, "tmdate": at_ms}
    return reference_id


def _edit(
    holdings: Holdings, note: Json, invitation: str, patch: Json, at_ms: int, signatures: list[str], readers: list[str]
) -> None:
    edit_id = draw_id(str(note["id"]), "edit", invitation, at_ms)
    times: Json = dict.fromkeys(("cdate", "mdate", "tcdate", "tmdate"), at_ms)
    holdings.edits[edit_id] = {
        "id": edit_id,
        "invitation": invitation,
        "domain": note["domain"],
        "readers": readers,
        "nonreaders": [],
        "writers": [_venue_id(note), *signatures],
        "signatures": signatures,
        **times,
        "ddate": None,
        "version": 2,
        "note": {"id": note["id"], **patch},
    }


def _with_content(note: Json, patch: Json, at_ms: int) -> Json:
    changed = note | {"content": _content(note) | patch, "tmdate": at_ms}
    # On API v1, `mdate` stays empty.
    return changed | {"mdate": at_ms} if note.get("mdate") else changed


def _content(note: Json) -> Json:
    return cast("Json", note["content"])


def _venue_id(note: Json) -> str:
    if note.get("domain"):
        return str(note["domain"])
    named = values_of(note, "invitation")[0].partition("/-/")[0]
    return named.rpartition("/")[0] if note["id"] != note["forum"] else named


def _place(root: Json) -> str:
    """Return the group that contains the groups and invitations of a paper."""
    if "domain" in root:
        return _names(root, "signatures")[0].removesuffix("/Authors")
    return f"{_venue_id(root)}/Paper{root['number']}"


def _names(note: Json, field: str) -> list[str]:
    return list(cast("list[str]", note[field]))


class BetweenPages:
    """Changes each list of notes once: when the page after its first rows is requested.

    The note that changes is the last one of the previous page, which a client that pages with `after` refers to.
    """

    def __init__(self, happens: Callable[[str, int, World], None]) -> None:
        """Store the change, a function called with the note's id, a time in milliseconds since 1970, and the world."""
        self._happens = happens
        self._seen: set[object] = set()
        self._lock = Lock()

    def __call__(self, request: Request) -> Fault | None:
        """Return the change if this request is the first for a second page."""
        query = request.query
        if (request.method, request.path) != ("GET", "/notes") or query.get("limit") == "1":
            return None
        if "after" not in query and query.get("offset", "0") == "0":
            return None
        shaping = PARAMETERS | {"details", "count", "select"}
        question = (request.api, *sorted(item for item in query.items() if item[0] not in shaping))
        with self._lock:
            is_new = question not in self._seen
            self._seen.add(question)
        return Fault(happens=self._event) if is_new else None

    def _event(self, call: Call) -> Event:
        last = _row_before(call)
        if last not in call.shelves.notes.things:
            return lambda _world: None
        return partial(self._happens, last, int(time() * 1000))


def vanish(note_id: str, _at_ms: int, world: World) -> None:
    """Hide the note from the public."""
    hide_note(world, note_id)


def shift(note_id: str, at_ms: int, world: World) -> None:
    """Hide the note from the public and publish another one before it, so that the list keeps its length."""
    post_late(world, note_id, at_ms)
    hide_note(world, note_id)


def _row_before(call: Call) -> str:
    if "after" in call.query:
        return call.query["after"]
    before = {**call.query, "offset": str(int(call.query["offset"]) - 1), "limit": "1"}
    listing = NOTES_V1 if call.api == "v1" else NOTES_V2
    asked = Call(accounts=call.accounts, shelves=call.shelves, caller=call.caller, query=before, body={})
    rows = msgspec.json.decode(answer_list(asked, listing).body)["notes"]
    return str(rows[0]["id"]) if rows else ""
