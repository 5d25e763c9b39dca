"""Workspaces of many venues, each with one paper and one review."""

from pathlib import Path

from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace


def note(number: int, venue_id: str, name: str) -> RawObject:
    """A submission to a venue, or a review of it."""
    forum_id, is_paper = f"paper{number}", name == "Submission"
    note_id = forum_id if is_paper else f"review{number}"
    body = f"""{{"id": "{note_id}", "forum": "{forum_id}", "replyto": {"null" if is_paper else f'"{forum_id}"'},
        "invitations": ["{venue_id}/{"" if is_paper else f"Submission{number}/"}-/{name}"], "domain": "{venue_id}",
        "signatures": ["{venue_id}/Submission{number}/{"Authors" if is_paper else "Reviewer_aaaa"}"],
        "readers": ["everyone"], "tcdate": 1700000000000,
        "content": {{"title": {{"value": "Kites, {number}"}}, "rating": {{"value": "6: weak accept"}}}}}}"""
    return RawObject(RawKind.NOTE, note_id, 2, venue_id, forum_id, note_id, 0, 0, "test", body.encode())


def fill(folder: Path, venues: int) -> None:
    """Make a workspace of a number of venues, each with one paper and one review."""
    with open_workspace(folder, create=True) as workspace, workspace.raw.transaction():
        for number in range(venues):
            venue_id = f"V{number:04}.cc/2024/Conference"
            workspace.raw.add(note(number, venue_id, name) for name in ("Submission", "Official_Review"))
