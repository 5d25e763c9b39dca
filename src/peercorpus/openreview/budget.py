"""Respect OpenReview's rate limits: windows per route, use by other clients, one harvest per budget.

OpenReview states in the headers of each response how many requests its route still allows in the current window.
`Budget` spaces requests accordingly, `OtherClients` notices requests of others in the same window, and `hold_budget`
locks the budget of an account between processes of this machine.
"""

import math
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

import msgspec
from platformdirs import user_state_path

from peercorpus.errors import SharedBudgetError
from peercorpus.openreview.retries import LONGEST_WAIT_S
from peercorpus.openreview.tokens import CONFIG_VARIABLE, Urls
from peercorpus.workspace.harvest_state import BudgetState, Window

MOST_DIGITS = 15
"""Most digits of a number in a header; longer numbers count as not stated."""

POLICY = re.compile(rf"^\s*([0-9]{{1,{MOST_DIGITS}}})\s*;\s*w=([0-9]{{1,{MOST_DIGITS}}})(?![0-9])")
SPREAD = 0.2
"""Share of a window's requests that is spread over its remaining time; the others are sent at once."""

ROUNDING_S = 2.0
"""Seconds by which the ends of one window may differ between responses: OpenReview rounds to whole seconds."""


def read_window(headers: Mapping[str, str], now: float) -> Window | None:
    """Return the rate-limit window that the headers of a response state; None if they state none."""
    limit, remaining = _number(headers, "ratelimit-limit"), _number(headers, "ratelimit-remaining")
    reset_s = _number(headers, "ratelimit-reset")
    if reset_s is None and (reset_at := _number(headers, "x-ratelimit-reset")) is not None:
        reset_s = max(0, math.ceil(reset_at - now))
    policy = POLICY.match(headers.get("ratelimit-policy", ""))
    limit = limit if limit is not None else int(policy[1]) if policy else None
    if remaining is None or reset_s is None or reset_s > LONGEST_WAIT_S:
        return None
    return Window(
        limit=limit,
        remaining=remaining,
        ends_at=now + reset_s,
        seen_at=now,
        length_s=int(policy[2]) if policy else None,
    )


def _number(headers: Mapping[str, str], name: str) -> int | None:
    text = (headers.get(name) or headers.get(f"x-{name}" if name != "ratelimit-reset" else "", "") or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


class SystemClock:
    """The clocks of this machine, and waiting by them; a test may pass another, on which waiting takes no time."""

    def now(self) -> float:
        """Return the seconds since the epoch; the clock may be set back."""
        return time.time()

    def elapsed(self) -> float:
        """Return seconds that never decrease, for measuring durations."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for this many seconds."""
        time.sleep(seconds)


THIS_MACHINE = SystemClock()


class RequestSlot(NamedTuple):
    """Answer to a request for one unit of the budget.

    Attributes:
        is_granted: Whether the request may be sent after the wait; otherwise ask again after it.
    """

    wait_s: float
    is_granted: bool


@dataclass(slots=True)
class Budget:
    """Rate-limit windows of all routes, shared by the threads of a run and, through `raw.db`, by later runs.

    Attributes:
        state: Where windows are stored between runs; None keeps them in memory.
    """

    state: BudgetState | None = None
    now: Callable[[], float] = time.time
    _windows: dict[str, Window] = field(init=False)
    _next_at: dict[str, float] = field(init=False, default_factory=dict)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        stored = self.state.windows() if self.state else {}
        self._windows = {
            route: window for route, window in stored.items() if window.ends_at - window.seen_at <= LONGEST_WAIT_S
        }

    def reserve(self, route: str) -> RequestSlot:
        """Take one request from the window of a route, if one is left."""
        with self._lock:
            now = self.now()
            window = self._read_window(route)
            left_s = window.left_s(now) if window else 0.0
            if window is None or left_s <= 0:
                # The first response of a window states how many requests it allows.
                self._next_at.pop(route, None)
                return RequestSlot(0.0, is_granted=True)
            if window.remaining <= 0:
                return RequestSlot(left_s, is_granted=False)
            sent_at = self._next_slot(route, window, left_s, now)
            self._windows[route] = replace(window, remaining=window.remaining - 1)
            return RequestSlot(max(0.0, sent_at - now), is_granted=True)

    def _read_window(self, route: str) -> Window | None:
        """Return the window of a route, moved to the present if the clock was set back since it was read."""
        window = self._windows.get(route)
        now = self.now()
        if window is not None and now < window.seen_at:
            window = replace(window, seen_at=now, ends_at=now + window.ends_at - window.seen_at)
            self._store(route, window)
        return window

    def _next_slot(self, route: str, window: Window, left_s: float, now: float) -> float:
        """Return when to send the next request in a window that still has some, in seconds since the epoch."""
        if window.limit is None or window.remaining > SPREAD * window.limit:
            return now
        slot = min(max(now, self._next_at.get(route, now)), now + left_s)
        self._next_at[route] = slot + (now + left_s - slot) / window.remaining
        return slot

    def learn(self, route: str, headers: Mapping[str, str]) -> Window | None:
        """Store the window that a response states for its route, and return it; None if it states none."""
        with self._lock:
            stated = read_window(headers, self.now())
            earlier = self._windows.get(route)
            if stated is None:
                return None
            merged = stated
            if earlier is not None and abs(earlier.ends_at - stated.ends_at) < ROUNDING_S:
                # Other threads may have requests under way that this response does not count yet. The seconds left are
                # rounded up, so the earliest end announced is the most accurate.
                remaining, ends_at = min(earlier.remaining, stated.remaining), min(earlier.ends_at, stated.ends_at)
                merged = replace(stated, remaining=remaining, ends_at=ends_at)
            self._store(route, merged)
            return stated

    def refuse(self, route: str, wait_s: float) -> None:
        """Block a route for this many seconds."""
        with self._lock:
            now = self.now()
            window = self._windows.get(route)
            limit, length_s = (window.limit, window.length_s) if window else (None, None)
            self._store(route, Window(limit=limit, remaining=0, ends_at=now + wait_s, seen_at=now, length_s=length_s))

    def _store(self, route: str, window: Window) -> None:
        self._windows[route] = window
        if self.state is not None:
            self.state.set_window(route, window)

    def window(self, route: str) -> Window | None:
        """Return the known window of a route; None if nothing is known."""
        with self._lock:
            return self._windows.get(route)

    def seconds_for(self, route: str, requests: int) -> float | None:
        """Return the seconds this many more requests need by the rate limit alone; None if it is not known."""
        window = self.window(route)
        if window is None or window.limit is None or window.length_s is None:
            return None
        left_s = window.left_s(self.now())
        remaining = window.remaining if left_s > 0 else window.limit
        if requests <= remaining:
            return _spread_s(requests, remaining, window.limit, left_s or window.length_s)
        full, remainder = divmod(requests - remaining - 1, window.limit)
        return left_s + full * window.length_s + _spread_s(remainder + 1, window.limit, window.limit, window.length_s)


def _spread_s(requests: int, remaining: int, limit: int, left_s: float) -> float:
    """Return the seconds that the first `requests` of a window's remaining ones take; see `Budget._next_slot`."""
    spread = min(remaining, int(SPREAD * limit))
    late = requests - (remaining - spread)
    return left_s * (late - 1) / spread if late > 1 else 0.0


MIN_REPORTED_SHARE = 0.05
"""Smallest share of a window used by others that is reported."""

MIN_REPORTED_REQUESTS = 3
"""Fewest requests of others that are reported: our own sign-ins are a few."""

STOPPED_SHARE = 0.25
"""Share of a window used by others at which a harvest stops, unless sharing is allowed.

Another harvest takes half of a window, two take a third each; a person in a browser takes a few dozen of five hundred
requests.
"""

Key: TypeAlias = tuple[str, int, int | None]
"""Route, requests allowed in its window, and length of the window in seconds."""


@dataclass(frozen=True, slots=True)
class OtherClientsUse:
    """Minimum number of requests that other clients made in one window.

    Attributes:
        theirs: Requests that this client did not make.
        limit: Requests that the window allows, 1 or more.
    """

    path: str
    theirs: int
    used: int
    limit: int

    @property
    def share(self) -> float:
        """Share of the window used by others, from 0 to 1."""
        return self.theirs / self.limit

    def __str__(self) -> str:
        return (
            f"Another client uses this budget: {self.theirs:,} of the {self.used:,} requests to {self.path} in this"
            f" window, which allows {self.limit:,}, were not ours"
        )


@dataclass(slots=True)
class Sent:
    """One request under way.

    Attributes:
        ended_before: Upper bound on the counted requests that had ended before this one was sent.
        least_before: For each window, the least number of requests of others known when it was sent; see
            `OtherClients.learn`.
        is_answered: Whether a response came; OpenReview may still count an abandoned request.
    """

    most: int
    ended_before: int
    least_before: Mapping[Key, int]
    is_answered: bool = False


@dataclass(slots=True)
class OtherClients:
    """Counts a client's requests against OpenReview's windows to detect other clients; safe to share between threads.

    Attributes:
        report: Receives a sentence, only once, when others use the budget.
        is_shared: Whether to continue however much of the budget others use.
        worst: The largest share of a window used by others; None if none was detected.
    """

    report: Callable[[str], None] = lambda _: None
    is_shared: bool = True
    worst: OtherClientsUse | None = field(init=False, default=None)
    _sent: int = field(init=False, default=0)
    _ended: int = field(init=False, default=0)
    _least: dict[Key, int] = field(init=False, default_factory=dict)
    _is_reported: bool = field(init=False, default=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    @contextmanager
    def under_way(self, most: int = 1) -> Iterator[Sent]:
        """Count a request from before it is sent until its response; one without a response stays counted.

        OpenReview counts it as `most` requests at most.
        """
        with self._lock:
            self._sent += most
            sent = Sent(most, self._ended, dict(self._least))
        try:
            yield sent
        finally:
            with self._lock:
                self._ended += most if sent.is_answered else 0

    def learn(self, sent: Sent, route: str, path: str, stated: Window | None) -> None:
        """Compare the window that a response states with our own requests, while its request is still under way."""
        sent.is_answered = True
        if stated is None or not stated.limit:
            return
        key = (route, stated.limit, stated.length_s)
        used = stated.limit - stated.remaining
        with self._lock:
            # Between two responses, ours are at most those sent until the later one came, minus those that had ended
            # before the earlier one was requested, minus that one. A new window starts from 0 and becomes the least.
            least = used - sent.ended_before - sent.most
            self._least[key] = min(self._least.get(key, least), least)
            theirs = used - self._sent - sent.least_before.get(key, used)
            self._record(OtherClientsUse(path=path, theirs=theirs, used=used, limit=stated.limit))

    def _record(self, use: OtherClientsUse) -> None:
        if use.theirs < MIN_REPORTED_REQUESTS or use.share < MIN_REPORTED_SHARE:
            return
        if self.worst is None or use.share > self.worst.share:
            self.worst = use
        if not self._is_reported:
            self._is_reported = True
            self.report(f"{use}.")

    def check(self) -> None:
        """Check that other clients leave enough of the budget to continue.

        Raises:
            SharedBudgetError: Others use `STOPPED_SHARE` of a window or more, and `is_shared` is False.
        """
        worst = self.worst
        if worst is not None and not self.is_shared and worst.share >= STOPPED_SHARE:
            raise SharedBudgetError(
                f"{worst}. Everything received is kept: run the same command again when the other client has ended,"
                " or continue beside it with --share-budget."
            )


class _Holder(msgspec.Struct):
    """Owner of a budget lock, as written into the lock file."""

    workspace: str
    process: int
    machine: str = msgspec.field(default_factory=socket.gethostname)


@contextmanager
def hold_budget(
    folder: Path, urls: Urls, owner: str, workspace: Path, *, is_shared: bool, warn: Callable[[str], None]
) -> Iterator[None]:
    """Lock the request budget of an account while the context is open; the lock ends with the process, however it ends.

    Args:
        folder: Folder of the user's lock files; created for the user alone if missing.
        urls: Base URLs of the service.
        owner: Account or address that the budget belongs to; see `account.name_budget_owner`.
        workspace: Workspace of the harvest; named in the error that others see.
        is_shared: Run beside other processes that share too; one that does not share is still refused.
        warn: Receives a sentence if no lock can be made in `folder`; the context then opens without one.

    Raises:
        SharedBudgetError: Another process holds the budget.
    """
    import fcntl  # not on Windows; FileLock has no shared locks

    with ExitStack() as until_done:
        try:
            present = until_done.enter_context(_open_lock(folder, urls, owner, "present"))
            alone = None if is_shared else until_done.enter_context(_open_lock(folder, urls, owner, "alone"))
            is_held = alone is not None and not _try_lock(alone)
            is_shared_by_others = alone is not None and not is_held and not _try_lock(present)
            # Processes that start later see that the budget is shared, whichever sharing process ends first.
            fcntl.flock(present, fcntl.LOCK_SH)
        except OSError as error:
            warn(
                f"Cannot create a lock in '{folder}' ({error.strerror}): make sure that no other harvest uses the same"
                " account."
            )
        else:
            if is_held or is_shared_by_others:
                raise SharedBudgetError(_describe_holder(_read_holder(alone) if alone and is_held else None, owner))
            if alone is not None:
                _write_holder(alone, _Holder(os.fsencode(workspace.absolute()).decode("utf-8", "replace"), os.getpid()))
        yield


def _open_lock(folder: Path, urls: Urls, owner: str, what: str) -> IO[bytes]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = " ".join([*(url.rstrip("/") for url in urls), owner]).casefold()
    path = folder / f"budget-{sha256(key.encode()).hexdigest()[:16]}.{what}.lock"
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")


def _try_lock(file: IO[bytes]) -> bool:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write_holder(file: IO[bytes], holder: _Holder) -> None:
    """Write the owner into the lock file for the error that others see; the lock works without it."""
    with suppress(OSError):
        file.truncate()
        file.write(msgspec.json.encode(holder))
        file.flush()


def _read_holder(file: IO[bytes]) -> _Holder | None:
    """Return the owner named in a lock file; None if it is just being written."""
    try:
        return msgspec.json.decode(file.read(), type=_Holder)
    except msgspec.DecodeError:
        return None


def _describe_holder(holder: _Holder | None, owner: str) -> str:
    where = ""
    if holder is not None:
        machine = "" if holder.machine == socket.gethostname() else f" on {holder.machine}"
        where = f" into the workspace '{holder.workspace}' (process {holder.process}{machine})"
    return (
        f"Another harvest{where} is spending the request budget that OpenReview gives {owner}; wait until it ends,"
        " name the venues of both in one command, or continue beside it with --share-budget."
    )


def state_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the user's lock files: below the configuration folder if `PEERCORPUS_CONFIG` names one."""
    named = environ.get(CONFIG_VARIABLE)
    return Path(named) / "state" if named else user_state_path("peercorpus", appauthor=False)
