"""Find the figures of a file by its sha256, and the position of a figure in a text, in bounded memory."""

import re
from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc

from peercorpus.errors import TableError
from peercorpus.records.arrow_schema import arrow_schema, from_arrow
from peercorpus.records.documents import PAGE_BREAK, Figure
from peercorpus.records.enums import FigureKind
from peercorpus.records.papers import PaperVersion, SetAside
from peercorpus.wording.counted_nouns import plural
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.object_store import Location
from peercorpus.workspace.parquet import open_part

TABLE = "5-figures"
STAGE = "cut_figures"
_BLOCK_BREAK = "\n\n"
"""Separator between two blocks of Markdown."""
_STARTS = {FigureKind.FIGURE: r"fig(?:ure|\.)", FigureKind.TABLE: r"tab(?:le|\.)"}


class VenueFigures:
    """The figures of a venue's files; only the positions of row groups are in memory."""

    def __init__(self, tables: Tables, venue_id: str) -> None:
        self._venue_id = venue_id
        self._places: defaultdict[str, list[tuple[Location, int]]] = defaultdict(list)
        for path in tables.paths(TABLE, venue_id):
            with open_part(path) as file:
                for group in range(file.num_row_groups):
                    sha256s = file.read_row_group(group, ["sha256"]).column(0).to_pylist()
                    for sha256 in dict.fromkeys(sha256s):
                        self._places[sha256].append((path, group))

    def read(self, sha256: str) -> list[Figure]:
        """Return the figures of a file in the order of its text; empty if it has none."""
        figures: list[Figure] = []
        for path, group in self._places.get(sha256, ()):
            with open_part(path) as file:
                rows = file.read_row_group(group).filter(pc.field("sha256") == sha256)
            venue = pa.array([self._venue_id] * rows.num_rows, pa.string())
            rows = rows.append_column(arrow_schema(Figure).field("venue_id"), venue)
            for batch in rows.to_batches():
                figures += from_arrow(Figure, batch)
        return sorted(figures, key=lambda figure: figure.number)


def require_figures(tables: Tables, venue_id: str) -> None:
    """Check that figures were extracted from every PDF of a venue's versions, or that the PDF was set aside.

    Raises:
        TableError: For some PDFs neither is the case.
    """
    files = {one.sha256 for one in tables.read(PaperVersion, venue_id) if one.sha256 is not None and one.is_pdf}
    cut = {sha256 for (sha256,) in tables.tuples(TABLE, venue_id, ("sha256",))}
    aside = {one.record_id for one in tables.read(SetAside, venue_id) if one.stage == STAGE}
    missing = len(files - cut - aside)
    if missing:
        raise TableError(
            f"The figures of {plural(missing, 'PDF')} of '{venue_id}' have not been extracted yet; run 'peercorpus"
            " build --figures'."
        )


def find_caption_block(markdown: str, figure: Figure) -> int | None:
    """Return the index of the block with a figure's caption; None if no block of its page begins with its label.

    Blocks are separated by blank lines and counted from 0; the line between two pages is also a block. A text that is
    not divided into pages is searched as a whole.
    """
    begins = re.compile(
        rf"[\W_]*(?:(?:supplementary|extended data) )?{_STARTS[figure.kind]}\W*{re.escape(figure.label.split()[-1])}"
        r"(?!\w|\.\d)",
        re.IGNORECASE,
    )
    has_pages = PAGE_BREAK in markdown
    page = 1
    for number, block in enumerate(markdown.split(_BLOCK_BREAK)):
        if block == PAGE_BREAK.strip():
            page += 1
        elif (page == figure.page or not has_pages) and begins.match(block):
            return number
    return None
