"""Bound how long and how many connections to the explorer stay open without a whole request."""

import asyncio
from itertools import count
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_TIMEOUT_S = 10.0
"""Seconds in which the head of a request must arrive, after the connection or the last answer."""
MAX_CONNECTIONS = 200
"""Open connections; a browser opens six to one server."""
_order = count()


class BoundedConnection(H11Protocol):
    """A connection that is closed if the head of a request does not arrive in time.

    If `MAX_CONNECTIONS` are open, a new one closes the oldest of those that wait for a request; if none waits, it
    is closed itself.
    """

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 -- what uvicorn passes on
        super().__init__(*args, **options)
        self._number = next(_order)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Open the connection and wait for a request."""
        super().connection_made(transport)
        self._wait_for_head()
        if len(self.connections) > MAX_CONNECTIONS:
            waiting = [one for one in self.connections if isinstance(one, BoundedConnection) and one.is_waiting]
            min(waiting, key=lambda one: one._number, default=self).transport.abort()

    @property
    def is_waiting(self) -> bool:
        """Whether no request is being answered, and the connection is not closed."""
        return self._deadline is not None and not self.transport.is_closing()

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(HEAD_TIMEOUT_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def handle_events(self) -> None:
        """Take what has arrived; a whole head ends the wait until its request is answered."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._wait_for_head()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)
