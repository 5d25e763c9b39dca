"""The tables of a workspace as a source of statistics: venue by venue, without what is hidden or taken down."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from urllib.parse import unquote

import polars as pl
import pyarrow as pa

from peercorpus.kinds import PUBLISHABLE_GRADES
from peercorpus.publish.forums import SPOKEN, Forum, hides_decision, read_forum
from peercorpus.publish.run import choose_venues
from peercorpus.publish.sifting import Sieve
from peercorpus.publish.takedown import read_takedown
from peercorpus.records import Conversation, Paper, PaperVersion, Post, Review
from peercorpus.report import columns
from peercorpus.report.source import (
    FILES,
    PAPER_TOKENS,
    PAPERS,
    REVIEW_TOKENS,
    REVIEWS,
    SET_ASIDE,
    TALKS,
    TURNS,
    Schema,
    Source,
    joined,
)
from peercorpus.report.tokens import Tokens
from peercorpus.schema import to_arrow
from peercorpus.workspace import Workspace

ITEM = columns.ITEM
NEEDED = ("1-papers", "2-reviews", "3-posts", "4-versions", "5-texts", "6-conversations")
OF_PAPERS = [*(name for name in PAPERS if name not in {"venue_id", "grade", "keywords"}), f"keywords.{ITEM}"]
ID_COLUMNS = ("record_id", "forum_id")
SAID = ["decision", "decision_comment"]
IS_OPEN = pl.col("readers_public") & ~pl.col("deleted")
"""Of a post or a review: whether everyone may read it."""
OF_FORUM: Mapping[type, str] = {
    Paper: "paper",
    Review: "reviews",
    Post: "posts",
    PaperVersion: "versions",
    Conversation: "conversations",
}


class WorkspaceSource(Source):
    """What the tables of a workspace hold."""

    def __init__(self, workspace: Workspace, counting: Tokens) -> None:
        self.name, self.tokens = workspace.folder.resolve().name, counting.says
        self._workspace, self._tables, self._counting = workspace, workspace.tables, counting
        self._venues = choose_venues(self._tables, needed=NEEDED)
        self._takedown = read_takedown(workspace)
        self._touched = [forum_id for forum_id, _ in self._takedown.venues]

    @cached_property
    def _sifted(self) -> Mapping[str, list[Forum]]:
        """What is left of every paper of which anything was taken down, by venue."""
        found: dict[str, list[Forum]] = {}
        sieve = Sieve(self._takedown)
        for forum_id, venue_id in self._takedown.venues:
            forum = read_forum(self._tables, venue_id, forum_id)
            kept = None if forum is None else sieve.sift(forum)
            found.setdefault(venue_id, []).extend([kept] if kept else [])
        return found

    def _rows(self, kind: type, venue_id: str, wanted: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Columns of a venue's rows, a batch at a time; what a takedown touches comes as the sieve leaves it."""
        paths = self._tables.paths(self._tables.name_of(kind), venue_id)
        for rows in columns.read_columns(paths, wanted):
            yield rows.filter(~pl.col("forum_id").is_in(self._touched)) if self._touched else rows
        records: list[object] = []
        for forum in self._sifted.get(venue_id, []) if self._touched else []:
            held = getattr(forum, OF_FORUM[kind])
            records += [held] if kind is Paper else held
        if records:
            names = list(dict.fromkeys(name.partition(".")[0] for name in wanted))
            table: pa.Table = to_arrow(kind, records)
            yield columns.from_batch(table.select(names))

    def _read(
        self,
        kind: type,
        wanted: Sequence[str],
        schema: Schema,
        reading: Callable[[pl.DataFrame, str], pl.DataFrame],
    ) -> pl.DataFrame:
        parts = (reading(rows, venue_id) for venue_id in self._venues for rows in self._rows(kind, venue_id, wanted))
        return joined(parts, schema)

    @cached_property
    def _versions(self) -> pl.DataFrame:
        schema = {
            "forum_id": pl.String,
            "grade": pl.String,
            "path": pl.String,
            "sha256": pl.String,
            "is_initial": pl.Boolean,
        }
        return self._read(PaperVersion, list(schema), schema, lambda rows, _: rows)

    @cached_property
    def papers(self) -> pl.DataFrame:
        """See `Source`."""
        told = joined((part for venue_id in self._venues for part in self._papers(venue_id)), PAPERS)
        graded = told.drop("grade").join(columns.grades(self._versions), on="forum_id", how="left")
        return graded.select(*PAPERS).sort("venue_id", "forum_id")

    def _papers(self, venue_id: str) -> Iterator[pl.DataFrame]:
        """The papers of a venue, without a status that only posts tell which not everyone may read."""
        told = self._decision_posts(venue_id)
        for rows in self._rows(Paper, venue_id, [*OF_PAPERS, *SAID]):
            said = rows.select("forum_id", *SAID).iter_rows()
            hidden = [of for of, decision, comment in said if hides_decision(decision, comment, told.get(of, []))]
            status = pl.when(~pl.col("forum_id").is_in(hidden)).then(pl.col("status"))
            yield rows.with_columns(status=status, venue_id=pl.lit(venue_id), grade=pl.lit(None, pl.String))

    def _decision_posts(self, venue_id: str) -> dict[str, list[bool]]:
        """Of each post that may hold a decision, whether everyone may read it; by paper."""
        kinds = [kind.value for kind in SPOKEN]
        found: dict[str, list[bool]] = {}
        for rows in self._rows(Post, venue_id, ["forum_id", "kind", "readers_public", "deleted"]):
            spoken = rows.filter(pl.col("kind").is_in(kinds)).select("forum_id", IS_OPEN)
            for forum_id, is_open in spoken.iter_rows():
                found.setdefault(forum_id, []).append(is_open)
        return found

    @cached_property
    def reviews(self) -> pl.DataFrame:
        """See `Source`."""
        return self._read(
            Review,
            ["review_id", "forum_id", "revised", "readers_public", "deleted", *columns.OF_SCORES],
            REVIEWS,
            lambda rows, _: columns.overall_scores(_open(rows)),
        )

    @cached_property
    def review_tokens(self) -> pl.DataFrame:
        """See `Source`."""
        wanted = ["review_id", "forum_id", "readers_public", "deleted", columns.OF_SECTIONS]
        every = (_open(rows) for venue_id in self._venues for rows in self._rows(Review, venue_id, wanted))
        return joined(columns.review_tokens(every, self._counting), REVIEW_TOKENS)

    @cached_property
    def paper_tokens(self) -> pl.DataFrame:
        """See `Source`."""
        grades = [grade.value for grade in PUBLISHABLE_GRADES]
        is_read = pl.col("is_initial") & pl.col("grade").is_in(grades) & pl.col("sha256").is_not_null()
        read = self._versions.filter(is_read).select("forum_id", "sha256")
        counts = self._counting.counted(self._texts(set(read["sha256"])), "markdown")
        counted = joined(counts, {"sha256": pl.String, "tokens": pl.Int64})
        held = read.join(counted.unique("sha256", keep="last"), on="sha256").sort("forum_id", "tokens")
        return joined([held.unique("forum_id", keep="first", maintain_order=True)], PAPER_TOKENS)

    def _texts(self, wanted: set[str]) -> Iterator[pl.DataFrame]:
        """The texts that are wanted; a venue's rows are in no order."""
        for venue_id in self._venues:
            paths = self._tables.paths("5-texts", venue_id)
            for rows in columns.read_columns(paths, ["sha256", "markdown"], columns.TEXT_ROWS):
                yield rows.filter(pl.col("sha256").is_in(wanted))

    @cached_property
    def _talks(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Conversations and their turns, where everyone may read every post of them."""
        found = [self._talks_of(venue_id) for venue_id in self._venues]
        return joined((talks for talks, _ in found), TALKS), joined((turns for _, turns in found), TURNS)

    def _talks_of(self, venue_id: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        wanted = ["post_id", "forum_id", "readers_public", "deleted"]
        parts = [_open(rows).select("post_id") for rows in self._rows(Post, venue_id, wanted)]
        posts = pl.concat([pl.DataFrame(schema={"post_id": pl.String}), *parts])
        talks, turns = [], []
        wanted = ["conversation_id", "forum_id", *columns.OF_TURNS, columns.OF_CONTEXT]
        for rows in self._rows(Conversation, venue_id, wanted):
            told = columns.turns(rows)
            made_of = told.select("conversation_id", "post_ids").explode("post_ids").drop_nulls()
            closed = made_of.join(posts, left_on="post_ids", right_on="post_id", how="anti")["conversation_id"]
            is_open = ~pl.col("conversation_id").is_in(closed.implode())
            beside = rows.filter(is_open).explode("context").unnest("context").drop_nulls("post_id")
            counts = beside.join(posts, on="post_id").group_by("conversation_id").agg(responses=pl.len())
            known = rows.filter(is_open).select("conversation_id", "forum_id")
            talks.append(
                known.join(counts, on="conversation_id", how="left").with_columns(pl.col("responses").fill_null(0))
            )
            turns.append(told.filter(is_open))
        return joined(talks, TALKS), joined(turns, TURNS)

    @property
    def talks(self) -> pl.DataFrame:
        """See `Source`."""
        return self._talks[0]

    @property
    def turns(self) -> pl.DataFrame:
        """See `Source`."""
        return self._talks[1]

    @cached_property
    def files(self) -> pl.DataFrame:
        """See `Source`."""
        return joined([columns.files(self._versions)], FILES)

    @cached_property
    def set_aside(self) -> pl.DataFrame | None:
        """See `Source`."""
        return joined((part for one in self._tables.venues("set-aside") for part in self._left(one)), SET_ASIDE)

    def _left(self, venue_id: str) -> Iterator[pl.DataFrame]:
        """What left the stages of a venue; nothing of what is taken down."""
        gone = {*self._takedown.forums, *self._takedown.posts}
        for path in self._tables.paths("set-aside", venue_id):
            stage = unquote(path.parent.name.partition("=")[2])
            for rows in columns.read_columns([path], ["record_id", "forum_id", "reason"]):
                is_gone = pl.any_horizontal(pl.col(name).is_in(gone).fill_null(value=False) for name in ID_COLUMNS)
                counts = rows.filter(~is_gone).group_by("forum_id", "reason").agg(rows=pl.len())
                yield counts.with_columns(venue_id=pl.lit(venue_id), stage=pl.lit(stage))

    @cached_property
    def listed(self) -> Mapping[str, bool | None] | None:
        """See `Source`."""
        return {venue_id: self._workspace.raw.is_listed(venue_id) for venue_id in self._venues}


def _open(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(IS_OPEN)
