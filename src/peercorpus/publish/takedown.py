"""What a workspace's `takedown.txt` takes out of every export: papers and posts, found in the tables and in raw.db."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from peercorpus.publish.takedown_list import is_author_id, read_list, salted
from peercorpus.raw import Kind, RawObject, RawStore
from peercorpus.records import PaperVersion
from peercorpus.tables import Tables
from peercorpus.workspace import Workspace

TOMBSTONE = "takedown.json"
RECORDS = ("papers", "reviews", "posts", "versions", "conversations")
ID_COLUMNS = {"1-papers": "forum_id", "2-reviews": "review_id", "3-posts": "post_id"}
PEOPLE = {"signatures", "authorids", "username"}
"""Where a note names accounts; the last one stands beside a name in the list of authors."""


class IdKind(StrEnum):
    """What an id that is taken down names."""

    FORUM = "forum"
    NOTE = "note"
    AUTHOR = "author"
    NOTHING = "nothing"
    """Nothing in the tables has it."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One id of the list, and what it takes out.

    Attributes:
        forums: Papers that go as a whole.
        posts: Reviews and other posts that go.
    """

    listed: str
    kind: IdKind
    forums: frozenset[str] = frozenset()
    posts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Takedown:
    """All that is taken down of a workspace.

    Attributes:
        forums: Papers that go as a whole.
        posts: Reviews and other posts that go.
        files: sha256 of every file of those papers: the same file is nobody else's text either.
        venues: Of every paper concerned, by its id.
    """

    ids: tuple[Listed, ...] = ()
    forums: frozenset[str] = frozenset()
    posts: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    venues: tuple[tuple[str, str], ...] = ()


NOTHING = Takedown()


def read_takedown(workspace: Workspace) -> Takedown:
    """What the list of a workspace takes out, of all its venues.

    Raises:
        PeercorpusError: A line of the list can be no id.
    """
    ids = read_list(workspace.folder)
    if not ids:
        return NOTHING
    authors = {one for one in ids if is_author_id(one)}
    named = _named_by(workspace.raw, authors) if authors else {}
    wanted = {note_id for found in named.values() for note_id in found} | (set(ids) - authors)
    forums, posts = _held(workspace.tables, wanted)
    listed = tuple(_listed(one, named, forums, posts) for one in ids)
    taken = frozenset(forum_id for one in listed for forum_id in one.forums)
    gone = frozenset(post_id for one in listed for post_id in one.posts)
    venues = {forum_id: forums[forum_id] for forum_id in taken if forum_id in forums}
    venues |= {posts[post_id][0]: posts[post_id][1] for post_id in gone if post_id in posts}
    files = frozenset(
        version.sha256
        for forum_id in sorted(taken & forums.keys())
        for version in workspace.tables.of_forum(PaperVersion, forums[forum_id], forum_id)
        if version.sha256 is not None
    )
    return Takedown(listed, taken, gone, files, tuple(sorted(venues.items())))


def _listed(one: str, named: dict[str, set[str]], forums: dict[str, str], posts: dict[str, tuple[str, str]]) -> Listed:
    candidates = named.get(one, set()) if is_author_id(one) else {one}
    papers, notes = frozenset(candidates & forums.keys()), frozenset(candidates & posts.keys() - forums.keys())
    kind = IdKind.FORUM if papers else IdKind.NOTE
    if is_author_id(one):
        kind = IdKind.AUTHOR
    return Listed(one, kind if papers or notes else IdKind.NOTHING, papers, notes)


def _held(tables: Tables, wanted: set[str]) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Which of these ids are papers, with their venue, and which are posts, with their paper and its venue."""
    forums: dict[str, str] = {}
    posts: dict[str, tuple[str, str]] = {}
    for name, column in ID_COLUMNS.items():
        for venue_id in tables.venues(name):
            for batch in tables.batches(name, venue_id, sorted({column, "forum_id"})):
                ids, roots = (batch.column(one).to_pylist() for one in (column, "forum_id"))
                for found, forum_id in zip(ids, roots, strict=True):
                    if forum_id in wanted:
                        forums[forum_id] = venue_id
                    if found in wanted and found != forum_id:
                        posts[found] = (forum_id, venue_id)
    return forums, posts


def _named_by(raw: RawStore, authors: set[str]) -> dict[str, set[str]]:
    """The notes that each of these people wrote or signed, as any version of them that was ever received tells."""
    found: dict[str, set[str]] = {author: set() for author in authors}
    marks = {author: _marks(author) for author in authors}
    for received in _received(raw):
        body = received.body.lower()
        for author, spelt in marks.items():
            if any(mark in body for mark in spelt) and author.casefold() in _people(_stated(received)):
                found[author].add(received.subject_id)
    return found


def _received(raw: RawStore) -> Iterator[RawObject]:
    for venue_id in raw.venues():
        for kind in (Kind.NOTE, Kind.REFERENCE, Kind.EDIT):
            yield from raw.versions(kind, venue_id)


def _marks(author: str) -> set[bytes]:
    """How an id may be spelt in JSON, in small letters: a search before anything is decoded."""
    return {author.encode().lower(), json.dumps(author).strip('"').encode().lower()}


def _stated(received: RawObject) -> Any:  # noqa: ANN401 -- whatever JSON holds
    """What says whose a note is; who signed an edit may be a chair that edits what others wrote."""
    body = msgspec.json.decode(received.body)
    part = {Kind.EDIT: "note", Kind.REFERENCE: "content"}.get(received.kind)
    return body if part is None or not isinstance(body, dict) else body.get(part)


def _people(value: Any, *, is_named: bool = False) -> set[str]:  # noqa: ANN401 -- whatever JSON holds
    """Everyone in whose name a note or an edit stands: its signatures, and the accounts of a submission's authors."""
    if isinstance(value, str):
        return {value.casefold()} if is_named else set()
    if isinstance(value, list):
        return {person for inner in value for person in _people(inner, is_named=is_named)}
    if not isinstance(value, dict):
        return set()
    inside = ((inner, is_named or name in PEOPLE) for name, inner in value.items())
    return {person for inner, named in inside for person in _people(inner, is_named=named)}


def write_tombstone(
    folder: Path, workspace: Workspace, takedown: Takedown, by_venue: Mapping[str, Counter[str]]
) -> None:
    """Write what a release says of what is not in it: how much it is, and nothing that it held.

    Args:
        folder: Of the release.
        workspace: It keeps the salt.
        takedown: What is taken down.
        by_venue: Records left out of this release for it, by venue and kind.
    """
    matched = [one for one in takedown.ids if one.kind is not IdKind.NOTHING]
    kinds = Counter(one.kind for one in matched)
    said = {
        "ids": {kind.value: kinds[kind] for kind in IdKind if kind is not IdKind.NOTHING},
        "records": {name: sum(taken[name] for taken in by_venue.values()) for name in RECORDS},
        "venues": {
            venue_id: {name: taken[name] for name in RECORDS}
            for venue_id, taken in sorted(by_venue.items())
            if taken.total()
        },
        "hashes": salted(workspace.folder, [one.listed for one in matched]),
    }
    (folder / TOMBSTONE).write_text(json.dumps(said, indent=1) + "\n")
