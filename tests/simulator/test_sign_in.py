"""Accounts of the simulated service: the second factor, token lifetimes, limits, and an insider's view."""

import base64
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx2
import msgspec
import pytest
from tiny_world import V, tiny_world

from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.server.service import Service, ServiceBudget, serve_simulator
from peercorpus.simulator.world.world import build_world

WORLD = tiny_world()
ACCOUNT = {"id": WORLD.user, "password": WORLD.password}
MANY = ServiceBudget(login_limit=100)
BOREALIS = "Borealis.cc/2024/Conference"
WITH_CODE = """
import sys
from openreview.api import OpenReviewClient
url, user, password, code = sys.argv[1:]
client = OpenReviewClient(baseurl=url, username=user, password=password, mfa_code_provider=lambda method: code)
print(client.profile.id, client.user["id"])
"""


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serve_simulator(WORLD, mfa=True, sign_in_required=True, budget=MANY) as running:
        yield running


def post(service: Service, path: str, body: object, token: str | None = None) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.post(f"{service.base_url_v2}{path}", json=body, headers=headers)


def begin(service: Service, **more: object) -> dict[str, object]:
    pending: dict[str, object] = post(service, "/login", ACCOUNT | more).json()
    return pending


def life_s(token: str) -> int:
    payload = msgspec.json.decode(base64.urlsafe_b64decode(token.split(".")[1] + "==="))
    return int(payload["exp"] - payload["iat"])


def test_a_second_factor_is_requested_and_its_code_gives_the_token(service: Service) -> None:
    pending = begin(service, expiresIn=77)
    assert {name: pending[name] for name in ("mfaPending", "mfaMethods", "preferredMethod")} == {
        "mfaPending": True,
        "mfaMethods": ["totp", "emailOtp"],
        "preferredMethod": "totp",
    }
    brought = {"mfaPendingToken": pending["mfaPendingToken"], "method": "totp", "code": WORLD.code}
    answer = post(service, "/mfa/verify", brought).json()
    assert (answer["user"]["id"], life_s(answer["token"])) == (WORLD.user, 77)
    signed_in = {"Authorization": f"Bearer {answer['token']}"}
    assert httpx2.get(f"{service.base_url_v1}/notes?id=b1", headers=signed_in).status_code == 200


def test_a_code_by_mail_must_be_sent_first(service: Service) -> None:
    token = begin(service)["mfaPendingToken"]
    brought = {"mfaPendingToken": token, "method": "emailOtp", "code": WORLD.code}
    assert post(service, "/mfa/verify", brought).status_code == 400
    assert post(service, "/mfa/challenge", {"mfaPendingToken": token, "method": "emailOtp"}).status_code == 200
    assert post(service, "/mfa/verify", brought).json()["token"].count(".") == 2


@pytest.mark.parametrize(
    ("changes", "status", "name"),
    [
        ({"code": "000000"}, 400, "MfaError"),
        ({"method": "passkey"}, 400, "ValidationError"),
        ({"mfaPendingToken": write_token(WORLD)}, 401, "TokenExpiredError"),
        ({"mfaPendingToken": "a.b.c"}, 401, "TokenExpiredError"),
    ],
)
def test_a_second_factor_that_is_wrong_is_refused(
    service: Service, changes: dict[str, str], status: int, name: str
) -> None:
    right = {"mfaPendingToken": begin(service)["mfaPendingToken"], "method": "totp", "code": WORLD.code}
    answer = post(service, "/mfa/verify", right | changes)
    assert (answer.status_code, answer.json()["name"]) == (status, name)


def test_the_pending_login_id_is_not_a_token(service: Service) -> None:
    headers = {"Authorization": f"Bearer {begin(service)['mfaPendingToken']}"}
    assert httpx2.get(f"{service.base_url_v2}/notes?id=p1", headers=headers).status_code == 401


@pytest.mark.slow
def test_the_client_of_openreview_py_signs_in_with_its_code(service: Service) -> None:
    arguments = [sys.executable, "-c", WITH_CODE, service.base_url_v2, WORLD.user, WORLD.password, WORLD.code]
    done = subprocess.run(arguments, env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["~Simulated_Reader1", WORLD.user], done.stderr


@pytest.mark.slow
def test_a_token_lasts_as_requested_and_is_renewed_while_valid() -> None:
    with serve_simulator(WORLD, sign_in_required=True) as running:
        token = post(running, "/login", ACCOUNT | {"expiresIn": 2}).json()["token"]
        renewed = post(running, "/refreshToken", None, token).json()
        assert (life_s(renewed["token"]), renewed["user"]["id"]) == (3600, WORLD.user)
        time.sleep(2.1)
        for path in ("/refreshToken", "/notes/search"):
            assert post(running, path, {"ids": []}, token).json()["name"] == "TokenExpiredError"
        assert post(running, "/notes/search", {"ids": ["p1"]}, renewed["token"]).json()["count"] == 1
        assert life_s(post(running, "/login", ACCOUNT | {"expiresIn": 10**9}).json()["token"]) == 7 * 24 * 3600


def test_the_fourth_login_of_a_minute_is_refused_on_that_host_alone() -> None:
    with serve_simulator(WORLD) as running:
        answers = [post(running, "/login", ACCOUNT | {"password": word}) for word in ("a", "b", WORLD.password, "c")]
        assert [answer.status_code for answer in answers] == [400, 400, 200, 429]
        assert answers[-1].headers["ratelimit-policy"] == "3;w=60"
        words = "You have made 4 requests, surpassing the limit of 3 requests. Please try again in "
        assert words in answers[-1].json()["message"]
        assert 0 < int(answers[-1].headers["retry-after"]) <= 60
        assert httpx2.post(f"{running.base_url_v1}/login", json=ACCOUNT).status_code == 200


def test_files_have_a_budget_of_their_own_on_each_route_and_a_zip_is_one_request() -> None:
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


def test_an_insider_sees_what_the_public_does_not() -> None:
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


def test_a_browser_is_redirected_where_a_program_gets_an_error(service: Service) -> None:
    url = f"{service.base_url_v2}/notes?id=p1"
    assert httpx2.get(url, headers={"Accept": "application/json"}).json()["name"] == "ChallengeRequiredError"
    page = httpx2.get(url, headers={"Accept": "text/html,*/*;q=0.8"}, follow_redirects=True)
    assert (page.status_code, "Verifying your browser" in page.text) == (200, True)
    assert httpx2.get(f"{service.base_url_v2}/groups?id={V}").status_code == 200
