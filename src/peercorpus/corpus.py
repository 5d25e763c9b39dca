"""A corpus in Python: `peercorpus.open(DIR)` gives its tables as Polars lazy frames, or typed records on request."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from peercorpus.store import scan_options
from peercorpus.workspace import open_workspace

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from peercorpus.tables import Tables

RecordT = TypeVar("RecordT")


class Corpus:
    """The tables of one workspace, read only."""

    def __init__(self, folder: Path, tables: "Tables") -> None:
        self.folder, self._tables = folder, tables

    def papers(self) -> "pl.LazyFrame":
        """One row a submission; see `records.Paper`."""
        return self._scan("1-papers")

    def reviews(self) -> "pl.LazyFrame":
        """One row a review; see `records.Review`."""
        return self._scan("2-reviews")

    def posts(self) -> "pl.LazyFrame":
        """One row a reply, reviews included; see `records.Post`."""
        return self._scan("3-posts")

    def versions(self) -> "pl.LazyFrame":
        """One row a PDF of a submission; see `records.PaperVersion`."""
        return self._scan("4-versions")

    def texts(self) -> "pl.LazyFrame":
        """One row a file that was read; see `records.PaperText`."""
        return self._scan("5-texts")

    def conversations(self) -> "pl.LazyFrame":
        """One row a conversation with one reviewer; see `records.Conversation`."""
        return self._scan("6-conversations")

    def changes(self) -> "pl.LazyFrame":
        """One row a passage that differs between a paper's initial and its last version; see `records.Change`."""
        return self._scan("7-changes")

    def links(self) -> "pl.LazyFrame":
        """One row a pair of submissions that are one work; see `file_records.Link`."""
        return self._scan("8-links")

    def tries(self) -> "pl.LazyFrame":
        """One row a submission of a work that was submitted more than once, with its ratings; see `works.Try`."""
        import polars as pl

        from peercorpus.schema import to_arrow
        from peercorpus.works import Try, read_tries

        self._tables.require("8-links")
        return pl.DataFrame(to_arrow(Try, read_tries(self._tables))).lazy()

    def set_aside(self) -> "pl.LazyFrame":
        """One row a record that left a stage, with the reason; see `records.SetAside`."""
        return self._scan("set-aside")

    def records(self, record_type: type[RecordT], venue_id: str | None = None) -> Iterator[RecordT]:
        """Typed records, of one venue or of all, in bounded memory.

        Raises:
            TableError: Their table has not been built.
        """
        name = self._tables.name_of(record_type)
        self._tables.require(name)
        for chosen in [venue_id] if venue_id is not None else self._tables.venues(name):
            yield from self._tables.read(record_type, chosen)

    def statistics(self, name: str, where: Iterable[str] = (), tokenizer: str | None = None) -> "pl.DataFrame":
        """The numbers of one figure of `peercorpus report`, such as `score_violins`.

        Args:
            name: A key of `report.panels.PANELS`.
            where: Conditions on papers, such as `["year>=2023", "status=rejected"]`; see `peercorpus.where`.
            tokenizer: Lengths are counted in its tokens; None: in words and signs.

        Raises:
            PeercorpusError: There is no such figure, condition or tokenizer.
            TableError: The tables are not built.
        """
        from peercorpus.report.run import statistic

        return statistic(self.folder, name, _listed(where), tokenizer).table

    def figure(self, name: str, where: Iterable[str] = (), tokenizer: str | None = None) -> "Figure":
        """One figure of `peercorpus report`, of Matplotlib: `corpus.figure("score_violins").savefig("scores.pdf")`.

        The arguments and errors are those of `statistics`.

        Raises:
            MissingExtraError: Matplotlib is not installed.
        """
        from peercorpus.report.run import figure

        return figure(self.folder, name, _listed(where), tokenizer)

    def _scan(self, name: str) -> "pl.LazyFrame":
        import polars as pl

        place = self._tables.require(name)
        if not isinstance(place, Path):
            return pl.scan_delta(str(place), storage_options=scan_options())
        path = place.absolute()
        # Where a URI quotes the path (a space, a letter beyond ASCII), Polars 2.1 looks for the quoted one.
        is_quoted = path.as_uri() != f"file://{path}"
        return pl.scan_delta(str(path), use_pyarrow=is_quoted)

    def __repr__(self) -> str:
        return f"Corpus({str(self.folder)!r})"


def _listed(where: Iterable[str]) -> Iterable[str]:
    """One condition is a list of one."""
    return [where] if isinstance(where, str) else where


def open_corpus(folder: str | Path) -> Corpus:
    """Open a workspace for reading.

    Raises:
        WorkspaceError: It is not a workspace.
    """
    with open_workspace(Path(folder), write=False) as workspace:
        return Corpus(Path(folder), workspace.tables)
