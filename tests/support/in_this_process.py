"""A `Spread` without processes, for tests of the stages that take one; and a build with it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Failure, FailureKind
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.execution.requests import BuildRequest
from peercorpus.pipeline.build import build
from peercorpus.pipeline.build_venues import StepResult
from peercorpus.workspace.workspace import Workspace


class InThisProcess:
    """A `Spread` without processes, always in order, that counts its items, and fails on demand."""

    def __init__(self, stop_after: int | None = None, failures: tuple[Failure, ...] = ()) -> None:
        self.read: list[str] = []
        self._stop_after, self._failures = stop_after, iter(failures)

    def __call__(
        self,
        function: Callable[[Any], Any],
        items: Iterable[Any],
        *,
        timeout_s: float,
        workers: int | None = None,
        in_order: bool = False,  # noqa: ARG002 -- it is always so
    ) -> Iterator[tuple[Any, Any]]:
        assert timeout_s > 0
        assert workers is None
        for item in items:
            if len(self.read) == self._stop_after:
                raise KeyboardInterrupt
            self.read.append(getattr(item, "sha256", ""))
            yield item, next(self._failures, None) or _outcome(function, item)


def build_here(
    workspace: Workspace,
    venue_ids: Sequence[str] = (),
    options: BuildRequest | None = None,
    progress: Show = show_nothing,
) -> list[StepResult]:
    """Bring the tables up to date, as `build` does, in this process.

    The tables are the same wherever files are read, and starting processes to read them takes most of a small build.
    """
    return build(workspace, venue_ids, options, progress, InThisProcess())


def _outcome(function: Callable[[Any], Any], item: object) -> object:
    try:
        return function(item)
    except PeercorpusError as error:
        return Failure(FailureKind.ERROR, str(error), getattr(error, "fault", None), error)
