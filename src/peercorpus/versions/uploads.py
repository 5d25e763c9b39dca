"""Represent a submission's PDF uploads, and derive them from its edits.

`fold` applies partial revisions in time order; `SubmissionPdfs` is the input of the choice of the initial version.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from peercorpus.records.enums import FileSays
from peercorpus.venues.catalogue import StatedDeadline
from peercorpus.versions.deadlines import Deadline, Stages, stages_of

Opinion: TypeAlias = tuple[FileSays, tuple[str, ...]]
"""The version indicated by a file itself, and the signs for it, in words."""

LATEST = datetime.max.replace(tzinfo=UTC)
"""Sorts unknown times last."""

NO_FILE = ""
"""Path of an upload that removed the PDF, or whose file is hidden."""

_OVERWRITTEN_AFTER = timedelta(days=60)
"""If all references over this time name one PDF, chairs may have overwritten it."""


def no_opinion(_sha256: str, _deadline: datetime | None) -> Opinion | None:
    """Return None, the result for a file that was not inspected."""
    return None


@dataclass(frozen=True, slots=True)
class Upload:
    """One PDF submitted by an edit, a reference or the note itself.

    Attributes:
        edit_id: The edit or reference; the forum id for the note's current PDF.
        created_at: When the edit was made; None for the current PDF, whose date is not that of its note.
        settled_at: When its content was last written, possibly long after `created_at`: edits can be reposted, and
            chairs have overwritten the PDFs of references. None if unknown.
        invitation: The edit's invitation; None for the current PDF.
        title: Title of the paper as of this upload; None if not shown.
        abstract: Abstract of the paper as of this upload; None if not shown.
        deleted_at: When its edit was deleted; None if it was not.
    """

    edit_id: str
    path: str
    created_at: datetime | None
    modified_at: datetime | None
    settled_at: datetime | None
    invitation: str | None
    title: str | None = None
    abstract: str | None = None
    deleted_at: datetime | None = None

    def stood(self, limit: datetime) -> bool:
        """Return whether it existed just before `limit`; an upload deleted at `limit` or later did."""
        return self.deleted_at is None or self.deleted_at >= limit

    def is_settled(self, limit: datetime) -> bool:
        """Return whether it was certainly last written before `limit`."""
        return self.settled_at is not None and self.settled_at < limit


@dataclass(frozen=True, slots=True)
class SubmissionPdfs:
    """Everything known about one submission's PDFs.

    Attributes:
        uploads: In time order, one per path; the current PDF is last if no edit submitted it.
        hidden: Uploads that cannot be fetched: not public, deleted, links to other places, or removals of the PDF. They
            are never published, but a later one supersedes an earlier public one.
        repeats: Edits that name the PDF of another edit, which was restored or left unchanged.
        attachment: Attachment in which the venue kept the submitted file; None if it kept none.
        kept: That attachment as each public reference names it (API v1); it can be replaced.
        invitations: Every invitation that edited the note (API v2); empty on API v1.
        sha256: Digest of each fetched file, by path.
        shown: Invitations of the public edits.
        stated_deadlines: Every deadline of the venue's full papers stated by any source, earliest first, without the
            grace period; includes hints, which prove nothing alone.
        known_stages: Effects of the venue's invitations; None means those known to the package.
        venue_reviewed_at: When the first review of any paper of the venue was written; None if unknown.
        masked_as: Invitation that API v1 names on every reference, whatever form submitted it; empty on API v2.
        is_complete: Whether every edit that can have submitted a PDF is known, from the first to the current PDF.
        names_are_open: Whether reviewers saw the authors' names; False if unknown.
        was_reopened: Whether a form for PDFs was open long after the deadline, so that uploads may have gone unnoticed.
        is_one_for_months: Whether its references (API v1) name a single PDF over months: chairs could overwrite the PDF
            of all of them.
        created_at: When the note was made, by the server's clock; None if unknown.
        may_be_imported: Whether the venue may have imported the note after its reviews: the time when it was made is
            unknown, or later than its stated date.
        modified_at: When the note was last changed; None unless the record is known to keep that time (API v2).
        is_accepted: Whether the paper was accepted.
        decided_at: When it was decided; None if unknown.
        opinion: Returns the version indicated by a file itself, by sha256 and deadline; None if it was not inspected.
    """

    forum_id: str
    venue_id: str
    uploads: Sequence[Upload]
    hidden: Sequence[Upload]
    attachment: Upload | None
    current_path: str | None
    invitations: Sequence[str]
    deadline: Deadline | None
    first_review_at: datetime | None
    sha256: Mapping[str, str]
    shown: frozenset[str] = frozenset()
    is_one_for_months: bool = False
    is_accepted: bool = False
    decided_at: datetime | None = None
    repeats: Sequence[Upload] = ()
    was_reopened: bool = False
    stated_deadlines: Sequence[StatedDeadline] = ()
    known_stages: Stages | None = None
    venue_reviewed_at: datetime | None = None
    masked_as: str = ""
    kept: Sequence[Upload] = ()
    created_at: datetime | None = None
    may_be_imported: bool = False
    modified_at: datetime | None = None
    is_complete: bool = False
    names_are_open: bool = False
    opinion: Callable[[str, datetime | None], Opinion | None] = no_opinion

    @property
    def stages(self) -> Stages:
        """Return the effects of the venue's invitations."""
        return self.known_stages or stages_of(self.venue_id)


def read_edits(submission: SubmissionPdfs) -> Iterator[Upload]:
    """Yield every upload of a PDF, in no particular order."""
    yield from submission.hidden
    yield from submission.uploads
    yield from submission.repeats


def is_same_file(left: Upload, right: Upload) -> bool:
    """Return whether two paths name the same file: OpenReview names files by their content."""
    return left.path.rpartition("/")[2] == right.path.rpartition("/")[2]


def file_of(submission: SubmissionPdfs, upload: Upload) -> str | None:
    """Return the sha256 of an upload's file under any of its paths, or None if it was not fetched."""
    sha256 = submission.sha256.get(upload.path)
    kept = submission.attachment
    if sha256 is None and kept is not None and is_same_file(kept, upload):
        paths = [kept.path, *(other.path for other in submission.uploads if is_same_file(other, kept))]
        sha256 = next(filter(None, map(submission.sha256.get, paths)), None)
    return sha256


@dataclass(frozen=True, slots=True)
class SubmissionEdit:
    """One edit or reference of a submission; None leaves the submission unchanged, and `NO_FILE` removes or hides its
    PDF.
    """

    edit_id: str
    created_at: datetime | None
    modified_at: datetime | None
    invitation: str
    is_public: bool
    path: str | None
    title: str | None
    abstract: str | None
    deleted_at: datetime | None = None
    attachment: str | None = None

    @property
    def settled_at(self) -> datetime | None:
        """Return when its content was last written; None unless both its times are known."""
        return max(self.created_at, self.modified_at) if self.created_at and self.modified_at else None

    @property
    def can_be_had(self) -> bool:
        """Return whether it submitted a PDF that OpenReview stores and did not delete."""
        return self.path is not None and is_kept(self.path) and self.deleted_at is None


def is_kept(path: str) -> bool:
    """Return whether OpenReview stores the PDF; before 2018, papers could be links to other sites."""
    return path.startswith("/pdf/")


def fold(changes: Iterable[SubmissionEdit], *, is_whole: bool) -> tuple[list[Upload], list[Upload]]:
    """Return the uploads of partial revisions in time order: those that can be fetched, and the others.

    A change without a title or abstract keeps the earlier one, which counts only if it cannot be later than the upload
    itself.
    """
    public: list[Upload] = []
    hidden: list[Upload] = []
    title: tuple[str | None, datetime] = (None, LATEST)
    abstract = title
    for change in sorted(changes, key=lambda change: (change.created_at or LATEST, change.edit_id)):
        if change.deleted_at is not None and change.path is None:
            continue
        settled = change.settled_at
        written = settled or LATEST
        if change.title or not is_whole:
            title = (change.title if change.is_public else None, written)
        if change.abstract or not is_whole:
            abstract = (change.abstract if change.is_public else None, written)
        if change.path is None:
            continue
        shown = [text if written_at <= written else None for text, written_at in (title, abstract)]
        upload = Upload(
            edit_id=change.edit_id,
            path=change.path,
            created_at=change.created_at,
            modified_at=change.modified_at,
            settled_at=settled,
            invitation=change.invitation,
            title=shown[0],
            abstract=shown[1],
            deleted_at=change.deleted_at,
        )
        (public if change.is_public and change.can_be_had else hidden).append(upload)
    return public, hidden


CREATION = timedelta(minutes=1)
"""Longest time between a note and its creating edit or reference: OpenReview writes both in one request."""


def is_complete(
    changes: Sequence[SubmissionEdit],
    created_at: datetime | None,
    current_path: str | None,
    unseen: Collection[str],
    *,
    is_blind: bool,
    listed_until: datetime | None = None,
) -> bool:
    """Return whether edits show the whole history of a PDF.

    They do if they reach from the creation of the note to its current PDF, and no invitation that may have changed the
    PDF lacks an edit. The authors' own note is older than the blind one made from it, so references that begin with the
    blind note's lack those of the authors.

    Some lists of API v1 lack the reference of the current PDF (recorded: two of six). It came after the last reference
    with a PDF, so it does not affect earlier states.

    Args:
        changes: All known edits or references.
        created_at: When the note was created; None if unknown.
        current_path: The note's current PDF; None if it has none.
        is_blind: Whether the note was made from the authors' own note (API v1).
        listed_until: Instant up to which the history is needed, if references are listed in order and may lack the
            current PDF; None if they may not.
        unseen: Invitations that edited the note and may change its PDF, but have no public edit.
    """
    if created_at is None or current_path is None or unseen:
        return False
    times = [change.created_at for change in changes if change.created_at is not None]
    begins = any(time < created_at if is_blind else time <= created_at + CREATION for time in times)
    brought = [change for change in changes if change.is_public and change.path]
    ends = any(change.path == current_path for change in brought)
    if listed_until is not None:
        ends = ends or any(change.created_at is not None and change.created_at > listed_until for change in brought)
    return begins and ends


def is_one_for_months(uploads: Sequence[Upload]) -> bool:
    """Return whether several references, months apart, all name the same PDF."""
    times = [upload.created_at for upload in uploads if upload.created_at is not None]
    return (
        len({upload.path for upload in uploads}) == 1
        and len(times) > 1
        and max(times) - min(times) > _OVERWRITTEN_AFTER
    )
