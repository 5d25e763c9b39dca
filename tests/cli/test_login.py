"""`peercorpus login` and `logout`: what they ask for, print and store; and that a later harvest needs nothing else."""

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commands import Run, assert_refused
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.world import build_world

VENUE = "Borealis.cc/2024/Conference"
WORLD = replace(build_world(papers=1, venues=[VENUE]), password="s3cret of the reader")
VARIABLES = ("PEERCORPUS_TOKEN", "PEERCORPUS_USER", "PEERCORPUS_PASSWORD", "PEERCORPUS_MFA_CODE")


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, so that the tester's own is not used."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PEERCORPUS_CONFIG", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture
def closed() -> Iterator[Service]:
    with serve_simulator(WORLD, sign_in_required=True) as running:
        yield running


@pytest.fixture
def twofold() -> Iterator[Service]:
    """A service whose account has a second factor."""
    with serve_simulator(WORLD, sign_in_required=True, mfa=True) as running:
        yield running


def urls(service: Service) -> list[str]:
    return ["--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2]


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the account."""
    monkeypatch.setenv("PEERCORPUS_USER", WORLD.user)
    monkeypatch.setenv("PEERCORPUS_PASSWORD", WORLD.password)


@pytest.mark.usefixtures("own")
def test_logins_report_no_secrets(run: Run, closed: Service, settings: Path) -> None:
    ended = run("login", *urls(closed))
    assert (ended.code, ended.err) == (0, "")
    host = closed.base_url_v2.removeprefix("http://")
    until = r"until \d{4}-\d\d-\d\d \d\d:\d\d UTC"
    where = re.escape(str(settings / "tokens.json"))
    assert re.fullmatch(rf".*{WORLD.user}.*{host}.*{until}.*{where}.*\n", ended.out)
    kept = (settings / "tokens.json").read_text()
    assert "s3cret" not in ended.out + kept
    assert kept.split('"text":"')[1].split('"')[0] not in ended.out


@pytest.mark.usefixtures("own")
def test_login_lasts_until_logout(run: Run, closed: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("login", *urls(closed)).code == 0
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    ended = run("harvest", VENUE, "--workspace", tmp_path / "corpus", *urls(closed))
    assert ended.code == 0
    assert "1 submission," in ended.out
    assert sum(request.path == "/login" for request in closed.requests) == 1
    first, second = run("logout", *urls(closed)).out, run("logout", *urls(closed)).out
    assert WORLD.user in first
    assert "tokens.json" in first
    assert WORLD.user not in second
    assert closed.base_url_v2.removeprefix("http://") in second
    ended = run("harvest", VENUE, "--workspace", tmp_path / "other", *urls(closed))
    assert_refused(ended, "'peercorpus login'")


@pytest.mark.usefixtures("own")
def test_the_environment_signs_a_harvest_in(run: Run, closed: Service, settings: Path, tmp_path: Path) -> None:
    assert run("harvest", VENUE, "--workspace", tmp_path / "corpus", *urls(closed)).code == 0
    assert (settings / "tokens.json").stat().st_mode & 0o777 == 0o600
    assert run("harvest", VENUE, "--workspace", tmp_path / "corpus", "--refresh", *urls(closed)).code == 0
    assert sum(request.path == "/login" for request in closed.requests) == 1


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({}, "PEERCORPUS_USER and PEERCORPUS_PASSWORD"),
        ({"PEERCORPUS_USER": WORLD.user}, "PEERCORPUS_USER and PEERCORPUS_PASSWORD"),
        (
            {"PEERCORPUS_USER": WORLD.user, "PEERCORPUS_PASSWORD": WORLD.password},
            "PEERCORPUS_MFA_CODE",
        ),
        ({"PEERCORPUS_USER": WORLD.user, "PEERCORPUS_PASSWORD": "s3cret of another"}, "Invalid username or password"),
    ],
    ids=["nothing", "no password", "no code", "a wrong password"],
)
def test_an_impossible_login_is_refused_in_one_sentence(
    run: Run,
    twofold: Service,
    settings: Path,
    monkeypatch: pytest.MonkeyPatch,
    environ: dict[str, str],
    sentence: str,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    ended = run("login", *urls(twofold))
    assert_refused(ended, sentence)
    assert "s3cret" not in ended.err
    assert not settings.exists()


@pytest.mark.usefixtures("own")
def test_too_many_logins_have_a_time(run: Run, closed: Service) -> None:
    for _ in range(3):
        assert run("login", *urls(closed)).code == 0
    assert_refused(run("login", *urls(closed)), "'peercorpus login'", " s.", code=3)


@pytest.mark.parametrize(
    ("mode", "text", "sentence"), [(0o644, "{}", "chmod 600"), (0o600, "{", "is damaged; remove it with: rm ")]
)
@pytest.mark.usefixtures("own")
def test_bad_caches_are_named(run: Run, closed: Service, settings: Path, mode: int, text: str, sentence: str) -> None:
    settings.mkdir()
    (settings / "tokens.json").write_text(text)
    (settings / "tokens.json").chmod(mode)
    assert_refused(run("login", *urls(closed)), sentence)
    assert_refused(run("logout", *urls(closed)), sentence)
    assert closed.requests == []


@pytest.mark.usefixtures("own")
def test_no_password_is_sent_over_plain_http(run: Run) -> None:
    address = "http://mirror.example.org"
    assert_refused(run("login", "--url-v1", address, "--url-v2", address), "mirror.example.org", "https")


@pytest.mark.parametrize("option", ["--password", "--user", "--token"])
def test_no_secret_can_be_given_as_an_option(run: Run, option: str) -> None:
    assert_refused(run("login", option, "s3cret"), option)


@pytest.mark.slow
def test_passwords_are_read_without_echo(twofold: Service, settings: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "peercorpus", "login", *urls(twofold)]
    # A separate session has no terminal on which to ask for the password.
    running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    with running:
        said = ""
        for question, answer in (("(e-mail): ", WORLD.user), ("Password: ", WORLD.password), ("app: ", WORLD.code)):
            said += _read_until(ours, question)
            os.write(ours, f"{answer}\n".encode())
        said += _read_until(ours, "tokens.json.")
    os.close(ours)
    assert running.returncode == 0
    assert WORLD.user in said
    assert "s3cret" not in said
    assert (settings / "tokens.json").stat().st_mode & 0o777 == 0o600


def _read_until(terminal: int, text: str) -> str:
    said = ""
    while text not in said:
        said += os.read(terminal, 4096).decode()
    return said
