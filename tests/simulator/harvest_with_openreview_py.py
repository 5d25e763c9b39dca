"""Harvest a simulated OpenReview with the unmodified clients of openreview-py, and print what they got as JSON.

Run as a script with the environment of the clients set; stdin says what to harvest, see `Task`.
"""

import json
import sys
from typing import Any, TypedDict


class Task(TypedDict):
    """What to harvest: two addresses, an account, and the venues of each API."""

    v1: str
    v2: str
    user: str
    password: str
    venues_v1: list[str]
    venues_v2: list[str]


def harvest_v1(client: Any, venue: str) -> dict[str, Any]:
    """Harvest one venue of API v1: three lists, all references, the files of every version."""
    lists = ("Blind_Submission", "Withdrawn_Submission", "Desk_Rejected_Submission")
    papers = [
        note
        for name in lists
        for note in client.get_all_notes(invitation=f"{venue}/-/{name}", details="replies,directReplies,original")
    ]
    references = {
        note.id: [client.get_all_references(referent=note.id, original=original) for original in (False, True)]
        for note in papers
    }
    return {
        "group": client.get_group(venue).id,
        "domain": raw_group(client, venue)["domain"],
        "invitations": [one.id for one in client.get_all_invitations(regex=f"{venue}/.*", expired=True)],
        "review_form": sorted(client.get_invitation(f"{venue}/-/Official_Review").reply["content"]),
        "papers": {note.id: sorted(reply["id"] for reply in note.details["replies"]) for note in papers},
        "originals": [note.id for note in papers if "original" in note.details],
        "references": {note_id: [[one.id for one in some] for some in both] for note_id, both in references.items()},
        "files": {
            "current": {note.id: size(client.get_pdf(note.id)) for note in papers},
            "versions": {
                one.id: size(client.get_pdf(one.id, is_reference=True))
                for _, every in references.values()
                for one in every
                if str(one.content.get("pdf", "")).startswith("/pdf/")
            },
            "attachments": {note.id: size(client.get_attachment(note.id, "pdf")) for note in papers[:1]},
        },
    }


def harvest_v2(client: Any, venue: str) -> dict[str, Any]:
    """Harvest one venue of API v2: one list, all edits, the files of notes and edits."""
    group = client.get_group(venue)
    papers = client.get_all_notes(invitation=group.content["submission_id"]["value"], details="replies")
    edits = {note.id: client.get_note_edits(note.id, sort="tcdate:asc") for note in papers}
    with_pdf = [note.id for note in papers if "pdf" in note.content]
    return {
        "domain": group.domain,
        "invitations": [one.id for one in client.get_all_invitations(prefix=f"{venue}/", expired=True)],
        "submission_due": client.get_invitation(group.content["submission_id"]["value"]).duedate,
        "papers": {note.id: sorted(reply["id"] for reply in note.details["replies"]) for note in papers},
        "by_venueid": [note.id for note in client.get_all_notes(content={"venueid": venue})],
        "by_forum": {note.id: sorted(one.id for one in client.get_all_notes(forum=note.id)) for note in papers},
        "edits": {note_id: [edit.id for edit in some] for note_id, some in edits.items()},
        "files": {
            "current": {note_id: size(client.get_pdf(note_id)) for note_id in with_pdf},
            "versions": {
                edit.id: size(edit_pdf(client, edit.id))
                for some in edits.values()
                for edit in some
                if edit.note.content and "pdf" in edit.note.content
            },
            "attachments": {note_id: size(client.get_attachment("pdf", id=note_id)) for note_id in with_pdf[:1]},
            "zip": size(client.get_attachment("pdf", ids=with_pdf[:50]), b"PK") if len(with_pdf) > 1 else None,
        },
    }


def raw_group(client: Any, venue: str) -> dict[str, Any]:
    """A group with the fields that the old client's own class leaves out."""
    response = client.session.get(client.groups_url, params={"id": venue}, headers=client.headers)
    return dict(response.json()["groups"][0])


def edit_pdf(client: Any, edit_id: str) -> bytes:
    """The PDF of one edit, for which the client has a session and no method."""
    url = f"{client.baseurl}/notes/edits/attachment"
    response = client.session.get(url, params={"id": edit_id, "name": "pdf"}, headers=client.headers)
    response.raise_for_status()
    return bytes(response.content)


def size(content: bytes, start: bytes = b"%PDF-") -> int:
    """The length of a file that is what it should be; 0 otherwise."""
    return len(content) if content.startswith(start) else 0


def main() -> None:
    """Harvest as a guest-shaped client and as an account, and print the result."""
    import openreview.api

    import openreview

    task: Task = json.load(sys.stdin)
    account = {"username": task["user"], "password": task["password"]}
    old = openreview.Client(baseurl=task["v1"], **account)
    new = openreview.api.OpenReviewClient(baseurl=task["v2"], **account)
    by_token = openreview.api.OpenReviewClient(baseurl=task["v2"], token=new.token)
    result = {
        "profiles": [old.profile.id, new.profile.id, by_token.profile.id],
        "hosts": openreview.tools.get_all_venues(new),
        "v1": {venue: harvest_v1(old, venue) for venue in task["venues_v1"]},
        "v2": {venue: harvest_v2(new, venue) for venue in task["venues_v2"]},
    }
    sys.stdout.write("\n" + json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
