"""Compare the version that reviewers read with the last version of each paper: the stage `compare_versions`.

Each pair of texts is compared by `version_diff.find_differences`, in another process if the executor has any, and every
difference becomes a row of `7-changes`. Pairs that were read by different engines are set aside.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter

from peercorpus.corpus.texts import TextStore
from peercorpus.execution.executor import Executor, Failure, report_progress
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Balance, ProgressCallback, Stage
from peercorpus.links.version_diff import TextDifference, find_differences
from peercorpus.records.documents import Change
from peercorpus.records.enums import PUBLISHABLE_GRADES, Reason, VersionMoment
from peercorpus.records.papers import PaperVersion
from peercorpus.workspace.delta_tables import Replacement, Tables
from peercorpus.workspace.workspace import Workspace

NAME = "compare_versions"
TABLE = "7-changes"
TIMEOUT_S = 600.0
"""Time limit for comparing two texts, in seconds; a few hundredths of a second are usual.

A pair that exceeds it is set aside, so another value may change the table.
"""

PASSING = frozenset({Reason.NOT_COMPARED})
"""Transient reasons for setting a paper aside, which may not apply next time."""

VersionPair = tuple[PaperVersion, str, str]
"""The version that reviewers read, the SHA-256 of its file, and the SHA-256 of the paper's last file."""

logger = logging.getLogger(__name__)


def find_version_pair(versions: Sequence[PaperVersion], engines: Mapping[str, str]) -> VersionPair | None:
    """Return a paper's initial version and the last one after it; None if one of them has no text.

    The last one is the camera-ready version if that is known, otherwise the latest in time.
    """
    initial_index = next(
        (
            index
            for index, version in enumerate(versions)
            if version.is_initial and version.grade in PUBLISHABLE_GRADES and version.sha256 is not None
        ),
        None,
    )
    if initial_index is None or versions[initial_index].sha256 not in engines:
        return None
    initial = versions[initial_index]
    later = [
        version
        for version in versions[initial_index + 1 :]
        if version.sha256 in engines
        and version.sha256 != initial.sha256
        and version.moment is not VersionMoment.BEFORE_DEADLINE
    ]
    camera_ready = [version for version in later if version.moment is VersionMoment.CAMERA_READY]
    last = (camera_ready or later)[-1:]
    return (initial, str(initial.sha256), str(last[0].sha256)) if last else None


def _find_pairs(tables: Tables, venue_id: str) -> Iterator[VersionPair]:
    engines = read_engines(tables, venue_id)
    # Without texts there are no pairs, so the versions need not be read.
    held = tables.read(PaperVersion, venue_id) if engines else iter(())
    for _, versions in groupby(held, key=attrgetter("forum_id")):
        pair = find_version_pair([*versions], engines)
        if pair:
            yield pair


def read_engines(tables: Tables, venue_id: str) -> dict[str, str]:
    """Return the engine that read each file of a venue, by SHA-256, for the files that have a text."""
    return dict(tables.rows("5-texts", venue_id, ["sha256", "engine"]))


def compare_texts(texts: tuple[str, str]) -> tuple[TextDifference, ...]:
    """Return the differences between an earlier and a later text of one paper, in another process or machine."""
    return find_differences(*texts).passages


def compare_versions(
    spread: Executor, workspace: Workspace, venue_id: str, options: BuildRequest, key: str, report: ProgressCallback
) -> None:
    """Compare the two versions of every paper of a venue that has them."""
    tables = workspace.tables
    pairs = [*_find_pairs(tables, venue_id)]
    engines = read_engines(tables, venue_id)
    comparable = [(left, right) for _, left, right in pairs if engines[left] == engines[right]]
    file_hashes = {sha256 for files in comparable for sha256 in files}
    with tables.replacing((TABLE,), venue_id, NAME, key) as out, workspace.files.scratch() as scratch:
        store = TextStore(scratch, tables, venue_id, file_hashes)
        texts = ((store.read(left), store.read(right)) for left, right in comparable)
        outcomes = spread(compare_texts, texts, timeout_s=TIMEOUT_S, workers=options.workers, in_order=True)
        results = (result for _, result in report_progress(outcomes, len(comparable), report))
        for initial, left, right in pairs:
            if engines[left] == engines[right]:
                _write((initial, left, right), next(results), out)
            else:
                detail = f"One was read by {engines[left]}, the other by {engines[right]}."
                out.set_aside(initial.forum_id, initial.forum_id, Reason.ENGINES_DIFFER, detail)
        # Exhaust the iterator, so that the executor shuts its workers down instead of cancelling them.
        next(results, None)
    logger.info("%s %s: %d papers with two texts", NAME, venue_id, len(pairs))


def _write(pair: VersionPair, result: Sequence[TextDifference] | Failure, out: Replacement) -> None:
    initial, left, right = pair
    if isinstance(result, Failure):
        out.set_aside(initial.forum_id, initial.forum_id, Reason.NOT_COMPARED, result.detail)
        return
    for number, change in enumerate(result, 1):
        out.add(
            Change(
                forum_id=initial.forum_id,
                venue_id=initial.venue_id,
                left_sha256=left,
                right_sha256=right,
                number=number,
                changes=len(result),
                kind=change.kind,
                section=change.section,
                before=change.before,
                after=change.after,
                later_section=change.later_section,
            )
        )
    if not result:
        detail = "The last version says what the first one says."
        out.set_aside(initial.forum_id, initial.forum_id, Reason.TEXT_UNCHANGED, detail)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Return two balances: papers with two texts = papers with changes + papers set aside; and all changes written."""
    tables = workspace.tables
    papers = sum(1 for _ in _find_pairs(tables, venue_id))
    rows = list(tables.rows(TABLE, venue_id, ["forum_id", "changes"]))
    changes = dict(rows)
    aside = tables.set_aside_counts(venue_id, NAME)
    return (
        Balance(NAME, venue_id, "papers with two texts", rows_in=papers, rows_out=len(changes), set_aside=aside),
        Balance(NAME, venue_id, "changes", rows_in=sum(changes.values()), rows_out=len(rows), set_aside={}),
    )


def stage(spread: Executor) -> Stage[Workspace]:
    """Return the stage `compare_versions`."""
    return Stage(
        name=NAME,
        doing="comparing versions",
        version=4,
        reads_raw=(),
        reads=("4-versions", "5-texts"),
        writes=(TABLE,),
        options=(),
        run=partial(compare_versions, spread),
        balance=balance,
        passing=PASSING,
    )
