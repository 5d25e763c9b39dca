"""Run the stage that lists every version of a paper's PDF and grades the initial one.

Every edit that submits a PDF becomes a version or is set aside with a reason; `balance` proves it.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

import msgspec

from peercorpus.execution.stage import ALL_FORUMS, Balance, ForumRange, ProgressCallback, RunRange, Stage, run_whole
from peercorpus.importers.datasets import DATASETS_WITH_TEXT, read_text
from peercorpus.openreview.objects import venue_of_edit
from peercorpus.records.datasets import Dataset, parse_dataset
from peercorpus.records.documents import Inspection
from peercorpus.records.enums import PUBLISHABLE_GRADES, FileSays, Grade, PostKind, Reason, Status, VersionMoment
from peercorpus.records.papers import Evidence, PaperVersion
from peercorpus.venues.own_venues import find_row
from peercorpus.versions import deadlines
from peercorpus.versions.at_deadline import InitialVersion, usable_deadline
from peercorpus.versions.deadlines import Deadline, Deadlines, find_stages
from peercorpus.versions.initial_version import INSTANT, choose_initial_version, version_stage
from peercorpus.versions.read_submission import ATTACHED, read_submission
from peercorpus.versions.uploads import LATEST, Opinion, SubmissionPdfs, Upload, file_of, is_same_file, read_edits
from peercorpus.versions.version_signs import infer_version
from peercorpus.workspace.delta_tables import Replacement
from peercorpus.workspace.harvest_state import SUPPLIED, StoredFile, Supplied
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

SECOND = timedelta(seconds=1)
"""Resolution of the times that users state."""

# The texts of rules are data: every version stores one in `Evidence.rule`. Changing a word changes rows.
SUPPLIED_AS = "the user supplied this file{when}{label}; which edit brought it is not known"
NAMED = "the user supplied this file{when} as '{label}'; no edit proves it"
LAST = "the user supplied this file{when}; no later one is known up to {limit:%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True, slots=True)
class _Statement:
    stored: StoredFile
    when: datetime | None
    label: str
    moment: VersionMoment | None

    @property
    def at(self) -> str:
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


GRADES = {
    Dataset.REVIEWBENCH: (Grade.UNSTATED, "ReviewBench does not state which version of the paper it read"),
    Dataset.RE2_TEXT: (Grade.STATED, "Re² calls its text the initial manuscript and shows no edit that proves it"),
    Dataset.PEERREAD: (Grade.UNSTATED, "PeerRead does not state which version of the paper it parsed"),
    Dataset.NLPEER: (Grade.STATED, "NLPeer names the version that was reviewed and shows no edit that proves it"),
    Dataset.TEXT_FOLDER: (Grade.UNSTATED, "The folder does not state which version of the paper its text is"),
}
"""The grade of a published text, and the reason: its publisher's statement."""


def find_published_versions(objects: Sequence[RawObject], *, has_paper: bool, venue_id: str, out: Replacement) -> None:
    """Write a version for every published record of a forum with the paper's text, before those of its PDFs."""
    for raw_record in objects:
        if raw_record.kind is not RawKind.PUBLISHED or parse_dataset(raw_record.object_id) not in DATASETS_WITH_TEXT:
            continue
        record_id, forum_id = raw_record.object_id, raw_record.forum_id
        if not has_paper:
            detail = "No record of the paper itself was imported, or its submission is not public."
            out.set_aside(record_id, forum_id, Reason.FORUM_MISSING, detail)
            continue
        try:
            text = read_text(record_id, raw_record.body)
        except msgspec.DecodeError as error:
            out.set_aside(record_id, forum_id, Reason.RECORD_UNREADABLE, str(error))
            continue
        if text is None:
            out.set_aside(record_id, forum_id, Reason.NO_TEXT, "The record holds no text of the paper.")
        else:
            out.add(_build_version(raw_record, text, venue_id))


def _build_version(raw_record: RawObject, text: str, venue_id: str) -> PaperVersion:
    grade, rule = GRADES[parse_dataset(raw_record.object_id)]
    is_initial = grade is Grade.STATED
    return PaperVersion(
        forum_id=raw_record.forum_id,
        venue_id=venue_id,
        edit_id=raw_record.object_id,
        created_at=None,
        modified_at=None,
        path=raw_record.object_id,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        is_initial=is_initial,
        grade=grade,
        evidence=Evidence(deadline=None, deadline_source=None, rule=rule, invitation=None),
        moment=VersionMoment.INITIAL if is_initial else None,
    )


OTHER = "not the initial version"


def read_versions(submission: SubmissionPdfs) -> list[PaperVersion]:
    """Return every PDF of a submission in time order; exactly one of them has a grade."""
    choice = choose_initial_version(submission)
    deadline = usable_deadline(submission)
    uploads = [*submission.uploads]
    chosen = choice.upload or choice.contradicted
    if chosen is not None and chosen not in uploads:
        uploads.insert(0, chosen)
    graded = chosen or next((upload for upload in uploads if upload.path == submission.current_path), uploads[-1])
    return [_build_row(submission, upload, choice, deadline, is_graded=upload is graded) for upload in uploads]


def _build_row(
    submission: SubmissionPdfs, upload: Upload, choice: InitialVersion, deadline: Deadline | None, *, is_graded: bool
) -> PaperVersion:
    is_initial = upload is choice.upload
    sha256 = file_of(submission, upload)
    cutoff = deadline.at if deadline else None
    opinion = submission.opinion(sha256, choice.until if is_graded else cutoff) if sha256 else None
    # The note's current title and abstract may be later than the submission of its current PDF.
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
        moment=VersionMoment.INITIAL if has_initial_file else version_stage(submission, upload, deadline),
        title=upload.title if is_as_of_then else None,
        abstract=upload.abstract if is_as_of_then else None,
    )


NAME = "choose_versions"


def _read_review_times(
    workspace: Workspace, venue_id: str, span: ForumRange = ALL_FORUMS
) -> Iterator[tuple[str, datetime]]:
    columns = ["forum_id", "kind", "created_at", "deleted"]
    for batch in workspace.tables.batches("3-posts", venue_id, columns, span=span):
        for forum_id, kind, created_at, deleted in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if kind == PostKind.REVIEW and created_at is not None and not deleted:
                yield forum_id, created_at


class FirstReviews:
    """The time of each forum's first review, read in parallel with the forums in the order of their ids."""

    def __init__(self, workspace: Workspace, venue_id: str, span: ForumRange) -> None:
        self._rows = _read_review_times(workspace, venue_id, span)
        self._next = next(self._rows, None)

    def first(self, forum_id: str) -> datetime | None:
        """Return the time of the earliest review, or None; must be called with forum ids in order."""
        earliest = None
        while self._next is not None and self._next[0] <= forum_id:
            if self._next[0] == forum_id:
                earliest = min(earliest or self._next[1], self._next[1])
            self._next = next(self._rows, None)
        return earliest


class Decided(NamedTuple):
    """The decision on a paper; `decided_at` is None if unknown."""

    is_accepted: bool
    decided_at: datetime | None


def _read_decisions(workspace: Workspace, venue_id: str, span: ForumRange = ALL_FORUMS) -> dict[str, Decided]:
    columns = ["forum_id", "status", "decided_at"]
    return {
        forum_id: Decided(status == Status.ACCEPTED, decided_at)
        for forum_id, status, decided_at in workspace.tables.rows("1-papers", venue_id, columns, span=span)
    }


def _form_opinion(
    inspections: Mapping[str, Inspection], names_are_open: bool, sha256: str, until: datetime | None
) -> Opinion | None:
    inspection = inspections.get(sha256)
    return infer_version(inspection, until, names_are_open=names_are_open) if inspection else None


class _VenueVersions:
    def __init__(self, workspace: Workspace, venue_id: str, key: str) -> None:
        self._workspace = workspace
        self._venue_id = venue_id
        self._key = key
        self._roots = workspace.raw.roots(venue_id)
        self._deadlines = Deadlines(
            workspace.raw, venue_id, find_row(workspace, venue_id), find_stages(workspace, venue_id)
        )
        held = workspace.raw.state.files(venue_id)
        self._sha256 = {stored.path: stored.sha256 for stored in held if stored.sha256}
        self._supplied = group_supplied(held)
        inspections = workspace.tables.read(Inspection, venue_id)
        self._inspections = {inspection.sha256: inspection for inspection in inspections}
        times = (created_at for _, created_at in _read_review_times(workspace, venue_id))
        self._reviewed_at = min(times, default=None)

    def run_range(self, span: ForumRange, report: ProgressCallback) -> None:
        raw, venue_id = self._workspace.raw, self._venue_id
        papers = _read_decisions(self._workspace, venue_id, span)
        first_reviews = FirstReviews(self._workspace, venue_id, span)
        total = raw.count_forums(venue_id, span)
        kinds = (RawKind.NOTE, RawKind.REFERENCE, RawKind.EDIT, RawKind.PUBLISHED)
        forums = raw.by_forum(kinds, venue_id, with_replies=False, span=span)
        with self._workspace.tables.replacing(("4-versions",), venue_id, NAME, self._key, span.number) as out:
            for done, (forum_id, objects) in enumerate(forums, 1):
                report(done, total)
                find_published_versions(objects, has_paper=forum_id in papers, venue_id=venue_id, out=out)
                supplied = self._supplied.get(forum_id, ())
                if forum_id not in papers or forum_id not in self._roots:
                    _set_aside_without_paper(forum_id, objects, supplied, out)
                    continue
                submission = read_submission(forum_id, objects, self._deadlines, first_reviews.first(forum_id), out)
                self._write_versions(submission, papers[forum_id], supplied, out)

    def _write_versions(
        self, submission: SubmissionPdfs, decided: Decided, supplied: Sequence[StoredFile], out: Replacement
    ) -> None:
        submission = replace(
            submission,
            venue_reviewed_at=self._reviewed_at,
            sha256=self._sha256,
            is_accepted=decided.is_accepted,
            decided_at=decided.decided_at,
            opinion=partial(_form_opinion, self._inspections, submission.names_are_open),
        )
        of_user = build_supplied(submission, supplied)
        of_edits = read_versions(submission) if submission.uploads or submission.attachment else ()
        for version in (*of_user, *of_edits):
            out.add(version)


def begin(workspace: Workspace, venue_id: str, key: str) -> RunRange:
    """Return the function that finds and writes the versions of all papers in a range of a venue's forums."""
    return _VenueVersions(workspace, venue_id, key).run_range


run = run_whole(begin)


def _set_aside_without_paper(
    forum_id: str, objects: Sequence[RawObject], supplied: Sequence[StoredFile], out: Replacement
) -> None:
    missing = "The submission it belongs to is not in the workspace, or not public."
    is_unknown = all(raw_object.kind is not RawKind.NOTE for raw_object in objects)
    for edit in objects:
        is_edit = edit.kind is RawKind.EDIT
        if is_unknown and is_edit and (named := venue_of_edit(edit.body)) not in {None, edit.venue_id}:
            detail = f"It names the venue '{named}', in whose list of edits it belongs."
            out.set_aside(edit.object_id, forum_id, Reason.OTHER_VENUE, detail)
        elif is_edit or edit.kind is RawKind.REFERENCE:
            out.set_aside(edit.object_id, forum_id, Reason.FORUM_MISSING, missing)
    for stored in supplied:
        out.set_aside(stored.edit_id, forum_id, Reason.FORUM_MISSING, missing)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Return the balance of versions.

    Edits + references + one current PDF per paper + published records that may contain a text + files that a user
    supplied as separate versions = versions + set aside. Attachments count on both sides. A paper known from published
    records alone has no PDF.
    """
    raw = workspace.raw
    tables = workspace.tables
    edits = raw.count(RawKind.REFERENCE, venue_id) + raw.count(RawKind.EDIT, venue_id)
    texts = sum(raw.count(RawKind.PUBLISHED, venue_id, dataset.prefix) for dataset in DATASETS_WITH_TEXT)
    forum_ids = _read_decisions(workspace, venue_id).keys() & raw.roots(venue_id)
    own = sum(map(len, group_supplied(raw.state.files(venue_id)).values()))
    attached = sum(
        edit_id == f"{forum_id}{ATTACHED}"
        for forum_id, edit_id in tables.rows("4-versions", venue_id, ["forum_id", "edit_id"])
    )
    rows_in = edits + len(forum_ids) + attached + texts + own
    rows_out = tables.count("4-versions", venue_id)
    aside = tables.set_aside_counts(venue_id, NAME)
    return (Balance(NAME, venue_id, "edits and PDFs", rows_in=rows_in, rows_out=rows_out, set_aside=aside),)


STAGE = Stage(
    name=NAME,
    doing="finding initial versions",
    version=5,
    reads_raw=(RawKind.NOTE, RawKind.REFERENCE, RawKind.EDIT, RawKind.INVITATION, RawKind.PUBLISHED, "file"),
    reads=("1-papers", "3-posts", "0-inspections"),
    writes=("4-versions",),
    options=(),
    run=run,
    balance=balance,
    begin=begin,
    made_with=lambda _: deadlines.INVITATIONS_DIGEST,
    made_with_venue=deadlines.digest_venue,
)
