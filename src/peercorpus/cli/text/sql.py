"""Texts of `sql`: a result as a table, and how many rows it has."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peercorpus.records.counted_nouns import plural
from peercorpus.records.untrusted_text import escape_controls

if TYPE_CHECKING:
    import polars as pl

CELL_CHARACTERS = 80
"""Longest cell of a result; the rest is cut off."""


def as_text(frame: "pl.DataFrame", cell_characters: int = CELL_CHARACTERS) -> str:
    r"""Return a frame as a table, with numbers to the right, rounded to four places.

    Args:
        frame: The rows.
        cell_characters: Longest cell, in characters; the rest is cut off.

    >>> import polars as pl
    >>> print(as_text(pl.DataFrame({"venue": ["ICLR\x1b", None], "mean": [5.33333, 12.0]})), end="")
    venue       mean
    ICLR\x1b  5.3333
    null          12
    """
    from peercorpus.sql.frames import iterate_rows

    rows = [[_cell(cell, cell_characters) for cell in row] for row in iterate_rows(frame)]
    header = [_cell(name, cell_characters) for name in frame.columns]
    widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    are_numbers = [kind.is_numeric() for kind in frame.dtypes]
    columns = list(zip(widths, are_numbers, strict=True))
    lines = (
        "  ".join(
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, (width, is_number) in zip(cells, columns, strict=True)
        ).rstrip()
        for cells in [header, *rows]
    )
    return "".join(f"{line}\n" for line in lines)


def _cell(cell: Any, most_characters: int) -> str:  # noqa: ANN401 -- whatever a cell holds
    r"""Return a cell on one line.

    >>> [_cell(cell, 80) for cell in (None, True, 0.000049, -0.00001, 1e20, [1, None], "a\nb")]
    ['null', 'true', '0', '0', '100000000000000000000', '[1, null]', 'a b']
    """
    if isinstance(cell, float):
        return f"{round(cell, 4) + 0.0:.4f}".rstrip("0").rstrip(".")
    text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return escape_controls(" ".join(text.split()), most_characters)


def counted(shown: int, rows: int) -> str:
    """Return how many rows a result has, and how to see those that are not shown.

    >>> counted(2, 2), counted(100, 1203)
    ('2 rows.', '100 of 1,203 rows; --limit shows more, --out FILE writes all.')
    """
    if shown == rows:
        return f"{plural(rows, 'row')}."
    return f"{shown:,} of {plural(rows, 'row')}; --limit shows more, --out FILE writes all."


def written(count: str, out: Path) -> str:
    """Return where rows were written.

    >>> written("2 rows.", Path("answer.csv"))
    "Wrote 2 rows to 'answer.csv'."
    """
    return f"Wrote {count.partition(';')[0].removesuffix('.')} to '{out}'."
