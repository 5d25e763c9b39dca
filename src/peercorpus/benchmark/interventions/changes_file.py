"""Write the changes to a release's papers as CSV, for inspection."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from peercorpus.benchmark.interventions.cases import ChangeCounts, read_changed_papers
from peercorpus.benchmark.options import parse_task_options
from peercorpus.benchmark.tasks import open_release_with_splits
from peercorpus.records.untrusted_text import escape_csv_cell
from peercorpus.workspace.object_store import write_whole

COLUMNS = ("forum_id", "arm", "before", "after", "old", "new")


def write_changes(out: Path, release: Path, options: Mapping[str, Any], papers: int, seed: int) -> ChangeCounts:
    """Write one line for each change, and return the counts of changed and left-out papers.

    Args:
        out: The file.
        release: Folder of the release.
        options: Options of the task.
        papers: Maximum number of papers.
        seed: Seed of the papers and of their changes.

    Raises:
        PeercorpusError: The release cannot be read, or an option is not valid.
    """
    request = parse_task_options(str(release), options)
    counts = ChangeCounts()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    budget = request.asking.budget
    opened = open_release_with_splits(request)
    for changed in read_changed_papers(opened, request.selection, budget, papers, seed, counts):
        for arm, change in changed.changes.items():
            before, after = change.places()
            old, new = before.passage[before.start : before.end], after.passage[after.start : after.end]
            cells = (changed.forum_id, arm, before.passage, after.passage, old, new)
            writer.writerow([escape_csv_cell(cell) for cell in cells])
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, text.getvalue().encode())
    return counts
