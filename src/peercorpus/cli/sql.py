"""The command `sql`."""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.console import AtLeastOne, Named, ProgressLines, WorkspaceOrRelease, finite, require_outside, say
from peercorpus.cli.streams import print_notice
from peercorpus.errors import PeercorpusError
from peercorpus.execution.requests import STATEMENT_TIMEOUT_S
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.untrusted_text import escape_controls

if TYPE_CHECKING:
    import polars as pl


Format = Literal["text", "csv", "json", "parquet"]
_FORMAT_OF: "Mapping[str, Format]" = {
    "": "text",
    ".txt": "text",
    ".csv": "csv",
    ".json": "json",
    ".parquet": "parquet",
}
"""Extension of a file → the format that it means."""
SHOWN_ROWS = 100
"""Maximum number of rows printed as text, unless the user sets another number."""
MAX_CHARACTERS = 2_000
"""Longest cell of a list of tables or columns."""


def sql(
    statement: Annotated[
        str | None,
        Parameter(
            name="STATEMENT",
            allow_leading_hyphen=True,
            help="One SELECT in DuckDB's dialect; '-' reads it from standard input.",
        ),
    ] = None,
    /,
    *,
    workspace: WorkspaceOrRelease,
    table: str | None = None,
    form: Annotated[Format | None, Parameter(name="--format", show_default=False)] = None,
    out: Annotated[Path | None, Named] = None,
    limit: Annotated[int | None, AtLeastOne] = None,
    time_limit_s: Annotated[float, finite(Number(gt=0))] = STATEMENT_TIMEOUT_S,
) -> None:
    """Run a SELECT over the public tables of a workspace or a release, and print the result as text, CSV or JSON.

    Without a statement, list the tables. A statement only reads: anything else is refused. If it is refused, fails or
    is stopped at its limits (--time-limit-s, 2 GB of memory, a result of 1 GB), the command exits with 2.

    For a workspace, it reads what a release would contain: its newest one, if nothing has changed since; otherwise the
    tables are first written to a temporary folder, which takes as long as `publish`.

    Parameters
    ----------
    table
        List the columns of this table, with their types and meanings.
    form
        text: a table; csv: lists and structs as JSON, null as an empty cell; json: an array of objects. Default: by the
        extension of --out, else text. parquet: a file, so only with --out.
    out
        Write the whole result to this file, which is replaced: .csv, .json, .parquet or .txt.
    limit
        Maximum number of rows to print or write. Default: 100 as text, otherwise all.
    time_limit_s
        Stop the statement after this many seconds.
    """
    from peercorpus.pipeline.build import require_whole
    from peercorpus.sql.public_tables import open_public_tables
    from peercorpus.sql.query import require_engine

    require_engine()
    asked = _read_statement(statement)
    if asked is not None and table is not None:
        raise PeercorpusError("--table lists columns, and a statement is run; leave one of them out.")
    chosen = _choose_format(form, out)
    if out is not None:
        _check_out(out, workspace)
    require_whole(workspace)
    with ProgressLines() as lines, open_public_tables(workspace, lines.show) as tables:
        if asked is not None:
            result = tables.database.frame(asked, time_limit_s=time_limit_s)
        else:
            result = tables.list_tables() if table is None else tables.list_columns(table)
    _report(result, chosen, out, limit, is_cut=asked is not None)


def _read_statement(statement: str | None) -> str | None:
    """Return the statement; None if none was given.

    Raises:
        PeercorpusError: It is an unknown option, is empty, or is not UTF-8.
    """
    if statement is not None and re.fullmatch(r"-\S+", statement):
        raise PeercorpusError(f"Unknown option: {statement}.")
    try:
        if statement == "-":
            statement = sys.stdin.read()
    except UnicodeDecodeError:
        raise PeercorpusError("The statement in standard input is not UTF-8 text; save it in UTF-8.") from None
    if statement is not None and not statement.strip():
        raise PeercorpusError("The statement is empty; leave it out to list the tables.")
    return statement


def _check_out(out: Path, workspace: Path) -> None:
    """Check that a file may be written.

    Raises:
        PeercorpusError: It is a folder, its own folder does not exist, or it is inside the workspace or release.
    """
    if out.is_dir():
        raise PeercorpusError(f"'{out}' is a folder; name a file with --out.")
    if not out.absolute().parent.is_dir():
        raise PeercorpusError(f"'{out}' cannot be written: there is no folder '{out.parent}'; create it.")
    require_outside(out, workspace, "--out")


def _choose_format(form: Format | None, out: Path | None) -> Format:
    """Return the format that was named, or that the extension of the file means.

    Raises:
        PeercorpusError: The extension means none or another one than was named, or Parquet would be printed.
    """
    if out is None:
        if form == "parquet":
            raise PeercorpusError("Parquet cannot be printed; name a file with --out.")
        return form or "text"
    meant = _FORMAT_OF.get(out.suffix.lower())
    if form is None and meant is None:
        raise PeercorpusError(
            f"The extension of '{out.name}' is not a format; use .csv, .json, .parquet or .txt, or name a format with"
            " --format."
        )
    if form is not None and meant not in {None, "text", form}:
        raise PeercorpusError(f"'{out.name}' is not named as {form}; leave out --format, or name another file.")
    return form or meant or "text"


def _report(result: "pl.DataFrame", form: Format, out: Path | None, limit: int | None, *, is_cut: bool) -> None:
    """Print the rows of a result, or write them to a file, and say if that is not all of them.

    Args:
        result: The rows.
        form: How they are written.
        out: The file; None prints them.
        limit: Maximum number of rows; None means `SHOWN_ROWS` if a table is printed, otherwise all.
        is_cut: Whether long cells of a table are cut off.
    """
    from peercorpus.sql.frames import to_csv, to_json
    from peercorpus.workspace.private_files import replacing

    most = limit or (SHOWN_ROWS if form == "text" and out is None else result.height)
    shown = result.head(most)
    if form == "parquet":
        text = ""
    elif form == "text":
        text = as_text(shown) if is_cut else as_text(shown, MAX_CHARACTERS)
    else:
        text = to_csv(shown) if form == "csv" else to_json(shown)
    summary = count_shown(shown.height, result.height)
    if out is not None:
        with replacing(out) as partial:
            if form == "parquet":
                shown.write_parquet(partial)
            else:
                partial.write_text(text, encoding="utf-8", newline="")
        say(written(summary, out))
        return
    say(text.removesuffix("\n"))
    if form == "text":
        say(summary)
    elif shown.height < result.height:
        print_notice(summary)


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


def count_shown(shown: int, rows: int) -> str:
    """Return how many rows a result has, and how to see those that are not shown.

    >>> count_shown(2, 2), count_shown(100, 1203)
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
