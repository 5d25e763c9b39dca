"""A harvest may stop at any moment; the same call resumes and ends like an undisturbed one."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from peercorpus.execution.progress import Progress
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.simulator.server.service import Service
from peercorpus.workspace.workspace import Workspace, open_workspace

pytestmark = pytest.mark.slow

KILLED_AT_THE_TENTH = """
import os, signal, sys
from pathlib import Path
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.workspace.workspace import open_workspace

steps = 0
def stop(_):
    global steps
    steps += 1
    if steps == 10:
        os.kill(os.getpid(), signal.SIGKILL)

folder, url_v1, url_v2, *venue_ids = sys.argv[1:]
with open_workspace(Path(folder), create=True) as workspace, Client(url_v1, url_v2) as client:
    harvest(workspace, client, venue_ids, progress=stop)
"""


class Stopper:
    """Interrupts at the n-th step."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, _: Progress) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.fixture
def undisturbed(
    service: Service, hasty: Callable[..., Client], venue_ids: list[str], digests: Callable[..., object], tmp_path: Path
) -> object:
    with open_workspace(tmp_path / "undisturbed", create=True) as workspace:
        harvest(workspace, hasty(service), venue_ids)
        service.requests.clear()
        return digests(workspace)


@pytest.mark.parametrize("every", [1, 7, 20])
def test_an_interrupted_harvest_resumes(
    service: Service,
    workspace: Workspace,
    hasty: Callable[..., Client],
    venue_ids: list[str],
    digests: Callable[..., object],
    undisturbed: object,
    every: int,
) -> None:
    runs = 0
    while runs < 500:
        runs += 1
        try:
            harvest(workspace, hasty(service), venue_ids, progress=Stopper(every))
        except KeyboardInterrupt:
            continue
        break
    assert runs > 3
    assert digests(workspace) == undisturbed
    asked = Counter((one.api, one.path, tuple(sorted(one.query.items()))) for one in service.requests)
    twice = [(path, dict(query)) for (_, path, query), times in asked.items() if times > 1]
    # Each run requests the settings, checks complete lists for additions, changes and removals, and checks after
    # fetching files whether their papers still name them.
    is_question = [
        path in {"/groups", "/invitations", "/notes/search"} or _asks_for_news(query) for path, query in twice
    ]
    assert all(is_question), twice


def _asks_for_news(query: dict[str, str]) -> bool:
    return "mintmdate" in query or query.get("limit") == "1"


@pytest.mark.fault("kill", "a harvest at its tenth commit, again and again", "the same command goes on")
def test_a_killed_harvest_resumes(
    service: Service, venue_ids: list[str], digests: Callable[..., object], undisturbed: object, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    urls = [service.base_url_v1, service.base_url_v2]
    command = [sys.executable, "-c", KILLED_AT_THE_TENTH, str(folder), *urls, *venue_ids]
    for _ in range(2):
        assert subprocess.run(command, check=False, timeout=60).returncode == -9
    with open_workspace(folder) as workspace, Client(*urls) as client:
        harvest(workspace, client, venue_ids)
        assert digests(workspace) == undisturbed
