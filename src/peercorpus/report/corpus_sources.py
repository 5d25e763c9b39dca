"""Read the frames of `CorpusSource` from a workspace or a release.

Both give the same numbers: a workspace is read without rows that are taken down or not public, as in a release.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pyarrow as pa

from peercorpus.corpus.forums import SPOKEN, hides_decision
from peercorpus.corpus.takedown import read_takedown
from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Executor
from peercorpus.models.token_counts import TokenCounter
from peercorpus.records.papers import Paper, PaperVersion
from peercorpus.records.points import Point
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH
from peercorpus.release.folder import Release, open_release
from peercorpus.release.publish import choose_venues
from peercorpus.report import source, venue_counts
from peercorpus.report.source import (
    FILES,
    META_REVIEWS,
    PAPER_TOKENS,
    PAPERS,
    REVIEW_TOKENS,
    REVIEWS,
    SET_ASIDE,
    TALKS,
    TURNS,
    CorpusSource,
    Schema,
    TextKind,
    concat_frames,
)
from peercorpus.report.venue_counts import (
    IS_META_REVIEW,
    IS_PUBLIC,
    POST_IDS,
    TEXT_COLUMNS,
    TEXT_TOKENS,
    KeptCounts,
    PublicRows,
    read_review_times,
    select_texts,
)
from peercorpus.venues.own_venues import find_row, own_venues
from peercorpus.workspace.workspace import Workspace

_Convert = Callable[[pl.DataFrame], pl.DataFrame]


_CONFIG_OF_TEXTS = {
    TextKind.REVIEWS: "reviews",
    TextKind.REPLIES: "posts",
    TextKind.META_REVIEWS: "meta_reviews",
}


class ReleaseSource(CorpusSource):
    """The frames of a release."""

    def __init__(self, folder: Path, counter: TokenCounter) -> None:
        self.name = folder.resolve().name
        self.tokens = counter.says
        self.unit = counter.unit
        self._counter = counter
        self._release = open_release(folder)
        if self._release.shards(DEFAULT_OF_REVIEWBENCH):
            raise PeercorpusError(
                f"The release '{folder}' is in the layout 'reviewbench', which lacks data that statistics need; name"
                " the workspace that it was made from, or a release in the layout 'peercorpus'."
            )

    def _read(
        self, config: str, columns: Sequence[str], schema: Schema, convert: _Convert = lambda rows: rows
    ) -> pl.DataFrame:
        return concat_frames(map(convert, _read_batches(self._release, config, columns)), schema)

    @cached_property
    def _versions(self) -> pl.DataFrame:
        schema = {"forum_id": pl.String, "grade": pl.String, "path": pl.String, "sha256": pl.String}
        return self._read("versions", list(schema), schema)

    @cached_property
    def papers(self) -> pl.DataFrame:
        names = [name for name in PAPERS if name != "grade"]
        papers = self._read("papers_full", names, {name: PAPERS[name] for name in names})
        return papers.join(source.best_grades(self._versions), on="forum_id", how="left", maintain_order="left")

    @cached_property
    def reviews(self) -> pl.DataFrame:
        columns = ["review_id", "forum_id", "reviewer", *source.OF_SCORES]
        return self._read("reviews", columns, REVIEWS, source.overall_scores)

    @cached_property
    def review_times(self) -> pl.DataFrame:
        """See `CorpusSource`; a release does not record when reviews were due."""
        columns = ["review_id", "forum_id", "created_at"]
        due_at = pl.lit(None, source.TIME)
        return self._read("reviews", columns, source.REVIEW_TIMES, lambda rows: rows.with_columns(due_at=due_at))

    @cached_property
    def paper_tokens(self) -> pl.DataFrame:
        parts = _read_batches(self._release, "papers_full", ["forum_id", "grade", "markdown"], source.TEXT_ROWS)
        texts = (rows.filter(pl.col("markdown").str.len_bytes() > 0) for rows in parts)
        return concat_frames(self._counter.counted(texts, "markdown"), PAPER_TOKENS)

    @cached_property
    def review_tokens(self) -> pl.DataFrame:
        every = _read_batches(
            self._release, "reviews", ["review_id", "forum_id", *source.OF_SECTIONS], source.BATCH_ROWS
        )
        return concat_frames(source.review_tokens(every, self._counter), REVIEW_TOKENS)

    @cached_property
    def talks(self) -> pl.DataFrame:
        return self._read(
            "conversations", ["conversation_id", "forum_id", "kind", source.OF_CONTEXT], TALKS, source.talks
        )

    @cached_property
    def turns(self) -> pl.DataFrame:
        columns = ["conversation_id", "forum_id", "kind", *source.OF_TURNS]
        return self._read("conversations", columns, TURNS, source.turn_rows)

    @cached_property
    def meta_reviews(self) -> pl.DataFrame:
        posts = self._read("meta_reviews", ["forum_id"], META_REVIEWS)
        papers = self._read("papers_full", ["forum_id", "decision_comment"], META_REVIEWS, _keep_commented)
        return pl.concat([posts, papers]).unique()

    def texts(self, kind: TextKind) -> Iterator[pl.DataFrame]:
        parts = _read_batches(self._release, _CONFIG_OF_TEXTS[kind], TEXT_COLUMNS[kind])
        return map(partial(select_texts, kind), parts)

    @cached_property
    def point_venues(self) -> Sequence[str] | None:
        """See `CorpusSource`; None for a release without the configuration `points`."""
        if not self._release.shards("points"):
            return None
        schema = {"venue_id": pl.String}
        return sorted(self._read("points", ["venue_id"], schema, pl.DataFrame.unique)["venue_id"].unique())

    def points(self) -> Iterator[pl.DataFrame]:
        """See `CorpusSource`; yields the points of all venues at once."""
        yield self._points

    @cached_property
    def _points(self) -> pl.DataFrame:
        answers = self._read("answers", list(venue_counts.ANSWERS), venue_counts.ANSWERS)
        lists = venue_counts.list_answers(answers)
        parts = _read_batches(self._release, "points", venue_counts.COLUMNS, venue_counts.POINT_ROWS)
        dated = venue_counts.DATED_REVIEWS
        return venue_counts.count_points(
            (venue_counts.with_answers(rows, lists) for rows in parts),
            self._read("reviews", list(dated), dated),
            answers.select("post_id"),
            self._read(
                "conversations",
                venue_counts.TALK_COLUMNS,
                venue_counts.REVIEWERS,
                lambda talks: venue_counts.find_unlinked(source.with_reviewers(talks)),
            ),
        )

    @cached_property
    def files(self) -> pl.DataFrame:
        return concat_frames([source.files(self._versions)], FILES)

    @property
    def set_aside(self) -> pl.DataFrame | None:
        """None: a release does not record it."""
        return None

    @property
    def listed(self) -> Mapping[str, bool | None] | None:
        """None: a release does not record it."""
        return None


def _read_batches(
    release: Release, config: str, columns: Sequence[str], rows: int = source.BATCH_ROWS
) -> Iterator[pl.DataFrame]:
    for path in (shard.path for shard in release.shards(config)):
        try:
            yield from source.read_columns([path], columns, rows)
        except (pa.ArrowException, OSError, pl.exceptions.PolarsError) as error:
            detail = str(error).partition("\n")[0]
            raise PeercorpusError(
                f"'{path}' of the release cannot be read ({detail}); take an intact copy, or publish it again."
            ) from None


_NEEDED_TABLES = ("1-papers", "2-reviews", "3-posts", "4-versions", "5-texts", "6-conversations")
_PAPER_COLUMNS = [
    *(name for name in PAPERS if name not in {"venue_id", "grade", "keywords"}),
    f"keywords.{source.ITEM}",
]
_ID_COLUMNS = ("record_id", "forum_id")
_DECISION_COLUMNS = ["decision", "decision_comment"]


class WorkspaceSource(CorpusSource):
    """The frames of a workspace, without rows that are taken down or not public."""

    def __init__(self, workspace: Workspace, counter: TokenCounter, spread: Executor | None = None) -> None:
        self.name = workspace.folder.resolve().name
        self.tokens = counter.says
        self.unit = counter.unit
        self.own_rows = {venue_id: find_row(workspace, venue_id) for venue_id in own_venues(workspace)}
        self._workspace = workspace
        self._tables = workspace.tables
        self._counter = counter
        self._spread = spread
        self._venues = choose_venues(self._tables, needed=_NEEDED_TABLES)
        self._takedown = read_takedown(workspace)
        self._rows = PublicRows(self._tables, self._takedown)

    @cached_property
    def _versions(self) -> pl.DataFrame:
        schema = {
            "forum_id": pl.String,
            "grade": pl.String,
            "path": pl.String,
            "sha256": pl.String,
            "moment": pl.String,
            "created_at": source.TIME,
        }
        parts = (rows for venue_id in self._venues for rows in self._rows.read(PaperVersion, venue_id, list(schema)))
        return concat_frames(parts, schema)

    @cached_property
    def papers(self) -> pl.DataFrame:
        papers = concat_frames(
            (part for venue_id in self._venues for part in self._read_venue_papers(venue_id)), PAPERS
        )
        graded = papers.drop("grade").join(source.best_grades(self._versions), on="forum_id", how="left")
        return graded.select(*PAPERS).sort("venue_id", "forum_id")

    def _read_venue_papers(self, venue_id: str) -> Iterator[pl.DataFrame]:
        """Yield the papers of a venue; a status known only from posts that are not public is null."""
        are_public = self._read_decision_posts(venue_id)
        for rows in self._rows.read(Paper, venue_id, [*_PAPER_COLUMNS, *_DECISION_COLUMNS]):
            decisions = rows.select("forum_id", *_DECISION_COLUMNS).iter_rows()
            hidden = [
                forum_id
                for forum_id, decision, comment in decisions
                if hides_decision(decision, comment, are_public.get(forum_id, []))
            ]
            is_shown = ~pl.col("forum_id").is_in(hidden)
            told = {name: pl.when(is_shown).then(pl.col(name)) for name in ("status", "decision_comment")}
            yield rows.with_columns(**told, venue_id=pl.lit(venue_id), grade=pl.lit(None, pl.String))

    def _read_decision_posts(self, venue_id: str) -> dict[str, list[bool]]:
        """For each paper, whether each of its posts that may contain a decision is public."""
        kinds = [kind.value for kind in SPOKEN]
        are_public: dict[str, list[bool]] = {}
        for rows in self._rows.read(Post, venue_id, ["forum_id", "kind", "readers_public", "deleted"]):
            spoken = rows.filter(pl.col("kind").is_in(kinds)).select("forum_id", IS_PUBLIC)
            for forum_id, is_public in spoken.iter_rows():
                are_public.setdefault(forum_id, []).append(is_public)
        return are_public

    @cached_property
    def reviews(self) -> pl.DataFrame:
        columns = ["review_id", "forum_id", "reviewer", *source.OF_SCORES]
        parts = (rows for venue_id in self._venues for rows in self._rows.read_public(Review, venue_id, columns))
        return concat_frames(map(source.overall_scores, parts), REVIEWS)

    @cached_property
    def review_times(self) -> pl.DataFrame:
        frames = (read_review_times(self._workspace, self._rows, venue_id) for venue_id in self._venues)
        return concat_frames(frames, source.REVIEW_TIMES)

    @cached_property
    def review_tokens(self) -> pl.DataFrame:
        if self._counter.is_kept:
            return concat_frames((self._kept[venue_id]["reviews"] for venue_id in self._venues), REVIEW_TOKENS)
        counts = (self._rows.count_reviews(venue_id, self._counter) for venue_id in self._venues)
        return concat_frames(counts, REVIEW_TOKENS)

    @cached_property
    def paper_tokens(self) -> pl.DataFrame:
        if self._counter.is_kept:
            counts: Iterable[pl.DataFrame] = (self._kept[venue_id]["files"] for venue_id in self._venues)
        else:
            wanted = self._wanted_files
            counts = (self._rows.count_files(venue_id, wanted[venue_id], self._counter) for venue_id in self._venues)
        counted = concat_frames(counts, TEXT_TOKENS)
        with_tokens = self._best_texts.join(counted.unique("sha256", keep="last", maintain_order=True), on="sha256")
        return concat_frames([with_tokens.sort("forum_id")], PAPER_TOKENS)

    @cached_property
    def _kept(self) -> Mapping[str, Mapping[str, pl.DataFrame]]:
        """The cached counts of each venue, in words and punctuation marks."""
        kept = KeptCounts(self._workspace.folder, self._rows, self._wanted_files, self._spread)
        return kept.by_venue

    @cached_property
    def _best_texts(self) -> pl.DataFrame:
        """The file with each paper's best text."""
        held = {sha256 for texts in self._held_texts.values() for sha256, has_words in texts.items() if has_words}
        return source.best_texts(self._versions, held)

    @cached_property
    def _wanted_files(self) -> dict[str, list[str]]:
        """For each venue, the files with the best text of a paper."""
        best = set(self._best_texts["sha256"])
        return {venue_id: sorted(best & texts.keys()) for venue_id, texts in self._held_texts.items()}

    @cached_property
    def _held_texts(self) -> Mapping[str, Mapping[str, bool]]:
        """For each venue, the files with a text, and whether a page of it has any character."""
        return {venue_id: self._find_texts(venue_id) for venue_id in self._venues}

    def _find_texts(self, venue_id: str) -> dict[str, bool]:
        texts: dict[str, bool] = {}
        paths = self._tables.paths("5-texts", venue_id)
        for rows in source.read_columns(paths, ["sha256", "characters_per_page"]):
            has_words = rows.select("sha256", pl.col("characters_per_page").fill_null(1.0) > 0)
            for sha256, is_worded in has_words.iter_rows():
                texts[sha256] = texts.get(sha256, False) or is_worded
        return texts

    @cached_property
    def _talks(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The conversations whose posts are all public, and their turns."""
        venues = [self._read_venue_talks(venue_id) for venue_id in self._venues]
        talks = concat_frames((talks for talks, _ in venues), TALKS)
        turns = concat_frames((turns for _, turns in venues), TURNS)
        return talks, turns

    def _read_venue_talks(self, venue_id: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        posts = concat_frames(self._rows.read_public(Post, venue_id, ["post_id", "forum_id"]), POST_IDS)
        talks, turns = [], []
        columns = ["conversation_id", "forum_id", "kind", *source.OF_TURNS, source.OF_CONTEXT]
        for rows in map(source.with_reviewers, self._rows.read(Conversation, venue_id, columns)):
            turn_rows = source.turn_rows(rows)
            turn_posts = turn_rows.select("conversation_id", "post_ids").explode("post_ids").drop_nulls()
            closed = turn_posts.join(posts, left_on="post_ids", right_on="post_id", how="anti")["conversation_id"]
            is_open = ~pl.col("conversation_id").is_in(closed.implode())
            beside = rows.filter(is_open).explode("context").unnest("context").drop_nulls("post_id")
            counts = beside.join(posts, on="post_id").group_by("conversation_id").agg(responses=pl.len())
            open_talks = rows.filter(is_open).select("conversation_id", "forum_id")
            talks.append(
                open_talks.join(counts, on="conversation_id", how="left").with_columns(pl.col("responses").fill_null(0))
            )
            turns.append(turn_rows.filter(is_open))
        return concat_frames(talks, TALKS), concat_frames(turns, TURNS)

    @property
    def talks(self) -> pl.DataFrame:
        return self._talks[0]

    @property
    def turns(self) -> pl.DataFrame:
        return self._talks[1]

    @cached_property
    def meta_reviews(self) -> pl.DataFrame:
        venues = (self._find_meta_reviewed(venue_id) for venue_id in self._venues)
        return concat_frames(venues, META_REVIEWS).unique()

    def _find_meta_reviewed(self, venue_id: str) -> pl.DataFrame:
        """Return the papers of a venue with a public meta-review, or with a comment that is not hidden everywhere."""
        columns = ["forum_id", "kind", "readers_public", "deleted", "text", "meta_review"]
        is_spoken = pl.col("kind").is_in([kind.value for kind in SPOKEN])
        schema = {"forum_id": pl.String, "text": pl.String, "is_public": pl.Boolean, "is_one": pl.Boolean}
        parts = (
            rows.filter(is_spoken | IS_META_REVIEW).with_columns(is_public=IS_PUBLIC, is_one=IS_META_REVIEW)
            for rows in self._rows.read(Post, venue_id, columns)
        )
        posts = concat_frames(parts, schema)
        commented = concat_frames(
            map(_keep_commented, self._read_venue_papers(venue_id)),
            {"forum_id": pl.String, "decision_comment": pl.String},
        )
        holders = posts.join(commented, on="forum_id").filter(
            pl.col("text").str.contains(pl.col("decision_comment"), literal=True)
        )
        hidden = holders.group_by("forum_id").agg(pl.col("is_public").any()).filter(~pl.col("is_public"))
        shown = commented.join(hidden, on="forum_id", how="anti").select("forum_id")
        return pl.concat([posts.filter("is_public", "is_one").select("forum_id"), shown])

    def texts(self, kind: TextKind) -> Iterator[pl.DataFrame]:
        return (rows for venue_id in self._venues for rows in self._rows.texts(kind, venue_id))

    def marked(self, kind: TextKind) -> Iterator[pl.DataFrame]:
        return (self._kept[venue_id][kind.name] for venue_id in self._venues)

    @cached_property
    def point_venues(self) -> Sequence[str] | None:
        split = set(self._tables.venues(self._tables.name_of(Point)))
        return [venue_id for venue_id in self._venues if venue_id in split]

    def points(self) -> Iterator[pl.DataFrame]:
        return (self._kept[venue_id]["points"] for venue_id in self._venues)

    @cached_property
    def files(self) -> pl.DataFrame:
        return concat_frames([source.files(self._versions)], FILES)

    @cached_property
    def set_aside(self) -> pl.DataFrame | None:
        return concat_frames(
            (part for venue_id in self._tables.venues("set-aside") for part in self._count_venue_set_aside(venue_id)),
            SET_ASIDE,
        )

    def _count_venue_set_aside(self, venue_id: str) -> Iterator[pl.DataFrame]:
        """Count the rows set aside at a venue by paper, stage and reason, without rows that are taken down."""
        gone = {*self._takedown.forums, *self._takedown.posts}
        for path in self._tables.paths("set-aside", venue_id):
            stage = unquote(path.parent.name.partition("=")[2])
            for rows in source.read_columns([path], ["record_id", "forum_id", "reason"]):
                is_gone = pl.any_horizontal(pl.col(name).is_in(gone).fill_null(value=False) for name in _ID_COLUMNS)
                counts = rows.filter(~is_gone).group_by("forum_id", "reason").agg(rows=pl.len())
                yield counts.with_columns(venue_id=pl.lit(venue_id), stage=pl.lit(stage))

    @cached_property
    def listed(self) -> Mapping[str, bool | None] | None:
        return {venue_id: self._workspace.raw.state.is_listed(venue_id) for venue_id in self._venues}


def _keep_commented(papers: pl.DataFrame) -> pl.DataFrame:
    """Return the papers whose decision has a comment; in published records, this is the meta-review."""
    return papers.filter(pl.col("decision_comment").str.len_bytes() > 0)
