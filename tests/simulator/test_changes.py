"""Changes to an invented world between two visits appear as on the live service."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from peercorpus.simulator.server import changes
from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import Json, World
from peercorpus.simulator.world.world import build_world

AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
LATER = 1_900_000_000_000


@pytest.fixture
def world() -> World:
    return build_world(papers=8, venues=[AURORA, BOREALIS])


@pytest.fixture
def service(world: World) -> Iterator[Service]:
    with serve_simulator(world) as running:
        yield running


def ask(service: Service, api: int, path: str, token: str | None = None, **query: object) -> Any:
    url = service.base_url_v1 if api == 1 else service.base_url_v2
    parameters = {name.replace("__", "."): str(value) for name, value in query.items()}
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.get(url + path, params=parameters, headers=headers).json()


def first(notes: dict[str, Json], kind: str) -> Json:
    """The first public note whose invitation ends like that."""
    for note in notes.values():
        named = note.get("invitations") or [note["invitation"]]
        assert isinstance(named, list)
        if named[0].endswith(f"/-/{kind}") and note["readers"] == ["everyone"] and not note["ddate"]:
            return note
    raise AssertionError(kind)


def test_api_2_rating_shows_public_edits(world: World, service: Service) -> None:
    review = first(world.v2.notes, "Official_Review")
    before = ask(service, 2, "/notes/edits", note__id=review["id"])["edits"]
    changes.edit_rating(world, str(review["id"]), 10, LATER, public=False)
    service.reindex()
    note = ask(service, 2, "/notes", id=review["id"])["notes"][0]
    assert (note["content"]["rating"], note["tmdate"], note["tcdate"]) == ({"value": 10}, LATER, review["tcdate"])
    assert ask(service, 2, "/notes/edits", note__id=review["id"])["edits"] == before
    changes.edit_rating(world, str(review["id"]), 3, LATER + 1)
    service.reindex()
    shown = ask(service, 2, "/notes/edits", note__id=review["id"], sort="tcdate:asc")["edits"]
    assert shown[:-1] == sorted(before, key=lambda edit: edit["tcdate"])
    assert (shown[-1]["note"]["content"]["rating"], shown[-1]["tcdate"]) == ({"value": 3}, LATER + 1)
    assert review["content"] != note["content"]


def test_api_1_rating_keeps_every_version(world: World, service: Service) -> None:
    review = next(
        note
        for note in world.v1.notes.values()
        if str(note["invitation"]).endswith("/-/Official_Review")
        and not any(edit["referent"] == note["id"] for edit in world.v1.edits.values())
    )
    content = review["content"]
    assert isinstance(content, dict)
    changes.edit_rating(world, str(review["id"]), "8: Accept", LATER)
    service.reindex()
    assert ask(service, 1, "/notes", id=review["id"])["notes"][0]["content"]["rating"] == "8: Accept"
    references = ask(service, 1, "/references", referent=review["id"], sort="tcdate:asc")["references"]
    assert [(one["tcdate"], one["content"]["rating"]) for one in references] == [
        (review["tcdate"], content["rating"]),
        (LATER, "8: Accept"),
    ]


@pytest.mark.parametrize(("api", "root"), [(1, "Blind_Submission"), (2, "Submission")])
def test_reply_has_the_next_number(world: World, service: Service, api: int, root: str) -> None:
    notes = world.v1.notes if api == 1 else world.v2.notes
    forum_id = str(first(notes, root)["id"])
    before = ask(service, api, "/notes", forum=forum_id)["notes"]
    posted = changes.post_reply(world, forum_id, "A late word.", LATER)
    under = changes.post_reply(world, forum_id, "And an answer.", LATER + 1, under=posted, by="~Ada_Example1")
    service.reindex()
    after = {note["id"]: note for note in ask(service, api, "/notes", forum=forum_id)["notes"]}
    assert set(after) == {note["id"] for note in before} | {posted, under}
    assert (after[posted]["replyto"], after[under]["replyto"]) == (forum_id, posted)
    assert after[posted]["content"]["comment"] == ("A late word." if api == 1 else {"value": "A late word."})
    assert after[under]["number"] == after[posted]["number"] + 1
    assert after[posted]["signatures"][0].endswith("/Authors")
    assert after[under]["signatures"] == ["~Ada_Example1"]
    pattern = next(note for note in notes.values() if note["id"] != note["forum"])
    assert set(after[posted]) == set(pattern)
    newest = ask(service, api, "/notes", forum=forum_id, sort="tmdate:desc", offset=0, limit=2)["notes"]
    assert [note["id"] for note in newest] == [under, posted]


@pytest.mark.parametrize("api", [1, 2])
def test_deleted_note_leaves_its_answers(world: World, service: Service, api: int) -> None:
    notes = world.v1.notes if api == 1 else world.v2.notes
    review = first(notes, "Official_Review")
    forum_id, review_id = str(review["forum"]), str(review["id"])
    answer = changes.post_reply(world, forum_id, "We disagree.", LATER, under=review_id)
    changes.delete_note(world, review_id, LATER + 1)
    service.reindex()
    listed = {note["id"] for note in ask(service, api, "/notes", forum=forum_id)["notes"]}
    assert (review_id in listed, answer in listed) == (False, True)
    trash = {note["id"]: note for note in ask(service, api, "/notes", forum=forum_id, trash="true")["notes"]}
    assert (trash[review_id]["ddate"], trash[review_id]["tmdate"]) == (LATER + 1, LATER + 1)
    root = ask(service, api, "/notes", id=forum_id, details="replies")["notes"][0]
    assert review_id not in {reply["id"] for reply in root["details"]["replies"]}
    assert ask(service, api, "/notes", id=review_id)["status"] == 404


@pytest.mark.parametrize(("api", "root"), [(1, "Blind_Submission"), (2, "Submission")])
def test_hidden_note_is_for_insiders(world: World, service: Service, api: int, root: str) -> None:
    forum_id = str(first(world.v1.notes if api == 1 else world.v2.notes, root)["id"])
    changes.hide_note(world, forum_id)
    service.reindex()
    assert ask(service, api, "/notes", id=forum_id)["status"] == 403
    insider = write_token(world, user=world.insider)
    assert ask(service, api, "/notes", insider, id=forum_id)["notes"][0]["id"] == forum_id


@pytest.mark.parametrize("public", [True, False])
def test_api_2_pdf_is_another_file(world: World, service: Service, public: bool) -> None:
    note = first(world.v2.notes, "Submission")
    forum_id = str(note["id"])
    was = ask(service, 2, "/notes", id=forum_id)["notes"][0]
    edits = ask(service, 2, "/notes/edits", note__id=forum_id)["edits"]
    old = httpx2.get(f"{service.base_url_v2}{was['content']['pdf']['value']}")
    path = changes.replace_pdf(world, forum_id, LATER, stage="Revision", public=public)
    service.reindex()
    now = ask(service, 2, "/notes", id=forum_id)["notes"][0]
    assert (now["content"]["pdf"]["value"], now["tmdate"]) == (path, LATER)
    assert now["invitations"] == [*was["invitations"], f"{BOREALIS}/Submission{was['number']}/-/Revision"]
    new = httpx2.get(f"{service.base_url_v2}/pdf?id={forum_id}").content
    assert (new[:5], len(new), new != old.content) == (b"%PDF-", len(old.content), True)
    assert httpx2.get(f"{service.base_url_v2}{path}").content == new
    assert httpx2.get(f"{service.base_url_v2}{was['content']['pdf']['value']}").status_code == 404
    added = ask(service, 2, "/notes/edits", note__id=forum_id)["edits"]
    assert len(added) == len(edits) + public


def test_api_1_pdf_is_a_reference(world: World, service: Service) -> None:
    forum_id = str(first(world.v1.notes, "Blind_Submission")["id"])
    plain = ask(service, 1, "/references", referent=forum_id)["count"]
    path = changes.replace_pdf(world, forum_id, LATER)
    service.reindex()
    assert ask(service, 1, "/references", referent=forum_id)["count"] == plain
    last = ask(service, 1, "/references", referent=forum_id, original="true", sort="tcdate:desc")["references"][0]
    assert (last["tcdate"], last["content"]["pdf"]) == (LATER, path)
    assert httpx2.get(f"{service.base_url_v1}/references/pdf?id={last['id']}").content.startswith(b"%PDF-")


@pytest.mark.parametrize(("api", "root"), [(1, "Blind_Submission"), (2, "Submission")])
def test_withdrawn_paper_moves(world: World, service: Service, api: int, root: str) -> None:
    notes = world.v1.notes if api == 1 else world.v2.notes
    venue = AURORA if api == 1 else BOREALIS
    forum_id = str(first(notes, root)["id"])
    reply_id = changes.withdraw(world, forum_id, LATER)
    service.reindex()
    note = ask(service, api, "/notes", id=forum_id)["notes"][0]
    if api == 1:
        assert note["invitation"] == f"{venue}/-/Withdrawn_Submission"
        listed = ask(service, 1, "/notes", invitation=f"{venue}/-/Blind_Submission")["notes"]
        assert forum_id not in {one["id"] for one in listed}
    else:
        assert note["content"]["venueid"]["value"] == f"{venue}/Withdrawn_Submission"
        assert note["content"]["venue"]["value"] == "Borealis 2024 Conference Withdrawn Submission"
        assert f"{venue}/-/Withdrawn_Submission" in note["invitations"]
    assert note["tmdate"] == LATER
    reply = ask(service, api, "/notes", id=reply_id)["notes"][0]
    assert (reply["forum"], reply["replyto"], reply["tcdate"]) == (forum_id, forum_id, LATER)


def test_change_does_not_affect_the_twin(world: World) -> None:
    twin = build_world(papers=8, venues=[AURORA, BOREALIS])
    copy = world.copy()
    for notes, kind in ((copy.v1.notes, "Blind_Submission"), (copy.v2.notes, "Submission")):
        forum_id = str(first(notes, kind)["id"])
        changes.replace_pdf(copy, forum_id, LATER)
        changes.withdraw(copy, forum_id, LATER + 1)
        changes.delete_note(copy, forum_id, LATER + 2)
    for notes in (copy.v1.notes, copy.v2.notes):
        changes.edit_rating(copy, str(first(notes, "Official_Review")["id"]), 1, LATER)
    assert (world.v1.notes, world.v2.notes) == (twin.v1.notes, twin.v2.notes)
    assert (world.v1.edits, world.v2.edits) == (twin.v1.edits, twin.v2.edits)
    assert world.v1.author_edits == twin.v1.author_edits
