"""Choose the PDF that reviewers read, and grade the evidence for it.

`choose_initial_version` tries its rules from the strongest to the weakest: the deadline, a kept attachment, the
invitations that edited the note, a complete history with one PDF before any review, the first review. A file that
another replaced before reviewing began, or that says it is a later version, is never chosen.

Source: the rules follow what OpenReview shows of revisions. API v1 lists every reference of a submission; API v2 hides
most edits from the public, but a note names every invitation that edited it. A field of ICLR 2021 submissions,
`reviewed_version_(pdf)`, is filled in by the authors and names a later version: it is no evidence and is not read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from peercorpus.openreview.objects import invitation_name
from peercorpus.records.enums import FileSays, Grade, VersionMoment
from peercorpus.versions.deadlines import EXTENSION, GRACE, Deadline, Stages, stages_of
from peercorpus.versions.uploads import LATEST, SubmissionPdfs, Upload, is_kept

INSTANT = timedelta(microseconds=1)
_FULL_PAPER_DELAYS = (timedelta(days=1), timedelta(days=14))
"""Shortest and longest time between the deadlines of abstracts and of full papers.

Source: the venues of the catalogue with both deadlines, which are 3 to 7 days apart.
"""

# The texts of rules are data: every version stores one in `Evidence.rule`, and so do releases. Changing a word changes
# rows, so it requires a new version of the stage in `find_versions.py`.
ON_TIME = "the latest PDF on or before the deadline"
PUT_BACK = "{rule}, put back by {edit_id}"
UPLOADED_LATE = (
    "{rule}, uploaded late: papers were due at {due:%Y-%m-%d %H:%M:%S} UTC, it came at {came:%Y-%m-%d %H:%M:%S} UTC,"
    " while the form was still open"
)
ONE_FOR_MONTHS = "{rule}; all references name one PDF, months apart: chairs may have overwritten it"
ATTACHED = "the submitted file kept as an attachment"
ATTACHED_TWIN = "{rule}; the same that {edit_id} brought, written at {at:%Y-%m-%d %H:%M:%S} UTC"
UNTOUCHED = "no invitation that can change the PDF edited the note after the deadline"
REOPENED = "{rule}; but a form that takes PDFs closed long after the deadline"
ONLY = "every edit that can have brought a PDF is known, and this PDF alone came before the first review"
AGREED = "{rule}; the same under each of {number} deadlines that sources state"
REPLACED = "{rule}; {edit_id} replaced the one of the deadline, by '{invitation}'"
SEEN = "the latest PDF that can be seen from before the first review"
ALL_LATER = "every PDF that can be seen may be later than the reviews"

UNSURE_ON_TIME = "the latest PDF on or before the deadline {reason}"
UNSURE_REPLACED = (
    "the latest PDF on or before the deadline was replaced by {edit_id} ('{invitation}') before reviewing began"
)
UNSURE_SEEN = "the latest PDF from before the first review {reason}"
MAY_HAVE_COME = "may have come by '{invitation}', whose edits are not public"
ANOTHER_UNDATED = "may be another: {edit_id} brought one at no known time"
ANOTHER_TOO = "may be another: {edit_id} brought one too"
ANOTHER_UNSETTLED = "may be another: {edit_id} does not say when it was last written"
DELETED = "was deleted since"
ELSEWHERE = "is a link to another place"
REWRITTEN = "was written again later, and may hold another PDF now"
NOT_PUBLIC = "is not public"

FILE_NOT_HERE = "{rule} ({grade}); its file is not here"
FILE_SAYS_LATER = "{rule} ({grade}); but the file says itself that it is a later version: {signs}"


@dataclass(frozen=True, slots=True)
class InitialVersion:
    """The upload chosen as the initial version, its grade and the rule that chose it.

    Attributes:
        upload: None if no upload can be chosen.
        contradicted: The upload that the rule chose, but whose file says that it is a later version.
        until: Latest time at which the file was submitted, by the rule; None if unknown.
        replaced_by: The upload that took the place of the rule's before reviewing began; None if none did.
    """

    upload: Upload | None
    grade: Grade
    rule: str
    contradicted: Upload | None = None
    until: datetime | None = None
    replaced_by: Upload | None = None


def revision_state(invitations: Sequence[str], venue_id: str = "", stages: Stages | None = None) -> Grade | None:
    """Return how certainly the current PDF is the submitted one, from the invitations that edited the note, or None.

    >>> revision_state(["V/-/Submission", "V/-/Post_Submission"])
    <Grade.UNREVISED: 'unrevised'>
    >>> revision_state(["V/-/Submission", "V/-/Edit"])
    <Grade.UNREVISED_LIKELY: 'unrevised_likely'>
    >>> revision_state(["V/-/Submission", "V/Submission1/-/Camera_Ready_Revision"])
    """
    stages = stages or stages_of(venue_id)
    tails = {invitation_name(invitation) for invitation in invitations} - stages.harmless
    if not invitations or tails - stages.ambiguous:
        return None
    return Grade.UNREVISED_LIKELY if tails else Grade.UNREVISED


def usable_deadline(submission: SubmissionPdfs) -> Deadline | None:
    """Return the deadline that held for a paper, or None if none proves anything.

    Where only hints are stated, one counts if the same version is chosen under every one. An upload that a submission
    form took after the deadline proves that another one held.
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
    """Return whether a new PDF came when full papers are due after abstracts, by no invitation known to be later."""
    opened, closed = (abstracts_at + after for after in _FULL_PAPER_DELAYS)
    first = submission.first_review_at or LATEST
    late = submission.stages.late
    return any(
        upload.created_at is not None
        and opened < upload.created_at <= closed
        and upload.created_at < first
        and invitation_name(upload.invitation or "") not in late
        for upload in (*submission.uploads, *submission.hidden)
    )


def _read_stated(submission: SubmissionPdfs) -> list[Deadline]:
    """Return the deadlines that sources state, with the period of grace, as far as the paper does not refute them."""
    stated = [Deadline(one.at + GRACE, f"{one.source} (+ 30 min)", one.at) for one in submission.stated_deadlines]
    unrefuted = [_find_unrefuted(submission, deadline) for deadline in stated]
    return [_extend(submission, deadline) for deadline in unrefuted if deadline is not None]


def _find_agreed(submission: SubmissionPdfs) -> Deadline | None:
    """Return the earliest deadline that sources state if it does not matter which of them held, else None.

    One hint alone proves nothing; several that lead to one version do.
    """
    stated = _read_stated(submission)
    agreed = {one.at for one in submission.stated_deadlines if one.is_agreed}
    if len(stated) < 2 and not any(one.due in agreed for one in stated):
        return None
    chosen = [_choose_by_deadline(submission, deadline) for deadline in stated]
    if not chosen or any(choice is None or choice.upload is None for choice in chosen):
        return None
    if len({choice.upload.path for choice in chosen if choice and choice.upload}) > 1:
        return None
    return min(stated, key=lambda deadline: deadline.at)


def _extend(submission: SubmissionPdfs, deadline: Deadline) -> Deadline:
    """Return the deadline, moved to the last upload that a submission form took soon after it.

    Such a form takes no file after the deadline that holds, so another one held. Later than an extension lasts, a form
    was reopened, which tells nothing of what reviewers had read by then.
    """
    due = deadline.due or deadline.at
    reviewed = _find_reviewing(submission, deadline)
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

    A form that is not known by its name may be open to revisions before reviewing, so it counts only where the whole
    history is known.
    """
    name = upload.invitation
    if not name or name == submission.masked_as:
        return False
    stages = submission.stages
    return stages.takes_submissions(name) or (submission.is_complete and stages.may_bring_the_full_paper(name))


def _find_reviewing(submission: SubmissionPdfs, deadline: Deadline) -> datetime:
    """Return when reviewing had begun, at the latest.

    For a paper without a review this is the venue's first review or, if that is unknown or before the deadline, when an
    extension would have ended.
    """
    known = [submission.first_review_at, submission.venue_reviewed_at]
    reviewed = next((at for at in known if at is not None and at > deadline.at), None)
    return reviewed or (deadline.due or deadline.at) + EXTENSION


def _read_between(submission: SubmissionPdfs, after: datetime, before: datetime) -> Iterator[Upload]:
    """Yield every upload from after one instant and before another that was not deleted by then, in no order."""
    for upload in _read_edits(submission):
        if upload.created_at is not None and after < upload.created_at < before and upload.stood(before):
            yield upload


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


def choose_initial_version(submission: SubmissionPdfs) -> InitialVersion:
    """Return the initial version by the strongest rule that applies."""
    deadline = usable_deadline(submission)
    first = submission.first_review_at
    before_review = first - INSTANT if first else LATEST
    limit = deadline.at if deadline else before_review
    by_deadline = _choose_by_deadline(submission, deadline) if deadline else None
    if by_deadline and deadline:
        by_deadline = _name_agreement(submission, by_deadline, deadline)
    chosen = by_deadline if by_deadline and by_deadline.upload else None
    chosen = chosen or _choose_by_attachment(submission, deadline, limit) or _choose_by_invitations(submission, limit)
    if chosen is None or chosen.grade is Grade.UNREVISED_LIKELY:
        chosen = _choose_only(submission) or chosen
    if by_deadline is not None and by_deadline.replaced_by is not None:
        chosen = chosen or _choose_before_review(submission, by_deadline)
    chosen = chosen or by_deadline or _choose_before_review(submission)
    is_by_review = chosen.grade in {Grade.ONLY_BEFORE_REVIEW, Grade.BEFORE_FIRST_REVIEW}
    return _check_file(submission, replace(chosen, until=first if deadline is None or is_by_review else deadline.at))


def _find_latest(submission: SubmissionPdfs, limit: datetime) -> tuple[Upload, Upload] | None:
    """Return the latest upload last written on or before `limit`, and the edit that last submitted its file.

    The two differ if a file was put back after another.
    """
    edits: Sequence[Upload] = submission.uploads
    if submission.repeats:
        edits = sorted((*edits, *submission.repeats), key=lambda upload: upload.created_at or LATEST)
    last = next(
        (upload for upload in reversed(edits) if upload.settled_at is not None and upload.settled_at <= limit), None
    )
    return (next(upload for upload in submission.uploads if upload.path == last.path), last) if last else None


def _read_edits(submission: SubmissionPdfs) -> Iterator[Upload]:
    yield from submission.hidden
    yield from submission.uploads
    yield from submission.repeats


def _find_doubt(submission: SubmissionPdfs, last: Upload, limit: datetime) -> str | None:
    """Return why an upload may not be the latest up to `limit`, or None if it must be."""
    began = last.created_at or LATEST
    for upload in _read_edits(submission):
        if upload.path == last.path or upload.invitation is None or not upload.stood(limit):
            continue
        if upload.created_at is None or began <= upload.created_at <= limit:
            return _describe_doubt(upload, began)
    stages = submission.stages
    opening = f"{submission.venue_id}/-/"
    for name in submission.invitations:
        is_unseen = name not in submission.shown and not name.startswith(opening)
        if is_unseen and stages.may_bring_the_full_paper(name):
            return MAY_HAVE_COME.format(invitation=invitation_name(name))
    return None


def _describe_doubt(upload: Upload, began: datetime) -> str:
    if upload.created_at is None:
        return ANOTHER_UNDATED.format(edit_id=upload.edit_id)
    if upload.created_at == began:
        return ANOTHER_TOO.format(edit_id=upload.edit_id)
    if upload.deleted_at is not None:
        return DELETED
    if not is_kept(upload.path):
        return ELSEWHERE
    if upload.settled_at is None:
        return ANOTHER_UNSETTLED.format(edit_id=upload.edit_id)
    return REWRITTEN if upload.settled_at > upload.created_at else NOT_PUBLIC


def _choose_by_deadline(submission: SubmissionPdfs, deadline: Deadline) -> InitialVersion | None:
    """Choose the latest PDF up to the deadline; edits posted again later may contain a later PDF and do not count."""
    latest = _find_latest(submission, deadline.at)
    if latest is None:
        return None
    upload, last = latest
    reason = _find_doubt(submission, last, deadline.at)
    if reason is not None:
        return InitialVersion(None, Grade.UNAVAILABLE, UNSURE_ON_TIME.format(reason=reason))
    later = _find_replacement(submission, last, deadline)
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


def _name_agreement(submission: SubmissionPdfs, choice: InitialVersion, deadline: Deadline) -> InitialVersion:
    """Return an exact choice whose rule says how many stated deadlines lead to it, if several and all of them do."""
    stated = _read_stated(submission)
    number = len({one.due or one.at for one in (deadline, *stated)})
    if number < 2 or choice.upload is None or choice.grade is not Grade.EXACT:
        return choice
    others = [_choose_by_deadline(submission, other) for other in stated]
    if any(other is None or other.upload is not choice.upload for other in others):
        return choice
    return replace(choice, rule=AGREED.format(rule=choice.rule, number=number))


def _find_replacement(submission: SubmissionPdfs, last: Upload, deadline: Deadline) -> Upload | None:
    """Return the upload that left another file after the deadline and before reviewing began, or None.

    The same file put back after another leaves none. What an invitation brought that opens only after reviews does not
    count.
    """
    stages = submission.stages
    reviewed = _find_reviewing(submission, deadline)
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
            if upload.created_at == final and not (is_same_file(upload, last) and _is_settled(upload, reviewed))
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
        for other in _read_edits(submission)
    )


def _choose_by_attachment(
    submission: SubmissionPdfs, deadline: Deadline | None, limit: datetime
) -> InitialVersion | None:
    """Choose the file kept as an attachment, unless edits show that it came too late, or another one after it."""
    kept = submission.attachment
    if kept is None:
        return None
    same = [
        upload for upload in _read_edits(submission) if upload.settled_at is not None and is_same_file(upload, kept)
    ]
    in_time = [upload for upload in same if upload.settled_at is not None and upload.settled_at <= limit]
    last = max(in_time, key=lambda upload: upload.created_at or LATEST, default=None)
    if (same and last is None) or (last and limit != LATEST and _find_doubt(submission, last, limit)):
        return None
    if last and deadline and _find_replacement(submission, last, deadline):
        return None
    twin = next((upload for upload in in_time if upload in submission.uploads), None)
    if twin is None:
        return InitialVersion(kept, Grade.EXACT_ATTACHMENT, ATTACHED)
    attachment = replace(kept, title=twin.title, abstract=twin.abstract)
    rule = ATTACHED_TWIN.format(rule=ATTACHED, edit_id=twin.edit_id, at=twin.settled_at)
    return InitialVersion(attachment, Grade.EXACT_ATTACHMENT, rule)


def _choose_by_invitations(submission: SubmissionPdfs, limit: datetime) -> InitialVersion | None:
    """Choose the current PDF if no invitation can have changed it and no edit shows that it came late."""
    state = revision_state(submission.invitations, stages=submission.stages)
    current = next((upload for upload in submission.uploads if upload.path == submission.current_path), None)
    if state is None or current is None:
        return None
    times = [
        upload.settled_at
        for upload in (current, *submission.hidden)
        if upload.path == current.path and upload.settled_at
    ]
    if (times and min(times) > limit) or _is_replaced(submission, current, limit):
        return None
    if submission.was_reopened:
        return InitialVersion(current, Grade.UNREVISED_LIKELY, REOPENED.format(rule=UNTOUCHED))
    return InitialVersion(current, state, UNTOUCHED)


def _is_replaced(submission: SubmissionPdfs, current: Upload, limit: datetime) -> bool:
    """Return whether edits show another PDF than the current one at `limit` or later."""
    edits = sorted(
        (upload.created_at, upload.path)
        for upload in _read_edits(submission)
        if upload.created_at and upload.stood(limit)
    )
    late = {path for created_at, path in edits if created_at > limit}
    before = [path for created_at, path in edits if created_at <= limit]
    return bool(late) and late | {*before[-1:]} != {current.path}


def _choose_only(submission: SubmissionPdfs) -> InitialVersion | None:
    """Choose the one PDF from before the first review, if the whole history is known and can be trusted.

    One PDF on references that are months apart may have been put there by chairs.
    """
    first = submission.first_review_at
    if first is None or not submission.is_complete or submission.is_one_for_months:
        return None
    # A current PDF without an edit came last, if the history is known.
    edits = [upload for upload in _read_edits(submission) if upload.invitation is not None]
    early = [upload for upload in edits if upload.created_at is None or upload.created_at < first]
    late = submission.stages.late
    upload = next((upload for upload in submission.uploads if upload in early), None)
    if upload is None or not all(_is_settled(one, first) and is_same_file(one, upload) for one in early):
        return None
    if any(invitation_name(one.invitation or "") in late for one in early):
        return None
    return InitialVersion(upload, Grade.ONLY_BEFORE_REVIEW, ONLY)


def _is_settled(upload: Upload, limit: datetime) -> bool:
    return upload.settled_at is not None and upload.settled_at < limit


def _choose_before_review(submission: SubmissionPdfs, refuted: InitialVersion | None = None) -> InitialVersion:
    """Choose the latest PDF from before the first review.

    Args:
        submission: The submission.
        refuted: The choice by the deadline, if another file replaced it; returned if nothing better is known.
    """
    limit = submission.first_review_at and submission.first_review_at - INSTANT
    latest = _find_latest(submission, limit) if limit else None
    if latest is None or limit is None:
        return refuted or InitialVersion(None, Grade.UNAVAILABLE, ALL_LATER)
    upload, last = latest
    reason = _find_doubt(submission, last, limit)
    if reason is not None:
        return InitialVersion(None, Grade.UNAVAILABLE, UNSURE_SEEN.format(reason=reason))
    later = refuted.replaced_by if refuted else None
    name = invitation_name(later.invitation or "") if later else ""
    rule = REPLACED.format(rule=SEEN, edit_id=later.edit_id, invitation=name) if later else SEEN
    return InitialVersion(upload, Grade.BEFORE_FIRST_REVIEW, rule)


def _check_file(submission: SubmissionPdfs, choice: InitialVersion) -> InitialVersion:
    """Return the choice, or none if its file was not fetched or says that it is a later version."""
    if choice.upload is None:
        return choice
    sha256 = file_of(submission, choice.upload)
    if sha256 is None:
        rule = FILE_NOT_HERE.format(rule=choice.rule, grade=choice.grade.value)
        return replace(choice, grade=Grade.UNAVAILABLE, rule=rule)
    opinion = submission.opinion(sha256, choice.until)
    if opinion is None or opinion[0] is not FileSays.FINAL:
        return choice
    signs = "; ".join(opinion[1])
    rule = FILE_SAYS_LATER.format(rule=choice.rule, grade=choice.grade.value, signs=signs)
    return InitialVersion(
        upload=None, grade=Grade.UNAVAILABLE, rule=rule, contradicted=choice.upload, until=choice.until
    )


def version_stage(submission: SubmissionPdfs, upload: Upload, deadline: Deadline | None) -> VersionMoment | None:
    """Return the moment at which a version other than the initial one came, or None if unknown.

    Args:
        submission: The submission that it is a version of.
        upload: The version.
        deadline: The usable deadline, if any.
    """
    moment = None
    if upload.invitation and upload.created_at is not None:
        moment = submission.stages.moments.get(invitation_name(upload.invitation))
    moment = moment or _find_edit_moment(submission, upload, deadline)
    is_undated = upload.created_at is None and upload.path == submission.current_path
    return VersionMoment.CURRENT if moment is None and is_undated else moment


def _find_edit_moment(submission: SubmissionPdfs, upload: Upload, deadline: Deadline | None) -> VersionMoment | None:
    """Return the moment by the times of the edit; None if it was created and last written at different moments."""
    created_at = upload.created_at
    settled_at = upload.settled_at
    if created_at is None or settled_at is None:
        return None
    moment = _find_moment(submission, created_at, deadline)
    return moment if settled_at == created_at or moment is _find_moment(submission, settled_at, deadline) else None


def _find_moment(submission: SubmissionPdfs, uploaded_at: datetime, deadline: Deadline | None) -> VersionMoment | None:
    first = submission.first_review_at
    decided = submission.decided_at
    if deadline is not None and uploaded_at <= deadline.at:
        return VersionMoment.BEFORE_DEADLINE
    if first is None:
        return None
    if uploaded_at < first:
        return VersionMoment.BEFORE_REVIEWS
    if decided is None or decided <= first:
        return None
    if uploaded_at < decided:
        return VersionMoment.DISCUSSION
    return VersionMoment.CAMERA_READY if submission.is_accepted else None
