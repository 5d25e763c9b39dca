"""Each fault by name: what is sent, and that a repeated request succeeds if the fault is temporary."""

import gzip
import io
import json
import re
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import httpx2
import pytest

from commands import Run
from peercorpus.errors import PeercorpusError
from peercorpus.simulator.server.damage import VALUES, slow
from peercorpus.simulator.server.faults import FAULTS, Faults, faults_by_name, on_path, together, wrong_host
from peercorpus.simulator.server.requests import Request, write_token
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.world import build_world
from tiny_world import OLD, V, tiny_world

LIST = f"/notes?invitation={V}/-/Submission&sort=id"
PAIR = "/attachment?name=pdf&ids=p1,p2"
WORLD = tiny_world()
TOKEN = {"Authorization": f"Bearer {write_token(WORLD)}"}


@contextmanager
def serving(faults: Faults) -> Iterator[tuple[Service, httpx2.Client]]:
    """A service with those faults, and a client of its API v2."""
    with serve_simulator(WORLD, faults=faults) as service, httpx2.Client(base_url=service.base_url_v2) as client:
        yield service, client


def strike(name: str, path: str = LIST, headers: dict[str, str] | None = None) -> httpx2.Response:
    """Return the response to the second of three requests if every second fails; the others succeed."""
    with serving(faults_by_name(name, every=2)) as (_, client):
        first, struck, third = (client.get(path, headers=headers) for _ in range(3))
        assert first.status_code == third.status_code == 200
        assert first.content == third.content
        return struck


def members(answer: httpx2.Response) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def ids(answer: httpx2.Response) -> list[str]:
    return [note["id"] for note in answer.json()["notes"]]


def test_rate_limit_has_a_header() -> None:
    answer = strike("rate_limit")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert answer.json()["name"] == "RateLimitError"


def test_rate_limit_in_words_has_a_message() -> None:
    answer = strike("rate_limit_in_words")
    assert (answer.status_code, "retry-after" in answer.headers) == (429, False)
    assert "Please try again in 1 seconds (" in answer.json()["message"]
    assert set(answer.json()["details"]) == {"reqId"}


def test_rate_limit_reset_time_has_details() -> None:
    asked_at = datetime.now(UTC)
    answer = strike("rate_limit_reset_time")
    assert (answer.status_code, "retry-after" in answer.headers) == (429, False)
    assert "try again" not in answer.json()["message"]
    reset = datetime.fromisoformat(answer.json()["details"]["resetTime"])
    assert timedelta(seconds=0.99) < reset - asked_at < timedelta(seconds=5)


def test_rate_limit_gzip_is_compressed() -> None:
    with (
        serving(faults_by_name("rate_limit_gzip", every=1)) as (_, client),
        client.stream("GET", LIST, headers={"Accept-Encoding": "identity"}) as answer,
    ):
        raw = b"".join(answer.iter_raw())
    assert (answer.status_code, answer.headers["content-encoding"]) == (429, "gzip")
    assert "try again in 1 seconds" in json.loads(gzip.decompress(raw))["message"]


def test_rate_limit_silent_states_no_time() -> None:
    answer = strike("rate_limit_silent")
    assert (answer.status_code, "retry-after" in answer.headers) == (429, False)
    assert re.sub(r" \(.*\)", "", answer.json()["message"]) == "Too many requests"
    assert set(answer.json()["details"]) == {"reqId"}


@pytest.mark.parametrize(
    ("name", "status", "content_type", "start"),
    [
        ("error_500", 500, "application/json", b'{"name":"InternalServerError"'),
        ("error_502_html", 502, "text/html", b"<!DOCTYPE html>"),
        ("error_503_empty", 503, "application/json", b""),
    ],
)
def test_server_error_has_three_forms(name: str, status: int, content_type: str, start: bytes) -> None:
    answer = strike(name)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (status, content_type)
    assert answer.content.startswith(start)
    assert bool(answer.content) == bool(start)


@pytest.mark.parametrize("name", ["dropped", "cut_off"])
def test_connection_closes_early(name: str) -> None:
    with serving(faults_by_name(name, every=2)) as (_, client):
        assert client.get(LIST).status_code == 200
        with pytest.raises(httpx2.RemoteProtocolError):
            client.get(LIST)
        assert client.get(LIST).status_code == 200


@pytest.mark.slow
def test_slow_is_the_correct_response_delayed() -> None:
    with serving(faults_by_name("slow", every=2)) as (_, client):
        first, began = client.get(LIST), time.monotonic()
        assert client.get(LIST).content == first.content
        assert time.monotonic() - began >= 1
        with pytest.raises(httpx2.ReadTimeout):
            [client.get(LIST, timeout=0.2) for _ in range(2)]


def test_truncated_json_is_half() -> None:
    answer = strike("truncated_json", headers={"Accept-Encoding": "identity"})
    assert (answer.status_code, int(answer.headers["content-length"])) == (200, len(answer.content))
    with pytest.raises(json.JSONDecodeError):
        answer.json()


def test_truncated_file_is_half() -> None:
    answer = strike("truncated_file", "/pdf?id=p1")
    assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"%PDF-c", "6")
    whole = {"1_pdf.pdf": b"%PDF-current", "2_pdf.pdf": b"%PDF-current"}
    assert members(strike("truncated_file", PAIR)) == whole | {"1_pdf.pdf": b"%PDF-c"}


def test_expired_token_refuses_no_guest() -> None:
    answer = strike("expired_token", headers=TOKEN)
    assert (answer.status_code, answer.json()["name"]) == (401, "TokenExpiredError")
    assert strike("expired_token").status_code == 200


def test_challenge_is_for_guests() -> None:
    with serving(faults_by_name("challenge")) as (_, client):
        for path in (LIST, "/pdf?id=p1", "/notes/edits?note.id=p1"):
            refused = client.get(path)
            assert (refused.status_code, refused.json()["name"]) == (403, "ChallengeRequiredError")
            assert client.get(path, headers=TOKEN).status_code == 200
        assert client.get(f"/groups?id={V}").status_code == 200


def test_browser_check_redirects_guests() -> None:
    with serving(faults_by_name("browser_check")) as (_, client):
        answer = client.get(LIST)
        assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (302, "/challenge")
        page = client.get(LIST, follow_redirects=True)
        assert (page.status_code, page.headers["content-type"].partition(";")[0]) == (200, "text/html")
        assert client.get(LIST, headers=TOKEN).status_code == 200


def test_wrong_host_finds_no_note() -> None:
    with serving(faults_by_name("wrong_host")) as (service, client):
        assert client.get(LIST).json() == {"notes": [], "count": 0}
        assert client.get("/notes/edits?note.id=p1").json() == {"edits": [], "count": 0}
        for path in ("/notes?id=p1", "/pdf?id=p1", PAIR):
            assert (client.get(path).status_code, client.get(path).json()["name"]) == (404, "NotFoundError")
        assert client.get(f"/groups?id={V}").status_code == 200
        assert httpx2.get(f"{service.base_url_v1}/notes?id=b1").status_code == 200
    with serving(wrong_host("v1")) as (service, client):
        assert httpx2.get(f"{service.base_url_v1}/references?referent=b1").json() == {"references": [], "count": 0}
        assert ids(client.get(LIST)) == ["p1", "p2", "p3"]


def test_no_count_in_any_list() -> None:
    with serving(faults_by_name("no_count")) as (service, client):
        assert set(client.get(f"{LIST}&count=true").json()) == {"notes"}
        listed = httpx2.get(f"{service.base_url_v1}/notes?invitation={OLD}/-/Blind_Submission")
        assert [set(listed.json()), ids(listed)] == [{"notes"}, ["b1"]]
        assert client.get("/notes?id=nowhere").json()["status"] == 404


def test_ignores_after_restarts_every_page() -> None:
    with serving(faults_by_name("ignores_after")) as (_, client):
        assert ids(client.get(f"{LIST}&limit=2&after=p2")) == ids(client.get(f"{LIST}&limit=2")) == ["p1", "p2"]


@pytest.mark.parametrize("second", ["after=p2", "offset=2"])
def test_shifting_list_drops_and_inserts(second: str) -> None:
    with serving(faults_by_name("shifting_list")) as (service, client):
        first = client.get(f"{LIST}&limit=2&count=true")
        assert (ids(first), first.json()["count"]) == (["p1", "p2"], 3)
        behind = client.get(f"{LIST}&limit=2&count=true&{second}")
        assert (ids(behind), behind.json()["count"]) == (["p3"], 3)
        assert ids(client.get(LIST)) == ["02", "p1", "p3"]
        assert client.get("/notes?id=p2").status_code == 403
        service.reindex()
        assert ids(client.get(LIST)) == ["02", "p1", "p3"]
    assert WORLD.v2.notes["p2"]["readers"] == ["everyone"]
    assert "02" not in WORLD.v2.notes


@pytest.mark.parametrize(("second", "left"), [("after=p2", ["p3"]), ("offset=2", [])])
def test_note_vanishes_and_offsets_slip(second: str, left: list[str]) -> None:
    with serving(faults_by_name("note_vanishes")) as (_, client):
        assert ids(client.get(f"{LIST}&limit=2")) == ["p1", "p2"]
        behind = client.get(f"{LIST}&limit=2&count=true&{second}")
        assert (ids(behind), behind.json()["count"]) == (left, 2)
        assert ids(client.get(f"{LIST}&limit=2&after=p1")) == ["p3"]


def test_not_a_pdf_is_html() -> None:
    for path in ("/pdf?id=p1", PAIR, "/notes/edits/attachment?id=e2&name=pdf"):
        answer = strike("not_a_pdf", path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert b"<title>Error | OpenReview</title>" in answer.content


def test_not_a_pdf_inside_is_html() -> None:
    for path, kind in (("/pdf?id=p1", "application/pdf"), (PAIR, "application/zip")):
        answer = strike("not_a_pdf_inside", path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        assert b"<title>Error | OpenReview</title>" in answer.content


def test_zip_without_member_lacks_its_last() -> None:
    with serving(faults_by_name("zip_without_member")) as (_, client):
        assert list(members(client.get(PAIR))) == ["1_pdf.pdf"]
        assert client.get("/pdf?id=p2").content == b"%PDF-current"


def test_zip_of_other_has_no_pdf() -> None:
    with serving(faults_by_name("zip_of_other")) as (_, client):
        held = members(client.get(PAIR))
        assert [content[:5] for content in held.values()] == [b"<!DOC", b"%PDF-"]


@pytest.mark.slow
def test_zip_bomb_inflates_enormously() -> None:
    with serving(faults_by_name("zip_bomb")) as (_, client):
        answer = client.get(PAIR, timeout=60)
        assert len(answer.content) < 1 << 20
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            with archive.open("1_pdf.pdf") as bomb:
                assert bomb.read(5) == b"%PDF-"
        assert sizes == {"1_pdf.pdf": (512 << 20) + 9, "2_pdf.pdf": 12}


def test_huge_file_is_streamed() -> None:
    with serving(faults_by_name("huge_file")) as (_, client):
        with client.stream("GET", "/pdf?id=p2") as answer:
            assert int(answer.headers["content-length"]) == (2 << 30) + 9
            assert next(answer.iter_raw(5)) == b"%PDF-"
        assert client.get("/pdf?id=p1").content == b"%PDF-current"
        assert list(members(client.get("/attachment?name=pdf&ids=p1,p2,p3"))) == ["1_pdf.pdf", "3_pdf.pdf"]


def test_drips_byte_by_byte() -> None:
    with serving(faults_by_name("drips", every=1)) as (_, client), pytest.raises(httpx2.ReadTimeout):
        client.get(LIST, timeout=0.1)


@pytest.mark.parametrize("name", VALUES)
def test_same_submission_is_unreadable_throughout(name: str) -> None:
    with serving(faults_by_name(f"unreadable_{name}")) as (_, client):
        whole, first, second = (client.get(path).content for path in (LIST, f"{LIST}&limit=1", f"{LIST}&after=p1"))
    assert VALUES[name] + b"," in whole.split(b'"further":')[1]
    assert VALUES[name] + b"," in first.split(b'"further":')[1]
    assert b'"further"' not in second


def test_login_429_takes_the_second() -> None:
    account = {"id": WORLD.user, "password": WORLD.password}
    with serving(faults_by_name("login_429")) as (_, client):
        refused = client.post("/login", json=account)
        assert (refused.status_code, "retry-after" in refused.headers) == (429, False)
        sentence = "You have made 4 requests, surpassing the limit of 3 requests. Please try again in 1 seconds"
        assert sentence in refused.json()["message"]
        assert client.post("/login", json=account).status_code == 200
        assert client.get(LIST).status_code == 200


def test_faults_take_turns() -> None:
    with serving(faults_by_name("error_500", "error_502_html", "error_503_empty")) as (_, client):
        statuses = [client.get(LIST).status_code for _ in range(30)]
    assert [(place, status) for place, status in enumerate(statuses, 1) if status != 200] == [
        (5, 500), (10, 502), (15, 503), (20, 500), (25, 502), (30, 503)
    ]  # fmt: skip


def test_no_offset_refuses_every_list() -> None:
    with serving(faults_by_name("no_offset")) as (_, client):
        assert [client.get(f"{LIST}{rest}").status_code for rest in ("", "&offset=0", "&offset=2")] == [200, 400, 400]
        assert client.get(f"{LIST}&offset=0").json()["name"] == "ValidationError"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("no_offset_notes", "/notes"),
        ("no_offset_edits", "/notes/edits"),
        ("no_offset_references", "/references"),
        ("no_offset_invitations", "/invitations"),
    ],
)
def test_no_offset_of_one_route(name: str, path: str) -> None:
    refuse = faults_by_name(name)
    paths = ("/notes", "/notes/edits", "/references", "/invitations", "/groups")
    asked = [Request("GET", "v1", one, {"offset": "0"}) for one in paths]
    assert [one.path for one in asked if refuse(one) is not None] == [path]


def test_sort_allowlist_refuses_other_names() -> None:
    with serving(faults_by_name("sort_allowlist")) as (_, client):
        unsorted = LIST.removesuffix("&sort=id")
        allowed = ("tmdate:desc", "tcdate", "number", "pdate", "id")
        assert {client.get(f"{unsorted}&sort={name}").status_code for name in allowed} == {200}
        assert client.get(f"{unsorted}&sort=cdate").json()["name"] == "EnumError"


def test_simultaneous_faults_are_combined() -> None:
    late = on_path("/notes", slow(0.3), times=9)
    with serving(together(faults_by_name("no_count", "ignores_after"), late)) as (_, client):
        began = time.monotonic()
        answer = client.get(f"{LIST}&after=p2&count=true")
        assert (ids(answer), set(answer.json())) == (["p1", "p2", "p3"], {"notes"})
        assert time.monotonic() - began >= 0.3


def test_unknown_fault_lists_the_known() -> None:
    with pytest.raises(PeercorpusError, match=r"'rain'.* rate_limit, .*login_429\.$"):
        faults_by_name("slow", "rain")


def test_every_named_fault_is_tested_here(run: Run) -> None:
    tests = " ".join(name for name in globals() if name.startswith("test_"))
    parametrised = {"error_500", "error_502_html", "error_503_empty", "dropped", "cut_off"}
    parametrised |= {f"no_offset_{route}" for route in ("notes", "edits", "references", "invitations")}
    parametrised |= {f"unreadable_{name}" for name in VALUES}
    assert {name for name in FAULTS if f"test_{name}_" not in tests} == parametrised
    listed = run("simulate", "--help").out
    assert all(re.search(rf"\b{name}\b", listed) for name in FAULTS)
    assert [name for name in re.findall(r"\b[a-z]+_[a-z0-9_]+\b", listed) if name not in FAULTS] == []


EDITED = build_world(papers=3, venues=["Borealis.cc/2024/Conference"])
OF_VENUE = "/notes/edits?domain=Borealis.cc/2024/Conference&sort=id"


@contextmanager
def serving_edits(name: str) -> Iterator[httpx2.Client]:
    """A client of a service with many edits, and with a fault if one is named."""
    faults = faults_by_name(*filter(None, [name]))
    with serve_simulator(EDITED, faults=faults) as service, httpx2.Client(base_url=service.base_url_v2) as client:
        yield client


def edits(name: str, path: str) -> list[dict[str, Any]]:
    with serving_edits(name) as client:
        return list(client.get(path).json()["edits"])


def pages(name: str) -> list[list[str]]:
    """Return the ids on the pages of a venue's edits, two per page."""
    found: list[list[str]] = []
    with serving_edits(name) as client:
        after = ""
        while not found or (found[-1] and len(found) < 9):
            rows = client.get(f"{OF_VENUE}&limit=2{after}").json()["edits"]
            found.append([row["id"] for row in rows])
            after = f"&after={rows[-1]['id']}" if rows else ""
    return found[:-1]


def test_no_domain_leaves_edits_of_notes() -> None:
    (first, *_) = edits("", OF_VENUE)
    with serving_edits("no_domain") as client:
        assert client.get(OF_VENUE).status_code == 400
        assert client.get(f"/notes/edits?note.id={first['note']['id']}").status_code == 200


def test_ignores_domain_gives_all_venues() -> None:
    nowhere = "/notes/edits?domain=Nowhere&sort=id"
    assert edits("", nowhere) == []
    assert edits("ignores_domain", nowhere) == edits("", "/notes/edits?sort=id") != []


def test_unknown_domain_gives_an_empty_list() -> None:
    assert edits("", OF_VENUE) != []
    assert edits("unknown_domain", OF_VENUE) == []


def test_edits_lost_lacks_first_rows() -> None:
    whole = [edit["id"] for edit in edits("", OF_VENUE)]
    assert len(whole) > 3
    assert [one for page in pages("edits_lost") for one in page] == [whole[0], whole[1], *whole[3::2]]


def test_edits_repeated_begins_with_last() -> None:
    found = pages("edits_repeated")
    assert len(found) > 1
    assert all(following[0] == page[-1] for page, following in pairwise(found))
    assert list(dict.fromkeys(one for page in found for one in page)) == [edit["id"] for edit in edits("", OF_VENUE)]


def test_edits_of_others_has_one() -> None:
    (added,) = [edit for edit in edits("edits_of_others", OF_VENUE) if edit["domain"] != "Borealis.cc/2024/Conference"]
    assert added["invitation"].startswith(f"{added['domain']}/-/")


def test_edits_of_unlisted_has_one() -> None:
    known = {edit["note"]["id"] for edit in edits("", OF_VENUE)}
    (added,) = [edit for edit in edits("edits_of_unlisted", OF_VENUE) if edit["note"]["id"] not in known]
    assert added["domain"] == "Borealis.cc/2024/Conference"
    assert added["note"]["id"] not in EDITED.v2.notes
