"""Measures how fast files are inspected for signs of their version: simulated PDFs, and folders of real ones."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.records.documents import Inspection
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.versions.inspect import INSPECTOR, PdfFindings, inspect_file
from peercorpus.versions.version_signs import infer_version
from peercorpus.workspace.workspace import open_workspace
from tabling import ROUNDS, timed

VENUES = ["Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"]
PAPERS = 60
FOLDERS = "PEERCORPUS_PDFS"
"""The variable of the environment that names folders of real PDFs, apart by `os.pathsep`; none is in the repository."""

DEADLINE = datetime(2020, 10, 2, 15, tzinfo=UTC)


def measure_files(scratch: Path) -> None:
    """Files a second on one core, in one process, the best of some rounds; and judgements a second."""
    named = {"simulated": _simulated(scratch / "files")}
    for folder in filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)):
        named[Path(folder).name] = [path.read_bytes() for path in sorted(Path(folder).rglob("*.pdf"))]
    print("\n| PDFs | files | pages | MB | files/s | pages/s | judged/s |\n|---|---:|---:|---:|---:|---:|---:|")
    for name, pdfs in named.items():
        looked = [inspect_file(pdf) for pdf in pdfs]
        pages, size = sum(one.pages for one in looked), sum(map(len, pdfs)) / 1e6
        took = min(timed(partial(_look, pdfs)) for _ in range(ROUNDS))
        rows = [_inspection(one) for one in looked] * 100
        judging = min(timed(partial(_judge, rows)) for _ in range(ROUNDS))
        speeds = f"{len(pdfs) / took:,.0f} | {pages / took:,.0f} | {len(rows) / judging:,.0f}"
        print(f"| {name} | {len(pdfs):,} | {pages:,} | {size:.1f} | {speeds} |")


def _look(pdfs: Sequence[bytes]) -> None:
    for pdf in pdfs:
        inspect_file(pdf)


def _judge(rows: Sequence[Inspection]) -> None:
    for row in rows:
        infer_version(row, DEADLINE)


def _inspection(looked: PdfFindings) -> Inspection:
    dates = (looked.made_at, looked.changed_at, looked.producer)
    return Inspection("0" * 64, "f", "v", looked.pages, *dates, looked.signs, looked.problems, INSPECTOR)


def _simulated(folder: Path) -> list[bytes]:
    """The distinct files of simulated papers, as harvested."""
    with (
        serve_simulator(build_world(papers=PAPERS, venues=VENUES)) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
        open_workspace(folder, create=True) as workspace,
    ):
        harvest(workspace, client, VENUES)
        held = {stored.sha256 for venue_id in VENUES for stored in workspace.raw.state.files(venue_id) if stored.sha256}
        return [workspace.files.read(sha256) for sha256 in sorted(held)]
