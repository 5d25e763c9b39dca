"""Runs of the compared clients, each in a separate process: ours, and openreview-py unchanged."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from apart import own_peak_mb
from peercorpus.execution.requests import HarvestRequest
from peercorpus.simulator.world.venues import VENUES
from service import Service

API_OF = {venue.venue_id: venue.api for venue in VENUES}
LISTS = {1: ("Blind_Submission", "Withdrawn_Submission", "Desk_Rejected_Submission"), 2: ("Submission",)}
THREADS = 4


class Took(NamedTuple):
    """The cost of a task, without the start of its process and its imports.

    Attributes:
        notes: Submissions and replies received.
        cpu_s: Of the client alone.
        peak_mb: Resident memory of the process at most.
    """

    notes: int
    wall_s: float
    cpu_s: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Task:
    """Which venue to fetch, from where, into which empty folder."""

    venue_id: str
    urls: tuple[str, str]
    folder: Path


def measure(way: str, venue_id: str, service: Service) -> Took:
    """Do one piece of work, named in `WAYS`, in a separate process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, way, venue_id, *service.urls, str(Path(folder) / "corpus")]
        # openreview-py reads both addresses when it is imported.
        names = ("OPENREVIEW_API_V1_URL", "OPENREVIEW_API_V2_URL")
        told = os.environ | dict(zip(names, service.urls, strict=True))
        run = subprocess.run(command, env=told, capture_output=True, text=True, encoding="utf-8")
    if run.returncode:
        raise SystemExit(f"{way} failed:\n{run.stderr}")
    return Took(*json.loads(run.stdout.splitlines()[-1]))


def _list_ours(task: Task) -> Callable[[], int]:
    """Every submission with all replies, stored."""
    from peercorpus.execution.progress import show_nothing
    from peercorpus.harvest.session import VenueSession
    from peercorpus.harvest.submissions import harvest_submissions, store_settings
    from peercorpus.openreview.client import Client
    from peercorpus.openreview.venue_discovery import discover
    from peercorpus.workspace.raw_store import RawKind
    from peercorpus.workspace.workspace import open_workspace

    def work() -> int:
        with (
            open_workspace(task.folder, create=True) as workspace,
            Client(*task.urls, budget_state=workspace.budget_state) as client,
        ):
            profile = discover(client, task.venue_id)
            visit = VenueSession(workspace.raw, workspace.files, client, profile, None, False, show_nothing)
            store_settings(visit)
            harvest_submissions(visit)
            return workspace.raw.count(RawKind.NOTE, task.venue_id)

    return work


def _harvest_ours(task: Task, *, files: bool) -> Callable[[], int]:
    """The same and earlier versions, or these and all files, stored."""
    from peercorpus.harvest.harvest import harvest
    from peercorpus.openreview.client import Client
    from peercorpus.workspace.workspace import open_workspace

    def work() -> int:
        with (
            open_workspace(task.folder, create=True) as workspace,
            Client(*task.urls, budget_state=workspace.budget_state) as client,
        ):
            (summary,) = harvest(workspace, client, [task.venue_id], request=HarvestRequest(no_files=not files))
            return summary.submissions + summary.replies

    return work


def _edits_in_threads(task: Task) -> Callable[[], int]:
    """The edits of every submission, requested by several threads of one client; nothing is stored."""
    from peercorpus.openreview.client import Client
    from peercorpus.openreview.listing import fetch_edits, fetch_submissions, object_id
    from peercorpus.workspace.workspace import open_workspace

    def work() -> int:
        with ExitStack() as stack:
            workspace = stack.enter_context(open_workspace(task.folder, create=True))
            client = stack.enter_context(Client(*task.urls, budget_state=workspace.budget_state))
            pages = fetch_submissions(client, 2, f"{task.venue_id}/-/Submission")
            ids = [object_id(item) for page in pages for item in page.items]
            threads = stack.enter_context(ThreadPoolExecutor(THREADS))
            return sum(threads.map(lambda note_id: len(list(fetch_edits(client, note_id))), ids))

    return work


def _openreview_py(task: Task) -> Callable[[], Any]:
    import openreview.api

    import openreview

    v1, v2 = task.urls
    is_old = API_OF[task.venue_id] == 1
    return lambda: openreview.Client(v1) if is_old else openreview.api.OpenReviewClient(v2)


def _list_theirs(task: Task) -> Callable[[], int]:
    """Every submission with all replies, in memory."""
    connect, names = _openreview_py(task), LISTS[API_OF[task.venue_id]]

    def work() -> int:
        client = connect()
        lists = [client.get_all_notes(invitation=f"{task.venue_id}/-/{name}", details="replies") for name in names]
        return sum(1 + len(note.details["replies"]) for notes in lists for note in notes)

    return work


def _forums_theirs(task: Task) -> Callable[[], int]:
    """Every submission, then the notes of each forum, like crawlers that work forum by forum."""
    connect, names = _openreview_py(task), LISTS[API_OF[task.venue_id]]

    def work() -> int:
        client = connect()
        lists = [client.get_all_notes(invitation=f"{task.venue_id}/-/{name}") for name in names]
        return sum(len(client.get_all_notes(forum=note.id)) for notes in lists for note in notes)

    return work


WAYS: dict[str, Callable[[Task], Callable[[], int]]] = {
    "list ours": _list_ours,
    "harvest ours": lambda task: _harvest_ours(task, files=False),
    "harvest ours with files": lambda task: _harvest_ours(task, files=True),
    "edits in threads": _edits_in_threads,
    "list theirs": _list_theirs,
    "forums theirs": _forums_theirs,
}


def main(way: str, venue_id: str, url_v1: str, url_v2: str, folder: str) -> None:
    """Do one piece of work and print what it took."""
    work = WAYS[way](Task(venue_id, (url_v1, url_v2), Path(folder)))
    began, cpu_began = time.perf_counter(), time.process_time()
    notes = work()
    print("\n" + json.dumps(Took(notes, time.perf_counter() - began, time.process_time() - cpu_began, own_peak_mb())))


if __name__ == "__main__":
    main(*sys.argv[1:])
