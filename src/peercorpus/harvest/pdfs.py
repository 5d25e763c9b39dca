"""Fetch PDFs, one by one or up to fifty in a zip archive.

A file is stored only if it is a whole PDF and if its paper, or its edit, still names its path after the download.
Archives are used only for venues where the names in an archive have been verified to be those of the papers.
One request for the latest edits of a venue shows which files changed, instead of one for each edit's file.
"""

import hashlib
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import PurePosixPath
from typing import IO

from peercorpus.errors import BusyError, NotGivenError, SourceError, ends_harvest
from peercorpus.execution.progress import Meter
from peercorpus.harvest.pdf_list import CURRENT, PdfRequest, list_wanted
from peercorpus.harvest.session import VenueSession
from peercorpus.harvest.submissions import OVERLAP_MS
from peercorpus.harvest.venue_edits import find_refusal
from peercorpus.openreview.client import CUT_OFF, MOST_FILE_BYTES, NO_PDF, is_pdf, is_whole
from peercorpus.openreview.listing import (
    LARGEST_PAGE,
    LATEST_FIRST,
    fetch_edits,
    fetch_references,
    fetch_venue_edits,
    find_notes,
    object_id,
)
from peercorpus.openreview.objects import Edit, Note, decode_leniently, decode_note, file_path, now_ms, venue_of_edit
from peercorpus.workspace.harvest_state import EDITS, Listing, StoredFile
from peercorpus.workspace.raw_store import RawKind


@dataclass(frozen=True, slots=True)
class LatestEdits:
    """The most recently modified edits of a venue.

    Attributes:
        asked_ms: When they were requested, milliseconds since the epoch.
        paths: The path of the PDF that each edit names, by its id; None if it names none.
        since_ms: When the oldest edit was modified, by OpenReview's clock; None if the list cannot be used.
        is_whole: Whether these are all edits of the venue, so that an edit that is not among them is gone or hidden.
    """

    asked_ms: int
    paths: Mapping[str, str | None] = field(default_factory=dict)
    since_ms: int | None = None
    is_whole: bool = False

    def shows_changes_since(self, moment_ms: int) -> bool:
        """Return whether every edit modified since a time by this machine's clock is among them.

        An edit hidden or deleted since then is not among them: if the list is not whole, it cannot be distinguished
        from one that did not change, and only OpenReview's refusal of its file shows it.
        """
        return self.since_ms is not None and not self.is_whole and self.since_ms < moment_ms - OVERLAP_MS


def can_list_latest(session: VenueSession) -> bool:
    """Return whether the list of the venue's edits was read before and found correct."""
    is_read = session.api == 2 and session.raw.state.listing(session.venue_id, EDITS).complete
    return is_read and find_refusal(session) is None


def fetch_latest(session: VenueSession) -> LatestEdits:
    """Return the thousand most recently modified edits of a venue.

    Raises:
        BusyError: OpenReview asks to wait.
        SignInError: A token is needed, or was refused.
    """
    asked_ms = now_ms()
    try:
        page = fetch_venue_edits(session.client, session.venue_id, sort=LATEST_FIRST)
    except SourceError as error:
        if ends_harvest(error):
            raise
        return LatestEdits(asked_ms)
    bodies = [bytes(item) for item in page.items]
    edits = [decode_leniently(Edit, body) for body in bodies]
    times_ms = [edit.tmdate or edit.tcdate or 0 for edit in edits]
    is_right = all(earlier >= later > 0 for earlier, later in pairwise(times_ms))
    if not times_ms or not is_right or any(venue_of_edit(body) != session.venue_id for body in bodies):
        return LatestEdits(asked_ms)
    # An unreadable edit may be any edit: then those not in the list may have changed as well.
    paths = {edit.id: file_path(edit.note, "pdf") for edit in edits if edit.id}
    is_whole = len(edits) < LARGEST_PAGE or (page.expected is not None and page.expected <= len(edits))
    return LatestEdits(asked_ms, paths, times_ms[-1] if len(paths) == len(edits) else None, is_whole)


MOST_IN_ONE = 50
"""Most files in one archive: OpenReview's own limit (openreview-py, `get_attachment`)."""

BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""Exceptions of `zipfile` for archives that are truncated, damaged, encrypted, or compressed by an unknown method."""


def download_archive(session: VenueSession, batch: Sequence[PdfRequest], scratch: IO[bytes]) -> bool:
    """Download current files of two to fifty papers as one zip archive; return whether one was received.

    Raises:
        BusyError: OpenReview asks to wait.
        SignInError: A token is needed, or was refused.
    """

    def begin() -> None:
        scratch.seek(0)
        scratch.truncate()

    ids = ",".join(request.forum_id for request in batch)
    try:
        session.client.get_archive(session.api, "/attachment", {"name": "pdf", "ids": ids}, begin, scratch.write)
    except SourceError as error:
        if ends_harvest(error):
            raise
        return False
    return True


def unpack(scratch: IO[bytes], batch: Sequence[PdfRequest]) -> Iterator[tuple[PdfRequest, bytes]]:
    """Yield the files of an archive that are complete PDFs and whose paper is certain."""
    numbers = Counter(request.number for request in batch)
    # Papers that share a number cannot be distinguished.
    named = {
        f"{request.number}_pdf.pdf": request for request in batch if request.number and numbers[request.number] == 1
    }
    # Members read before a fault are intact: each has its own checksum.
    with suppress(*BROKEN), zipfile.ZipFile(scratch) as archive:
        times = Counter(PurePosixPath(member.filename).name for member in archive.infolist())
        # From the end: if members were named by position, the first might have its own number by chance.
        for member in reversed(archive.infolist()):
            name = PurePosixPath(member.filename).name
            request = named.get(name) if times[name] == 1 else None
            if request is not None and (content := _read_member(archive, member)) is not None:
                yield request, content


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | None:
    """Return the bytes of a member; None if they are not a complete PDF, or exceed the size limit."""
    if member.file_size > MOST_FILE_BYTES:
        return None
    with archive.open(member) as unpacked:
        content = unpacked.read(MOST_FILE_BYTES + 1)
    return content if len(content) <= MOST_FILE_BYTES and is_pdf(content) and is_whole(content) else None


JUST_NOW_MS = 10 * 60_000
"""Time during which an edit is trusted to yield the PDF that it named; an edit that is posted again keeps its id."""

MOST_WAITING = 1_000
"""Most files with an already stored path that are kept in memory until the next requested file is committed."""

MOST_FAILED_ARCHIVES = 3
"""Consecutive failures after which no more archives are requested in this run."""

NAMES = "names in archives"
"""Name of the listing whose completion records that the names in archives identify the papers."""

REPLACED = "replaced since the paper was listed"
ANOTHER = "another file was received under its path"
PASSING = frozenset({NO_PDF, CUT_OFF, REPLACED})
"""Problems with a file that may have passed by the next request."""


@dataclass(slots=True)
class _Files:
    """State of a venue's files while they are fetched.

    Attributes:
        known: The stored record of each file when the step began, whether or not its content is still there.
        at_hand: Files whose content is available, by OpenReview's path.
        failed_archives: Number of consecutive failed archives; see `MOST_FAILED_ARCHIVES`.
        is_named_right: Whether a file from an archive proved to be that of its paper; None before one was compared.
        replaced: Files that their paper or edit no longer names; another request may still yield them.
        latest: The latest edits of the venue when last requested; None before.
    """

    session: VenueSession
    known: dict[tuple[str, str], StoredFile]
    meter: Meter
    at_hand: dict[str, StoredFile] = field(default_factory=dict)
    failed_archives: int = 0
    is_named_right: bool | None = None
    replaced: list[PdfRequest] = field(default_factory=list)
    waiting: list[StoredFile] = field(default_factory=list)
    latest: LatestEdits | None = None

    def keep(self, request: PdfRequest, content: bytes | None, problem: str | None) -> None:
        """Store a file that was received, or the reason why it was not."""
        before = self.known.get(request.key)
        if content is not None and before and before.sha256 not in {None, hashlib.sha256(content).hexdigest()}:
            content = None
            problem = ANOTHER
            sha256, size_bytes = before.sha256, before.size_bytes
        elif content is not None:
            sha256 = self.session.files.add(content)
            size_bytes = len(content)
        else:
            sha256, size_bytes = None, None
        self._store(StoredFile(*request.key, self.session.venue_id, request.forum_id, sha256, size_bytes, problem))

    def take_same(self, request: PdfRequest) -> bool:
        """Reuse a file that is stored under the same path; return whether there is one."""
        same = self.at_hand.get(request.path)
        if same is not None:
            key = (*request.key, self.session.venue_id, request.forum_id)
            self._store(StoredFile(*key, same.sha256, same.size_bytes, problem=None))
            if len(self.waiting) >= MOST_WAITING:
                self.commit()
        return same is not None

    def commit(self) -> None:
        """Commit the waiting files, after each request that returned files: a kill costs at most one request."""
        if self.waiting:
            with self.session.raw.transaction():
                self.session.raw.state.add_files(self.waiting)
            self.waiting.clear()

    def find_latest(self) -> LatestEdits:
        """Return the latest edits of the venue, requested again once they are old."""
        if self.latest is None or not 0 <= now_ms() - self.latest.asked_ms <= JUST_NOW_MS:
            self.latest = fetch_latest(self.session)
        return self.latest

    def comes_in_archives(self) -> bool:
        """Return whether to request several files at once, given earlier results."""
        return self.failed_archives < MOST_FAILED_ARCHIVES and self.is_named_right is not False

    def _store(self, stored: StoredFile) -> None:
        self.waiting.append(stored)
        if stored.problem is None:
            self.at_hand[stored.path] = stored
        self.meter.advance()


def harvest_pdfs(session: VenueSession) -> None:
    """Fetch the files that are still missing, most useful first; current files of API v2 fifty at a time."""
    missing = missing_files(session)
    stored_files = {(stored.edit_id, stored.path): stored for stored in session.raw.state.files(session.venue_id)}
    # The rate limit of the route used for most files bounds the pace.
    routes = Counter(request.route for request in missing)
    route = routes.most_common(1)[0][0] if routes else CURRENT
    path, in_one = ("/attachment", MOST_IN_ONE) if session.api == 2 and route == CURRENT else (route, 1)
    files = _Files(session, stored_files, session.meter("fetching PDFs", 0, len(missing), path, in_one))
    files.is_named_right = True if trusts_names(session) else None
    files.at_hand = {
        stored.path: stored for stored in stored_files.values() if stored.problem is None and _is_here(session, stored)
    }
    try:
        for batch in _make_batches(session, missing):
            _take_batch(files, batch)
        for request in files.replaced:
            if not files.take_same(request):
                files.keep(request, None, REPLACED)
    finally:
        files.commit()


def _take_batch(files: _Files, batch: Sequence[PdfRequest]) -> None:
    left = [request for request in batch if not files.take_same(request)]
    if len(left) > 1 and files.comes_in_archives():
        left = _take_archive(files, left)
        files.commit()
    for request in left:
        if not files.take_same(request):
            _take_one(files, request)
            files.commit()


def missing_files(session: VenueSession) -> list[PdfRequest]:
    """Return the files to request now: never requested, removed by hand, or with a problem that may have passed."""
    stored_files = {(stored.edit_id, stored.path): stored for stored in session.raw.state.files(session.venue_id)}
    return [request for request in list_wanted(session) if _is_to_ask(session, stored_files.get(request.key))]


def _is_to_ask(session: VenueSession, stored: StoredFile | None) -> bool:
    if stored is None or (stored.problem is not None and (session.refresh or stored.problem in PASSING)):
        return True
    return not _is_here(session, stored)


def _is_here(session: VenueSession, stored: StoredFile) -> bool:
    """Return whether the stored record of a file is still valid: its content may have been removed by hand."""
    return stored.sha256 is None or session.files.has(stored.sha256)


def _make_batches(session: VenueSession, missing: Sequence[PdfRequest]) -> Iterator[list[PdfRequest]]:
    """Yield the files to request together: current files of API v2 up to fifty at a time, all others singly.

    Among first files, archives come first; among the others, edits come first, as they may include the current file.
    """
    failed = session.setbacks.failed
    ordered = sorted(
        missing,
        key=lambda request: (
            request.edit_id in failed,
            not request.is_first,
            request.is_first == (request.route != CURRENT),
        ),
    )
    for (_, route, _), group in groupby(
        ordered, key=lambda request: (request.is_first, request.route, request.edit_id in failed)
    ):
        files = list(group)
        size = MOST_IN_ONE if route == CURRENT and session.api == 2 else 1
        yield from (files[start : start + size] for start in range(0, len(files), size))


def _take_archive(files: _Files, batch: list[PdfRequest]) -> list[PdfRequest]:
    """Request several current files at once; return those that were not received that way."""
    with files.session.files.scratch() as scratch:
        if not download_archive(files.session, batch, scratch):
            files.failed_archives += 1
            return batch
        files.failed_archives = 0
        # Checked after receipt: a path named both before and after was named when the file was read.
        current = _still_current(files.session, batch)
        files.replaced += [request for request in batch if request not in current]
        came: set[PdfRequest] = set()
        for request, content in unpack(scratch, batch):
            if files.is_named_right is None:
                files.is_named_right = _is_own(files.session, request, content)
                if files.is_named_right:
                    raw = files.session.raw
                    with raw.transaction():
                        raw.state.set_listing(files.session.venue_id, NAMES, Listing(None, 1, None, complete=True))
            if files.is_named_right is False:
                break
            if request in current:
                files.keep(request, content, None)
                came.add(request)
    return [request for request in current if request not in came]


def trusts_names(session: VenueSession) -> bool:
    """Return whether a file from an archive proved, in this run or before, to be that of its paper."""
    return session.raw.state.listing(session.venue_id, NAMES).complete


def _is_own(session: VenueSession, request: PdfRequest, content: bytes) -> bool | None:
    """Return whether a file from an archive equals the one requested singly; None if that one is refused."""
    try:
        return session.client.get_file(session.api, request.route, dict(request.params)) == content
    except NotGivenError:
        return None


def _still_current(session: VenueSession, batch: Sequence[PdfRequest]) -> set[PdfRequest]:
    """Return the files that their papers still name."""
    notes = find_notes(session.client, session.api, [request.forum_id for request in batch])
    now = {note.id: file_path(note, "pdf") for note in (decode_leniently(Note, bytes(item)) for item in notes)}
    return {request for request in batch if now.get(request.forum_id) == request.path}


def _take_one(files: _Files, request: PdfRequest) -> None:
    session = files.session
    try:
        content = session.client.get_file(session.api, request.route, dict(request.params))
        is_still_named = _is_still_named(files, request)
    except NotGivenError as error:
        files.keep(request, None, error.reason)
        return
    except BusyError as error:
        session.setbacks.count(error, request.edit_id)
        return
    session.setbacks.reset()
    if is_still_named:
        files.keep(request, content, None)
    else:
        files.replaced.append(request)


def _is_still_named(files: _Files, request: PdfRequest) -> bool:
    """Return whether the paper or edit of a received file still names its path."""
    session = files.session
    if request.route == CURRENT:
        return request in _still_current(session, [request])
    kind = RawKind.REFERENCE if session.api == 1 else RawKind.EDIT
    stored = session.raw.find(kind, request.edit_id)
    if stored is None or 0 <= now_ms() - stored.seen_ms <= JUST_NOW_MS:
        return True
    if can_list_latest(session):
        latest = files.find_latest()
        if request.edit_id in latest.paths:
            return latest.paths[request.edit_id] == request.path
        if latest.shows_changes_since(stored.seen_ms) and venue_of_edit(stored.body) == session.venue_id:
            return True
    fetch = fetch_references if session.api == 1 else fetch_edits
    items = (bytes(item) for _, item in fetch(session.client, request.forum_id) if object_id(item) == request.edit_id)
    return any(file_path(decode_note(kind, body), "pdf") == request.path for body in items)
