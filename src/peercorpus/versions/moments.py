"""When in a paper's life a version came: by the invitation that brought it, and by the times that are known."""

from datetime import datetime

from peercorpus.kinds import VersionMoment
from peercorpus.openreview.objects import tail_of
from peercorpus.versions.deadline import Deadline
from peercorpus.versions.invitations import stages_of
from peercorpus.versions.uploads import Submission, Upload


def moment_of(submission: Submission, upload: Upload, deadline: Deadline | None) -> VersionMoment | None:
    """When a version other than the initial one came; None where that is not known.

    Args:
        submission: What it is a version of.
        upload: The version.
        deadline: The one that holds.
    """
    told = None
    if upload.invitation and upload.created_at is not None:
        told = stages_of(submission.venue_id).moments.get(tail_of(upload.invitation))
    found = told or _by_times(submission, upload, deadline)
    is_undated = upload.created_at is None and upload.path == submission.current_path
    return VersionMoment.CURRENT if found is None and is_undated else found


def _by_times(submission: Submission, upload: Upload, deadline: Deadline | None) -> VersionMoment | None:
    """By when the edit was made and last written; None where the two fall in different spans."""
    made, settled = upload.created_at, upload.settled_at
    if made is None or settled is None:
        return None
    found = _span(submission, made, deadline)
    return found if settled == made or found is _span(submission, settled, deadline) else None


def _span(submission: Submission, at: datetime, deadline: Deadline | None) -> VersionMoment | None:
    first, decided = submission.first_review_at, submission.decided_at
    if deadline is not None and at <= deadline.at:
        return VersionMoment.BEFORE_DEADLINE
    if first is None:
        return None
    if at < first:
        return VersionMoment.BEFORE_REVIEWS
    if decided is None or decided <= first:
        return None
    if at < decided:
        return VersionMoment.DISCUSSION
    return VersionMoment.CAMERA_READY if submission.is_accepted else None
