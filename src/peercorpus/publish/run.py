"""Publishes the tables of a workspace as a dataset: one walk over the venues, nothing visible until it is whole."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from peercorpus.errors import TableError
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.publish.begun import begin_venue
from peercorpus.publish.card import write_card
from peercorpus.publish.croissant import write_croissant
from peercorpus.publish.forums import Forum, Walk
from peercorpus.publish.inputs import write_inputs
from peercorpus.publish.linked import Linked
from peercorpus.publish.release import releasing
from peercorpus.publish.rows import build_rows
from peercorpus.publish.shards import Writers
from peercorpus.publish.sifting import Sieve
from peercorpus.publish.split_files import Asked, keeping, read_earlier, write_sides
from peercorpus.publish.takedown import read_takedown, write_tombstone
from peercorpus.publish.tally import PublishSummary, Tally, summarise
from peercorpus.publish.tasks import write_tasks
from peercorpus.publish.texts import Texts
from peercorpus.publish.titles import Titler
from peercorpus.tables import TABLES, Tables
from peercorpus.workspace import Workspace

logger = logging.getLogger(__name__)

NEEDED = tuple(name for name in TABLES if name != "set-aside")
OF_FORMS = ("1-papers", "2-reviews", "3-posts")
"""What one stage writes."""


def split_name(conference: str) -> str:
    """A conference family as a split: letters, digits and underscores, as `datasets` demands.

    >>> split_name("ACM-MM"), split_name("all")
    ('acm_mm', 'all_')
    """
    name = re.sub(r"[^a-z0-9]+", "_", conference.lower()).strip("_") or "other"
    return f"{name}_" if name == "all" else name


def choose_venues(tables: Tables, venue_ids: Sequence[str] | None = None, needed: Sequence[str] = NEEDED) -> list[str]:
    """The venues that are named, in order, or all that have papers.

    Args:
        tables: Of the workspace.
        venue_ids: None for all.
        needed: Tables that must be there, built to the end.

    Raises:
        TableError: One of them is not, no venue has papers, or one that is named has none.
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
            raise TableError(f"The tables of the venue '{venue_id}' are not built to the end; run 'peercorpus build'.")
    return chosen


def _is_whole(tables: Tables, venue_id: str, needed: Sequence[str]) -> bool:
    """Whether every stage has written its tables, and the one that writes three was not stopped between them."""
    digests = {name: tables.digest(name, venue_id) for name in needed}
    return len({digests[name] for name in OF_FORMS}) == 1 and "None" not in digests.values()


@dataclass(frozen=True, slots=True)
class _Writing:
    """A release, as it is written venue by venue."""

    workspace: Workspace
    folder: Path
    writers: Writers
    tally: Tally
    sieve: Sieve
    linked: Linked
    titler: Titler | None
    show: Show

    def add_venue(self, venue_id: str) -> None:
        tables = self.workspace.tables
        self.tally.venues.append(begin_venue(self.workspace, venue_id))
        walk = Walk(tables, venue_id)
        with Texts(tables, venue_id, self.folder) as texts:
            meter, total = Meter(venue_id, "publish", self.show), tables.count("1-papers", venue_id)
            for done, forum in enumerate(self.sieve.through(walk), 1):
                meter.report(done, total)
                self._add_forum(forum, texts)
        self.writers.flush()
        self.tally.orphans += walk.orphans
        written = self.tally.venues[-1]
        logger.info("publish %s: %d papers, %d conversations", venue_id, written.papers, written.conversations)

    def _add_forum(self, forum: Forum, texts: Texts) -> None:
        split = split_name(forum.paper.conference)
        rows = build_rows(forum, texts, with_authors=self.tally.names_authors)
        if self.titler is not None:
            entitle = self.titler.entitle
            titled = [talk | {"turns": [*map(entitle, talk["turns"])]} for talk in rows.conversations]
            rows = replace(rows, conversations=titled)
        for config, of_config in rows.by_config.items():
            for row in of_config:
                self.writers.add(config, split, row)
        self.linked.meet(split, rows)
        self.tally.count(forum, rows)


def publish(
    workspace: Workspace,
    out: Path,
    venue_ids: Sequence[str] | None = None,
    progress: Show = show_nothing,
    titler: Titler | None = None,
    sides: Asked | None = None,
    *,
    with_authors: bool = True,
) -> PublishSummary:
    """Write a folder that `datasets.load_dataset` opens, with the configurations of `shards.CONFIGS`.

    Args:
        workspace: Its tables are read, and its list of what is taken down.
        out: The folder; a release that is there is replaced, at the end and at once.
        venue_ids: What to publish; None means every venue that has papers.
        progress: Told how far each venue is.
        titler: What gives turns of several posts a title; None keeps the one made of the posts' own.
        sides: Which papers to train and test on; None writes no file of them, and no configurations for tasks.
        with_authors: Whether authors are named; the configurations for tasks never name them.

    Raises:
        ModelError: The model that gives titles cannot be asked.
        TableError: The tables are not built, or not for these venues.
        PeercorpusError: `out` holds other files, a paper would change its side, or a line of `takedown.txt` can be no
            id.
    """
    chosen = choose_venues(workspace.tables, venue_ids)
    takedown = read_takedown(workspace)
    if sides is not None:
        sides = keeping(sides, out)
        read_earlier(sides)
    with releasing(out) as folder:
        writers, tally, sieve = Writers(folder), Tally(names_authors=with_authors), Sieve(takedown)
        linked = Linked(workspace.tables)
        writing = _Writing(workspace, folder, writers, tally, sieve, linked, titler, progress)
        for venue_id in chosen:
            writing.add_venue(venue_id)
        tally.taken_down = sieve.taken
        linked.write(writers)
        tally.links, tally.links_left_out = linked.kinds, linked.left_out
        splits = writers.finish()
        if sides is not None:
            tally.asked = sides
            tally.sides = write_sides(folder, tally.papers, sides, out, takedown.forums, linked.groups())
            splits += write_tasks(folder, tally.sides, progress)
        titles = None if titler is None else titler.endpoint.model
        write_inputs(folder, workspace, chosen, sides, titles, authors=with_authors)
        write_tombstone(folder, workspace, takedown, sieve.by_venue)
        write_croissant(folder, tally, splits)
        write_card(folder, tally, splits)
    return summarise(tally, splits)
