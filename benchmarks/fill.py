"""A workspace filled straight from the simulated world, without HTTP: the input of the measurements."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from peercorpus.openreview.objects import EVERYONE
from peercorpus.openreview.raw_rows import RawOrigin, build_edit, build_note, build_setting
from peercorpus.simulator.world.holdings import Holdings, Json
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

ORIGIN = RawOrigin("benchmark", 0)


def is_public(found: Json) -> bool:
    """Return whether everyone can read an object."""
    readers = found.get("readers")
    return isinstance(readers, list) and EVERYONE in readers


def _rows(holdings: Holdings) -> Iterator[RawObject]:
    for note in filter(is_public, holdings.notes.values()):
        yield build_note(json.dumps(note).encode(), ORIGIN)
    for edit in filter(is_public, holdings.edits.values()):
        build = build_edit if "note" in edit else build_note
        yield build(json.dumps(edit).encode(), ORIGIN)
    for invitation in filter(is_public, holdings.invitations.values()):
        yield build_setting(RawKind.INVITATION, json.dumps(invitation).encode(), ORIGIN)


def fill(folder: Path, papers: int) -> None:
    """Write a workspace with every public note, edit and form of a world of that many papers, without files."""
    world = build_world(papers=papers)
    with open_workspace(folder, create=True) as workspace, workspace.raw.transaction():
        for holdings in (world.v1, world.v2):
            workspace.raw.add(_rows(holdings))
        workspace.raw.place()


if __name__ == "__main__":
    fill(Path(sys.argv[1]), int(sys.argv[2]))
