"""The unmodified clients of openreview-py harvest the invented world, and get exactly what is public in it."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import Holdings, Json, World
from peercorpus.simulator.world.world import build_world

SCRIPT = Path(__file__).with_name("harvest_with_openreview_py.py")
LISTS_V1 = ("Blind_Submission", "Withdrawn_Submission", "Desk_Rejected_Submission")


def is_public(thing: Json) -> bool:
    readers = thing["readers"]
    return isinstance(readers, list) and "everyone" in readers and not thing.get("ddate")


def public_ids(things: Iterable[Json]) -> list[str]:
    return sorted(str(thing["id"]) for thing in things if is_public(thing))


def venue_groups(holdings: Holdings) -> list[str]:
    listed = holdings.groups["venues"]["members"]
    assert isinstance(listed, list)
    return [venue for venue in listed if venue in holdings.groups]


def public_papers(holdings: Holdings, invitations: set[str]) -> dict[str, list[str]]:
    """Public forum roots under one of the invitations, each with its public replies."""
    replies = defaultdict(list)
    for note in holdings.notes.values():
        if note["id"] != note["forum"] and is_public(note):
            replies[note["forum"]].append(str(note["id"]))
    return {
        str(note["id"]): sorted(replies[note["id"]])
        for note in holdings.notes.values()
        if note["id"] == note["forum"] and is_public(note) and invitations & named_invitations(note)
    }


def named_invitations(note: Json) -> set[str]:
    named = note.get("invitations", [note.get("invitation")])
    assert isinstance(named, list)
    return set(named)


@pytest.fixture(scope="module")
def world() -> World:
    return build_world()


@pytest.fixture(scope="module")
def harvested(world: World) -> dict[str, Any]:
    with serve_simulator(world, sign_in_required=True) as service:
        task = {
            "v1": service.base_url_v1, "v2": service.base_url_v2, "user": world.user, "password": world.password,
            "venues_v1": venue_groups(world.v1), "venues_v2": venue_groups(world.v2),
        }  # fmt: skip
        # openreview-py reads both addresses when it is imported.
        addresses = {"OPENREVIEW_API_V1_URL": service.base_url_v1, "OPENREVIEW_API_V2_URL": service.base_url_v2}
        done = subprocess.run(
            [sys.executable, str(SCRIPT)],
            input=json.dumps(task),
            env={**os.environ, **addresses},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_both_clients_find_the_venues(world: World, harvested: dict[str, Any]) -> None:
    assert harvested["profiles"] == ["~Simulated_Reader1"] * 3
    assert harvested["hosts"] == world.v2.groups["host"]["members"]
    assert harvested["v1"]
    assert harvested["v2"]


def test_old_client_gets_public_notes(world: World, harvested: dict[str, Any]) -> None:
    for venue, got in harvested["v1"].items():
        assert got["papers"] == public_papers(world.v1, {f"{venue}/-/{name}" for name in LISTS_V1})
        assert got["papers"]
        assert (got["group"], got["domain"]) == (venue, None)


def test_new_client_gets_public_notes(world: World, harvested: dict[str, Any]) -> None:
    for venue, got in harvested["v2"].items():
        papers = public_papers(world.v2, {f"{venue}/-/Submission"})
        assert got["papers"] == papers
        assert got["by_forum"] == {forum: sorted([forum, *replies]) for forum, replies in papers.items()}
        assert set(got["by_venueid"]) <= set(papers)
        assert got["domain"] == venue
    assert sum(len(got["papers"]) for got in harvested["v2"].values()) > 1


def test_old_client_gets_originals_apart(world: World, harvested: dict[str, Any]) -> None:
    hidden = world.v1.author_edits
    for got in harvested["v1"].values():
        for forum, (plain, merged) in got["references"].items():
            public = public_ids(edit for edit in world.v1.edits.values() if edit["referent"] == forum)
            assert sorted(merged) == public
            assert sorted(plain) == [edit_id for edit_id in public if edit_id not in hidden]
            assert len(merged) > len(plain)


def test_new_client_gets_public_edits(world: World, harvested: dict[str, Any]) -> None:
    edits = defaultdict(list)
    for edit in world.v2.edits.values():
        note = edit["note"]
        assert isinstance(note, dict)
        edits[note["id"]].append(edit)
    seen = 0
    for got in harvested["v2"].values():
        for forum, listed in got["edits"].items():
            assert sorted(listed) == public_ids(edits[forum])
            seen += len(listed)
    assert 0 < seen < len(world.v2.edits)


def test_every_file_is_a_pdf(harvested: dict[str, Any]) -> None:
    for got in [*harvested["v1"].values(), *harvested["v2"].values()]:
        files = got["files"]
        for kind in ("current", "versions", "attachments"):
            assert all(length > 0 for length in files[kind].values()), kind
        assert files.get("zip") != 0
    assert sum(len(got["files"]["versions"]) for got in harvested["v1"].values()) > 0
    assert sum(len(got["files"]["versions"]) for got in harvested["v2"].values()) > 0


def test_invitations_carry_forms_and_deadlines(world: World, harvested: dict[str, Any]) -> None:
    for holdings, api in ((world.v1, "v1"), (world.v2, "v2")):
        for venue, got in harvested[api].items():
            under = (one for name, one in holdings.invitations.items() if name.startswith(f"{venue}/"))
            assert sorted(got["invitations"]) == public_ids(under)
    assert all(got["review_form"] for got in harvested["v1"].values())
    assert any(got["submission_due"] for got in harvested["v2"].values())
