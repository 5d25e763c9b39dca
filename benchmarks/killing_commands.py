"""Kills every command of the pipeline at random instants: what a last run then finishes must equal the undisturbed."""

import hashlib
import random
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from kills import PROGRAM, read_content
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.venues import VENUES
from peercorpus.simulator.world.world import build_world

KILLS_PER_COMMAND = 4
"""Kills of one command in a workspace before it is left to end."""

PRODUCTS = ("release", "export", "report")


@dataclass(frozen=True, slots=True)
class Step:
    """One command: its name, and its arguments, in a folder that holds `corpus` and what is made of it."""

    name: str
    arguments: tuple[str, ...]


def list_steps(service: Service) -> list[Step]:
    """Return the commands in the order in which a user runs them."""
    corpus = ("--workspace", "corpus")
    urls = ("--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2)
    steps = [
        ("harvest", *(venue.venue_id for venue in VENUES), *corpus, *urls),
        ("build", *corpus),
        ("takedown", "~Nobody_Known1", "--force", *corpus),
        ("check", "--repair", *corpus),
        ("publish", *corpus, "--out", "release"),
        ("export", "release", "--format", "trl", "--out", "export"),
        ("report", *corpus, "--out", "report"),
    ]
    return [Step(arguments[0], arguments) for arguments in steps]


def run_whole(step: Step, folder: Path) -> float:
    """Run a command to its end and return the seconds that it took.

    Raises:
        SystemExit: It failed.
    """
    began = time.monotonic()
    ended = subprocess.run([*PROGRAM, *step.arguments], cwd=folder, capture_output=True)
    if ended.returncode != 0:
        raise SystemExit(f"{step.name} in {folder.name} ended with {ended.returncode}: {ended.stderr.decode()}")
    return time.monotonic() - began


def kill_at(step: Step, folder: Path, after_s: float) -> bool:
    """Start a command and kill it after some seconds; return whether it ended by itself before.

    Raises:
        SystemExit: It failed.
    """
    command = [*PROGRAM, *step.arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
        try:
            _, said = run.communicate(timeout=after_s)
        except subprocess.TimeoutExpired:
            run.kill()
            _, said = run.communicate()
    if run.returncode not in {0, -9}:
        raise SystemExit(f"{step.name} in {folder.name} ended with {run.returncode}: {said.decode()}")
    return run.returncode == 0


def settle_key(folder: Path) -> None:
    """Give a harvested workspace the key of all others: each draws one for the pseudonyms in its tables."""
    with closing(sqlite3.connect(folder / "corpus" / "raw.db", isolation_level=None)) as database:
        database.execute("UPDATE secrets SET value = ?", [bytes(32)])


def read_products(folder: Path) -> dict[str, str]:
    """Return the digest of every file of the products."""
    paths = sorted(path for name in PRODUCTS for path in (folder / name).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def report(scratch: Path, kills: int, seed: int, papers: int) -> None:
    """Kill the commands so many times in all, over as many workspaces as it takes, and say how each one differs.

    Args:
        scratch: An empty folder.
        kills: Kills in all.
        seed: Of the instants; how far a run has come by then depends on the machine.
        papers: Of the simulated venues together.

    Raises:
        SystemExit: A workspace or a product differs from the undisturbed one, or a command failed.
    """
    draw = random.Random(seed)
    differs = False
    with serve_simulator(build_world(papers=papers)) as service:
        steps = list_steps(service)
        undisturbed = scratch / "undisturbed"
        undisturbed.mkdir()
        took_s = {}
        for step in steps:
            took_s[step.name] = run_whole(step, undisturbed)
            if step.name == "harvest":
                settle_key(undisturbed)
        wanted = read_products(undisturbed) | read_content(undisturbed / "corpus")
        done = 0
        while done < kills:
            folder = scratch / f"{done}-killed"
            folder.mkdir()
            counts = {}
            for step in steps:
                allowed = min(KILLS_PER_COMMAND, kills - done)
                counts[step.name] = 0
                is_finished = False
                while counts[step.name] < allowed and not is_finished:
                    is_finished = kill_at(step, folder, draw.uniform(0, took_s[step.name]))
                    counts[step.name] += not is_finished
                if not is_finished:
                    run_whole(step, folder)
                done += counts[step.name]
                if step.name == "harvest":
                    settle_key(folder)
            found = read_products(folder) | read_content(folder / "corpus")
            names = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
            said = ", ".join(f"{name} {count}" for name, count in counts.items())
            verdict = f"differs in {', '.join(names)}" if names else "equal"
            print(f"killed {sum(counts.values())} times ({said}): {verdict}", flush=True)
            differs = differs or bool(names)
    if differs:
        raise SystemExit(f"Not everything equals the undisturbed (seed {seed}, {papers} papers).")
