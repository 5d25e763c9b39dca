"""A clock that only advances when something waits on it."""

import threading

from peercorpus.openreview.budget import SystemClock


class StandingClock(SystemClock):
    """Begins at a fixed moment; a wait advances it and takes no time. Threads may share it."""

    def __init__(self) -> None:
        self.waited_s = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        return 1_700_000_000.0 + self.waited_s

    def elapsed(self) -> float:
        return self.waited_s

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.waited_s += seconds
