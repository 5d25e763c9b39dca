"""Kills every command that writes at random instants: the final run must give the result of an uninterrupted one."""

import hashlib
import json
import random
import shutil
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from killing import compare, run_to_end, run_until
from kills import read_content
from peercorpus.records.enums import Role
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Post
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.venues import AURORA, BOREALIS
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.pseudonyms import KEY_BYTES, store_key
from peercorpus.workspace.workspace import open_workspace

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from hub_stand_in import Hub, serving_hub
from recipe_datasets import reviewbench_papers, write_reviewbench

KILLED_VENUES = (AURORA, BOREALIS)
"""One of each API; people sign with their names at both."""

WORKSPACES = ("corpus", "recipe-corpus")
VOLATILE = ("tables", "explorer", "parts")
"""Folders of a workspace whose files have random names or hold sets in any order; what they hold is compared otherwise:
tables row by row, what `parts` keeps by the releases that are made with it."""

Digests = dict[str, object]


@dataclass(frozen=True, slots=True)
class Step:
    """One command: its name here, and its arguments, with a separate folder for its output."""

    name: str
    arguments: tuple[str, ...]


def list_first_steps(service: Service) -> list[Step]:
    """Return the commands that produce the input of the others."""
    urls = ("--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2)
    venue_ids = [venue.venue_id for venue in KILLED_VENUES]
    return [
        Step("harvest", ("harvest", *venue_ids, "--workspace", "corpus", *urls)),
        Step("build", ("build", "--workspace", "corpus")),
    ]


def list_later_steps(given: Path, corpus: Path) -> list[Step]:
    """Write the input of the other commands, and return them in the order in which a user runs them.

    Args:
        given: A new folder for published files and PDFs.
        corpus: A built workspace, whose first paper is taken down and one of whose posts is decided on.
    """
    rows = [row for row in reviewbench_papers(100) if row["conference"] in {"icml", "colm"}]
    write_reviewbench(given / "published", rows)
    pdfs = given / "pdfs"
    pdfs.mkdir()
    with open_workspace(corpus, write=False) as workspace:
        posts = [post for venue in KILLED_VENUES for post in workspace.tables.read(Post, venue.venue_id)]
        # A submission of API 2 has a file by this name already.
        papers = list(workspace.tables.read(Paper, AURORA.venue_id))
    for paper, pdf in zip(papers, sorted((corpus / "files").rglob("*.pdf")), strict=False):
        shutil.copy(pdf, pdfs / f"{paper.forum_id}.pdf")
    answer = next(post for post in posts if post.role is Role.AUTHOR)
    gone = next(post for post in posts if post.forum_id != answer.forum_id)
    workspace_of = ("--workspace", "corpus")
    recipe = ("--from", str(given / "published"), "--no-harvest")
    commands: dict[str, tuple[str, ...]] = {
        "import of a dataset": ("import", str(given / "published"), *workspace_of),
        "import of PDFs": ("import", "--pdfs", str(pdfs), *workspace_of),
        "reminders": ("reminders", "--drop", answer.post_id, *workspace_of),
        "build with figures": ("build", "--figures", *workspace_of),
        "takedown": ("takedown", gone.forum_id, *workspace_of),
        "check": ("check", "--repair", *workspace_of),
        "publish": ("publish", *workspace_of),
        "publish --out": ("publish", *workspace_of, "--figures", "--latex", "--out", "release"),
        "push": ("push", "release", "ada/HUB", *workspace_of, "--yes"),
        "export": ("export", "release", "--format", "trl", "--out", "export"),
        "report": ("report", *workspace_of, "--out", "report"),
        "explore --select": ("explore", *workspace_of, "--select", "", "--out", "selection.parquet"),
        "convert": ("convert", str(pdfs), "--to", "latex", "--out", "texts"),
        "recipe": ("recipe", "reviewbench", "--workspace", "recipe-corpus", *recipe),
    }
    return [Step(name, arguments) for name, arguments in commands.items()]


def settle_secrets(folder: Path) -> None:
    """Give a harvested workspace the secrets of all others: each draws a key of pseudonyms and a salt for itself."""
    with closing(sqlite3.connect(folder / "corpus" / "raw.db", isolation_level=None)) as database:
        store_key(database, bytes(KEY_BYTES))
    (folder / "corpus" / "takedown.salt").write_bytes(bytes(32))


def read_whole(folder: Path, hub: Hub) -> Digests:
    """Return all output of the commands: rows and objects of the workspaces, and every other file."""
    whole: Digests = {"on the Hub": sorted(_digest_files(hub.repos[f"ada/{folder.name}"][1]).items())}
    for name in WORKSPACES:
        whole |= {f"{name}: {what}": content for what, content in read_content(folder / name).items()}
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    files = {str(path): (folder / path).read_bytes() for path in paths if not _is_volatile(path)}
    return whole | _digest_files(files)


def _is_volatile(path: Path) -> bool:
    return path.parts[0] in WORKSPACES and (path.parts[1] in VOLATILE or path.name.startswith("raw.db"))


def _digest_files(files: Mapping[str, bytes]) -> Digests:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    kept = ((name.replace(today, "DAY"), _settle_body(name, body)) for name, body in files.items())
    return {name: hashlib.sha256(body).hexdigest() for name, body in kept}


def _settle_body(name: str, body: bytes) -> bytes:
    """Return a file without what differs by place or time: paths of releases, and how long `convert` took."""
    if name.endswith("/published.jsonl"):
        return repr(sorted({json.loads(line)["sha256"] for line in body.splitlines()})).encode()
    if not (name.startswith("texts/") and name.endswith(".json")):
        return body
    told = json.loads(body)
    told.pop("seconds")
    return json.dumps(told).encode()


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs steps in folders below one, against the same services.

    Attributes:
        took_s: How long each step took undisturbed, by its name.
        kills: How often each was killed, by its name.
    """

    draw: random.Random
    hub: Hub
    took_s: dict[str, float]
    kills: Counter[str]

    def settings(self, folder: Path) -> dict[str, str]:
        """Return the environment in which a step runs."""
        home = str(folder.with_name("hub-home"))
        hub = {"HF_ENDPOINT": self.hub.url, "HF_TOKEN": self.hub.token, "HF_HUB_DISABLE_XET": "1", "HF_HOME": home}
        return hub | {"PEERCORPUS_CONFIG": str(folder.with_name("nobody"))}

    def arguments(self, step: Step, folder: Path) -> list[str]:
        """Return the arguments of a step: each upload has a separate repository on the Hub."""
        return [argument.replace("ada/HUB", f"ada/{folder.name}") for argument in step.arguments]

    def run_whole(self, steps: Sequence[Step], folder: Path) -> None:
        """Run steps to the end, and record the time of each."""
        for step in steps:
            self.took_s[step.name] = run_to_end(self.arguments(step, folder), folder, self.settings(folder))
            print(f"{step.name}: {self.took_s[step.name]:.1f} s", flush=True)
            if step.name == "harvest":
                settle_secrets(folder)

    def run_killed(self, steps: Sequence[Step], folder: Path, kills: int, per_command: int) -> int:
        """Kill each step a few times before it may finish; return the number of kills.

        Args:
            steps: All steps.
            folder: An empty folder.
            kills: At most so many.
            per_command: At most so many of one command.
        """
        before = self.kills.total()
        for step in steps:
            arguments, settings = self.arguments(step, folder), self.settings(folder)
            is_finished = False
            for _ in range(min(per_command, kills - self.kills.total() + before)):
                after_s = self.draw.uniform(0, self.took_s[step.name])
                is_finished = run_until(arguments, folder, settings, after_s)
                if is_finished:
                    break
                self.kills[step.name] += 1
            if not is_finished:
                run_to_end(arguments, folder, settings)
            if step.name == "harvest":
                settle_secrets(folder)
        return self.kills.total() - before


def report(
    scratch: Path,
    kills: int,
    seed: int,
    papers: int,
    *,
    per_command: int = 6,
    workspaces: int | None = None,
    result: Path | None = None,
) -> None:
    """Kill the commands that many times in total, in as many workspaces as needed, and report how each one differs.

    Args:
        scratch: An empty folder.
        kills: Kills in all.
        seed: Of the instants; how far a run has come by then depends on the machine.
        papers: Of the simulated venues together.
        per_command: Kills of one command in a workspace before it is left to end.
        workspaces: At most so many are killed, each once through all commands; None for as many as the kills take.
        result: Where to write what was found, as JSON.

    Raises:
        SystemExit: A workspace or a product differs from the undisturbed one, or a command failed.
    """
    began = time.monotonic()
    verdicts: list[str] = []
    world = build_world(papers=papers, venues=[venue.venue_id for venue in KILLED_VENUES])
    with serve_simulator(world) as service, serving_hub() as hub:
        runner = Runner(random.Random(seed), hub, {}, Counter())
        undisturbed = scratch / "undisturbed"
        undisturbed.mkdir()
        steps = list_first_steps(service)
        runner.run_whole(steps, undisturbed)
        later = list_later_steps(scratch / "given", undisturbed / "corpus")
        runner.run_whole(later, undisturbed)
        steps += later
        wanted = read_whole(undisturbed, hub)
        while runner.kills.total() < kills and (workspaces is None or len(verdicts) < workspaces):
            folder = scratch / f"killed-{len(verdicts)}"
            folder.mkdir()
            times = runner.run_killed(steps, folder, kills - runner.kills.total(), per_command)
            verdicts.append(compare(wanted, read_whole(folder, hub)))
            print(f"killed {times} times: {verdicts[-1]}", flush=True)
            shutil.rmtree(folder)
    found = {
        "seed": seed,
        "papers": papers,
        "workspaces": len(verdicts),
        "differing": sum(verdict != "equal" for verdict in verdicts),
        "kills": {step.name: runner.kills[step.name] for step in steps},
        "undisturbed_s": {step.name: round(runner.took_s[step.name], 1) for step in steps},
        "minutes": round((time.monotonic() - began) / 60, 1),
    }
    _tell(found)
    if result is not None:
        result.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if found["differing"]:
        raise SystemExit(f"Not everything equals the undisturbed (seed {seed}, {papers} papers).")


def _tell(found: Mapping[str, Any]) -> None:
    """Print the kills by command, then in all."""
    print("\n| command | kills | undisturbed, s |\n|---|---:|---:|")
    for name, kills in found["kills"].items():
        print(f"| {name} | {kills} | {found['undisturbed_s'][name]} |")
    numbers = f"{sum(found['kills'].values())} | {found['workspaces']} | {found['differing']} | {found['minutes']}"
    print(f"\n| kills | workspaces | that differ | minutes |\n|---:|---:|---:|---:|\n| {numbers} |")
