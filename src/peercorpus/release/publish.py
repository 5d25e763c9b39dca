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
from peercorpus.corpus.text_choice import TextChoice, TextRule
from peercorpus.errors import PeercorpusError, TableError
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade
from peercorpus.release.by_model.annotator import Annotator
from peercorpus.release.by_model.turn_titles import Titler
from peercorpus.release.counts import PublishSummary, ReleaseCounts, summarise
from peercorpus.release.figure_rows import FigureCounts
from peercorpus.release.folder import replace_folder
from peercorpus.release.kept_parts import SCRATCH, KeptParts
from peercorpus.release.kept_splits import read_earlier, read_kept
from peercorpus.release.point_rows import PointCounts
from peercorpus.release.published import find_folders
from peercorpus.release.shards import ReleaseLayout, SplitShards
from peercorpus.release.split_file import SplitRequest
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


def _check_figures(tables: Tables, venue_ids: Sequence[str], layout: ReleaseLayout, *, with_authors: bool) -> None:
    """Check that figures can be published.

    Raises:
        TableError: They were not extracted from the PDFs of a venue.
        PeercorpusError: The layout has none, or authors must not be named, but an image may show their names.
    """
    if layout is ReleaseLayout.REVIEWBENCH:
        raise PeercorpusError("The layout 'reviewbench' has no figures; leave out --figures, or choose 'peercorpus'.")
    if not with_authors:
        raise PeercorpusError("Images may show the names of authors; leave out --figures or --no-authors.")
    for venue_id in venue_ids:
        require_figures(tables, venue_id)


def _check_points(tables: Tables, venue_ids: Sequence[str], layout: ReleaseLayout) -> None:
    """Check that points can be published.

    Raises:
        TableError: The points of a venue were not built.
        PeercorpusError: The layout has none.
    """
    if layout is ReleaseLayout.REVIEWBENCH:
        raise PeercorpusError("The layout 'reviewbench' has no points; leave out --points, or choose 'peercorpus'.")
    for venue_id in venue_ids:
        require_points(tables, venue_id)


def _write(writing: ReleaseWriting, out: Path, asked: SplitRequest | None, standing: Path) -> list[SplitShards]:
    """Write all files of a release, and return the counts of its splits."""
    digests: dict[str, str] = {}
    with replace_folder(out, known=digests) as folder:
        writing.begin(folder)
        splits = writing.add_venues()
        if asked is not None:
            splits += writing.draw_splits(asked, standing)
        digests |= writing.digests
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)
        writing.record_inputs(asked)
        writing.describe(splits)
    return splits


def publish_release(
    workspace: Workspace,
    out: Path,
    venue_ids: Sequence[str] | None = None,
    progress: Show = show_nothing,
    titler: Titler | None = None,
    splits: SplitRequest | None = None,
    *,
    standing: Path | None = None,
    with_authors: bool = True,
    texts: TextChoice = TextChoice.BEST,
    worst_grade: Grade = PUBLISHABLE_GRADES[-1],
    layout: ReleaseLayout = ReleaseLayout.PEERCORPUS,
    figures: bool = False,
    points: bool = False,
    annotator: Annotator | None = None,
    with_latex: bool = False,
    with_blocks: bool = False,
    is_temporary: bool = False,
) -> PublishSummary:
    """Write a folder that `datasets.load_dataset` can open, with the configurations of its layout.

    Args:
        workspace: The workspace; its tables and its `takedown.txt` are read.
        out: The folder; an earlier release there is replaced at the end, in one step.
        venue_ids: The venues to publish; None means every venue with papers.
        progress: Receives the progress of each venue.
        titler: Gives titles to turns of several posts; None keeps the title made from the posts' own.
        splits: How papers are assigned to train, validation and test; None writes no configurations for
            tasks.
        standing: The previous release, whose papers keep their splits; None means the one to be replaced.
        with_authors: Whether authors are named; the configurations for tasks never name them.
        texts: Which texts are published.
        worst_grade: The worst grade of a text that the configurations for tasks accept.
        layout: The configurations to write; `reviewbench` has no such splits and no turns, so neither `splits`
            nor `titler` apply.
        figures: Whether to write the configuration `figures`, which needs tables built with `Options.figures`.
        points: Whether to write `points` and `answers`, which need tables built with `Options.points`.
        annotator: Labels what the rules left open in points; None leaves it open. It needs `points`.
        with_latex: Whether each text of the configuration `texts` is included as LaTeX, too.
        with_blocks: Whether it is included block by block, too.
        is_temporary: Whether the release will be removed, so that the workspace stores nothing for the next one.

    Raises:
        ModelError: The model for titles or points cannot be reached.
        TableError: The tables are not built, or not for these venues.
        TryLaterError: The tables or the takedown list changed while the release was written.
        PeercorpusError: `out` contains other files, a paper would change its split, or `takedown.txt` or the grade is
            invalid.
    """
    tally = ReleaseCounts(
        names_authors=with_authors,
        layout=layout,
        text_rule=TextRule(texts, worst_grade, with_latex, with_blocks),
        figures=FigureCounts() if figures else None,
        points=PointCounts() if points else None,
        points_model=None if annotator is None else annotator.model.name,
    )
    by_model = titler, annotator
    return _publish(workspace, out, venue_ids, progress, by_model, splits, standing, tally, is_temporary=is_temporary)


def _publish(
    workspace: Workspace,
    out: Path,
    venue_ids: Sequence[str] | None,
    progress: Show,
    by_model: tuple[Titler | None, Annotator | None],
    asked: SplitRequest | None,
    standing: Path | None,
    tally: ReleaseCounts,
    *,
    is_temporary: bool,
) -> PublishSummary:
    """Check that the requested contents can be published, and write them."""
    chosen = choose_venues(workspace.tables, venue_ids)
    if tally.figures is not None:
        _check_figures(workspace.tables, chosen, tally.layout, with_authors=tally.names_authors)
    if tally.points is not None:
        _check_points(workspace.tables, chosen, tally.layout)
    takedown = read_takedown(workspace)
    if asked is not None:
        read_earlier(asked, standing or out, read_kept(workspace.folder, asked))
    tally.reminders = count_verdicts(workspace)
    earlier = [*([] if standing is None else [standing]), *find_folders(workspace.folder)]
    kept = KeptParts(workspace.folder, out, earlier)
    writing = ReleaseWriting(workspace, tally, takedown, *by_model, progress, kept, chosen)
    splits = _write(writing, out, asked, standing or out)
    if by_model == (None, None) and not is_temporary:
        kept.save(out)
    return summarise(tally, splits)
