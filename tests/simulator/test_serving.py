"""Files, accounts, budgets and faults of the simulated service, and how it runs."""

import http.client
import io
import json
import socket
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from tiny_world import OLD, Reply, V, ask, tiny_world

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.server.damage import (
    CUT_OFF,
    DROPPED,
    TRUNCATED,
    Fault,
    challenged,
    expired,
    html_page,
    rate_limited,
    server_error,
    slow,
)
from peercorpus.simulator.server.faults import on_path
from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.server.service import Service, ServiceBudget, serve_forever, serve_simulator
from peercorpus.simulator.world.holdings import Holdings, World


@pytest.fixture(scope="module")
def world() -> World:
    return tiny_world()


@pytest.fixture(scope="module")
def service(world: World) -> Iterator[Service]:
    with serve_simulator(world) as running:
        yield running


@pytest.fixture
def v1(service: Service) -> str:
    return service.base_url_v1


@pytest.fixture
def v2(service: Service) -> str:
    return service.base_url_v2


def free_neighbours() -> int:
    """Return a free port whose successor is free too."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            with suppress(OSError, OverflowError), socket.create_server(("127.0.0.1", port + 1)):
                return port


def test_the_ports_are_on_loopback_and_consecutive_if_one_is_given(world: World) -> None:
    port = free_neighbours()
    with serve_simulator(world, port) as running:
        assert (running.base_url_v1, running.base_url_v2) == (
            f"http://127.0.0.1:{port}",
            f"http://127.0.0.1:{port + 1}",
        )
        assert ask(running.base_url_v2, "/notes", id="p1").status == 200
        with pytest.raises(PeercorpusError, match=f"{port} .*v1"), serve_simulator(world, port):
            pass
    with serve_simulator(world) as running:
        assert running.base_url_v1.startswith("http://127.0.0.1:")
        assert running.base_url_v1 != running.base_url_v2


def test_files_are_served_as_bytes_with_their_name(v1: str, v2: str) -> None:
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


def test_several_files_are_served_as_a_zip_of_readable_ones(v2: str) -> None:
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
def test_an_account_can_sign_in_on_both_hosts_with_one_token(service: Service, world: World, api: str) -> None:
    account = {"id": world.user, "password": world.password, "expiresIn": None}
    reply = ask(getattr(service, api), "/login", method="POST", body=account, token="old.and.bad")
    token = reply.json["token"]
    assert token.count(".") == 2
    assert reply.json["user"]["id"] == world.user
    for url in (service.base_url_v1, service.base_url_v2):
        assert ask(url, "/profiles", token=token).json["profiles"][0]["id"] == "~Simulated_Reader1"
        assert ask(url, "/profiles", id="~Simulated_Reader1").json["profiles"] == []
        assert ask(url, "/refreshToken", method="POST", token=token).json["token"].count(".") == 2
        assert ask(url, "/refreshToken", method="POST").status == 401


def test_a_wrong_password_is_a_login_error(v2: str, world: World) -> None:
    reply = ask(v2, "/login", method="POST", body={"id": world.user, "password": "guess"})
    assert (reply.status, reply.json["name"]) == (400, "LoginError")


def test_a_token_that_is_old_or_foreign_is_refused(v2: str, world: World) -> None:
    for token in (write_token(world, -1), "a.b.c", "opaque", write_token(World(Holdings(), Holdings(), password="x"))):
        reply = ask(v2, "/notes", id="p1", token=token)
        assert (reply.status, reply.json["name"]) == (401, "TokenExpiredError")


def test_guests_get_a_challenge_if_an_account_is_required(world: World) -> None:
    with serve_simulator(world, sign_in_required=True) as running:
        v1, v2, token = running.base_url_v1, running.base_url_v2, write_token(world)
        for url, path, query in [
            (v2, "/notes", {"id": "p1"}), (v2, "/notes/edits", {"id": "e2"}), (v2, "/pdf", {"id": "p1"}),
            (v2, "/attachment", {"id": "p1", "name": "pdf"}), (v1, "/references", {"referent": "b1"}),
        ]:  # fmt: skip
            refused = ask(url, path, **query)
            assert (refused.status, refused.json["name"]) == (403, "ChallengeRequiredError")
            assert ask(url, path, token=token, **query).status == 200
        assert ask(v2, "/groups", id=V).status == 200
        assert ask(v2, "/invitations", id=f"{V}/-/Submission").status == 200


def test_every_response_states_the_budget_and_an_exhausted_one_refuses(world: World) -> None:
    with serve_simulator(world, budget=ServiceBudget(limit=2, window_s=60)) as running:
        first = ask(running.base_url_v2, "/notes", id="p1").headers
        assert (first["ratelimit-policy"], first["ratelimit-remaining"]) == ("2;w=60", "1")
        assert int(first["x-ratelimit-reset"]) > time.time()
        assert ask(running.base_url_v2, "/notes/edits", id="nowhere").headers["ratelimit-remaining"] == "0"
        refused = ask(running.base_url_v2, "/notes", id="p1")
        assert (refused.status, refused.json["name"], refused.json["details"]["limit"]) == (429, "RateLimitError", 2)
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert ask(running.base_url_v1, "/notes", id="b1").status == 200
        assert ask(running.base_url_v2, "/groups", id=V).status == 200


@pytest.mark.parametrize(
    ("fault", "status", "name"),
    [
        (rate_limited(), 429, "RateLimitError"),
        (rate_limited(7), 429, "RateLimitError"),
        (server_error(), 500, "InternalServerError"),
        (server_error(503), 503, "InternalServerError"),
        (challenged(), 403, "ChallengeRequiredError"),
        (expired(), 401, "TokenExpiredError"),
    ],
)
def test_a_fault_replaces_one_response(world: World, fault: Fault, status: int, name: str) -> None:
    with serve_simulator(world, faults=on_path("/notes", fault)) as running:
        failed = ask(running.base_url_v2, "/notes", id="p1")
        assert (failed.status, failed.json["name"]) == (status, name)
        assert ask(running.base_url_v2, "/notes", id="p1").status == 200


@pytest.mark.parametrize(("seconds", "header"), [(None, None), (7, "7"), (3613, "3613")])
def test_a_rate_limit_states_its_end_in_a_header_or_only_in_words(
    world: World, seconds: int | None, header: str | None
) -> None:
    with serve_simulator(world, faults=on_path("/notes", rate_limited(seconds))) as running:
        failed = ask(running.base_url_v2, "/notes", id="p1")
        assert failed.headers.get("retry-after") == header
        words = {1: "1 seconds", 7: "7 seconds", 3613: "60 minutes and 13 seconds"}[seconds or 1]
        assert f"try again in {words} (" in failed.json["message"]


def test_faults_can_drop_cut_truncate_mislabel_and_delay(world: World) -> None:
    planned = {1: DROPPED, 2: CUT_OFF, 3: TRUNCATED, 4: html_page(), 5: server_error(502, html=True), 6: slow(0.2)}
    with serve_simulator(world, faults=lambda request: planned.get(request.number)) as running:
        url = running.base_url_v2
        with pytest.raises(http.client.RemoteDisconnected):
            ask(url, "/notes", id="p1")
        with pytest.raises(http.client.IncompleteRead):
            ask(url, "/notes", id="p1")
        truncated = ask(url, "/notes", id="p1")
        assert truncated.status == 200
        with pytest.raises(json.JSONDecodeError):
            _ = truncated.json
        page = ask(url, "/notes", id="p1")
        assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert ask(url, "/notes", id="p1").status == 502
        before = time.monotonic()
        assert ask(url, "/notes", id="p1").status == 200
        assert time.monotonic() - before >= 0.2


def test_a_fault_can_be_delayed_and_restricted_to_one_api(world: World) -> None:
    with serve_simulator(world, faults=on_path("/groups", server_error(), after=1, times=2, api="v2")) as running:
        assert ask(running.base_url_v1, "/groups", id=OLD).status == 200
        assert [ask(running.base_url_v2, "/groups", id=V).status for _ in range(4)] == [200, 500, 500, 200]


def test_requests_are_logged_and_a_connection_is_kept_alive(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    with serve_simulator(world) as running:
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


def test_many_clients_are_served_at_once(service: Service) -> None:
    replies: list[Reply] = []
    threads = [
        threading.Thread(target=lambda: replies.append(ask(service.base_url_v2, "/notes", forum="p1")))
        for _ in range(24)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [reply.status for reply in replies] == [200] * 24


def test_serving_continues_until_interrupted(world: World) -> None:
    statuses: list[int] = []

    def ready(running: Service) -> None:
        statuses.append(ask(running.base_url_v2, "/notes", id="p1").status)
        raise KeyboardInterrupt

    serve_forever(serve_simulator(world), ready)
    assert statuses == [200]
