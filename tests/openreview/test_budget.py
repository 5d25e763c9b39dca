"""The request budget: read from answers, kept between runs, held by one harvest at a time, and perhaps shared."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peercorpus.errors import BusyError, NotJsonError, SharedBudgetError
from peercorpus.openreview.account import Credentials, name_budget_owner, read_account
from peercorpus.openreview.budget import Budget, OtherClients, Sent, hold_budget, read_window, state_folder
from peercorpus.openreview.client import Client
from peercorpus.openreview.retries import Patience
from peercorpus.simulator.server.damage import rate_limited
from peercorpus.simulator.server.faults import faults_by_name, on_path
from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.server.service import Service, ServiceBudget, serve_simulator
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


def test_no_wait_while_plenty_left(budget: Budget) -> None:
    assert budget.reserve(ROUTE) == (0.0, True)
    budget.learn(ROUTE, headers(remaining=499, reset_s=3600))
    assert [budget.reserve(ROUTE) for _ in range(399)] == [(0.0, True)] * 399


def test_last_fifth_is_spread_out(budget: Budget, clock: Clock) -> None:
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


def test_exhausted_budget_waits_for_window(budget: Budget, clock: Clock) -> None:
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
def test_no_wait_exceeds_its_announcement(budget: Budget, clock: Clock, jump_s: float) -> None:
    budget.refuse(ROUTE, 60)
    clock.now += jump_s
    assert 0 <= budget.reserve(ROUTE).wait_s <= 60


def test_late_responses_add_no_budget(budget: Budget) -> None:
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
def test_time_for_requests_is_estimated(budget: Budget, requests: int, seconds: float) -> None:
    budget.learn(ROUTE, headers(remaining=100, reset_s=600))
    assert budget.seconds_for(ROUTE, requests) == seconds


def test_estimated_time_is_time_taken(budget: Budget, clock: Clock) -> None:
    budget.learn(ROUTE, headers(remaining=120, reset_s=3000))
    reckoned, began = budget.seconds_for(ROUTE, 115), clock.now
    for _ in range(115):
        clock.now += budget.reserve(ROUTE).wait_s
    assert reckoned == pytest.approx(clock.now - began)


def test_clock_set_back_costs_one_wait(budget: Budget, clock: Clock) -> None:
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


def test_later_run_knows_the_budget(raw_db: Path, clock: Clock) -> None:
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


def test_whole_budget_is_used_unrefused(raw_db: Path) -> None:
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


def test_wait_of_hours_ends_the_run() -> None:
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


def test_wait_uses_this_machines_clock() -> None:
    began = time.monotonic()
    with Client() as client:
        client.pause(0.05, "Resting")
    assert 0.05 <= time.monotonic() - began < 5


URLS = ("https://api.example", "https://api2.example")
HOLDER = """
import signal, sys
from pathlib import Path
from peercorpus.openreview.budget import hold_budget

with hold_budget(Path(sys.argv[1]), ("a", "b"), "me", Path("first"), is_shared=False, warn=print):
    print("held", flush=True)
    signal.pause()
"""


class Locks:
    """Holds budgets as one user would, and records every warning."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said = folder, list[str]()

    def hold(
        self, owner: str = "me", urls: tuple[str, str] = URLS, workspace: str = "corpus", *, is_shared: bool = False
    ) -> AbstractContextManager[None]:
        return hold_budget(self.folder, urls, owner, Path(workspace), is_shared=is_shared, warn=self.said.append)


@pytest.fixture
def locks(tmp_path: Path) -> Locks:
    return Locks(tmp_path / "state")


@pytest.fixture
def held(locks: Locks) -> Iterator[None]:
    with locks.hold(workspace="/somewhere/first"):
        yield


@pytest.mark.usefixtures("held")
def test_second_harvest_is_refused_with_advice(locks: Locks) -> None:
    with pytest.raises(SharedBudgetError) as caught, locks.hold():
        pass
    sentence = str(caught.value)
    assert "'/somewhere/first'" in sentence
    assert f"process {os.getpid()})" in sentence
    assert " me;" in sentence
    assert "--share-budget" in sentence


@pytest.mark.usefixtures("held")
def test_address_spelling_does_not_matter(locks: Locks) -> None:
    with pytest.raises(SharedBudgetError), locks.hold("ME", ("https://API.example/", "https://api2.example/")):
        pass


def test_sharing_harvest_blocks_exclusive_ones(locks: Locks) -> None:
    with ExitStack() as first:
        first.enter_context(locks.hold(is_shared=True))
        with locks.hold(is_shared=True):
            first.close()
            with pytest.raises(SharedBudgetError), locks.hold():
                pass
    with ExitStack() as first:
        first.enter_context(locks.hold())
        with locks.hold(is_shared=True):
            first.close()
            with pytest.raises(SharedBudgetError) as caught, locks.hold():
                pass
    assert "into the workspace" not in str(caught.value)
    with locks.hold():
        pass
    assert locks.said == []


def test_unwritable_owner_name_is_omitted(locks: Locks) -> None:
    with locks.hold(workspace="/not \udcff utf-8"), pytest.raises(SharedBudgetError), locks.hold():
        pass


@pytest.mark.fault("kill", "a process that holds the request budget, by SIGKILL", "the next one is not held up")
def test_a_killed_process_leaves_no_lock(locks: Locks) -> None:
    command = [sys.executable, "-c", HOLDER, str(locks.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(SharedBudgetError, match=rf"process {process.pid}\)"), locks.hold("me", ("a", "b")):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        with locks.hold("me", ("a", "b")):
            pass


def test_lock_files_are_private(locks: Locks) -> None:
    with locks.hold():
        assert locks.folder.stat().st_mode & 0o777 == 0o700
        assert [path.stat().st_mode & 0o777 for path in locks.folder.iterdir()] == [0o600] * 2


def test_unwritable_lock_folder_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    locks = Locks(tmp_path / "file" / "state")
    with locks.hold(), locks.hold():
        pass
    (said, _) = locks.said
    assert f"'{locks.folder}' (Not a directory)" in said


def test_failing_harvest_is_no_failing_lock(locks: Locks) -> None:
    with pytest.raises(OSError, match="of the harvest"), locks.hold():
        raise OSError("of the harvest")
    assert locks.said == []


def test_locks_are_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert state_folder({"PEERCORPUS_CONFIG": str(tmp_path)}) == tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder({}) == tmp_path / "peercorpus"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert state_folder({}).is_relative_to(Path.home())


def test_account_is_one_owner_throughout(tmp_path: Path) -> None:
    world, environ = build_world(papers=1), {"PEERCORPUS_CONFIG": str(tmp_path)}
    token = write_token(world, 3600)
    by_token = read_account(URLS, None, {**environ, "PEERCORPUS_TOKEN": token})
    own = Credentials(world.user, world.password)
    by_password = read_account(URLS, None, {**environ, "PEERCORPUS_USER": own.user, "PEERCORPUS_PASSWORD": "x"})
    assert name_budget_owner(by_token) == name_budget_owner(by_password) == f"the account '{world.user}'"
    assert name_budget_owner(None) == "guests at this address"
    assert token not in name_budget_owner(by_token)
    assert name_budget_owner("opaque").startswith("the token ")
    assert "opaque" not in name_budget_owner("opaque")


LIMIT = 40


@pytest.fixture
def every_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report even a single request by other clients."""
    monkeypatch.setattr("peercorpus.openreview.budget.MIN_REPORTED_SHARE", 0.0)
    monkeypatch.setattr("peercorpus.openreview.budget.MIN_REPORTED_REQUESTS", 1)


@dataclass
class Ours:
    """A request by this client: under way, perhaps counted."""

    path: str
    cost: int
    open: AbstractContextManager[Sent]
    sent: Sent
    said: Window | None = None
    foreign: int = 0


@dataclass
class Play:
    """A service whose paths share windows, a client with requests under way, and others, in any order."""

    window_of: tuple[int, ...]
    tally: OtherClients = field(default_factory=OtherClients)
    used: list[int] = field(default_factory=lambda: [0, 0, 0])
    foreign: list[int] = field(default_factory=lambda: [0, 0, 0])
    under_way: list[Ours] = field(default_factory=list)
    given_up: list[Ours] = field(default_factory=list)
    most_foreign: int = 0

    def step(self, kind: str, which: int) -> None:
        if kind in {"send", "send_zip"}:
            cost = which % 5 + 1 if kind == "send_zip" else 1
            open_ = self.tally.under_way(5 if kind == "send_zip" else 1)
            self.under_way.append(Ours(str(which % 3), cost, open_, open_.__enter__()))
        elif kind == "other":
            self.used[which % 3] += 1
            self.foreign[which % 3] += 1
        elif kind == "reset":
            self.used[which % 3] = self.foreign[which % 3] = 0
        elif kind == "late":
            if self.given_up:
                late = self.given_up.pop(which % len(self.given_up))
                self.used[self.window_of[int(late.path)]] += late.cost
        else:
            fit = [one for one in self.under_way if kind == "fail" or (one.said is None) == (kind == "count")]
            if fit:
                self._go_on(kind, fit[which % len(fit)])

    def _go_on(self, kind: str, ours: Ours) -> None:
        if kind == "count":
            window = self.window_of[int(ours.path)]
            self.used[window] += ours.cost
            ours.said = Window(LIMIT, max(0, LIMIT - self.used[window]), 0.0, 0.0, 3600)
            ours.foreign = self.foreign[window]
        elif ours.said is not None and kind == "answer":
            self.most_foreign = max(self.most_foreign, ours.foreign)
            self.tally.learn(ours.sent, f"host/{ours.path}", ours.path, ours.said)
            self._end(ours)
        else:
            self._end(ours)
            if ours.said is None:
                self.given_up.append(ours)

    def _end(self, ours: Ours) -> None:
        ours.open.__exit__(None, None, None)
        self.under_way.remove(ours)


def steps(*kinds: str) -> st.SearchStrategy[list[tuple[str, int]]]:
    return st.binary(min_size=40, max_size=80).map(
        lambda drawn: [(kinds[byte % len(kinds)], byte // len(kinds)) for byte in drawn]
    )


ALONE = (*("send", "count", "answer") * 3, "send_zip", "fail", "late", "reset")
WINDOWS = st.tuples(st.just(0), st.integers(0, 1), st.integers(0, 2))


@pytest.mark.usefixtures("every_word")
class TestOrders:
    @settings(max_examples=250)
    @given(WINDOWS, steps(*ALONE))
    def test_lone_client_sees_no_others(self, window_of: tuple[int, int, int], drawn: list[tuple[str, int]]) -> None:
        play = Play(window_of)
        for kind, which in drawn:
            play.step(kind, which)
        assert play.tally.worst is None

    @settings(max_examples=250)
    @given(WINDOWS, steps(*ALONE, "other", "other", "other"))
    def test_other_clients_requests_are_never_overestimated(
        self, window_of: tuple[int, int, int], drawn: list[tuple[str, int]]
    ) -> None:
        play = Play(window_of)
        for kind, which in drawn:
            play.step(kind, which)
            worst = play.tally.worst
            assert worst is None or 0 < worst.theirs <= play.most_foreign

    @given(st.integers(1, 8), st.lists(st.integers(0, 3), min_size=1, max_size=8))
    def test_others_are_underestimated_by_few(self, at_once: int, theirs: list[int]) -> None:
        play = Play((0, 0, 0))
        for others_send in [0, *theirs]:
            for _ in range(at_once):
                play.step("send", 0)
            for which in reversed(range(at_once)):
                play.step("count", which)
            for _ in range(others_send):
                play.step("other", 0)
            for _ in range(at_once):
                play.step("answer", 0)
        for kind in ("send", "count", "answer"):
            play.step(kind, 0)
        if play.used[0] <= LIMIT:
            told = 0 if play.tally.worst is None else play.tally.worst.theirs
            assert sum(theirs) - (at_once - 1) <= told <= sum(theirs)


def test_no_limit_gives_no_estimate() -> None:
    tally = OtherClients()
    for remaining in (30, 0):
        with tally.under_way() as sent:
            tally.learn(sent, "host/notes", "/notes", Window(None, remaining, 0.0, 0.0, None))
            tally.learn(sent, "host/notes", "/notes", None)
    assert tally.worst is None


FAULTS = ("dropped", "cut_off", "error_500", "error_503_empty", "truncated_json", "rate_limit_silent")


# The first two share a window of the simulator.
ASKED = (
    (2, "/notes", {"invitation": "none"}),
    (2, "/notes/edits", {"invitation": "none"}),
    (1, "/groups", {"id": "venues"}),
)


def ask(client: Client, times: int) -> None:
    for _ in range(times):
        for api, path, params in ASKED:
            # Threads share the faults: one may receive all truncated responses.
            with suppress(NotJsonError):
                client.get_json(api, path, params)


def hasty_client(service: Service, tally: OtherClients, clock: StandingClock) -> Client:
    patience = Patience(attempts=9, first_wait_s=0.001, longest_wait_s=3600)
    return Client(service.base_url_v1, service.base_url_v2, patience=patience, tally=tally, clock=clock)


@pytest.mark.slow
@pytest.mark.usefixtures("every_word")
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_lone_client_sees_none_over_http(threads: int) -> None:
    tally, clock = OtherClients(is_shared=False), StandingClock()
    allowed = ServiceBudget(limit=60, window_s=3600, now=clock.now)
    with serve_simulator(build_world(papers=1), faults=faults_by_name(*FAULTS), budget=allowed) as service:
        client = hasty_client(service, tally, clock)
        with client:
            running = [threading.Thread(target=ask, args=(client, 48 // threads)) for _ in range(threads)]
            for thread in running:
                thread.start()
            for thread in running:
                thread.join()
        assert len(service.requests) > 120
    assert clock.waited_s >= 3600
    assert tally.worst is None


MOST_TURNS = 15
"""Requests for each of two clients that stay above the last fifth of a window, which is spread over an hour."""


def take_turns(service: Service, first: OtherClients) -> int:
    """Return how many requests the first of two successive clients of one budget may send."""
    clock = StandingClock()
    with hasty_client(service, first, clock) as ours, hasty_client(service, OtherClients(), clock) as theirs:
        for sent in range(MOST_TURNS):
            try:
                ours.get_json(2, "/groups", {"id": "venues"})
            except SharedBudgetError:
                return sent
            theirs.get_json(2, "/groups", {"id": "venues"})
    return MOST_TURNS


@pytest.mark.parametrize(("is_shared", "sent"), [(False, 11), (True, MOST_TURNS)], ids=["not", "shared"])
def test_second_client_ends_the_first(*, is_shared: bool, sent: int) -> None:
    said: list[str] = []
    with serve_simulator(build_world(papers=1), budget=ServiceBudget(limit=LIMIT)) as service:
        tally = OtherClients(said.append, is_shared=is_shared)
        assert take_turns(service, tally) == sent
    refused = pytest.raises(SharedBudgetError, match=r"10 of the 21 requests to /groups .* with --share-budget\.$")
    with nullcontext() if is_shared else refused:
        tally.check()
    (once,) = said
    assert "3 of the 7 requests to /groups" in once
    assert "40" in once
