"""Show a corpus in a notebook: its venues with their public papers and reviews, and when its tables were built."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from deltalake import DeltaTable

from peercorpus.corpus.takedown import read_takedown
from peercorpus.wording.untrusted_text import escape_controls
from peercorpus.workspace.object_store import scan_options
from peercorpus.workspace.workspace import Workspace

MOST_VENUES = 50
"""Venues that are shown one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class VenueRow:
    """A venue, with the papers and reviews that everyone may read and that are not taken down."""

    venue_id: str
    papers: int
    reviews: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Contents of a corpus.

    Attributes:
        venues: Venues with papers, by id; empty if the tables are not built.
        built_at: When the table of papers was last changed; None if it is not built.
    """

    venues: Sequence[VenueRow]
    built_at: datetime | None


def read_overview(workspace: Workspace) -> Overview:
    """Count the public papers and reviews of each venue, without those taken down."""
    tables = workspace.tables
    if tables.version("1-papers") is None:
        return Overview((), None)
    takedown = read_takedown(workspace)
    venues = []
    for venue_id in tables.venues("1-papers"):
        papers = sum(forum_id not in takedown.forums for (forum_id,) in tables.rows("1-papers", venue_id, ["forum_id"]))
        columns = ["forum_id", "review_id", "readers_public", "deleted"]
        reviews = sum(
            is_public and not is_deleted and forum_id not in takedown.forums and review_id not in takedown.posts
            for forum_id, review_id, is_public, is_deleted in tables.rows("2-reviews", venue_id, columns)
        )
        venues.append(VenueRow(venue_id, papers, reviews))
    location = tables.require("1-papers")
    options = None if isinstance(location, Path) else scan_options()
    (commit,) = DeltaTable(str(location), storage_options=options).history(1)
    return Overview(venues, datetime.fromtimestamp(commit["timestamp"] / 1000, UTC))


def make_html(folder: Path, overview: Overview) -> str:
    """Return a table in HTML; everything from outside is escaped.

    >>> make_html(Path("a<b"), Overview((), None))
    '<p>Corpus <code>a&lt;b</code>: its tables are not built yet.</p>'
    """
    name = f"Corpus <code>{_escape(str(folder))}</code>"
    if overview.built_at is None:
        return f"<p>{name}: its tables are not built yet.</p>"
    shown, others = overview.venues[:MOST_VENUES], overview.venues[MOST_VENUES:]
    rows = [f"<tr><td>{_escape(row.venue_id)}</td>{_numbers(row.papers, row.reviews)}</tr>" for row in shown]
    if others:
        counts = sum(row.papers for row in others), sum(row.reviews for row in others)
        rows.append(f"<tr><td>{len(others):,} other venues</td>{_numbers(*counts)}</tr>")
    caption = f"{name}, built {overview.built_at:%Y-%m-%d %H:%M} UTC"
    head = "<tr><th>venue</th><th>papers</th><th>reviews</th></tr>"
    return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _numbers(papers: int, reviews: int) -> str:
    return f"<td>{papers:,}</td><td>{reviews:,}</td>"


def _escape(text: str) -> str:
    return escape(escape_controls(text, len(text)))
