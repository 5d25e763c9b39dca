"""The request budget: requests are spaced by what OpenReview's own headers say is left of each route's window.

OpenReview counts requests per route in windows (`ratelimit-policy: 500;w=3600`), and says with every answer how many
are left and when the window opens anew. While plenty are left they are sent at once; the last fifth is spread evenly
over what remains of the window, so that a long harvest neither runs into a refusal nor leaves requests unused.
"""

import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from peercorpus.ledger import BudgetLedger, Window

POLICY = re.compile(r"^\s*(\d+)\s*;\s*w=(\d+)")
SPREAD = 0.2
"""The share of a window's requests that is spread over what remains of it."""

ROUNDING_S = 2.0
"""Two answers name the same window if its ends differ by less: OpenReview rounds to whole seconds."""


def read_window(headers: Mapping[str, str], now: float) -> Window | None:
    """The window an answer tells of; None where its headers tell of none."""
    limit, remaining = _number(headers, "ratelimit-limit"), _number(headers, "ratelimit-remaining")
    reset_s = _number(headers, "ratelimit-reset")
    if reset_s is None and (reset_at := _number(headers, "x-ratelimit-reset")) is not None:
        reset_s = max(0, math.ceil(reset_at - now))
    policy = POLICY.match(headers.get("ratelimit-policy", ""))
    limit = limit if limit is not None else int(policy[1]) if policy else None
    if remaining is None or reset_s is None:
        return None
    return Window(limit, remaining, now + reset_s, now, int(policy[2]) if policy else None)


def _number(headers: Mapping[str, str], name: str) -> int | None:
    text = headers.get(name) or headers.get(f"x-{name}" if name != "ratelimit-reset" else "", "")
    return int(text) if text and text.strip().isdigit() else None


class Turn(NamedTuple):
    """When the next request may be sent.

    Attributes:
        wait_s: Seconds to wait first.
        is_granted: Whether the request is then taken from the budget; otherwise ask again after waiting.
    """

    wait_s: float
    is_granted: bool


@dataclass(slots=True)
class Budget:
    """The windows of every route, shared by all threads of a run and, through the ledger, by later runs."""

    ledger: BudgetLedger | None = None
    now: Callable[[], float] = time.time
    _windows: dict[str, Window] = field(init=False)
    _next_at: dict[str, float] = field(init=False, default_factory=dict)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._windows = self.ledger.windows() if self.ledger else {}

    def reserve(self, route: str) -> Turn:
        """Take one request of a route, where its window has one left."""
        with self._lock:
            now, window = self.now(), self._rebased(route)
            left_s = window.left_s(now) if window else 0.0
            if window is None or left_s <= 0:
                # What the next window holds, its first answer tells.
                self._next_at.pop(route, None)
                return Turn(0.0, is_granted=True)
            if window.remaining <= 0:
                return Turn(left_s, is_granted=False)
            sent_at = self._slot(route, window, left_s, now)
            self._windows[route] = replace(window, remaining=window.remaining - 1)
            return Turn(max(0.0, sent_at - now), is_granted=True)

    def _rebased(self, route: str) -> Window | None:
        """A route's window; where the clock was set back since it was learnt, as if it were learnt now."""
        window, now = self._windows.get(route), self.now()
        if window is not None and now < window.seen_at:
            window = replace(window, seen_at=now, ends_at=now + window.ends_at - window.seen_at)
            self._keep(route, window)
        return window

    def _slot(self, route: str, window: Window, left_s: float, now: float) -> float:
        """When the next request is sent, in a window that still has some."""
        if window.limit is None or window.remaining > SPREAD * window.limit:
            return now
        slot = min(max(now, self._next_at.get(route, now)), now + left_s)
        self._next_at[route] = slot + (now + left_s - slot) / window.remaining
        return slot

    def learn(self, route: str, headers: Mapping[str, str]) -> Window | None:
        """Take in what an answer says of its route's window, and give it; None where it says nothing."""
        with self._lock:
            said, held = read_window(headers, self.now()), self._windows.get(route)
            if said is None:
                return None
            known = said
            if held is not None and abs(held.ends_at - said.ends_at) < ROUNDING_S:
                # Other threads may have requests under way that this answer does not count yet; and the seconds left
                # are rounded up, so that the earliest end announced is the nearest.
                remaining, ends_at = min(held.remaining, said.remaining), min(held.ends_at, said.ends_at)
                known = replace(said, remaining=remaining, ends_at=ends_at)
            self._keep(route, known)
            return said

    def refuse(self, route: str, wait_s: float) -> None:
        """Take in that a route is closed for so many seconds."""
        with self._lock:
            now, held = self.now(), self._windows.get(route)
            limit, length_s = (held.limit, held.length_s) if held else (None, None)
            self._keep(route, Window(limit, 0, now + wait_s, now, length_s))

    def _keep(self, route: str, window: Window) -> None:
        self._windows[route] = window
        if self.ledger is not None:
            self.ledger.set_window(route, window)

    def window(self, route: str) -> Window | None:
        """What is known of a route's window; None where nothing is."""
        with self._lock:
            return self._windows.get(route)

    def seconds_for(self, route: str, requests: int) -> float | None:
        """How long so many more requests take by the budget alone; None where it is not known."""
        window = self.window(route)
        if window is None or window.limit is None or window.length_s is None:
            return None
        left_s = window.left_s(self.now())
        remaining = window.remaining if left_s > 0 else window.limit
        if requests <= remaining:
            return _spread_s(requests, remaining, window.limit, left_s or window.length_s)
        full, rest = divmod(requests - remaining - 1, window.limit)
        return left_s + full * window.length_s + _spread_s(rest + 1, window.limit, window.limit, window.length_s)


def _spread_s(requests: int, remaining: int, limit: int, left_s: float) -> float:
    """How long the first so many of the remaining requests of a window take: see `Budget._slot`."""
    spread = min(remaining, int(SPREAD * limit))
    late = requests - (remaining - spread)
    return left_s * (late - 1) / spread if late > 1 else 0.0
