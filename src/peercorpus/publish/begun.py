"""What a workspace tells of a venue before its papers are walked: if it is whole, when it came, what was set aside."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from peercorpus.publish.citing import CITED
from peercorpus.publish.tally import VenueTally
from peercorpus.raw import Kind, RawStore
from peercorpus.workspace import Workspace

ENDS = "FROM objects INDEXED BY objects_by_forum WHERE venue_id = ?1"
HARVESTED = (
    "SELECT min(seen_ms), max(seen_ms) FROM objects"
    f" WHERE seen IN (SELECT min(seen) {ENDS} UNION SELECT max(seen) {ENDS})"
)
"""Of the rows that were stored first and last: their ids stand in the index, their times only beside the bodies."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _harvested(raw: RawStore, venue_id: str) -> tuple[datetime, datetime] | None:
    """When the first and the last of what is held of a venue were received; None where nothing was."""
    ((first, last),) = raw.select(HARVESTED, venue_id)
    return None if first is None else (EPOCH + timedelta(milliseconds=first), EPOCH + timedelta(milliseconds=last))


def begin_venue(workspace: Workspace, venue_id: str) -> VenueTally:
    """The counts of a venue of which no paper is walked yet."""
    raw, tables = workspace.raw, workspace.tables
    records = Counter({name: raw.count(Kind.PUBLISHED, venue_id, name) for name in CITED})
    set_aside = Counter(
        {
            (stage, reason): count
            for stage in tables.stages(venue_id)
            for reason, count in tables.set_aside_counts(venue_id, stage).items()
        }
    )
    return VenueTally(venue_id, raw.is_listed(venue_id), +records, set_aside, _harvested(raw, venue_id))
