"""The lists of the simulated service follow the recorded contract of the live one."""

from typing import Any

import pytest

from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.server.service import serve_simulator
from tiny_world import EVERYONE, INSIDERS, OLD, V, ask, tiny_world


@pytest.mark.parametrize(
    ("sort", "pages"),
    [
        ("id", [["p1", "p2"], ["p3"], []]),
        ("number:desc", [["p3", "p2"], ["p1"], []]),
        ("tcdate:asc", [["p1", "p2"], ["p3"], []]),
        ("tmdate:asc", [["p3", "p2"], ["p1"], []]),
    ],
)
def test_keyset_paging_gives_each_note_once(v2: str, sort: str, pages: list[list[str]]) -> None:
    got = [ask(v2, "/notes", invitation=f"{V}/-/Submission", limit=2, sort=sort).ids()]
    while got[-1]:
        got.append(ask(v2, "/notes", invitation=f"{V}/-/Submission", limit=2, sort=sort, after=got[-1][-1]).ids())
    assert got == pages


def test_removed_note_remains_a_cursor() -> None:
    world = tiny_world()
    with serve_simulator(world) as running:
        world.v2.notes["p2"]["readers"] = INSIDERS
        running.reindex()
        for sort in ("id", "tcdate:asc"):
            assert ask(running.base_url_v2, "/notes", invitation=f"{V}/-/Submission", sort=sort, after="p2").ids() == [
                "p3"
            ]
        del world.v2.notes["p2"]
        running.reindex()
        assert ask(running.base_url_v2, "/notes", invitation=f"{V}/-/Submission", sort="id", after="p2").ids() == ["p3"]


def test_offset_and_limit_select(v2: str) -> None:
    assert ask(v2, "/notes", invitation=f"{V}/-/Submission", sort="id", offset=1, limit=1).ids() == ["p2"]
    assert ask(v2, "/notes", invitation=f"{V}/-/Submission", sort="id", offset=3).ids() == []


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({}, None),
        ({"count": "true"}, 3),
        ({"count": "false"}, None),
        ({"offset": 1}, 3),
        ({"count": "true", "limit": 1}, 3),
    ],
)
def test_api_v2_counts_only_on_request(v2: str, query: dict[str, Any], count: int | None) -> None:
    assert ask(v2, "/notes", invitation=f"{V}/-/Submission", **query).json.get("count") == count


def test_api_v1_always_counts(v1: str) -> None:
    assert ask(v1, "/notes", invitation=f"{OLD}/-/Blind_Submission").json["count"] == 1
    assert ask(v1, "/notes", invitation="Nobody.cc/-/Submission").json == {"notes": [], "count": 0}


@pytest.mark.parametrize(
    "query",
    [{"limit": 1001}, {"limit": "many"}, {"offset": -1}, {"sort": "colour"}, {"trash": "perhaps"}, {"forums": "p1"},
     {"forum": ""}, {"sort": "number", "after": "nowhere"}],
)  # fmt: skip
def test_wrong_parameter_is_refused(v2: str, query: dict[str, Any]) -> None:
    reply = ask(v2, "/notes", **query)
    assert (reply.status, reply.json["name"], reply.json["status"]) == (400, "ValidationError", 400)


def test_limit_1001_is_answered_as_recorded(v2: str) -> None:
    error = ask(v2, "/notes", limit=1001).json
    assert error["message"].startswith("limit must be <= 1000 (")
    recorded = {"path": "limit", "comparison": "<=", "limit": 1000, "invalidValue": 1001}
    assert {name: error["details"][name] for name in recorded} == recorded


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({"forum": "p1"}, ["p1", "r1", "r2"]),
        ({"forum": "p1,p2"}, ["p1", "p2", "r1", "r2"]),
        ({"replyto": "p1"}, ["r1"]),
        ({"forum": "p1", "trash": "true"}, ["p1", "r1", "r2", "r4"]),
        ({"parentInvitations": f"{V}/-/Official_Review"}, ["r1", "r2"]),
        ({"invitation": f"{V}/Submission1/-/Official_Review"}, ["r1", "r2"]),
        ({"invitation": f"{V}/Submission1/-/.*"}, []),
        ({"invitation": f"{V}/-/Edit"}, ["p1", "p2", "p3"]),
        ({"domain": V, "number": "2,3"}, ["p2", "p3"]),
        ({"content.venueid": f"{V},{V}/Rejected_Submission"}, ["p1", "p2", "p3"]),
        ({"content.title": "Paper, 2"}, ["p2"]),
        ({"content.authors": "A. Uthor"}, []),
        ({"signature": f"{V}/Submission3/Authors"}, ["p3"]),
        ({"invitation": f"{V}/-/Submission", "mintcdate": 20}, ["p2", "p3"]),
        ({"ids": "p2,p4,nowhere"}, ["p2"]),
    ],
)
def test_api_v2_filters_notes(v2: str, query: dict[str, str], ids: list[str]) -> None:
    assert ask(v2, "/notes", sort="id", **query).ids() == ids


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({"invitation": f"{OLD}/-/Blind_Submission"}, ["b1"]),
        ({"invitation": f"{OLD}/Paper1/-/.*"}, ["v1"]),
        ({"invitation": f"{OLD}/Paper1/-/Official"}, []),
        ({"original": "o1"}, ["b1"]),
        ({"content.title": "Blind"}, ["b1"]),
    ],
)
def test_api_v1_filters_notes(v1: str, query: dict[str, str], ids: list[str]) -> None:
    assert ask(v1, "/notes", **query).ids() == ids


def test_api_v1_refuses_inner_wildcard(v1: str) -> None:
    assert ask(v1, "/notes", invitation=f"{OLD}/Paper.*/-/Official_Review").status == 400


def test_field_of_others_is_absent(v2: str) -> None:
    note = ask(v2, "/notes", id="p1").json["notes"][0]
    assert set(note["content"]) == {"title", "venueid", "pdf"}
    edits = ask(v2, "/notes/edits", note__id="p1").json["edits"]
    assert [set(edit["note"]["content"]) for edit in edits] == [{"pdf"}]
    assert set(ask(v2, "/groups", id=V).json["groups"][0]["content"]) == {"title"}


@pytest.mark.parametrize(
    ("path", "thing_id", "status", "name"),
    [
        ("/notes", "p4", 403, "ForbiddenError"),
        ("/notes", "nowhere", 404, "NotFoundError"),
        ("/notes", "r4", 404, "NotFoundError"),
        ("/notes", "b1", 404, "NotFoundError"),
        ("/notes/edits", "e1", 403, "ForbiddenError"),
        ("/groups", f"{V}/Program_Chairs", 403, "ForbiddenError"),
        ("/invitations", f"{V}/-/Nothing", 404, "NotFoundError"),
        ("/pdf", "p4", 403, "ForbiddenError"),
        ("/pdf", "r1", 404, "NotFoundError"),
        ("/notes/edits/pdf", "e1", 403, "ForbiddenError"),
        ("/references", "ref1", 404, "NotFoundError"),
    ],
)
def test_hidden_or_missing_id_is_error(v2: str, path: str, thing_id: str, status: int, name: str) -> None:
    reply = ask(v2, path, id=thing_id)
    assert (reply.status, reply.json["name"], reply.json["status"]) == (status, name, status)
    assert reply.json["message"].endswith(f"({reply.json['details']['reqId']})")


def test_details_come_raw(v2: str) -> None:
    asked = "replies,directReplies,replyCount,directReplyCount,revisions,invitation,tags"
    listed = {note["id"]: note["details"] for note in ask(v2, "/notes", forum="p1", details=asked).json["notes"]}
    root = listed["p1"]
    assert sorted(reply["id"] for reply in root["replies"]) == ["r1", "r2"]
    assert [reply["id"] for reply in root["directReplies"]] == ["r1"]
    assert (root["replyCount"], root["directReplyCount"], root["revisions"]) == (2, 1, False)
    assert root["invitation"]["id"] == f"{V}/-/Submission"
    assert "tags" not in root
    assert {"replies", "replyCount"}.isdisjoint(listed["r1"])


def test_original_is_for_its_readers() -> None:
    world = tiny_world()
    with serve_simulator(world) as running:
        assert ask(running.base_url_v1, "/notes", id="b1", details="original").json["notes"][0]["details"] == {}
        world.v1.notes["o1"]["readers"] = EVERYONE
        running.reindex()
        shown = ask(running.base_url_v1, "/notes", id="b1", details="original").json["notes"][0]["details"]
        assert shown["original"]["id"] == "o1"


def test_select_keeps_named_fields(v2: str) -> None:
    assert ask(v2, "/notes", id="p1", select="id,content.title").json["notes"] == [
        {"id": "p1", "content": {"title": {"value": "Paper, 1"}}}
    ]


def test_notes_are_searched_by_id(v2: str) -> None:
    assert ask(v2, "/notes/search", method="POST", body={"ids": ["p3", "p4", "r4", "p1"]}).ids() == ["p3", "p1"]
    assert ask(v2, "/notes/search", method="POST", body={"ids": "p3"}).status == 400
    assert ask(v2, "/notes/search", method="POST", body=["p3"]).status == 400


def test_edits_need_readers() -> None:
    world = tiny_world()
    with serve_simulator(world) as running:
        url, token = running.base_url_v2, write_token(world)
        assert ask(url, "/notes/edits", note__id="p1", sort="tcdate:asc").ids("edits") == ["e2"]
        world.v2.groups[f"{V}/Program_Chairs"]["members"] = [world.user]
        running.reindex()
        assert ask(url, "/notes/edits", note__id="p1", sort="tcdate:asc", token=token).ids("edits") == ["e1", "e2"]
        assert "authors" in ask(url, "/notes", id="p4", token=token).json["notes"][0]["content"]


def test_author_revisions_need_original(v1: str) -> None:
    assert ask(v1, "/references", referent="b1").json["count"] == 1
    listed = ask(v1, "/references", referent="b1", original="true").json
    assert listed["count"] == 2
    assert all("original" not in row.get("details", {}) for row in listed["references"])


def test_groups_are_found_many_ways(v2: str) -> None:
    for query in [{"prefix": "Invented"}, {"parent": "Invented.cc/2031"}, {"host": "Invented.cc"}, {"domain": V}]:
        assert ask(v2, "/groups", **query).ids("groups") == [V]
    assert ask(v2, "/groups", member=V).ids("groups") == ["venues"]


def test_past_invitations_need_a_request(v2: str) -> None:
    assert ask(v2, "/invitations", prefix=f"{V}/").ids("invitations") == [f"{V}/-/Edit"]
    assert len(ask(v2, "/invitations", prefix=f"{V}/", expired="true").ids("invitations")) == 2
    assert ask(v2, "/invitations", id=f"{V}/-/Submission").ids("invitations") == [f"{V}/-/Submission"]


def test_venues_come_from_the_group(v2: str) -> None:
    expected = {"venues": [{"id": V, "content": {"title": {"value": "Inventions"}}}]}
    assert ask(v2, "/venues").json == expected
    assert ask(v2, "/venues", ids=f"{V},nowhere").json == expected
