"""Report the progress of a step, and estimate the time left."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from peercorpus.wording.untrusted_text import escape_controls


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of one step of one venue.

    Attributes:
        venue_id: The venue, or another unit of work, such as a folder.
        what: The step in words, such as "reading PDFs".
        done: Items done in this run; a listing also counts those that earlier runs received.
        total: Items to do; None if unknown.
        eta_s: Estimated seconds left; None if unknown.
    """

    venue_id: str
    what: str
    done: int
    total: int | None
    eta_s: float | None

    def __str__(self) -> str:
        """Return the progress in one line.

        >>> print(Progress("ICLR.cc/2024/Conference", "reading PDFs", 120, 400, 185.0))
        ICLR.cc/2024/Conference: reading PDFs 120 of 400
        """
        counted = f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}"
        return f"{escape_controls(self.venue_id)}: {self.what} {counted}"


Show = Callable[[Progress], None]
"""Called with the progress of a step each time it changes."""


def show_nothing(_: Progress) -> None:
    """Show nothing."""


@dataclass(slots=True)
class Meter:
    """Counts the items of one step and estimates the time left from its pace.

    Attributes:
        show: Receives the progress after each change.
        at_least_s: Returns the fewest seconds that a number of further items must take, for example because of a
            request budget, or None if unknown; None if there is no such bound.
    """

    venue_id: str
    what: str
    show: Show
    done: int = 0
    total: int | None = None
    at_least_s: Callable[[int], float | None] | None = None
    _before: int = field(init=False)
    _began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._before = self.done

    def advance(self, count: int = 1, total: int | None = None) -> None:
        """Count more items as done and show the progress."""
        self.done += count
        self.total = total if total is not None else self.total
        self.show(
            Progress(
                venue_id=self.venue_id, what=self.what, done=self.done, total=self.total, eta_s=self._estimate_left()
            )
        )

    def report(self, done: int, total: int) -> None:
        """Set the number of items done and the total, and show the progress."""
        self.done = done
        self.total = total
        self.show(Progress(venue_id=self.venue_id, what=self.what, done=done, total=total, eta_s=self._estimate_left()))

    def _estimate_left(self) -> float | None:
        if self.total is None:
            return None
        done_here = self.done - self._before
        left = max(0, self.total - self.done)
        paced_s = (time.monotonic() - self._began) / done_here * left if done_here > 0 else None
        bound_s = self.at_least_s(left) if self.at_least_s is not None else None
        return max((seconds for seconds in (paced_s, bound_s) if seconds is not None), default=None)
