"""Other clients' use of a budget: never reported for a lone client, always for a second one that uses much."""

import threading
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peercorpus.errors import NotJsonError, SharedBudgetError
from peercorpus.openreview import budget
from peercorpus.openreview.budget import OtherClients, Sent
from peercorpus.openreview.client import Client
from peercorpus.openreview.retries import Patience
from peercorpus.simulator.server.faults import faults_by_name
from peercorpus.simulator.server.service import Service, ServiceBudget, serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.harvest_state import Window
from standing_clock import StandingClock

LIMIT = 40


@pytest.fixture
def every_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report even a single request by other clients."""
    monkeypatch.setattr(budget, "MIN_REPORTED_SHARE", 0.0)
    monkeypatch.setattr(budget, "MIN_REPORTED_REQUESTS", 1)


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
    def test_a_single_client_detects_no_others_whatever_the_order_of_responses(
        self, window_of: tuple[int, int, int], drawn: list[tuple[str, int]]
    ) -> None:
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
    def test_other_clients_requests_are_underestimated_by_at_most_the_requests_in_flight(
        self, at_once: int, theirs: list[int]
    ) -> None:
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


def test_a_response_without_a_limit_gives_no_estimate() -> None:
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


def client_of(service: Service, tally: OtherClients, clock: StandingClock) -> Client:
    patience = Patience(attempts=9, first_wait_s=0.001, longest_wait_s=3600)
    return Client(service.base_url_v1, service.base_url_v2, patience=patience, tally=tally, clock=clock)


@pytest.mark.slow
@pytest.mark.usefixtures("every_word")
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_single_client_detects_no_others_over_http_whatever_fails(threads: int) -> None:
    tally, clock = OtherClients(is_shared=False), StandingClock()
    allowed = ServiceBudget(limit=60, window_s=3600, now=clock.now)
    with serve_simulator(build_world(papers=1), faults=faults_by_name(*FAULTS), budget=allowed) as service:
        client = client_of(service, tally, clock)
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
    with client_of(service, first, clock) as ours, client_of(service, OtherClients(), clock) as theirs:
        for sent in range(MOST_TURNS):
            try:
                ours.get_json(2, "/groups", {"id": "venues"})
            except SharedBudgetError:
                return sent
            theirs.get_json(2, "/groups", {"id": "venues"})
    return MOST_TURNS


@pytest.mark.parametrize(("is_shared", "sent"), [(False, 11), (True, MOST_TURNS)], ids=["not", "shared"])
def test_a_second_client_that_takes_a_quarter_ends_the_first_unless_it_shares(*, is_shared: bool, sent: int) -> None:
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
