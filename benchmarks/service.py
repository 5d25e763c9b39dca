"""A simulated OpenReview in a separate process, so that its time and memory are not counted for the client."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, NamedTuple

from peercorpus.simulator.server.faults import faults_by_name
from peercorpus.simulator.server.responses import ApiError
from peercorpus.simulator.server.service import ServiceBudget, serve_simulator
from peercorpus.simulator.world.world import build_world

NO_LIMIT = 10_000_000


class Asked(NamedTuple):
    """One request as it was received.

    Attributes:
        at_s: When, seconds since the epoch.
    """

    path: str
    at_s: float
    is_refused: bool


class _Remembering(ServiceBudget):
    """A budget that records its requests."""

    def __init__(self, limit: int, window_s: int) -> None:
        super().__init__(limit, window_s)
        self.asked: list[Asked] = []

    def spend(self, api: str, path: str) -> tuple[dict[str, str], ApiError | None]:
        headers, refusal = super().spend(api, path)
        self.asked.append(Asked(path, time.time(), refusal is not None))
        return headers, refusal


@dataclass(frozen=True, slots=True)
class Service:
    """A running one.

    Attributes:
        urls: Where API v1 and API v2 answer.
    """

    urls: tuple[str, str]
    _questions: IO[str]
    _answers: IO[str]

    def take_asked(self) -> list[Asked]:
        """Every request since the last call."""
        self._questions.write("\n")
        self._questions.flush()
        return [Asked(*one) for one in json.loads(self._answers.readline())]


@contextmanager
def simulated(
    papers: int, venue_ids: Sequence[str], *, limit: int = NO_LIMIT, window_s: int = 3600, fault: str = ""
) -> Iterator[Service]:
    """Run one while the context lasts.

    Args:
        papers: Of these venues together.
        venue_ids: The venues.
        limit: Requests to each route in a window.
        window_s: How long a window lasts.
        fault: One of the simulator's named faults; none if empty.
    """
    command = [sys.executable, __file__, str(papers), str(limit), str(window_s), fault, *venue_ids]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as child:
        if child.stdin is None or child.stdout is None:
            raise AssertionError("both are pipes")
        with child.stdin as questions:
            v1, v2 = json.loads(child.stdout.readline())
            yield Service((v1, v2), questions, child.stdout)


def main(papers: str, limit: str, window_s: str, fault: str, *venue_ids: str) -> None:
    """Serve until stdin ends; answer each line with the requests since the last."""
    budget = _Remembering(int(limit), int(window_s))
    faults = faults_by_name(*filter(None, [fault]))
    with serve_simulator(build_world(papers=int(papers), venues=venue_ids), budget=budget, faults=faults) as service:
        print(json.dumps([service.base_url_v1, service.base_url_v2]), flush=True)
        for _ in sys.stdin:
            asked, budget.asked = budget.asked, []
            print(json.dumps(asked), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
