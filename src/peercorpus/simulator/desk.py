"""What both ports of the simulated service share: the indexes, the log, and the way from a request to its answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

import msgspec

from peercorpus.simulator.accounts import Accounts
from peercorpus.simulator.answers import Answer, ApiError, browser_check, challenge_required, invalid
from peercorpus.simulator.budget import Budget
from peercorpus.simulator.calls import Call, Request
from peercorpus.simulator.damage import Event, Fault
from peercorpus.simulator.faults import Faults
from peercorpus.simulator.holdings import Json, World
from peercorpus.simulator.routes import is_open_to_guests, route_of
from peercorpus.simulator.shelves import Shelves

SIGNS_IN = frozenset({"/login", "/mfa/challenge", "/mfa/verify"})


@dataclass(slots=True, repr=False)
class Desk:
    """One service behind its two ports.

    Attributes:
        world: As it was given; what faults let happen is done to a copy.
        requests: Every request so far.
    """

    world: World
    accounts: Accounts
    budget: Budget
    faults: Faults | None = None
    sign_in_required: bool = False
    requests: list[Request] = field(init=False, default_factory=list)
    _shelves: dict[str, Shelves] = field(init=False)
    _events: list[Event] = field(init=False, default_factory=list)
    _lock: Lock = field(init=False, default_factory=Lock)

    def __post_init__(self) -> None:
        self.reindex()

    def reindex(self) -> None:
        """Index the world as it is now, with all that faults have let happen."""
        world = self.world.copy() if self._events else self.world
        for event in self._events:
            event(world)
        self._shelves = {"v1": Shelves("v1", world.v1), "v2": Shelves("v2", world.v2)}

    def receive(self, request: Request) -> tuple[Request, Fault]:
        """Number and log a request.

        Returns:
            The request with its number, and what goes wrong with it: often nothing.
        """
        with self._lock:
            request = replace(request, number=len(self.requests) + 1)
            self.requests.append(request)
        return request, (self.faults(request) if self.faults is not None else None) or Fault()

    def answer(self, request: Request, fault: Fault, authorization: str | None, body: bytes) -> Answer:
        """The answer to a request, before what the fault does to it."""
        if fault.answer is not None:
            return fault.answer
        headers, refusal = self.budget.spend(request.api, request.path)
        try:
            if refusal is not None:
                raise refusal
            answer = self._answer(request, fault, authorization, body)
        except ApiError as error:
            answer = error.answer()
        return replace(answer, headers={**headers, **answer.headers})

    def _answer(self, request: Request, fault: Fault, authorization: str | None, body: bytes) -> Answer:
        route = route_of(request.api, request.method, request.path)
        # Who signs in again may still send the token that has expired.
        authorization = None if request.path in SIGNS_IN else authorization
        caller = self.accounts.caller(authorization, self._shelves.values())
        if self.sign_in_required and caller.user is None and not is_open_to_guests(request.path):
            if request.takes_html:
                return browser_check()
            raise challenge_required()
        query = fault.asks(request.query) if fault.asks is not None else request.query
        _check_values(query)
        call = Call(self.accounts, self._shelves[request.api], caller, query, _read_body(body))
        if fault.happens is not None:
            self._let_happen(fault.happens(call))
            call = replace(call, shelves=self._shelves[request.api])
        return route(call)

    def _let_happen(self, event: Event) -> None:
        with self._lock:
            self._events.append(event)
            self.reindex()


def _check_values(query: Mapping[str, str]) -> None:
    for name, value in query.items():
        if not value:
            raise invalid(name, value, "must NOT have fewer than 1 characters")


def _read_body(body: bytes) -> Json:
    try:
        content = msgspec.json.decode(body) if body else {}
    except msgspec.DecodeError:
        raise invalid("body", None, "must be JSON") from None
    if not isinstance(content, dict):
        raise invalid("body", None, "must be object")
    return content
