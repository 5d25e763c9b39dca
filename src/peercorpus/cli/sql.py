"""The command `sql`."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.console import AtLeastOne, Named, ProgressLines, WorkspaceOrRelease, finite, require_outside, say
from peercorpus.cli.streams import print_notice
from peercorpus.errors import PeercorpusError
from peercorpus.execution.waits import STATEMENT_TIMEOUT_S

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
    from peercorpus.sql.public_tables import open_public_tables
    from peercorpus.sql.query import require_engine

    require_engine()
    asked = _read_statement(statement)
    if asked is not None and table is not None:
        raise PeercorpusError("--table lists columns, and a statement is run; leave one of them out.")
    chosen = _choose_format(form, out)
    if out is not None:
        _check_out(out, workspace)
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
    from peercorpus.cli.text import sql as sql_texts
    from peercorpus.sql.frames import to_csv, to_json
    from peercorpus.workspace.private_files import replacing

    most = limit or (SHOWN_ROWS if form == "text" and out is None else result.height)
    shown = result.head(most)
    if form == "parquet":
        text = ""
    elif form == "text":
        text = sql_texts.as_text(shown) if is_cut else sql_texts.as_text(shown, MAX_CHARACTERS)
    else:
        text = to_csv(shown) if form == "csv" else to_json(shown)
    counted = sql_texts.counted(shown.height, result.height)
    if out is not None:
        with replacing(out) as partial:
            if form == "parquet":
                shown.write_parquet(partial)
            else:
                partial.write_text(text, encoding="utf-8", newline="")
        say(sql_texts.written(counted, out))
        return
    say(text.removesuffix("\n"))
    if form == "text":
        say(counted)
    elif shown.height < result.height:
        print_notice(counted)
