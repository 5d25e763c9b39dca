"""Run the whole pipeline offline against the simulator: harvest, build, publish, check."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import conversation_lines
from peercorpus.errors import WorkspaceError
from peercorpus.execution.progress import Show
from peercorpus.records.counted_nouns import plural
from peercorpus.records.enums import Role
from peercorpus.records.reviews import Conversation
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.venues import VENUES
from peercorpus.simulator.world.world import build_world

if TYPE_CHECKING:
    from peercorpus.pipeline.status import WorkspaceStatus
    from peercorpus.workspace.workspace import Workspace

SIMULATING = "Simulating OpenReview on this machine."
HARVESTING = "Harvesting it over HTTP."
BUILDING = "Building the tables."
PUBLISHING = "Publishing the dataset."


def demo_summary(result: "DemoResult") -> str:
    """Return what a demo made: one conversation, the counts, and where everything is."""
    contents = ", ".join(
        [
            plural(result.papers, "paper"),
            plural(result.reviews, "review"),
            f"{plural(result.conversations, 'conversation')} with reviewers",
        ]
    )
    places = f"The corpus is in {result.workspace}, the dataset in {result.release}."
    return f"\n{conversation_lines(result.example)}\n\nMade {contents}.\n{places}"


def real_venue(program: str) -> str:
    """Return the commands for a real venue."""
    return (
        "For a real venue, with an OpenReview account:\n"
        f"  {program} login\n"
        f"  {program} harvest ICLR2024 -w corpus --limit 20\n"
        f"  {program} build -w corpus\n"
        f"  {program} publish -w corpus --out release"
    )


MARK = ".peercorpus-demo"
"""File that marks a folder as the demo's own, which a later demo may empty."""


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Result of a demo.

    Attributes:
        workspace: Folder of the workspace.
        release: Folder of the published dataset.
        papers: Number of papers.
        reviews: Number of reviews.
        conversations: Number of conversations.
        example: The conversation with the most turns.
        standing: Status of the workspace after the build.
    """

    workspace: Path
    release: Path
    papers: int
    reviews: int
    conversations: int
    example: Conversation
    standing: "WorkspaceStatus"


def _prepare_output_folder(out: Path) -> Path:
    """Create the demo's folder, or empty it if an earlier demo made it.

    Raises:
        WorkspaceError: The folder is a file, or contains something other than a demo.
    """
    if out.exists() and not out.is_dir():
        raise WorkspaceError(f"'{out}' is a file; name another folder with --out.")
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARK).exists():
            raise WorkspaceError(f"'{out}' contains something other than a demo; name another folder with --out.")
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
        papers: Number of papers at all simulated venues together.
        say: Receives a sentence before each step.
        progress: Receives the progress of each step.
    """
    from peercorpus.harvest.harvest import harvest
    from peercorpus.openreview.client import Client
    from peercorpus.pipeline.build import build
    from peercorpus.release.publish import publish_release
    from peercorpus.release.published import remember_folder
    from peercorpus.workspace.workspace import open_workspace

    folder = _prepare_output_folder(out)
    say(SIMULATING)
    world = build_world(papers=papers)
    with serve_simulator(world) as service, open_workspace(folder / "corpus", create=True) as workspace:
        say(HARVESTING)
        with Client(service.base_url_v1, service.base_url_v2) as client:
            harvest(workspace, client, [venue.venue_id for venue in VENUES], progress=progress)
        say(BUILDING)
        build(workspace, progress=progress)
        say(PUBLISHING)
        publish_release(workspace, folder / "release", show=progress)
        remember_folder(workspace.folder, folder / "release")
        return _build_result(folder, workspace)


def _build_result(folder: Path, workspace: "Workspace") -> DemoResult:
    from peercorpus.pipeline.status import read_status

    tables = workspace.tables
    venues = workspace.raw.venues()
    papers, reviews = (sum(tables.count(name, venue) for venue in venues) for name in ("1-papers", "2-reviews"))
    conversations = [conversation for venue in venues for conversation in tables.read(Conversation, venue)]
    conversations = [conversation for conversation in conversations if conversation.is_with_reviewer]
    return DemoResult(
        workspace=folder / "corpus",
        release=folder / "release",
        papers=papers,
        reviews=reviews,
        conversations=len(conversations),
        example=max(conversations, key=_liveliness),
        standing=read_status(workspace),
    )


def _liveliness(conversation: Conversation) -> tuple[int, int]:
    """Return a sort key: the number of turns, then the number of author posts merged into them."""
    merged = sum(len(turn.post_ids) for turn in conversation.turns if turn.role is Role.AUTHOR)
    return len(conversation.turns), merged
