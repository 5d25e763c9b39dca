"""The PDFs of a venue, equal paths once; one that cannot be had is remembered with the reason."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from peercorpus.errands import StoredFile
from peercorpus.errors import BusyError, NotGivenError
from peercorpus.harvest.archive import MOST_IN_ONE, fetch_archive
from peercorpus.harvest.visit import Visit, now_ms
from peercorpus.harvest.wanted import CURRENT, Wanted, list_wanted, path_of
from peercorpus.openreview.client import CUT_OFF, NO_PDF
from peercorpus.openreview.listing import find_notes
from peercorpus.openreview.objects import Note, salvage
from peercorpus.progress import Meter

JUST_NOW_MS = 10 * 60_000
"""How long a listing is trusted to say which PDF is the current one."""

REPLACED = "replaced since the paper was listed"
ANOTHER = "another file came under its path"
PASSING = frozenset({NO_PDF, CUT_OFF})
"""What a file that came wrong once may not be another time."""


@dataclass(slots=True)
class _Files:
    """The files of a venue while they are fetched.

    Attributes:
        known: What was remembered of each when the step began, whether or not the file is still here.
        at_hand: A file that is here, by OpenReview's path.
        in_bulk: Whether OpenReview gives several at once.
        replaced: Current files that are so no longer; an edit may still bring them.
    """

    visit: Visit
    known: dict[tuple[str, str], StoredFile]
    meter: Meter
    at_hand: dict[str, StoredFile] = field(default_factory=dict)
    in_bulk: bool = True
    replaced: list[Wanted] = field(default_factory=list)

    def keep(self, wanted: Wanted, content: bytes | None, problem: str | None) -> None:
        """Remember a file that came, or why it did not."""
        before = self.known.get(wanted.key)
        if content is not None and before and before.sha256 not in {None, hashlib.sha256(content).hexdigest()}:
            content, problem = None, ANOTHER
            sha256, size_bytes = before.sha256, before.size_bytes
        elif content is not None:
            sha256, size_bytes = self.visit.files.add(content), len(content)
        else:
            sha256, size_bytes = None, None
        self._store(StoredFile(*wanted.key, self.visit.venue_id, wanted.forum_id, sha256, size_bytes, problem))

    def take_same(self, wanted: Wanted) -> bool:
        """Use the file that is here under the same path; whether there is one."""
        same = self.at_hand.get(wanted.path)
        if same is not None:
            key = (*wanted.key, self.visit.venue_id, wanted.forum_id)
            self._store(StoredFile(*key, same.sha256, same.size_bytes, problem=None))
        return same is not None

    def _store(self, stored: StoredFile) -> None:
        self.visit.raw.add_file(stored)
        if stored.problem is None:
            self.at_hand[stored.path] = stored
        self.meter.advance()


def harvest_pdfs(visit: Visit) -> None:
    """Fetch the files that are still missing, the most useful first, current ones of API v2 by the fifty."""
    missing = missing_files(visit)
    known = {(stored.edit_id, stored.path): stored for stored in visit.raw.files(visit.venue_id)}
    files = _Files(visit, known, _meter(visit, missing))
    files.at_hand = {one.path: one for one in known.values() if one.problem is None and _is_here(visit, one)}
    for batch in _batches(visit, missing):
        left = [wanted for wanted in batch if not files.take_same(wanted)]
        if len(left) > 1 and files.in_bulk:
            left = _take_archive(files, left)
        for wanted in left:
            _take_one(files, wanted)
    for wanted in files.replaced:
        if not files.take_same(wanted):
            files.keep(wanted, None, REPLACED)


def _meter(visit: Visit, missing: Sequence[Wanted]) -> Meter:
    """The pace of the files; the budget that bounds it is that of the route most of them are asked at."""
    routes = Counter(wanted.route for wanted in missing)
    route = routes.most_common(1)[0][0] if routes else CURRENT
    path, in_one = ("/attachment", MOST_IN_ONE) if visit.api == 2 and route == CURRENT else (route, 1)
    return visit.meter("files", 0, len(missing), path, in_one)


def missing_files(visit: Visit) -> list[Wanted]:
    """The files to ask for now: never asked for, removed by hand, or wrong in a way that may pass."""
    known = {(stored.edit_id, stored.path): stored for stored in visit.raw.files(visit.venue_id)}
    return [wanted for wanted in list_wanted(visit) if _is_to_ask(visit, known.get(wanted.key))]


def _is_to_ask(visit: Visit, stored: StoredFile | None) -> bool:
    if stored is None or (stored.problem is not None and (visit.refresh or stored.problem in PASSING)):
        return True
    return not _is_here(visit, stored)


def _is_here(visit: Visit, stored: StoredFile) -> bool:
    """Whether what is remembered of a file still holds: it may have been removed from the workspace by hand."""
    return stored.sha256 is None or visit.files.has(stored.sha256)


def _batches(visit: Visit, missing: Sequence[Wanted]) -> Iterator[list[Wanted]]:
    """What to ask for together: current files of API v2 by the fifty; all else one by one.

    Of the first files those that come by the fifty lead; of the others those of edits, which may be the current ones.
    """
    ordered = sorted(missing, key=lambda wanted: (not wanted.is_first, wanted.is_first == (wanted.route != CURRENT)))
    for (_, route), group in groupby(ordered, key=lambda wanted: (wanted.is_first, wanted.route)):
        files = list(group)
        size = MOST_IN_ONE if route == CURRENT and visit.api == 2 else 1
        yield from (files[start : start + size] for start in range(0, len(files), size))


def _take_archive(files: _Files, batch: list[Wanted]) -> list[Wanted]:
    """Fetch several current files at once; those that did not come that way."""
    current = _current(files.visit, batch)
    files.replaced += [wanted for wanted in batch if wanted not in current]
    came: set[Wanted] = set()

    def keep(wanted: Wanted, content: bytes) -> None:
        files.keep(wanted, content, None)
        came.add(wanted)

    if len(current) > 1:
        files.in_bulk = fetch_archive(files.visit, current, keep)
    return [wanted for wanted in current if wanted not in came]


def _current(visit: Visit, batch: list[Wanted]) -> list[Wanted]:
    """Those whose paper still names the file; asked for, unless a listing showed it just now."""
    doubtful = [wanted for wanted in batch if not 0 <= now_ms() - visit.raw.shown_ms(wanted.forum_id) <= JUST_NOW_MS]
    if not doubtful:
        return batch
    notes = (
        salvage(Note, bytes(item))
        for item in find_notes(visit.client, visit.api, [wanted.forum_id for wanted in doubtful])
    )
    now = {note.id: path_of(note, "pdf") for note in notes}
    return [wanted for wanted in batch if wanted not in doubtful or now.get(wanted.forum_id) == wanted.path]


def _take_one(files: _Files, wanted: Wanted) -> None:
    """Ask for one file."""
    visit = files.visit
    if files.take_same(wanted):
        return
    try:
        if wanted.route == CURRENT and not _current(visit, [wanted]):
            files.replaced.append(wanted)
            return
        content = visit.client.get_file(visit.api, wanted.route, dict(wanted.params))
    except NotGivenError as error:
        files.keep(wanted, None, error.reason)
        return
    except BusyError as error:
        visit.setbacks.count(error)
        return
    visit.setbacks.reset()
    files.keep(wanted, content, None)
