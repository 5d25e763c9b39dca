"""How much of a budget others spend: what OpenReview counted in a window, less every request this client can have sent.

A lower bound, never a guess. The answer to a request says how many requests its window has seen; it is compared with
answers that were here before that request was sent, and all that this client had under way since is taken off, whatever
path it went to, whether it was answered or not, and as often as it may have been counted. So a client that is alone is
never told of others, in whatever order answers come and however paths share windows, as long as OpenReview keeps one
count and counts no request twice. Where an answer names no limit, nothing is claimed.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from peercorpus.errors import SharedBudgetError
from peercorpus.ledger import Window

TOLD_SHARE, FEWEST_TOLD = 0.05, 3
"""A smaller share of a window, or fewer requests, are not worth a word: our own sign-ins are a few."""

STOPPED_SHARE = 0.25
"""Of a window: another harvest takes half, or a third each where there are two; whoever reads in a browser takes some
dozens of five hundred."""

Key: TypeAlias = tuple[str, int, int | None]
"""A route, the limit of its window, and the window's length."""


@dataclass(frozen=True, slots=True)
class OthersUse:
    """What others took of a window, at least.

    Attributes:
        path: Whose window it is, as an answer to it told.
        theirs: Requests that were not this client's.
        used: All requests that the window has seen.
        limit: All that it allows, 1 or more.
    """

    path: str
    theirs: int
    used: int
    limit: int

    @property
    def share(self) -> float:
        """Of all that the window allows; in [0, 1]."""
        return self.theirs / self.limit

    def __str__(self) -> str:
        return (
            f"Another client uses this budget: {self.theirs:,} of the {self.used:,} requests to {self.path} in this"
            f" window, which allows {self.limit:,}, were not ours"
        )


@dataclass(slots=True)
class Sent:
    """A request under way.

    Attributes:
        most: As how many it may count.
        ended_before: As how many those may count that had ended before it was sent.
        least_before: For each window, the least that answers before it left for others; see `Tally.learn`.
        is_answered: Whether it was; OpenReview may yet count one that was given up.
    """

    most: int
    ended_before: int
    least_before: Mapping[Key, int]
    is_answered: bool = False


@dataclass(slots=True)
class Tally:
    """The requests of one client, beside what OpenReview says of its windows; threads may share it.

    Attributes:
        tell: Told once, in a sentence, that others use the budget.
        is_shared: Whether to go on, however much they take.
    """

    tell: Callable[[str], None] = lambda _: None
    is_shared: bool = True
    worst: OthersUse | None = field(init=False, default=None)
    _sent: int = field(init=False, default=0)
    _ended: int = field(init=False, default=0)
    _least: dict[Key, int] = field(init=False, default_factory=dict)
    _is_told: bool = field(init=False, default=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    @contextmanager
    def under_way(self, most: int = 1) -> Iterator[Sent]:
        """Count a request from before it is sent until it was answered; for ever, if it never is.

        Args:
            most: As how many requests OpenReview may count it.
        """
        with self._lock:
            self._sent += most
            sent = Sent(most, self._ended, dict(self._least))
        try:
            yield sent
        finally:
            with self._lock:
                self._ended += most if sent.is_answered else 0

    def learn(self, sent: Sent, route: str, path: str, said: Window | None) -> None:
        """Take in what the answer to a request says of its window, while the request is still under way."""
        sent.is_answered = True
        if said is None or not said.limit:
            return
        key, used = (route, said.limit, said.length_s), said.limit - said.remaining
        with self._lock:
            # Between two answers ours are at most those sent until the later one came, less those that had ended
            # before the earlier one was asked for, less that one. A new window starts from 0, and becomes the least.
            least = used - sent.ended_before - sent.most
            self._least[key] = min(self._least.get(key, least), least)
            theirs = used - self._sent - sent.least_before.get(key, used)
            self._note(OthersUse(path, theirs, used, said.limit))

    def _note(self, use: OthersUse) -> None:
        if use.theirs < FEWEST_TOLD or use.share < TOLD_SHARE:
            return
        if self.worst is None or use.share > self.worst.share:
            self.worst = use
        if not self._is_told:
            self._is_told = True
            self.tell(f"{use}.")

    def check(self) -> None:
        """Pass, unless others take so much of the budget that this client should stop.

        Raises:
            SharedBudgetError: They do.
        """
        worst = self.worst
        if worst is not None and not self.is_shared and worst.share >= STOPPED_SHARE:
            raise SharedBudgetError(
                f"{worst}. What was received is kept: run the same command again when the other has ended, or go on"
                " beside it with --share-budget."
            )
