"""Two workspaces harvested separately: if their tables are equal, so is every byte of a release."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from asked_releases import publish_release
from in_this_process import build_here
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.records.reviews import Post
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.pseudonyms import store_key
from peercorpus.workspace.workspace import Workspace, open_workspace

pytestmark = pytest.mark.slow

ANONYMOUS = "Cascadia.cc/2025/Conference"
"""A venue without signed comments."""

SIGNED = "Aurora.cc/2020/Conference"
"""A venue with signed comments."""


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serve_simulator(build_world(papers=4, venues=[ANONYMOUS, SIGNED])) as served:
        yield served


def publish(folder: Path, service: Service, venue_id: str, key: bytes | None = None) -> dict[str, bytes]:
    """Harvest, build and publish a venue in a new workspace, with its own pseudonym key or a given one."""
    with (
        open_workspace(folder, create=True) as workspace,
        Client(service.base_url_v1, service.base_url_v2) as client,
    ):
        harvest(workspace, client, [venue_id])
    if key is not None:
        with closing(sqlite3.connect(folder / "raw.db")) as database, database:
            store_key(database, key)
    release = folder.with_name(f"release of {folder.name}")
    with open_workspace(folder) as workspace:
        build_here(workspace)
        assert bool(pseudonyms(workspace, venue_id)) is (venue_id == SIGNED)
        publish_release(workspace, release, splits=SplitRequest(Profile.RE2))
    return {str(path.relative_to(release)): path.read_bytes() for path in release.rglob("*") if path.is_file()}


def pseudonyms(workspace: Workspace, venue_id: str) -> set[str]:
    signatures = {post.signature for post in workspace.tables.read(Post, venue_id)}
    return {name for name in signatures if name.startswith("public_") and len(name) > len("public_99")}


def test_anonymous_venue_gives_equal_releases(service: Service, tmp_path: Path) -> None:
    first = publish(tmp_path / "first", service, ANONYMOUS)
    assert "inputs.json" in first
    assert publish(tmp_path / "second", service, ANONYMOUS) == first


def test_pseudonyms_depend_on_the_key(service: Service, tmp_path: Path) -> None:
    first = publish(tmp_path / "first", service, SIGNED, bytes(32))
    assert publish(tmp_path / "second", service, SIGNED, bytes(32)) == first
    third = publish(tmp_path / "third", service, SIGNED)
    assert third.keys() == first.keys()
    assert third["inputs.json"] != first["inputs.json"]
