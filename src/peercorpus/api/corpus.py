"""Read a workspace from Python: tables as Polars frames, typed records, SQL, statistics and figures.

`peercorpus.open(folder)` returns a `Corpus`. Polars and Matplotlib are imported only when a method needs them.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from peercorpus.api.arguments import read_path
from peercorpus.corpus.structured_text import StructuredText, convert_blocks
from peercorpus.errors import PeercorpusError
from peercorpus.execution.requests import STATEMENT_TIMEOUT_S
from peercorpus.records.documents import PaperText
from peercorpus.sql.public_tables import PublicSql
from peercorpus.workspace.object_store import scan_options
from peercorpus.workspace.table_damage import require_whole
from peercorpus.workspace.workspace import open_workspace

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from peercorpus.workspace.delta_tables import Tables

RecordT = TypeVar("RecordT")


class Corpus:
    """The tables of one workspace, read only.

    Each table method returns a Polars `LazyFrame`: nothing is parsed until `collect()`, and then only the columns and
    rows that the query needs. It raises a `TableError` if the table has not been built. The first call for a table on
    this machine compares the checksums of its files, which Polars does not, and raises a `DamagedError` if one differs.
    The frames contain everything harvested. Reviews and posts that not everyone may read are in them, with
    `readers_public` false, and so is what the take-down list names; releases and reports leave both out.

    Attributes:
        folder: The folder of the workspace.

    Example:
        >>> corpus = peercorpus.open("corpus")
        >>> accepted = corpus.papers().filter(pl.col("status") == "accepted")
        >>> accepted.join(corpus.reviews(), on="forum_id").group_by("year").len().sort("year").collect().rows()
        [(2020, 3), (2023, 5), (2024, 6), (2025, 3)]
    """

    def __init__(self, folder: Path, tables: "Tables") -> None:
        self.folder = folder
        self._tables = tables
        self._whole: dict[str, int | None] = {}
        self._sql = PublicSql(folder)

    def papers(self) -> "pl.LazyFrame":
        """Scan the submissions, one row each.

        Columns are the fields of `records.papers.Paper`: among them `forum_id` (the key), `venue_id`, `year`,
        `title`, `abstract`, `keywords`, `status` and `decision`.

        Example:
            >>> corpus.papers().group_by("status").len().sort("len", descending=True).collect().row(0)
            ('accepted', 6)
        """
        return self._scan("1-papers")

    def reviews(self) -> "pl.LazyFrame":
        """Scan the reviews, one row each.

        Columns are the fields of `records.reviews.Review`: among them `review_id` (the key), `forum_id`, `reviewer`,
        `scores` and `sections` (lists of structs), `readers_public` and `deleted`.

        Example:
            >>> corpus.reviews().filter(pl.col("readers_public")).collect().height
            29
        """
        return self._scan("2-reviews")

    def ai_reviews(self) -> "pl.LazyFrame":
        """Scan reviews by AIs that venues post themselves, one row each.

        No other table contains any part of them. Columns are the fields of `records.ai_reviews.AiReview`: among them
        `ai_review_id` (the key), `forum_id`, `signature`, `sections`, `replies` (the answers of authors and the
        surveys that rate it), `readers_public` and `deleted`.

        Example:
            >>> corpus.ai_reviews().collect().height
            0
        """
        return self._scan("2-ai-reviews")

    def posts(self) -> "pl.LazyFrame":
        """Scan the replies to submissions, one row each: reviews too, except those by an AI.

        Columns are the fields of `records.reviews.Post`: among them `post_id` (the key), `forum_id`, `reply_to`,
        `kind`, `role`, `text`, `readers_public` and `deleted`.

        Example:
            >>> corpus.posts().filter(pl.col("kind") == "rebuttal").collect().height
            10
        """
        return self._scan("3-posts")

    def versions(self) -> "pl.LazyFrame":
        """Scan the versions of the submissions' PDFs, one row each.

        Columns are the fields of `records.papers.PaperVersion`: among them `forum_id`, `edit_id`, `created_at`,
        `sha256` (null if the file was not fetched), `is_initial`, `grade` and `evidence`.

        Example:
            >>> corpus.versions().filter(pl.col("is_initial")).group_by("grade").len().sort("grade").collect().row(0)
            ('exact', 4)
        """
        return self._scan("4-versions")

    def pdfs(self, grade: str = "proven", where: Iterable[str] = ()) -> "pl.DataFrame":
        """List the PDF that the reviewers read of each paper, one row each, without what is taken down.

        Columns are the fields of `corpus.initial_pdfs.InitialPdf`: among them `forum_id`, `title`, `grade`,
        `created_at`, `sha256` and `path`, where the file is. Papers without such a PDF have no row.

        Args:
            grade: The worst grade to accept, from `exact` to `before_first_review`; `proven` accepts all that prove
                that it is what the reviewers read.
            where: As for `statistics`.

        Raises:
            PeercorpusError: There is no such grade of a PDF, or a condition does not exist.
            TableError: The tables have not been built.

        Example:
            >>> corpus.pdfs().group_by("grade").len().sort("grade").rows()
            [('exact', 4), ('only_before_review', 2), ('unrevised', 1)]
        """
        import polars as pl

        from peercorpus.corpus.initial_pdfs import InitialPdf, list_initial_pdfs, worst_pdf_grade
        from peercorpus.records.arrow_schema import to_arrow
        from peercorpus.report.write_report import choose_papers

        worst_grade, chosen = worst_pdf_grade(grade), choose_papers(self.folder, _as_list(where))
        self._tables.require("4-versions")
        with open_workspace(self.folder, write=False) as workspace:
            listed = list_initial_pdfs(workspace, workspace.tables.venues("1-papers"), worst_grade, chosen)
        return pl.DataFrame(to_arrow(InitialPdf, listed.pdfs))

    def texts(self) -> "pl.LazyFrame":
        """Scan the texts of PDFs, one row for each file that was read.

        Columns are the fields of `records.documents.PaperText`: among them `sha256` (joins with `versions`),
        `engine`, `markdown`, `headings` and `blocks`. Select the columns you need: `markdown` contains whole papers.

        Example:
            >>> corpus.texts().select("engine").unique().collect().item()
            'pdfium-layout'
        """
        return self._scan("5-texts")

    def blocks(self) -> "pl.LazyFrame":
        """Scan the blocks of all texts, one row each: headings, paragraphs, formulas, tables, captions, ….

        Columns are `sha256` and `venue_id` of the text and the fields of `records.blocks.TextBlock`: among them
        `block_id` (the key within a text), `kind`, `boxes` (pages and places), `number`, `latex` and `cells`. Offsets
        are those of the text's `markdown`. A text whose engine knows no blocks has no row.

        Example:
            >>> corpus.blocks().filter(pl.col("kind") == "heading").collect().height > 12
            True
        """
        import polars as pl

        held = self._scan("5-texts").select("sha256", "venue_id", "blocks")
        return held.explode("blocks").filter(pl.col("blocks").is_not_null()).unnest("blocks")

    def figures(self) -> "pl.LazyFrame":
        """Scan the figures and tables that `peercorpus build --figures` cut out of the PDFs, one row each.

        Columns are the fields of `records.documents.Figure`: among them `sha256` (joins with `texts`), `kind`, `label`
        ("Figure 3": `caption_of` and `number` of the caption's block), `page`, the box and `image`, the bytes of a WebP
        file. Select the columns you need.

        Example:
            >>> corpus.figures().select("label", "width_px").collect().height > 0
            True
        """
        return self._scan("5-figures")

    def structured_text(self, sha256: str) -> StructuredText:
        """Return the text of one file with its blocks and the references in its sentences.

        Raises:
            TableError: The table has not been built.
            PeercorpusError: There is no text of this file, or the engine that read it reports no blocks.

        Example:
            >>> sha256 = corpus.texts().select("sha256").collect().item(0, 0)
            >>> len(corpus.structured_text(sha256).blocks) > 3
            True
        """
        import polars as pl

        rows = self.texts().filter(pl.col("sha256") == sha256).select("markdown", "engine", "blocks").collect()
        if rows.is_empty():
            raise PeercorpusError(
                f"There is no text of the file '{sha256[:80]}'; Corpus.texts() lists the available texts."
            )
        row = rows.row(0, named=True)
        if row["blocks"] is None:
            raise PeercorpusError(
                f"The text of '{sha256[:80]}' has no blocks, as the engine '{row['engine']}' knows none."
            )
        return StructuredText(row["markdown"], convert_blocks(row["blocks"]))

    def structured_texts(self, venue_id: str | None = None) -> Iterator[tuple[str, StructuredText]]:
        """Iterate over the texts that have blocks, each with the sha256 of its file, in bounded memory.

        Args:
            venue_id: The venue to read; None reads all of them, one after another.

        Example:
            >>> sum(1 for sha256, text in corpus.structured_texts("JLE"))
            5
        """
        for text in self.records(PaperText, venue_id):
            if text.blocks is not None:
                yield text.sha256, StructuredText(text.markdown, text.blocks)

    def conversations(self) -> "pl.LazyFrame":
        """Scan the conversations, one row for each exchange with a reviewer or with somebody else.

        Columns are the fields of `records.reviews.Conversation`: `conversation_id` (the key), `forum_id`, `venue_id`,
        `reviewer`, `turns` and `context` (lists of structs), `undated_changes` and `kind` (`review`, or another).

        Example:
            >>> corpus.conversations().filter(pl.col("kind") == "review").collect().height
            29
        """
        return self._scan("6-conversations")

    def changes(self) -> "pl.LazyFrame":
        """Scan the passages that differ between the initial and the last version of a paper, one row each.

        Columns are the fields of `records.documents.Change`: among them `forum_id`, `left_sha256` and `right_sha256`
        (the two files), `kind`, `section`, `before` and `after`.

        Example:
            >>> corpus.changes().filter(pl.col("kind") == "added").collect().height > 0
            True
        """
        return self._scan("7-changes")

    def points(self) -> "pl.LazyFrame":
        """Scan the points of reviews, one row for each criticism, question, word of praise or passage between them.

        Columns are the fields of `records.points.Point`: among them `review_id`, `kind`, `label`, `aspect`, `text`,
        `answers` (a list of structs), `reaction` and `changes`. `peercorpus build --points` makes the table.

        Example:
            >>> corpus.points().filter(pl.col("kind") == "question").collect().height
            30
        """
        return self._scan("9-points")

    def links(self) -> "pl.LazyFrame":
        """Scan the pairs of submissions that are the same work, one row each.

        Columns are the fields of `records.papers.Link`: among them `forum_id` and `earlier_id` (the pair), `kind`,
        `days` between them and the `rule` that joined them.

        Example:
            >>> corpus.links().collect().height
            0
        """
        return self._scan("8-links")

    def tries(self) -> "pl.LazyFrame":
        """List the submissions of every work that was submitted more than once, one row each.

        Columns are the fields of `corpus.resubmissions.Attempt`: among them `work_id`, `try_number`, `tries`,
        `forum_id`, `status` and `ratings`. Only public reviews count. Unlike the other tables this one is computed
        from links, papers and reviews when the method is called.

        Raises:
            TableError: The links have not been built.

        Example:
            >>> corpus.tries().collect().height
            0
        """
        import polars as pl

        from peercorpus.corpus.resubmissions import Attempt, read_attempts
        from peercorpus.records.arrow_schema import to_arrow

        self._tables.require("8-links")
        return pl.DataFrame(to_arrow(Attempt, read_attempts(self._tables))).lazy()

    def set_aside(self) -> "pl.LazyFrame":
        """Scan the records that a stage could not use, one row each.

        Columns are the fields of `records.papers.SetAside`: `record_id`, `forum_id`, `venue_id`, `stage`, `reason`
        and `detail`.

        Example:
            >>> aside = corpus.set_aside().group_by("stage", "reason").len().sort("len").collect()
            >>> aside.row(-1)[:2]
            ('choose_versions', 'edit_of_a_reply')
        """
        return self._scan("set-aside")

    def records(self, record_type: type[RecordT], venue_id: str | None = None) -> Iterator[RecordT]:
        """Iterate over typed records, in bounded memory.

        Args:
            record_type: A record type that has a table, such as `records.reviews.Review`.
            venue_id: The venue to read; None reads all of them, one after another.

        Raises:
            TableError: The table of these records has not been built.

        Example:
            >>> from peercorpus.records.papers import Paper
            >>> sorted(paper.status.value for paper in corpus.records(Paper, "JLE"))
            ['accepted', 'rejected']
        """
        name = self._tables.name_of(record_type)
        self._tables.require(name)
        venue_ids = [venue_id] if venue_id is not None else self._tables.venues(name)
        for each_id in venue_ids:
            yield from self._tables.read(record_type, each_id)

    def statistics(
        self,
        name: str,
        where: Iterable[str] = (),
        tokenizer: str | None = None,
        model_texts: str | Path | None = None,
    ) -> "pl.DataFrame":
        """Return the numbers of one figure of `peercorpus report`.

        Args:
            name: A key of `report.panels.PANELS` or `POINT_PANELS`, such as `score_violins`.
            where: Conditions that papers must meet, such as `["year>=2023", "status=rejected"]`, or a single one; see
                `corpus.filters`.
            tokenizer: Tokenizer whose tokens lengths are counted in; None counts words and signs.
            model_texts: For `model_written`, reviews that a model wrote: a folder of .txt and .md files, or JSON Lines
                with the key `text`.

        Raises:
            PeercorpusError: The figure, a condition, the tokenizer or the model's texts do not exist.
            TableError: The tables of a venue are not up to date; conditions `venue=…` leave it out.

        Example:
            >>> corpus.statistics("papers_and_reviews", where="year>=2024").select("conference", "papers").rows()
            [('borealis', 3), ('cascadia', 2), ('jle', 2)]
        """
        from peercorpus.pipeline.build import require_whole
        from peercorpus.report.write_report import compute_statistic

        require_whole(self.folder, _as_list(where))
        return compute_statistic(self.folder, name, _as_list(where), tokenizer, _as_path(model_texts)).table

    def figure(
        self,
        name: str,
        where: Iterable[str] = (),
        tokenizer: str | None = None,
        model_texts: str | Path | None = None,
    ) -> "Figure":
        """Draw one figure of `peercorpus report` with Matplotlib; save it with its method `savefig`.

        Args:
            name: As for `statistics`.
            where: As for `statistics`.
            tokenizer: As for `statistics`.
            model_texts: As for `statistics`.

        Raises:
            MissingExtraError: Matplotlib is not installed.
            PeercorpusError: As for `statistics`.
            TableError: The tables have not been built.

        Example:
            >>> corpus.figure("papers_and_reviews").savefig("papers_and_reviews.png")
        """
        from peercorpus.pipeline.build import require_whole
        from peercorpus.report.write_report import draw_figure

        require_whole(self.folder, _as_list(where))
        return draw_figure(self.folder, name, _as_list(where), tokenizer, _as_path(model_texts))

    def sql(self, statement: str, *, time_limit_s: float = STATEMENT_TIMEOUT_S) -> "pl.DataFrame":
        """Run one SELECT on the tables that a release of the workspace would contain, and return its whole result.

        It reads the same tables as `peercorpus sql`, without anything hidden or taken down. They are those of the
        newest release, if nothing has changed since; otherwise the first call writes them to a temporary folder, which
        takes as long as `publish`.

        Args:
            statement: One SELECT in DuckDB's dialect.
            time_limit_s: Seconds after which it is stopped.

        Raises:
            MissingExtraError: DuckDB is not installed.
            TableError: The tables of a venue are not up to date.
            PeercorpusError: The statement is refused, fails, or takes more time or memory than it may.

        Example:
            >>> corpus.sql("SELECT status, count(*) AS papers FROM papers_full GROUP BY ALL ORDER BY ALL").rows()
            [('accepted', 6), ('desk_rejected', 1), ('rejected', 4), ('withdrawn', 1)]
        """
        from peercorpus.pipeline.build import require_whole

        require_whole(self.folder)
        return self._sql.frame(statement, time_limit_s)

    def _scan(self, name: str) -> "pl.LazyFrame":
        import polars as pl

        location = self._tables.require(name)
        version = self._tables.version(name)
        if self._whole.get(name) != version:
            require_whole(self._tables, name)
            self._whole[name] = version
        if not isinstance(location, Path):
            return pl.scan_delta(str(location), storage_options=scan_options())
        path = location.absolute()
        # Polars 2.1 looks for the percent-encoded path if the URI needs one (a space, a letter beyond ASCII).
        is_quoted = path.as_uri() != f"file://{path}"
        return pl.scan_delta(str(path), use_pyarrow=is_quoted)

    def __repr__(self) -> str:
        return f"Corpus({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        """Return the display in notebooks: venues with their public papers and reviews, and when the tables were built.

        Hidden and taken-down records are not counted.
        """
        from peercorpus.api.overview import make_html, read_overview

        with open_workspace(self.folder, write=False) as workspace:
            return make_html(self.folder, read_overview(workspace))


def _as_path(place: str | Path | None) -> Path | None:
    return None if place is None else Path(place)


def _as_list(where: Iterable[str]) -> Iterable[str]:
    """Return the conditions as a list, also if a single one was passed as a string."""
    return [where] if isinstance(where, str) else where


def open(folder: str | Path) -> Corpus:  # noqa: A001 -- read as `peercorpus.open`
    """Open a workspace for reading.

    Args:
        folder: The folder that `harvest`, `peercorpus harvest` or `peercorpus import` wrote.

    Raises:
        WorkspaceError: The folder is not a workspace.

    Example:
        >>> peercorpus.open("corpus").folder.name
        'corpus'
    """
    path = read_path(folder, "folder")
    with open_workspace(path, write=False) as workspace:
        return Corpus(path, workspace.tables)
