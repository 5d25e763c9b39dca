"""`peercorpus simulate`: it prints what a client needs, and every switch reaches the service."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from commands import Run, assert_refused
from tiny_world import free_neighbours

VENUE = "Borealis.cc/2024/Conference"


@contextmanager
def simulating(*arguments: str) -> Iterator[tuple[str, list[str]]]:
    """The base URL of API v2 of a simulator in a separate process, and the lines it printed."""
    port = free_neighbours()
    command = [sys.executable, "-m", "peercorpus", "simulate", "--port", str(port), "--papers", "1", "--venues", VENUE]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith("Harvest it"):
                break
        try:
            yield f"http://127.0.0.1:{port + 1}", lines
        finally:
            process.terminate()


@pytest.mark.slow
def test_options_reach_the_service() -> None:
    switches = ["--sign-in", "--mfa", "--budget", "3"]
    with simulating(*switches) as (url, lines), httpx2.Client(base_url=url) as client:
        found = re.search(r"sign in as (\S+), (\S+), code (\d+)\.", "\n".join(lines))
        assert found is not None
        user, password, code = found.groups()
        assert client.get("/notes?id=x").json()["name"] == "ChallengeRequiredError"
        pending = client.post("/login", json={"id": user, "password": password}).json()["mfaPendingToken"]
        brought = {"mfaPendingToken": pending, "method": "totp", "code": code}
        client.headers["Authorization"] = f"Bearer {client.post('/mfa/verify', json=brought).json()['token']}"
        answers = [client.get(f"/notes?domain={VENUE}&limit=1") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[0].headers["ratelimit-policy"] == "3;w=3600"


@pytest.mark.slow
@pytest.mark.parametrize(
    "switches",
    [["--fault", "error_500", "--fault", "no_count"], ["--fault", "error_500", "no_count"]],
    ids=["repeated", "listed"],
)
def test_faults_are_announced_and_happen(switches: list[str]) -> None:
    with simulating(*switches) as (url, lines), httpx2.Client(base_url=url) as client:
        assert [line for line in lines if line.startswith("Fault")] == [
            "Fault error_500: 500 as JSON",
            "Fault no_count: lists without count",
        ]
        answers = [client.get(f"/notes?domain={VENUE}&count=true") for _ in range(10)]
        assert [answer.status_code for answer in answers].count(500) == 1
        assert "count" not in answers[0].json()


def test_unknown_fault_is_refused(run: Run) -> None:
    assert_refused(run("simulate", "--fault", "rain"), "no fault 'rain'", "rate_limit, rate_limit_in_words, ")
