"""Publishes the tables of a workspace as a dataset: one walk over the venues, nothing visible until it is whole."""

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from peercorpus.errors import TableError
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.publish.begun import begin_venue
from peercorpus.publish.card import write_card
from peercorpus.publish.croissant import write_croissant
from peercorpus.publish.forums import Walk
from peercorpus.publish.inputs import write_inputs
from peercorpus.publish.linked import Linked
from peercorpus.publish.release import releasing
from peercorpus.publish.rows import build_rows
from peercorpus.publish.shards import Writers
from peercorpus.publish.sifting import Sieve
from peercorpus.publish.split_files import Asked, keeping, read_earlier, write_sides
from peercorpus.publish.splits import usable
from peercorpus.publish.takedown import read_takedown, write_tombstone
from peercorpus.publish.tally import PublishSummary, Tally, summarise
from peercorpus.publish.tasks import write_tasks
from peercorpus.publish.texts import Texts
from peercorpus.publish.titles import Titler
from peercorpus.tables import TABLES, Tables
from peercorpus.workspace import Workspace

logger = logging.getLogger(__name__)


def split_name(conference: str) -> str:
    """A conference family as a split: letters, digits and underscores, as `datasets` demands.

    >>> split_name("ACM-MM"), split_name("all")
    ('acm_mm', 'all_')
    """
    name = re.sub(r"[^a-z0-9]+", "_", conference.lower()).strip("_") or "other"
    return f"{name}_" if name == "all" else name


def choose_venues(tables: Tables, venue_ids: Sequence[str] | None) -> list[str]:
    for name in TABLES:
        if name != "set-aside":
            tables.require(name)
    built = tables.venues("1-papers")
    halfway = [venue_id for venue_id in venue_ids or built if not _is_whole(tables, venue_id)]
    missing = [venue_id for venue_id in venue_ids or () if venue_id not in built]
    if missing:
        raise TableError(f"The venue '{missing[0]}' has no papers in the tables; run 'peercorpus build' for it.")
    if not built:
        raise TableError("The tables hold no papers; harvest a venue, then run 'peercorpus build'.")
    if halfway:
        raise TableError(f"The tables of the venue '{halfway[0]}' are not built to the end; run 'peercorpus build'.")
    return built if venue_ids is None else sorted(set(venue_ids))


def _is_whole(tables: Tables, venue_id: str) -> bool:
    """Whether every stage has written its tables, and the one that writes three was not stopped between them."""
    papers, reviews, posts, *others = (tables.digest(name, venue_id) for name in TABLES if name != "set-aside")
    return papers == reviews == posts and "None" not in others


def _write_venue(
    workspace: Workspace,
    venue_id: str,
    folder: Path,
    writers: Writers,
    tally: Tally,
    show: Show,
    titler: Titler | None,
    sieve: Sieve,
    linked: Linked,
    *,
    with_authors: bool,
) -> None:
    tables = workspace.tables
    tally.venues.append(begin_venue(workspace, venue_id))
    walk = Walk(tables, venue_id)
    with Texts(tables, venue_id, folder) as texts:
        meter, total = Meter(venue_id, "publish", show), tables.count("1-papers", venue_id)
        for done, forum in enumerate(sieve.through(walk), 1):
            meter.report(done, total)
            split, rows = split_name(forum.paper.conference), build_rows(forum, texts, with_authors=with_authors)
            if titler is not None:
                titled = [talk | {"turns": [*map(titler.entitle, talk["turns"])]} for talk in rows.conversations]
                rows = replace(rows, conversations=titled)
            for config, of_config in rows.by_config.items():
                for row in of_config:
                    writers.add(config, split, row)
            linked.meet(split, rows)
            tally.count(rows)
            tally.papers.append(usable(forum.paper, rows))
            tally.venues[-1].pdfs += sum(version.is_pdf for version in forum.versions)
            tally.venues[-1].pdfs_here += sum(
                version.is_pdf and version.sha256 is not None for version in forum.versions
            )
    writers.flush()
    tally.orphans += walk.orphans
    written = tally.venues[-1]
    logger.info("publish %s: %d papers, %d conversations", venue_id, written.papers, written.conversations)


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
        for venue_id in chosen:
            _write_venue(
                workspace, venue_id, folder, writers, tally, progress, titler, sieve, linked, with_authors=with_authors
            )
        tally.taken_down = sieve.taken
        linked.write(writers)
        tally.links, tally.links_left_out = linked.kinds, linked.left_out
        splits = writers.finish()
        if sides is not None:
            tally.asked, tally.sides = (
                sides,
                write_sides(folder, tally.papers, sides, out, takedown.forums, linked.groups),
            )
            splits += write_tasks(folder, tally.sides, progress)
        titles = None if titler is None else titler.endpoint.model
        write_inputs(folder, workspace, chosen, sides, titles, authors=with_authors)
        write_tombstone(folder, workspace, takedown, sieve.by_venue)
        write_croissant(folder, tally, splits)
        write_card(folder, tally, splits)
    return summarise(tally, splits)
