"""Read and edit the take-down list of a workspace, and find the records that its ids name.

`takedown.txt` lists ids of papers, notes and authors, one per line; "#" starts a comment. Every export leaves out what
they name. A release states in `takedown.json` how much was left out, with salted hashes instead of the ids.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
import pyarrow as pa

from peercorpus.errors import PeercorpusError, WorkspaceError
from peercorpus.records.papers import Link, PaperVersion
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.private_files import OWNER_ONLY, replace_file
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore
from peercorpus.workspace.workspace import Workspace

LIST = "takedown.txt"
SALT = "takedown.salt"
_SALT_BYTES = 32
_NOTE_ID = re.compile(r"[A-Za-z0-9_:./-]+")
"""Matches the id of a note; ids of imported records also contain colons and slashes."""
_AUTHOR_ID = re.compile(r"~\S+\d|[^\s@/]+@(?=[^\s@/]++$)[^\s@/]+\.[^\s@/]+")
"""Matches a profile (`~Ada_Example1`), or the e-mail address that identifies an author without a profile."""


def is_author_id(listed: str) -> bool:
    """Return whether an id names a person.

    >>> is_author_id("~Ada_Example1"), is_author_id("ada@example.org"), is_author_id("rkgO66VKDS")
    (True, True, False)
    """
    return _AUTHOR_ID.fullmatch(listed) is not None


def is_id(listed: str) -> bool:
    """Return whether a text has the form of a note's or a person's id."""
    return _NOTE_ID.fullmatch(listed) is not None or is_author_id(listed)


def _parse_line(line: str) -> str:
    """Return the part of a line before its comment; empty for a line without an id."""
    return line.partition("#")[0].strip()


def read_utf8(path: Path) -> str:
    """Return the text of a file of a workspace that people edit, without a byte-order mark; empty if there is no file.

    Raises:
        PeercorpusError: It is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise PeercorpusError(f"'{path}' is not UTF-8 text; save it in UTF-8.") from None


def _read_lines(folder: Path) -> list[str]:
    return read_utf8(folder / LIST).splitlines()


def read_list(folder: Path) -> list[str]:
    """Return the listed ids of a workspace without duplicates, in the order of the file; empty if there is no file.

    Raises:
        PeercorpusError: A line is not an id, or the file is not UTF-8.
    """
    ids: dict[str, None] = {}
    for number, line in enumerate(_read_lines(folder), 1):
        listed = _parse_line(line)
        if listed and not is_id(listed):
            raise PeercorpusError(
                f"Line {number} of '{folder / LIST}' is not an id: expected a note id (rkgO66VKDS), a profile"
                " (~Ada_Example1) or an e-mail address. Correct it, or put a '#' before it."
            )
        if listed:
            ids[listed] = None
    return list(ids)


def check_ids(ids: Iterable[str]) -> None:
    """Check that each text has the form of an id.

    Raises:
        PeercorpusError: One of them does not.
    """
    for listed in ids:
        if not is_id(listed):
            raise PeercorpusError(
                f"Invalid id '{listed}': expected a note id (rkgO66VKDS), a profile (~Ada_Example1) or an e-mail"
                " address. Nothing was changed."
            )


def add_to_list(folder: Path, ids: Sequence[str]) -> None:
    """Append the ids that are not yet listed, one per line.

    Raises:
        PeercorpusError: A text or a line of the file is not an id; nothing is changed.
    """
    check_ids(ids)
    listed_ids = set(read_list(folder))
    new = [listed for listed in dict.fromkeys(ids) if listed not in listed_ids]
    if new:
        _write(folder, [*_read_lines(folder), *new])


def remove_from_list(folder: Path, ids: Sequence[str]) -> list[str]:
    """Remove the lines of some ids, and return those ids that were not listed.

    Raises:
        PeercorpusError: A text or a line of the file is not an id; nothing is changed.
    """
    check_ids(ids)
    listed_ids = set(read_list(folder))
    if listed_ids & set(ids):
        _write(folder, [line for line in _read_lines(folder) if _parse_line(line) not in ids])
    return [listed for listed in dict.fromkeys(ids) if listed not in listed_ids]


def _write(folder: Path, lines: Sequence[str]) -> None:
    """Replace the list atomically: with half a list, records that were taken down would be published."""
    replace_file(folder / LIST, lines)


def _read_salt(folder: Path) -> bytes:
    """Return the salt of a workspace; it is created at first use, readable by its owner only."""
    path = folder / SALT
    if not path.exists():
        partial = folder / f".{SALT}.{os.getpid()}"
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "wb") as file:
            file.write(secrets.token_bytes(_SALT_BYTES))
        try:
            path.hardlink_to(partial)
        except FileExistsError:
            pass  # Another run created it in the meantime.
        finally:
            partial.unlink()
    salt = path.read_bytes()
    if len(salt) != _SALT_BYTES:
        raise WorkspaceError(
            f"'{path}' must contain {_SALT_BYTES} bytes of salt, got {len(salt)}; move it away to have a new one"
            " created."
        )
    return salt


def hash_ids(folder: Path, ids: Iterable[str]) -> list[str]:
    """Return the ids as HMAC-SHA256 with the workspace's salt, sorted by hash so that the order reveals nothing."""
    listed = list(ids)
    salt = _read_salt(folder) if listed else b""
    return sorted(hmac.new(salt, each_id.encode(), hashlib.sha256).hexdigest() for each_id in listed)


def hash_list(folder: Path) -> str | None:
    """Return a salted hash of all listed ids, independent of their order, or None if no id is listed.

    Without the salt, anyone could find a listed id by hashing the ids of all papers.
    """
    listed = read_list(folder)
    return hash_ids(folder, ["\n".join(["list", *sorted(listed)])])[0] if listed else None


TOMBSTONE = "takedown.json"
RECORDS = ("papers", "reviews", "posts", "versions", "conversations", "ai_reviews", "texts", "changes")
"""Kinds of records that the tombstone counts; for `texts` and `changes`, those that would be published."""
ID_COLUMNS = {"1-papers": "forum_id", "2-ai-reviews": "ai_review_id", "2-reviews": "review_id", "3-posts": "post_id"}
"""The column with the id of a row; the rows of `2-ai-reviews` also contain the ids of replies."""
_PEOPLE = {"signatures", "authorids", "username"}
"""Keys of a note whose values name accounts; `username` belongs to an entry of an author list."""


class IdKind(StrEnum):
    """Kind of record that a listed id names."""

    FORUM = "forum"
    NOTE = "note"
    AUTHOR = "author"
    NOTHING = "nothing"
    """No record of the tables has this id."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One id of the list, and what it removes."""

    listed: str
    kind: IdKind
    forums: frozenset[str] = frozenset()
    posts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Takedown:
    """Everything that is taken down in a workspace.

    Attributes:
        forums: Papers that are removed as a whole.
        posts: Reviews and other posts that are removed.
        files: sha256 of every file of those papers; it is also removed from other papers with the same file.
        venues: Forum id and venue id of every paper from which anything is removed.
        post_venues: Id and venue id of every post in `posts`.
    """

    ids: tuple[Listed, ...] = ()
    forums: frozenset[str] = frozenset()
    posts: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    venues: tuple[tuple[str, str], ...] = ()
    post_venues: tuple[tuple[str, str], ...] = ()

    @property
    def named(self) -> frozenset[str]:
        """Every id and digest that no release may contain: those listed, and those that are removed by them."""
        return self.forums | self.posts | self.files | {entry.listed for entry in self.ids}

    def keep_links(self, links: Iterable[Link]) -> list[Link]:
        """Return the links between papers that are not taken down."""
        return [link for link in links if self.forums.isdisjoint({link.forum_id, link.earlier_id})]


NOTHING = Takedown()


def read_takedown(workspace: Workspace) -> Takedown:
    """Read the list of a workspace and find what it removes, in all venues.

    Raises:
        PeercorpusError: A line of the list is not an id.
    """
    return find_removals(workspace, read_list(workspace.folder))


def find_removals(workspace: Workspace, ids: Sequence[str]) -> Takedown:
    """Return the records that some ids remove, in all venues, whether or not the ids are listed."""
    if not ids:
        return NOTHING
    authors = {listed for listed in ids if is_author_id(listed)}
    notes = _find_notes_by(workspace.raw, authors) if authors else {}
    record_ids = {note_id for note_ids in notes.values() for note_id in note_ids} | (set(ids) - authors)
    forums, posts = _find_records(workspace.tables, record_ids)
    entries = tuple(_resolve(listed, notes, forums, posts) for listed in ids)
    forum_ids = frozenset(forum_id for entry in entries for forum_id in entry.forums)
    post_ids = frozenset(post_id for entry in entries for post_id in entry.posts)
    venues = {forum_id: forums[forum_id] for forum_id in forum_ids if forum_id in forums}
    venues |= {posts[post_id][0]: posts[post_id][1] for post_id in post_ids if post_id in posts}
    files = frozenset(
        version.sha256
        for forum_id in sorted(forum_ids & forums.keys())
        for version in workspace.tables.of_forum(PaperVersion, forums[forum_id], forum_id)
        if version.sha256 is not None
    )
    return Takedown(
        ids=entries,
        forums=forum_ids,
        posts=post_ids,
        files=files,
        venues=tuple(sorted(venues.items())),
        post_venues=tuple(sorted((post_id, posts[post_id][1]) for post_id in post_ids)),
    )


def _resolve(
    listed: str, notes: dict[str, set[str]], forums: dict[str, str], posts: dict[str, tuple[str, str]]
) -> Listed:
    candidates = notes.get(listed, set()) if is_author_id(listed) else {listed}
    removed_forums = frozenset(candidates & forums.keys())
    removed_posts = frozenset(candidates & posts.keys() - forums.keys())
    kind = IdKind.FORUM if removed_forums else IdKind.NOTE
    if is_author_id(listed):
        kind = IdKind.AUTHOR
    if not removed_forums and not removed_posts:
        kind = IdKind.NOTHING
    return Listed(listed=listed, kind=kind, forums=removed_forums, posts=removed_posts)


def _find_records(tables: Tables, record_ids: set[str]) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Return which of these ids are papers (with the venue) and which are posts (with the paper and its venue)."""
    forums: dict[str, str] = {}
    posts: dict[str, tuple[str, str]] = {}
    for name, column in ID_COLUMNS.items():
        for venue_id in tables.venues(name):
            nested = {"replies"} if name == "2-ai-reviews" else set()
            for batch in tables.batches(name, venue_id, sorted({column, "forum_id", *nested})):
                for row_id, forum_id in read_row_ids(batch, column):
                    if forum_id in record_ids:
                        forums[forum_id] = venue_id
                    if row_id in record_ids and row_id != forum_id:
                        posts[row_id] = (forum_id, venue_id)
    return forums, posts


def read_row_ids(batch: pa.RecordBatch, column: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the forum of each row, and of each reply that it contains."""
    row_ids, forum_ids = (batch.column(name).to_pylist() for name in (column, "forum_id"))
    yield from zip(row_ids, forum_ids, strict=True)
    if "replies" in batch.schema.names:
        for forum_id, replies in zip(forum_ids, batch.column("replies").to_pylist(), strict=True):
            yield from ((reply["post_id"], forum_id) for reply in replies)


def _find_notes_by(raw: RawStore, authors: set[str]) -> dict[str, set[str]]:
    """Return the ids of the notes that each of these people wrote or signed, in any version ever received."""
    notes: dict[str, set[str]] = {author: set() for author in authors}
    # The spellings of an id in JSON; searching for them is faster than decoding every note.
    marks = {author: {author.encode().lower(), json.dumps(author).strip('"').encode().lower()} for author in authors}
    for received in _read_notes(raw):
        body = received.body.lower()
        for author, spellings in marks.items():
            if not any(mark in body for mark in spellings):
                continue
            if author.casefold() in _find_people(_pick_signed_part(received)):
                notes[author].add(received.subject_id)
    return notes


def _read_notes(raw: RawStore) -> Iterator[RawObject]:
    for venue_id in raw.venues():
        for kind in (RawKind.NOTE, RawKind.REFERENCE, RawKind.EDIT):
            yield from raw.versions(kind, venue_id)


def _pick_signed_part(received: RawObject) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the part that names the author of a note; a chair may sign an edit of another person's note."""
    body = msgspec.json.decode(received.body)
    part = {RawKind.EDIT: "note", RawKind.REFERENCE: "content"}.get(received.kind)
    return body if part is None or not isinstance(body, dict) else body.get(part)


def _find_people(value: Any, *, is_named: bool = False) -> set[str]:  # noqa: ANN401 -- any JSON value
    """Return, case-folded, the accounts that signed a note and those of a submission's authors."""
    if isinstance(value, str):
        return {value.casefold()} if is_named else set()
    if isinstance(value, list):
        return {person for inner in value for person in _find_people(inner, is_named=is_named)}
    if not isinstance(value, dict):
        return set()
    inside = ((inner, is_named or name in _PEOPLE) for name, inner in value.items())
    return {person for inner, named in inside for person in _find_people(inner, is_named=named)}


def write_tombstone(
    folder: Path, workspace: Workspace, takedown: Takedown, by_venue: Mapping[str, Counter[str]]
) -> None:
    """Write `takedown.json` of a release: how much was left out, by venue and kind, with salted hashes of the ids."""
    matched = [entry for entry in takedown.ids if entry.kind is not IdKind.NOTHING]
    kinds = Counter(entry.kind for entry in matched)
    tombstone = {
        "ids": {kind.value: kinds[kind] for kind in IdKind if kind is not IdKind.NOTHING},
        "records": {name: sum(removed[name] for removed in by_venue.values()) for name in RECORDS},
        "venues": {
            venue_id: {name: removed[name] for name in RECORDS}
            for venue_id, removed in sorted(by_venue.items())
            if removed.total()
        },
        "hashes": hash_ids(workspace.folder, [entry.listed for entry in matched]),
    }
    (folder / TOMBSTONE).write_text(json.dumps(tombstone, indent=1) + "\n", encoding="utf-8")


_IN_URL = re.compile(r"[?&](noteId|id)=([^&#\s]+)")
_PROFILES = re.compile(rb'"(~[^"\\\s]++)(?<=\d)"')
_MAX_CHANGED = 2
"""Number of neighbouring characters that may differ between the typed and the intended id."""


def check_known(workspace: Workspace, ids: Sequence[str]) -> None:
    """Check that each id names a paper, a post or an author of the workspace.

    Raises:
        PeercorpusError: One does not; the message suggests what may have been meant.
    """
    check_ids(ids)
    removals = find_removals(workspace, ids)
    unknown = [entry.listed for entry in removals.ids if not entry.forums and not entry.posts]
    if unknown:
        raise PeercorpusError(
            f"Nothing in the workspace has the id '{unknown[0]}'; {_suggest(workspace, unknown[0])}"
            " Nothing was changed; --force lists it anyway."
        )


def read_listed_id(typed: str) -> str:
    """Return the id in the URL of an OpenReview page (that of the post if it names one); any other text as it is.

    >>> read_listed_id("https://openreview.net/forum?id=abc&noteId=xyz"), read_listed_id("~Ada_Example1")
    ('xyz', '~Ada_Example1')
    >>> read_listed_id("https://openreview.net/profile?id=~Ada_Example1")
    '~Ada_Example1'
    """
    named = dict(_IN_URL.findall(typed))
    return unquote(named.get("noteId") or named.get("id") or typed)


def _suggest(workspace: Workspace, typed: str) -> str:
    """Return a clause that suggests what may be meant by an id that names nothing, to follow a semicolon."""
    if "@" in typed:
        return "authors who have a profile are listed by it (~Ada_Example1), not by their e-mail address."
    if meant := next((known for known in _read_known_ids(workspace) if is_mistyped(typed, known)), None):
        return f"did you mean '{meant}'?"
    return (
        "copy it from the URL of its page on OpenReview: for a paper the part after 'id=', for a post the part"
        " after 'noteId='."
    )


def is_mistyped(typed: str, meant: str) -> bool:
    """Return whether two ids differ in the case of letters, a "~", or at most two neighbouring characters.

    >>> is_mistyped("Ada_Example1", "~Ada_Example1"), is_mistyped("rkg066VKDS", "rkgO66VKDS"), is_mistyped("a", "b")
    (True, True, False)
    """
    if abs(len(typed) - len(meant)) > 1 or min(len(typed), len(meant)) <= 2 * _MAX_CHANGED:
        return False
    start = _count_common(typed, meant)
    end = _count_common(typed[start:][::-1], meant[start:][::-1])
    return typed.casefold() == meant.casefold() or max(len(typed), len(meant)) - start - end <= _MAX_CHANGED


def _count_common(first: str, second: str) -> int:
    """Return the length of the common prefix of two texts."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _read_known_ids(workspace: Workspace) -> Iterator[str]:
    """Yield the ids of all papers and posts, then the profiles that the notes name."""
    for name, column in ID_COLUMNS.items():
        for venue_id in workspace.tables.venues(name):
            for batch in workspace.tables.batches(name, venue_id, sorted({column, "forum_id"})):
                for pair in read_row_ids(batch, column):
                    yield from pair
    for venue_id in workspace.raw.venues():
        for received in workspace.raw.versions(RawKind.NOTE, venue_id):
            yield from (profile.decode() for profile in _PROFILES.findall(received.body))
