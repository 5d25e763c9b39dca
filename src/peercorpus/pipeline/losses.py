"""Find sources most of whose records are set aside, before or after a build."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from peercorpus.forms.normalise import NAME, PUBLISHED, RawForum, normalise_whole
from peercorpus.forms.venue_forms import read_venue
from peercorpus.importers.import_dumps import ImportSummary
from peercorpus.records.datasets import drop_number
from peercorpus.records.papers import SetAside
from peercorpus.workspace.delta_tables import Replacement
from peercorpus.workspace.raw_store import OPEN, RawKind
from peercorpus.workspace.workspace import Workspace

SHARE = 0.5
"""A source is reported if more than this share of its records is set aside."""
LEFT_OUT = "left_out"
"""Used instead of a reason for records that an import left out because they are not OpenReview's."""


@dataclass(frozen=True, slots=True)
class SourceLoss:
    """A source most of whose records are set aside.

    Attributes:
        records: Number of its notes and published papers.
        aside: Number set aside by reason, most frequent first; the reason is `left_out` for those not imported.
    """

    source: str
    records: int
    aside: Mapping[str, int]
    detail: str

    @property
    def total(self) -> int:
        """Return the number of its records set aside."""
        return sum(self.aside.values())


Rows = list[tuple[str, str]]
"""Reason and detail of each record set aside."""


def _find_loss(source: str, records: int, rows: Rows) -> SourceLoss | None:
    """Return the loss of one source from the reason and detail of each record set aside; None if most are used."""
    if not rows or len(rows) <= records * SHARE:
        return None
    aside = dict(Counter(reason for reason, _ in rows).most_common())
    details = Counter(detail for reason, detail in rows if reason == next(iter(aside)))
    return SourceLoss(source, records, aside, details.most_common(1)[0][0])


def foresee_losses(workspace: Workspace, summary: ImportSummary) -> list[SourceLoss]:
    """Return the files of an import whose notes a build would mostly set aside, or that were mostly left out.

    Only forums that may be incomplete are read, so that an ordinary import is not slowed down.
    """
    rows = _foresee_rows(workspace, summary)
    losses: list[SourceLoss | None] = []
    for file in summary.files:
        left = [(LEFT_OUT, reason) for reason, number in file.left_out.items() for _ in range(number)]
        taken = sum(counts.total for counts in file.taken.values())
        losses.append(_find_loss(file.name, taken + len(left), [*rows[file.name][:taken], *left]))
    return [loss for loss in losses if loss is not None]


def _foresee_rows(workspace: Workspace, summary: ImportSummary) -> dict[str, Rows]:
    """Return the reasons for which notes of the doubtful forums would be set aside, by the file they came from."""
    files_of: dict[str, list[str]] = defaultdict(list)
    for file in summary.files:
        for forum_id in file.doubtful:
            files_of[forum_id].append(file.name)
    rows: dict[str, Rows] = defaultdict(list)
    by_venue: dict[str, list[RawForum]] = defaultdict(list)
    source_of: dict[str, str] = {}
    for (venue_id, forum_id), objects in workspace.raw.of_forums(files_of) if files_of else ():
        forum = RawForum(forum_id)
        for latest in {raw_object.object_id: raw_object for raw_object in objects}.values():
            forum.add(latest)
            source_of[latest.object_id] = latest.origin
        by_venue[venue_id].append(forum)
    names = {file.name for file in summary.files}
    for venue_id, forums in by_venue.items():
        reader, out = read_venue(workspace, venue_id), _Aside(venue_id)
        roots = {forum.forum_id for forum in forums if forum.forum_id in source_of}
        for forum in forums:
            normalise_whole(forum, reader, roots, workspace.raw.pseudonyms.of, out)
        for row in out.rows:
            source = source_of.get(row.record_id, "")
            for name in [source] if source in names else files_of[row.forum_id or ""]:
                rows[name].append((row.reason.value, row.detail))
    return rows


class _Aside(Replacement):
    """Accepts the rows of a stage, writes none and keeps those set aside."""

    def __init__(self, venue_id: str) -> None:
        super().__init__({}, venue_id, NAME)
        self.rows: list[SetAside] = []

    def add(self, record: object) -> None:
        """Keep the row if it is set aside."""
        if isinstance(record, SetAside):
            self.rows.append(record)


_PLACE = re.compile(r", (?:(?:row|record) \d+|(?:[^,]*/)?reviews(?:/[^/]+)?\.json)$")
"""Position of a published record, after the name of its file or of the folder of its layout."""
_COUNTED = (RawKind.NOTE, RawKind.PUBLISHED)


def read_losses(workspace: Workspace, venue_ids: Iterable[str]) -> list[SourceLoss]:
    """Return the files and venue harvests most of whose notes and published papers are set aside.

    Their notes must have been read into tables.
    """
    records: Counter[str] = Counter()
    rows: dict[str, Rows] = defaultdict(list)
    counted: set[str] = set()
    for venue_id in venue_ids:
        aside: dict[str, Rows] = defaultdict(list)
        columns = ["record_id", "reason", "detail"]
        for record_id, reason, detail in workspace.tables.rows("set-aside", venue_id, columns, NAME):
            aside[record_id].append((reason, detail))
        # Among records with the same id, the file whose name comes first wins.
        for record_id, source in sorted(_read_sources(workspace, venue_id), reverse=True) if aside else ():
            records[source] += 1
            counted.add(venue_id)
            if of_record := aside.get(record_id):
                rows[source].append(of_record.pop())
    if any(_find_loss(name, records[name], rows[name]) for name in rows):
        # A file may contain more records, of other venues.
        others = (venue_id for venue_id in workspace.venues() if venue_id not in counted)
        records.update(source for venue_id in others for _, source in _read_sources(workspace, venue_id))
    found = (_find_loss(name, records[name], rows[name]) for name in rows)
    return [loss for loss in found if loss is not None]


def _read_sources(workspace: Workspace, venue_id: str) -> Iterator[tuple[str, str]]:
    """Yield the id of every note, and of every record that papers are made from, with its source.

    The source is the file from which it was last imported, or the venue if it was harvested.
    """
    sql = (
        "SELECT venue_id, object_id, source FROM asked CROSS JOIN objects USING (venue_id) WHERE kind = ? ORDER BY seen"
    )
    prefixes = tuple(dataset.prefix for dataset in PUBLISHED)
    for kind in _COUNTED:
        sources: dict[str, str] = dict(workspace.raw.questions.rows(sql, venue_id, kind.value))
        for object_id, source in sources.items():
            if kind is RawKind.NOTE:
                yield object_id, _name_source(source, venue_id)
            elif object_id.startswith(prefixes):
                yield drop_number(object_id), _name_source(source, venue_id)


def _name_source(source: str, venue_id: str) -> str:
    """Return the file that a record came from, or the venue for a harvested record."""
    return venue_id if "://" in source else _PLACE.sub("", source.removesuffix(OPEN))
