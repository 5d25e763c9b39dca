"""Which of a submission's PDFs the reviewers read, and how sure that is.

Source: the rules follow what OpenReview shows of revisions: API v1 lists every reference of a submission; API v2 hides
most edits from the public, but a note names every invitation that edited it. A field of ICLR 2021 submissions,
`reviewed_version_(pdf)`, is filled by the authors and names a later version: it is no evidence and is not read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from peercorpus.kinds import FileSays, Grade
from peercorpus.openreview.objects import tail_of
from peercorpus.versions.deadline import Deadline
from peercorpus.versions.invitations import stages_of
from peercorpus.versions.uploads import LATEST, Submission, Upload, is_kept

INSTANT = timedelta(microseconds=1)
ON_TIME = "the latest PDF on or before the deadline"
ATTACHED = "the submitted file kept as an attachment"
UNTOUCHED = "no invitation that can change the PDF edited the note after the deadline"
SEEN = "the latest PDF that can be seen from before the first review"
REOPENED = "but a form that takes PDFs closed long after the deadline"
FULL_PAPERS = (timedelta(days=1), timedelta(days=14))
"""So long after abstracts full papers are due, at the least and the most.

Source: the venues of the catalogue that have both deadlines; theirs lie 3 to 7 days apart.
"""
ONE_FOR_MONTHS = "all references name one PDF, months apart: chairs may have overwritten it"


@dataclass(frozen=True, slots=True)
class Choice:
    """The upload taken for the initial version, its grade and the rule; no upload where none can be.

    Attributes:
        contradicted: The upload that would have been taken, but its file says that it is a later version.
        until: When the file was there at the latest, by the rule; None where that is not known.
    """

    upload: Upload | None
    grade: Grade
    rule: str
    contradicted: Upload | None = None
    until: datetime | None = None


def revision_state(invitations: Sequence[str], venue_id: str = "") -> Grade | None:
    """Whether the current PDF must be the submitted one, by the invitations that edited the note.

    >>> revision_state(["V/-/Submission", "V/-/Post_Submission"])
    <Grade.UNREVISED: 'unrevised'>
    >>> revision_state(["V/-/Submission", "V/-/Edit"])
    <Grade.UNREVISED_LIKELY: 'unrevised_likely'>
    >>> revision_state(["V/-/Submission", "V/Submission1/-/Camera_Ready_Revision"])
    """
    stages = stages_of(venue_id)
    tails = {tail_of(invitation) for invitation in invitations} - stages.harmless
    if not invitations or tails - stages.ambiguous:
        return None
    return Grade.UNREVISED_LIKELY if tails else Grade.UNREVISED


def usable_deadline(submission: Submission) -> Deadline | None:
    """The deadline, unless a review came before it: then it was moved afterwards and proves nothing.

    Where only a paper's own extension is later than the first review, the deadline itself still holds. One that may be
    of abstracts does not, where a PDF came when full papers would have been due.
    """
    deadline, first = submission.deadline, submission.first_review_at
    if deadline is not None and deadline.may_be_of_abstracts and _has_full_paper(submission, deadline.at):
        return None
    if deadline is None or first is None or first > deadline.at:
        return deadline
    due = deadline.due
    return Deadline(due, deadline.source, due) if due is not None and due < first else None


def _has_full_paper(submission: Submission, abstracts_at: datetime) -> bool:
    """Whether a new PDF came when full papers are due after abstracts, by no invitation known to be later."""
    opened, closed = (abstracts_at + after for after in FULL_PAPERS)
    first, late = submission.first_review_at or LATEST, stages_of(submission.venue_id).late
    return any(
        one.created_at is not None
        and opened < one.created_at <= closed
        and one.created_at < first
        and tail_of(one.invitation or "") not in late
        for one in (*submission.uploads, *submission.hidden)
    )


def is_same_file(left: Upload, right: Upload) -> bool:
    """Whether two paths name one file: OpenReview names a file by its content, whatever brought it."""
    return left.path.rpartition("/")[2] == right.path.rpartition("/")[2]


def file_of(submission: Submission, upload: Upload) -> str | None:
    """The sha256 of an upload's file, by whichever path it was fetched; None where it is not here."""
    found, kept = submission.sha256.get(upload.path), submission.attachment
    if found is None and kept is not None and is_same_file(kept, upload):
        paths = [kept.path, *(one.path for one in submission.uploads if is_same_file(one, kept))]
        found = next((sha256 for sha256 in map(submission.sha256.get, paths) if sha256), None)
    return found


def choose(submission: Submission) -> Choice:
    """The initial version, by the best rule that applies."""
    deadline, first = usable_deadline(submission), submission.first_review_at
    before_review = first - INSTANT if first else LATEST
    limit = deadline.at if deadline else before_review
    found = _by_deadline(submission, deadline) if deadline else None
    chosen = found if found and found.upload else None
    chosen = chosen or _by_attachment(submission, limit) or _by_invitations(submission, limit)
    chosen = chosen or found or _before_review(submission)
    until = first if deadline is None or chosen.grade is Grade.BEFORE_FIRST_REVIEW else deadline.at
    return _with_file(submission, replace(chosen, until=until))


def _latest(submission: Submission, limit: datetime) -> tuple[Upload, Upload] | None:
    """The latest upload that was written on or before an instant, and not again since; and what last brought its file.

    The two differ where a file was put back after another.
    """
    edits: Sequence[Upload] = submission.uploads
    if submission.repeats:
        edits = sorted((*edits, *submission.repeats), key=lambda one: one.created_at or LATEST)
    last = next((one for one in reversed(edits) if one.settled_at is not None and one.settled_at <= limit), None)
    return (next(one for one in submission.uploads if one.path == last.path), last) if last else None


def _edits(submission: Submission) -> Iterator[Upload]:
    yield from submission.hidden
    yield from submission.uploads
    yield from submission.repeats


def _outdated(submission: Submission, last: Upload, limit: datetime) -> str | None:
    """Why an upload may not be the latest up to an instant, though no later one can be seen; None if it must be."""
    began = last.created_at or LATEST
    for one in _edits(submission):
        if one.path == last.path or one.invitation is None or not one.stood(limit):
            continue
        if one.created_at is None or began <= one.created_at <= limit:
            return _why_unsure(one, began)
    stages, opening = stages_of(submission.venue_id), f"{submission.venue_id}/-/"
    for name in submission.invitations:
        is_unseen = name not in submission.shown and not name.startswith(opening)
        if is_unseen and stages.may_bring_the_full_paper(name):
            return f"may have come by '{tail_of(name)}', whose edits are not public"
    return None


def _why_unsure(one: Upload, began: datetime) -> str:
    if one.created_at is None or one.created_at == began:
        return f"may be another: {one.edit_id} brought one {'at no known time' if one.created_at is None else 'too'}"
    if one.deleted_at is not None:
        return "was deleted since"
    if not is_kept(one.path):
        return "is a link to another place"
    if one.settled_at is None:
        return f"may be another: {one.edit_id} does not say when it was last written"
    is_rewritten = one.settled_at > one.created_at
    return "was written again later, and may hold another PDF now" if is_rewritten else "is not public"


def _by_deadline(submission: Submission, deadline: Deadline) -> Choice | None:
    """The latest PDF on or before the deadline; an edit posted again later may hold a later PDF and does not count."""
    latest = _latest(submission, deadline.at)
    if latest is None:
        return None
    found, last = latest
    reason = _outdated(submission, last, deadline.at)
    if reason is not None:
        return Choice(None, Grade.UNAVAILABLE, f"{ON_TIME} {reason}")
    is_put_back = _is_put_back(submission, found, last)
    rule = f"{ON_TIME}, put back by {last.edit_id}" if is_put_back else ON_TIME
    came_at = last.settled_at if is_put_back else found.settled_at
    if deadline.due is not None and came_at is not None and came_at > deadline.due:
        due, came = (f"{at:%Y-%m-%d %H:%M:%S} UTC" for at in (deadline.due, came_at))
        rule += f", uploaded late: papers were due at {due}, it came at {came}, while the form was still open"
    if submission.is_one_for_months:
        return Choice(found, Grade.UNREVISED_LIKELY, f"{rule}; {ONE_FOR_MONTHS}")
    return Choice(found, Grade.EXACT, rule)


def _is_put_back(submission: Submission, found: Upload, last: Upload) -> bool:
    """Whether an upload's file was replaced by another before the edit that last brought it."""
    began, again = found.created_at, last.created_at
    if found is last or began is None or again is None:
        return False
    return any(
        one.path != found.path and one.created_at and began < one.created_at < again for one in _edits(submission)
    )


def _by_attachment(submission: Submission, limit: datetime) -> Choice | None:
    """The file kept as an attachment, unless edits show that the same file came too late, or another after it."""
    kept = submission.attachment
    if kept is None:
        return None
    same = [one for one in _edits(submission) if one.settled_at is not None and is_same_file(one, kept)]
    in_time = [one for one in same if one.settled_at is not None and one.settled_at <= limit]
    last = max(in_time, key=lambda one: one.created_at or LATEST, default=None)
    if (same and last is None) or (last and limit != LATEST and _outdated(submission, last, limit)):
        return None
    twin = next((one for one in in_time if one in submission.uploads), None)
    if twin is None:
        return Choice(kept, Grade.EXACT_ATTACHMENT, ATTACHED)
    known = replace(kept, title=twin.title, abstract=twin.abstract)
    rule = f"{ATTACHED}; the same that {twin.edit_id} brought, written at {twin.settled_at:%Y-%m-%d %H:%M:%S} UTC"
    return Choice(known, Grade.EXACT_ATTACHMENT, rule)


def _by_invitations(submission: Submission, limit: datetime) -> Choice | None:
    """The current PDF, where no invitation can have changed it and no edit shows that it came late."""
    state = revision_state(submission.invitations, submission.venue_id)
    current = next((upload for upload in submission.uploads if upload.path == submission.current_path), None)
    if state is None or current is None:
        return None
    times = [one.settled_at for one in (current, *submission.hidden) if one.path == current.path and one.settled_at]
    if (times and min(times) > limit) or _is_replaced(submission, current, limit):
        return None
    if submission.was_reopened:
        return Choice(current, Grade.UNREVISED_LIKELY, f"{UNTOUCHED}; {REOPENED}")
    return Choice(current, state, UNTOUCHED)


def _is_replaced(submission: Submission, current: Upload, limit: datetime) -> bool:
    """Whether edits show that another PDF than the current one stood at an instant, or came later."""
    edits = sorted((one.created_at, one.path) for one in _edits(submission) if one.created_at and one.stood(limit))
    late = {path for at, path in edits if at > limit}
    before = [path for at, path in edits if at <= limit]
    return bool(late) and late | {*before[-1:]} != {current.path}


def _before_review(submission: Submission) -> Choice:
    limit = submission.first_review_at and submission.first_review_at - INSTANT
    latest = _latest(submission, limit) if limit else None
    if latest is None or limit is None:
        return Choice(None, Grade.UNAVAILABLE, "every PDF that can be seen may be later than the reviews")
    found, last = latest
    reason = _outdated(submission, last, limit)
    if reason is not None:
        return Choice(None, Grade.UNAVAILABLE, f"the latest PDF from before the first review {reason}")
    return Choice(found, Grade.BEFORE_FIRST_REVIEW, SEEN)


def _with_file(submission: Submission, choice: Choice) -> Choice:
    """The same choice, unless its file is not here, or says itself that it is a later version."""
    if choice.upload is None:
        return choice
    sha256 = file_of(submission, choice.upload)
    if sha256 is None:
        rule = f"{choice.rule} ({choice.grade.value}); its file is not here"
        return replace(choice, grade=Grade.UNAVAILABLE, rule=rule)
    opinion = submission.opinion(sha256, choice.until)
    if opinion is None or opinion[0] is not FileSays.FINAL:
        return choice
    signs = "; ".join(opinion[1])
    rule = f"{choice.rule} ({choice.grade.value}); but the file says itself that it is a later version: {signs}"
    return Choice(None, Grade.UNAVAILABLE, rule, choice.upload, choice.until)
