"""Write a dataset from Python, as `peercorpus publish` does."""

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
from peercorpus.release.request import ReleaseRequest

if TYPE_CHECKING:
    from peercorpus.release.counts import PublishSummary


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
