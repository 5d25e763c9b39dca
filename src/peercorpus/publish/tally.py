"""What a release holds, counted while it is written."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from peercorpus.kinds import Grade, LinkKind, Reason, Status
from peercorpus.publish.forums import Forum
from peercorpus.publish.rows import ForumRows
from peercorpus.publish.shards import Split
from peercorpus.publish.split_files import Asked
from peercorpus.publish.splits import NO_SIDES, Side, Sides, Task, Usable, usable
from peercorpus.records import PaperVersion


@dataclass(slots=True)
class VenueTally:
    """Counts of one venue.

    Attributes:
        is_listed: Whether OpenReview's listings of it were read to their end; None where it was imported.
        records: Records of published datasets held, by `CITED`; papers without OpenReview's notes are theirs.
        set_aside: Rows of its tables that were set aside, by stage and reason.
        harvested: When the first and the last of what is held of it were received.
        pdfs: PDFs known, as versions of its papers; `pdfs_here` of them were fetched.
        texts: Papers whose text is published.
        grades: Papers by what became of them and the best grade of a version of theirs. The status is None where the
            decision is not public; the grade where no version is the one the reviewers read.
    """

    venue_id: str
    is_listed: bool | None = None
    records: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[tuple[str, Reason]] = field(default_factory=Counter)
    harvested: tuple[datetime, datetime] | None = None
    pdfs_here: int = 0
    pdfs: int = 0
    papers: int = 0
    reviews: int = 0
    conversations: int = 0
    texts: int = 0
    grades: Counter[tuple[Status | None, Grade | None]] = field(default_factory=Counter)
    with_text: Counter[Status | None] = field(default_factory=Counter)

    def count(self, versions: Sequence[PaperVersion], rows: ForumRows) -> None:
        """Add one forum, with its versions."""
        pdfs = [version for version in versions if version.is_pdf]
        self.pdfs += len(pdfs)
        self.pdfs_here += sum(version.sha256 is not None for version in pdfs)
        self.papers += 1
        self.reviews += len(rows.reviews)
        self.conversations += len(rows.conversations)
        self.texts += rows.grade is not None
        status = None if rows.paper["status"] is None else Status(rows.paper["status"])
        held = {one["grade"] for one in rows.versions}
        self.grades[status, rows.grade or next((grade for grade in Grade if grade in held), None)] += 1
        self.with_text[status] += rows.grade is not None

    def of_status(self, *statuses: Status | None) -> int:
        """Papers of which this became."""
        return sum(count for (status, _), count in self.grades.items() if status in statuses)


@dataclass(slots=True)
class Doubts:
    """What is not known of reviews and scores, counted.

    Attributes:
        scores: All, by field of the form; of `scores_unknown` it is not known what was given first, of `scores_told`
            it is known by the reviewer's words alone.
        unrevealed: Reviews of which neither edits nor snapshots tell whether they were changed.
        updated: Reviews that say of themselves that a part was added later, and whose first text is not held.
        unreviewed: Papers without a review.
    """

    scores: int = 0
    scores_unknown: int = 0
    scores_told: int = 0
    unrevealed: int = 0
    updated: int = 0
    unreviewed: int = 0

    def count(self, rows: ForumRows) -> None:
        """Add one forum."""
        self.scores += len(rows.scores)
        self.scores_unknown += sum(score.get("initial_source") is None for score in rows.scores)
        self.scores_told += sum(score.get("initial_source") == "text" for score in rows.scores)
        self.unrevealed += sum(review["revised"] is None for review in rows.reviews)
        self.updated += sum(bool(review["updated_fields"]) for review in rows.reviews)
        self.unreviewed += not rows.reviews


@dataclass(slots=True)
class Tally:
    """Counts of a release as it grows.

    Attributes:
        doubts: What is not known.
        engines: Papers by what read their text, and its version.
        withheld: Rows not published, by what they are: not everyone may read them.
        orphans: Reviews and conversations not published as the tables hold no paper for them.
        papers: What each can be used for.
        asked: Which sides were asked for; None: none.
        taken_down: Records left out as `takedown.txt` says, by kind.
        licensed: Papers by the licence that OpenReview states; None: it states none.
        names_authors: Whether authors are named.
        links: Pairs of submissions that are one work, by kind.
        links_left_out: Such pairs of which a paper is not here.
    """

    venues: list[VenueTally] = field(default_factory=list)
    doubts: Doubts = field(default_factory=Doubts)
    engines: Counter[str] = field(default_factory=Counter)
    withheld: Counter[str] = field(default_factory=Counter)
    orphans: int = 0
    papers: list[Usable] = field(default_factory=list)
    asked: Asked | None = None
    sides: Sides = NO_SIDES
    taken_down: Counter[str] = field(default_factory=Counter)
    licensed: Counter[str | None] = field(default_factory=Counter)
    names_authors: bool = True
    links: Counter[LinkKind] = field(default_factory=Counter)
    links_left_out: int = 0

    @property
    def harvested(self) -> tuple[datetime, datetime] | None:
        """When the first and the last of what is held were received; None where nothing was received."""
        spans = [venue.harvested for venue in self.venues if venue.harvested]
        return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None

    def count(self, forum: Forum, rows: ForumRows) -> None:
        """Add one forum of the venue begun last."""
        self.venues[-1].count(forum.versions, rows)
        self.papers.append(usable(forum.paper, rows))
        self.doubts.count(rows)
        if rows.paper["text_engine"] is not None:
            self.engines[rows.paper["text_engine"]] += 1
        self.licensed[rows.paper["licence"]] += 1
        self.withheld += rows.withheld


@dataclass(frozen=True, slots=True)
class PublishSummary:
    """What was published.

    Attributes:
        splits: Every file group of the release: by configuration, then by split.
        with_text: Papers whose text, as the reviewers read it, is published.
        withheld: Reviews, conversations and decisions left out because not everyone may read them.
        orphans: Reviews and conversations left out because the tables hold no paper for them.
        used: Papers by task and side; empty where no sides were asked for.
        file_bytes: Size of all Parquet files.
        taken_down: Records left out as the workspace's `takedown.txt` says, by kind.
    """

    venues: int
    papers: int
    reviews: int
    conversations: int
    with_text: int
    withheld: dict[str, int]
    orphans: int
    splits: tuple[Split, ...]
    used: dict[Task, Counter[Side]]
    file_bytes: int
    taken_down: dict[str, int]


def summarise(tally: Tally, splits: list[Split]) -> PublishSummary:
    """The counts of a finished release."""
    return PublishSummary(
        venues=len(tally.venues),
        papers=sum(venue.papers for venue in tally.venues),
        reviews=sum(venue.reviews for venue in tally.venues),
        conversations=sum(venue.conversations for venue in tally.venues),
        with_text=sum(venue.texts for venue in tally.venues),
        withheld=dict(tally.withheld),
        orphans=tally.orphans,
        splits=tuple(splits),
        used={task: Counter(used.values()) for task, used in tally.sides.used.items()},
        file_bytes=sum(split.file_bytes for split in splits),
        taken_down={name: count for name, count in tally.taken_down.items() if count},
    )
