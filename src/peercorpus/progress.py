"""How far a long piece of work is, for whoever shows it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one step of one venue is.

    Attributes:
        what: Of a harvest "listing" (submissions), "edits of …" (notes whose history is asked for) or "files";
            else the stage.
        done: In this run; a listing counts what earlier runs received as well.
        total: What there is to do; None where that is not known.
        eta_s: Seconds left at the pace of this run; None where it cannot be known.
    """

    venue_id: str
    what: str
    done: int
    total: int | None
    eta_s: float | None


def no_bound(_: int) -> float | None:
    """Nothing is known of how long so much more must take."""
    return None


Show = Callable[[Progress], None]


def show_nothing(_: Progress) -> None:
    """Show nothing."""


@dataclass(slots=True)
class Meter:
    """The pace of one step.

    Attributes:
        at_least_s: How long so many more must take, whatever the pace was so far (a request budget); None: not known.
    """

    venue_id: str
    what: str
    show: Show
    done: int = 0
    total: int | None = None
    at_least_s: Callable[[int], float | None] = no_bound
    _before: int = field(init=False)
    _began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._before = self.done

    def advance(self, count: int = 1, total: int | None = None) -> None:
        """Count what was done, and show it."""
        self.done += count
        self.total = total if total is not None else self.total
        self.show(Progress(self.venue_id, self.what, self.done, self.total, self._eta()))

    def report(self, done: int, total: int) -> None:
        """Show that so many of so many are done."""
        self.done, self.total = done, total
        self.show(Progress(self.venue_id, self.what, done, total, self._eta()))

    def _eta(self) -> float | None:
        if self.total is None:
            return None
        fetched, left = self.done - self._before, max(0, self.total - self.done)
        paced_s = (time.monotonic() - self._began) / fetched * left if fetched > 0 else None
        bound_s = self.at_least_s(left)
        return max((known for known in (paced_s, bound_s) if known is not None), default=None)
