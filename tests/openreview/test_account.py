"""Signing in, and the account that renews its own token, against the simulated service."""

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from peercorpus.errors import BusyError, SignInError
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.account import CachedAccount, Credentials, ServiceConnection, read_account, sign_in
from peercorpus.openreview.client import Client
from peercorpus.openreview.objects import now_ms
from peercorpus.openreview.retries import Patience
from peercorpus.openreview.tokens import Token, TokenCache
from peercorpus.simulator.server.damage import Fault, challenged, expired, server_error, slow
from peercorpus.simulator.server.faults import Faults, on_path
from peercorpus.simulator.server.requests import Request, write_token
from peercorpus.simulator.server.responses import ApiError, json_answer
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import open_workspace

VENUE = "Borealis.cc/2024/Conference"
WORLD = replace(build_world(papers=3, venues=[VENUE]), password="s3cret of the reader")
OWN = Credentials(WORLD.user, WORLD.password)
HASTY = Patience(attempts=2, first_wait_s=0.001, longest_wait_s=1.5)
NOTES: Mapping[str, str | int] = {"invitation": f"{VENUE}/-/Submission", "limit": 1}

Serve = Callable[..., Service]


@pytest.fixture
def start() -> Iterator[Serve]:
    """Runs services that refuse guests, until the test ends."""
    with ExitStack() as running:

        def serve_one(faults: Faults | None = None, *, mfa: bool = False) -> Service:
            return running.enter_context(serve_simulator(WORLD, sign_in_required=True, mfa=mfa, faults=faults))

        yield serve_one


@pytest.fixture
def cache(tmp_path: Path) -> TokenCache:
    return TokenCache(tmp_path / "config")


def door_of(service: Service) -> ServiceConnection:
    return ServiceConnection((service.base_url_v1, service.base_url_v2), HASTY)


def asked(service: Service, path: str) -> int:
    """Return how often a path was requested."""
    return sum(request.path == path for request in service.requests)


def token_of(life_s: int, *, lived_s: int = 0, text: str | None = None) -> Token:
    """A token that the simulated service issued some time ago, with a given remaining lifetime."""
    now = now_ms()
    return Token(text or write_token(WORLD, life_s), WORLD.user, now + life_s * 1000, now - lived_s * 1000)


def sign_in_at(service: Service, code: str | None = None, password: str = WORLD.password) -> Token:
    with door_of(service).open() as guest:
        return sign_in(guest, WORLD.user, password, None if code is None else lambda _: code)


def test_password_gives_a_weeks_token(start: Serve) -> None:
    service = start()
    token = sign_in_at(service)
    assert token.user_id == WORLD.user
    assert token.expires_ms is not None
    assert abs(token.expires_ms - token.given_ms - 7 * 24 * 3600 * 1000) < 2000
    with door_of(service).open() as guest, pytest.raises(SignInError, match="peercorpus login"):
        guest.get_json(2, "/notes", NOTES)
    with door_of(service).open(token.text) as client:
        assert b'"notes":[{' in client.get_json(2, "/notes", NOTES).body


def test_wrong_password_is_not_shown(start: Serve) -> None:
    with pytest.raises(SignInError, match=r"Invalid .*password") as caught:
        sign_in_at(start(), password="s3cret of another")
    assert WORLD.user in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_second_factor_is_asked_by_method(start: Serve) -> None:
    methods: list[str] = []

    def ask(method: str) -> str:
        methods.append(method)
        return f" {WORLD.code}\n"

    with door_of(start(mfa=True)).open() as guest:
        assert sign_in(guest, WORLD.user, WORLD.password, ask).expires_ms is not None
    assert methods == ["totp"]


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (None, f"'{WORLD.user}' .*'peercorpus login'"),
        ("", "No code was entered"),
        ("000000", "'peercorpus login'"),
    ],
)
def test_a_failed_second_factor_gets_advice(start: Serve, code: str | None, sentence: str) -> None:
    with pytest.raises(SignInError, match=sentence):
        sign_in_at(start(mfa=True), code)


def pending_with(service: Service, *methods: str) -> Faults:
    """Answers a login as for an account with other second factors, whose sign-in was begun at another service."""
    with door_of(service).open() as guest:
        body = {"id": WORLD.user, "password": WORLD.password}
        members = guest.post_json(2, "/login", body).members
    begun = msgspec.json.decode(members["mfaPendingToken"])
    answer = {"mfaPending": True, "mfaPendingToken": begun, "mfaMethods": methods, "preferredMethod": methods[0]}
    return on_path("/login", Fault(json_answer(answer)), times=9)


def test_code_by_email_is_requested_first(start: Serve) -> None:
    service = start(pending_with(start(mfa=True), "passkey", "emailOtp"), mfa=True)
    assert sign_in_at(service, WORLD.code).user_id == WORLD.user
    assert [request.path for request in service.requests] == ["/login", "/mfa/challenge", "/mfa/verify"]


def test_a_passkey_is_refused_as_unsupported(start: Serve) -> None:
    service = start(pending_with(start(mfa=True), "passkey"), mfa=True)
    with pytest.raises(SignInError, match=r"\(passkey\).*PEERCORPUS_TOKEN"):
        sign_in_at(service, WORLD.code)


def test_browser_check_is_explained(start: Serve) -> None:
    service = start(on_path("/login", challenged(), times=9))
    with pytest.raises(SignInError, match=r"browser check .* not automated"):
        sign_in_at(service)
    assert len(service.requests) == 1


def test_response_without_token_is_refused(start: Serve) -> None:
    with pytest.raises(SignInError, match="sent no token"):
        sign_in_at(start(on_path("/login", Fault(json_answer({"user": {}})))))


def test_no_secret_is_in_repr() -> None:
    assert "s3cret" not in repr([token_of(60, text="s3cret"), Credentials("a@example.org", "s3cret")])


def test_stored_token_needs_no_request(start: Serve, cache: TokenCache) -> None:
    service, kept = start(), token_of(3600)
    door = door_of(service)
    cache.write(door.urls, kept)
    assert CachedAccount(door, cache).token() == kept.text
    assert service.requests == []


def test_ending_token_is_exchanged(start: Serve, cache: TokenCache) -> None:
    service = start()
    door = door_of(service)
    cache.write(door.urls, token_of(60, lived_s=3600))
    account = CachedAccount(door, cache)
    fresh = account.token()
    assert account.token() == fresh
    assert [request.path for request in service.requests] == ["/refreshToken"]
    kept = cache.read(door.urls)
    assert kept is not None
    assert (kept.text, kept.user_id) == (fresh, WORLD.user)
    assert kept.left_ms(now_ms()) > 3_500_000


def test_unexchangeable_token_is_used_up(start: Serve, cache: TokenCache) -> None:
    service = start(on_path("/refreshToken", server_error(), times=99))
    door, kept = door_of(service), token_of(60, lived_s=3600)
    cache.write(door.urls, kept)
    account = CachedAccount(door, cache)
    assert [account.token() for _ in range(5)] == [kept.text] * 5
    # One attempt per minute, however many requests are sent meanwhile.
    assert len(service.requests) == 1


def test_same_token_is_not_exchanged_again(start: Serve, cache: TokenCache) -> None:
    kept = token_of(60, lived_s=3600)
    service = start(on_path("/refreshToken", Fault(json_answer({"token": kept.text})), times=99))
    door = door_of(service)
    cache.write(door.urls, kept)
    account = CachedAccount(door, cache)
    assert [account.token() for _ in range(5)] == [kept.text] * 5
    assert len(service.requests) == 1


def test_expired_sign_in_asks_anew(start: Serve, cache: TokenCache) -> None:
    door = door_of(start())
    cache.write(door.urls, token_of(-1))
    with pytest.raises(SignInError, match=f"'{WORLD.user}' .*'peercorpus login'"):
        CachedAccount(door, cache).token()


def test_outage_is_no_expired_sign_in(start: Serve, cache: TokenCache) -> None:
    door = door_of(start(on_path("/refreshToken", server_error(), times=99)))
    cache.write(door.urls, token_of(-1))
    with pytest.raises(BusyError, match="answered 500"):
        CachedAccount(door, cache).token()


@pytest.mark.parametrize("own", [None, OWN], ids=["without a password", "with one"])
def test_an_unreachable_service_is_waited_for(cache: TokenCache, own: Credentials | None) -> None:
    with socket.socket() as taken:
        # Bound and not listening: every connection is refused.
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        cache.write((url, url), token_of(-1))
        with pytest.raises(BusyError, match=r"127\.0\.0\.1\) cannot be reached"):
            CachedAccount(ServiceConnection((url, url), HASTY), cache, own).token()


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_any_refused_exchange_asks_anew(start: Serve, cache: TokenCache, status: int) -> None:
    refusal = ApiError(status, "SomeError", "No").answer()
    door = door_of(start(on_path("/refreshToken", Fault(refusal), times=9)))
    cache.write(door.urls, token_of(-1))
    with pytest.raises(SignInError, match=f"'{WORLD.user}' .*'peercorpus login'"):
        CachedAccount(door, cache).token()
    assert CachedAccount(door, cache, OWN).token()


def test_password_renews_the_sign_in(start: Serve, cache: TokenCache) -> None:
    door = door_of(start())
    cache.write(door.urls, token_of(-1))
    account = CachedAccount(door, cache, OWN)
    with Client(*door.urls, account, patience=HASTY) as client:
        assert b'"notes":[{' in client.get_json(2, "/notes", NOTES).body
    kept = cache.read(door.urls)
    assert kept is not None
    assert kept.text == account.token()


def test_refused_token_is_replaced(start: Serve, cache: TokenCache) -> None:
    service = start(on_path("/notes", expired(), times=1))
    door = door_of(service)
    cache.write(door.urls, token_of(1800))
    with Client(*door.urls, CachedAccount(door, cache), patience=HASTY) as client:
        assert b'"notes":[{' in client.get_json(2, "/notes", NOTES).body
    assert [request.path for request in service.requests] == ["/notes", "/refreshToken", "/notes"]


@pytest.mark.fault("service", "A challenge to a request with a token", "A fresh sign-in, in this run and in the next")
def test_challenge_counts_as_refused_token(start: Serve, cache: TokenCache) -> None:
    service = start(on_path("/notes", challenged()))
    urls = door_of(service).urls
    cache.write(urls, token_of(3600))
    with Client(*urls, CachedAccount(door_of(service), cache, OWN), patience=HASTY) as client:
        assert client.get_json(2, "/notes", NOTES).body
    assert asked(service, "/refreshToken") + asked(service, "/login") >= 1
    assert cache.read(urls) != token_of(3600)


def test_challenged_token_gets_advice(start: Serve) -> None:
    service = start(lambda request: challenged() if request.has_token else None)
    with door_of(service).open("aa.bb.cc") as client, pytest.raises(SignInError, match="'peercorpus login'") as caught:
        client.get_json(2, "/notes", NOTES)
    assert "PEERCORPUS_TOKEN" in str(caught.value)


def test_token_of_another_run_is_taken(start: Serve, cache: TokenCache) -> None:
    service = start()
    door, first, second = door_of(service), token_of(60, lived_s=3600), token_of(3600)
    cache.write(door.urls, first)
    account = CachedAccount(door, cache)
    account._token = first
    cache.write(door.urls, second)
    assert account.renewed(first.text) == second.text
    assert account.renewed(first.text) == second.text
    assert service.requests == []


def test_threads_sign_in_once(start: Serve, cache: TokenCache) -> None:
    service = start(on_path("/login", slow(0.1), times=9))
    account = CachedAccount(door_of(service), cache, OWN)
    with ThreadPoolExecutor(8) as threads:
        tokens = set(threads.map(lambda _: account.token(), range(32)))
    assert len(tokens) == 1
    assert asked(service, "/login") == 1


def slowly(request: Request) -> Fault | None:
    return None if request.path in {"/login", "/refreshToken"} else slow(0.08)


@pytest.mark.slow
def test_harvest_outlives_its_token(
    start: Serve, cache: TokenCache, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service = start(slowly)
    door, kept, said = door_of(service), token_of(1), list[str]()
    cache.write(door.urls, kept)
    account = CachedAccount(door, cache, OWN)
    caplog.set_level("DEBUG")
    began = time.monotonic()
    with (
        open_workspace(tmp_path / "corpus", create=True) as workspace,
        Client(*door.urls, account, patience=HASTY, on_wait=said.append) as client,
    ):
        summaries = harvest(workspace, client, [VENUE])
    assert time.monotonic() - began > 1
    assert [summary.submissions for summary in summaries] == [3]
    assert asked(service, "/login") + asked(service, "/refreshToken") > 0
    secrets = [kept.text.encode(), account.token().encode(), WORLD.password.encode()]
    assert account.token() != kept.text
    held = [path.read_bytes() for path in (tmp_path / "corpus").rglob("*") if path.is_file()]
    shown = "\n".join([caplog.text, *said, *map(str, summaries), *map(repr, service.requests)]).encode()
    assert not [secret for secret in secrets for content in (*held, shown) if secret in content]


@pytest.mark.parametrize(
    ("named", "environ", "is_kept", "found"),
    [
        (True, {"PEERCORPUS_TOKEN": "of.the.environment"}, True, "of.a.file"),
        (False, {"PEERCORPUS_TOKEN": "of.the.environment"}, True, "of.the.environment"),
        (False, {"PEERCORPUS_TOKEN": ""}, True, "of.the.cache"),
        (False, {"PEERCORPUS_USER": WORLD.user, "PEERCORPUS_PASSWORD": WORLD.password}, True, "of.the.cache"),
        (False, {"PEERCORPUS_USER": WORLD.user, "PEERCORPUS_PASSWORD": WORLD.password}, False, "signed in"),
        (False, {"PEERCORPUS_USER": WORLD.insider, "PEERCORPUS_PASSWORD": WORLD.password}, True, "signed in"),
        (False, {"PEERCORPUS_USER": WORLD.user}, False, None),
        (False, {}, False, None),
    ],
    ids=["file", "environment", "cache", "cache first", "password", "another user", "no password", "guest"],
)
def test_token_is_sought_in_order(
    start: Serve, tmp_path: Path, named: bool, environ: dict[str, str], is_kept: bool, found: str | None
) -> None:
    service, file = start(), tmp_path / "token"
    file.write_text("of.a.file\n")
    file.chmod(0o600)
    urls = (service.base_url_v1, service.base_url_v2)
    if is_kept:
        TokenCache(tmp_path).write(urls, token_of(3600, text="of.the.cache"))
    settings = environ | {"PEERCORPUS_CONFIG": str(tmp_path)}
    account = read_account(urls, file if named else None, settings, patience=HASTY)
    token = account if isinstance(account, str | None) else account.token()
    assert asked(service, "/login") == (found == "signed in")
    if found != "signed in":
        assert token == found
        return
    kept = TokenCache(tmp_path).read(urls)
    assert kept is not None
    assert (kept.text, kept.user_id) == (token, environ["PEERCORPUS_USER"])


def test_removed_sign_in_is_reported(start: Serve, cache: TokenCache) -> None:
    door = door_of(start())
    with pytest.raises(SignInError, match="peercorpus login"):
        CachedAccount(door, cache).token()
