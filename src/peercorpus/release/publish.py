"""Write a release in one pass over the venues of a workspace.

Rows go to Parquet as they are made; sides and task configurations follow once all papers are known, then
`inputs.json`, the tombstone of what was taken down, Croissant metadata and the card.
"""

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from peercorpus.corpus.figures import VenueFigures, require_figures
from peercorpus.corpus.forums import Forum, ForumReader, VenueForums
from peercorpus.corpus.public_forums import PublicFilter
from peercorpus.corpus.reminder_decisions import count_verdicts
from peercorpus.corpus.resubmissions import Attempt, group_into_works, make_attempt, number_attempts, read_links
from peercorpus.corpus.takedown import read_takedown, write_tombstone
from peercorpus.corpus.text_choice import TextChoice, TextRule
from peercorpus.corpus.texts import VenueTexts
from peercorpus.errors import PeercorpusError, TableError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.records.documents import Change
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade, LinkKind
from peercorpus.release.card.citation import CITED
from peercorpus.release.card.croissant import write_croissant
from peercorpus.release.card.dataset_card import write_dataset_card
from peercorpus.release.card.reviewbench_card import ReviewBenchCounts, write_reviewbench_card
from peercorpus.release.counts import PublishSummary, ReleaseCounts, VenueCounts, summarise
from peercorpus.release.figure_rows import FigureCounts, build_figure_rows
from peercorpus.release.folder import replace_folder
from peercorpus.release.kept_sides import read_earlier, read_kept, write_sides
from peercorpus.release.provenance import write_inputs
from peercorpus.release.record_rows import as_row
from peercorpus.release.reviewbench_rows import reviewbench_row
from peercorpus.release.rows import ForumRows, build_rows
from peercorpus.release.shards import DEFAULT_OF_REVIEWBENCH, ReleaseLayout, SplitShards, Writers
from peercorpus.release.split_file import SplitRequest
from peercorpus.release.task_tables import write_tasks
from peercorpus.release.text_rows import count_text_rows
from peercorpus.release.turn_titles import Titler
from peercorpus.venues.own_venues import own_venue
from peercorpus.workspace.delta_tables import ON_DEMAND, TABLES, Tables
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace

ENDS = "FROM objects INDEXED BY objects_by_forum WHERE venue_id = ?"
HARVESTED = (
    "SELECT min(seen_ms), max(seen_ms) FROM objects"
    f" WHERE seen IN (SELECT min(seen) {ENDS} UNION SELECT max(seen) {ENDS})"
)
"""Times of the first and the last row stored; the index holds their ids, so no other body is read."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def count_venue_inputs(workspace: Workspace, venue_id: str) -> VenueCounts:
    """Return the counts of a venue before any of its papers is added."""
    raw, tables = workspace.raw, workspace.tables
    records = Counter({name: raw.count(RawKind.PUBLISHED, venue_id, name) for name in CITED})
    set_aside = Counter(
        {
            (stage, reason): count
            for stage in tables.stages(venue_id)
            for reason, count in tables.set_aside_counts(venue_id, stage).items()
        }
    )
    ((first, last),) = raw.select(HARVESTED, venue_id, venue_id)
    harvested = None
    if first is not None:
        harvested = EPOCH + timedelta(milliseconds=first), EPOCH + timedelta(milliseconds=last)
    return VenueCounts(
        venue_id,
        is_listed=raw.state.is_listed(venue_id),
        records=+records,
        set_aside=set_aside,
        own=own_venue(workspace, venue_id),
        harvested=harvested,
    )


DIGEST_BYTES = 16


class WorkLinks:
    """The links of a workspace, and those among them that a release holds.

    Attributes:
        kinds: Links written, by kind.
        left_out: Links of which the release lacks a paper.
    """

    def __init__(self, tables: Tables) -> None:
        self._links = read_links(tables)
        self._pairs = [(link.earlier_id, link.forum_id) for link in self._links]
        self._works = group_into_works(self._pairs)
        self._texts: dict[bytes, str] = {}
        self.kinds = Counter[LinkKind]()
        self.left_out = 0
        self._here: dict[str, tuple[str, Attempt]] = {}

    def meet(self, split: str, rows: ForumRows) -> None:
        """Record a paper that the release holds, with its public ratings."""
        forum_id = rows.paper["forum_id"]
        texts = [rows.paper["markdown"], *(text["markdown"] for text in rows.texts)]
        for markdown in dict.fromkeys(filter(None, texts)):
            digest = hashlib.blake2b(markdown.encode(), digest_size=DIGEST_BYTES).digest()
            self._pairs.append((self._texts.setdefault(digest, forum_id), forum_id))
        if forum_id in self._works:
            ratings = [(review["rating"], review["rating_unified"]) for review in rows.reviews]
            self._here[forum_id] = split, make_attempt(rows.paper, ratings)

    def groups(self) -> dict[str, str]:
        """The work of every paper that must come on one side with others, by forum id.

        Linked submissions are of one work, and so are papers with the very same text in any version, whatever their
        titles say.
        Submissions that the release does not hold join others too. The id of a work may be that of one which was taken
        down: it is never published.
        """
        return group_into_works(pair for pair in self._pairs if pair[0] != pair[1])

    def write(self, writers: Writers) -> None:
        """Write the configurations `links` and `tries`, restricted to papers that the release holds."""
        attempts = number_attempts((attempt for _, attempt in self._here.values()), self._works)
        works = {attempt.forum_id: attempt.work_id for attempt in attempts}
        for link in self._links:
            if link.forum_id not in works or link.earlier_id not in works:
                self.left_out += 1
                continue
            split, later = self._here[link.forum_id]
            work_columns = {"conference": later.conference, "year": later.year, "work_id": works[link.forum_id]}
            writers.add("links", split, as_row(link) | work_columns)
            self.kinds[link.kind] += 1
        for attempt in attempts:
            writers.add("tries", self._here[attempt.forum_id][0], as_row(attempt))


logger = logging.getLogger(__name__)

NEEDED = tuple(name for name in TABLES if name not in {"set-aside", *ON_DEMAND})
OF_FORMS = ("1-papers", "2-ai-reviews", "2-reviews", "3-posts")
"""Tables that one stage writes together."""


def split_name(conference: str) -> str:
    """Return a conference family as the name of a split: letters, digits and underscores, as `datasets` requires.

    >>> split_name("ACM-MM"), split_name("all")
    ('acm_mm', 'all_')
    """
    name = re.sub(r"[^a-z0-9]+", "_", conference.lower()).strip("_") or "other"
    return f"{name}_" if name == "all" else name


def choose_venues(tables: Tables, venue_ids: Sequence[str] | None = None, needed: Sequence[str] = NEEDED) -> list[str]:
    """Return the venues that are named, in order, or all that have papers.

    Args:
        tables: Of the workspace.
        venue_ids: None for all.
        needed: Tables that must exist and be complete.

    Raises:
        TableError: A needed table is missing, no venue has papers, or a named venue has none.
    """
    for name in needed:
        tables.require(name)
    built = tables.venues("1-papers")
    chosen = built if venue_ids is None else sorted(set(venue_ids))
    missing = [venue_id for venue_id in chosen if venue_id not in built]
    if missing:
        raise TableError(f"The venue '{missing[0]}' has no papers in the tables; run 'peercorpus build' for it.")
    if not built:
        raise TableError("The tables hold no papers; harvest a venue, then run 'peercorpus build'.")
    for venue_id in chosen:
        if not _is_whole(tables, venue_id, needed):
            raise TableError(f"The tables of the venue '{venue_id}' are not complete; run 'peercorpus build'.")
    return chosen


def _is_whole(tables: Tables, venue_id: str, needed: Sequence[str]) -> bool:
    """Return whether every table of a venue is complete, and those written by one stage come from the same run."""
    digests = {name: tables.digest(name, venue_id) for name in needed}
    of_one_run = {digest for name, digest in digests.items() if name in OF_FORMS}
    return len(of_one_run) <= 1 and "None" not in digests.values()


def _read_changes(tables: Tables, forum: Forum) -> Iterator[Change]:
    return tables.of_forum(Change, forum.paper.venue_id, forum.paper.forum_id)


@dataclass(frozen=True, slots=True)
class _Writing:
    """A release while it is written, venue by venue."""

    workspace: Workspace
    folder: Path
    writers: Writers
    tally: ReleaseCounts
    sieve: PublicFilter
    linked: WorkLinks
    titler: Titler | None
    show: Show
    reviewbench: ReviewBenchCounts | None = None

    def add_venues(self, venue_ids: Sequence[str]) -> list[SplitShards]:
        """Write the rows of every venue, then the links between the papers written; return the splits."""
        for venue_id in venue_ids:
            self._add_venue(venue_id)
        self.tally.taken_down = self.sieve.taken
        if self.reviewbench is None:
            self.linked.write(self.writers)
            self.tally.links, self.tally.links_left_out = self.linked.kinds, self.linked.left_out
        return self.writers.finish()

    def _add_venue(self, venue_id: str) -> None:
        tables = self.workspace.tables
        self.tally.venues.append(count_venue_inputs(self.workspace, venue_id))
        walk = VenueForums(tables, venue_id)
        changes = ForumReader(tables.read(Change, venue_id))
        rule = self.tally.text_rule
        figures = None if self.tally.figures is None else VenueFigures(tables, venue_id)
        held = VenueTexts(
            tables, venue_id, self.folder, rule.choose_needed, with_outlines=True, with_blocks=rule.with_blocks
        )
        with held as texts:
            meter = Meter(venue_id, "publish", self.show)
            total = tables.count("1-papers", venue_id)
            public = self.sieve.through(
                walk, lambda forum: count_text_rows(forum, texts, _read_changes(tables, forum), rule)
            )
            for done, forum in enumerate(public, 1):
                meter.report(done, total)
                self._add_forum(forum, texts, changes.take(forum.paper.forum_id), figures)
        self.writers.flush()
        self.tally.orphans += walk.orphans
        written = self.tally.venues[-1]
        logger.info("publish %s: %d papers, %d conversations", venue_id, written.papers, written.conversations)

    def _add_forum(
        self, forum: Forum, texts: VenueTexts, changes: Sequence[Change], figures: VenueFigures | None
    ) -> None:
        split = split_name(forum.paper.conference)
        files_gone = self.sieve.takedown.files
        changes = [one for one in changes if files_gone.isdisjoint((one.left_sha256, one.right_sha256))]
        rows = build_rows(forum, texts, changes, self.tally.text_rule, with_authors=self.tally.names_authors)
        if self.reviewbench is not None:
            row = reviewbench_row(forum, rows, with_authors=self.tally.names_authors)
            split = split_name(row["conference"])
            self.writers.add(DEFAULT_OF_REVIEWBENCH, split, row)
            self.reviewbench.count(split, row)
            self.tally.count(forum, rows)
            return
        if self.titler is not None:
            entitle = self.titler.entitle
            titled = [talk | {"turns": [*map(entitle, talk["turns"])]} for talk in rows.conversations]
            rows = replace(rows, conversations=titled)
        for config, of_config in rows.by_config.items():
            for row in of_config:
                self.writers.add(config, split, row)
        if figures is not None and self.tally.figures is not None:
            for row in build_figure_rows(rows.paper, figures, self.tally.figures):
                self.writers.add("figures", split, row)
        self.linked.meet(split, rows)
        self.tally.count(forum, rows)

    def record_inputs(self, venue_ids: Sequence[str], sides: SplitRequest | None, layout: ReleaseLayout) -> None:
        """Write what the release was made from."""
        titles = None if self.titler is None else self.titler.endpoint.model
        rule, is_named = self.tally.text_rule, self.tally.names_authors
        write_inputs(
            *(self.folder, self.workspace, venue_ids, sides, titles),
            authors=is_named,
            figures=self.tally.figures is not None,
            text_rule=rule,
            layout=layout,
        )

    def draw_sides(self, sides: SplitRequest, standing: Path) -> list[SplitShards]:
        """Assign papers to train, validation and test, and write the configurations for tasks."""
        self.tally.asked = sides
        self.tally.sides = write_sides(
            self.folder,
            self.tally.papers,
            sides,
            standing=standing,
            workspace=self.workspace.folder,
            gone=self.sieve.takedown.forums,
            groups=self.linked.groups(),
        )
        return write_tasks(self.folder, self.tally.sides, self.show)

    def describe(self, splits: Sequence[SplitShards]) -> None:
        """Write the tombstone of what was taken down, the metadata and the card."""
        write_tombstone(self.folder, self.workspace, self.sieve.takedown, self.sieve.by_venue)
        if self.reviewbench is not None:
            write_reviewbench_card(self.folder, self.tally, splits, self.reviewbench)
        else:
            write_croissant(self.folder, self.tally, splits)
            write_dataset_card(self.folder, self.tally, splits)


def _check_figures(tables: Tables, venue_ids: Sequence[str], layout: ReleaseLayout, *, with_authors: bool) -> None:
    """Check that figures can be published.

    Raises:
        TableError: They were not cut out of the PDFs of a venue.
        PeercorpusError: The layout has none, or authors shall not be named: an image may show their names.
    """
    if layout is ReleaseLayout.REVIEWBENCH:
        raise PeercorpusError("The layout 'reviewbench' has no figures; leave out --figures, or choose 'peercorpus'.")
    if not with_authors:
        raise PeercorpusError("Images may show the names of authors; leave out --figures or --no-authors.")
    for venue_id in venue_ids:
        require_figures(tables, venue_id)


def publish_release(
    workspace: Workspace,
    out: Path,
    venue_ids: Sequence[str] | None = None,
    progress: Show = show_nothing,
    titler: Titler | None = None,
    sides: SplitRequest | None = None,
    *,
    standing: Path | None = None,
    with_authors: bool = True,
    texts: TextChoice = TextChoice.BEST,
    worst_grade: Grade = PUBLISHABLE_GRADES[-1],
    layout: ReleaseLayout = ReleaseLayout.PEERCORPUS,
    figures: bool = False,
    with_latex: bool = False,
    with_blocks: bool = False,
) -> PublishSummary:
    """Write a folder that `datasets.load_dataset` opens, with the configurations of its layout.

    Args:
        workspace: Its tables and its `takedown.txt` are read.
        out: The folder; an earlier release there is replaced at the end, in one step.
        venue_ids: What to publish; None means every venue that has papers.
        progress: Receives how far each venue is.
        titler: Gives turns of several posts a title; None keeps the title made from the posts' own.
        sides: How papers are assigned to train, validation and test; None writes neither sides nor task configurations.
        standing: The release before this one, whose papers keep their sides; None means the one that is replaced.
        with_authors: Whether authors are named; the configurations for tasks never name them.
        texts: Which texts are published.
        worst_grade: The worst grade of a text that the configurations for tasks accept.
        layout: The configurations to write; `reviewbench` has no sides and no turns, so neither sides nor titler apply.
        figures: Whether to write the configuration `figures`, which needs tables built with `Options.figures`.
        with_latex: Whether each text of the configuration `texts` is there as LaTeX, too.
        with_blocks: Whether it is there block by block, too.

    Raises:
        ModelError: The model that gives titles cannot be asked.
        TableError: The tables are not built, or not for these venues.
        PeercorpusError: `out` holds other files, a paper would change its side, `takedown.txt` or the grade is invalid.
    """
    chosen = choose_venues(workspace.tables, venue_ids)
    if figures:
        _check_figures(workspace.tables, chosen, layout, with_authors=with_authors)
    sieve = PublicFilter(read_takedown(workspace))
    if sides is not None:
        read_earlier(sides, standing or out, read_kept(workspace.folder, sides))
    with replace_folder(out) as folder:
        rule = TextRule(texts, worst_grade, with_latex, with_blocks)
        tally = ReleaseCounts(names_authors=with_authors, layout=layout, text_rule=rule)
        tally.figures = FigureCounts() if figures else None
        tally.reminders = count_verdicts(workspace)
        reviewbench = ReviewBenchCounts() if layout is ReleaseLayout.REVIEWBENCH else None
        writers, linked = Writers(folder), WorkLinks(workspace.tables)
        writing = _Writing(workspace, folder, writers, tally, sieve, linked, titler, progress, reviewbench)
        splits = writing.add_venues(chosen)
        if sides is not None:
            splits += writing.draw_sides(sides, standing or out)
        writing.record_inputs(chosen, sides, layout)
        writing.describe(splits)
    return summarise(tally, splits)
