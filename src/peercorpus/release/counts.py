"""Count the contents of a release while it is written.

The card, the Croissant metadata and the final message of `publish` are made from these counts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from typing import Any

from peercorpus.corpus.forums import Forum
from peercorpus.corpus.reminder_decisions import Verdict
from peercorpus.records.enums import PUBLISHABLE_GRADES, ConversationKind, Grade, LinkKind, Reason, Status, Unseen
from peercorpus.records.papers import Paper, PaperVersion
from peercorpus.release.point_rows import PointCounts
from peercorpus.release.request import DEFAULT_REQUEST, ReleaseRequest
from peercorpus.release.rows import ForumRows, end_at_decision
from peercorpus.release.shards import SplitShards
from peercorpus.release.splits import NO_SPLITS, PaperSplits, Split, Task, Usable, usable
from peercorpus.release.table1 import DatasetCounts
from peercorpus.release.text_rows import NAMING_AUTHORS, OF_UNKNOWN_AUTHORS, FigureCounts
from peercorpus.venues.own_venues import OwnVenue


@dataclass(slots=True)
class VenueCounts:
    """Counts of one venue.

    Attributes:
        is_listed: Whether OpenReview's listings of it were read completely; None if it was imported.
        records: Records of published datasets, by the keys of `CITED`; papers without OpenReview's notes come from
            these.
        set_aside: Rows set aside while its tables were built, by stage and reason.
        own: Its row in the workspace's `venues.toml`; None without one.
        harvested: Times when the oldest and the newest of its data were received; None if nothing was received.
        pdfs: Known PDFs, as versions of its papers; `pdfs_here` of them were fetched.
        texts: Papers with a text.
        grades: Papers by status and best grade of a version. The status is None if the decision is not public, the
            grade if no version is the one the reviewers read.
        with_text: Papers with a text, by status.
        with_initial: Those whose text is proven to be the one the reviewers read.
        readers_unstated: Notes that name no readers and count as public because nothing in their dump names any.
        unseen: Papers by whether replies are known to be unseen.
        replies_not_shown: Replies proven to exist and never seen.
        replies_deleted: Replies seen and since deleted, or no longer shown.
    """

    venue_id: str
    is_listed: bool | None = None
    records: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[tuple[str, Reason]] = field(default_factory=Counter)
    own: OwnVenue | None = None
    harvested: tuple[datetime, datetime] | None = None
    pdfs_here: int = 0
    pdfs: int = 0
    papers: int = 0
    reviews: int = 0
    conversations: int = 0
    with_reviewers: int = 0
    texts: int = 0
    grades: Counter[tuple[Status | None, Grade | None]] = field(default_factory=Counter)
    with_text: Counter[Status | None] = field(default_factory=Counter)
    with_initial: Counter[Status | None] = field(default_factory=Counter)
    readers_unstated: int = 0
    unseen: Counter[Unseen] = field(default_factory=Counter)
    replies_not_shown: int = 0
    replies_deleted: int = 0

    def count_unseen(self, paper: Paper) -> None:
        """Add what is not known to be public, or not seen at all, of one paper."""
        self.readers_unstated += paper.readers_unstated
        self.unseen[paper.unseen] += 1
        self.replies_not_shown += paper.replies_not_shown or 0
        self.replies_deleted += paper.replies_deleted

    def count(self, versions: Sequence[PaperVersion], rows: ForumRows) -> None:
        """Add one forum with its versions."""
        pdfs = [version for version in versions if version.is_pdf]
        self.pdfs += len(pdfs)
        self.pdfs_here += sum(version.sha256 is not None for version in pdfs)
        self.papers += 1
        self.reviews += len(rows.reviews)
        self.conversations += len(rows.conversations)
        self.with_reviewers += sum(talk["kind"] == ConversationKind.REVIEW for talk in rows.conversations)
        has_text = bool(rows.paper["markdown"])
        self.texts += has_text
        status = None if rows.paper["status"] is None else Status(rows.paper["status"])
        grades = {version["grade"] for version in rows.versions}
        self.grades[status, rows.grade or next((grade for grade in Grade if grade in grades), None)] += 1
        self.with_text[status] += has_text
        self.with_initial[status] += has_text and rows.grade in PUBLISHABLE_GRADES

    def of_status(self, *statuses: Status | None) -> int:
        """Return the number of papers with one of these statuses."""
        return sum(count for (status, _), count in self.grades.items() if status in statuses)


@dataclass(slots=True)
class Doubts:
    """Counts of unknown facts about reviews and scores.

    Attributes:
        scores: All scores, one per field of a form.
        scores_unknown: Scores whose first value is not known.
        scores_told: Scores whose first value is known only from the reviewer's text.
        unrevealed: Reviews for which neither edits nor snapshots show whether they were changed.
        updated: Reviews whose own text says that a part was added later, and whose first text is not known.
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
class RowCounts:
    """Counts by forum that depend on nothing but the rows.

    Attributes:
        doubts: Counts of unknown facts.
        engines: Papers by the engine that read their text, including its version.
        withheld: Rows not published because they are not public, by kind.
        left_out: Texts and changes not published for other reasons, by kind.
        orphans: Reviews and conversations not published because the tables have no paper for them.
        papers: The tasks that each paper can be used for.
        licensed: Papers by the licence that OpenReview states; None if it states none.
        figures: Counts of figures; None if they are not published.
        points: Counts of the points of reviews; None if they are not published.
        late_turns: Turns of conversations with reviewers that were posted after the decision.
        dataset: The quantities of Re²'s Table 1.
        ai_reviews: Reviews by an AI that venues posted themselves.
    """

    venues: list[VenueCounts] = field(default_factory=list)
    doubts: Doubts = field(default_factory=Doubts)
    engines: Counter[str] = field(default_factory=Counter)
    withheld: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    orphans: int = 0
    papers: list[Usable] = field(default_factory=list)
    licensed: Counter[str | None] = field(default_factory=Counter)
    figures: FigureCounts | None = None
    points: PointCounts | None = None
    late_turns: int = 0
    dataset: DatasetCounts = field(default_factory=DatasetCounts)
    ai_reviews: int = 0

    def count(self, forum: Forum, rows: ForumRows) -> None:
        """Add one forum of the last venue in `venues`."""
        self.venues[-1].count(forum.versions, rows)
        self.venues[-1].count_unseen(forum.paper)
        self.papers.append(usable(forum.paper, rows))
        self.doubts.count(rows)
        self.dataset.count(forum, rows)
        if rows.paper["text_engine"] is not None:
            self.engines[rows.paper["text_engine"]] += 1
        self.licensed[rows.paper["licence"]] += 1
        self.withheld += rows.withheld
        self.left_out += rows.left_out
        self.ai_reviews += len(rows.ai_reviews)
        for talk in rows.conversations:
            if talk["kind"] == ConversationKind.REVIEW:
                self.late_turns += len(talk["turns"]) - len(end_at_decision(talk)["turns"])

    def add(self, others: "RowCounts") -> None:
        """Add the counts of further venues; their papers follow those counted so far."""
        for own in fields(RowCounts):
            setattr(self, own.name, _join(getattr(self, own.name), getattr(others, own.name)))


def _join(counted: Any, others: Any) -> Any:  # noqa: ANN401 -- any field of counts
    """Combine two values of the same field: numbers are added, lists and sets joined, anything else part by part."""
    if is_dataclass(counted) and not isinstance(counted, type):
        for own in fields(counted):
            setattr(counted, own.name, _join(getattr(counted, own.name), getattr(others, own.name)))
        return counted
    if isinstance(counted, dict):
        for key, value in others.items():
            counted[key] = _join(counted[key], value) if key in counted else value
        return counted
    if isinstance(counted, list):
        counted.extend(others)
        return counted
    if counted is None or others is None:
        return others if counted is None else counted
    return counted | others if isinstance(counted, set) else counted + others


@dataclass(slots=True)
class ReviewBenchCounts:
    """Counts of the rows of a release in the layout `reviewbench`.

    Attributes:
        papers: Papers by split, year and track.
        reviews: Reviews in all rows.
        with_text: Papers with a text.
        opening: Reviews of the first paper of each split.
    """

    papers: Counter[tuple[str, int | None, str]] = field(default_factory=Counter)
    reviews: int = 0
    with_text: int = 0
    opening: dict[str, int] = field(default_factory=dict)

    def count(self, split: str, row: Mapping[str, Any]) -> None:
        """Add one row."""
        self.opening.setdefault(split, row["num_reviews"] or 0)
        self.papers[split, row["year"], row["track"] or ""] += 1
        self.reviews += row["num_reviews"] or 0
        self.with_text += bool(row["markdown"])

    def add(self, others: "ReviewBenchCounts") -> None:
        """Add the counts of further papers."""
        self.opening = others.opening | self.opening
        self.papers.update(others.papers)
        self.reviews += others.reviews
        self.with_text += others.with_text


@dataclass(slots=True)
class ReleaseCounts(RowCounts):
    """Counts of a release as it grows.

    Attributes:
        request: What the release shall contain.
        taken_down: Records left out because of `takedown.txt`, by kind.
        links: Pairs of submissions of one work, by kind.
        links_left_out: Such pairs with a paper that is not in the release.
        reminders: Posts of the workspace for which a person decided whether they are reminders, by the decision.
        points_model: The model that labelled what rules left open in points; None for none.
    """

    request: ReleaseRequest = DEFAULT_REQUEST
    splits: PaperSplits = NO_SPLITS
    taken_down: Counter[str] = field(default_factory=Counter)
    links: Counter[LinkKind] = field(default_factory=Counter)
    links_left_out: int = 0
    reminders: Counter[Verdict] = field(default_factory=Counter)
    points_model: str | None = None

    @property
    def harvested(self) -> tuple[datetime, datetime] | None:
        """Times when the oldest and the newest data were received; None if nothing was received."""
        spans = [venue.harvested for venue in self.venues if venue.harvested]
        return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None


@dataclass(frozen=True, slots=True)
class PublishSummary:
    """Final counts of a release.

    Attributes:
        splits: Every file group of the release: by configuration, then by split.
        with_reviewers: Those of the conversations in which a reviewer speaks of their own review.
        with_text: Papers with a text.
        with_initial: Those whose text is proven to be the one the reviewers read.
        withheld: Reviews, conversations and decisions left out because they are not public.
        orphans: Reviews and conversations left out because the tables have no paper for them.
        used: Papers by task and split; empty if no splits were requested.
        grades: Papers by the grade of their text, or by the best grade of their versions if no text is published.
        file_bytes: Size of all Parquet files.
        taken_down: Records left out because of the workspace's `takedown.txt`, by kind.
        unnamed: Texts and changes left out of a release without names because they name an author, or may, by kind.
    """

    venues: int
    papers: int
    reviews: int
    conversations: int
    with_reviewers: int
    with_text: int
    with_initial: int
    withheld: dict[str, int]
    orphans: int
    splits: tuple[SplitShards, ...]
    used: dict[Task, Counter[Split]]
    grades: dict[Grade, int]
    file_bytes: int
    taken_down: dict[str, int]
    unnamed: dict[str, int]


def summarise(tally: ReleaseCounts, splits: list[SplitShards]) -> PublishSummary:
    """Return the final counts of a finished release."""
    grades = Counter[Grade]()
    for (_, grade), count in (item for venue in tally.venues for item in venue.grades.items()):
        if grade is not None:
            grades[grade] += count
    return PublishSummary(
        venues=len(tally.venues),
        papers=sum(venue.papers for venue in tally.venues),
        reviews=sum(venue.reviews for venue in tally.venues),
        conversations=sum(venue.conversations for venue in tally.venues),
        with_reviewers=sum(venue.with_reviewers for venue in tally.venues),
        with_text=sum(venue.texts for venue in tally.venues),
        with_initial=sum(venue.with_initial.total() for venue in tally.venues),
        withheld=dict(tally.withheld),
        orphans=tally.orphans,
        splits=tuple(splits),
        used={task: Counter(used.values()) for task, used in tally.splits.used.items()},
        grades=dict(grades),
        file_bytes=sum(split.file_bytes for split in splits),
        taken_down={name: count for name, count in tally.taken_down.items() if count},
        unnamed={
            what: count
            for what, count in sorted(tally.left_out.items(), reverse=True)
            if count and what.endswith((OF_UNKNOWN_AUTHORS, NAMING_AUTHORS))
        },
    )
