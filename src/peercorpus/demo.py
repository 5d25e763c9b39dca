"""The demo: the simulated OpenReview harvested over HTTP, built, published and checked, offline."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from peercorpus.errors import WorkspaceError
from peercorpus.harvest.run import harvest
from peercorpus.kinds import Role
from peercorpus.openreview.client import Client
from peercorpus.pipeline import Standing, build, read_standing
from peercorpus.progress import Show
from peercorpus.publish.run import publish
from peercorpus.publish.split_files import Asked
from peercorpus.publish.splits import Profile
from peercorpus.records import Conversation
from peercorpus.simulator.server import serve
from peercorpus.simulator.venues import VENUES
from peercorpus.simulator.world import build_world
from peercorpus.workspace import Workspace, open_workspace

MARK = ".peercorpus-demo"


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What a demo made, and where it lies.

    Attributes:
        example: The conversation with the most turns.
    """

    workspace: Path
    release: Path
    papers: int
    reviews: int
    conversations: int
    example: Conversation
    standing: Standing


def _cleared(out: Path) -> Path:
    """The demo's own folder, emptied of what an earlier demo left.

    Raises:
        WorkspaceError: It holds something else.
    """
    if out.exists() and not out.is_dir():
        raise WorkspaceError(f"'{out}' is a file; name another folder with --out.")
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARK).exists():
            raise WorkspaceError(f"'{out}' holds something other than a demo; name another folder with --out.")
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).touch()
    return out


def run_demo(
    out: Path,
    papers: int,
    say: Callable[[str], None],
    progress: Show,
) -> DemoResult:
    """Run the whole pipeline against the simulator.

    Args:
        out: The demo's folder; the workspace becomes `out/corpus`, the dataset `out/release`.
        papers: How many papers the simulated venues have together.
        say: Told in a sentence what happens next.
        progress: Told how far each step is.
    """
    folder = _cleared(out)
    say("Simulating OpenReview on this machine.")
    world = build_world(papers=papers)
    with serve(world) as service, open_workspace(folder / "corpus", create=True) as workspace:
        say("Harvesting it over HTTP.")
        with Client(service.base_url_v1, service.base_url_v2) as client:
            harvest(workspace, client, [venue.venue_id for venue in VENUES], progress=progress)
        say("Building the tables.")
        build(workspace, progress=progress)
        say("Publishing the dataset.")
        publish(workspace, folder / "release", progress=progress, sides=Asked(Profile.RE2))
        return _result(folder, workspace)


def _result(folder: Path, workspace: Workspace) -> DemoResult:
    tables = workspace.tables
    venues = workspace.raw.venues()
    papers, reviews = (sum(tables.count(name, venue) for venue in venues) for name in ("1-papers", "2-reviews"))
    conversations = [found for venue in venues for found in tables.read(Conversation, venue)]
    example = max(conversations, key=_liveliness)
    standing = read_standing(workspace)
    return DemoResult(folder / "corpus", folder / "release", papers, reviews, len(conversations), example, standing)


def _liveliness(conversation: Conversation) -> tuple[int, int]:
    """How much there is to see: turns, then posts of the authors merged into them."""
    merged = sum(len(turn.post_ids) for turn in conversation.turns if turn.role is Role.AUTHOR)
    return len(conversation.turns), merged
