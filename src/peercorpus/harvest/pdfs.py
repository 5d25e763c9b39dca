"""The PDFs of a venue, equal paths once; one that cannot be had is remembered with the reason."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from peercorpus.errands import Listing, StoredFile
from peercorpus.errors import BusyError, NotGivenError
from peercorpus.harvest.archive import MOST_IN_ONE, download_archive, unpack
from peercorpus.harvest.visit import Visit, now_ms
from peercorpus.harvest.wanted import CURRENT, Wanted, list_wanted, note_of, path_of
from peercorpus.openreview.client import CUT_OFF, NO_PDF
from peercorpus.openreview.listing import fetch_edits, fetch_references, find_notes, id_of
from peercorpus.openreview.objects import Note, salvage
from peercorpus.progress import Meter
from peercorpus.raw import Kind

JUST_NOW_MS = 10 * 60_000
"""How long an edit is trusted to bring the PDF it named: one that is posted again keeps its id."""

MOST_FAILED_ARCHIVES = 3
"""So many in a row mean that OpenReview does not give several files at once."""

NAMES = "names in archives"
"""What is kept under this beside the lists: that the names in an archive say whose files they are."""

REPLACED = "replaced since the paper was listed"
ANOTHER = "another file came under its path"
PASSING = frozenset({NO_PDF, CUT_OFF, REPLACED})
"""What a file that came wrong once may not be another time."""


@dataclass(slots=True)
class _Files:
    """The files of a venue while they are fetched.

    Attributes:
        known: What was remembered of each when the step began, whether or not the file is still here.
        at_hand: A file that is here, by OpenReview's path.
        failed_archives: How many archives in a row did not come; see `MOST_FAILED_ARCHIVES`.
        is_named_right: Whether a file of an archive was found to be its paper's own; None before one was compared.
        replaced: Files that their paper or edit names no longer; another may still bring them.
    """

    visit: Visit
    known: dict[tuple[str, str], StoredFile]
    meter: Meter
    at_hand: dict[str, StoredFile] = field(default_factory=dict)
    failed_archives: int = 0
    is_named_right: bool | None = None
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

    def comes_in_archives(self) -> bool:
        """Whether to ask for several at once, after what came of it so far."""
        return self.failed_archives < MOST_FAILED_ARCHIVES and self.is_named_right is not False

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
    files.is_named_right = True if trusts_names(visit) else None
    files.at_hand = {one.path: one for one in known.values() if one.problem is None and _is_here(visit, one)}
    for batch in _batches(visit, missing):
        left = [wanted for wanted in batch if not files.take_same(wanted)]
        if len(left) > 1 and files.comes_in_archives():
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
    failed = visit.setbacks.failed
    ordered = sorted(
        missing,
        key=lambda one: (one.edit_id in failed, not one.is_first, one.is_first == (one.route != CURRENT)),
    )
    for (_, route, _), group in groupby(ordered, key=lambda one: (one.is_first, one.route, one.edit_id in failed)):
        files = list(group)
        size = MOST_IN_ONE if route == CURRENT and visit.api == 2 else 1
        yield from (files[start : start + size] for start in range(0, len(files), size))


def _take_archive(files: _Files, batch: list[Wanted]) -> list[Wanted]:
    """Fetch several current files at once; those that did not come that way."""
    with files.visit.files.scratch() as scratch:
        if not download_archive(files.visit, batch, scratch):
            files.failed_archives += 1
            return batch
        files.failed_archives = 0
        # Asked after they came: a path that is named before and after was named when the file was read.
        current = _still_current(files.visit, batch)
        files.replaced += [wanted for wanted in batch if wanted not in current]
        came: set[Wanted] = set()
        for wanted, content in unpack(scratch, batch):
            if files.is_named_right is None:
                files.is_named_right = _is_own(files.visit, wanted, content)
                if files.is_named_right:
                    _trust_names(files.visit)
            if files.is_named_right is False:
                break
            if wanted in current:
                files.keep(wanted, content, None)
                came.add(wanted)
    return [wanted for wanted in current if wanted not in came]


def trusts_names(visit: Visit) -> bool:
    """Whether a file of an archive was found, in this run or before, to be its paper's own."""
    return visit.raw.listing(visit.venue_id, NAMES).complete


def _trust_names(visit: Visit) -> None:
    with visit.raw.transaction():
        visit.raw.set_listing(visit.venue_id, NAMES, Listing(None, 1, None, complete=True))


def _is_own(visit: Visit, wanted: Wanted, content: bytes) -> bool | None:
    """Whether a file that came among others is the one its paper gives alone; None where it gives none."""
    try:
        return visit.client.get_file(visit.api, wanted.route, dict(wanted.params)) == content
    except NotGivenError:
        return None


def _still_current(visit: Visit, batch: Sequence[Wanted]) -> set[Wanted]:
    """Those whose paper names the file now."""
    notes = find_notes(visit.client, visit.api, [wanted.forum_id for wanted in batch])
    now = {note.id: path_of(note, "pdf") for note in (salvage(Note, bytes(item)) for item in notes)}
    return {wanted for wanted in batch if now.get(wanted.forum_id) == wanted.path}


def _take_one(files: _Files, wanted: Wanted) -> None:
    """Ask for one file."""
    visit = files.visit
    if files.take_same(wanted):
        return
    try:
        content = visit.client.get_file(visit.api, wanted.route, dict(wanted.params))
        is_still_named = _is_still_named(visit, wanted)
    except NotGivenError as error:
        files.keep(wanted, None, error.reason)
        return
    except BusyError as error:
        visit.setbacks.count(error, wanted.edit_id)
        return
    visit.setbacks.reset()
    if is_still_named:
        files.keep(wanted, content, None)
    else:
        files.replaced.append(wanted)


def _is_still_named(visit: Visit, wanted: Wanted) -> bool:
    """Whether the file that came is the one its path says: its paper, or its edit, names it still."""
    if wanted.route == CURRENT:
        return wanted in _still_current(visit, [wanted])
    kind = Kind.REFERENCE if visit.api == 1 else Kind.EDIT
    held = visit.raw.find(kind, wanted.edit_id)
    if held is None or 0 <= now_ms() - held.seen_ms <= JUST_NOW_MS:
        return True
    fetch = fetch_references if visit.api == 1 else fetch_edits
    items = (bytes(item) for _, item in fetch(visit.client, wanted.forum_id) if id_of(item) == wanted.edit_id)
    return any(path_of(note_of(kind, body), "pdf") == wanted.path for body in items)
