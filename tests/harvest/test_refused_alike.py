"""If every request of one kind is refused in the same way, a harvest fails and reports what is lost."""

from pathlib import Path

import pytest

from commands import Run
from peercorpus.simulator.server.damage import Fault
from peercorpus.simulator.server.faults import on_path
from peercorpus.simulator.server.responses import invalid
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world

AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
ALWAYS = 10**6
REFUSAL = Fault(invalid("offset", "0", "is not supported any more").answer())


def harvest(run: Run, folder: Path, venue_id: str, path: str, times: int) -> tuple[int, str]:
    """Harvest from a service that refuses some requests to a path; return the exit code and the error."""
    with serve_simulator(
        build_world(papers=6, venues=[venue_id]), faults=on_path(path, REFUSAL, times=times)
    ) as service:
        urls = ("--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2)
        ended = run("harvest", venue_id, "--workspace", str(folder), *urls)
    return int(ended.code or 0), ended.err


@pytest.mark.parametrize(("venue_id", "path"), [(BOREALIS, "/notes/edits"), (AURORA, "/references")])
def test_refused_edits_name_their_cost(run: Run, tmp_path: Path, venue_id: str, path: str) -> None:
    code, said = harvest(run, tmp_path / "w", venue_id, path, ALWAYS)
    assert code == 1
    assert (
        f"requests for the edits of '{venue_id}' with the same answer (400 Validation), so the grades 'exact'" in said
    )


def test_a_few_refusals_are_not_a_failure(run: Run, tmp_path: Path) -> None:
    assert harvest(run, tmp_path / "w", BOREALIS, "/notes/edits", 4)[0] == 0


def test_a_rerun_fails_until_refresh_fetches_the_edits(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    assert harvest(run, folder, BOREALIS, "/notes/edits", ALWAYS)[0] == 1
    assert harvest(run, folder, BOREALIS, "/notes/edits", 0)[0] == 1
    with serve_simulator(build_world(papers=6, venues=[BOREALIS])) as service:
        urls = ("--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2)
        assert run("harvest", BOREALIS, "--refresh", "--workspace", str(folder), *urls).code == 0
