"""Make versions of the PDFs that a user supplied, by what the user states: the version, and when it was uploaded.

A statement proves nothing, so the best grade is `stated`, and only where OpenReview's own edits prove no version.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from peercorpus.records.enums import PUBLISHABLE_GRADES, FileSays, Grade, VersionMoment
from peercorpus.records.papers import Evidence, PaperVersion
from peercorpus.versions.at_deadline import usable_deadline
from peercorpus.versions.initial_version import INSTANT, choose_initial_version, version_stage
from peercorpus.versions.uploads import LATEST, SubmissionPdfs, Upload, file_of, read_edits
from peercorpus.workspace.harvest_state import SUPPLIED, StoredFile, Supplied

SECOND = timedelta(seconds=1)
"""Resolution of the times that users state."""

# The texts of rules are data: every version stores one in `Evidence.rule`. Changing a word changes rows.
SUPPLIED_AS = "the user supplied this file{when}{label}; which edit brought it is not known"
NAMED = "the user supplied this file{when} as '{label}'; no edit proves it"
LAST = "the user supplied this file{when}; no later one is known up to {limit:%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a user states about a file; each part None if not stated."""

    stored: StoredFile
    when: datetime | None
    label: str
    moment: VersionMoment | None

    @property
    def at(self) -> str:
        """Return the stated time in words; empty if there is none."""
        return f" as of {self.when:%Y-%m-%d %H:%M:%S} UTC" if self.when else ""


def group_supplied(files: Sequence[StoredFile]) -> dict[str, list[StoredFile]]:
    """Return the files that a user supplied as separate versions, by forum."""
    supplied: dict[str, list[StoredFile]] = {}
    for stored in files:
        if stored.path.startswith(SUPPLIED) and stored.sha256:
            supplied.setdefault(stored.forum_id, []).append(stored)
    return supplied


def build_supplied(submission: SubmissionPdfs, supplied: Sequence[StoredFile]) -> list[PaperVersion]:
    """Return the versions of the files that a user supplied; at most one of them is called the initial one."""
    statements = [_read_statement(stored) for stored in supplied]
    chosen, rule = _choose(submission, statements)
    return [_build(submission, one, rule if one is chosen else None) for one in statements]


def _read_statement(stored: StoredFile) -> _Statement:
    """Return what a user states; a version that is named as a moment is one (`initial`, `camera_ready`)."""
    supplied = Supplied.parse(stored.edit_id)
    name = supplied.label.lower().replace(" ", "_").replace("-", "_")
    moment = VersionMoment(name) if name in set(VersionMoment) else None
    return _Statement(stored, supplied.when, supplied.label, moment)


def _choose(submission: SubmissionPdfs, statements: Sequence[_Statement]) -> tuple[_Statement | None, str]:
    """Return the file that the user's statements make the initial version, if any, and the rule."""
    if not statements or choose_initial_version(submission).grade in PUBLISHABLE_GRADES:
        return None, ""
    deadline, first = usable_deadline(submission), submission.first_review_at
    limit = deadline.at if deadline else first - INSTANT if first else None
    usable = [one for one in statements if not _says_later(submission, one, limit)]
    in_time = [one for one in usable if one.when is not None and limit is not None and one.when <= limit]
    named = [
        one for one in usable if one.moment is VersionMoment.INITIAL and (one in in_time or not (one.when and limit))
    ]
    if named:
        return (named[0], NAMED.format(when=named[0].at, label=named[0].label)) if len(named) == 1 else (None, "")
    unnamed = [one for one in in_time if one.moment in {None, VersionMoment.BEFORE_DEADLINE}]
    last = max(unnamed, key=lambda one: one.when or LATEST, default=None)
    if last is None or last.when is None or limit is None or _is_followed(submission, last, limit):
        return None, ""
    return last, LAST.format(when=last.at, limit=limit)


def _says_later(submission: SubmissionPdfs, statement: _Statement, limit: datetime | None) -> bool:
    """Return whether a file says itself that it is a later version than the submission."""
    opinion = submission.opinion(str(statement.stored.sha256), limit)
    return opinion is not None and opinion[0] is FileSays.FINAL


def _is_followed(submission: SubmissionPdfs, statement: _Statement, limit: datetime) -> bool:
    """Return whether an edit brought another PDF after the stated time and up to `limit`, or at no known time."""
    since = statement.when or LATEST
    return any(
        file_of(submission, upload) != statement.stored.sha256 and upload.stood(limit)
        for upload in read_edits(submission)
        if upload.invitation is not None and (upload.created_at is None or since + SECOND <= upload.created_at <= limit)
    )


def _build(submission: SubmissionPdfs, statement: _Statement, initial_rule: str | None) -> PaperVersion:
    stored, when = statement.stored, statement.when
    is_initial = initial_rule is not None
    label = f" as '{statement.label}'" if statement.label else ""
    upload = Upload(stored.edit_id, stored.path, when, None, when, None)
    moment = statement.moment if statement.moment is not VersionMoment.INITIAL else None
    opinion = submission.opinion(str(stored.sha256), None)
    deadline = usable_deadline(submission)
    return PaperVersion(
        forum_id=stored.forum_id,
        venue_id=submission.venue_id,
        edit_id=stored.edit_id,
        created_at=when,
        modified_at=None,
        path=stored.path,
        sha256=stored.sha256,
        is_initial=is_initial,
        grade=Grade.STATED if is_initial else None,
        evidence=Evidence(
            deadline=deadline.at if is_initial and deadline else None,
            deadline_source=deadline.source if is_initial and deadline else None,
            rule=initial_rule or SUPPLIED_AS.format(when=statement.at, label=label),
            invitation=None,
            file_says=opinion[0] if opinion else None,
            file_signs=opinion[1] if opinion else (),
        ),
        moment=VersionMoment.INITIAL if is_initial else moment or version_stage(submission, upload, deadline),
    )
