"""What OpenReview's objects should not hold: each is kept safely or set aside by itself, and all else goes on."""

import hashlib
import json
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import Run
from peercorpus.harvest.run import harvest
from peercorpus.openreview import listing
from peercorpus.openreview.client import Client
from peercorpus.pipeline import build, read_standing
from peercorpus.raw import Kind
from peercorpus.simulator.answers import Answer
from peercorpus.simulator.calls import Request
from peercorpus.simulator.faults import Fault, Faults
from peercorpus.simulator.holdings import World
from peercorpus.simulator.server import serve
from peercorpus.simulator.world import build_world
from peercorpus.stage import Options
from peercorpus.workspace import Workspace, open_workspace

MakeClient = Callable[..., Client]
Row = dict[str, Any]
Rows = list[Any]
Change = Callable[[Rows], object]

AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
VENUES = [AURORA, BOREALIS]
LONG = "x" * 10_000


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(papers=6, venues=VENUES)


def altering(path: str, key: str, change: Change, *, in_lists: bool = True) -> Faults:
    """A service whose answers hold other objects than the world does.

    Args:
        path: Where it is asked.
        key: The name of the list in the answer.
        change: Changes the list.
        in_lists: Only in lists of submissions with their replies.
    """

    def alters(answer: Answer) -> Answer:
        body = json.loads(answer.body)
        if answer.status == 200 and len(body[key]) > in_lists:
            change(body[key])
        return replace(answer, body=json.dumps(body, ensure_ascii=False).encode())

    def choose(request: Request) -> Fault | None:
        is_one = request.path == path and (not in_lists or "details" in request.query)
        return Fault(alters=alters) if is_one else None

    return choose


def with_field(name: str, value: object) -> Change:
    """Each submission with another value in one of its own fields."""

    def change(rows: Rows) -> None:
        rows[0][name] = value

    return change


def with_answer(name: str, value: object) -> Change:
    """A submission with another answer, wrapped as its API wraps answers."""

    def change(rows: Rows) -> None:
        rows[0]["content"][name] = {"value": value} if "domain" in rows[0] else value

    return change


def in_reply(change: Change) -> Change:
    """The same done to the first reply of a submission."""

    def change_reply(rows: Rows) -> None:
        change(rows[1]["details"]["replies"])

    return change_reply


def renamed(name: str) -> Change:
    """A submission under another id."""

    def change(rows: Rows) -> None:
        row = rows[0]
        row["id"] = row["forum"] = f"{name}{row['id']}{name}"
        for reply in row["details"]["replies"]:
            reply["id"], reply["forum"] = f"{name}{reply['id']}", row["id"]
            reply["replyto"] = row["id"]

    return change


def with_details(details: object) -> Change:
    def change(rows: Rows) -> None:
        rows[0]["details"] = details

    return change


def added(*items: object) -> Change:
    """More items before and behind the others."""

    def change(rows: Rows) -> None:
        rows[:0] = items
        rows.extend(items)

    return change


def doubled(rows: Rows) -> None:
    rows.append(deepcopy(rows[0]))
    rows.append({**deepcopy(rows[0]), "content": {}})


def nested(rows: Rows) -> None:
    replies = rows[1]["details"]["replies"]
    replies[0]["details"] = {"replies": [{**replies[0], "id": f"{replies[0]['id']}nested"}]}


IDS = {
    "a path": "../../etc/passwd",
    "a path from the root": "/etc/passwd",
    "a path of Windows": "..\\..\\x",
    "markup": "<script>alert(1)</script>",
    "control characters": "a\x00\x1b[2Jb\r\n",
    "10,000 characters": LONG,
    "quotes": "a'; DROP TABLE objects; --\"",
    "a query": "a&id=b?c=d#e%00",
    "spaces": " a b ",
    "a comma": "a,b",
    "a dot": ".",
    "two dots": "..",
    "turned": "\u202eabc",
    "a glob": "[*?]",
}
TEXTS = {**IDS, "nothing": "", "a space": " ", "a number": 7, "a list": ["a", 7], "an object": {"a": 1}, "truth": True}
PATHS = {
    "a path out": "/pdf/../../x.pdf",
    "a query": "/pdf/x.pdf?id=other&y=1",
    "the root": "/etc/passwd",
    "another host": "//example.org/x.pdf",
    "a link": "https://example.org/x.pdf",
    "a script": "javascript:alert(1)",
    "a folder": "/pdf/",
    "long": f"/pdf/{LONG}.pdf",
    "control characters": "/pdf/\x00\n.pdf",
}
TIMES = {
    "a word": "yesterday",
    "negative": -1,
    "0": 0,
    "late": 10**18,
    "endless": 10**30,
    "a fraction": 1.5,
    "a list": [],
}

CASES: dict[str, Change] = {
    **{f"id: {name}": renamed(text) for name, text in IDS.items()},
    **{f"title: {name}": with_answer("title", text) for name, text in TEXTS.items()},
    **{f"pdf: {name}": with_answer("pdf", text) for name, text in PATHS.items()},
    **{f"pdf: {name}": with_answer("pdf", TEXTS[name]) for name in ("a number", "a list", "an object")},
    **{
        f"{field}: {name}": with_field(field, value)
        for field in ("tcdate", "tmdate", "ddate")
        for name, value in TIMES.items()
    },
    "10 MB of text": with_answer("abstract", "word " * 2_000_000),
    "10 MB in a reply": in_reply(with_answer("comment", "word " * 2_000_000)),
    "content: a list": with_field("content", ["a", "b"]),
    "content: a text": with_field("content", "a"),
    "content: nothing": with_field("content", None),
    "content: a bare value": with_field("content", {"title": 7, "pdf": 8}),
    "number: a word": with_field("number", "seven"),
    "number: endless": with_field("number", 10**30),
    "signatures: a text": with_field("signatures", "someone"),
    "readers: a text": with_field("readers", "everyone"),
    "readers: numbers": with_field("readers", [1, 2]),
    "invitations: a text": with_field("invitations", "x"),
    "invitations: numbers": with_field("invitations", [1]),
    "invitation: a number": with_field("invitation", 1),
    "domain: a number": with_field("domain", 1),
    "forum: a number": with_field("forum", 1),
    "forum: nothing": with_field("forum", None),
    "forum: another": with_field("forum", "another"),
    "replyto: itself": in_reply(lambda rows: rows[0].update(replyto=rows[0]["id"])),
    "replyto: nowhere": in_reply(with_field("replyto", "nowhere")),
    "replyto: a number": in_reply(with_field("replyto", 1)),
    "reply: another forum": in_reply(with_field("forum", "another")),
    "reply: no forum": in_reply(with_field("forum", None)),
    "reply: the id of its paper": in_reply(lambda rows: rows[0].update(id=rows[0]["forum"])),
    "reply: content a list": in_reply(with_field("content", [])),
    "reply: id a number": in_reply(with_field("id", 7)),
    "reply: no id": in_reply(lambda rows: rows[0].pop("id")),
    "replies: a reply in a reply": nested,
    "replies: no objects": in_reply(added(7, None, "x", [], {}, True)),
    "replies: an object": with_details({"replies": {"a": 1}}),
    "replies: nothing": with_details({"replies": None}),
    "details: a list": with_details([1]),
    "details: nothing": with_details(None),
    "id: a number": with_field("id", 7),
    "id: nothing": with_field("id", None),
    "id: empty": with_field("id", ""),
    "no id": lambda rows: rows[0].pop("id"),
    "items: no objects": added(7, None, "x", [], True),
    "items: empty objects": added({}, {"content": {"title": "a"}}),
    "items: twice the same": doubled,
}


Held = dict[str, list[tuple[str, bytes]]]


def held(workspace: Workspace, venue_id: str) -> Held:
    """Forum and text of every version of every note, edit and reference, by its id."""
    found: Held = {}
    for kind in (Kind.NOTE, Kind.EDIT, Kind.REFERENCE):
        for one in workspace.raw.versions(kind, venue_id):
            found.setdefault(one.object_id, []).append((one.forum_id, one.body))
    return found


@pytest.fixture(scope="module")
def undisturbed(world: World, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Held]:
    """What is held of each venue where nothing is wrong."""
    folder = tmp_path_factory.mktemp("undisturbed") / "corpus"
    with (
        serve(world) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
        open_workspace(folder, create=True) as workspace,
    ):
        harvest(workspace, client, VENUES, files=False)
        return {venue_id: held(workspace, venue_id) for venue_id in VENUES}


def assert_all_else_is_held(workspace: Workspace, undisturbed: dict[str, Held]) -> None:
    """Of each venue, nothing is missing or different outside the one forum in which something was wrong."""
    for venue_id, expected in undisturbed.items():
        now = held(workspace, venue_id)
        spoilt = {forum for key, bodies in expected.items() if now.get(key) != bodies for forum, _ in bodies}
        assert len(spoilt) <= 1
        assert len({forum for bodies in expected.values() for forum, _ in bodies}) > 2


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_with_one_note_harms_no_other(
    case: str, world: World, workspace: Workspace, hasty: MakeClient, undisturbed: dict[str, Held], tmp_path: Path
) -> None:
    with serve(world, faults=altering("/notes", "notes", CASES[case])) as service:
        for _ in range(2):
            harvest(workspace, hasty(service), VENUES, files=False)
            assert_all_else_is_held(workspace, undisturbed)
    assert {path.name for path in tmp_path.iterdir()} == {"corpus"}


EDITS: dict[str, Change] = {
    "no objects": added(7, None, "x", [], {}, True),
    "no id": lambda rows: rows[0].pop("id"),
    "id: a number": with_field("id", 7),
    "id: a path": lambda rows: rows[0].update(id=f"../../{rows[0]['id']}"),
    "note: a list": with_field("note", [1]),
    "note: another id": with_field("note", {"id": "another", "content": {"pdf": {"value": "/pdf/x.pdf"}}}),
    "content: a list": with_field("content", [1]),
    "content: a text in the note": lambda rows: rows[0].update(note={"id": 7, "content": "x"}),
    "referent: a number": with_field("referent", 7),
    "domain: a number": with_field("domain", 7),
    "tcdate: endless": with_field("tcdate", 10**30),
    "tmdate: a word": with_field("tmdate", "yesterday"),
    "invitation: a list": with_field("invitation", []),
    "readers: a text": with_field("readers", "everyone"),
}


@pytest.mark.parametrize("case", EDITS)
@pytest.mark.parametrize(("path", "key"), [("/notes/edits", "edits"), ("/references", "references")])
def test_what_is_wrong_with_one_edit_harms_no_other(
    path: str, key: str, case: str, world: World, workspace: Workspace, hasty: MakeClient, undisturbed: dict[str, Held]
) -> None:
    with serve(world, faults=altering(path, key, EDITS[case], in_lists=False)) as service:
        harvest(workspace, hasty(service), VENUES)
    for venue_id, expected in undisturbed.items():
        now = held(workspace, venue_id)
        lost = {object_id for object_id in expected if object_id not in now}
        kinds = (Kind.EDIT, Kind.REFERENCE)
        received = sum(1 for kind in kinds for _ in workspace.raw.versions(kind, venue_id))
        # Of each answer the first edit is another now, under another id or none.
        assert received >= sum(len(bodies) for bodies in expected.values()) - workspace.raw.count(Kind.NOTE, venue_id)
        assert lost.isdisjoint(note.object_id for note in workspace.raw.latest(Kind.NOTE, venue_id))
    build(workspace, VENUES, Options(workers=1))
    assert read_standing(workspace).holds


SETTINGS: dict[str, tuple[str, Change]] = {
    "invitations: no objects": ("/invitations", added(7, None, "x", [], {}, True)),
    "invitation: id a number": ("/invitations", lambda rows: rows.append({**rows[0], "id": 7})),
    "invitation: times": ("/invitations", lambda rows: rows[0].update(tmdate="x", duedate=[], cdate=10**30)),
    "invitation: edit a text": ("/invitations", with_field("edit", "x")),
    "invitation: reply a text": ("/invitations", with_field("reply", "x")),
    "group: members": ("/groups", with_field("members", [1, 2])),
    "group: content": ("/groups", with_field("content", [1])),
    "group: answers": ("/groups", with_field("content", {"submission_id": 7, "review_name": {"value": 7}})),
    "group: times": ("/groups", lambda rows: rows[0].update(tmdate="x", tcdate=10**30)),
    "groups: more": ("/groups", lambda rows: rows.extend([7, None, {}])),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_what_is_wrong_with_a_setting_harms_no_note(
    case: str, world: World, workspace: Workspace, hasty: MakeClient, undisturbed: dict[str, Held]
) -> None:
    path, change = SETTINGS[case]
    with serve(world, faults=altering(path, path[1:], change, in_lists=False)) as service:
        harvest(workspace, hasty(service), VENUES, files=False)
    for venue_id, expected in undisturbed.items():
        assert held(workspace, venue_id) == expected
    build(workspace, VENUES, Options(workers=1))
    assert read_standing(workspace).holds


@pytest.mark.parametrize("count", [-1, 0, 10**30, "seven", None, [], 1.5])
def test_a_count_that_counts_nothing_loses_nothing(
    count: object,
    world: World,
    workspace: Workspace,
    hasty: MakeClient,
    undisturbed: dict[str, Held],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "PAGE_WITH_REPLIES", 1)

    def alters(answer: Answer) -> Answer:
        body = json.loads(answer.body)
        return replace(answer, body=json.dumps({**body, "count": count}, ensure_ascii=False).encode())

    with serve(world, faults=lambda one: Fault(alters=alters) if one.path == "/notes" else None) as service:
        for _ in range(2):
            harvest(workspace, hasty(service), VENUES, files=False)
    for venue_id, expected in undisturbed.items():
        assert held(workspace, venue_id) == expected


def everything(rows: Rows) -> None:
    """Beside the true submissions, one for each case in which something is wrong with it."""
    wrong: Rows = []
    for name, change in CASES.items():
        pair = [own(row, name) for row in rows[:2]]
        change(pair)
        wrong += pair
    rows += wrong


def own(row: Row, name: str) -> Row:
    """The same submission and its replies under ids of their own."""
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    for note in ((copy := deepcopy(row)), *copy["details"]["replies"]):
        note["id"], note["forum"] = f"{note['id']}{mark}", f"{note['forum']}{mark}"
        note["replyto"] = note["replyto"] and f"{note['replyto']}{mark}"
    return copy


def test_all_of_it_goes_through_to_a_release(
    world: World, tmp_path: Path, hasty: MakeClient, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE_WITH_REPLIES", 1000)
    folder, release = tmp_path / "corpus", tmp_path / "release"
    with (
        serve(world, faults=altering("/notes", "notes", everything)) as service,
        open_workspace(folder, create=True) as workspace,
    ):
        harvest(workspace, hasty(service), VENUES)
        build(workspace, VENUES, Options(workers=1))
        standing = read_standing(workspace)
        assert standing.holds
        assert standing.unfinished == []
        assert {one.venue_id for one in standing.venues} >= set(VENUES)
        for venue in standing.venues:
            assert venue.held.odd_ids.count > len(IDS)
            assert venue.held.large_notes.count == 2
        files = {path.suffix for path in (workspace.folder / "files").rglob("*") if path.is_file()}
        assert files == {".pdf"}
    shown = run("status", "--workspace", folder)
    assert (shown.code, shown.err) == (0, "")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown.out)
    published = run("publish", "--workspace", folder, "--out", release)
    assert published.code == 0, published.err
    assert {path.name for path in tmp_path.iterdir()} == {"corpus", "release"}
