"""Harvests: venues, tokens and folders that are accepted, and an account's budget that two runs may not both spend."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest

import peercorpus
from commands import Run, assert_refused
from peercorpus.simulator.server.damage import Fault
from peercorpus.simulator.server.faults import faults_by_name
from peercorpus.simulator.server.requests import Request
from peercorpus.simulator.server.responses import ApiError
from peercorpus.simulator.server.service import Service, ServiceBudget, serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import open_workspace

VENUE = "Borealis.cc/2024/Conference"
WORLD = build_world(papers=12, venues=[VENUE])


def harvest_of(service: Service, folder: Path, *more: str) -> list[str]:
    urls = ["--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2]
    return ["harvest", VENUE, "--workspace", str(folder), *urls, *more]


@contextmanager
def started(command: list[str], **environ: str) -> Iterator[subprocess.Popen[str]]:
    """Runs a command in a separate process, which is killed at the end if it is still running."""
    line, both = [sys.executable, "-m", "peercorpus", *command], {**os.environ, **environ}
    with subprocess.Popen(line, env=both, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@dataclass
class Gate:
    """Makes guests wait from their third request on, until it is opened."""

    is_open: Event = field(default_factory=Event)
    is_reached: Event = field(default_factory=Event)
    guests: int = 0

    def __call__(self, request: Request) -> Fault | None:
        self.guests += not request.has_token
        if self.guests >= 3 and not request.has_token:
            self.is_reached.set()
            self.is_open.wait(timeout=60)
        return None


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.is_open.set()


@pytest.fixture
def service(gate: Gate) -> Iterator[Service]:
    with serve_simulator(WORLD, faults=gate) as running:
        yield running
        gate.is_open.set()


@pytest.fixture
def first(service: Service, gate: Gate, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A harvest that is under way."""
    with started(harvest_of(service, tmp_path / "first")) as process:
        assert gate.is_reached.wait(timeout=60)
        yield process
        gate.is_open.set()


@pytest.mark.slow
def test_a_second_harvest_waits(
    run: Run, service: Service, gate: Gate, first: subprocess.Popen[str], tmp_path: Path
) -> None:
    command = harvest_of(service, tmp_path / "deep" / "second")
    asked = len(service.requests)
    ended = run(*command)
    assert_refused(
        ended,
        f"'{tmp_path / 'first'}'",
        f"process {first.pid}",
        code=3,
    )
    assert not (tmp_path / "deep").exists()
    assert len(service.requests) == asked
    gate.is_open.set()
    first.communicate(timeout=60)
    assert first.returncode == 0
    assert run(*command).code == 0


@pytest.mark.slow
def test_a_killed_harvest_leaves_no_lock(
    run: Run, service: Service, gate: Gate, first: subprocess.Popen[str], tmp_path: Path
) -> None:
    first.kill()
    first.wait(timeout=30)
    gate.is_open.set()
    assert run(*harvest_of(service, tmp_path / "second")).code == 0


@dataclass(slots=True)
class Counted(ServiceBudget):
    """A budget that counts refused requests."""

    refused: int = 0

    def spend(self, api: str, path: str) -> tuple[dict[str, str], ApiError | None]:
        headers, refusal = super(Counted, self).spend(api, path)
        self.refused += refusal is not None
        return headers, refusal


@dataclass(slots=True)
class Contested(ServiceBudget):
    """A budget from which another machine spends three requests before each one counted here."""

    def spend(self, api: str, path: str) -> tuple[dict[str, str], ApiError | None]:
        for _ in range(3):
            super(Contested, self).spend(api, path)
        return super(Contested, self).spend(api, path)


@pytest.fixture
def used_elsewhere() -> Iterator[Service]:
    # With requests note by note, a harvest spends more than one window.
    with serve_simulator(WORLD, faults=faults_by_name("no_domain"), budget=Contested(limit=200)) as service:
        yield service


def test_another_machine_stops_a_harvest(run: Run, used_elsewhere: Service, tmp_path: Path) -> None:
    ended = run(*harvest_of(used_elsewhere, tmp_path / "corpus"))
    assert (ended.code, ended.out) == (3, "")
    *_, refused = ended.err.splitlines()
    assert refused.startswith("peercorpus: ")
    assert "--share-budget" in refused
    with open_workspace(tmp_path / "corpus", write=False) as workspace:
        assert workspace.raw.venues() == [VENUE]


def test_a_sharing_harvest_continues(run: Run, used_elsewhere: Service, tmp_path: Path) -> None:
    ended = run(*harvest_of(used_elsewhere, tmp_path / "corpus", "--share-budget"))
    assert ended.code == 0
    assert sum("client" in line for line in ended.err.splitlines()) == 1


def test_without_a_lock_a_harvest_warns(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.delenv("PEERCORPUS_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with serve_simulator(WORLD) as service:
        ended = run(*harvest_of(service, tmp_path / "corpus"))
    assert ended.code == 0
    assert f"'{tmp_path / 'file' / 'peercorpus'}' (Not a directory)" in ended.err


@pytest.mark.slow
def test_a_read_only_workspace_can_be_read(demo_folder: Path, tmp_path: Path, run: Run) -> None:
    corpus = shutil.copytree(demo_folder / "corpus", tmp_path / "corpus")
    for path in (*corpus.rglob("*"), corpus):
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        assert run("status", "--workspace", corpus).code == 0
        assert peercorpus.open(corpus).papers().collect().height > 0
    finally:
        for path in (corpus, *corpus.rglob("*")):
            path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.parametrize(
    ("mode", "text", "sentence"),
    [(None, b"", "token"), (0o644, b"abc", "chmod 600"), (0o600, b"\xff\xfe", "token")],
)
def test_a_token_file_must_be_ones_own(run: Run, tmp_path: Path, mode: int | None, text: bytes, sentence: str) -> None:
    file = tmp_path / "token"
    if mode is not None:
        file.write_bytes(text)
        file.chmod(mode)
    assert_refused(run("harvest", "JLE", "--workspace", tmp_path / "w", "--token-file", file), sentence)
