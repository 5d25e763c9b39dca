"""Define the named faults that a test or a user can inject into the simulated service."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from threading import Lock
from typing import TypeAlias, cast

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.server.changes import BetweenPages, shift, vanish
from peercorpus.simulator.server.damage import (
    CUT_OFF,
    DROPPED,
    SHORT_WAIT_S,
    TRUNCATED,
    VALUES,
    Fault,
    UnreadableNote,
    altered,
    challenged,
    expired,
    in_zip,
    limited_without_header,
    rate_limited,
    rate_limited_gzip,
    server_error,
    with_bomb,
    with_cut_pdf,
    with_html_member,
    without_parameter,
)
from peercorpus.simulator.server.requests import Request, gives_file
from peercorpus.simulator.server.responses import (
    NO_PDF,
    ApiError,
    Response,
    browser_check,
    html_response,
    in_words,
    invalid,
    json_answer,
    not_found,
    reset_time,
    too_many_requests,
)
from peercorpus.simulator.server.routes import is_open_to_guests
from peercorpus.simulator.world.holdings import Json, World, draw_id

Faults: TypeAlias = Callable[[Request], Fault | None]
Concerns: TypeAlias = Callable[[Request], bool]

OTHER_VENUE = "Elsewhere.cc/2024/Conference"
"""Venue of the edits that belong to no venue of the world."""

Rows = list[Json]

SLOW_S = 1.0
DRIP_S = 1.0
KEYSET_SORTS = ("tmdate", "tcdate", "number", "pdate", "id", "replyCount")
"""Fields that `GET /notes` can sort by since its paging was redesigned (openreview-py#3206, openreview-web#2939)."""
NO_DOMAIN = Fault(invalid("domain", "a venue", "is not allowed").answer())
NO_SORT = ApiError(400, "EnumError", f"sort must be one of {', '.join(KEYSET_SORTS)}", path="sort")


@dataclass(frozen=True, slots=True)
class NamedFault:
    """A fault with a name.

    Attributes:
        begin: Creates the fault for one service from `every` and `after`: among the requests that it concerns, it
            affects those whose number minus `after` is a multiple of `every`. A permanent fault ignores both.
    """

    name: str
    help: str
    begin: Callable[[int, int], Faults]


def faults_by_name(*names: str, every: int = 5) -> Faults:
    """Return the faults with these names.

    A temporary fault affects one in `every` requests that it concerns, so that the repeated request succeeds; several
    temporary faults take turns. A permanent fault affects every request that it concerns.

    Raises:
        PeercorpusError: There is no such fault.
    """
    unknown = [name for name in names if name not in FAULTS]
    if unknown:
        raise PeercorpusError(f"The simulator has no fault {unknown[0]!r}; choose from: {', '.join(FAULTS)}.")
    turns = [every * (position - len(names)) for position in range(1, len(names) + 1)]
    return together(*(FAULTS[name].begin(every * len(names), turn) for name, turn in zip(names, turns, strict=True)))


def together(*faults: Faults) -> Faults:
    """Return one fault that applies all of these."""

    def choose(request: Request) -> Fault | None:
        applied = [fault for find_fault in faults if (fault := find_fault(request)) is not None]
        return reduce(Fault.joined, applied) if applied else None

    return choose


def on_path(path: str, fault: Fault, *, times: int = 1, after: int = 0, api: str | None = None) -> Faults:
    """Make a path fail `times` times after `after` successful requests; `api` limits this to "v1" or "v2"."""
    which = range(after + 1, after + times + 1)
    return _Turns(
        lambda request: request.path == path and api in {None, request.api}, lambda: fault, lambda n: n in which
    )


def wrong_host(api: str) -> Faults:
    """Make one API respond as if it did not have the notes: 404 for an id or a file, an empty list for a query."""

    def choose(request: Request) -> Fault | None:
        if request.api != api or request.method != "GET" or is_open_to_guests(request.path):
            return None
        if gives_file(request.path) or "id" in request.query:
            return Fault(not_found("Note", request.query.get("id", request.path)).answer())
        rows = {"/notes/edits": "edits", "/references": "references"}.get(request.path, "notes")
        return Fault(json_answer({rows: [], "count": 0}))

    return choose


@dataclass(slots=True)
class _Turns:
    """Affects the requests with the chosen numbers, counted from 1 among those that it concerns."""

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
    """Makes the first requested file of a note or edit huge; bulk responses leave it out."""

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
        others = ",".join(file_id for file_id in ids if file_id != self._id)
        if others:
            return Fault(asks=lambda query: {**query, "ids": others})
        return Fault(Response(b"%PDF-1.7\n", content_type="application/pdf", padding_bytes=2 << 30))


def _reads(request: Request) -> bool:
    return request.method == "GET" and request.path != "/challenge"


def _wants_json(request: Request) -> bool:
    return _reads(request) and not gives_file(request.path)


def _wants_file(request: Request) -> bool:
    return _reads(request) and gives_file(request.path)


def _wants_zip(request: Request) -> bool:
    return _wants_file(request) and "," in request.query.get("ids", "")


def _sorts_otherwise(request: Request) -> bool:
    sorted_by = request.query.get("sort", "id").partition(":")[0]
    return request.path == "/notes" and sorted_by not in KEYSET_SORTS


def _no_offset(name: str, path: str | None) -> NamedFault:
    lists = "every list" if path is None else path
    refusal = Fault(invalid("offset", "0", "is not supported any more; use after").answer())
    return _constant(
        name,
        f"400 for an offset in the query of {lists}",
        lambda request: "offset" in request.query and path in {None, request.path},
        lambda: refusal,
    )


def _is_stopped_guest(request: Request) -> bool:
    return not request.has_token and not is_open_to_guests(request.path)


def _passing(name: str, help: str, concerns: Concerns, make: Callable[[], Fault]) -> NamedFault:
    def begin(every: int, after: int) -> Faults:
        return _Turns(concerns, make, lambda n: (n - after) % every == 0)

    return NamedFault(name, help, begin)


def _constant(name: str, help: str, concerns: Concerns, make: Callable[[], Fault]) -> NamedFault:
    return NamedFault(name, help, lambda _every, _after: _Turns(concerns, make, lambda _n: True))


def _once_a_list(name: str, help: str, happens: Callable[[str, int, World], None]) -> NamedFault:
    return NamedFault(name, help, lambda _every, _after: BetweenPages(happens))


def is_edit_list(request: Request) -> bool:
    """Return whether a request asks for the edits of a venue."""
    return request.path == "/notes/edits" and "domain" in request.query


def continues_edit_list(request: Request) -> bool:
    """Return whether a request asks for a later page of the edits of a venue."""
    return is_edit_list(request) and "after" in request.query


def _with_strayed(mark: str, **moved: str) -> Fault:
    """Return the page with a copy of its first edit, for a note that no venue lists."""
    return _altered_edits(lambda rows: [*(_strayed(row, mark) | moved for row in rows[:1]), *rows])


def _strayed(edit: Json, mark: str) -> Json:
    """Return a copy of an edit with its own id, for a note that does not exist."""
    note = cast("Json", edit["note"])
    unknown = {name: value for name, value in note.items() if name not in {"forum", "replyto"}}
    return {**edit, "id": draw_id(str(edit["id"]), mark), "note": unknown | {"id": draw_id(str(note["id"]), mark)}}


def _altered_edits(change: Callable[[Rows], Rows]) -> Fault:
    return altered(lambda members: members | {"edits": change(cast("Rows", members["edits"]))})


@dataclass(slots=True)
class RepeatedRows:
    """Begins each later page of the edits of a venue with the last row of the previous page."""

    last: Rows = field(init=False, default_factory=list)
    lock: Lock = field(init=False, default_factory=Lock)

    def __call__(self, request: Request) -> Fault | None:
        """Return the fault for a page of such a list."""
        if not is_edit_list(request) or request.query.get("limit") == "1":
            return None
        return _altered_edits(self._repeat if "after" in request.query else self._remember)

    def _remember(self, rows: Rows) -> Rows:
        with self.lock:
            self.last = rows[-1:]
        return rows

    def _repeat(self, rows: Rows) -> Rows:
        with self.lock:
            before = self.last if rows else []
        self._remember(rows)
        return [*before, *rows]


_ALL = (
    _passing("rate_limit", "429 with Retry-After", _reads, partial(rate_limited, 1)),
    _passing(
        "rate_limit_in_words",
        "429 that states the wait only in its message",
        _reads,
        lambda: limited_without_header(f"Too many requests. Please try again in {in_words(SHORT_WAIT_S)}"),
    ),
    _passing(
        "rate_limit_reset_time",
        "429 that states the wait only in details.resetTime",
        _reads,
        lambda: limited_without_header(resetTime=reset_time(SHORT_WAIT_S)),
    ),
    _passing("rate_limit_gzip", "429, gzip-encoded without being requested", _reads, rate_limited_gzip),
    _passing("rate_limit_silent", "429 that states no wait", _reads, limited_without_header),
    _passing("error_500", "500 as JSON", _reads, server_error),
    _passing("error_502_html", "502 as an HTML page", _reads, partial(server_error, 502, html=True)),
    _passing("error_503_empty", "503 with an empty body labelled as JSON", _reads, lambda: Fault(Response(b"", 503))),
    _passing("dropped", "the connection closes without a response", _reads, lambda: DROPPED),
    _passing("cut_off", "the connection closes in the middle of the body", _reads, lambda: CUT_OFF),
    _passing("slow", "the response comes a second late", _reads, partial(Fault, delay_s=SLOW_S)),
    _passing("drips", "the response comes at one byte per second", _reads, partial(Fault, drip_s=DRIP_S)),
    _passing(
        "truncated_json", "200 with the first half of the body, as if it were complete", _wants_json, lambda: TRUNCATED
    ),
    _passing(
        "truncated_file", "a PDF cut in half, by itself or in a zip", _wants_file, lambda: Fault(alters=with_cut_pdf)
    ),
    _passing(
        "expired_token",
        "401 TokenExpiredError for every request with a token",
        lambda request: _reads(request) and request.has_token,
        expired,
    ),
    _constant("challenge", "403 ChallengeRequiredError for guests, on notes and files", _is_stopped_guest, challenged),
    _constant(
        "browser_check",
        "302 to an HTML page for guests, on notes and files",
        _is_stopped_guest,
        lambda: Fault(browser_check()),
    ),
    NamedFault(
        "wrong_host", "API v2 has no notes: 404 for an id, an empty list for a query", lambda *_: wrong_host("v2")
    ),
    _constant(
        "no_count",
        "lists without count",
        _wants_json,
        lambda: altered(lambda members: {name: value for name, value in members.items() if name != "count"}),
    ),
    _constant(
        "ignores_after",
        "lists start again whatever the value of after",
        _wants_json,
        lambda: without_parameter("after"),
    ),
    _no_offset("no_offset", None),
    _no_offset("no_offset_notes", "/notes"),
    _no_offset("no_offset_edits", "/notes/edits"),
    _no_offset("no_offset_references", "/references"),
    _no_offset("no_offset_invitations", "/invitations"),
    _constant(
        "sort_allowlist",
        "400 for notes sorted by a field that keyset paging lacks",
        _sorts_otherwise,
        lambda: Fault(NO_SORT.answer()),
    ),
    _constant("no_domain", "400 for the edits of a venue", is_edit_list, lambda: NO_DOMAIN),
    _constant(
        "ignores_domain", "edits of all venues instead of one", is_edit_list, lambda: without_parameter("domain")
    ),
    _constant(
        "unknown_domain",
        "an empty list for the edits of a venue",
        is_edit_list,
        lambda: Fault(json_answer({"edits": [], "count": 0})),
    ),
    _constant(
        "edits_lost",
        "the edits of a venue lack a row between two pages",
        continues_edit_list,
        lambda: _altered_edits(lambda rows: rows[1:]),
    ),
    NamedFault("edits_repeated", "the edits of a venue repeat a row between two pages", lambda *_: RepeatedRows()),
    _constant(
        "edits_of_others",
        "an edit of another venue among those of a venue",
        is_edit_list,
        lambda: _with_strayed("elsewhere", domain=OTHER_VENUE, invitation=f"{OTHER_VENUE}/-/Edit"),
    ),
    _constant(
        "edits_of_unlisted",
        "an edit of a note never listed among those of a venue",
        is_edit_list,
        lambda: _with_strayed("unlisted"),
    ),
    _once_a_list("shifting_list", "a listed note vanishes and another appears before it, between two pages", shift),
    _once_a_list("note_vanishes", "a listed note vanishes between two pages", vanish),
    *(
        NamedFault(
            f"unreadable_{name}",
            f"the first listed submission contains something that cannot be decoded: {name.replace('_', ' ')}",
            lambda _every, _after, value=value: UnreadableNote(value),  # type: ignore[misc]
        )
        for name, value in VALUES.items()
    ),
    _passing("not_a_pdf", "200 with an HTML page for a file", _wants_file, lambda: Fault(html_response(NO_PDF))),
    _passing(
        "not_a_pdf_inside",
        "an HTML page labelled as the requested file",
        _wants_file,
        lambda: Fault(alters=lambda answer: replace(answer, body=html_response(NO_PDF).body)),
    ),
    _constant(
        "zip_without_member",
        "a zip of files lacks its last one",
        _wants_zip,
        lambda: in_zip(lambda members: members[:-1]),
    ),
    _constant("zip_of_other", "the first file of a zip is not a PDF", _wants_zip, lambda: in_zip(with_html_member)),
    _constant("zip_bomb", "the first file of a zip inflates to 512 MiB", _wants_zip, lambda: Fault(alters=with_bomb)),
    NamedFault("huge_file", "the first requested file has 2 GiB", lambda *_: _HugeFile()),
    NamedFault(
        "login_429",
        "429 for every other sign-in, starting with the first",
        lambda *_: _Turns(
            lambda request: (request.method, request.path) == ("POST", "/login"),
            lambda: Fault(too_many_requests(3, 4, SHORT_WAIT_S).answer()),
            lambda n: n % 2 == 1,
        ),
    ),
)
FAULTS: Mapping[str, NamedFault] = {fault.name: fault for fault in _ALL}
"""Every named fault."""
