"""Find the Parquet files of a corpus's public tables.

Files of a release are read in place. For a workspace they are the files of a release: the newest one, if nothing has
changed since, or else one written to a temporary folder.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from peercorpus.corpus.takedown import read_list
from peercorpus.errors import PeercorpusError
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH, column_meaning, flatten_columns, type_name
from peercorpus.release.dated_releases import is_up_to_date
from peercorpus.release.folder import MANIFEST, open_release
from peercorpus.release.provenance import read_inputs
from peercorpus.release.publish import publish_release
from peercorpus.release.published import dated_releases
from peercorpus.release.request import ReleaseRequest
from peercorpus.release.shards import CONFIGS
from peercorpus.sql.query import Database, require_engine
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    import polars as pl

_ALWAYS = (
    *("reviews", "meta_reviews", "ai_reviews", "posts", "conversations", "versions", "texts", "changes", "scores"),
    *("links", "tries"),
)
"""Configurations of every release; one without rows has no files."""


@dataclass(frozen=True, slots=True)
class PublicTables:
    """The public tables of a corpus.

    Attributes:
        sha256: Digest that identifies the content of the tables.
        workspace: Folder of the workspace that they were made from; None for a release.
        taken_down: The workspace's take-down list at the time of their making.
    """

    sha256: str
    database: Database
    workspace: Path | None = None
    taken_down: tuple[str, ...] = ()

    def check(self) -> None:
        """Check that the tables may still be shown.

        Raises:
            PeercorpusError: The take-down list of the workspace has changed since, or cannot be read.
        """
        if self.workspace is not None and tuple(read_list(self.workspace)) != self.taken_down:
            raise PeercorpusError(
                "The take-down list has changed since the server was started; stop the server and start it again."
            )

    def list_tables(self) -> "pl.DataFrame":
        """Return a row for each table: its name, its number of rows, and the meaning of a row.

        Raises:
            PeercorpusError: The rows cannot be counted.
        """
        import polars as pl

        names = self.database.names
        counts = " UNION ALL ".join(f'SELECT {place}, count(*) FROM "{name}"' for place, name in enumerate(names))
        rows = dict(self.database.frame(f"{counts} ORDER BY 1").iter_rows())
        listed = [(name, rows[place], CONFIGS[name].says) for place, name in enumerate(names)]
        return pl.DataFrame(listed, schema=["table", "rows", "meaning"], orient="row")

    def list_columns(self, table: str) -> "pl.DataFrame":
        """Return a row for each column of a table and each field of its structs: its name, type and meaning.

        Raises:
            PeercorpusError: There is no such table.
        """
        import polars as pl

        names = self.database.names
        if table not in names:
            raise PeercorpusError(f"There is no table '{table[:100]}'; there are: {', '.join(names)}.")
        columns = flatten_columns(CONFIGS[table].schema)
        listed = [(name, type_name(field.type), column_meaning(field)) for name, field in columns]
        return pl.DataFrame(listed, schema=["column", "type", "meaning"], orient="row")


class PublicSql:
    """Runs statements on the public tables of a folder, which are cached between statements.

    The tables are made again if the take-down list or a table of the workspace has changed, or the release was
    replaced.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: PublicTables | None = None
        self._state: tuple[object, ...] = ()
        self._until_done = ExitStack()
        finalize(self, self._until_done.close)

    def frame(self, sql: str, time_limit_s: float) -> "pl.DataFrame":
        """Run one SELECT and return its whole result, as `Database.frame` does.

        Raises:
            MissingExtraError: DuckDB is not installed.
            PeercorpusError: As for `open_public_tables` and `Database.frame`.
        """
        require_engine()
        state = _read_state(self._folder)
        if self._kept is None or state != self._state:
            self._until_done.close()
            self._kept = self._until_done.enter_context(open_public_tables(self._folder))
            self._state = state
        return self._kept.database.frame(sql, time_limit_s=time_limit_s)


def _read_state(folder: Path) -> tuple[object, ...]:
    """Return a value that changes whenever the public tables of a folder may change."""
    if (folder / MANIFEST).is_file():
        return (open_release(folder, is_whole=False).sha256,)
    if not (folder / "raw.db").is_file():
        return ()
    with open_workspace(folder, write=False) as workspace:
        return (*read_list(folder), *((name, workspace.tables.version(name)) for name in TABLES))


@contextmanager
def open_public_tables(folder: Path, show: Show = show_nothing) -> Iterator[PublicTables]:
    """Open the tables of a release, or those that a release of a workspace would have; the folder is only read.

    Raises:
        PeercorpusError: The folder is neither; a file of a release is missing or cut off, or it has the layout
            `reviewbench`; the tables of a workspace are not built, or it cannot be read.
    """
    if not folder.is_dir():
        raise PeercorpusError(f"'{folder}' is not a folder; name a workspace or a release.")
    if (folder / MANIFEST).is_file():
        yield _open_release_tables(folder)
    elif (folder / "raw.db").is_file():
        with tempfile.TemporaryDirectory(prefix="peercorpus-public-") as scratch:
            taken_down = tuple(read_list(folder))
            with open_workspace(folder, write=False) as workspace:
                release = _find_current_release(workspace)
                if release is None:
                    release = Path(scratch) / "release"
                    publish_release(workspace, release, ReleaseRequest(splits="none"), show=show, is_temporary=True)
            yield replace(_open_release_tables(release), workspace=folder, taken_down=taken_down)
    else:
        raise PeercorpusError(
            f"'{folder}' is neither a workspace nor a release; name one, or a folder that 'peercorpus publish' wrote."
        )


def _find_current_release(workspace: Workspace) -> Path | None:
    """Return the newest dated release of a workspace, if publishing all of it again would write the same."""
    newest = next(iter(dated_releases(workspace.folder)), None)
    inputs = None if newest is None else read_inputs(newest)
    if inputs is None:
        return None
    now = inputs.request
    wanted = ReleaseRequest(splits=now.splits, test_after=now.test_after, figures=now.figures, points=now.points)
    is_current = now == wanted and is_up_to_date(newest, workspace, wanted)
    return newest if is_current else None


def _open_release_tables(folder: Path) -> PublicTables:
    release = open_release(folder)
    files: defaultdict[str, list[Path]] = defaultdict(list)
    for shard in release.shards():
        files[shard.config].append(shard.path)
    if DEFAULT_OF_REVIEWBENCH in files:
        raise PeercorpusError(
            f"The release '{folder}' has the layout 'reviewbench', which has no tables of reviews and conversations;"
            " name one of the layout 'peercorpus'."
        )
    tables = {name: files[name] for name in CONFIGS if name in files}
    if "papers_full" not in tables:
        raise PeercorpusError(f"The release '{folder}' has no papers; publish it again.")
    empty = {name: CONFIGS[name].schema for name in _ALWAYS if name not in tables}
    return PublicTables(release.sha256, Database(tables, empty))
