"""Read the papers of a release back as records, one after another, in bounded memory."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.corpus.texts import HeldText
from peercorpus.errors import PeercorpusError
from peercorpus.explorer.site.extras import Extra
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.documents import PAGE_BREAK, Change
from peercorpus.records.enums import PostKind, Role, Status
from peercorpus.records.papers import Evidence, Link, Paper, PaperVersion
from peercorpus.records.points import AnswerMethod, KindSource, Point, PointAnswer
from peercorpus.records.reviews import Conversation, Post, Review, join_prose, select_own
from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH
from peercorpus.release.folder import Release, open_release
from peercorpus.release.point_rows import BY_MODEL
from peercorpus.release.record_rows import Row
from peercorpus.workspace.hub_datasets import SCHEME


def make_points(points: Sequence[Row], answers: Sequence[Row], forum: PublicForum) -> Iterator[Point]:
    """Yield the points of a paper's reviews, with the answers and reactions whose posts are in the release.

    Raises:
        msgspec.ValidationError: A row has another form.
    """
    by_point: dict[str, list[Row]] = {}
    for answer in answers:
        if answer["post_id"] in forum.by_id:
            by_point.setdefault(answer["point_id"], []).append(answer)
    reviews = {review.review_id for review in forum.reviews}
    for row in points:
        if row["review_id"] in reviews:
            yield _make_point(row, by_point.get(row["point_id"], ()), reviews | forum.by_id.keys())


def _make_point(row: Row, answers: Sequence[Row], shown: set[str]) -> Point:
    reaction = None
    if row["reaction"] is not None and row["reaction_post_id"] in shown:
        reaction = {
            "reaction": row["reaction"],
            "scope": row["reaction_scope"],
            "text": row["reaction_text"],
            "post_id": row["reaction_post_id"],
            "created_at": row["reacted_at"],
        }
    more: dict[str, Any] = {"answers": (), "reaction": reaction}
    if reaction is None:
        more["score_changes"] = ()
    if row["kind_source"] == BY_MODEL:
        more["kind_source"] = KindSource.NONE
    point = replace(msgspec.convert(row | more, Point), answers=tuple(map(_make_answer, answers)))
    # `points_of_paper` has words for what a model found as well, which no table contains.
    return replace(point, kind_source=cast(KindSource, BY_MODEL)) if row["kind_source"] == BY_MODEL else point


def _make_answer(row: Row) -> PointAnswer:
    if row["method"] != BY_MODEL:
        return msgspec.convert(row, PointAnswer)
    answer = msgspec.convert(row | {"method": AnswerMethod.ORDER, "confidence": 0.0}, PointAnswer)
    return replace(answer, method=cast(AnswerMethod, BY_MODEL), confidence=cast(float, None))


def make_changes(rows: Sequence[Row], forum: PublicForum) -> list[Change]:
    """Return the changes between those versions of a paper that are in the release.

    Raises:
        msgspec.ValidationError: A row has another form.
    """
    files = {version.sha256 for version in forum.versions}
    shown = (row for row in rows if {row["left_sha256"], row["right_sha256"]} <= files)
    return [msgspec.convert(row, Change) for row in shown]


RecordT = TypeVar("RecordT")
_BESIDE = ("conversations", "versions", "ai_reviews")
"""Configurations whose rows follow the papers in the same order."""
_OF_EXTRAS = {Extra.POINTS: ("points", "answers"), Extra.CHANGES: ("changes",)}
"""Further ones, by the extra that needs them."""
_HUB_NAME = re.compile(rf"(?:(?:.*/)?{SCHEME})?(?P<name>[A-Za-z0-9][\w.-]*/[\w.-]+)(?:@[\w.-]+)?")
_TEXT = "markdown"
_UNREAD = {_TEXT, "reviews_json"}
_SHOWN = {"readers_public": True, "deleted": False}
"""A release holds nothing else."""


@dataclass(frozen=True, slots=True)
class PaperRows:
    """The rows of one paper, by configuration, with the links to other submissions of the same work."""

    paper: Row
    beside: Mapping[str, Sequence[Row]]
    links: Sequence[Row] = ()

    @property
    def text(self) -> HeldText | None:
        """The paper's text; None if the release has none, or texts are not read."""
        markdown = self.paper.get(_TEXT)
        engine = self.paper["text_engine"] or "an engine not known"
        return HeldText(markdown.split(PAGE_BREAK), engine, []) if markdown else None


class _Beside:
    """Takes rows of one configuration, paper by paper, in the order of the papers."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._groups = groupby(rows, lambda row: (row["venue_id"], row["forum_id"]))
        self._next: tuple[tuple[str, str], list[Row]] | None = None
        self._advance()

    def _advance(self) -> None:
        key, rows = next(self._groups, (None, iter(())))
        self._next = None if key is None else (key, list(rows))

    def take(self, paper: Row) -> list[Row]:
        if self._next is None or self._next[0] != (paper["venue_id"], paper["forum_id"]):
            return []
        rows = self._next[1]
        self._advance()
        return rows

    @property
    def left(self) -> str | None:
        """The forum id whose rows come next; None at the end."""
        return None if self._next is None else self._next[0][1]


def open_for_site(folder: Path) -> Release:
    """Open a release that has what a site is made of.

    Raises:
        PeercorpusError: The folder is not such a release; the error says how to get one.
    """
    named = None if folder.exists() else _HUB_NAME.fullmatch(folder.as_posix())
    if named:
        raise PeercorpusError(
            f"'{named['name']}' is not a folder; download a release of the Hub first: hf download {named['name']}"
            " --repo-type dataset --local-dir RELEASE"
        )
    release = open_release(folder)
    require_tables(release)
    return release


def require_tables(release: Release) -> None:
    """Check that a release has the tables from which pages are made.

    Raises:
        PeercorpusError: It has the layout of ReviewBench, or lacks its papers.
    """
    configs = {shard.config for shard in release.shards()}
    if DEFAULT_OF_REVIEWBENCH in configs:
        raise PeercorpusError(
            f"The release '{release.folder}' has the layout 'reviewbench', which has no tables of conversations; name"
            " one of the layout 'peercorpus'."
        )
    if "papers_full" not in configs:
        raise PeercorpusError(f"The release '{release.folder}' has no papers; publish it again.")


def read_rows(release: Release, extras: Collection[Extra] = ()) -> Iterator[PaperRows]:
    """Yield the rows of every paper, in the order of the release, with those that extras need.

    Raises:
        PeercorpusError: A file cannot be read, or the rows of a paper are not in the order of the papers.
    """
    unread = _UNREAD - {_TEXT} if Extra.TEXTS in extras else _UNREAD
    configs = [*_BESIDE, *(config for extra in extras for config in _OF_EXTRAS.get(extra, ()))]
    links: dict[str, list[Row]] = {}
    for row in release.rows("links", None, None):
        for forum_id in {row["forum_id"], row["earlier_id"]}:
            links.setdefault(forum_id, []).append(row)
    for split in dict.fromkeys(shard.split for shard in release.shards("papers_full")):
        columns = [name for name in release.shards("papers_full", split)[0].schema().names if name not in unread]
        beside = {config: _Beside(release.rows(config, split, None)) for config in configs}
        for paper in release.rows("papers_full", split, columns):
            rows = {config: reader.take(paper) for config, reader in beside.items()}
            yield PaperRows(paper, rows, links.get(paper["forum_id"], ()))
        for config, reader in beside.items():
            if reader.left is not None:
                raise PeercorpusError(
                    f"The rows of '{reader.left}' in '{config}' do not follow its paper; publish the release again."
                )


@cache
def _read_fields(record_type: type) -> tuple[Sequence[str], Mapping[str, bool]]:
    """Return the fields of a record, and whether each field with a default may be None."""
    every = fields(record_type)
    return [one.name for one in every], {one.name: one.default is None for one in every if one.default is not MISSING}


def _make_record(record_type: type[RecordT], row: Row, **more: object) -> RecordT:
    """Return a row as a record; columns that it lacks are None, or have their default."""
    names, defaults = _read_fields(cast(type, record_type))
    values = {name: row.get(name) for name in names}
    kept = {name: value for name, value in values.items() if value is not None or defaults.get(name, True)}
    return msgspec.convert(kept | more, record_type)


def _make_reviews_post(review: Review) -> Post | None:
    """Return a changed review as the post whose text it is, before and after; None if it is not known to differ."""
    if not review.initial_sections:
        return None
    before, after = (
        join_prose({section.field: section.text for section in sections})
        for sections in (review.first_sections, select_own(review.sections))
    )
    return Post(
        post_id=review.review_id,
        forum_id=review.forum_id,
        venue_id=review.venue_id,
        reply_to=None,
        kind=PostKind.REVIEW,
        role=Role.REVIEWER,
        invitation="",
        signature=review.reviewer,
        created_at=review.created_at,
        modified_at=review.modified_at,
        title=review.title,
        text=after,
        readers_public=True,
        deleted=False,
        extra="{}",
        initial_text=before,
    )


def make_forum(rows: PaperRows) -> PublicForum:
    """Return the rows of a paper as records; points and changes are empty if they are not read.

    Raises:
        PeercorpusError: A row is not in the form that this version publishes.
    """
    try:
        return _convert(rows.paper, rows)
    except msgspec.ValidationError as error:
        raise PeercorpusError(
            f"The rows of the paper '{rows.paper['forum_id']}' cannot be read ({error}); publish the release again."
        ) from None


def _convert(paper: Row, rows: PaperRows) -> PublicForum:
    place: dict[str, Any] = {name: paper[name] for name in ("forum_id", "venue_id")} | _SHOWN
    reviews = [_make_record(Review, row, **place) for row in paper["reviews"]]
    posts = [_make_record(Post, row, **place) for row in paper["posts"]]
    posts += [post for post in map(_make_reviews_post, reviews) if post is not None]
    forum = PublicForum(
        paper=_make_record(
            Paper, paper, number=paper["paper_number"], status=paper["status"] or Status.UNKNOWN, extra="{}"
        ),
        reviews=reviews,
        posts=posts,
        versions=[
            _make_record(PaperVersion, row, evidence=_make_record(Evidence, row)) for row in rows.beside["versions"]
        ],
        conversations=[_make_record(Conversation, row) for row in rows.beside["conversations"]],
        ai_reviews=[
            _make_record(AiReview, row | {"replies": [reply | _SHOWN for reply in row["replies"]]}, **place)
            for row in rows.beside["ai_reviews"]
        ],
        links=[_make_record(Link, row) for row in rows.links],
    )
    points, answers, changes = (rows.beside.get(config, ()) for config in ("points", "answers", "changes"))
    return replace(forum, points=list(make_points(points, answers, forum)), changes=make_changes(changes, forum))
