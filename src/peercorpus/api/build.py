"""Build the tables of a workspace, and publish them, from Python, as the commands of these names do."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.api.arguments import (
    Field,
    list_venues,
    make_receivers,
    make_request,
    naming_parameters,
    read_optional_path,
    read_path,
)
from peercorpus.corpus.structured_text import StructuredText
from peercorpus.execution.requests import BuildRequest
from peercorpus.release.request import ReleaseRequest
from peercorpus.texts.text_json import read_pair

if TYPE_CHECKING:
    from peercorpus.pipeline.build_venues import StepResult
    from peercorpus.pipeline.losses import SourceLoss
    from peercorpus.release.counts import PublishSummary


@dataclass(frozen=True, slots=True)
class BuildResult:
    """Result of a build, and the state of the tables after it.

    Attributes:
        folder: Folder of the workspace.
        steps: Every step, with whether it was already up to date.
        papers: Rows of the table of papers, of all venues of the workspace.
        reviews: Rows of the table of reviews.
        conversations: Rows of the table of conversations.
        losses: Sources most of whose records were set aside, with the reasons.
    """

    folder: Path
    steps: tuple["StepResult", ...]
    papers: int
    reviews: int
    conversations: int
    losses: tuple["SourceLoss", ...]


def build(
    folder: str | Path,
    venue_ids: str | Iterable[str] = (),
    *,
    progress: Callable[[str], None] | None = None,
    **request: Field,
) -> BuildResult:
    """Bring a workspace's tables up to date, as `peercorpus build` does; only what changed is rebuilt.

    Notes and PDFs are read in worker processes: a script must call this under `if __name__ == "__main__":`.

    Args:
        folder: Folder of the workspace.
        venue_ids: Venues to build; empty means all.
        progress: Receives lines on how far each step is, such as `print`; None shows nothing.
        request: What to build: the fields of `peercorpus.BuildRequest`.

    Raises:
        WorkspaceError: The folder is not a workspace.
        TableError: A venue is not in the workspace.
        EngineError: The engine does not exist, or does not take an option that is set.
        MissingExtraError: A package is not installed.
        PeercorpusError: An argument is not valid, or `venues.toml` or `reminders.tsv` of the workspace is not.

    Example:
        >>> result = peercorpus.build("corpus", workers=1)
        >>> result.papers, result.reviews, all(step.was_finished for step in result.steps)
        (12, 29, True)
    """
    from peercorpus.pipeline.build import build as run_build
    from peercorpus.pipeline.losses import read_losses
    from peercorpus.texts.engine import choose_executor
    from peercorpus.venues.venue_names import read_venue_ids
    from peercorpus.workspace.workspace import open_workspace

    asked = make_request(BuildRequest, "build", request)
    with naming_parameters():
        spread = choose_executor(asked)
    named, path = list_venues(venue_ids), read_path(folder, "folder")
    with open_workspace(path) as opened:
        chosen = read_venue_ids(named, opened.venues())
        steps = run_build(opened, chosen, asked, make_receivers(progress)[1], spread)
        held = opened.venues()
        losses = read_losses(opened, chosen or held)
        papers, reviews, conversations = (
            sum(opened.tables.count(name, venue_id) for venue_id in held)
            for name in ("1-papers", "2-reviews", "6-conversations")
        )
    return BuildResult(path, tuple(steps), papers, reviews, conversations, tuple(losses))


def open_text(path: str | Path) -> StructuredText:
    """Open a text written by `peercorpus convert`, with its blocks and the references in its sentences.

    Args:
        path: `NAME.json` or `NAME.md`.

    Raises:
        PeercorpusError: The pair of files is not there or not whole, or has no blocks.

    Example:
        >>> text = peercorpus.open_text("texts/paper.json")
        >>> [block.kind.value for block in text.blocks[:2]]
        ['page_header', 'title']
    """
    return read_pair(read_path(path, "path", "file"))


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The release that a publication left.

    Attributes:
        folder: Folder of the release; `load_release` opens it.
        is_new: Whether it was written now; False if the existing one is the same.
        summary: Counts of its contents; None if it is not new.
    """

    folder: Path
    is_new: bool
    summary: "PublishSummary | None"


def publish(
    folder: str | Path,
    out: str | Path | None = None,
    venue_ids: str | Iterable[str] = (),
    *,
    progress: Callable[[str], None] | None = None,
    **request: Field,
) -> PublishResult:
    """Write a dataset that `datasets.load_dataset` opens, as `peercorpus publish` does.

    If nothing changed, the existing release is kept. Records that are not public or were taken down are left out.

    Args:
        folder: Folder of the workspace.
        out: Folder to write, in which an earlier release is replaced; None adds one to `releases` of the workspace.
        venue_ids: Venues to publish; empty means all.
        progress: Receives lines on how far each venue is, such as `print`; None shows nothing.
        request: What the release shall contain: the fields of `peercorpus.ReleaseRequest`.

    Raises:
        WorkspaceError: The folder is not a workspace.
        TableError: The tables are not built or out of date.
        PeercorpusError: An argument is not valid or excludes another, or `out` contains other files.

    Example:
        >>> first = peercorpus.publish("corpus", "dataset", texts="all")
        >>> first.is_new, peercorpus.publish("corpus", "dataset", texts="all").is_new
        (True, False)
    """
    from peercorpus.pipeline.build import require_built
    from peercorpus.release.by_model.annotator import choose_models
    from peercorpus.release.dated_releases import publish_unless_same
    from peercorpus.venues.venue_names import read_venue_ids
    from peercorpus.workspace.workspace import open_workspace

    asked = make_request(ReleaseRequest, "publish", request)
    named, target, path = list_venues(venue_ids), read_optional_path(out, "out"), read_path(folder, "folder")
    show = make_receivers(progress)[1]
    with ExitStack() as stack:
        opened = stack.enter_context(open_workspace(path, write=False))
        with naming_parameters():
            titler, annotator = stack.enter_context(choose_models(path, asked))
        chosen = read_venue_ids(named, opened.venues())
        require_built(opened, chosen, points=bool(asked.points))
        release, summary = publish_unless_same(opened, target, asked, chosen, show, titler=titler, annotator=annotator)
    return PublishResult(release, summary is not None, summary)
