"""The budget: requests are sent at once while many are left, then evenly, and never one too many in total."""

import re
import threading
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from peercorpus.errors import BusyError
from peercorpus.openreview.budget import Budget, read_window
from peercorpus.openreview.client import Client
from peercorpus.openreview.retries import Patience
from peercorpus.simulator.server.damage import rate_limited
from peercorpus.simulator.server.faults import on_path
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.server.service import ServiceBudget as Allowance
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.harvest_state import BudgetState, Window
from peercorpus.workspace.raw_store import RawStore
from standing_clock import StandingClock

ROUTE = "api2.example/notes"


class Clock:
    """A clock that stands still unless it is set."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def headers(remaining: int, reset_s: int, limit: int = 500, length_s: int = 3600) -> dict[str, str]:
    return {
        "ratelimit-policy": f"{limit};w={length_s}",
        "ratelimit-limit": str(limit),
        "ratelimit-remaining": str(remaining),
        "ratelimit-reset": str(reset_s),
    }


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def budget(clock: Clock) -> Budget:
    return Budget(now=clock)


def test_there_is_no_wait_while_plenty_of_requests_are_left(budget: Budget) -> None:
    assert budget.reserve(ROUTE) == (0.0, True)
    budget.learn(ROUTE, headers(remaining=499, reset_s=3600))
    assert [budget.reserve(ROUTE) for _ in range(399)] == [(0.0, True)] * 399


def test_the_last_fifth_is_spread_over_the_rest_of_the_window(budget: Budget, clock: Clock) -> None:
    budget.learn(ROUTE, headers(remaining=100, reset_s=1000))
    began, sent = clock.now, []
    for _ in range(100):
        turn = budget.reserve(ROUTE)
        assert turn.is_granted
        clock.now += turn.wait_s
        sent.append(clock.now - began)
    gaps = [later - earlier for earlier, later in pairwise(sent)]
    assert sent[0] == 0
    assert all(gap == pytest.approx(10) for gap in gaps)
    assert sent[-1] == pytest.approx(990)


def test_with_an_exhausted_budget_the_client_waits_until_the_window_ends(budget: Budget, clock: Clock) -> None:
    budget.learn(ROUTE, headers(remaining=0, reset_s=40))
    assert budget.reserve(ROUTE) == (40.0, False)
    clock.now += 40
    assert budget.reserve(ROUTE) == (0.0, True)


def test_routes_have_separate_budgets(budget: Budget) -> None:
    budget.learn(ROUTE, headers(remaining=0, reset_s=40))
    assert budget.reserve("api2.example/pdf") == (0.0, True)


def test_a_refusal_closes_a_route(budget: Budget) -> None:
    budget.refuse(ROUTE, 3613)
    assert budget.reserve(ROUTE) == (3613.0, False)


@pytest.mark.fault("machine", "a clock that jumps during a wait", "no wait is longer than it was said to be", times=3)
@pytest.mark.parametrize("jump_s", [-10_000_000, -60, 100])
def test_no_wait_is_longer_than_announced_whatever_the_clock_does(budget: Budget, clock: Clock, jump_s: float) -> None:
    budget.refuse(ROUTE, 60)
    clock.now += jump_s
    assert 0 <= budget.reserve(ROUTE).wait_s <= 60


def test_late_responses_do_not_increase_the_budget(budget: Budget) -> None:
    budget.learn(ROUTE, headers(remaining=10, reset_s=100, limit=40))
    for _ in range(3):
        budget.reserve(ROUTE)
    budget.learn(ROUTE, headers(remaining=9, reset_s=100, limit=40))
    window = budget.window(ROUTE)
    assert window is not None
    assert window.remaining == 7


@pytest.mark.parametrize(
    ("requests", "seconds"),
    [(0, 0), (1, 0), (51, 300), (100, 594), (101, 600), (501, 600), (600, 4164), (601, 4200), (1101, 7800)],
)
def test_the_time_for_a_number_of_requests_is_estimated(budget: Budget, requests: int, seconds: float) -> None:
    budget.learn(ROUTE, headers(remaining=100, reset_s=600))
    assert budget.seconds_for(ROUTE, requests) == seconds


def test_the_estimated_time_is_the_time_taken(budget: Budget, clock: Clock) -> None:
    budget.learn(ROUTE, headers(remaining=120, reset_s=3000))
    reckoned, began = budget.seconds_for(ROUTE, 115), clock.now
    for _ in range(115):
        clock.now += budget.reserve(ROUTE).wait_s
    assert reckoned == pytest.approx(clock.now - began)


def test_a_clock_set_back_costs_at_most_one_wait(budget: Budget, clock: Clock) -> None:
    budget.refuse(ROUTE, 60)
    clock.now -= 30 * 86_400
    clock.now += budget.reserve(ROUTE).wait_s
    assert budget.reserve(ROUTE) == (0.0, True)


def test_an_unknown_budget_is_not_stated(budget: Budget) -> None:
    assert budget.seconds_for(ROUTE, 10) is None
    budget.refuse(ROUTE, 10)
    assert budget.seconds_for(ROUTE, 10) is None


def test_both_kinds_of_headers_are_read() -> None:
    assert read_window(headers(7, 30), 100.0) == Window(500, 7, 130.0, 100.0, 3600)
    old = {"x-ratelimit-limit": "36", "x-ratelimit-remaining": "35", "x-ratelimit-reset": "160"}
    assert read_window(old, 100.0) == Window(36, 35, 160.0, 100.0, None)
    assert read_window({}, 100.0) is None
    assert read_window({"ratelimit-remaining": "many", "ratelimit-reset": "soon"}, 100.0) is None


@pytest.fixture
def raw_db(tmp_path: Path) -> Path:
    """A `raw.db` as a run leaves it."""
    RawStore(tmp_path / "raw.db").close()
    return tmp_path / "raw.db"


def test_a_later_run_knows_the_remaining_budget(raw_db: Path, clock: Clock) -> None:
    with closing(BudgetState(raw_db)) as state:
        Budget(state, clock).learn(ROUTE, headers(remaining=0, reset_s=40))
    with closing(BudgetState(raw_db)) as state:
        assert Budget(state, clock).reserve(ROUTE) == (40.0, False)


def refusals(service: Service, client: Client, requests: int) -> int:
    """Send a number of requests, and count those over the budget."""
    before = len(service.requests)
    for _ in range(requests):
        client.get_json(2, "/groups", {"id": "venues"})
    return len(service.requests) - before - requests


def client_of(service: Service, clock: StandingClock, state: BudgetState | None = None) -> Client:
    patience = Patience(attempts=3, first_wait_s=0.001)
    return Client(service.base_url_v1, service.base_url_v2, patience=patience, budget_state=state, clock=clock)


def test_no_request_is_refused_and_the_whole_budget_is_used(raw_db: Path) -> None:
    standing = StandingClock()
    allowance = Allowance(limit=20, window_s=3600, now=standing.now)
    with closing(BudgetState(raw_db)) as state, serve_simulator(build_world(papers=1), budget=allowance) as service:
        for _ in range(3):
            # Each is a separate run.
            with client_of(service, standing, state) as client:
                assert refusals(service, client, 20) == 0
    # Sixty requests in windows of twenty: two windows must pass, and no third one.
    assert 2 * 3600 <= standing.waited_s < 3 * 3600


def test_threads_share_one_budget() -> None:
    standing = StandingClock()
    allowed = Allowance(limit=20, window_s=3600, now=standing.now)
    with serve_simulator(build_world(papers=1), budget=allowed) as service, client_of(service, standing) as client:
        refusals(service, client, 1)
        threads = [threading.Thread(target=refusals, args=(service, client, 6)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # After a spent window, all may start before the first response reveals the next one.
        assert 25 <= client.requests <= 25 + len(threads)
    assert standing.waited_s >= 3600


def test_a_wait_of_hours_ends_the_run_with_the_time_to_resume() -> None:
    faults, standing = on_path("/groups", rate_limited(7300)), StandingClock()
    with serve_simulator(build_world(papers=1), faults=faults) as service, client_of(service, standing) as client:
        with pytest.raises(BusyError, match=r"again after (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC") as caught:
            client.get_json(2, "/groups", {"id": "venues"})
        assert caught.value.wait_s == pytest.approx(7300, abs=1)
        assert client.requests == 1
        with pytest.raises(BusyError):
            client.get_json(2, "/groups", {"id": "venues"})
        assert client.requests == 1
    assert standing.waited_s == 0


def test_waiting_is_reported_while_it_lasts() -> None:
    said, standing = list[str](), StandingClock()
    with serve_simulator(build_world(papers=1), faults=on_path("/groups", rate_limited(12))) as service:
        patience = Patience(attempts=3, first_wait_s=0.001)
        with Client(
            service.base_url_v1, service.base_url_v2, patience=patience, on_wait=said.append, clock=standing
        ) as client:
            client.get_json(2, "/groups", {"id": "venues"})
    assert ["/groups" in line for line in said] == [True, True, True]
    assert re.findall(r"(\d+) s left", " ".join(said)) == ["12", "7", "2"]
    assert 12 <= standing.waited_s < 12.1


def test_a_wait_is_measured_by_this_machines_clock() -> None:
    began = time.monotonic()
    with Client() as client:
        client.pause(0.05, "Resting")
    assert 0.05 <= time.monotonic() - began < 5
