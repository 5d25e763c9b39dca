"""A `Spread` that needs no processes, for tests of the stages that are given one."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from peercorpus.errors import PeercorpusError
from peercorpus.spread import Failure, FailureKind


class InThisProcess:
    """A `Spread` without processes, always in order, that counts what it is asked to do, and may fail as told."""

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


def _outcome(function: Callable[[Any], Any], item: object) -> object:
    try:
        return function(item)
    except PeercorpusError as error:
        return Failure(FailureKind.ERROR, str(error), getattr(error, "fault", None))
