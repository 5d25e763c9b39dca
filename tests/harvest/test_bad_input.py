"""Malformed OpenReview objects: each is kept safely or set aside alone, and everything else continues."""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from altered_answers import (
    VENUES,
    Change,
    Held,
    Row,
    Rows,
    added,
    altering,
    first_of,
    held,
    mark_of,
    undisturbed,
    with_field,
    world,
)
from commands import Run
from in_this_process import build_here
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview import listing
from peercorpus.openreview.client import Client
from peercorpus.pipeline.status import read_status
from peercorpus.simulator.server.damage import Fault
from peercorpus.simulator.server.faults import Faults
from peercorpus.simulator.server.responses import Response
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace

__all__ = ["undisturbed", "world"]

MakeClient = Callable[..., Client]

LONG = "x" * 10_000


def with_answer(name: str, value: object) -> Change:
    """A submission with a different answer, wrapped as in its API."""

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


def assert_all_else_is_held(workspace: Workspace, undisturbed: dict[str, Held]) -> None:
    """Assert that nothing is missing or different outside the forum with the fault, at any venue."""
    for venue_id, expected in undisturbed.items():
        now = held(workspace, venue_id)
        spoilt = {forum for key, bodies in expected.items() if now.get(key) != bodies for forum, _ in bodies}
        assert len(spoilt) <= 1
        assert len({forum for bodies in expected.values() for forum, _ in bodies}) > 2


@pytest.mark.slow
@pytest.mark.fault(
    "input",
    "wrong types, huge numbers and missing fields in one note",
    "it is read as far as it can be, the others whole",
    times=107,
)
@pytest.mark.parametrize("case", CASES)
def test_a_faulty_note_does_not_affect_others(
    case: str, world: World, workspace: Workspace, hasty: MakeClient, undisturbed: dict[str, Held], tmp_path: Path
) -> None:
    with serve_simulator(world, faults=altering("/notes", "notes", CASES[case])) as service:
        client = hasty(service)
        for _ in range(2):
            harvest(workspace, client, VENUES, request=HarvestRequest(no_files=True))
            assert_all_else_is_held(workspace, undisturbed)
    assert {path.name for path in tmp_path.iterdir()} == {"corpus"}


@pytest.mark.parametrize("count", [-1, 0, 10**30, "seven", None, [], 1.5])
def test_a_wrong_count_loses_no_note(
    count: object,
    world: World,
    workspace: Workspace,
    hasty: MakeClient,
    undisturbed: dict[str, Held],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "PAGE_WITH_REPLIES", 1)

    def alters(answer: Response) -> Response:
        body = json.loads(answer.body)
        return replace(answer, body=json.dumps({**body, "count": count}, ensure_ascii=False).encode())

    with serve_simulator(world, faults=lambda one: Fault(alters=alters) if one.path == "/notes" else None) as service:
        client = hasty(service)
        for _ in range(2):
            harvest(workspace, client, VENUES, request=HarvestRequest(no_files=True))
    for venue_id, expected in undisturbed.items():
        assert held(workspace, venue_id) == expected


def everything(rows: Rows) -> None:
    """Besides the correct submissions, one for each kind of fault."""
    wrong: Rows = []
    for name, change in CASES.items():
        pair, right = ([own(row, name) for row in rows[:2]] for _ in range(2))
        change(pair)
        wrong += [row for row in pair if row not in right]
    rows += wrong


def own(row: Row, name: str) -> Row:
    """The same submission and its replies under new ids."""
    mark = mark_of(name)
    for note in ((copy := deepcopy(row)), *copy["details"]["replies"]):
        note["id"], note["forum"] = f"{note['id']}{mark}", f"{note['forum']}{mark}"
        note["replyto"] = note["replyto"] and f"{note['replyto']}{mark}"
    return copy


@pytest.mark.slow
def test_a_corpus_with_every_fault_can_be_published(
    world: World, tmp_path: Path, hasty: MakeClient, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE_WITH_REPLIES", 1000)
    folder, release = tmp_path / "corpus", tmp_path / "release"
    with (
        serve_simulator(world, faults=altering("/notes", "notes", everything)) as service,
        open_workspace(folder, create=True) as workspace,
    ):
        harvest(workspace, hasty(service), VENUES)
        build_here(workspace, VENUES)
        standing = read_status(workspace)
        assert standing.holds
        assert standing.unfinished == []
        assert {one.venue_id for one in standing.venues} >= set(VENUES)
        for venue in standing.venues:
            assert venue.held.odd_ids.count > len(IDS)
            assert venue.held.large_notes.count == 2
        files = {path.suffix for path in (workspace.folder / "files").rglob("*") if path.is_file()}
        assert files == {".pdf"}
    shown = run("status", "--workspace", folder, "--all")
    assert (shown.code, shown.err) == (0, "")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown.out)
    published = run("publish", "--workspace", folder, "--out", release)
    assert published.code == 0, published.err
    assert {path.name for path in tmp_path.iterdir()} == {"corpus", "release"}


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


PLACES_OF_EDITS = {"/notes/edits": "edits", "/references": "references"}


@pytest.mark.parametrize("case", EDITS)
@pytest.mark.parametrize("path", PLACES_OF_EDITS)
def test_a_faulty_edit_does_not_affect_others(
    path: str, case: str, world: World, workspace: Workspace, hasty: MakeClient, undisturbed: dict[str, Held]
) -> None:
    faults = altering(path, PLACES_OF_EDITS[path], EDITS[case], in_lists=False)
    with serve_simulator(world, faults=faults) as service:
        harvest(workspace, hasty(service), VENUES)
    for venue_id, expected in undisturbed.items():
        now = held(workspace, venue_id)
        lost = {object_id for object_id in expected if object_id not in now}
        # The first edit of each answer is replaced, under a different id or none.
        assert edits_held(workspace, venue_id) >= edits_of(expected, workspace, venue_id)
        assert lost.isdisjoint(note.object_id for note in workspace.raw.latest(RawKind.NOTE, venue_id))


def edits_held(workspace: Workspace, venue_id: str) -> int:
    """Return how many edits and references are stored."""
    return sum(1 for kind in (RawKind.EDIT, RawKind.REFERENCE) for _ in workspace.raw.versions(kind, venue_id))


def edits_of(expected: Held, workspace: Workspace, venue_id: str) -> int:
    """How many there are if nothing is wrong."""
    return sum(len(bodies) for bodies in expected.values()) - workspace.raw.count(RawKind.NOTE, venue_id)


@pytest.mark.slow
def test_a_build_with_every_faulty_edit_succeeds(
    world: World, workspace: Workspace, hasty: MakeClient, undisturbed: dict[str, Held]
) -> None:
    sent: set[str] = set()

    def every_wrong_edit(rows: Rows) -> None:
        """Besides the correct edits, one for each kind of fault."""
        for name, change in EDITS.items():
            wrong = [{**deepcopy(rows[0]), "id": f"{rows[0]['id']}{mark_of(name)}"}]
            change(wrong)
            rows += wrong
            sent.update(str(row["id"]) for row in wrong if isinstance(row, dict) and isinstance(row.get("id"), str))

    places = [altering(path, key, every_wrong_edit, in_lists=False) for path, key in PLACES_OF_EDITS.items()]
    with serve_simulator(world, faults=first_of(places)) as service:
        harvest(workspace, hasty(service), VENUES)
    now = {venue_id: held(workspace, venue_id) for venue_id in VENUES}
    assert len(sent) > 5 * len(EDITS)
    assert sent <= {object_id for bodies in now.values() for object_id in bodies}
    for venue_id, expected in undisturbed.items():
        assert {object_id: now[venue_id].get(object_id) for object_id in expected} == expected
    build_here(workspace, VENUES)
    assert read_status(workspace).holds


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


def with_settings(*cases: str) -> Faults:
    """A service whose settings have these faults."""
    places = [altering(path, path[1:], change, in_lists=False) for path, change in map(SETTINGS.__getitem__, cases)]
    return first_of(places)


@pytest.mark.parametrize("case", SETTINGS)
def test_a_faulty_setting_affects_no_note(
    case: str, world: World, workspace: Workspace, hasty: MakeClient, undisturbed: dict[str, Held]
) -> None:
    with serve_simulator(world, faults=with_settings(case)) as service:
        harvest(workspace, hasty(service), VENUES, request=HarvestRequest(no_files=True))
    for venue_id, expected in undisturbed.items():
        assert held(workspace, venue_id) == expected


def settings_of(path: str) -> list[str]:
    return [case for case, (asked, _) in SETTINGS.items() if asked == path]


# One invitation and one group at a time: two faults in the same object could mask each other.
@pytest.mark.slow
@pytest.mark.parametrize(
    "cases", [*zip(settings_of("/invitations"), settings_of("/groups"), strict=True)], ids="; ".join
)
def test_a_build_with_faulty_settings_succeeds(
    cases: tuple[str, str], world: World, workspace: Workspace, hasty: MakeClient
) -> None:
    with serve_simulator(world, faults=with_settings(*cases)) as service:
        harvest(workspace, hasty(service), VENUES, request=HarvestRequest(no_files=True))
    build_here(workspace, VENUES)
    standing = read_status(workspace)
    assert standing.holds
    assert standing.unfinished == []
