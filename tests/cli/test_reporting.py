"""Output of a command while it works: -q, -v and a log file without secrets."""

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Run, assert_refused
from peercorpus.cli.reporting import LOGGER, Reporting, hide_secrets, reporting
from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.world import build_world

VENUE = "Borealis.cc/2024/Conference"
WORLD = build_world(papers=1, venues=[VENUE])


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serve_simulator(WORLD, sign_in_required=True) as running:
        yield running


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEERCORPUS_TOKEN", write_token(WORLD))


def harvest(service: Service, folder: Path, *options: str | Path) -> list[str | Path]:
    urls = ["--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2]
    return ["harvest", VENUE, "--workspace", folder, "--no-files", *urls, *options]


@pytest.mark.slow
def test_quiet_leaves_the_result_and_nothing_on_stderr(run: Run, service: Service, tmp_path: Path) -> None:
    loud = run(*harvest(service, tmp_path / "loud"))
    quiet = run("-q", *harvest(service, tmp_path / "quiet"))
    assert loud.err != ""
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.out == loud.out.replace("loud", "quiet")
    assert_refused(run("status", tmp_path / "none", "--quiet"), "none")


def test_verbose_shows_requests_steps_and_times_on_stderr(run: Run, service: Service, tmp_path: Path) -> None:
    ended = run(*harvest(service, tmp_path / "corpus", "-v"))
    assert re.search(
        rf"^\d\d:\d\d:\d\dZ GET {service.base_url_v2}/notes\?.*: 200, \d+\.\d\d s$", ended.err, re.MULTILINE
    )
    assert re.search(r"^\d\d:\d\d:\d\dZ ended after \d+\.\d s$", ended.err, re.MULTILINE)
    assert "GET" not in ended.out
    assert re.search(r": normalise took \d+\.\d\d s", run("build", tmp_path / "corpus", "-v").err)
    assert LOGGER.handlers == []


@pytest.mark.slow
def test_a_log_is_json_lines(run: Run, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = write_token(WORLD)
    monkeypatch.setenv("PEERCORPUS_TOKEN", token)
    log = tmp_path / "log.jsonl"
    ended = run("--log", log, *harvest(service, tmp_path / "corpus"))
    assert run("status", tmp_path / "missing", "--log", log).code == 2
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert {tuple(row) for row in rows} == {("time", "level", "logger", "message")}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", row["time"]) for row in rows)
    assert rows[0]["message"].endswith(
        f"harvest {VENUE} --workspace {tmp_path / 'corpus'} --no-files --url-v1"
        f" {service.base_url_v1} --url-v2 {service.base_url_v2}"
    )
    assert any(": 200, " in row["message"] for row in rows)
    assert rows[-1]["message"].startswith("failed after")
    assert "missing" in rows[-1]["message"]
    assert token not in log.read_text()
    assert ended.code == 0
    assert "GET" not in ended.err


SECRETS = {
    "PEERCORPUS_PASSWORD": "correct horse",
    "PEERCORPUS_MODEL_KEY": "sk-1234567890",
    "HF_TOKEN": "hf_abcdefgh",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7",
    "PEERCORPUS_USER": "ada@example.org",
}


def test_secrets_are_hidden_in_whatever_is_logged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    text = (
        f"{' '.join(SECRETS.values())} Authorization: Bearer abc.def ?accessToken=t0ken&id=x"
        " eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.c2ln https://ada:pw@example.net/v1"
    )
    log = tmp_path / "log"
    with reporting(Reporting(log=log), ["build", text]):
        logging.getLogger("peercorpus.x").info("%s", text)
    written = log.read_text()
    for secret in (*SECRETS.values(), "abc.def", "t0ken", "eyJ", "ada:pw"):
        assert secret not in written
    assert "id=x" in hide_secrets(text)
    assert hide_secrets("5 papers; keyword 'graphs'") == "5 papers; keyword 'graphs'"


def test_an_unwritable_log_is_refused_first(run: Run, service: Service, tmp_path: Path) -> None:
    assert_refused(run(*harvest(service, tmp_path / "corpus", "--log", tmp_path)), f"'{tmp_path}'")
    assert list(tmp_path.iterdir()) == []
    assert_refused(run("status", "-q", "-v", "-w", tmp_path), "--quiet", "--verbose")


def test_a_log_is_readable_by_its_owner_only(run: Run, tmp_path: Path) -> None:
    run("venues", "--log", tmp_path / "log")
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text",
    [
        "https://h/v1?key=hush-hush",
        "?sig=hush-hush&X-Amz-Signature=hush-hush",
        "api-key=hush-hush refresh_token=hush-hush",
        "{'token': 'hush-hush'}",
        "hf_hushhushhush sk-hushhushhush",
        "https://u:hush/hush@host https://u:hush@hush@host",
    ],
)
def test_secrets_are_recognised_by_their_format(text: str) -> None:
    assert "hush" not in hide_secrets(text)
