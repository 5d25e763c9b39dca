"""Choose the PDF that reviewers read, and grade the evidence for it.

`choose_initial_version` tries its rules from the strongest to the weakest: the deadline, a kept attachment, the
invitations that edited the note, a complete history with a single PDF before any review, the first review. A file that
was replaced before reviewing began, or that says it is a later version, is never chosen.

Source: the rules follow from OpenReview's records of revisions. API v1 lists every reference of a submission; API v2
hides most edits from the public, but a note names every invitation that edited it. A field of ICLR 2021 submissions,
`reviewed_version_(pdf)`, is filled in by the authors and names a later version, so it is not evidence and is not read.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from peercorpus.openreview.objects import invitation_name
from peercorpus.records.enums import FileSays, Grade, VersionMoment
from peercorpus.versions.at_deadline import (
    InitialVersion,
    choose_by_deadline,
    find_closing,
    find_doubt,
    find_latest,
    find_replacement,
    find_reviewing,
    name_agreement,
    usable_deadline,
)
from peercorpus.versions.deadlines import Deadline, Stages, stages_of
from peercorpus.versions.uploads import LATEST, SubmissionPdfs, Upload, file_of, is_same_file, read_edits

INSTANT = timedelta(microseconds=1)
EARLIEST = datetime.min.replace(tzinfo=UTC)

# The texts of rules are data: every version stores one in `Evidence.rule`, and so do releases. Changing a word changes
# rows, so it requires a new version of the stage in `find_versions.py`.
ATTACHED = "the submitted file kept as an attachment"
ATTACHED_TWIN = "{rule}; the same that {edit_id} brought, written at {at:%Y-%m-%d %H:%M:%S} UTC"
UNTOUCHED = "no invitation that can change the PDF edited the note after the deadline"
UNCHANGED = "{rule}, and the note was last changed before the first review"
REOPENED = "{rule}; but a form that takes PDFs closed long after the deadline"
LEFT_OPEN = "{rule}; but '{invitation}', which takes PDFs, was open when reviewing began"
UNCLOSED = "{rule}; but nothing shows that it was made, and that '{invitation}' closed, before reviewing began"
ONLY = "every edit that can have brought a PDF is known, and this PDF alone came before the first review"
REPLACED = "{rule}; {edit_id} replaced the one of the deadline, by '{invitation}'"
SEEN = "the latest PDF that can be seen from before the first review"
ALL_LATER = "every PDF that can be seen may be later than the reviews"

UNSURE_SEEN = "the latest PDF from before the first review {reason}"

FILE_NOT_HERE = "{rule} ({grade}); its file is not here"
FILE_SAYS_LATER = "{rule} ({grade}); but the file says itself that it is a later version: {signs}"


def revision_state(
    invitations: Sequence[str],
    stages: Stages | None = None,
    reviewed_at: datetime | None = None,
) -> Grade | None:
    """Return how certainly the current PDF is the submitted one, from the invitations that edited the note, or None.

    >>> revision_state(["V/-/Submission", "V/-/Post_Submission"])
    <Grade.UNREVISED: 'unrevised'>
    >>> revision_state(["V/-/Submission", "V/-/Accept_Article_Change_After_Decision", "V/-/Edit"])
    <Grade.UNREVISED_LIKELY: 'unrevised_likely'>
    >>> revision_state(["V/-/Submission", "V/Submission1/-/Camera_Ready_Revision"])
    """
    stages = stages or stages_of("")
    tails = {invitation_name(name) for name in invitations if not stages.is_harmless(name, reviewed_at)}
    if not invitations or tails - stages.ambiguous:
        return None
    return Grade.UNREVISED_LIKELY if tails else Grade.UNREVISED


def choose_initial_version(submission: SubmissionPdfs) -> InitialVersion:
    """Return the initial version by the strongest rule that applies."""
    deadline = usable_deadline(submission)
    first = submission.first_review_at
    before_review = first - INSTANT if first else LATEST
    limit = deadline.at if deadline else before_review
    by_deadline = choose_by_deadline(submission, deadline) if deadline else None
    if by_deadline and deadline:
        by_deadline = name_agreement(submission, by_deadline, deadline)
    chosen = by_deadline if by_deadline and by_deadline.upload else None
    if chosen is None and not _is_made_after(submission, first):
        chosen = _choose_by_attachment(submission, deadline, limit)
        chosen = chosen or _choose_by_invitations(submission, deadline, limit)
    if chosen is None or chosen.grade is Grade.UNREVISED_LIKELY:
        chosen = _choose_only(submission) or chosen
    if by_deadline is not None and by_deadline.replaced_by is not None:
        chosen = chosen or _choose_before_review(submission, by_deadline)
    chosen = chosen or by_deadline or _choose_before_review(submission)
    is_by_review = chosen.grade in {Grade.ONLY_BEFORE_REVIEW, Grade.BEFORE_FIRST_REVIEW}
    return _check_file(submission, replace(chosen, until=first if deadline is None or is_by_review else deadline.at))


def _is_made_after(submission: SubmissionPdfs, first: datetime | None) -> bool:
    """Return whether a note was made after its reviews, as imported ones are: its files may be of any time."""
    return submission.created_at is not None and first is not None and submission.created_at >= first


def _choose_by_attachment(
    submission: SubmissionPdfs, deadline: Deadline | None, limit: datetime
) -> InitialVersion | None:
    """Choose the file kept as an attachment, unless edits show that it came too late, or that another came after it.

    If no edit brought it as the PDF, the references must not show that another was kept until the first review.
    """
    kept = submission.attachment
    if kept is None:
        return None
    same = [upload for upload in read_edits(submission) if upload.settled_at is not None and is_same_file(upload, kept)]
    in_time = [upload for upload in same if upload.settled_at is not None and upload.settled_at <= limit]
    last = max(in_time, key=lambda upload: upload.created_at or LATEST, default=None)
    if (same and last is None) or (last and limit != LATEST and find_doubt(submission, last, limit)):
        return None
    if last and deadline and find_replacement(submission, last, deadline):
        return None
    twin = next((upload for upload in in_time if upload in submission.uploads), None)
    is_undated = last is None or limit == LATEST
    if is_undated and submission.kept and not _is_kept_since(submission, kept, limit):
        return None
    if twin is None:
        return InitialVersion(kept, Grade.EXACT_ATTACHMENT, ATTACHED)
    attachment = replace(kept, title=twin.title, abstract=twin.abstract)
    rule = ATTACHED_TWIN.format(rule=ATTACHED, edit_id=twin.edit_id, at=twin.settled_at)
    return InitialVersion(attachment, Grade.EXACT_ATTACHMENT, rule)


def _is_kept_since(submission: SubmissionPdfs, kept: Upload, limit: datetime) -> bool:
    """Return whether references of API v1 name that attachment at the first review; without a review, at `limit`."""
    until = submission.first_review_at or limit
    early = [upload for upload in submission.kept if upload.created_at is not None and upload.created_at < until]
    last = max(early, key=lambda upload: upload.created_at or LATEST, default=None)
    is_one = until < LATEST or all(is_same_file(upload, kept) for upload in early)
    return last is not None and is_one and is_same_file(last, kept) and last.is_settled(until)


def _choose_by_invitations(
    submission: SubmissionPdfs, deadline: Deadline | None, limit: datetime
) -> InitialVersion | None:
    """Choose the current PDF if no invitation can have changed it and no edit shows that it came late."""
    first = submission.first_review_at
    reviewed = find_reviewing(submission, deadline) if deadline else first or submission.venue_reviewed_at
    state = revision_state(submission.invitations, stages=submission.stages, reviewed_at=reviewed)
    current = next((upload for upload in submission.uploads if upload.path == submission.current_path), None)
    if state is None or current is None:
        return None
    times = [
        upload.settled_at
        for upload in (current, *submission.hidden)
        if upload.path == current.path and upload.settled_at
    ]
    if (times and min(times) > limit) or _is_replaced(submission, current, limit, reviewed or LATEST):
        return None
    opening = _find_opening(submission, find_closing(submission, deadline), reviewed)
    doubt = REOPENED.format(rule=UNTOUCHED) if submission.was_reopened else opening
    if doubt is None:
        return InitialVersion(current, state, UNTOUCHED)
    is_unchanged = first is not None and submission.modified_at is not None and submission.modified_at < first
    if is_unchanged and state is Grade.UNREVISED:
        return InitialVersion(current, state, UNCHANGED.format(rule=UNTOUCHED))
    return InitialVersion(current, Grade.UNREVISED_LIKELY, doubt)


def _find_opening(submission: SubmissionPdfs, closing: datetime | None, reviewed: datetime | None) -> str | None:
    """Return the rule if a submission form may have been open after reviewing began; None if none can have been."""
    made = None if submission.may_be_imported else submission.created_at or EARLIEST
    is_in_time = made is not None and closing is not None and made <= closing
    for name in filter(submission.stages.takes_submissions, submission.invitations):
        form = submission.stages.form_of(name)
        if form is not None and form.brings_pdf is False:
            continue
        is_open = form is not None and (form.closes_at is None or (reviewed is not None and form.closes_at >= reviewed))
        if is_open:
            return LEFT_OPEN.format(rule=UNTOUCHED, invitation=name)
        is_closed = form is not None and reviewed is not None and made is not None and made < reviewed
        if not (is_closed or is_in_time):
            return UNCLOSED.format(rule=UNTOUCHED, invitation=name)
    return None


def _is_replaced(submission: SubmissionPdfs, current: Upload, limit: datetime, reviewed: datetime) -> bool:
    """Return whether edits show that a PDF other than the current one stood at `limit` or later, or may have.

    An edit rewritten since reviewing began may have brought another PDF, and one deleted since did not bring this one.
    """
    edits = [
        (upload.created_at, upload) for upload in read_edits(submission) if upload.created_at and upload.stood(limit)
    ]
    last = max((created_at for created_at, _ in edits if created_at <= limit), default=None)
    shown = [(created_at, upload) for created_at, upload in edits if created_at == last or created_at > limit]
    if any(created_at < reviewed and not upload.is_settled(reviewed) for created_at, upload in shown):
        return True
    is_changed = any(created_at > limit or upload.deleted_at is not None for created_at, upload in shown)
    return is_changed and {upload.path for _, upload in shown} != {current.path}


def _choose_only(submission: SubmissionPdfs) -> InitialVersion | None:
    """Choose the only PDF from before the first review, if the whole history is known and can be trusted.

    A single PDF on references that are months apart may have been put there by chairs.
    """
    first = submission.first_review_at
    if first is None or not submission.is_complete or submission.is_one_for_months:
        return None
    # If the history is known, a current PDF without an edit came last.
    edits = [upload for upload in read_edits(submission) if upload.invitation is not None]
    early = [upload for upload in edits if upload.created_at is None or upload.created_at < first]
    late = submission.stages.late
    upload = next((upload for upload in submission.uploads if upload in early), None)
    if upload is None or not all(one.is_settled(first) and is_same_file(one, upload) for one in early):
        return None
    if any(invitation_name(one.invitation or "") in late for one in early):
        return None
    return InitialVersion(upload, Grade.ONLY_BEFORE_REVIEW, ONLY)


def _choose_before_review(submission: SubmissionPdfs, refuted: InitialVersion | None = None) -> InitialVersion:
    """Choose the latest PDF from before the first review."""
    limit = submission.first_review_at and submission.first_review_at - INSTANT
    latest = find_latest(submission, limit) if limit else None
    if latest is None or limit is None:
        return refuted or InitialVersion(None, Grade.UNAVAILABLE, ALL_LATER)
    upload, last = latest
    reason = find_doubt(submission, last, limit, is_proof=False)
    if reason is not None:
        return InitialVersion(None, Grade.UNAVAILABLE, UNSURE_SEEN.format(reason=reason))
    later = refuted.replaced_by if refuted else None
    name = invitation_name(later.invitation or "") if later else ""
    rule = REPLACED.format(rule=SEEN, edit_id=later.edit_id, invitation=name) if later else SEEN
    return InitialVersion(upload, Grade.BEFORE_FIRST_REVIEW, rule)


def _check_file(submission: SubmissionPdfs, choice: InitialVersion) -> InitialVersion:
    """Return the choice, or no choice if its file was not fetched or says that it is a later version."""
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
    """Return the moment of a version other than the initial one, or None if unknown."""
    moment = None
    if upload.invitation and upload.created_at is not None:
        moment = submission.stages.moments.get(invitation_name(upload.invitation))
    moment = moment or _find_edit_moment(submission, upload, deadline)
    is_undated = upload.created_at is None and upload.path == submission.current_path
    return VersionMoment.CURRENT if moment is None and is_undated else moment


def _find_edit_moment(submission: SubmissionPdfs, upload: Upload, deadline: Deadline | None) -> VersionMoment | None:
    """Return the moment according to the edit's times; None if it was created and last written at different moments."""
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
