"""Write a release in one pass over the venues of a workspace.

Rows go to Parquet as they are made; splits and task configurations follow once all papers are known, then
`inputs.json`, the tombstone of what was taken down, Croissant metadata and the card.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from peercorpus.corpus.figures import require_figures
from peercorpus.corpus.points import require_points
from peercorpus.corpus.reminder_decisions import count_verdicts
from peercorpus.corpus.takedown import read_takedown
from peercorpus.errors import TableError
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.release.by_model.annotator import Annotator
from peercorpus.release.by_model.turn_titles import Titler
from peercorpus.release.counts import PublishSummary, ReleaseCounts, summarise
from peercorpus.release.folder import replace_folder
from peercorpus.release.kept_parts import SCRATCH, KeptParts
from peercorpus.release.kept_splits import read_earlier, read_kept
from peercorpus.release.point_rows import PointCounts
from peercorpus.release.published import find_folders
from peercorpus.release.request import DEFAULT_REQUEST, ReleaseRequest
from peercorpus.release.text_rows import FigureCounts
from peercorpus.release.writing import ReleaseWriting
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.table_reader import ON_DEMAND, TABLES
from peercorpus.workspace.workspace import Workspace

NEEDED = tuple(name for name in TABLES if name not in {"set-aside", *ON_DEMAND})
OF_FORMS = ("1-papers", "2-ai-reviews", "2-reviews", "3-posts")
"""Tables written together by one stage."""


def choose_venues(tables: Tables, venue_ids: Sequence[str] | None = None, needed: Sequence[str] = NEEDED) -> list[str]:
    """Return the named venues in order, or all venues with papers.

    Args:
        tables: Tables of the workspace.
        venue_ids: None for all.
        needed: Tables that must exist and be complete.

    Raises:
        TableError: A needed table is missing, no venue has papers, or a named venue has none.
    """
    for name in needed:
        tables.require(name)
    built = tables.venues("1-papers")
    chosen = built if venue_ids is None else sorted(set(venue_ids))
    known = set(built)
    missing = [venue_id for venue_id in chosen if venue_id not in known]
    if missing:
        raise TableError(f"The venue '{missing[0]}' has no papers in the tables; run 'peercorpus build' for it.")
    if not built:
        raise TableError("The tables have no papers; harvest a venue, then run 'peercorpus build'.")
    for venue_id in chosen:
        if not _is_whole(tables, venue_id, needed):
            raise TableError(f"The tables of the venue '{venue_id}' are not complete; run 'peercorpus build'.")
    return chosen


def _is_whole(tables: Tables, venue_id: str, needed: Sequence[str]) -> bool:
    """Return whether every table of a venue is complete, and tables of one stage come from the same run."""
    digests = {name: tables.digest(name, venue_id) for name in needed}
    of_one_run = {digest for name, digest in digests.items() if name in OF_FORMS}
    return len(of_one_run) <= 1 and "None" not in digests.values()


def publish_release(
    workspace: Workspace,
    out: Path,
    request: ReleaseRequest = DEFAULT_REQUEST,
    venue_ids: Sequence[str] | None = None,
    show: Show = show_nothing,
    *,
    titler: Titler | None = None,
    annotator: Annotator | None = None,
    standing: Path | None = None,
    is_temporary: bool = False,
) -> PublishSummary:
    """Write a folder that `datasets.load_dataset` can open, with the configurations of its layout.

    Args:
        workspace: Its tables and its `takedown.txt` are read.
        out: The folder; an earlier release there is replaced at the end, in one step.
        request: What the release shall contain.
        venue_ids: The venues to publish; None means every venue with papers.
        show: Receives the progress of each venue.
        titler: Gives titles to turns of several posts; None keeps the title made from the posts' own.
        annotator: Labels what the rules left open in points; None leaves it open. It needs the points.
        standing: The release whose papers keep their splits; None means the one to be replaced.
        is_temporary: Whether the release will be removed, so that nothing is stored for the next one.

    Raises:
        ModelError: The model for titles or points cannot be reached.
        TableError: The tables are not built, or not for these venues; figures or points are missing in them.
        TryLaterError: The tables or the takedown list changed while the release was written.
        PeercorpusError: `out` contains other files, a paper would change its split, or `takedown.txt` is invalid.
    """
    chosen = choose_venues(workspace.tables, venue_ids)
    for venue_id in chosen:
        for is_asked, require in ((request.figures, require_figures), (request.points, require_points)):
            if is_asked:
                require(workspace.tables, venue_id)
    if request.drawn is not None:
        read_earlier(request.drawn, standing or out, read_kept(workspace.folder, request.drawn))
    tally = ReleaseCounts(
        request=request,
        figures=FigureCounts() if request.figures else None,
        points=PointCounts() if request.points else None,
        points_model=None if annotator is None else annotator.model.name,
        reminders=count_verdicts(workspace),
    )
    kept = KeptParts(workspace.folder, out, [*filter(None, [standing]), *find_folders(workspace.folder)])
    takedown = read_takedown(workspace)
    digests: dict[str, str] = {}
    with replace_folder(out, known=digests) as folder:
        writing = ReleaseWriting(workspace, folder, tally, takedown, titler, annotator, show, kept, chosen)
        splits = writing.add_venues()
        if request.drawn is not None:
            splits += writing.draw_splits(request.drawn, standing or out)
        digests |= writing.digests
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)
        writing.record_inputs()
        writing.describe(splits)
    if titler is None and annotator is None and not is_temporary:
        kept.save(out)
    return summarise(tally, splits)
