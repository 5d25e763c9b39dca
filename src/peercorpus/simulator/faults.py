"""Faults to inject into the simulated service: what goes wrong on a real network, on purpose, by name or one by one.

A fault is chosen per request by any callable `(request) -> Fault | None`. `named` makes those that a harvester meets,
`on_path` those of one path, and `together` lets several happen to one service:

    serve(world, faults=named("rate_limit", "truncated_json"))
    serve(world, faults=on_path("/notes", rate_limited(retry_after_s=1), times=2))
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from threading import Lock
from typing import TypeAlias

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.answers import Answer, json_answer, not_found
from peercorpus.simulator.calls import Request, gives_file
from peercorpus.simulator.damage import (
    CUT_OFF,
    DROPPED,
    TRUNCATED,
    Fault,
    challenged,
    empty_error,
    expired,
    html_page,
    huge,
    no_pdf,
    no_pdf_inside,
    rate_limited,
    rate_limited_gzip,
    rate_limited_in_words,
    rate_limited_silently,
    rate_limited_until,
    redirected,
    server_error,
    slow,
    too_many_sign_ins,
    uncounted,
    without_parameter,
)
from peercorpus.simulator.holdings import World
from peercorpus.simulator.routes import is_open_to_guests
from peercorpus.simulator.shifts import BetweenPages, shift, vanish
from peercorpus.simulator.zips import with_bomb, with_cut_pdf, with_html_member, without_member

__all__ = [
    "CUT_OFF",
    "DROPPED",
    "FAULTS",
    "TRUNCATED",
    "Fault",
    "Faults",
    "NamedFault",
    "challenged",
    "expired",
    "html_page",
    "named",
    "on_path",
    "rate_limited",
    "server_error",
    "slow",
    "together",
    "wrong_host",
]

Faults: TypeAlias = Callable[[Request], Fault | None]
Concerns: TypeAlias = Callable[[Request], bool]

SLOW_S = 1.0


@dataclass(frozen=True, slots=True)
class NamedFault:
    """A fault that has a name.

    Attributes:
        help: What happens, in one line.
        begin: Makes the fault anew for one service: of the requests that it concerns, it strikes those whose number
            less the second argument is a multiple of the first. What is a property of the service takes no notice.
    """

    name: str
    help: str
    begin: Callable[[int, int], Faults]


def named(*names: str, every: int = 5) -> Faults:
    """The faults of these names.

    A passing fault strikes every fifth request that it concerns, so that the request repeated goes well; several take
    turns. What is a property of the service is always there.

    Raises:
        PeercorpusError: There is no such fault.
    """
    unknown = [name for name in names if name not in FAULTS]
    if unknown:
        raise PeercorpusError(f"The simulator has no fault {unknown[0]!r}; it has {', '.join(FAULTS)}")
    turns = [every * (place - len(names)) for place in range(1, len(names) + 1)]
    return together(*(FAULTS[name].begin(every * len(names), turn) for name, turn in zip(names, turns, strict=True)))


def together(*faults: Faults) -> Faults:
    """All of these at once."""

    def choose(request: Request) -> Fault | None:
        struck = [fault for one in faults if (fault := one(request)) is not None]
        return reduce(Fault.joined, struck) if struck else None

    return choose


def on_path(path: str, fault: Fault, *, times: int = 1, after: int = 0, api: str | None = None) -> Faults:
    """Let a path fail `times` times, once `after` requests to it have gone well; `api` limits it to "v1" or "v2"."""
    which = range(after + 1, after + times + 1)
    return _Turns(
        lambda request: request.path == path and api in {None, request.api}, lambda: fault, lambda n: n in which
    )


def wrong_host(api: str) -> Faults:
    """Let one API answer as the one that does not hold the notes: 404 to an id or a file, an empty list to a query."""

    def choose(request: Request) -> Fault | None:
        if request.api != api or request.method != "GET" or is_open_to_guests(request.path):
            return None
        return Fault(_not_here(request))

    return choose


@dataclass(slots=True)
class _Turns:
    """Strikes the requests whose place, counted from 1 among those it concerns, is one of the chosen."""

    concerns: Concerns
    make: Callable[[], Fault]
    strikes: Callable[[int], bool]
    seen: int = field(init=False, default=0)
    lock: Lock = field(init=False, default_factory=Lock)

    def __call__(self, request: Request) -> Fault | None:
        if not self.concerns(request):
            return None
        with self.lock:
            self.seen += 1
            return self.make() if self.strikes(self.seen) else None


class _HugeFile:
    """Makes the file of the first note or edit that is asked for one a huge one; bulk answers leave it out."""

    def __init__(self) -> None:
        self._id: str | None = None
        self._lock = Lock()

    def __call__(self, request: Request) -> Fault | None:
        if not _wants_file(request):
            return None
        ids = (request.query.get("ids") or request.query.get("id") or request.path).split(",")
        with self._lock:
            self._id = self._id or ids[0]
        if self._id not in ids:
            return None
        others = ",".join(one for one in ids if one != self._id)
        return Fault(asks=lambda query: {**query, "ids": others}) if others else huge()


def _not_here(request: Request) -> Answer:
    if gives_file(request.path) or "id" in request.query:
        return not_found("Note", request.query.get("id", request.path)).answer()
    rows = {"/notes/edits": "edits", "/references": "references"}.get(request.path, "notes")
    return json_answer({rows: [], "count": 0})


def _reads(request: Request) -> bool:
    return request.method == "GET" and request.path != "/challenge"


def _wants_json(request: Request) -> bool:
    return _reads(request) and not gives_file(request.path)


def _wants_file(request: Request) -> bool:
    return _reads(request) and gives_file(request.path)


def _wants_zip(request: Request) -> bool:
    return _wants_file(request) and "," in request.query.get("ids", "")


def _has_token(request: Request) -> bool:
    return _reads(request) and request.has_token


def _is_stopped_guest(request: Request) -> bool:
    return not request.has_token and not is_open_to_guests(request.path)


def _signs_in(request: Request) -> bool:
    return (request.method, request.path) == ("POST", "/login")


def _passing(name: str, help: str, concerns: Concerns, make: Callable[[], Fault]) -> NamedFault:
    def begin(every: int, after: int) -> Faults:
        return _Turns(concerns, make, lambda n: (n - after) % every == 0)

    return NamedFault(name, help, begin)


def _constant(name: str, help: str, concerns: Concerns, make: Callable[[], Fault]) -> NamedFault:
    return NamedFault(name, help, lambda _every, _after: _Turns(concerns, make, lambda _n: True))


def _once_a_list(name: str, help: str, happens: Callable[[str, int, World], None]) -> NamedFault:
    return NamedFault(name, help, lambda _every, _after: BetweenPages(happens))


_ALL = (
    _passing("rate_limit", "429 with Retry-After", _reads, partial(rate_limited, 1)),
    _passing("rate_limit_in_words", "429 that says how long in its message alone", _reads, rate_limited_in_words),
    _passing("rate_limit_reset_time", "429 that says how long in details.resetTime alone", _reads, rate_limited_until),
    _passing("rate_limit_gzip", "429, gzip-encoded unasked", _reads, rate_limited_gzip),
    _passing("rate_limit_silent", "429 that says no time at all", _reads, rate_limited_silently),
    _passing("error_500", "500 as JSON", _reads, server_error),
    _passing("error_502_html", "502 as a page of HTML", _reads, partial(server_error, 502, html=True)),
    _passing("error_503_empty", "503 with an empty body labelled JSON", _reads, empty_error),
    _passing("dropped", "the connection closes without an answer", _reads, lambda: DROPPED),
    _passing("cut_off", "the connection closes in the middle of the body", _reads, lambda: CUT_OFF),
    _passing("slow", "the answer comes a second late", _reads, partial(slow, SLOW_S)),
    _passing(
        "truncated_json", "200 with the first half of the body, as if it were whole", _wants_json, lambda: TRUNCATED
    ),
    _passing("truncated_file", "a PDF cut in half, alone or in a zip", _wants_file, lambda: Fault(alters=with_cut_pdf)),
    _passing("expired_token", "401 TokenExpiredError to whoever sends a token", _has_token, expired),
    _constant("challenge", "403 ChallengeRequiredError to guests, on notes and files", _is_stopped_guest, challenged),
    _constant("browser_check", "302 to a page of HTML for guests, on notes and files", _is_stopped_guest, redirected),
    NamedFault(
        "wrong_host", "API v2 holds no notes: 404 to an id, an empty list to a query", lambda *_: wrong_host("v2")
    ),
    _constant("no_count", "lists without count", _wants_json, uncounted),
    _constant("ignores_after", "lists begin anew whatever after says", _wants_json, lambda: without_parameter("after")),
    _once_a_list("shifting_list", "a listed note vanishes and another appears before it, between two pages", shift),
    _once_a_list("note_vanishes", "a listed note vanishes between two pages", vanish),
    _passing("not_a_pdf", "200 with a page of HTML for a file", _wants_file, no_pdf),
    _passing("not_a_pdf_inside", "a page of HTML labelled as the file it is not", _wants_file, no_pdf_inside),
    _constant("zip_without_member", "a zip of files lacks its last", _wants_zip, lambda: Fault(alters=without_member)),
    _constant("zip_of_other", "the first file of a zip is no PDF", _wants_zip, lambda: Fault(alters=with_html_member)),
    _constant("zip_bomb", "the first file of a zip inflates to 512 MiB", _wants_zip, lambda: Fault(alters=with_bomb)),
    NamedFault("huge_file", "the file that is asked for first has 2 GiB", lambda *_: _HugeFile()),
    NamedFault(
        "login_429",
        "429 to every other sign-in, the first included",
        lambda *_: _Turns(_signs_in, too_many_sign_ins, lambda n: n % 2 == 1),
    ),
)
FAULTS: Mapping[str, NamedFault] = {fault.name: fault for fault in _ALL}
"""Every fault that has a name."""
