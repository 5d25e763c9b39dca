"""Find the deadline that applied to a paper, and choose its PDF at that time.

A deadline counts if the paper's own history does not refute it. It is moved to the last upload that a submission form
accepted soon after it. If only hints are stated, they count if all lead to the same PDF. A PDF that was replaced before
reviewing began is not chosen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from peercorpus.openreview.objects import invitation_name
from peercorpus.records.enums import Grade
from peercorpus.versions.deadlines import EXTENSION, FULL_PAPER_DELAYS, GRACE, Deadline
from peercorpus.versions.uploads import (
    CREATION,
    LATEST,
    NO_FILE,
    SubmissionPdfs,
    Upload,
    is_kept,
    is_same_file,
    read_edits,
)

# The texts of rules are data: every version stores one in `Evidence.rule`, and so do releases. Changing a word changes
# rows, so it requires a new version of the stage in `find_versions.py`.
ON_TIME = "the latest PDF on or before the deadline"
PUT_BACK = "{rule}, put back by {edit_id}"
UPLOADED_LATE = (
    "{rule}, uploaded late: papers were due at {due:%Y-%m-%d %H:%M:%S} UTC, it came at {came:%Y-%m-%d %H:%M:%S} UTC,"
    " while the form was still open"
)
ONE_FOR_MONTHS = "{rule}; all references name one PDF, months apart: chairs may have overwritten it"
AGREED = "{rule}; the same under each of {number} deadlines that sources state"

UNSURE_ON_TIME = "the latest PDF on or before the deadline {reason}"
UNSURE_REPLACED = (
    "the latest PDF on or before the deadline was replaced by {edit_id} ('{invitation}') before reviewing began"
)
MAY_HAVE_COME = "may have come by '{invitation}', whose edits are not public"
ANOTHER_UNDATED = "may be another: {edit_id} brought one at no known time"
ANOTHER_TOO = "may be another: {edit_id} brought one too"
ANOTHER_UNSETTLED = "may be another: {edit_id} does not say when it was last written"
DELETED = "was deleted since"
ELSEWHERE = "is a link to another place"
REWRITTEN = "was written again later, and may hold another PDF now"
NOT_PUBLIC = "is not public"
REMOVED = "was removed or hidden by {edit_id}"


@dataclass(frozen=True, slots=True)
class InitialVersion:
    """The upload chosen as the initial version, its grade and the rule that chose it.

    Attributes:
        upload: None if no upload can be chosen.
        contradicted: The upload chosen by the rule whose file says that it is a later version.
        until: Latest time by which the file was submitted, according to the rule; None if unknown.
        replaced_by: The upload that replaced the rule's choice before reviewing began; None if none did.
    """

    upload: Upload | None
    grade: Grade
    rule: str
    contradicted: Upload | None = None
    until: datetime | None = None
    replaced_by: Upload | None = None


def usable_deadline(submission: SubmissionPdfs) -> Deadline | None:
    """Return the deadline that applied to a paper, or None if none proves anything.

    If only hints are stated, one counts if all of them lead to the same version. An upload that a submission form
    accepted after the deadline proves that a later deadline applied.
    """
    stated = _find_unrefuted(submission, submission.deadline)
    return _extend(submission, stated) if stated else _find_agreed(submission)


def _find_unrefuted(submission: SubmissionPdfs, deadline: Deadline | None) -> Deadline | None:
    """Return a deadline, or None if it proves nothing.

    A deadline after the first review was moved later; if only the paper's own extension is after it, the deadline
    without the extension counts. A deadline that may be that of abstracts does not count if a PDF came when full papers
    would have been due.
    """
    first = submission.first_review_at
    if deadline is not None and deadline.may_be_of_abstracts and _has_full_paper(submission, deadline.at):
        return None
    if deadline is None or first is None or first > deadline.at:
        return deadline
    due = deadline.due
    return Deadline(due, deadline.source, due) if due is not None and due < first else None


def _has_full_paper(submission: SubmissionPdfs, abstracts_at: datetime) -> bool:
    opened, closed = (abstracts_at + after for after in FULL_PAPER_DELAYS)
    first = submission.first_review_at or LATEST
    late = submission.stages.late
    return any(
        upload.created_at is not None
        and upload.path != NO_FILE
        and opened < upload.created_at <= closed
        and upload.created_at < first
        and invitation_name(upload.invitation or "") not in late
        for upload in (*submission.uploads, *submission.hidden)
    )


def _read_stated(submission: SubmissionPdfs) -> list[Deadline]:
    """Return the deadlines stated by sources, with the grace period, unless the paper's history refutes them."""
    stated = [Deadline(one.at + GRACE, f"{one.source} (+ 30 min)", one.at) for one in submission.stated_deadlines]
    unrefuted = [_find_unrefuted(submission, deadline) for deadline in stated]
    return [_extend(submission, deadline) for deadline in unrefuted if deadline is not None]


def _find_agreed(submission: SubmissionPdfs) -> Deadline | None:
    """Return the earliest deadline stated by sources if it does not matter which of them applied, else None.

    A single hint proves nothing; several that lead to the same version do.
    """
    stated = _read_stated(submission)
    agreed = {one.at for one in submission.stated_deadlines if one.is_agreed}
    if len(stated) < 2 and not any(one.due in agreed for one in stated):
        return None
    chosen = [choose_by_deadline(submission, deadline) for deadline in stated]
    if not chosen or any(choice is None or choice.upload is None for choice in chosen):
        return None
    if len({choice.upload.path for choice in chosen if choice and choice.upload}) > 1:
        return None
    return min(stated, key=lambda deadline: deadline.at)


def _extend(submission: SubmissionPdfs, deadline: Deadline) -> Deadline:
    """Return the deadline, moved to the last upload that a submission form accepted soon after it.

    Such a form accepts no file after the deadline, so a later deadline applied. An upload later than an extension can
    last means that the form was reopened, which says nothing about what reviewers had read by then.
    """
    due = deadline.due or deadline.at
    reviewed = find_reviewing(submission, deadline)
    taken = [
        upload
        for upload in _read_between(submission, deadline.at, reviewed)
        if (upload.created_at or LATEST) <= due + EXTENSION and _is_submitted(submission, upload)
    ]
    last = max(taken, key=lambda upload: upload.created_at or LATEST, default=None)
    if last is None or last.created_at is None:
        return deadline
    source = f"{last.invitation} took {last.edit_id}; due: {deadline.source}"
    is_settled = last.settled_at is not None and last.settled_at < reviewed
    return Deadline(last.settled_at if last.settled_at and is_settled else last.created_at, source, due)


def _is_submitted(submission: SubmissionPdfs, upload: Upload) -> bool:
    """Return whether an upload came by a submission form.

    A form with an unknown name may be open to revisions before reviewing, so it counts only if the whole history is
    known.
    """
    name = upload.invitation
    if not name or name == submission.masked_as:
        return False
    stages = submission.stages
    return stages.takes_submissions(name) or (submission.is_complete and stages.may_bring_the_full_paper(name))


def find_reviewing(submission: SubmissionPdfs, deadline: Deadline) -> datetime:
    """Return the latest time by which reviewing had begun.

    For a paper without a review, this is the time of the venue's first review or, if that is unknown or before the
    deadline, the time when an extension would have ended.
    """
    known = [submission.first_review_at, submission.venue_reviewed_at]
    reviewed = next((at for at in known if at is not None and at > deadline.at), None)
    return reviewed or (deadline.due or deadline.at) + EXTENSION


def find_closing(submission: SubmissionPdfs, deadline: Deadline | None) -> datetime | None:
    """Return the latest time at which submissions closed: by its usable deadline, or the latest stated; None if none is
    certain.
    """
    stated = [] if deadline else _read_stated(submission)
    is_sure = len(stated) > 1 or any(one.is_agreed for one in submission.stated_deadlines)
    return deadline.at if deadline else max((one.at for one in stated if is_sure), default=None)


def _read_between(submission: SubmissionPdfs, after: datetime, before: datetime) -> Iterator[Upload]:
    for upload in read_edits(submission):
        if upload.created_at is not None and after < upload.created_at < before and upload.stood(before):
            yield upload


def find_latest(submission: SubmissionPdfs, limit: datetime) -> tuple[Upload, Upload] | None:
    """Return the latest upload last written on or before `limit`, and the edit that last submitted its file.

    The two differ if a file was restored after another had replaced it.
    """
    edits: Sequence[Upload] = submission.uploads
    if submission.repeats:
        edits = sorted((*edits, *submission.repeats), key=lambda upload: upload.created_at or LATEST)
    last = next(
        (upload for upload in reversed(edits) if upload.settled_at is not None and upload.settled_at <= limit), None
    )
    return (next(upload for upload in submission.uploads if upload.path == last.path), last) if last else None


def find_doubt(submission: SubmissionPdfs, last: Upload, limit: datetime, *, is_proof: bool = True) -> str | None:
    """Return why an upload may not be the latest up to `limit`, or None if it certainly is.

    A proof also needs that no later edit that names the same PDF was rewritten since reviewing began: it may have
    brought another one.
    """
    began = last.created_at or LATEST
    stages = submission.stages
    reviewed = submission.first_review_at or submission.venue_reviewed_at
    for upload in read_edits(submission):
        is_same = upload.path == last.path and (not is_proof or upload is last or upload.is_settled(reviewed or LATEST))
        if is_same or upload.invitation is None or not upload.stood(limit):
            continue
        if upload.created_at is None or began <= upload.created_at <= limit:
            return _describe_doubt(upload, began)
    opening = f"{submission.venue_id}/-/"
    may_precede_form = _may_precede_form(submission, last, began)
    for name in submission.invitations:
        may_have_come = (
            may_precede_form and stages.takes_submissions(name)
            if name.startswith(opening)
            else stages.may_bring_the_full_paper(name, reviewed)
        )
        if name not in submission.shown and may_have_come:
            return MAY_HAVE_COME.format(invitation=invitation_name(name))
    return None


def _may_precede_form(submission: SubmissionPdfs, last: Upload, began: datetime) -> bool:
    """Return whether the venue's form may have brought a PDF after an upload.

    It may after one by chairs before the deadline, unless that is the first edit rewritten.
    """
    is_of_chairs = invitation_name(last.invitation or "") in submission.stages.ambiguous
    is_first = submission.created_at is None or began - submission.created_at <= CREATION
    return is_of_chairs and not is_first and (submission.deadline is None or began <= submission.deadline.at)


def _describe_doubt(upload: Upload, began: datetime) -> str:
    if upload.created_at is None:
        return ANOTHER_UNDATED.format(edit_id=upload.edit_id)
    if upload.created_at == began:
        return ANOTHER_TOO.format(edit_id=upload.edit_id)
    if upload.path == NO_FILE:
        return REMOVED.format(edit_id=upload.edit_id)
    if upload.deleted_at is not None:
        return DELETED
    if not is_kept(upload.path):
        return ELSEWHERE
    if upload.settled_at is None:
        return ANOTHER_UNSETTLED.format(edit_id=upload.edit_id)
    return REWRITTEN if upload.settled_at > upload.created_at else NOT_PUBLIC


def choose_by_deadline(submission: SubmissionPdfs, deadline: Deadline) -> InitialVersion | None:
    """Choose the latest PDF up to the deadline; edits reposted later may contain a later PDF and do not count."""
    latest = find_latest(submission, deadline.at)
    if latest is None:
        return None
    upload, last = latest
    reason = find_doubt(submission, last, deadline.at)
    if reason is not None:
        return InitialVersion(None, Grade.UNAVAILABLE, UNSURE_ON_TIME.format(reason=reason))
    later = find_replacement(submission, last, deadline)
    if later is not None:
        name = invitation_name(later.invitation or "")
        rule = UNSURE_REPLACED.format(edit_id=later.edit_id, invitation=name)
        return InitialVersion(None, Grade.UNAVAILABLE, rule, replaced_by=later)
    is_put_back = _is_put_back(submission, upload, last)
    rule = PUT_BACK.format(rule=ON_TIME, edit_id=last.edit_id) if is_put_back else ON_TIME
    came_at = last.settled_at if is_put_back else upload.settled_at
    if deadline.due is not None and came_at is not None and came_at > deadline.due:
        rule = UPLOADED_LATE.format(rule=rule, due=deadline.due, came=came_at)
    if submission.is_one_for_months:
        return InitialVersion(upload, Grade.UNREVISED_LIKELY, ONE_FOR_MONTHS.format(rule=rule))
    return InitialVersion(upload, Grade.EXACT, rule)


def name_agreement(submission: SubmissionPdfs, choice: InitialVersion, deadline: Deadline) -> InitialVersion:
    """Return an exact choice whose rule states the number of stated deadlines, if several all lead to it."""
    stated = _read_stated(submission)
    number = len({one.due or one.at for one in (deadline, *stated)})
    if number < 2 or choice.upload is None or choice.grade is not Grade.EXACT:
        return choice
    others = [choose_by_deadline(submission, other) for other in stated]
    if any(other is None or other.upload is not choice.upload for other in others):
        return choice
    return replace(choice, rule=AGREED.format(rule=choice.rule, number=number))


def find_replacement(submission: SubmissionPdfs, last: Upload, deadline: Deadline) -> Upload | None:
    """Return the upload that replaced the file after the deadline and before reviewing began, or None.

    A file that was restored after another does not count as replaced, nor does an upload through an invitation that
    opens only after reviews.
    """
    stages = submission.stages
    reviewed = find_reviewing(submission, deadline)
    later = [
        upload
        for upload in _read_between(submission, deadline.at, reviewed)
        if not stages.follows_reviews(upload.invitation or "")
    ]
    final = max((upload.created_at for upload in later if upload.created_at), default=None)
    return next(
        (
            upload
            for upload in later
            if upload.created_at == final and not (is_same_file(upload, last) and upload.is_settled(reviewed))
        ),
        None,
    )


def _is_put_back(submission: SubmissionPdfs, upload: Upload, last: Upload) -> bool:
    """Return whether an upload's file was replaced by another before the edit that last submitted it."""
    began = upload.created_at
    again = last.created_at
    if upload is last or began is None or again is None:
        return False
    return any(
        other.path != upload.path and other.created_at and began < other.created_at < again
        for other in read_edits(submission)
    )
