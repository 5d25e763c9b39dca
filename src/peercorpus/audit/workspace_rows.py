"""The papers of a workspace as rows to audit: what we would publish of each, and how sure we are of it."""

from collections import defaultdict
from collections.abc import Iterator, Set

from peercorpus.audit.source import Entry, Source
from peercorpus.kinds import PUBLISHABLE_GRADES, Status
from peercorpus.records import PaperVersion
from peercorpus.tables import Tables
from peercorpus.workspace import Workspace

BATCH_ROWS = 32
DECIDED = (Status.ACCEPTED.value, Status.REJECTED.value)
NO_TEXT = "no version that may be published as initial"
TAKEN_DOWN = "taken down"


def _chosen(tables: Tables, venue_id: str, hidden_files: Set[str]) -> dict[str, tuple[int, str]]:
    """The file published as initial of each forum that has one, with the rank of its grade."""
    read = {
        sha256
        for batch in tables.batches("5-texts", venue_id, ["sha256"])
        for sha256 in batch.column("sha256").to_pylist()
    } - hidden_files
    chosen: dict[str, tuple[int, str]] = {}
    for version in tables.read(PaperVersion, venue_id):
        sha256 = version.sha256
        if version.is_initial and version.grade in PUBLISHABLE_GRADES and sha256 is not None and sha256 in read:
            found = (PUBLISHABLE_GRADES.index(version.grade), sha256)
            # The first of the best grade, as in a release.
            if version.forum_id not in chosen or found[0] < chosen[version.forum_id][0]:
                chosen[version.forum_id] = found
    return chosen


def _statuses(tables: Tables, venue_id: str) -> dict[str, str]:
    return {
        row["forum_id"]: row["status"]
        for batch in tables.batches("1-papers", venue_id, ["forum_id", "status"])
        for row in batch.to_pylist()
    }


def _entry(forum_id: str, status: str, text: str | None, route: str) -> Entry:
    why_not = None if status in DECIDED else f"status {status}"
    return Entry(forum_id, text, status, {"source route": route}, why_not)


def _venue_entries(tables: Tables, venue_id: str, hidden: Set[str], hidden_files: Set[str]) -> Iterator[Entry]:
    statuses, chosen = _statuses(tables, venue_id), _chosen(tables, venue_id, hidden_files)
    forums: dict[str, list[str]] = defaultdict(list)
    for forum_id, status in statuses.items():
        if forum_id in hidden:
            yield Entry(None, None, status, {}, TAKEN_DOWN)
        elif forum_id in chosen:
            forums[chosen[forum_id][1]].append(forum_id)
        else:
            yield _entry(forum_id, status, None, NO_TEXT)
    for batch in tables.batches("5-texts", venue_id, ["sha256", "markdown"], BATCH_ROWS):
        for row in batch.to_pylist():
            for forum_id in forums.pop(row["sha256"], ()):
                route = PUBLISHABLE_GRADES[chosen[forum_id][0]].value
                yield _entry(forum_id, statuses[forum_id], row["markdown"], route)


def workspace_source(
    workspace: Workspace, hidden: Set[str] = frozenset(), hidden_files: Set[str] = frozenset()
) -> Source:
    """The decided papers of all venues of a workspace, each with the text that would be published as initial.

    A paper without such a text has none; one that was not decided after review is set aside.

    Args:
        workspace: Its tables are read.
        hidden: Papers that are taken down.
        hidden_files: sha256 of their files.
    """
    tables = workspace.tables

    def entries() -> Iterator[Entry]:
        for venue_id in tables.venues("1-papers"):
            yield from _venue_entries(tables, venue_id, hidden, hidden_files)

    total = sum(tables.count("1-papers", venue_id) for venue_id in tables.venues("1-papers"))
    return Source(workspace.folder.resolve().name, "5-texts.markdown", "1-papers.status", entries, total)
