"""What the account that harvested may read of a workspace: tables of its own, apart from those that are published.

They lie in the folder `confidential` of the workspace, which only its owner may open and which holds no `raw.db`: no
command opens it as a workspace. Only `report --confidential` and `explore --confidential` show these tables; `takedown`
looks up ids in them.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from peercorpus.errors import TableError, WorkspaceError
from peercorpus.execution.stage import ALL_FORUMS, ForumRange
from peercorpus.openreview.objects import EVERYONE, Note, decode_leniently
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.arrow_schema import NOTHING
from peercorpus.records.reviews import Post, Review
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.private_files import (
    FOLDER_OF_OWNER,
    make_private_folder,
    replace_file,
    require_own,
    require_own_folders,
)
from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore
from peercorpus.workspace.workspace import Workspace

FOLDER = "confidential"
_TABLES = "tables"
NOT_FOR_PUBLICATION = "Not for publication"
FILE_MARK = "not_for_publication"
"""Part of the name of every file with such records."""
NOTICE = "NOT_FOR_PUBLICATION.txt"
_EXPLANATION = "This folder holds what only the account that harvested may read. It can be deleted."
_AUTHORS = "/Authors"
"""End of the name of the group of a paper's authors."""
_VERSION = "confidential 1"
"""Changed when the same objects would be read differently."""

RecordT = TypeVar("RecordT")


class _AccountStore(RawStore):
    """What was received, with every submission, and every reply that its authors may read, readable by everyone.

    What is posted among reviewers and chairs only stays as it is: it is no part of a conversation with the authors. Of
    API v1, an author's own note behind a blind one stays hidden, as it would be a second paper, and names the authors.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, write=False)
        self._originals_of = cache(self._find_originals)

    def _find_originals(self, venue_id: str) -> frozenset[str]:
        with closing(RawStore(self.path, write=False)) as received:
            roots = received.latest(RawKind.NOTE, venue_id, with_replies=False)
            return frozenset(filter(None, (decode_leniently(Note, root.body).original for root in roots)))

    def _unpack_object(self, row: tuple[Any, ...]) -> RawObject:
        received = super()._unpack_object(row)
        return received if received.kind is RawKind.PUBLISHED else received._replace(body=self._open(received))

    def _open(self, received: RawObject) -> bytes:
        with suppress(msgspec.DecodeError):
            content = msgspec.json.decode(received.body)
            readers = content.get("readers") if isinstance(content, dict) else None
            if isinstance(readers, list) and EVERYONE not in readers and self._is_opened(received, readers):
                return msgspec.json.encode(content | {"readers": [*readers, EVERYONE]})
        return received.body

    def _is_opened(self, received: RawObject, readers: list[object]) -> bool:
        subject_id = received.object_id if received.kind is RawKind.NOTE else received.subject_id
        if subject_id == received.forum_id:
            return received.api != 1 or subject_id not in self._originals_of(received.venue_id)
        return any(isinstance(reader, str) and reader.endswith(_AUTHORS) for reader in readers)

    def digest(self, kind: str, venue_id: str) -> str:
        """Return a digest as `RawStore.digest`, other than that of the same objects for what is published."""
        return hashlib.sha256(f"{_VERSION} {super().digest(kind, venue_id)}".encode()).hexdigest()


class _AccountTables(Tables):
    """The tables, in which whatever the account may read counts as readable by everyone."""

    def read(
        self,
        record_type: type[RecordT],
        venue_id: str,
        unread: Mapping[str, object] = NOTHING,
        span: ForumRange = ALL_FORUMS,
    ) -> Iterator[RecordT]:
        """See `TableReader`."""
        return map(_open_record, super().read(record_type, venue_id, unread, span))

    def of_forum(
        self, record_type: type[RecordT], venue_id: str, forum_id: str, unread: Mapping[str, object] = NOTHING
    ) -> Iterator[RecordT]:
        """See `TableReader`."""
        return map(_open_record, super().of_forum(record_type, venue_id, forum_id, unread))


def _open_record(record: RecordT) -> RecordT:
    if isinstance(record, AiReview):
        replies = tuple(replace(reply, readers_public=True) for reply in record.replies)
        return replace(record, readers_public=True, replies=replies)
    return replace(record, readers_public=True) if isinstance(record, Post | Review) else record


def has_confidential(workspace: Workspace) -> bool:
    """Return whether the confidential tables have been built."""
    return (workspace.folder / FOLDER / _TABLES).is_dir()


def _close_to_others(folder: Path) -> None:
    """Create the folder of confidential tables, and check that nobody else may open it.

    Raises:
        WorkspaceError: It belongs to another user, or its disk cannot close it to others.
    """
    make_private_folder(folder)
    state = folder.stat()
    if state.st_uid != os.geteuid():
        raise WorkspaceError(
            f"'{folder}' belongs to another user, who could read what only your account may read; remove it, or use a"
            " workspace of your own."
        )
    if stat.S_IMODE(state.st_mode) != FOLDER_OF_OWNER:
        raise WorkspaceError(
            f"'{folder}' cannot be closed to other users of this machine; move the workspace to a disk that stores"
            " permissions."
        )


@contextmanager
def open_confidential(workspace: Workspace, *, write: bool = False) -> Iterator[Workspace]:
    """Open a workspace as the account that harvested sees it, with tables and search index of their own.

    Args:
        workspace: The workspace; it is not changed.
        write: Whether the tables are built, and so opened without anything made readable in them.

    Raises:
        TableError: They are to be read and have not been built.
        WorkspaceError: Something in their folder is a link; or, if they are to be built, others may open the folder.
    """
    view = copy(workspace)
    view.derived = workspace.folder / FOLDER
    folder = view.derived / _TABLES
    require_own(view.derived)
    require_own_folders(view.derived)
    if write:
        _close_to_others(view.derived)
        replace_file(view.derived / NOTICE, [f"{NOT_FOR_PUBLICATION}. {_EXPLANATION}"])
    elif not has_confidential(workspace):
        raise TableError(
            f"The confidential tables of '{workspace.folder}' have not been built; run 'peercorpus report"
            " --confidential' or 'peercorpus explore --confidential'."
        )
    view.tables = (Tables if write else _AccountTables)(folder, workspace.tables.scratch)
    with closing(_AccountStore(workspace.folder / "raw.db")) as raw:
        view.raw = raw
        yield view
