"""The stage that tells how the last version of each paper differs from the one that the reviewers read.

A row in is a paper of which both texts are held, the earlier one provably what the reviewers read; it becomes changes,
or is set aside: every paper compared has a change, else the two say the same.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from peercorpus.file_records import Change
from peercorpus.kinds import PUBLISHABLE_GRADES, Reason, VersionMoment
from peercorpus.links.comparing import Passage, compare
from peercorpus.links.shelf import Shelf
from peercorpus.per_file import reported
from peercorpus.records import PaperVersion
from peercorpus.spread import Failure, Spread
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Replacement, Tables
from peercorpus.workspace import Workspace

NAME = "compare_versions"
TABLE = "7-changes"
TIMEOUT_S = 600.0
"""Seconds that comparing two texts may take: hundredths of one are usual. A limit that is met changes the table."""
PASSING = frozenset({Reason.NOT_COMPARED})
"""Reasons that may not hold another time."""

Couple = tuple[PaperVersion, str, str]
"""The version the reviewers read, its file, and the last file of the paper."""

logger = logging.getLogger(__name__)


def last_text(versions: Sequence[PaperVersion], held: Mapping[str, str]) -> Couple | None:
    """A paper's initial version and the last one after it, both with text; None where it lacks one of them.

    The last one is the camera-ready version where that is known, else the last in time.

    Args:
        versions: Of one paper, in time order.
        held: Files whose text is held.
    """
    places = [place for place, version in enumerate(versions) if _is_initial(version)]
    if not places or versions[places[0]].sha256 not in held:
        return None
    initial = versions[places[0]]
    later = [
        version
        for version in versions[places[0] + 1 :]
        if version.sha256 in held
        and version.sha256 != initial.sha256
        and version.moment is not VersionMoment.BEFORE_DEADLINE
    ]
    camera_ready = [version for version in later if version.moment is VersionMoment.CAMERA_READY]
    last = (camera_ready or later)[-1:]
    return (initial, str(initial.sha256), str(last[0].sha256)) if last else None


def _is_initial(version: PaperVersion) -> bool:
    return version.is_initial and version.grade in PUBLISHABLE_GRADES and version.sha256 is not None


def _couples(tables: Tables, venue_id: str) -> Iterator[Couple]:
    """The papers of a venue that have two texts, in the order of their forums."""
    engines = engines_of(tables, venue_id)
    for _, group in groupby(tables.read(PaperVersion, venue_id), key=lambda version: version.forum_id):
        couple = last_text([*group], engines)
        if couple:
            yield couple


def engines_of(tables: Tables, venue_id: str) -> dict[str, str]:
    """The files of a venue whose text is held, and what read each."""
    batches = tables.batches("5-texts", venue_id, ["sha256", "engine"])
    return {row["sha256"]: row["engine"] for batch in batches for row in batch.to_pylist()}


@dataclass(frozen=True, slots=True)
class Texts:
    """Two texts of one paper, as they go to another process, or another machine."""

    earlier: str
    later: str


def compare_texts(texts: Texts) -> tuple[Passage, ...]:
    """How the later of two texts differs."""
    return compare(texts.earlier, texts.later).passages


def compare_versions(
    spread: Spread, workspace: Workspace, venue_id: str, options: Options, key: str, report: Report
) -> None:
    """Compare the versions of every paper of a venue that has two."""
    tables = workspace.tables
    couples, engines = [*_couples(tables, venue_id)], engines_of(tables, venue_id)
    alike = [(initial, left, right) for initial, left, right in couples if engines[left] == engines[right]]
    wanted = {sha256 for _, *pair in alike for sha256 in pair}
    with tables.replacing((TABLE,), venue_id, NAME, key) as out, workspace.files.scratch() as scratch:
        shelf = Shelf(scratch, tables, venue_id, wanted)
        texts = (Texts(shelf.read(left), shelf.read(right)) for _, left, right in alike)
        outcomes = spread(compare_texts, texts, timeout_s=TIMEOUT_S, workers=options.workers, in_order=True)
        results = (result for _, result in reported(outcomes, len(alike), report))
        for initial, left, right in couples:
            if engines[left] == engines[right]:
                _write((initial, left, right), next(results), out)
            else:
                detail = f"One was read by {engines[left]}, the other by {engines[right]}."
                out.set_aside(initial.forum_id, initial.forum_id, Reason.ENGINES_DIFFER, detail)
        # Asked once more, the spread knows that it is done; else its workers would be broken off.
        next(results, None)
    logger.info("%s %s: %d papers with two texts", NAME, venue_id, len(couples))


def _write(couple: Couple, result: Sequence[Passage] | Failure, out: Replacement) -> None:
    initial, left, right = couple
    if isinstance(result, Failure):
        out.set_aside(initial.forum_id, initial.forum_id, Reason.NOT_COMPARED, result.detail)
        return
    for number, one in enumerate(result, 1):
        place = initial.forum_id, initial.venue_id, left, right, number, len(result)
        out.add(Change(*place, one.kind, one.section, one.before, one.after))
    if not result:
        detail = "The last version says what the first one says."
        out.set_aside(initial.forum_id, initial.forum_id, Reason.TEXT_UNCHANGED, detail)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Papers with two texts = papers with a change + papers set aside; and each of those has all its changes."""
    tables = workspace.tables
    papers = sum(1 for _ in _couples(tables, venue_id))
    columns = ["forum_id", "changes"]
    rows = [tuple(row.values()) for batch in tables.batches(TABLE, venue_id, columns) for row in batch.to_pylist()]
    changes = dict(rows)
    aside = tables.set_aside_counts(venue_id, NAME)
    return (
        Balance(NAME, venue_id, "papers with two texts", papers, len(changes), aside),
        Balance(NAME, venue_id, "changes", sum(changes.values()), len(rows), {}),
    )


def stage(spread: Spread) -> Stage[Workspace]:
    """The stage, with the executor that spreads its work."""
    return Stage(
        name=NAME,
        version=2,
        reads_raw=(),
        reads=("4-versions", "5-texts"),
        writes=(TABLE,),
        options=(),
        run=partial(compare_versions, spread),
        balance=balance,
        passing=PASSING,
    )
