"""What a release holds, counted while it is written."""

from collections import Counter
from dataclasses import dataclass, field

from peercorpus.kinds import Grade
from peercorpus.publish.rows import ForumRows
from peercorpus.publish.shards import Split
from peercorpus.publish.split_files import Asked
from peercorpus.publish.splits import NO_SIDES, Side, Sides, Task, Usable


@dataclass(slots=True)
class VenueTally:
    """Counts of one venue.

    Attributes:
        is_listed: Whether OpenReview's listings of it were read to their end; None where it was imported.
        records: Records of published datasets held (ReviewBench, Re²); papers without OpenReview's notes are theirs.
        pdfs: PDFs known, as versions of its papers; `pdfs_here` of them were fetched.
    """

    venue_id: str
    is_listed: bool | None = None
    records: int = 0
    pdfs_here: int = 0
    pdfs: int = 0
    papers: int = 0
    reviews: int = 0
    conversations: int = 0


@dataclass(slots=True)
class Tally:
    """Counts of a release as it grows.

    Attributes:
        grades: Papers by split and the grade of the version whose text is published; None: no text.
        withheld: Rows not published, by what they are: not everyone may read them.
        orphans: Reviews and conversations not published as the tables hold no paper for them.
        papers: What each can be used for.
        asked: Which sides were asked for; None: none.
        taken_down: Records left out as `takedown.txt` says, by kind.
        licensed: Papers by the licence that OpenReview states; None: it states none.
    """

    venues: list[VenueTally] = field(default_factory=list)
    grades: Counter[tuple[str, Grade | None]] = field(default_factory=Counter)
    withheld: Counter[str] = field(default_factory=Counter)
    orphans: int = 0
    papers: list[Usable] = field(default_factory=list)
    asked: Asked | None = None
    sides: Sides = NO_SIDES
    taken_down: Counter[str] = field(default_factory=Counter)
    licensed: Counter[str | None] = field(default_factory=Counter)

    def count(self, split: str, rows: ForumRows) -> None:
        """Add one forum of the venue begun last."""
        venue = self.venues[-1]
        venue.papers += 1
        venue.reviews += rows.paper["num_reviews"]
        venue.conversations += len(rows.conversations)
        self.grades[split, rows.grade] += 1
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
        with_text=sum(count for (_, grade), count in tally.grades.items() if grade is not None),
        withheld=dict(tally.withheld),
        orphans=tally.orphans,
        splits=tuple(splits),
        used={task: Counter(used.values()) for task, used in tally.sides.used.items()},
        file_bytes=sum(split.file_bytes for split in splits),
        taken_down={name: count for name, count in tally.taken_down.items() if count},
    )
