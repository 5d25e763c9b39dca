"""Measures how fast the version the reviewers read is chosen: from edits in memory, and as a stage from `raw.db`."""

import gc
import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import orjson

from peercorpus.errands import StoredFile
from peercorpus.forms.normalise import STAGE as NORMALISE
from peercorpus.raw import Kind
from peercorpus.stage import Options, no_report
from peercorpus.versions import read
from peercorpus.versions.choose import choose
from peercorpus.versions.rows import read_versions
from peercorpus.versions.uploads import Submission
from peercorpus.workspace import Workspace, open_workspace
from tabling import KEY, ROUNDS, in_a_process, timed

PAPERS = 4_000


def _paths(found: object) -> Iterator[str]:
    if isinstance(found, dict):
        for inner in found.values():
            yield from _paths(inner)
    elif isinstance(found, str) and found.startswith(("/pdf/", "/attachment/")):
        yield found


def give_files(workspace: Workspace) -> None:
    """Let every path that is named have a file, so that every rule is gone through to its end."""
    with workspace.raw.transaction():
        for venue_id in workspace.raw.venues():
            for kind in (Kind.NOTE, Kind.REFERENCE, Kind.EDIT):
                for found in list(workspace.raw.latest(kind, venue_id)):
                    for path in _paths(orjson.loads(found.body)):
                        sha256 = hashlib.sha256(path.encode()).hexdigest()
                        stored = StoredFile(found.object_id, path, venue_id, found.forum_id, sha256, 1, None)
                        workspace.raw.add_file(stored)


def _run(workspace: Workspace) -> None:
    for venue_id in workspace.raw.venues():
        read.run(workspace, venue_id, Options(), KEY, no_report)


def _submissions(workspace: Workspace) -> list[Submission]:
    """Every submission as the stage hands it to the choice."""
    held: list[Submission] = []

    def keep(submission: Submission) -> list[object]:
        held.append(submission)
        return []

    with patch.object(read, "read_versions", keep):
        _run(workspace)
    return held


def _over(held: list[Submission], one: Callable[[Submission], object]) -> Callable[[], None]:
    def work() -> None:
        for submission in held:
            one(submission)

    return work


def measure_choosing(scratch: Path) -> None:
    """Papers a second of the choice alone, with its rows, and of the stage; one process, the best of some rounds."""
    folder = scratch / "versions"
    in_a_process("fill", str(folder), str(PAPERS))
    with open_workspace(folder) as workspace:
        give_files(workspace)
        for venue_id in workspace.raw.venues():
            NORMALISE.run(workspace, venue_id, Options(), KEY, no_report)
        held = _submissions(workspace)
        rows = sum(len(read_versions(one)) for one in held)
        gc.collect()
        passes: dict[str, Callable[[], None]] = {
            "chosen, of edits in memory": _over(held, choose),
            "chosen, and every version made a row": _over(held, read_versions),
            "the whole stage, from `raw.db` to the table": lambda: _run(workspace),
        }
        best = {name: min(timed(work) for _ in range(ROUNDS)) for name, work in passes.items()}
        began = time.perf_counter()
        _run(workspace)
        wall = time.perf_counter() - began
    print(f"\n{len(held):,} papers, {rows:,} versions\n")
    print("| pass | s CPU | papers/s |\n|---|---:|---:|")
    for name, seconds in best.items():
        print(f"| {name} | {seconds:.2f} | {len(held) / seconds:,.0f} |")
    print(f"\nThe stage took {wall:.2f} s by the clock.")
