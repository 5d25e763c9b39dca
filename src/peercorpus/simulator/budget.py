"""The request budget of the simulated service, counted per API and route, and told in the headers of every answer."""

import math
import time
from dataclasses import dataclass, field
from threading import Lock

from peercorpus.simulator.answers import ApiError, too_many_requests
from peercorpus.simulator.calls import gives_file

LOGIN_WINDOW_S = 60


@dataclass(slots=True)
class Budget:
    """How many requests each route may get in one window; the answer to one is one, however many files it holds.

    The live service gave `500;w=3600` to the notes of an account (read 2026-09-27), refused the 37th PDF of an hour
    (2026-08-31) and the fourth login of a minute; whether it counts a zip once is not known. The default for all but
    logins is so large that only a test that sets its own meets the end.

    Attributes:
        limit: Of requests to each first part of a path (`/notes` and `/notes/edits` together).
        window_s: How long a window lasts; it begins with the first request in it.
        file_limit: Of requests to each route that gives files; None: as many as `limit`.
        login_limit: Of logins a minute.
    """

    limit: int = 100_000
    window_s: int = 3600
    file_limit: int | None = None
    login_limit: int = 3
    _windows: dict[tuple[str, str], tuple[float, int]] = field(init=False, default_factory=dict)
    _lock: Lock = field(init=False, default_factory=Lock)

    def spend(self, api: str, path: str) -> tuple[dict[str, str], ApiError | None]:
        """Count one request.

        Returns:
            The headers that tell the state of the budget, and the refusal where it is spent.
        """
        route, limit, window_s = self._policy(path)
        now = time.time()
        with self._lock:
            end, used = self._windows.get((api, route), (0.0, 0))
            if end <= now:
                end, used = now + window_s, 0
            used += 1
            self._windows[api, route] = (end, used)
        headers = _headers(limit, window_s, used, end, now)
        if used <= limit:
            return headers, None
        wait_s = math.ceil(end - now)
        return headers | {"Retry-After": str(wait_s)}, too_many_requests(limit, used, wait_s)

    def _policy(self, path: str) -> tuple[str, int, int]:
        """The route that a path counts for, its limit and its window."""
        if path == "/login":
            return path, self.login_limit, LOGIN_WINDOW_S
        if gives_file(path):
            route = "/pdf" if path.startswith("/pdf/") else path
            return route, self.limit if self.file_limit is None else self.file_limit, self.window_s
        return path.split("/")[1], self.limit, self.window_s


def _headers(limit: int, window_s: int, used: int, end: float, now: float) -> dict[str, str]:
    remaining = str(max(0, limit - used))
    return {
        "ratelimit-policy": f"{limit};w={window_s}",
        "ratelimit-limit": str(limit),
        "ratelimit-remaining": remaining,
        "ratelimit-reset": str(math.ceil(end - now)),
        "x-ratelimit-limit": str(limit),
        "x-ratelimit-remaining": remaining,
        "x-ratelimit-reset": str(math.ceil(end)),
    }
