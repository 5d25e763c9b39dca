"""Other machines, zones, locales and clocks: the same tables and the same release, byte for byte."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

import peercorpus
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.venues import AURORA, BOREALIS
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.pseudonyms import KEY_BYTES, store_key
from peercorpus.workspace.workspace import open_workspace

pytestmark = pytest.mark.slow(40)

VENUES = (AURORA.venue_id, BOREALIS.venue_id)
"""One of each API."""

RUN = """
import sys
from peercorpus.cli.main import main
{more}
if __name__ == "__main__":
    for command in sys.argv[1:]:
        try:
            main(command.split())
        except SystemExit as ended:
            assert ended.code == 0, command
"""
"""Runs several commands in one process, so that libraries are loaded only once."""

CLOCK = """
import datetime, time

ahead_s = {year_s} - time.time()
for name, unit in (("time", 1), ("time_ns", 10**9)):
    real = getattr(time, name)
    setattr(time, name, lambda real=real, unit=unit: real() + type(unit)(ahead_s * unit))

class Shifted(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(time.time(), tz)
"""
"""Sets the clock of a process, as far as Python reads it."""

SET_NOW = """
import importlib
from sitecustomize import Shifted

for name in {modules}:
    importlib.import_module(name).datetime = Shifted
"""
"""Sets the result of `datetime.now` in some modules; in others, libraries expect the class itself."""

YEAR_1970_S = 5 * 3600
YEAR_2100_S = 4_102_444_800

MACHINES: tuple[tuple[dict[str, str], int], ...] = (
    ({"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}, 1),
    ({"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONHASHSEED": "4"}, 2),
    ({"TZ": "Asia/Kolkata", "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONHASHSEED": "5"}, 4),
    ({"TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "6"}, 1),
    ({"TZ": "America/St_Johns", "LANG": "ja_JP.EUC-JP", "PYTHONUTF8": "0", "PYTHONHASHSEED": "7"}, 2),
    ({"TZ": "Pacific/Pago_Pago", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, 1),
)
"""Environment and workers of six builds, which cover each value once; a locale that is not installed acts like C."""


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serve_simulator(build_world(papers=2, venues=VENUES)) as served:
        yield served


def settle_secrets(folder: Path) -> None:
    """Give a workspace the same secrets as the others: otherwise each draws its own pseudonym key and salt."""
    with closing(sqlite3.connect(folder / "raw.db", isolation_level=None)) as database:
        store_key(database, bytes(KEY_BYTES))
    (folder / "takedown.salt").write_bytes(bytes(32))


def run(folder: Path, settings: Mapping[str, str], *commands: str, more: str = "") -> None:
    """Run commands in a folder, with environment settings added to those of this process."""
    (folder / "run.py").write_text(RUN.format(more=more), encoding="utf-8")
    line = [sys.executable, "run.py", *commands]
    ended = subprocess.run(line, cwd=folder, env=os.environ | settings, capture_output=True, timeout=300)
    assert ended.returncode == 0, ended.stderr


def digest_products(folder: Path) -> dict[str, str]:
    """Return the sha256 of every part of a table and of every file of a release, by path."""
    tables = (folder / "corpus" / "tables").rglob("*.parquet")
    parts = {f"{path.parent.relative_to(folder)}: {digest(path)}": "" for path in tables}
    release = (path for path in (folder / "release").rglob("*") if path.is_file())
    return parts | {str(path.relative_to(folder)): digest(path) for path in release}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.fault(
    "machine", "six builds over time zones, locales, workers and hash seeds", "tables and releases are the same bytes",
    times=6,
)  # fmt: skip
def test_six_machines_make_the_same_bytes(service: Service, tmp_path: Path) -> None:
    harvested = tmp_path / "harvested"
    with (
        open_workspace(harvested, create=True) as workspace,
        Client(service.base_url_v1, service.base_url_v2) as client,
    ):
        harvest(workspace, client, VENUES)
    settle_secrets(harvested)
    products = []
    for number, (settings, workers) in enumerate(MACHINES):
        folder = tmp_path / str(number)
        shutil.copytree(harvested, folder / "corpus")
        run(
            folder,
            settings,
            f"build --workspace corpus --workers {workers}",
            "publish --workspace corpus --out release",
        )
        products.append(digest_products(folder))
    assert len(products[0]) > 20
    assert [number for number, product in enumerate(products) if product != products[0]] == []


def list_askers() -> list[str]:
    """Return the modules that get the time from `datetime`."""
    root = Path(peercorpus.__file__).parent
    paths = [path for path in root.rglob("*.py") if "datetime.now(" in path.read_text(encoding="utf-8")]
    names = [".".join(("peercorpus", *path.relative_to(root).with_suffix("").parts)) for path in paths]
    return [name for name in names if not name.startswith("peercorpus.simulator.")]


@pytest.mark.fault("machine", "a clock of 1970 or 2100, from harvest to release", "nothing", times=2)
def test_other_century_changes_nothing(service: Service, tmp_path: Path) -> None:
    urls = f"--url-v1 {service.base_url_v1} --url-v2 {service.base_url_v2}"
    askers = list_askers()
    assert len(askers) > 3
    products = []
    for name, year_s in {"now": time.time(), "1970": YEAR_1970_S, "2100": YEAR_2100_S}.items():
        folder = tmp_path / name
        folder.mkdir()
        # Worker processes read it too.
        (folder / "sitecustomize.py").write_text(CLOCK.format(year_s=year_s), encoding="utf-8")
        settings, more = {"PYTHONPATH": str(folder)}, SET_NOW.format(modules=askers)
        run(folder, settings, f"harvest {' '.join(VENUES)} --workspace corpus {urls}", more=more)
        settle_secrets(folder / "corpus")
        made = ("build --workspace corpus", "publish --workspace corpus --out release")
        run(folder, settings, *made, more=more)
        products.append(digest_products(folder))
    # The card and the manifest state on which days the venues were read.
    rows = [{name for name in product.items() if "parquet" in name[0] or not name[1]} for product in products]
    assert len(rows[0]) > 20
    assert rows[1] == rows[0]
    assert rows[2] == rows[0]
