"""The request budget of the simulated service, counted per API and route, and told in the headers of every answer."""

import math
import time
from dataclasses import dataclass, field
from threading import Lock

from peercorpus.simulator.answers import too_many_requests


@dataclass(slots=True)
class Budget:
    """How many requests each first part of a path may get in one window.

    The live service gave `500;w=3600` to the notes of an account (read 2026-09-27); the default here is so large that
    only a test that sets its own meets the end.
    """

    limit: int = 100_000
    window_s: int = 3600
    _windows: dict[tuple[str, str], tuple[float, int]] = field(init=False, default_factory=dict)
    _lock: Lock = field(init=False, default_factory=Lock)

    def spend(self, api: str, path: str) -> tuple[dict[str, str], int]:
        """Count one request.

        Returns:
            The headers that tell the state of the budget, and how many requests of the window are used.
        """
        key = (api, path.split("/")[1])
        now = time.time()
        with self._lock:
            end, used = self._windows.get(key, (0.0, 0))
            if end <= now:
                end, used = now + self.window_s, 0
            used += 1
            self._windows[key] = (end, used)
        return self._headers(end, used, now), used

    def check(self, headers: dict[str, str], used: int) -> None:
        """Refuse a request that is one too many; `headers` then get `Retry-After`.

        Raises:
            ApiError: The budget of this window is spent.
        """
        if used > self.limit:
            headers["Retry-After"] = headers["ratelimit-reset"]
            raise too_many_requests(self.limit, used, int(headers["ratelimit-reset"]))

    def _headers(self, end: float, used: int, now: float) -> dict[str, str]:
        remaining = str(max(0, self.limit - used))
        return {
            "ratelimit-policy": f"{self.limit};w={self.window_s}",
            "ratelimit-limit": str(self.limit),
            "ratelimit-remaining": remaining,
            "ratelimit-reset": str(math.ceil(end - now)),
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": remaining,
            "x-ratelimit-reset": str(math.ceil(end)),
        }
