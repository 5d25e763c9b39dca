"""A build on a Ray cluster whose machines, head or driver die during the work gives the tables of this machine."""

import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from naming import Naming
from peercorpus.execution.code_version import ENGINES_ENTRY_POINT_GROUP
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.pipeline.status import read_status
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import open_workspace
from table_rows import rows

pytestmark = [pytest.mark.cluster, pytest.mark.slow(81)]
pytest.importorskip("ray", reason="Ray is not installed: pip install 'peercorpus[cluster]'")

VENUES = ["Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"]
ROOT = Path(__file__).parents[2]
PAPERS, FEWEST_FILES = 20, 30
LONGEST_S = 300
READ_AT_ONCE = 8
"""Texts that are read before the others are held."""

HELD = f"""
import os, time
from pathlib import Path
from peercorpus.texts.engines.pdfium_text import PdfiumText

class Held(PdfiumText):
    name = "held"
    version = "1"

    def convert(self, pdf):
        folder = Path(os.environ["HELD_TEXTS"])
        for number in range({READ_AT_ONCE}):
            try:
                (folder / str(number)).touch(exist_ok=False)
                break
            except FileExistsError:
                continue
        else:
            while not (folder / "released").exists():
                time.sleep(0.01)
        return super().convert(pdf)
"""
"""A package with an engine that reads some texts and holds the others until a file exists, so that a build is surely
under way when a machine is killed, however fast or busy this one is."""
MACHINE = ("--block", "--num-cpus=2", f"--object-store-memory={100 << 20}", "--disable-usage-stats")

Rows = dict[str, list[Any]]


def until(is_so: Callable[[], object], what: str) -> None:
    """Wait for something."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < LONGEST_S, f"for {LONGEST_S} s not: {what}"
        time.sleep(0.01)


class Machine:
    """A machine of a cluster, started by `ray start`, with all its processes."""

    def __init__(self, env: dict[str, str], *options: str) -> None:
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *MACHINE, *options]
        quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._started = subprocess.Popen(command, env=env, **quiet)

    @property
    def is_running(self) -> bool:
        return self._started.poll() is None

    def _processes(self) -> list[psutil.Process]:
        return list(psutil.Process(self._started.pid).children(recursive=True))

    def is_at_work(self) -> bool:
        """Return whether one of its workers is processing an item."""
        try:
            return any(one.name() == "ray::do_item" for one in self._processes())
        except psutil.NoSuchProcess:
            return False

    def kill(self) -> None:
        """Kill every process at once, without a chance to react."""
        if self.is_running:
            for one in [psutil.Process(self._started.pid), *self._processes()]:
                with suppress(psutil.NoSuchProcess):
                    one.kill()
        self._started.wait()


def install_engine(folder: Path) -> Path:
    """Create the package of the engine `held` in a folder, and return the folder."""
    about = folder / "held_engine-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "held_engine.py").write_text(HELD)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: held-engine\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{ENGINES_ENTRY_POINT_GROUP}]\nheld = held_engine:Held\n")
    return folder


class Cluster:
    """A head and a second machine, on loopback."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        paths = f"{ROOT / 'src'}{os.pathsep}{install_engine(folder / 'packages')}"
        own = {"RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_AUTH_MODE": "token", "PYTHONPATH": paths}
        self._held = folder / "held"
        self.env = {**os.environ, **own, "HELD_TEXTS": str(self._held)}
        self._folder = folder / "ray"
        self.builds: list[subprocess.Popen[str]] = []
        self._machines: dict[str, Machine] = {}

    def hold_texts(self) -> None:
        """Let a few texts be read, and hold all others."""
        shutil.rmtree(self._held, ignore_errors=True)
        self._held.mkdir()

    def release_texts(self) -> None:
        """Let all texts be read."""
        (self._held / "released").touch()

    def start(self) -> None:
        """Start the machines that are not running."""
        if not self._runs("head"):
            port = self.address.rpartition(":")[2]
            options = ("--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={self._folder}")
            self._machines["head"] = Machine(self.env, *options)
        if not self._runs("second"):
            self._machines["second"] = Machine(self.env, f"--address={self.address}")
        until(lambda: self._cores() == 4, "a cluster of two machines")

    def _runs(self, name: str) -> bool:
        return name in self._machines and self._machines[name].is_running

    def _cores(self) -> float:
        code = f"import ray; ray.init('{self.address}', log_to_driver=False)"
        code += "; print('has', ray.cluster_resources()['CPU'])"
        asked = subprocess.run([sys.executable, "-c", code], env=self.env, capture_output=True, text=True, timeout=90)
        found = re.search(r"^has (\S+)$", asked.stdout, re.MULTILINE)
        return float(found[1]) if asked.returncode == 0 and found else 0.0

    def __getitem__(self, name: str) -> Machine:
        return self._machines[name]

    def stop(self) -> None:
        """Kill all that are running."""
        for machine in reversed(self._machines.values()):
            machine.kill()


class Building:
    """`peercorpus build` on a cluster, in a separate process."""

    def __init__(self, workspace: Path, cluster: Cluster, *, executor: str = "ray") -> None:
        self._texts = workspace / "texts"
        command = [sys.executable, "-m", "peercorpus", "build", "--workspace", str(workspace), "--engine", "held"]
        spread = ["--executor", "ray", "--address", cluster.address] if executor == "ray" else []
        output: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen([*command, *spread], env=cluster.env, **output)
        cluster.builds.append(self.process)

    def wait_for_texts(self, machine: Machine) -> None:
        """Wait until some texts are read, others are not, and a machine is reading one."""
        until(lambda: len(self.texts()) >= 5 and machine.is_at_work(), "a machine that reads texts")
        assert len(self.texts()) <= READ_AT_ONCE

    def texts(self) -> dict[Path, int]:
        """Return the texts read so far, each with its time."""
        return {path: path.stat().st_mtime_ns for path in self._texts.rglob("*.zst")}

    def end(self) -> tuple[int, str]:
        """Return its exit code and output."""
        said, _ = self.process.communicate(timeout=LONGEST_S)
        return self.process.returncode, said


@pytest.fixture(scope="module")
def harvested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A harvested workspace that was not built; tests copy it."""
    folder = tmp_path_factory.mktemp("cluster") / "harvested"
    with (
        serve_simulator(build_world(papers=PAPERS, venues=VENUES)) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
        open_workspace(folder, create=True) as workspace,
    ):
        harvest(workspace, client, VENUES)
    return folder


def built(folder: Path) -> list[Rows]:
    """Return the tables of a workspace, whose sums must all agree with nothing left to do."""
    with open_workspace(folder, write=False) as workspace:
        standing = read_status(workspace)
        assert (standing.holds, standing.unfinished) == (True, [])
        return [rows(workspace, venue_id) for venue_id in VENUES]


@pytest.fixture(scope="module")
def expected(harvested: Path, machines: Cluster, tmp_path_factory: pytest.TempPathFactory) -> list[Rows]:
    """The tables made by this machine alone."""
    folder = shutil.copytree(harvested, tmp_path_factory.mktemp("cluster") / "local")
    machines.release_texts()
    code, said = Building(folder, machines, executor="local").end()
    assert code == 0, said
    found = built(folder)
    assert sum(len(venue["5-texts"]) for venue in found) >= FEWEST_FILES
    return found


@pytest.fixture(scope="module")
def machines() -> Iterator[Cluster]:
    # Ray's sockets are below it, and their paths must be short.
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        made = Cluster(Path(folder))
        made.hold_texts()
        try:
            yield made
        finally:
            made.stop()


@pytest.fixture
def cluster(machines: Cluster, expected: list[Rows]) -> Iterator[Cluster]:
    """Two running machines that will hold texts, whatever happened to them before."""
    assert expected
    machines.start()
    machines.hold_texts()
    yield machines
    for process in machines.builds:
        process.kill()
        process.communicate()
    machines.builds.clear()


@pytest.fixture
def corpus(harvested: Path, tmp_path: Path) -> Path:
    return shutil.copytree(harvested, tmp_path / "corpus")


@pytest.mark.fault("machine", "a machine of a cluster dies during a build", "the tables are the same")
def test_dying_machine_changes_no_table(corpus: Path, cluster: Cluster, expected: list[Rows]) -> None:
    building = Building(corpus, cluster)
    building.wait_for_texts(cluster["second"])
    cluster["second"].kill()
    cluster.release_texts()
    assert building.end()[0] == 0
    assert built(corpus) == expected


def test_command_resumes_after_total_death(corpus: Path, cluster: Cluster, expected: list[Rows]) -> None:
    building = Building(corpus, cluster)
    building.wait_for_texts(cluster["second"])
    building.process.kill()
    building.end()
    kept = building.texts()
    cluster.stop()
    cluster.release_texts()
    cluster.start()
    assert Building(corpus, cluster).end()[0] == 0
    assert kept.items() <= building.texts().items(), "what was read is read again"
    assert built(corpus) == expected


def test_death_of_the_head_is_reported(corpus: Path, cluster: Cluster, expected: list[Rows]) -> None:
    building = Building(corpus, cluster)
    building.wait_for_texts(cluster["head"])
    cluster["head"].kill()
    code, said = building.end()
    assert (code, "Traceback" in said) == (3, False)
    assert said.splitlines()[-1] == Naming("peercorpus: ", "Ray cluster")
    cluster.stop()
    cluster.release_texts()
    cluster.start()
    assert Building(corpus, cluster).end()[0] == 0
    assert built(corpus) == expected
