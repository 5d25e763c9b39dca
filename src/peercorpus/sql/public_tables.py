"""Find the Parquet files of what a corpus publishes: those of a release, where they lie."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from peercorpus.errors import PeercorpusError
from peercorpus.release.folder import MANIFEST, open_release
from peercorpus.release.shards import CONFIGS, DEFAULT_OF_REVIEWBENCH
from peercorpus.sql.query import Database

_ALWAYS = ("reviews", "meta_reviews", "posts", "conversations", "versions", "texts", "changes", "scores")
"""Configurations of every release; one without rows has no files."""


@dataclass(frozen=True, slots=True)
class PublicTables:
    """What a corpus publishes, as tables.

    Attributes:
        sha256: Identifies what the tables hold.
        database: Answers queries.
    """

    sha256: str
    database: Database

    def check(self) -> None:
        """Check that the tables are still those that may be shown."""


@contextmanager
def open_public_tables(folder: Path) -> Iterator[PublicTables]:
    """Open what a release publishes; nothing is written into it.

    Raises:
        PeercorpusError: The folder is no release, lacks a file, or has the layout `reviewbench`.
    """
    if not folder.is_dir():
        raise PeercorpusError(f"'{folder}' is no folder; name a release.")
    if (folder / MANIFEST).is_file():
        yield _open_release_tables(folder)
    elif (folder / "raw.db").is_file():
        raise PeercorpusError(
            f"'{folder}' is a workspace, which may hold what is not public; name a release of it, made by"
            f" 'peercorpus publish -w {folder} --out FOLDER'."
        )
    else:
        raise PeercorpusError(f"'{folder}' is no release; name a folder that 'peercorpus publish' wrote.")


def _open_release_tables(folder: Path) -> PublicTables:
    release = open_release(folder)
    files: defaultdict[str, list[Path]] = defaultdict(list)
    for shard in release.shards():
        if not shard.path.is_file():
            raise PeercorpusError(f"The release lacks its file '{shard.path}'; take an intact copy.")
        files[shard.config].append(shard.path)
    if DEFAULT_OF_REVIEWBENCH in files:
        raise PeercorpusError(
            f"The release '{folder}' has the layout 'reviewbench', which has no tables of reviews and conversations;"
            " name one of the layout 'peercorpus'."
        )
    tables = {name: files[name] for name in CONFIGS if name in files}
    if "papers_full" not in tables:
        raise PeercorpusError(f"The release '{folder}' holds no papers; publish it again.")
    empty = {name: CONFIGS[name].schema for name in _ALWAYS if name not in tables}
    return PublicTables(release.sha256, Database(tables, empty))
