"""What is known of one submission's PDFs: the uploads that its edits and references show, folded in time order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from peercorpus.kinds import FileSays
from peercorpus.versions.deadline import Deadline

Opinion: TypeAlias = tuple[FileSays, tuple[str, ...]]
"""Which version a file says it is, and what in it says so, in words."""

LATEST = datetime.max.replace(tzinfo=UTC)

MONTHS_APART = timedelta(days=60)
"""Where references name one PDF only over such a time, chairs, who could do that, may have overwritten it."""


def no_opinion(_sha256: str, _deadline: datetime | None) -> Opinion | None:
    """Of files that were not looked into."""
    return None


@dataclass(frozen=True, slots=True)
class Upload:
    """One PDF as an edit, a reference or the note itself brought it.

    Attributes:
        edit_id: The edit or reference; the forum id for the note's current PDF.
        created_at: When it was made; None for the current PDF, whose date is not its note's.
        settled_at: When its content was last written, which may be long after its date: an edit can be posted again,
            and chairs have overwritten the PDFs of references. None where that is not known.
        invitation: The edit's invitation; None for the current PDF.
        title: Of the paper as of this upload; None where that is not shown.
        abstract: The same.
        deleted_at: When its edit was deleted; None where it was not.
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
        """Whether it was not deleted up to an instant: what is deleted later was there at the time."""
        return self.deleted_at is None or self.deleted_at > limit


@dataclass(frozen=True, slots=True)
class Submission:
    """What is known of one submission's PDFs.

    Attributes:
        uploads: In time order, one per distinct path; the current PDF is last if no edit brought it.
        hidden: Uploads that cannot be had: not everyone may read them, they were deleted, or link to another place.
            None is published, but a later one outdates an earlier public one.
        repeats: Edits that name a PDF that another one brought: it was put back, or left as it was.
        attachment: The path under which the venue kept the submitted file; None where it kept none.
        invitations: Every invitation that edited the note (API v2); empty on API v1.
        sha256: Path to file, for the files that were fetched.
        shown: The invitations of the edits that everyone may read.
        names_are_open: Whether its authors were named to the reviewers; not where that is not known.
        was_reopened: Whether a form that takes PDFs was open long after the deadline, when nobody saw what came in.
        is_one_for_months: Whether its references (API v1) name one and the same PDF for months: chairs could
            overwrite the PDF of all of them.
        is_accepted: Whether the paper was accepted in the end.
        decided_at: When it was decided; None where that is not known.
        opinion: What a file says of itself, by its sha256 and the deadline; None where it was not looked into.
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
    names_are_open: bool = False
    opinion: Callable[[str, datetime | None], Opinion | None] = no_opinion


@dataclass(frozen=True, slots=True)
class Change:
    """What one edit or reference of a submission says; a field that it does not name it leaves as it was.

    Attributes:
        edit_id: The edit or reference.
        modified_at: When it was last written; None where it does not say.
        path: Of the PDF it brought, wherever that is kept; None where it brought none.
        deleted_at: When it was deleted; None where it was not.
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

    @property
    def settled_at(self) -> datetime | None:
        """When what it says was last written; None where it does not say both when it was made and when changed."""
        return max(self.created_at, self.modified_at) if self.created_at and self.modified_at else None

    @property
    def can_be_had(self) -> bool:
        """Whether it brought a PDF that OpenReview keeps, and still does."""
        return self.path is not None and is_kept(self.path) and self.deleted_at is None


def is_kept(path: str) -> bool:
    """Whether OpenReview keeps the PDF; before 2018 papers could be links to other places."""
    return path.startswith("/pdf/")


def fold(changes: Iterable[Change], *, is_whole: bool) -> tuple[list[Upload], list[Upload]]:
    """The uploads of partial revisions in time order, those everyone can have and those not everyone can.

    A change that names no PDF brings none. One that names no title keeps the earlier one, which counts as shown only
    where it cannot have been written later than the upload itself.

    Args:
        changes: In any order.
        is_whole: Whether no change is kept from the reader altogether, so that an earlier title still stands.
    """
    public: list[Upload] = []
    hidden: list[Upload] = []
    title: tuple[str | None, datetime] = (None, LATEST)
    abstract = title
    for one in sorted(changes, key=lambda one: (one.created_at or LATEST, one.edit_id)):
        if one.deleted_at is not None and one.path is None:
            continue
        settled = one.settled_at
        written = settled or LATEST
        title = (one.title if one.is_public else None, written) if one.title or not is_whole else title
        abstract = (one.abstract if one.is_public else None, written) if one.abstract or not is_whole else abstract
        if one.path is None:
            continue
        shown = [text if at <= written else None for text, at in (title, abstract)]
        times = one.created_at, one.modified_at, settled
        upload = Upload(one.edit_id, one.path, *times, one.invitation, shown[0], shown[1], one.deleted_at)
        (public if one.is_public and one.can_be_had else hidden).append(upload)
    return public, hidden


def is_one_for_months(uploads: Sequence[Upload]) -> bool:
    """Whether several references name the same PDF and no other, months apart."""
    times = [upload.created_at for upload in uploads if upload.created_at is not None]
    return len({upload.path for upload in uploads}) == 1 and len(times) > 1 and max(times) - min(times) > MONTHS_APART
