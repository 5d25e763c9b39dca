"""Records of papers: the submission, its PDF versions, links between submissions, and rows set aside."""

from dataclasses import dataclass, replace
from datetime import datetime

from peercorpus.records.enums import (
    FileSays,
    Grade,
    LinkKind,
    PaperSource,
    Reason,
    Status,
    Unseen,
    VenueSource,
    VersionMoment,
    YearSource,
)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field for which two published records of a paper state different values.

    Attributes:
        field: The field of the paper; for a score its name, phase and reviewer, for a name of a reviewer `reviewer`.
        kept: The value in the row.
        other: The value in the other record, which is stored nowhere else.
        kept_from: The record that takes precedence.
        other_from: The other record.
    """

    field: str
    kept: str
    other: str
    kept_from: str
    other_from: str


@dataclass(frozen=True, slots=True)
class MergedPost:
    """A post, such as a review, that is in two published records of a paper.

    Attributes:
        post_id: Its id in the record with lower precedence, which no other row has.
        into: Id under which the same post is stored.
    """

    post_id: str
    into: str


@dataclass(frozen=True, slots=True)
class StatedSplit:
    """The split of a paper in a task, as stated by the name of a published dataset's file.

    Attributes:
        task: `review` or `rebuttal`.
        split: `train` or `test`; `test` if files state both.
        also_stated: The other split if files state both; None otherwise.
    """

    task: str
    split: str
    also_stated: str | None = None


def find_unseen(not_shown: int | None, deleted: int) -> Unseen:
    """Return whether replies are known to be unseen: `not_shown` before `deleted`, as nobody can read those.

    >>> find_unseen(0, 0), find_unseen(None, 0), find_unseen(0, 1)
    (<Unseen.NONE: 'none'>, <Unseen.UNKNOWN: 'unknown'>, <Unseen.DELETED: 'deleted'>)
    """
    if not_shown:
        return Unseen.NOT_SHOWN
    if deleted:
        return Unseen.DELETED
    return Unseen.UNKNOWN if not_shown is None else Unseen.NONE


@dataclass(frozen=True, slots=True)
class Paper:
    """One submission at one venue.

    Attributes:
        forum_id: The paper's id on OpenReview.
        venue_id: OpenReview's group id of the venue.
        conference: Conference family in lower case (`iclr`); also the split of the published dataset.
        year: Calendar year in the venue id; at a venue whose id has none, that of the decision, else of the submission;
            None if no such date is known.
        track: `main`, or the part of the venue id that names the track or workshop.
        number: Running number within the venue.
        authors: Author names; empty if the submission is anonymous.
        venue: The submission's venue string, verbatim ("ICLR 2020 Poster").
        status: Outcome of the submission.
        decision: The decision, verbatim.
        decided_at: When the decision was posted.
        decision_comment: Text of the decision; if it has none, text of the meta-review.
        licence: Licence stated on the note; None if none is stated.
        extra: Fields of the note's `content` that are in no other column, as JSON, without those about persons.
        known_from: Source of the row; for `replies`, the submission was never seen, so that its own fields are empty
            and its status comes from the replies.
        venue_from: Source of the venue.
        records: The published records from which the row was made, in order of precedence; empty if it was made from
            notes.
        conflicts: Fields in which these records disagree.
        posts_stated: Number of posts in these records, including reviews, each counted in every record that has it.
        merged_posts: Posts that a record of higher precedence also has; all others are rows, or set aside.
        stated_splits: The splits to which published datasets assign the paper, even if the row was made from notes.
        readers_unstated: Number of notes of the forum that name no readers and count as public because no note of their
            dump names any.
        replies_not_shown: Replies that exist or existed, by gaps in the numbers of those seen or by OpenReview's count,
            and were never seen: at least so many, hidden or deleted earlier; None if nothing proves a number.
        replies_deleted: Replies that were seen and have been deleted, or are no longer shown.
        year_from: Source of the year; None if it is unknown.
    """

    forum_id: str
    venue_id: str
    conference: str
    year: int | None
    track: str
    number: int | None
    title: str | None
    abstract: str | None
    authors: tuple[str, ...]
    keywords: tuple[str, ...]
    tldr: str | None
    primary_area: str | None
    venue: str | None
    status: Status
    decision: str | None
    decided_at: datetime | None
    decision_comment: str | None
    licence: str | None
    created_at: datetime | None
    modified_at: datetime | None
    extra: str
    known_from: PaperSource = PaperSource.NOTE
    venue_from: VenueSource = VenueSource.NOTE
    records: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    posts_stated: int = 0
    merged_posts: tuple[MergedPost, ...] = ()
    stated_splits: tuple[StatedSplit, ...] = ()
    readers_unstated: int = 0
    replies_not_shown: int | None = None
    replies_deleted: int = 0
    year_from: YearSource | None = None

    @property
    def unseen(self) -> Unseen:
        """Return whether replies to the paper are known to be unseen."""
        return find_unseen(self.replies_not_shown, self.replies_deleted)


def read_year(
    named: int | None, decided_at: datetime | None, created_at: datetime | None
) -> tuple[int | None, YearSource | None]:
    """Return the year of a paper and its source: the venue's, else that of the decision, else of the submission.

    >>> from datetime import UTC
    >>> read_year(2024, None, None), read_year(None, None, datetime(2026, 1, 2, tzinfo=UTC))
    ((2024, <YearSource.VENUE: 'venue'>), (2026, <YearSource.SUBMISSION: 'submission'>))
    """
    if named is not None:
        return named, YearSource.VENUE
    if decided_at is not None:
        return decided_at.year, YearSource.DECISION
    return (None, None) if created_at is None else (created_at.year, YearSource.SUBMISSION)


def forget_year_of_decision(paper: Paper) -> Paper:
    """Return a paper whose year does not reveal when it was decided on."""
    if paper.year_from is not YearSource.DECISION:
        return paper
    year, year_from = read_year(None, None, paper.created_at)
    return replace(paper, year=year, year_from=year_from)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a version has its grade.

    Attributes:
        deadline: The submission deadline used, including its grace period; None if none is known.
        deadline_source: Source of the deadline: an invitation id, or a row of the catalogue.
        rule: The rule that was applied, in words.
        invitation: The invitation of the edit that uploaded the PDF.
        file_says: Which version the file itself appears to be; None if the file was not inspected.
        file_signs: Descriptions of the signs in the file that indicate this.
    """

    deadline: datetime | None
    deadline_source: str | None
    rule: str
    invitation: str | None
    file_says: FileSays | None = None
    file_signs: tuple[str, ...] = ()


def names_pdf(path: str) -> bool:
    """Return whether the path of a version names a PDF on OpenReview, not the text of a published record."""
    return path.startswith("/")


@dataclass(frozen=True, slots=True)
class PaperVersion:
    """One PDF of a submission.

    Attributes:
        edit_id: The edit or reference that uploaded the PDF; the forum id if only the current PDF is known.
        created_at: When the version was uploaded; None if unknown.
        modified_at: When the edit was last changed; None if unknown.
        path: OpenReview's path of the file (`/pdf/<hash>.pdf`); equal paths are equal files. If only a published record
            contains the text, and no PDF is known, the id of that record.
        sha256: Digest of the file in `files/`; None if it was not fetched. For a published text, digest of its UTF-8
            bytes.
        is_initial: Whether this is the version the reviewers read, with the certainty that `grade` states.
        grade: Certainty that this is the initial version. `unavailable` on the current version if the initial one is
            unknown or its file was not fetched; None on all others.
        evidence: Why the version has its grade.
        moment: Stage of the paper's life at which the version was uploaded; None if neither invitation nor times show
            it.
        title: Title of the paper in this version, if its edit has one.
        abstract: Abstract of the paper in this version, if its edit has one.
    """

    forum_id: str
    venue_id: str
    edit_id: str
    created_at: datetime | None
    modified_at: datetime | None
    path: str
    sha256: str | None
    is_initial: bool
    grade: Grade | None
    evidence: Evidence
    moment: VersionMoment | None = None
    title: str | None = None
    abstract: str | None = None

    @property
    def is_pdf(self) -> bool:
        """Return whether this is a PDF on OpenReview, not the text of a published record."""
        return names_pdf(self.path)


@dataclass(frozen=True, slots=True)
class SetAside:
    """A row that a stage read but did not pass on, with the reason.

    Attributes:
        record_id: Id of the note, edit, post, file or published record.
        forum_id: Id of its forum; None if it names none.
        stage: The stage that set it aside.
        reason: Reason for setting it aside.
        detail: The reason in one sentence.
    """

    record_id: str
    forum_id: str | None
    venue_id: str
    stage: str
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Link:
    """Two submissions of the same work.

    The later submission is the one created later. If both were created at the same time, or one date is unknown, it is
    the one that names the other as its earlier submission, otherwise the one with the greater forum id.

    Attributes:
        forum_id: Forum of the later submission.
        venue_id: Venue of the later submission.
        earlier_id: Forum of the earlier submission.
        earlier_venue_id: Venue of the earlier submission.
        kind: How the two submissions are related.
        days: Days between their creation; None if one date is unknown.
        title_similarity: Words in both titles, divided by words in either, on [0, 1]; None if a title is missing.
        abstract_similarity: Pairs of adjacent words in both abstracts, divided by the pairs in the abstract with fewer,
            on [0, 1]. Pairs that very many abstracts share do not count. None if nothing remains of one abstract.
        text_similarity: Runs of five words in both texts, divided by the runs in the text that has fewer, on [0, 1].
            References, checklists, numbers and passages that many texts share do not count. None if a text is missing
            or little remains of it.
        rule: The rule by which they are the same work, in words.
        named_in: The field in which one of them names the other as its earlier submission (`previous_URL`), or the kind
            of the post that does; None if neither does, in which case the link is by similarity.
    """

    forum_id: str
    venue_id: str
    earlier_id: str
    earlier_venue_id: str
    kind: LinkKind
    days: float | None
    title_similarity: float | None
    abstract_similarity: float | None
    text_similarity: float | None
    rule: str
    named_in: str | None = None
