"""Which earlier versions are requested: those of all reviews that changed individually, and a few of the rest."""

import json
from collections.abc import Sequence

import pytest

from peercorpus.execution.progress import show_nothing
from peercorpus.harvest.edit_history import Notes, notes_with_history
from peercorpus.harvest.session import VenueSession
from peercorpus.openreview.client import Client
from peercorpus.openreview.raw_rows import RawOrigin, build_note
from peercorpus.openreview.venue_discovery import VenueProfile
from peercorpus.workspace.raw_store import RawStore
from peercorpus.workspace.workspace import Workspace

VENUE = "Borealis.cc/2024/Conference"
MINUTE_MS, DAY_MS = 60_000, 86_400_000
POSTED_MS = 1_700_000_000_000
RELEASED_MS = POSTED_MS + 30 * DAY_MS
"""When a venue makes its reviews public, which changes each of them."""


def history(workspace: Workspace, modified_ms: Sequence[int], api: int = 2) -> Notes:
    """Return the requests for reviews posted together and modified at these times, as `r0`, `r1`, …"""
    _store(workspace.raw, modified_ms)
    profile = VenueProfile(VENUE, api, (f"{VENUE}/-/Submission",), "Official_Review", ("", b"{}"), ())
    with Client() as client:
        visit = VenueSession(workspace.raw, workspace.files, client, profile, None, False, show_nothing)
        return notes_with_history(visit)


def _store(raw: RawStore, modified_ms: Sequence[int]) -> None:
    for number, at_ms in enumerate(modified_ms):
        review = {
            "id": f"r{number}",
            "forum": "f",
            "domain": VENUE,
            "invitations": [f"{VENUE}/Submission1/-/Official_Review"],
            "tcdate": POSTED_MS,
            "tmdate": at_ms,
            "content": {"review": {"value": "Kites are flown."}},
        }
        raw.add([build_note(json.dumps(review).encode(), RawOrigin("a page", 1, VENUE))])


def ids(entries: Sequence[str]) -> set[str]:
    return {entry.split()[0] for entry in entries}


def test_a_late_change_is_the_reviewers(workspace: Workspace) -> None:
    released = [RELEASED_MS + number * MINUTE_MS for number in range(6)]
    notes = history(workspace, [*released, RELEASED_MS + 59 * MINUTE_MS, RELEASED_MS + 90 * MINUTE_MS])
    assert ids(notes.reviews) == {"r7"}
    assert ids(notes.released) == {"r0", "r1", "r2", "r3", "r4", "r5", "r6"}


def test_an_early_change_is_the_reviewers(workspace: Workspace) -> None:
    released = [RELEASED_MS + number * MINUTE_MS for number in range(6)]
    notes = history(workspace, [*released, RELEASED_MS - MINUTE_MS - 60 * MINUTE_MS])
    assert ids(notes.reviews) == {"r6"}


def test_few_changes_are_no_release(workspace: Workspace) -> None:
    notes = history(workspace, [RELEASED_MS + number * MINUTE_MS for number in range(5)])
    assert ids(notes.reviews) == {"r0", "r1", "r2", "r3", "r4"}
    assert notes.released == []


def test_a_quick_correction_has_no_history(workspace: Workspace) -> None:
    notes = history(workspace, [POSTED_MS, POSTED_MS + 60 * MINUTE_MS, POSTED_MS + 61 * MINUTE_MS])
    assert ids(notes.reviews) == {"r2"}


@pytest.mark.parametrize(
    ("name", "signer", "content", "is_asked"),
    [
        ("Official_Review", "Reviewer_x1Yz", {"review": "Kites."}, True),
        ("Technical_Reviewers_Review", "Technical_Reviewer_x1Yz", {"review": "Kites."}, True),
        ("First_Round_Review", "Program_Committee_x1Yz", {"rating": "6: weak accept"}, True),
        ("Second_Look", "Emergency_Reviewer_x1Yz", {"rating": 6}, True),
        ("Second_Look", "Juror_x1Yz", {"rating": 6}, True),
        ("Second_Look", "Kite_Expert_x1Yz", {"rating": 6}, True),
        ("Second_Look", "Reviewer_x1Yz", {"comment": "Kites."}, False),
        ("Second_Look", "Judge_x1Yz", {"rating": 6}, False),
        ("Second_Look", "Authors", {"rating": 6}, False),
    ],
)
def test_histories_are_requested_for_reviews_of_every_name(
    workspace: Workspace, name: str, signer: str, content: dict[str, object], is_asked: bool
) -> None:
    said = {"review_names": ["Official_Review", "Technical_Reviewers_Review"], "area_chair_roles": ["Judges"]}
    said["reviewer_roles"] = ["Reviewers", "Jurors"]
    group = {"id": VENUE, "content": {key: {"value": value} for key, value in said.items()}}
    review = {
        "id": "r",
        "forum": "f",
        "replyto": "f",
        "domain": VENUE,
        "invitations": [f"{VENUE}/Submission1/-/{name}"],
        "signatures": [f"{VENUE}/Submission1/{signer}"],
        "tcdate": POSTED_MS,
        "tmdate": POSTED_MS + DAY_MS,
        "content": {field: {"value": answer} for field, answer in content.items()},
    }
    workspace.raw.add([build_note(json.dumps(review).encode(), RawOrigin("a page", 1, VENUE))])
    source = ("", json.dumps(group).encode())
    profile = VenueProfile(VENUE, 2, (f"{VENUE}/-/Submission",), "Official_Review", source, ())
    with Client() as client:
        visit = VenueSession(workspace.raw, workspace.files, client, profile, None, False, show_nothing)
        assert ids(notes_with_history(visit).reviews) == ({"r"} if is_asked else set())
