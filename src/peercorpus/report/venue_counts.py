"""Count the texts of one venue, and cache the counts by a digest of their inputs.

Reading and counting texts is nearly all the work of a report. Only numbers by paper and review are cached, never a
text; a venue is counted again only if its rows or its take-downs changed.
"""

import hashlib
import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import polars as pl
import pyarrow as pa

from peercorpus.corpus.forums import PARTS, Forum, read_forum
from peercorpus.corpus.public_forums import PublicFilter, read_contents
from peercorpus.corpus.takedown import Takedown
from peercorpus.errors import TryLaterError
from peercorpus.execution.executor import Executor, Failure
from peercorpus.metrics.marked_share import marker_words
from peercorpus.models.token_counts import TokenCounter, words_and_signs
from peercorpus.openreview.objects import decode_leniently
from peercorpus.records.arrow_schema import to_arrow
from peercorpus.records.enums import PostKind, Role
from peercorpus.records.papers import Paper
from peercorpus.records.points import CRITICAL_KINDS, Point
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.release.venue_groups import find_taken
from peercorpus.report import source
from peercorpus.report.source import (
    ITEM,
    MARKED,
    POINTS,
    REVIEW_TIMES,
    REVIEW_TOKENS,
    TEXTS,
    TIME,
    Schema,
    TextKind,
    concat_frames,
)
from peercorpus.venues.own_venues import own_venue
from peercorpus.workspace.delta_tables import Tables, open_for_worker
from peercorpus.workspace.object_store import Location
from peercorpus.workspace.private_files import make_private_folder, require_own
from peercorpus.workspace.raw_store import RawKind, RawStore
from peercorpus.workspace.workspace import Workspace

COLUMNS = ("point_id", "forum_id", "review_id", "reviewer", "kind", "aspect")
_OF_ANSWERS = ("post_id", "confidence", "created_at")
POINT_COLUMNS = (*COLUMNS, *(f"answers.{ITEM}.{name}" for name in _OF_ANSWERS))
"""Columns read from the table of points."""
ANSWERS: Schema = {"point_id": pl.String, "post_id": pl.String, "confidence": pl.Float64, "created_at": TIME}
"""Columns read from the configuration of a release with the answers."""
POINT_ROWS = 1 << 16
"""Points in memory at once, without their words."""
DATED_REVIEWS: Schema = {"review_id": pl.String, "created_at": TIME}
POST_IDS: Schema = {"post_id": pl.String}
TALK_COLUMNS = ("forum_id", "kind", "reviewer", f"turns.{ITEM}.role", f"turns.{ITEM}.post_ids.{ITEM}")
REVIEWERS: Schema = {"forum_id": pl.String, "reviewer": pl.String}
_DAY_US = 86_400_000_000
_KINDS = sorted(kind.value for kind in CRITICAL_KINDS)
_ALIKE = [name for name in POINTS if name != "points"]


def find_unlinked(talks: pl.DataFrame) -> pl.DataFrame:
    """Return the reviewers whom the authors answered in words without a known post, in the columns of `REVIEWERS`.

    Conversations in published records are like this: answers are searched for in posts, and may be missed. They have
    `TALK_COLUMNS`, and are with reviewers.
    """
    turn = pl.element().struct
    is_unlinked = (turn.field("role") == Role.AUTHOR.value) & (turn.field("post_ids").list.len() == 0)
    return talks.filter(pl.col("turns").list.eval(is_unlinked).list.any()).select(*REVIEWERS)


def list_answers(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the answers of a release, in `ANSWERS`, as a list for each point, with its `point_id`."""
    return answers.group_by("point_id").agg(answers=pl.struct(*_OF_ANSWERS))


def with_answers(points: pl.DataFrame, lists: pl.DataFrame) -> pl.DataFrame:
    """Return points of a release, which have `COLUMNS`, with the lists of their answers, as `POINT_COLUMNS`."""
    return points.join(lists, on="point_id", how="left", maintain_order="left").with_columns(
        pl.col("answers").fill_null([])
    )


def count_points(
    parts: Iterable[pl.DataFrame], reviews: pl.DataFrame, posts: pl.DataFrame, unlinked: pl.DataFrame
) -> pl.DataFrame:
    """Count the points of a venue or a release in the columns of `source.POINTS`.

    Args:
        parts: Its points in batches, with `POINT_COLUMNS`.
        reviews: Its public reviews, in `DATED_REVIEWS`; points of others are left out.
        posts: Its public posts, in `POST_IDS`; answers in others are left out.
        unlinked: The result of `find_unlinked` for its conversations.
    """
    flags = unlinked.unique().with_columns(is_unlinked=pl.lit(value=True))
    dated = reviews.rename({"created_at": "reviewed_at"})
    counted = concat_frames((_count_batch(rows, dated, posts, flags) for rows in parts), POINTS)
    # The points of a review may be in two batches.
    return counted.group_by(_ALIKE, maintain_order=True).agg(pl.col("points").sum())


def _count_batch(rows: pl.DataFrame, reviews: pl.DataFrame, posts: pl.DataFrame, flags: pl.DataFrame) -> pl.DataFrame:
    asking = rows.filter(pl.col("kind").is_in(_KINDS)).join(reviews, on="review_id", maintain_order="left")
    known = (
        asking.join(_find_first(asking, posts), on="point_id", how="left", maintain_order="left")
        .join(flags, on=list(REVIEWERS), how="left", maintain_order="left")
        .with_columns(
            answered=pl.when("has_answer")
            .then(pl.lit(value=True))
            .when(pl.col("is_unlinked").is_null())
            .then(pl.lit(value=False)),
            days=(pl.col("answered_at") - pl.col("reviewed_at")).dt.total_microseconds() / _DAY_US,
        )
    )
    return known.group_by(_ALIKE, maintain_order=True).agg(points=pl.len().cast(pl.Int64))


def _find_first(asking: pl.DataFrame, posts: pl.DataFrame) -> pl.DataFrame:
    """Return, for each point with public answers, their highest confidence, the time of the first, and `has_answer`.

    The confidence is null if a model found all of them. The time is null if that of any answer is unknown, since that
    one may be the first.
    """
    answered = asking.select("point_id", "answers").filter(pl.col("answers").list.len() > 0)
    answers = answered.explode("answers").unnest("answers").join(posts, on="post_id", how="semi")
    is_dated = pl.col("created_at").is_not_null().all()
    first = answers.group_by("point_id", maintain_order=True).agg(
        pl.col("confidence").max(), answered_at=pl.when(is_dated).then(pl.col("created_at").min())
    )
    return first.with_columns(has_answer=pl.lit(value=True))


FOLDER = "report"
"""Folder of a workspace with cached counts."""
_PARTIAL = "partial-"
_SHA256_BYTES = 32
_OWN_NAME = re.compile(rf"[0-9a-f]{{64}}\.counts|{re.escape(_PARTIAL)}.*")
"""Names of the cache files; other files in the folder are not ours."""
VERSION = 2
"""Increased when the same rows would give different counts."""
_TIMEOUT_S = 3_600.0
"""Time limit for one venue in seconds; 1,840 papers take three."""
_FEW_BYTES = 16 << 20
"""Maximum size of tables that are counted in this process, since other processes take time to start."""
TEXT_TOKENS: Schema = {"sha256": pl.String, "tokens": pl.Int64}
IS_PUBLIC = pl.col("readers_public") & ~pl.col("deleted")
"""Whether everyone may read a post or a review."""
IS_META_REVIEW = pl.col("kind").eq(PostKind.META_REVIEW.value) | pl.col("meta_review").is_not_null()
"""Whether a post is a meta-review, or a decision that contains one."""
_FORUM_FIELDS: Mapping[type, str] = {Paper: "paper", **{kind: name for name, kind in PARTS.items()}}
TEXT_COLUMNS: Mapping[TextKind, Sequence[str]] = {
    TextKind.REVIEWS: ("forum_id", "created_at", *source.OF_SECTIONS),
    TextKind.REPLIES: (*TEXTS, "kind", "role"),
    TextKind.META_REVIEWS: tuple(TEXTS),
}


def select_texts(kind: TextKind, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `TEXTS` from reviews or posts with `TEXT_COLUMNS`."""
    if kind is TextKind.REVIEWS:
        return source.review_texts(rows)
    return source.reply_texts(rows) if kind is TextKind.REPLIES else rows.select(*TEXTS)


class PublicRows:
    """The rows of a workspace's tables, without those taken down."""

    def __init__(self, tables: Tables, takedown: Takedown) -> None:
        self.tables = tables
        self.takedown = takedown
        self._touched = [forum_id for forum_id, _ in takedown.venues]
        self._remaining: dict[str, list[Forum]] = {}

    def _touched_forums(self, venue_id: str) -> list[Forum]:
        """Return the remaining rows of each paper of a venue with a take-down."""
        if venue_id not in self._remaining:
            public_filter = PublicFilter(self.takedown)
            forum_ids = [forum_id for forum_id, of_venue in self.takedown.venues if of_venue == venue_id]
            forums = [read_forum(self.tables, venue_id, forum_id) for forum_id in forum_ids]
            sifted = [public_filter.sift(forum) for forum in forums if forum is not None]
            self._remaining[venue_id] = [forum for forum in sifted if forum is not None]
        return self._remaining[venue_id]

    def read(self, kind: type, venue_id: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield columns of a venue's rows in batches; papers with a take-down come last, without the removed rows."""
        paths = self.tables.paths(self.tables.name_of(kind), venue_id)
        for rows in source.read_columns(paths, columns):
            yield rows.filter(~pl.col("forum_id").is_in(self._touched)) if self._touched else rows
        records: list[object] = []
        for forum in self._touched_forums(venue_id):
            value = getattr(forum, _FORUM_FIELDS[kind])
            records += [value] if kind is Paper else value
        if records:
            names = list(dict.fromkeys(name.partition(".")[0] for name in columns))
            table: pa.Table = to_arrow(kind, records)
            yield source.from_batch(table.select(names))

    def read_public(self, kind: type, venue_id: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield columns of the reviews or posts of a venue that everyone may read."""
        for rows in self.read(kind, venue_id, [*columns, "readers_public", "deleted"]):
            yield rows.filter(IS_PUBLIC)

    def texts(self, kind: TextKind, venue_id: str) -> Iterator[pl.DataFrame]:
        """Yield the public texts of a kind of a venue in batches, in the columns of `TEXTS`."""
        if kind is TextKind.META_REVIEWS:
            posts = self.read_public(Post, venue_id, [*TEXT_COLUMNS[kind], "kind", "meta_review"])
            return (select_texts(kind, rows.filter(IS_META_REVIEW)) for rows in posts)
        record = Review if kind is TextKind.REVIEWS else Post
        return (select_texts(kind, rows) for rows in self.read_public(record, venue_id, TEXT_COLUMNS[kind]))

    def count_reviews(self, venue_id: str, counter: TokenCounter) -> pl.DataFrame:
        """Count the tokens of each public review of a venue, in the columns of `REVIEW_TOKENS`."""
        every = self.read_public(Review, venue_id, ["review_id", "forum_id", *source.OF_SECTIONS])
        return concat_frames(source.review_tokens(every, counter), REVIEW_TOKENS)

    def count_files(self, venue_id: str, sha256s: Sequence[str], counter: TokenCounter) -> pl.DataFrame:
        """Count the tokens of the texts of some files of a venue, in the columns of `TEXT_TOKENS`."""
        paths = self.tables.paths("5-texts", venue_id)
        wanted = set(sha256s)
        texts = (
            rows.filter(pl.col("sha256").is_in(wanted))
            for rows in source.read_columns(paths, ["sha256", "markdown"], source.TEXT_ROWS)
        )
        return concat_frames(counter.counted(texts, "markdown"), TEXT_TOKENS)

    def measure(self, kind: TextKind, venue_id: str) -> pl.DataFrame:
        """Measure the marked share of each text of a kind of a venue, in the columns of `MARKED`."""
        return concat_frames(map(source.measure_marked, self.texts(kind, venue_id)), MARKED)

    def count_points(self, venue_id: str) -> pl.DataFrame:
        """Count the points of a venue's public reviews that ask for an answer, in the columns of `POINTS`."""
        paths = self.tables.paths(self.tables.name_of(Point), venue_id)
        if not paths:
            return pl.DataFrame(schema=dict(POINTS))
        reviews = self.read_public(Review, venue_id, ["review_id", "created_at", "forum_id"])
        posts = self.read_public(Post, venue_id, ["post_id", "forum_id"])
        talks = map(source.with_reviewers, self.read(Conversation, venue_id, TALK_COLUMNS))
        return count_points(
            source.read_columns(paths, POINT_COLUMNS, POINT_ROWS),
            concat_frames(reviews, DATED_REVIEWS),
            concat_frames(posts, POST_IDS),
            concat_frames(map(find_unlinked, talks), REVIEWERS),
        )


@dataclass(frozen=True, slots=True)
class CountJob:
    """The counting of one venue, to be done by this process or another.

    Attributes:
        scratch: A local folder for files that are not complete yet.
        sha256s: Files of the venue whose texts are counted.
        contents: Digests of the venue's rows, by table.
    """

    tables: Location
    scratch: Path
    takedown: Takedown
    venue_id: str
    sha256s: Sequence[str]
    contents: Mapping[str, str]
    path: Path


def count_venue(job: CountJob, opened: Tables | None = None) -> bool:
    """Count the texts of a venue and store the counts; return whether the tables are still those of the job."""
    tables = opened or open_for_worker(job.tables, job.scratch)
    if read_contents(tables, job.venue_id) != job.contents:
        return False
    rows, counter = PublicRows(tables, job.takedown), words_and_signs()
    frames = {
        "reviews": rows.count_reviews(job.venue_id, counter),
        "files": rows.count_files(job.venue_id, job.sha256s, counter),
        "points": rows.count_points(job.venue_id),
        **{kind.name: rows.measure(kind, job.venue_id) for kind in TextKind},
    }
    _write_frames(job.path, frames)
    return True


def _write_frames(path: Path, frames: Mapping[str, pl.DataFrame]) -> None:
    """Write frames as one file, completely or not at all."""
    content = msgspec.msgpack.encode(
        {name: frame.write_ipc(None, compression="zstd").getvalue() for name, frame in frames.items()}
    )
    descriptor, partial = tempfile.mkstemp(prefix=_PARTIAL, dir=path.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(hashlib.sha256(content).digest() + content)
        file.flush()
        os.fsync(file.fileno())
    Path(partial).replace(path)


def _is_whole(path: Path) -> bool:
    """Return whether a file exists and is intact."""
    if not path.is_file():
        return False
    content = path.read_bytes()
    return hashlib.sha256(content[_SHA256_BYTES:]).digest() == content[:_SHA256_BYTES]


def _read_frames(path: Path) -> dict[str, pl.DataFrame]:
    contents = msgspec.msgpack.decode(path.read_bytes()[_SHA256_BYTES:], type=dict[str, bytes])
    return {name: pl.read_ipc(content) for name, content in contents.items()}


@contextmanager
def _open_folder(workspace: Path) -> Iterator[Path]:
    """Open the folder with cached counts, or a temporary one if the workspace cannot be written."""
    folder = workspace / FOLDER
    require_own(folder)
    with suppress(OSError):
        make_private_folder(folder)
    if folder.is_dir() and os.access(folder, os.W_OK):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="peercorpus-report-") as temporary:
        yield Path(temporary)


def _clear(folder: Path, kept: Set[Path]) -> None:
    """Remove outdated counts, and files left by killed processes."""
    for path in folder.iterdir():
        is_written_now = path.name.startswith(_PARTIAL) and time.time() - path.stat().st_mtime < _TIMEOUT_S
        if path not in kept and not is_written_now and _OWN_NAME.fullmatch(path.name):
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class KeptCounts:
    """The counts of a workspace's venues, cached in its folder `report`.

    Attributes:
        files: For each venue, its files whose texts are counted.
        spread: Executor for counting; None counts in this process.
    """

    workspace: Path
    rows: PublicRows
    files: Mapping[str, Sequence[str]]
    spread: Executor | None = None

    @cached_property
    def by_venue(self) -> Mapping[str, Mapping[str, pl.DataFrame]]:
        """Counts of each venue: `reviews`, `files`, `points`, and for each `TextKind` under its name the marked shares.

        Raises:
            DamagedError: A table is damaged.
        """
        with _open_folder(self.workspace) as folder:
            with self.rows.tables.looking_once():
                jobs = [self._make_job(folder, venue_id) for venue_id in self.files]
            self._count([job for job in jobs if not _is_whole(job.path)])
            counts = {job.venue_id: _read_frames(job.path) for job in jobs}
            _clear(folder, {job.path for job in jobs})
            return counts

    def _make_job(self, folder: Path, venue_id: str) -> CountJob:
        tables, takedown = self.rows.tables, self.rows.takedown
        contents = read_contents(tables, venue_id)
        taken = find_taken(tables, venue_id, takedown)
        words = hashlib.sha256(" ".join(sorted(marker_words())).encode()).hexdigest()
        inputs = [VERSION, venue_id, contents, taken, words, sorted(self.files[venue_id])]
        key = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
        files, path = self.files[venue_id], folder / f"{key}.counts"
        return CountJob(tables.folder, folder, takedown, venue_id, files, contents, path)

    def _count(self, jobs: Sequence[CountJob]) -> None:
        """Count venues, the largest first, so that no process waits long for another at the end."""
        sizes = Counter[str]()
        for name in ("2-reviews", "3-posts", "5-texts"):
            for part in self.rows.tables.parts(name):
                sizes[part.values["venue_id"]] += part.size_bytes
        ordered = sorted(jobs, key=lambda job: -sizes[job.venue_id])
        if self.spread is not None and len(jobs) > 1 and sum(sizes[job.venue_id] for job in jobs) > _FEW_BYTES:
            workers = min(os.cpu_count() or 1, len(jobs))
            done = self.spread(count_venue, ordered, timeout_s=_TIMEOUT_S, workers=workers)
            # A job that failed in another process raises its own error here.
            ordered = [job for job, outcome in done if isinstance(outcome, Failure) or not outcome]
        with self.rows.tables.looking_once():
            for job in ordered:
                if not count_venue(job, self.rows.tables):
                    raise TryLaterError(
                        "The tables changed while the report was being made; run the same command again."
                    )


class _Due(msgspec.Struct):
    """The due date of an invitation, in milliseconds since the epoch, UTC."""

    duedate: int | None = None


def read_review_times(workspace: Workspace, rows: PublicRows, venue_id: str) -> pl.DataFrame:
    """Return when each public review of a venue was posted and due, in the columns of `REVIEW_TIMES`.

    The `review_deadline` of the user's row takes precedence, then the due date of the paper's own invitation, which
    chairs may extend, then that of the venue's invitation with the review form.

    Raises:
        VenuesFileError: The user's file is not valid.
    """
    schema = {"review_id": pl.String, "forum_id": pl.String, "created_at": TIME, "form_id": pl.String}
    reviews = concat_frames(rows.read_public(Review, venue_id, list(schema)), schema)
    own = own_venue(workspace, venue_id)
    if own is not None and own.review_deadline is not None:
        return reviews.with_columns(due_at=pl.lit(own.review_deadline.at, TIME)).select(*REVIEW_TIMES)
    posts = concat_frames(
        (
            batch.filter(pl.col("kind") == "review")
            for batch in rows.read(Post, venue_id, ["post_id", "forum_id", "invitation", "kind"])
        ),
        {"post_id": pl.String, "invitation": pl.String},
    )
    named = reviews.join(posts, left_on="review_id", right_on="post_id", how="left", maintain_order="left")
    due_dates = {name: _find_due(workspace.raw, name) for name in {*named["invitation"], *named["form_id"]} if name}
    due_ms = [
        due_dates.get(own_name) or due_dates.get(form_id)
        for own_name, form_id in named.select("invitation", "form_id").iter_rows()
    ]
    due_at = pl.Series(due_ms, dtype=pl.Int64).cast(pl.Datetime("ms", "UTC")).cast(TIME)
    return named.with_columns(due_at=due_at).select(*REVIEW_TIMES)


def _find_due(raw: RawStore, invitation_id: str) -> int | None:
    invitation = raw.find(RawKind.INVITATION, invitation_id)
    return decode_leniently(_Due, invitation.body).duedate if invitation else None
