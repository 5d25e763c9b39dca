"""Measures how fast the version the reviewers read is chosen: from edits in memory, and as a stage from `raw.db`."""

import gc
import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import orjson

from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.forms.normalise import STAGE as NORMALISE
from peercorpus.versions import find_versions
from peercorpus.versions.find_versions import read_versions
from peercorpus.versions.initial_version import choose_initial_version
from peercorpus.versions.uploads import SubmissionPdfs
from peercorpus.workspace.harvest_state import StoredFile
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace
from tabling import KEY, ROUNDS, in_a_process, timed

PAPERS = 4_000


def _paths(found: object) -> Iterator[str]:
    if isinstance(found, dict):
        for inner in found.values():
            yield from _paths(inner)
    elif isinstance(found, str) and found.startswith(("/pdf/", "/attachment/")):
        yield found


def give_files(workspace: Workspace) -> None:
    """Give every named path a file, so that every rule is evaluated completely."""
    with workspace.raw.transaction():
        for venue_id in workspace.raw.venues():
            for kind in (RawKind.NOTE, RawKind.REFERENCE, RawKind.EDIT):
                for found in list(workspace.raw.latest(kind, venue_id)):
                    for path in _paths(orjson.loads(found.body)):
                        sha256 = hashlib.sha256(path.encode()).hexdigest()
                        stored = StoredFile(found.object_id, path, venue_id, found.forum_id, sha256, 1, None)
                        workspace.raw.state.add_file(stored)


def _run(workspace: Workspace) -> None:
    for venue_id in workspace.raw.venues():
        find_versions.run(workspace, venue_id, BuildRequest(), KEY, no_report)


def _submissions(workspace: Workspace) -> list[SubmissionPdfs]:
    """Every submission as the stage passes it to the choice."""
    held: list[SubmissionPdfs] = []

    def keep(submission: SubmissionPdfs) -> list[object]:
        held.append(submission)
        return []

    with patch.object(find_versions, "read_versions", keep):
        _run(workspace)
    return held


def _over(held: list[SubmissionPdfs], one: Callable[[SubmissionPdfs], object]) -> Callable[[], None]:
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
            NORMALISE.run(workspace, venue_id, BuildRequest(), KEY, no_report)
        held = _submissions(workspace)
        rows = sum(len(read_versions(one)) for one in held)
        gc.collect()
        passes: dict[str, Callable[[], None]] = {
            "chosen, of edits in memory": _over(held, choose_initial_version),
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
