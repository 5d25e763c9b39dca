"""The rows of one submission: every PDF with its moment, its text as of then, and the grade of the initial one."""

from peercorpus.kinds import Grade, VersionMoment
from peercorpus.records import Evidence, PaperVersion
from peercorpus.versions.choose import Choice, choose, file_of, is_same_file, usable_deadline
from peercorpus.versions.deadline import Deadline
from peercorpus.versions.moments import moment_of
from peercorpus.versions.uploads import Submission, Upload

OTHER = "not the initial version"


def read_versions(submission: Submission) -> list[PaperVersion]:
    """Every PDF of a submission, in time order; exactly one carries a grade."""
    choice, deadline = choose(submission), usable_deadline(submission)
    uploads = [*submission.uploads]
    chosen = choice.upload or choice.contradicted
    if chosen is not None and chosen not in uploads:
        uploads.insert(0, chosen)
    graded = chosen or next((upload for upload in uploads if upload.path == submission.current_path), uploads[-1])
    return [_row(submission, upload, choice, deadline, is_graded=upload is graded) for upload in uploads]


def _row(
    submission: Submission, upload: Upload, choice: Choice, deadline: Deadline | None, *, is_graded: bool
) -> PaperVersion:
    is_initial, sha256 = upload is choice.upload, file_of(submission, upload)
    cutoff = deadline.at if deadline else None
    opinion = submission.opinion(sha256, choice.until if is_graded else cutoff) if sha256 else None
    # What stands beside the current PDF now need not have stood there when it was handed in.
    may_be_later = upload.edit_id == submission.forum_id and choice.grade is not Grade.UNREVISED
    is_as_of_then = not (is_initial and may_be_later)
    has_initial_file = choice.upload is not None and is_same_file(upload, choice.upload)
    evidence = Evidence(
        deadline=cutoff,
        deadline_source=deadline.source if deadline else None,
        rule=choice.rule if is_graded else OTHER,
        invitation=upload.invitation,
        file_says=opinion[0] if opinion else None,
        file_signs=opinion[1] if opinion else (),
    )
    return PaperVersion(
        forum_id=submission.forum_id,
        venue_id=submission.venue_id,
        edit_id=upload.edit_id,
        created_at=upload.created_at,
        modified_at=upload.modified_at,
        path=upload.path,
        sha256=sha256,
        is_initial=is_initial,
        grade=choice.grade if is_graded else None,
        evidence=evidence,
        moment=VersionMoment.INITIAL if has_initial_file else moment_of(submission, upload, deadline),
        title=upload.title if is_as_of_then else None,
        abstract=upload.abstract if is_as_of_then else None,
    )
