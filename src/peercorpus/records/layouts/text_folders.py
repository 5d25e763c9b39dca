"""Read a folder of texts, one file per paper, with a table of their outcomes.

Source: SakanaAI/AI-Scientist, `review_iclr_bench`: `iclr_parsed/<forum id>.txt` and `ratings_subset.tsv`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from peercorpus.records.layouts.paper_lists import DECISIONS, IDS, find_column, read_paper_row
from peercorpus.records.layouts.stated import Row, StatedPaper, as_text

TEXT, ROW = "text", "row"
SUFFIXES = (".txt", ".md", ".markdown", ".mmd")
MIN_TEXTS = 2
"""Fewest texts that a table must name for a folder to be one of texts: a single one may be a README."""


def has_outcomes(columns: Iterable[str]) -> bool:
    """Return whether columns are those of a table of decisions: an id and an outcome."""
    columns = list(columns)
    return find_column(columns, IDS) is not None and find_column(columns, DECISIONS) is not None


def find_texts(files: Sequence[Path]) -> dict[str, Path]:
    """Return the text files by their names without suffixes."""
    return {path.stem: path for path in files if path.suffix.lower() in SUFFIXES}


def read_text_row(parts: Row) -> StatedPaper:
    """Return the paper of a row and its text."""
    stated = read_paper_row({ROW: parts[ROW]})
    return StatedPaper(
        title=stated.title,
        abstract=stated.abstract,
        authors=stated.authors,
        keywords=stated.keywords,
        decision=stated.decision,
        status=stated.status,
        text=as_text(parts.get(TEXT)),
        reviews=stated.reviews,
        extra=stated.extra,
    )
