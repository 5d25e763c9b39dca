"""Cut figures and tables out of the PDFs of a venue's versions: the stage `cut_figures`, which runs only on demand.

Images are large, so a build leaves them out unless `BuildRequest.figures` is set. Finished files are kept when a run is
interrupted.
"""

import logging
from collections.abc import Sequence
from functools import partial

from peercorpus.corpus.figures import STAGE as NAME
from peercorpus.corpus.figures import TABLE
from peercorpus.execution.executor import (
    FILE_MISSING,
    TRANSIENT_REASONS,
    Executor,
    Failure,
    failure_reason,
    in_batches,
    report_progress,
)
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Balance, ProgressCallback, Stage
from peercorpus.records.documents import Figure
from peercorpus.records.enums import Reason
from peercorpus.texts.convert import find_pdfs
from peercorpus.texts.figures import (
    IMAGE_FORMAT,
    VERSION,
    CutFigure,
    FigureJob,
    cut_file,
    join_box,
    name_maker,
)
from peercorpus.workspace.workspace import Workspace

COLUMNS = ("sha256", "made_with")
"""Columns that decide whether a row is kept."""
BATCH_FILES = 8
"""Number of files whose images are written in one commit, and so in memory at once."""
NOTHING_TO_CUT = (Reason.NO_CAPTION, "No line of the file begins like the caption of a figure or a table.")

logger = logging.getLogger(__name__)


def _make_figure(sha256: str, forum_id: str, venue_id: str, number: int, cut: CutFigure, made_with: str) -> Figure:
    x0, y0, x1, y1 = join_box(cut.region.box)
    return Figure(
        sha256=sha256,
        forum_id=forum_id,
        venue_id=venue_id,
        number=number,
        kind=cut.region.kind,
        label=cut.region.label,
        caption=cut.region.caption,
        page=cut.region.page + 1,
        x0=x0,
        y0=y0,
        x1=x1,
        y1=y1,
        image=cut.image,
        image_format=None if cut.image is None else IMAGE_FORMAT,
        width_px=cut.width_px,
        height_px=cut.height_px,
        problem=cut.problem,
        made_with=made_with,
    )


def cut_figures(
    spread: Executor, workspace: Workspace, venue_id: str, options: BuildRequest, key: str, report: ProgressCallback
) -> None:
    """Cut figures out of the files of a venue that have not been cut with the same code and limits."""
    made_with = name_maker()
    tables = workspace.tables
    forum_ids = find_pdfs(tables, venue_id)
    fitting = {(sha256, made_with) for sha256 in forum_ids}
    done = {sha256 for sha256, _ in tables.sift(Figure, venue_id, NAME, COLUMNS, fitting, key)}
    to_cut = [sha256 for sha256 in forum_ids if sha256 not in done]
    present = [sha256 for sha256 in to_cut if workspace.files.has(sha256)]
    logger.info("%s %s: %d files, %d to read", NAME, venue_id, len(forum_ids), len(present))
    asides = dict.fromkeys(to_cut, FILE_MISSING)
    jobs = [FigureJob(sha256, workspace.files.path(sha256)) for sha256 in present]
    outcomes = spread(cut_file, jobs, timeout_s=options.pdf_timeout_s, workers=options.workers, in_order=True)
    for batch in in_batches(report_progress(outcomes, len(jobs), report), BATCH_FILES):
        figures: list[Figure] = []
        for job, cuts in batch:
            if isinstance(cuts, Failure):
                asides[job.sha256] = failure_reason(cuts)
            elif not cuts:
                asides[job.sha256] = NOTHING_TO_CUT
            else:
                del asides[job.sha256]
                forum_id = forum_ids[job.sha256]
                figures += (
                    _make_figure(job.sha256, forum_id, venue_id, number, cut, made_with)
                    for number, cut in enumerate(cuts, 1)
                )
        tables.append(TABLE, venue_id, NAME, figures)
    with tables.replacing((), venue_id, NAME, key) as left:
        for sha256, problem in asides.items():
            left.set_aside(sha256, forum_ids[sha256], *problem)
    tables.finish(TABLE, venue_id, NAME, key)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Return the balance: PDFs of the venue's versions = PDFs with captions + PDFs set aside; empty if never run."""
    tables = workspace.tables
    if NAME not in tables.stages(venue_id) and not tables.paths(TABLE, venue_id):
        return []
    pdfs = len(find_pdfs(tables, venue_id))
    cut = len(tables.tuples(TABLE, venue_id, ("sha256",)))
    aside = tables.set_aside_counts(venue_id, NAME)
    return [Balance(NAME, venue_id, "files", rows_in=pdfs, rows_out=cut, set_aside=aside)]


def stage(spread: Executor) -> Stage[Workspace]:
    """Return the stage `cut_figures`; `spread` reads the files, possibly in other processes."""
    return Stage(
        name=NAME,
        doing="cutting out figures",
        version=VERSION,
        reads_raw=(),
        reads=("4-versions",),
        writes=(TABLE,),
        options=(),
        run=partial(cut_figures, spread),
        balance=balance,
        passing=TRANSIENT_REASONS,
        made_with=lambda _: name_maker(),
    )
