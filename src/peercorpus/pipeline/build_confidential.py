"""Build the tables of what the account that harvested may read, apart from those that are published."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from peercorpus.corpus.confidential import open_confidential
from peercorpus.execution.executor import Failure
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.execution.stage import Options
from peercorpus.pipeline.build import build
from peercorpus.texts.convert import read_engine_used
from peercorpus.workspace.workspace import open_workspace

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class _ReadsFilesOnly(LocalExecutor):
    """Reads PDFs on all cores, although there is one process for the notes: workers would read them as they came."""

    def __call__(
        self,
        function: Callable[[ItemT], ResultT],
        items: Iterable[ItemT],
        *,
        timeout_s: float,
        workers: int | None = None,  # noqa: ARG002 -- that of the notes
        in_order: bool = False,
    ) -> Iterator[tuple[ItemT, ResultT | Failure]]:
        return super().__call__(function, items, timeout_s=timeout_s, in_order=in_order)


def build_confidential(folder: Path, show: Show = show_nothing) -> None:
    """Bring the confidential tables of a workspace up to date; PDFs that a build has read are not read again.

    Args:
        folder: The workspace.
        show: Receives the progress of each step.

    Raises:
        WorkspaceError: It is not a workspace, or cannot be written.
        WorkspaceLockedError: Another run holds it.
    """
    with open_workspace(folder) as opened, open_confidential(opened, write=True) as view:
        engines: dict[str, list[str]] = {}
        for venue_id in view.venues():
            used = read_engine_used(opened.tables, venue_id)
            engines.setdefault(used[0] if used else Options().engine, []).append(venue_id)
        for engine, venue_ids in engines.items():
            build(view, venue_ids, Options(engine=engine, workers=1), show, _ReadsFilesOnly())
