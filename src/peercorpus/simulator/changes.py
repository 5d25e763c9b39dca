"""What happens at an OpenReview between two visits, done to a simulated world as the live service would do it.

Objects share parts, so each is replaced and none is changed. A running service answers from indexes: call its
`reindex` afterwards.
"""

from collections.abc import Callable
from functools import partial
from typing import cast

from peercorpus.simulator.editions import find_venues
from peercorpus.simulator.holdings import Holdings, Json, World
from peercorpus.simulator.ids import draw_id, draw_path
from peercorpus.simulator.pdfs import stamp
from peercorpus.simulator.shelves import values_of
from peercorpus.simulator.submissions2 import JOURNAL_LABELS, LABELS

EVERYONE = ["everyone"]
REVISED_FIELDS = ("title", "abstract", "pdf")


def edit_rating(
    world: World, review_id: str, value: object, at_ms: int, *, field: str = "rating", public: bool = True
) -> None:
    """Let a reviewer change a score.

    Args:
        world: Where.
        review_id: The review.
        value: The answer as the form has it: a number, or `8: Accept`.
        at_ms: When, in milliseconds since 1970.
        field: The field of the form.
        public: Whether everyone may read the edit; at most venues they may not. API v1 has no hidden ones.
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
        signatures, invitation = _names(note, "signatures"), _names(note, "invitations")[0]
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
    """Post a reply that everyone may read.

    Args:
        world: Where.
        forum_id: The submission.
        text: What it says.
        at_ms: When, in milliseconds since 1970.
        under: The note it answers; None for the submission.
        by: Who signs: a group of the paper's own, or a profile (`~Ada_Example1`).
        kind: The last path element of its invitation.
        field: The field of the form that holds the text.

    Returns:
        The id of the reply.
    """
    holdings = _holdings(world, forum_id)
    is_v1 = holdings is world.v1
    return _reply(holdings, forum_id, {field: text if is_v1 else {"value": text}}, at_ms, under=under, by=by, kind=kind)


def delete_note(world: World, note_id: str, at_ms: int) -> None:
    """Delete a note, softly: it stays, for whoever asks with `trash=true`."""
    holdings = _holdings(world, note_id)
    holdings.notes[note_id] = holdings.notes[note_id] | {"ddate": at_ms, "tmdate": at_ms}


def hide_note(world: World, note_id: str) -> None:
    """Take a note from the public: only its venue and those who wrote it may read it from now on."""
    holdings = _holdings(world, note_id)
    note = holdings.notes[note_id]
    holdings.notes[note_id] = note | {"readers": [*dict.fromkeys([_venue_id(note), *_names(note, "signatures")])]}


def replace_pdf(
    world: World, forum_id: str, at_ms: int, *, stage: str = "Camera_Ready_Revision", public: bool = True
) -> str:
    """Let the authors send another PDF.

    Args:
        world: Where.
        forum_id: The submission; it must have a PDF.
        at_ms: When, in milliseconds since 1970.
        stage: The last path element of the invitation, on API v2.
        public: Whether everyone may read the edit, on API v2.

    Returns:
        The path of the new file.
    """
    holdings = _holdings(world, forum_id)
    note = holdings.notes[forum_id]
    mark = draw_path(forum_id, "replaced", at_ms)
    path, read = f"/pdf/{mark}.pdf", holdings.files[values_of(note, "content.pdf")[0]]
    holdings.files[path] = partial(_stamped, read, mark)
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
    """Let the authors take a submission back; gives the id of the note in which they say so."""
    holdings = _holdings(world, forum_id)
    note = holdings.notes[forum_id]
    venue_id = _venue_id(note)
    invitation = f"{venue_id}/-/Withdrawn_Submission"
    if holdings is world.v1:
        holdings.notes[forum_id] = note | {"invitation": invitation, "tmdate": at_ms}
        said: Json = {
            "title": "Submission Withdrawn by the Authors",
            "withdrawal confirmation": "I have read and agree with the venue's withdrawal policy.",
        }
        return _reply(holdings, forum_id, said, at_ms, kind="Withdraw")
    (venue,) = find_venues([venue_id])
    label = (JOURNAL_LABELS if venue.rolling else LABELS)["withdrawn"].format(venue.short)
    state: Json = {"venue": {"value": label}, "venueid": {"value": f"{venue_id}/Withdrawn_Submission"}}
    invitations = [*dict.fromkeys([*_names(note, "invitations"), invitation])]
    holdings.notes[forum_id] = _with_content(note, state, at_ms) | {"invitations": invitations, "pdate": None}
    _edit(holdings, note, invitation, {"content": state}, at_ms, [venue_id], _names(note, "writers"))
    agreed = "I have read and agree with the venue's withdrawal policy on behalf of us all."
    return _reply(holdings, forum_id, {"withdrawal_confirmation": {"value": agreed}}, at_ms, kind="Withdrawal")


def post_late(world: World, forum_id: str, at_ms: int) -> str:
    """Open another submission to the public, as old as this one and before it in every order by id; gives its id."""
    holdings = _holdings(world, forum_id)
    note, late_id = holdings.notes[forum_id], f"0{forum_id[1:]}"
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
    reply_id, invitation = draw_id(forum_id, kind, under, by, at_ms), f"{_place(root)}/-/{kind}"
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
    """Write an API v1 reference."""
    reference_id = draw_id(str(note["id"]), "reference", at_ms)
    reference = note | {"id": reference_id, "referent": note["id"], "content": content}
    holdings.edits[reference_id] = reference | {"tcdate": at_ms, "tmdate": at_ms}
    return reference_id


def _edit(
    holdings: Holdings, note: Json, invitation: str, patch: Json, at_ms: int, signatures: list[str], readers: list[str]
) -> None:
    """Write an API v2 edit."""
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
    """The note with some fields changed and the moment of that."""
    changed = note | {"content": _content(note) | patch, "tmdate": at_ms}
    # On API v1 `mdate` stays empty.
    return changed | {"mdate": at_ms} if note.get("mdate") else changed


def _content(note: Json) -> Json:
    return cast("Json", note["content"])


def _venue_id(note: Json) -> str:
    if note.get("domain"):
        return str(note["domain"])
    named = values_of(note, "invitation")[0].partition("/-/")[0]
    return named.rpartition("/")[0] if note["id"] != note["forum"] else named


def _place(root: Json) -> str:
    """The group above everything of a paper."""
    if "domain" in root:
        return _names(root, "signatures")[0].removesuffix("/Authors")
    return f"{_venue_id(root)}/Paper{root['number']}"


def _names(note: Json, field: str) -> list[str]:
    return list(cast("list[str]", note[field]))


def _stamped(read: Callable[[], bytes], mark: str) -> bytes:
    return stamp(read(), mark)
