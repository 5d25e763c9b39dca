"""Read a release from Python: its tables as Polars frames, by configuration and split."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.api.arguments import read_path
from peercorpus.errors import PeercorpusError
from peercorpus.execution.requests import STATEMENT_TIMEOUT_S
from peercorpus.release.folder import Release, open_release
from peercorpus.sql.public_tables import PublicSql

if TYPE_CHECKING:
    import polars as pl


class LoadedRelease:
    """The tables of a release, read only.

    Attributes:
        folder: Folder of the release.
        sha256: Digest that identifies the release and everything in it.
        version: Version of peercorpus that wrote it.
        configurations: The splits of each configuration, by name.

    Example:
        >>> release = peercorpus.load_release("release")
        >>> release.configurations["papers"]
        ('aurora', 'borealis', 'cascadia', 'dales', 'jle')
        >>> release.table("reviews").select("review_id").collect().height
        29
    """

    def __init__(self, release: Release) -> None:
        self.folder = release.folder
        self.sha256 = release.sha256
        self.version = release.version
        self.configurations: dict[str, tuple[str, ...]] = {}
        for shard in release.shards():
            splits = self.configurations.get(shard.config, ())
            self.configurations[shard.config] = splits if shard.split in splits else (*splits, shard.split)
        self._release = release
        self._sql = PublicSql(release.folder)

    @property
    def tables(self) -> dict[str, dict[str, "pl.LazyFrame"]]:
        """Every table, by configuration and split.

        Raises:
            PeercorpusError: A file is missing or was changed since.

        Example:
            >>> release.tables["papers"]["jle"].collect().height
            2
        """
        splits = self.configurations.items()
        return {name: {split: self.table(name, split) for split in of_name} for name, of_name in splits}

    def table(self, configuration: str = "papers", split: str | None = None) -> "pl.LazyFrame":
        """Scan one table; nothing is read until `collect()`.

        The first call for a file compares its checksum.

        Args:
            configuration: A key of `configurations`.
            split: One of its splits; None means all.

        Raises:
            PeercorpusError: There is no such configuration or split, or a file is missing or has changed.

        Example:
            >>> release.table("papers_full", "cascadia").select("year", "status").collect().rows()
            [(2025, 'rejected'), (2025, 'accepted')]
        """
        import polars as pl

        splits = self.configurations.get(configuration)
        if splits is None:
            raise PeercorpusError(_absent("configuration", configuration, self.configurations))
        if split is not None and split not in splits:
            raise PeercorpusError(_absent(f"split of '{configuration}'", split, splits))
        shards = self._release.shards(configuration, split)
        for shard in shards:
            self._release.check(shard.name)
        return pl.scan_parquet([shard.path for shard in shards])

    def sql(self, statement: str, *, time_limit_s: float = STATEMENT_TIMEOUT_S) -> "pl.DataFrame":
        """Run one SELECT over the tables, as `peercorpus sql` does, and return its whole result.

        Args:
            statement: One SELECT in DuckDB's dialect, of tables named as in `configurations`.
            time_limit_s: Seconds after which it is stopped.

        Raises:
            MissingExtraError: DuckDB is not installed.
            PeercorpusError: The statement is refused, fails, or takes more time or memory than it may.

        Example:
            >>> release.sql("SELECT count(*) AS papers FROM papers").item()
            12
        """
        return self._sql.frame(statement, time_limit_s)

    def __repr__(self) -> str:
        return f"LoadedRelease({str(self.folder)!r})"


def _absent(kind: str, name: str, names: Iterable[str]) -> str:
    return f"There is no {kind} '{name[:100]}'; there are: {', '.join(names)}."


def load_release(folder: str | Path) -> LoadedRelease:
    """Open a release that `publish` wrote.

    Raises:
        PeercorpusError: The folder is not a release, or its manifest cannot be read.

    Example:
        >>> peercorpus.load_release("release").configurations["scores"]
        ('aurora', 'borealis', 'cascadia', 'dales', 'jle')
    """
    return LoadedRelease(open_release(read_path(folder, "folder")))
