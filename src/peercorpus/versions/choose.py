"""Which of a submission's PDFs the reviewers read, and how sure that is.

Source: the rules follow what OpenReview shows of revisions: API v1 lists every reference of a submission; API v2 hides
most edits from the public, but a note names every invitation that edited it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from peercorpus.kinds import Grade
from peercorpus.openreview.objects import tail_of
from peercorpus.records import Evidence, PaperVersion
from peercorpus.versions.deadline import Deadline
from peercorpus.versions.invitations import AMBIGUOUS, HARMLESS


@dataclass(frozen=True, slots=True)
class Upload:
    """One PDF as an edit, a reference or the note itself brought it.

    Attributes:
        edit_id: The edit or reference; the forum id for the note's current PDF.
        created_at: When it was made; None for the current PDF, whose date is not its note's.
        settled_at: When its content was last written, which may be long after its date: an edit can be posted again,
            and chairs have overwritten the PDFs of references. None where that is not known.
        invitation: The edit's invitation; None for the current PDF.
    """

    edit_id: str
    path: str
    created_at: datetime | None
    modified_at: datetime | None
    settled_at: datetime | None
    invitation: str | None


@dataclass(frozen=True, slots=True)
class Submission:
    """What is known of one submission's PDFs.

    Attributes:
        uploads: In time order, one per distinct path; the current PDF is last if no edit brought it.
        hidden: Uploads not everyone may read: none is published, but a later one outdates an earlier public one.
        attachment: The path under which the venue kept the submitted file; None where it kept none.
        invitations: Every invitation that edited the note (API v2); empty on API v1.
        sha256: Path to file, for the files that were fetched.
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


@dataclass(frozen=True, slots=True)
class Choice:
    """The upload taken for the initial version, its grade and the rule; no upload where none can be."""

    upload: Upload | None
    grade: Grade
    rule: str


def revision_state(invitations: Sequence[str]) -> Grade | None:
    """Whether the current PDF must be the submitted one, by the invitations that edited the note.

    >>> revision_state(["V/-/Submission", "V/-/Post_Submission"])
    <Grade.UNREVISED: 'unrevised'>
    >>> revision_state(["V/-/Submission", "V/-/Edit"])
    <Grade.UNREVISED_LIKELY: 'unrevised_likely'>
    >>> revision_state(["V/-/Submission", "V/Submission1/-/Camera_Ready_Revision"])
    """
    tails = {tail_of(invitation) for invitation in invitations} - HARMLESS
    if not invitations or tails - AMBIGUOUS:
        return None
    return Grade.UNREVISED_LIKELY if tails else Grade.UNREVISED


def _latest(uploads: Sequence[Upload], is_early: Callable[[datetime], bool]) -> Upload | None:
    return next((u for u in reversed(uploads) if u.settled_at is not None and is_early(u.settled_at)), None)


def _by_deadline(submission: Submission, cutoff: datetime) -> Choice | None:
    """The latest PDF on or before the deadline; an edit posted again later may hold a later PDF and does not count."""
    found = _latest(submission.uploads, lambda at: at <= cutoff)
    for upload in submission.hidden if found else ():
        if upload.created_at and found and found.created_at and found.created_at < upload.created_at <= cutoff:
            return Choice(None, Grade.UNAVAILABLE, "the latest PDF on or before the deadline is not public")
    return Choice(found, Grade.EXACT, "the latest PDF on or before the deadline") if found else None


def _before_review(submission: Submission) -> Choice | None:
    first = submission.first_review_at
    found = _latest(submission.uploads, lambda at: at < first) if first else None
    rule = "the latest PDF that can be seen from before the first review"
    return Choice(found, Grade.BEFORE_FIRST_REVIEW, rule) if found else None


def usable_deadline(submission: Submission) -> Deadline | None:
    """The deadline, unless a review came before it: then it was moved afterwards and proves nothing."""
    deadline, first = submission.deadline, submission.first_review_at
    return None if deadline is None or (first is not None and first <= deadline.at) else deadline


def choose(submission: Submission) -> Choice:
    """The initial version, by the best rule that applies."""
    deadline = usable_deadline(submission)
    chosen = _by_deadline(submission, deadline.at) if deadline else None
    if chosen is None and submission.attachment is not None:
        chosen = Choice(submission.attachment, Grade.EXACT_ATTACHMENT, "the submitted file kept as an attachment")
    state = revision_state(submission.invitations)
    current = next((upload for upload in submission.uploads if upload.path == submission.current_path), None)
    if chosen is None and state is not None and current is not None:
        chosen = Choice(current, state, "no invitation that can change the PDF edited the note after the deadline")
    if chosen is None:
        chosen = _before_review(submission)
    if chosen is None:
        return Choice(None, Grade.UNAVAILABLE, "every PDF that can be seen may be later than the reviews")
    if chosen.upload is not None and chosen.upload.path not in submission.sha256:
        return Choice(chosen.upload, Grade.UNAVAILABLE, f"{chosen.rule} ({chosen.grade.value}); its file is not here")
    return chosen


def read_versions(submission: Submission) -> list[PaperVersion]:
    """Every PDF of a submission, in time order; exactly one carries a grade."""
    choice, deadline = choose(submission), usable_deadline(submission)
    uploads = [*submission.uploads]
    if submission.attachment is not None and choice.upload == submission.attachment:
        uploads.insert(0, submission.attachment)
    graded = choice.upload or next((u for u in uploads if u.path == submission.current_path), uploads[-1])
    return [
        PaperVersion(
            forum_id=submission.forum_id,
            venue_id=submission.venue_id,
            edit_id=upload.edit_id,
            created_at=upload.created_at,
            modified_at=upload.modified_at,
            path=upload.path,
            sha256=submission.sha256.get(upload.path),
            is_initial=upload == choice.upload,
            grade=choice.grade if upload == graded else None,
            evidence=Evidence(
                deadline.at if deadline else None,
                deadline.source if deadline else None,
                choice.rule if upload == graded else "not the initial version",
                upload.invitation,
            ),
        )
        for upload in uploads
    ]
