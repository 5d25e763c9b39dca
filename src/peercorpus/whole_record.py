"""All that a workspace's tables say about one paper."""

from dataclasses import dataclass
from typing import TypeVar

from peercorpus.errors import TableError
from peercorpus.file_records import Link
from peercorpus.records import Conversation, Paper, PaperVersion, Post, Review, SetAside
from peercorpus.tables import Tables

RecordT = TypeVar("RecordT")


@dataclass(frozen=True, slots=True)
class WholeRecord:
    """One paper, and everything that hangs on it.

    Attributes:
        set_aside: What of it left a stage, with the reason.
        links: With other submissions that are the same work, whichever came first.
    """

    paper: Paper
    reviews: list[Review]
    posts: list[Post]
    versions: list[PaperVersion]
    conversations: list[Conversation]
    set_aside: list[SetAside]
    links: list[Link]


def links_of(tables: Tables, forum_id: str) -> list[Link]:
    """The links of one paper, to earlier submissions and to later ones."""
    links = (link for venue_id in tables.venues("8-links") for link in tables.read(Link, venue_id))
    return [link for link in links if forum_id in {link.forum_id, link.earlier_id}]


def read_whole_record(tables: Tables, forum_id: str) -> WholeRecord:
    """The record of one paper.

    Raises:
        TableError: No table is built, or no paper has this id.
    """
    tables.require("1-papers")

    def read(record_type: type[RecordT], venue_id: str) -> list[RecordT]:
        return list(tables.of_forum(record_type, venue_id, forum_id))

    for venue_id in tables.venues("1-papers"):
        for paper in read(Paper, venue_id):
            return WholeRecord(
                paper,
                read(Review, venue_id),
                read(Post, venue_id),
                read(PaperVersion, venue_id),
                read(Conversation, venue_id),
                read(SetAside, venue_id),
                links_of(tables, forum_id),
            )
    raise TableError(f"No paper of this workspace has the id '{forum_id}'; it is what stands behind 'forum?id='.")
