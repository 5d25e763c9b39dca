"""Write the files of a release, venue by venue, and reuse those of an earlier one whose rows would be the same."""

import json
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from peercorpus.corpus.figures import VenueFigures
from peercorpus.corpus.forums import Forum, ForumReader, VenueForums
from peercorpus.corpus.points import VenuePoints
from peercorpus.corpus.public_forums import PublicFilter
from peercorpus.corpus.takedown import Takedown, read_takedown, write_tombstone
from peercorpus.corpus.texts import VenueTexts
from peercorpus.errors import TryLaterError
from peercorpus.execution.progress import Meter, Show
from peercorpus.importers.reviewbench import read_shape
from peercorpus.records.documents import Change
from peercorpus.records.enums import PostKind
from peercorpus.records.points import Point
from peercorpus.release.by_model.annotator import Annotator
from peercorpus.release.by_model.turn_titles import Titler
from peercorpus.release.card.cards import write_dataset_card, write_reviewbench_card
from peercorpus.release.card.citation import CITED
from peercorpus.release.card.croissant import write_croissant
from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH
from peercorpus.release.counts import ReleaseCounts, ReviewBenchCounts, RowCounts, VenueCounts
from peercorpus.release.kept_parts import EDITION, SCRATCH, KeptParts, MetPaper, Part, TaskPart, WorkLinks, meet_paper
from peercorpus.release.kept_splits import write_splits
from peercorpus.release.point_rows import NO_ANNOTATIONS, PointCounts, build_point_rows
from peercorpus.release.provenance import VenueInput, read_venue_inputs, write_inputs
from peercorpus.release.record_rows import Row
from peercorpus.release.request import ReleaseLayout, SplitRequest
from peercorpus.release.reviews_json import card_entry
from peercorpus.release.rows import ForumRows, build_rows
from peercorpus.release.schemas import ReviewBench
from peercorpus.release.shards import ShardFile, SplitShards, Writers
from peercorpus.release.task_tables import write_eval_file, write_tasks
from peercorpus.release.text_rows import FigureCounts, build_figure_rows, count_text_rows
from peercorpus.release.venue_groups import LARGE_VENUE, find_taken, group_venues, key_of_group, key_of_tasks
from peercorpus.venues.own_venues import own_venue
from peercorpus.venues.venue_id import MAIN
from peercorpus.wording.untrusted_text import redact_people
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

TRACKS: Mapping[str, str] = {
    r"datasets?[ _]and[ _]benchmarks?": "datasets_and_benchmarks",
    r"\bfindings\b": "findings",
}
"""Words of ReviewBench's column `track`, by a pattern of the track in the venue id or of the venue string.

EMNLP 2023 has one venue id for both of its tracks, and names them in the venue string ("EMNLP 2023 Findings");
NeurIPS has an id per track, and in 2021 one per round of it.
"""
_NULLABLE = {"year", "paper_number"}
"""Columns that are null if unknown; all others are then empty, following ReviewBench's card."""
_EMPTY: Mapping[str, Any] = {
    field.name: [] if field.type.num_fields else "" if field.type == "string" else 0
    for field in ReviewBench.schema
    if field.name not in _NULLABLE
}


def name_track(track: str, venue: str | None) -> str:
    """Return the track in ReviewBench's words: a value of `TRACKS`, or else the words of the venue id in lower case.

    Args:
        track: `main`, or the part of the venue id that names the track.
        venue: The paper's venue string; None if it has none.

    >>> name_track("Track/Datasets_and_Benchmarks/Round1", None), name_track("main", "EMNLP 2023 Findings")
    ('datasets_and_benchmarks', 'findings')
    >>> name_track("main", "ICLR 2024 poster"), name_track("Workshop/Tiny_Papers", "Tiny Papers @ ICLR 2023")
    ('main', 'workshop_tiny_papers')
    """
    named = f"{track}\n{venue or ''}".lower()
    word = next((word for pattern, word in TRACKS.items() if re.search(pattern, named)), None)
    return word or re.sub(r"[^a-z0-9]+", "_", track.lower()).strip("_") or MAIN


def reviewbench_row(forum: Forum, rows: ForumRows, *, with_authors: bool = True) -> Row:
    """Return the row of one forum.

    The values of a ReviewBench record for its paper are kept unchanged, unless they were taken down since.

    Args:
        forum: A forum without its taken-down parts.
        rows: Its rows in the layout `peercorpus`.
        with_authors: Whether authors are named.
    """
    shape = read_shape(forum.paper.extra)
    # By the review that they answer; the key None is for all reviews.
    responses: dict[str | None, str] = {}
    if shape is not None:
        public = (post for post in forum.posts if post.post_id in forum.public_post_ids)
        responses = {post.reply_to: post.text for post in public if post.kind is PostKind.REBUTTAL}
    reviews = [review for review in forum.reviews if review.readers_public and not review.deleted]
    entries = [
        card_entry(review, row, responses.get(review.review_id))
        for review, row in zip(reviews, rows.reviews, strict=True)
    ]
    paper = rows.paper
    row = {name: paper[name] for name in ReviewBench.schema.names}
    row |= {
        "conference": paper["conference"].lower(),
        "year": paper["year"],
        "track": name_track(paper["track"], paper["venue"]),
        "reviews_json": json.dumps(redact_people(entries), ensure_ascii=False),
    }
    if shape is not None:
        row["author_rebuttal"] = redact_people(responses.get(None, ""))
    said = {name: value for name, value in (shape or {}).items() if name in row and name not in forum.withheld}
    of_nothing = {name: empty for name, empty in _EMPTY.items() if row[name] is None}
    row |= of_nothing | said
    return row if with_authors else row | {"authors": []}


ENDS = "FROM objects INDEXED BY objects_by_forum WHERE venue_id = ?"
HARVESTED = (
    "SELECT min(seen_ms), max(seen_ms) FROM objects"
    f" WHERE seen IN (SELECT min(seen) {ENDS} UNION SELECT max(seen) {ENDS})"
)
"""Times of the first and the last row stored; the index has their ids, so no other body is read."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
logger = logging.getLogger("peercorpus.release.publish")


def add_venue_inputs(workspace: Workspace, venue: VenueCounts) -> None:
    """Add the workspace's data on a venue to the counts of its rows."""
    raw, tables, venue_id = workspace.raw, workspace.tables, venue.venue_id
    venue.is_listed = raw.state.is_listed(venue_id)
    venue.records = +Counter({name: raw.count(RawKind.PUBLISHED, venue_id, name) for name in CITED})
    for stage in tables.stages(venue_id):
        for reason, count in tables.set_aside_counts(venue_id, stage).items():
            venue.set_aside[stage, reason] = count
    venue.own = own_venue(workspace, venue_id)
    ((first, last),) = raw.select(HARVESTED, venue_id, venue_id)
    if first is not None:
        venue.harvested = EPOCH + timedelta(milliseconds=first), EPOCH + timedelta(milliseconds=last)


def split_name(conference: str) -> str:
    """Return a conference family as the name of a split: letters, digits and underscores, as `datasets` requires.

    >>> split_name("ACM-MM"), split_name("all")
    ('acm_mm', 'all_')
    """
    name = re.sub(r"[^a-z0-9]+", "_", conference.lower()).strip("_") or "other"
    return f"{name}_" if name == "all" else name


@dataclass(slots=True)
class _Group:
    """The files of some venues that tasks are made from.

    Attributes:
        key: Digest of everything the files depend on; None if they cannot be reused.
        forum_ids: Their papers.
    """

    venue_ids: Sequence[str]
    key: str | None
    files: Sequence[ShardFile]
    forum_ids: Sequence[str]


@dataclass(slots=True)
class _GroupWriter:
    """Writes the rows of a group of venues and counts them."""

    workspace: Workspace
    folder: Path
    writers: Writers
    tally: ReleaseCounts
    sieve: PublicFilter
    titler: Titler | None
    annotator: Annotator | None
    show: Show
    counts: RowCounts = field(default_factory=RowCounts)
    papers: list[MetPaper] = field(default_factory=list)
    reviewbench: ReviewBenchCounts | None = None
    buffered: int = 0

    def __post_init__(self) -> None:
        self.counts.figures = None if self.tally.figures is None else FigureCounts()
        self.counts.points = None if self.tally.points is None else PointCounts()
        self.reviewbench = ReviewBenchCounts() if self.tally.request.layout is ReleaseLayout.REVIEWBENCH else None

    def write(self, venue_ids: Sequence[str]) -> tuple[Part, list[ShardFile]]:
        """Write the rows of some venues to files of their own."""
        for venue_id in venue_ids:
            self._add_venue(venue_id)
        files = self.writers.cut()
        part = Part(
            edition=EDITION,
            files=[file.record for file in files],
            counts=self.counts,
            taken=self.sieve.by_venue,
            papers=self.papers,
            reviewbench=self.reviewbench,
        )
        return part, files

    def _add_venue(self, venue_id: str) -> None:
        tables = self.workspace.tables
        self.counts.venues.append(VenueCounts(venue_id))
        walk = VenueForums(tables, venue_id)
        changes = ForumReader(tables.read(Change, venue_id))
        rule = self.tally.request.text_rule
        figures = None if self.counts.figures is None else VenueFigures(tables, venue_id)
        points = None if self.counts.points is None else VenuePoints(tables, venue_id)
        held = VenueTexts(tables, venue_id, self.folder, rule.choose_needed, with_blocks=rule.with_blocks)
        with held as texts:
            meter = Meter(venue_id, "publishing papers", self.show)
            total = tables.count("1-papers", venue_id)

            def count_texts(forum: Forum) -> Counter[str]:
                changes = tables.of_forum(Change, venue_id, forum.paper.forum_id)
                return count_text_rows(forum, texts, changes, rule)

            public = self.sieve.through(walk, count_texts)
            for done, forum in enumerate(public, 1):
                meter.report(done, total)
                self._add_forum(forum, texts, changes.take(forum.paper.forum_id), figures, points)
        self.buffered += total
        if self.buffered >= LARGE_VENUE:  # Small venues share row groups, because many row groups cost time.
            self.writers.flush()
            self.buffered = 0
        self.counts.orphans += walk.orphans

    def _add_forum(
        self,
        forum: Forum,
        texts: VenueTexts,
        changes: Sequence[Change],
        figures: VenueFigures | None,
        points: VenuePoints | None,
    ) -> None:
        split = split_name(forum.paper.conference)
        files_gone = self.sieve.takedown.files
        changes = [one for one in changes if files_gone.isdisjoint((one.left_sha256, one.right_sha256))]
        asked = self.tally.request
        rows = build_rows(forum, texts, changes, asked.text_rule, with_authors=not asked.no_authors)
        if self.reviewbench is not None:
            row = reviewbench_row(forum, rows, with_authors=not asked.no_authors)
            split = split_name(row["conference"])
            self.writers.add(DEFAULT_OF_REVIEWBENCH, split, row)
            self.reviewbench.count(split, row)
            self.counts.count(forum, rows)
            return
        if self.titler is not None:
            entitle = self.titler.entitle
            titled = [talk | {"turns": [*map(entitle, talk["turns"])]} for talk in rows.conversations]
            rows = replace(rows, conversations=titled)
        for config, of_config in rows.by_config.items():
            for row in of_config:
                self.writers.add(config, split, row)
        if figures is not None and self.counts.figures is not None:
            for row in build_figure_rows(rows.paper, figures, self.counts.figures):
                self.writers.add("figures", split, row)
        if points is not None and self.counts.points is not None:
            self._add_points(split, forum, rows, points.take(forum), self.counts.points)
        self.papers.append(meet_paper(split, rows))
        self.counts.count(forum, rows)

    def _add_points(
        self, split: str, forum: Forum, rows: ForumRows, points: Sequence[Point], counts: PointCounts
    ) -> None:
        told = NO_ANNOTATIONS if self.annotator is None else self.annotator.annotate(points, forum)
        of_points, answers = build_point_rows(points, rows.paper, rows.changes, rows.posts, counts, told)
        for row in of_points:
            self.writers.add("points", split, row)
        for row in answers:
            self.writers.add("answers", split, row)


class ReleaseWriting:
    """A release while it is written to an empty folder."""

    def __init__(
        self,
        workspace: Workspace,
        folder: Path,
        tally: ReleaseCounts,
        takedown: Takedown,
        titler: Titler | None,
        annotator: Annotator | None,
        show: Show,
        kept: KeptParts,
        venue_ids: Sequence[str],
    ) -> None:
        self._workspace, self._tally = workspace, tally
        self._sieve = PublicFilter(takedown)
        self._titler, self._annotator, self._show = titler, annotator, show
        self._kept, self._venue_ids = kept, venue_ids
        self._reviewbench = ReviewBenchCounts() if tally.request.layout is ReleaseLayout.REVIEWBENCH else None
        self._linked = WorkLinks(workspace.tables)
        self._groups: list[_Group] = []
        self._folder = folder
        self._kept.scratch = folder / SCRATCH
        self._writers, self._task_writers = Writers(folder), Writers(folder)

    @cached_property
    def _inputs(self) -> Mapping[str, VenueInput]:
        return self._read_inputs()

    def _read_inputs(self) -> Mapping[str, VenueInput]:
        return read_venue_inputs(self._workspace, self._venue_ids, self._tally.request)

    def _key_of(self, venue_ids: Sequence[str]) -> str:
        taken = {one: find_taken(self._workspace.tables, one, self._sieve.takedown) for one in venue_ids}
        return key_of_group({one: (self._inputs[one], taken[one]) for one in venue_ids}, self._tally.request)

    def add_venues(self) -> list[SplitShards]:
        """Write the rows of every venue, then the links between the papers written; return the splits."""
        tables, tally = self._workspace.tables, self._tally
        _ = self._inputs  # Read before any rows.
        for venue_ids in group_venues(self._venue_ids, lambda venue_id: tables.count_committed("1-papers", venue_id)):
            self._add_group(venue_ids)
        tally.taken_down = self._sieve.taken
        if self._reviewbench is None:
            self._linked.write(self._writers)
            tally.links, tally.links_left_out = self._linked.kinds, self._linked.left_out
        return self._writers.finish()

    def _add_group(self, venue_ids: Sequence[str]) -> None:
        # A model's answers may differ between runs.
        is_asked = self._titler is not None or self._annotator is not None
        key = None if is_asked else self._key_of(venue_ids)
        found = self._kept.take(key, Part, self._writers)
        if found is None:
            sieve = PublicFilter(self._sieve.takedown)
            own = self._workspace, self._folder, self._writers, self._tally, sieve
            found = _GroupWriter(*own, self._titler, self._annotator, self._show).write(venue_ids)
            self._kept.put(key, found[0])
            state = "written"
        else:
            state = "reused"
        part, files = found
        self._groups.append(_Group(venue_ids, key, files, [paper.forum_id for paper in part.counts.papers]))
        self._count(part)
        for venue in part.counts.venues:
            of = venue.venue_id, venue.papers, venue.conversations, state
            logger.info("publish %s: %d papers, %d conversations, %s", *of)

    def _count(self, part: Part) -> None:
        self._linked.meet(part.papers)
        for venue_id, taken in part.taken.items():
            self._sieve.by_venue[venue_id] = taken
        if self._reviewbench is not None and part.reviewbench is not None:
            self._reviewbench.add(part.reviewbench)
        for venue in part.counts.venues:
            add_venue_inputs(self._workspace, venue)
        self._tally.add(part.counts)

    def draw_splits(self, asked: SplitRequest, standing: Path) -> list[SplitShards]:
        """Assign papers to train, validation and test, and write the configurations for tasks."""
        tally = self._tally
        tally.splits = write_splits(
            self._folder,
            tally.papers,
            asked,
            standing=standing,
            workspace=self._workspace.folder,
            gone=self._sieve.takedown.forums,
            groups=self._linked.groups(),
        )
        meter = Meter("all venues", "tasks", self._show)
        total = len(set().union(*tally.splits.used.values()))
        done = 0
        for group in self._groups:
            for _ in self._add_tasks(group):
                done += 1
                meter.report(done, total)
        splits = self._task_writers.finish()
        write_eval_file(self._folder, splits)
        return splits

    def _add_tasks(self, group: _Group) -> Iterator[str]:
        """Write the rows for tasks of some venues, and yield each paper with any; none if they were reused."""
        used = self._tally.splits.used
        key = None if group.key is None else key_of_tasks(group.key, group.forum_ids, used)
        if self._kept.take(key, TaskPart, self._task_writers) is None:
            yield from write_tasks(self._task_writers, group.files, used)
            files = self._task_writers.cut()
            self._kept.put(key, TaskPart([file.record for file in files]))

    @property
    def digests(self) -> dict[str, str]:
        """The sha256 of each Parquet file, by its path in the release."""
        return self._writers.digests | self._task_writers.digests

    def record_inputs(self) -> None:
        """Write the inputs of the release.

        Raises:
            TryLaterError: The tables or the takedown list changed while it was written.
        """
        if self._read_inputs() != self._inputs:
            raise TryLaterError("The tables changed while the release was written; run the same command again.")
        if read_takedown(self._workspace) != self._sieve.takedown:
            raise TryLaterError("'takedown.txt' changed while the release was written; run the same command again.")
        tally = self._tally
        write_inputs(
            self._folder,
            self._workspace,
            dict(self._inputs),
            tally.request,
            titles=None if self._titler is None else self._titler.model.name,
            points_model=tally.points_model,
        )

    def describe(self, splits: Sequence[SplitShards]) -> None:
        """Write the tombstone of taken-down records, the metadata and the card."""
        write_tombstone(self._folder, self._workspace, self._sieve.takedown, self._sieve.by_venue)
        if self._reviewbench is not None:
            write_reviewbench_card(self._folder, self._tally, splits, self._reviewbench)
        else:
            write_croissant(self._folder, self._tally, splits, self.digests)
            write_dataset_card(self._folder, self._tally, splits)
