"""The simulated service: its protocol, files, accounts, budgets and faults, and how it runs."""

import base64
import gzip
import http.client
import io
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import msgspec
import pytest

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.server.damage import (
    rate_limited,
    server_error,
)
from peercorpus.simulator.server.faults import on_path
from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.server.service import Service, ServiceBudget, serve_forever, serve_simulator
from peercorpus.simulator.world.holdings import Holdings, World
from peercorpus.simulator.world.world import build_world
from tiny_world import CURRENT, OLD, SUBMITTED, Reply, V, ask, free_neighbours, tiny_world


def test_ports_are_consecutive_on_loopback(tiny: World) -> None:
    port = free_neighbours()
    with serve_simulator(tiny, port) as running:
        assert (running.base_url_v1, running.base_url_v2) == (
            f"http://127.0.0.1:{port}",
            f"http://127.0.0.1:{port + 1}",
        )
        assert ask(running.base_url_v2, "/notes", id="p1").status == 200
        with pytest.raises(PeercorpusError, match=f"{port} .*v1"), serve_simulator(tiny, port):
            pass
    with serve_simulator(tiny) as running:
        assert running.base_url_v1.startswith("http://127.0.0.1:")
        assert running.base_url_v1 != running.base_url_v2


def test_files_are_served_with_names(v1: str, v2: str) -> None:
    for url, path, query, content in [
        (v2, "/pdf", {"id": "p1"}, b"%PDF-current"),
        (v2, "/attachment", {"id": "p1", "name": "pdf"}, b"%PDF-current"),
        (v2, "/attachment", {"ids": "p1", "name": "pdf"}, b"%PDF-current"),
        (v2, "/notes/edits/attachment", {"id": "e2", "name": "pdf"}, b"%PDF-current"),
        (v2, "/notes/edits/pdf", {"id": "e2", "name": "pdf"}, b"%PDF-current"),
        (v1, "/pdf", {"id": "b1"}, b"%PDF-current"),
        (v1, "/references/pdf", {"id": "ref1"}, b"%PDF-own"),
        (v1, "/references/attachment", {"id": "ref1", "name": "pdf"}, b"%PDF-own"),
    ]:
        reply = ask(url, path, **query)
        assert (reply.status, reply.body, reply.headers["content-type"]) == (200, content, "application/pdf")
        assert ".pdf" in reply.headers["content-disposition"]


def test_several_files_are_a_zip(v2: str) -> None:
    reply = ask(v2, "/attachment", ids="p1,p2,p4,r1", name="pdf")
    with zipfile.ZipFile(io.BytesIO(reply.body)) as archive:
        assert archive.namelist() == ["1_pdf.pdf", "2_pdf.pdf"]
    assert ask(v2, "/attachment", ids=",".join(["p1"] * 51), name="pdf").status == 400


@pytest.mark.parametrize(
    "query", [{"id": "../../etc/passwd"}, {"id": "p1", "name": "../pdf"}, {"id": "p1", "name": "title"}]
)
def test_a_query_never_names_a_path(v2: str, query: dict[str, str]) -> None:
    assert ask(v2, "/attachment", **{"name": "pdf", **query}).status == 404
    assert ask(v2, "/../../etc/passwd").status == 404


@pytest.mark.parametrize("api", ["base_url_v1", "base_url_v2"])
def test_one_token_serves_both_hosts(tiny_service: Service, tiny: World, api: str) -> None:
    account = {"id": tiny.user, "password": tiny.password, "expiresIn": None}
    reply = ask(getattr(tiny_service, api), "/login", method="POST", body=account, token="old.and.bad")
    token = reply.json["token"]
    assert token.count(".") == 2
    assert reply.json["user"]["id"] == tiny.user
    for url in (tiny_service.base_url_v1, tiny_service.base_url_v2):
        assert ask(url, "/profiles", token=token).json["profiles"][0]["id"] == "~Simulated_Reader1"
        assert ask(url, "/profiles", id="~Simulated_Reader1").json["profiles"] == []
        assert ask(url, "/refreshToken", method="POST", token=token).json["token"].count(".") == 2
        assert ask(url, "/refreshToken", method="POST").status == 401


def test_wrong_password_is_refused(v2: str, tiny: World) -> None:
    reply = ask(v2, "/login", method="POST", body={"id": tiny.user, "password": "guess"})
    assert (reply.status, reply.json["name"]) == (400, "LoginError")


def test_old_or_foreign_token_is_refused(v2: str, tiny: World) -> None:
    for token in (write_token(tiny, -1), "a.b.c", "opaque", write_token(World(Holdings(), Holdings(), password="x"))):
        reply = ask(v2, "/notes", id="p1", token=token)
        assert (reply.status, reply.json["name"]) == (401, "TokenExpiredError")


def test_guests_may_be_challenged(tiny: World) -> None:
    with serve_simulator(tiny, sign_in_required=True) as running:
        v1, v2, token = running.base_url_v1, running.base_url_v2, write_token(tiny)
        for url, path, query in [
            (v2, "/notes", {"id": "p1"}), (v2, "/notes/edits", {"id": "e2"}), (v2, "/pdf", {"id": "p1"}),
            (v2, "/attachment", {"id": "p1", "name": "pdf"}), (v1, "/references", {"referent": "b1"}),
        ]:  # fmt: skip
            refused = ask(url, path, **query)
            assert (refused.status, refused.json["name"]) == (403, "ChallengeRequiredError")
            assert ask(url, path, token=token, **query).status == 200
        assert ask(v2, "/groups", id=V).status == 200
        assert ask(v2, "/invitations", id=f"{V}/-/Submission").status == 200


def test_every_response_states_the_budget(tiny: World) -> None:
    with serve_simulator(tiny, budget=ServiceBudget(limit=2, window_s=60)) as running:
        first = ask(running.base_url_v2, "/notes", id="p1").headers
        assert (first["ratelimit-policy"], first["ratelimit-remaining"]) == ("2;w=60", "1")
        assert int(first["x-ratelimit-reset"]) > time.time()
        assert ask(running.base_url_v2, "/notes/edits", id="nowhere").headers["ratelimit-remaining"] == "0"
        refused = ask(running.base_url_v2, "/notes", id="p1")
        assert (refused.status, refused.json["name"], refused.json["details"]["limit"]) == (429, "RateLimitError", 2)
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert ask(running.base_url_v1, "/notes", id="b1").status == 200
        assert ask(running.base_url_v2, "/groups", id=V).status == 200


@pytest.mark.parametrize(("seconds", "header"), [(None, None), (7, "7"), (3613, "3613")])
def test_rate_limit_states_its_end(tiny: World, seconds: int | None, header: str | None) -> None:
    with serve_simulator(tiny, faults=on_path("/notes", rate_limited(seconds))) as running:
        failed = ask(running.base_url_v2, "/notes", id="p1")
        assert failed.headers.get("retry-after") == header
        words = {1: "1 seconds", 7: "7 seconds", 3613: "60 minutes and 13 seconds"}[seconds or 1]
        assert f"try again in {words} (" in failed.json["message"]


def test_fault_can_be_delayed(tiny: World) -> None:
    with serve_simulator(tiny, faults=on_path("/groups", server_error(), after=1, times=2, api="v2")) as running:
        assert ask(running.base_url_v1, "/groups", id=OLD).status == 200
        assert [ask(running.base_url_v2, "/groups", id=V).status for _ in range(4)] == [200, 500, 500, 200]


def test_requests_are_logged(tiny: World, capfd: pytest.CaptureFixture[str]) -> None:
    with serve_simulator(tiny) as running:
        connection = http.client.HTTPConnection(urlsplit(running.base_url_v2).netloc, timeout=10)
        for number in (1, 2):
            connection.request("GET", f"/notes?id=p{number}&details=replies")
            assert connection.getresponse().read()
        assert [(entry.method, entry.api, entry.path, entry.query["id"]) for entry in running.requests] == [
            ("GET", "v2", "/notes", "p1"),
            ("GET", "v2", "/notes", "p2"),
        ]
        connection.close()
    assert capfd.readouterr() == ("", "")


def test_many_clients_are_served_at_once(tiny_service: Service) -> None:
    replies: list[Reply] = []
    threads = [
        threading.Thread(target=lambda: replies.append(ask(tiny_service.base_url_v2, "/notes", forum="p1")))
        for _ in range(24)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [reply.status for reply in replies] == [200] * 24


def test_serving_continues_until_interrupted(tiny: World) -> None:
    statuses: list[int] = []

    def ready(running: Service) -> None:
        statuses.append(ask(running.base_url_v2, "/notes", id="p1").status)
        raise KeyboardInterrupt

    serve_forever(serve_simulator(tiny), ready)
    assert statuses == [200]


WORLD = tiny_world()
AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with serve_simulator(WORLD) as running, httpx2.Client(base_url=running.base_url_v2) as opened:
        yield opened


def test_long_json_is_compressed(client: httpx2.Client) -> None:
    path = f"/notes?invitation={V}/-/Submission&sort=id"
    with client.stream("GET", path, headers={"Accept-Encoding": "gzip, deflate"}) as answer:
        raw = b"".join(answer.iter_raw())
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert (answer.headers["content-encoding"], "content-encoding" in plain.headers) == ("gzip", False)
    assert (gzip.decompress(raw), int(answer.headers["content-length"])) == (plain.content, len(raw))
    assert client.get(path).json() == plain.json()


@pytest.mark.parametrize("path", ["/notes?id=nowhere", "/pdf?id=p1"])
def test_short_json_is_sent_plainly(client: httpx2.Client, path: str) -> None:
    assert "content-encoding" not in client.get(path).headers


def test_static_path_serves_current_file(client: httpx2.Client) -> None:
    assert client.get(CURRENT).content == b"%PDF-current"
    assert client.get(CURRENT).headers["content-type"] == "application/pdf"
    for path in (SUBMITTED, "/pdf/nothing.pdf", "/pdf/%2e%2e%2fnotes"):
        assert client.get(path).status_code == 404
    with serve_simulator(WORLD, sign_in_required=True) as running:
        signed_in = {"Authorization": f"Bearer {write_token(WORLD)}"}
        assert httpx2.get(running.base_url_v2 + CURRENT).status_code == 403
        assert httpx2.get(running.base_url_v2 + CURRENT, headers=signed_in).status_code == 200


@pytest.mark.parametrize(
    ("query", "count", "ids"),
    [
        ({"term": "PAPER, 2"}, 1, ["p2"]),
        ({"term": "paper", "source": "forum", "limit": "2"}, 3, ["p3", "p2"]),
        ({"term": "paper", "limit": "2", "offset": "2"}, 3, ["p1"]),
        ({"query": "6", "source": "reply"}, 2, ["r2", "r1"]),
        ({"term": "paper", "content": "title", "group": V}, 3, ["p3", "p2", "p1"]),
        ({"term": "paper", "content": "rating"}, 0, []),
        ({"term": "paper", "group": "Elsewhere.cc"}, 0, []),
        ({"term": "A. Uthor"}, 0, []),
    ],
)
def test_search_finds_readable_notes(client: httpx2.Client, query: dict[str, str], count: int, ids: list[str]) -> None:
    found = client.get("/notes/search", params=query).json()
    assert (found["count"], [note["id"] for note in found["notes"]]) == (count, ids)


@pytest.mark.parametrize("query", [{}, {"term": "paper", "source": "web"}, {"term": "paper", "limit": "1001"}])
def test_wrong_search_is_refused(client: httpx2.Client, query: dict[str, str]) -> None:
    assert client.get("/notes/search", params=query).json()["name"] == "ValidationError"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("api", "query"), [("v1", f"invitation={AURORA}/.*"), ("v2", f"domain={BOREALIS}")], ids=["v1", "v2"]
)
def test_one_filter_lists_all_notes(api: str, query: str) -> None:
    built = build_world(papers=9, venues=[AURORA, BOREALIS])
    with serve_simulator(built) as running:
        url = running.base_url_v1 if api == "v1" else running.base_url_v2
        pages = [
            httpx2.get(f"{url}/notes?{query}&sort=tmdate:desc&offset={offset}&limit=20").json()
            for offset in (0, 20, 40, 60)
        ]
        notes = [note for page in pages for note in page["notes"]]
        oldest = notes[9]["tcdate"]
        recent = httpx2.get(f"{url}/notes?{query}&mintcdate={oldest}&limit=1000&count=true").json()
    holdings = built.v1 if api == "v1" else built.v2
    public = [note for note in holdings.notes.values() if note["readers"] == ["everyone"] and not note["ddate"]]
    assert 20 < len(public) < 80
    assert [page["count"] for page in pages] == [len(public)] * 4
    assert {note["id"] for note in notes} == {note["id"] for note in public}
    assert [note["tmdate"] for note in notes] == sorted((note["tmdate"] for note in notes), reverse=True)
    assert recent["count"] == sum(note["tcdate"] >= oldest for note in notes) < len(notes)


ACCOUNT = {"id": WORLD.user, "password": WORLD.password}
MANY = ServiceBudget(login_limit=100)
WITH_CODE = """
import sys
from openreview.api import OpenReviewClient
url, user, password, code = sys.argv[1:]
client = OpenReviewClient(baseurl=url, username=user, password=password, mfa_code_provider=lambda method: code)
print(client.profile.id, client.user["id"])
"""


@pytest.fixture(scope="module")
def strict() -> Iterator[Service]:
    with serve_simulator(WORLD, mfa=True, sign_in_required=True, budget=MANY) as running:
        yield running


def post(strict: Service, path: str, body: object, token: str | None = None) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.post(f"{strict.base_url_v2}{path}", json=body, headers=headers)


def begin(strict: Service, **more: object) -> dict[str, object]:
    pending: dict[str, object] = post(strict, "/login", ACCOUNT | more).json()
    return pending


def life_s(token: str) -> int:
    payload = msgspec.json.decode(base64.urlsafe_b64decode(token.split(".")[1] + "==="))
    return int(payload["exp"] - payload["iat"])


def test_code_gives_the_token(strict: Service) -> None:
    pending = begin(strict, expiresIn=77)
    assert {name: pending[name] for name in ("mfaPending", "mfaMethods", "preferredMethod")} == {
        "mfaPending": True,
        "mfaMethods": ["totp", "emailOtp"],
        "preferredMethod": "totp",
    }
    brought = {"mfaPendingToken": pending["mfaPendingToken"], "method": "totp", "code": WORLD.code}
    answer = post(strict, "/mfa/verify", brought).json()
    assert (answer["user"]["id"], life_s(answer["token"])) == (WORLD.user, 77)
    signed_in = {"Authorization": f"Bearer {answer['token']}"}
    assert httpx2.get(f"{strict.base_url_v1}/notes?id=b1", headers=signed_in).status_code == 200


def test_mail_code_must_be_sent(strict: Service) -> None:
    token = begin(strict)["mfaPendingToken"]
    brought = {"mfaPendingToken": token, "method": "emailOtp", "code": WORLD.code}
    assert post(strict, "/mfa/verify", brought).status_code == 400
    assert post(strict, "/mfa/challenge", {"mfaPendingToken": token, "method": "emailOtp"}).status_code == 200
    assert post(strict, "/mfa/verify", brought).json()["token"].count(".") == 2


@pytest.mark.parametrize(
    ("changes", "status", "name"),
    [
        ({"code": "000000"}, 400, "MfaError"),
        ({"method": "passkey"}, 400, "ValidationError"),
        ({"mfaPendingToken": write_token(WORLD)}, 401, "TokenExpiredError"),
        ({"mfaPendingToken": "a.b.c"}, 401, "TokenExpiredError"),
    ],
)
def test_wrong_second_factor_is_refused(strict: Service, changes: dict[str, str], status: int, name: str) -> None:
    right = {"mfaPendingToken": begin(strict)["mfaPendingToken"], "method": "totp", "code": WORLD.code}
    answer = post(strict, "/mfa/verify", right | changes)
    assert (answer.status_code, answer.json()["name"]) == (status, name)


def test_pending_login_is_no_token(strict: Service) -> None:
    headers = {"Authorization": f"Bearer {begin(strict)['mfaPendingToken']}"}
    assert httpx2.get(f"{strict.base_url_v2}/notes?id=p1", headers=headers).status_code == 401


@pytest.mark.slow
def test_openreview_py_signs_in_by_code(strict: Service) -> None:
    arguments = [sys.executable, "-c", WITH_CODE, strict.base_url_v2, WORLD.user, WORLD.password, WORLD.code]
    done = subprocess.run(arguments, env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["~Simulated_Reader1", WORLD.user], done.stderr


@pytest.mark.slow
def test_token_lasts_as_requested() -> None:
    with serve_simulator(WORLD, sign_in_required=True) as running:
        token = post(running, "/login", ACCOUNT | {"expiresIn": 2}).json()["token"]
        renewed = post(running, "/refreshToken", None, token).json()
        assert (life_s(renewed["token"]), renewed["user"]["id"]) == (3600, WORLD.user)
        time.sleep(2.1)
        for path in ("/refreshToken", "/notes/search"):
            assert post(running, path, {"ids": []}, token).json()["name"] == "TokenExpiredError"
        assert post(running, "/notes/search", {"ids": ["p1"]}, renewed["token"]).json()["count"] == 1
        assert life_s(post(running, "/login", ACCOUNT | {"expiresIn": 10**9}).json()["token"]) == 7 * 24 * 3600


def test_fourth_login_is_refused_there() -> None:
    with serve_simulator(WORLD) as running:
        answers = [post(running, "/login", ACCOUNT | {"password": word}) for word in ("a", "b", WORLD.password, "c")]
        assert [answer.status_code for answer in answers] == [400, 400, 200, 429]
        assert answers[-1].headers["ratelimit-policy"] == "3;w=60"
        words = "You have made 4 requests, surpassing the limit of 3 requests. Please try again in "
        assert words in answers[-1].json()["message"]
        assert 0 < int(answers[-1].headers["retry-after"]) <= 60
        assert httpx2.post(f"{running.base_url_v1}/login", json=ACCOUNT).status_code == 200


def test_files_have_their_own_budget() -> None:
    with (
        serve_simulator(WORLD, budget=ServiceBudget(limit=9, window_s=3600, file_limit=2)) as running,
        httpx2.Client(base_url=running.base_url_v2) as client,
    ):
        zips = [client.get("/attachment?name=pdf&ids=p1,p2") for _ in range(3)]
        assert [answer.status_code for answer in zips] == [200, 200, 429]
        assert [zips[0].headers[name] for name in ("ratelimit-policy", "ratelimit-remaining")] == ["2;w=3600", "1"]
        assert 3590 < int(zips[2].headers["retry-after"]) <= 3600
        assert client.get("/pdf?id=p1").headers["ratelimit-remaining"] == "1"
        assert client.get("/notes/edits/pdf?id=e2").headers["ratelimit-policy"] == "2;w=3600"
        assert client.get("/notes?id=p1").headers["ratelimit-remaining"] == "8"


def test_insider_sees_more() -> None:
    world = build_world(papers=8, venues=[BOREALIS])
    with serve_simulator(world) as running:
        tokens = {"guest": None, "reader": write_token(world), "insider": write_token(world, user=world.insider)}
        seen: dict[str, tuple[int, int]] = {}
        for who, token in tokens.items():
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            with httpx2.Client(base_url=running.base_url_v2, headers=headers) as client:
                notes, edits = (
                    client.get(f"{path}?domain={BOREALIS}&count=true&limit=1").json()["count"]
                    for path in ("/notes", "/notes/edits")
                )
                seen[who] = (notes, edits)
                profile = client.get("/profiles").json()["profiles"]
                assert [one["id"] for one in profile] == ([f"~Simulated_{who.title()}1"] if token else [])
        assert seen["guest"] == seen["reader"]
        assert seen["insider"] == (len(world.v2.notes) - deleted(world.v2.notes), len(world.v2.edits))
        assert seen["insider"][0] > seen["reader"][0]
        assert seen["insider"][1] > seen["reader"][1]


def deleted(notes: dict[str, dict[str, object]]) -> int:
    return sum(note.get("ddate") is not None for note in notes.values())


def test_browser_is_redirected(strict: Service) -> None:
    url = f"{strict.base_url_v2}/notes?id=p1"
    assert httpx2.get(url, headers={"Accept": "application/json"}).json()["name"] == "ChallengeRequiredError"
    page = httpx2.get(url, headers={"Accept": "text/html,*/*;q=0.8"}, follow_redirects=True)
    assert (page.status_code, "Verifying your browser" in page.text) == (200, True)
    assert httpx2.get(f"{strict.base_url_v2}/groups?id={V}").status_code == 200
