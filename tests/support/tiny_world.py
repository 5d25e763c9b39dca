"""A world of a few hand-made objects, small enough to see every one, and a way to ask its service."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import pytest

from peercorpus.simulator.world.holdings import Holdings, Json, World

if TYPE_CHECKING:
    from peercorpus.simulator.server.service import Service

V = "Invented.cc/2031/Conference"
OLD = "Invented.cc/2020/Conference"
EVERYONE = ["everyone"]
INSIDERS = [f"{V}/Program_Chairs"]
CURRENT, SUBMITTED, OWN = f"/pdf/{'a' * 40}.pdf", f"/pdf/{'b' * 40}.pdf", f"/pdf/{'c' * 40}.pdf"


def note_v2(note_id: str, number: int, **changes: Any) -> Json:
    content: Json = {
        "title": {"value": f"Paper, {number}"},
        "authors": {"value": ["A. Uthor"], "readers": INSIDERS},
        "venueid": {"value": V},
        "pdf": {"value": CURRENT},
    }
    note: Json = {
        "id": note_id, "forum": note_id, "replyto": None, "number": number, "domain": V, "readers": EVERYONE,
        "invitations": [f"{V}/-/Submission", f"{V}/-/Edit"], "signatures": [f"{V}/Submission{number}/Authors"],
        "cdate": 10 * number, "tcdate": 10 * number, "tmdate": 1000 - number, "content": content,
    }  # fmt: skip
    return {**note, **changes}


def reply_v2(note_id: str, replyto: str, tcdate: int, **changes: Any) -> Json:
    review = {
        "forum": "p1", "replyto": replyto, "tcdate": tcdate, "content": {"rating": {"value": 6}},
        "invitations": [f"{V}/Submission1/-/Official_Review"], "parentInvitations": f"{V}/-/Official_Review",
    }  # fmt: skip
    return note_v2(note_id, 1, **{**review, **changes})


def edit_v2(edit_id: str, tcdate: int, pdf: str, readers: list[str]) -> Json:
    note = {"id": "p1", "content": {"pdf": {"value": pdf}, "authors": {"value": [], "readers": INSIDERS}}}
    invitation = f"{V}/Submission1/-/Rebuttal_Revision"
    return {"id": edit_id, "invitation": invitation, "readers": readers, "tcdate": tcdate, "note": note}


def holdings_v2() -> Holdings:
    papers = [note_v2(f"p{number}", number) for number in (1, 2, 3)]
    hidden = note_v2("p4", 4, readers=INSIDERS)
    replies = [
        reply_v2("r1", "p1", 100),
        reply_v2("r2", "r1", 110),
        reply_v2("r3", "p1", 120, readers=INSIDERS),
        reply_v2("r4", "p1", 130, ddate=999),
    ]
    edits = [edit_v2("e1", 5, SUBMITTED, INSIDERS), edit_v2("e2", 6, CURRENT, EVERYONE)]
    invitations: list[Json] = [
        {"id": f"{V}/-/Submission", "domain": V, "readers": EVERYONE, "expdate": 1},
        {"id": f"{V}/-/Edit", "domain": V, "readers": EVERYONE, "expdate": None},
        {"id": f"{V}/Submission1/-/Revision", "domain": V, "readers": INSIDERS},
    ]
    groups: list[Json] = [
        {"id": V, "domain": V, "host": "Invented.cc", "readers": EVERYONE, "members": [],
         "content": {"title": {"value": "Inventions"}, "secret": {"value": 1, "readers": INSIDERS}}},
        {"id": "venues", "readers": EVERYONE, "members": [V]},
        {"id": f"{V}/Program_Chairs", "readers": INSIDERS, "members": ["~Chair1"]},
    ]  # fmt: skip
    return Holdings(
        groups=by_id(groups),
        invitations=by_id(invitations),
        notes=by_id([*papers, hidden, *replies]),
        edits=by_id(edits),
        files={CURRENT: lambda: b"%PDF-current", SUBMITTED: lambda: b"%PDF-submitted"},
    )


def holdings_v1() -> Holdings:
    blind: Json = {
        "id": "b1", "forum": "b1", "original": "o1", "number": 1, "invitation": f"{OLD}/-/Blind_Submission",
        "readers": EVERYONE, "tcdate": 1, "content": {"title": "Blind", "pdf": CURRENT},
    }  # fmt: skip
    original = {**blind, "id": "o1", "forum": "o1", "original": None, "readers": INSIDERS}
    review: Json = {
        "id": "v1", "forum": "b1", "replyto": "b1", "number": 1, "readers": EVERYONE, "tcdate": 2,
        "invitation": f"{OLD}/Paper1/-/Official_Review", "content": {"rating": "6: good"},
    }  # fmt: skip
    own = {**blind, "id": "ref1", "referent": "b1", "content": {"pdf": OWN}, "details": {"original": original}}
    venue = {**blind, "id": "ref2", "referent": "b1", "content": {"venue": "Invented 2020"}}
    return Holdings(
        groups=by_id([{"id": OLD, "domain": None, "readers": EVERYONE, "members": []}]),
        notes=by_id([blind, original, review]),
        edits=by_id([own, venue]),
        author_edits={"ref1"},
        files={CURRENT: lambda: b"%PDF-current", OWN: lambda: b"%PDF-own"},
    )


def by_id(things: list[Json]) -> dict[str, Json]:
    return {str(thing["id"]): thing for thing in things}


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def ids(self, name: str = "notes") -> list[str]:
        return [row["id"] for row in self.json[name]]


def ask(
    base_url: str, path: str, *, method: str = "GET", body: object = None, token: str | None = None, **query: object
) -> Reply:
    """Send one request; `note__id` stands for the parameter `note.id`."""
    parameters = urlencode({name.replace("__", "."): value for name, value in query.items()}, quote_via=quote)
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=10)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        connection.request(method, f"{path}?{parameters}", json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


def tiny_world() -> World:
    """A new world, which a test may change."""
    return World(holdings_v1(), holdings_v2())


@pytest.fixture(scope="session")
def tiny() -> World:
    """A tiny world that no test changes."""
    return tiny_world()


@pytest.fixture(scope="session")
def tiny_service(tiny: World) -> "Iterator[Service]":
    """The service of that world."""
    from peercorpus.simulator.server.service import serve_simulator

    with serve_simulator(tiny) as running:
        yield running


@pytest.fixture
def v1(tiny_service: "Service") -> str:
    """The address of its API v1."""
    return tiny_service.base_url_v1


@pytest.fixture
def v2(tiny_service: "Service") -> str:
    """The address of its API v2."""
    return tiny_service.base_url_v2


def free_neighbours() -> int:
    """Return a free port whose successor is free too."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            with suppress(OSError, OverflowError), socket.create_server(("127.0.0.1", port + 1)):
                return port
