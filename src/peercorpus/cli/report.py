"""The commands `report`, `table1`, `explore` and `mcp`."""

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.console import Named, ProgressLines, WorkspaceFolder, WorkspaceOrRelease, say
from peercorpus.cli.options import HERE, needs_extra, open_executor, require_extra
from peercorpus.errors import ExitCode, PeercorpusError
from peercorpus.execution.requests import Spreading
from peercorpus.wording.counted_nouns import plural, verb

if TYPE_CHECKING:
    from peercorpus.execution.executor import Executor
    from peercorpus.explorer.pages import Explorer
    from peercorpus.report.write_report import ReportFiles


def report(
    workspace: WorkspaceOrRelease,
    *,
    out: Annotated[Path | None, Named] = None,
    where: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    tokenizer: str | None = None,
    profile: Literal["peercorpus", "re2"] = "peercorpus",
    model_texts: Path | None = None,
    spreading: Annotated[Spreading, Parameter(name="*")] = HERE,
) -> None:
    """Draw the statistics of a corpus: one web page, and each figure as PDF, SVG, PNG and CSV.

    Parameters
    ----------
    out
        Folder to write; an earlier report in it is replaced. Default: corpus-report beside the workspace or release.
    where
        Only papers that meet a condition: year>=2023, conference=iclr, status=rejected, grade=exact, rating>=6,
        keyword="large models", has_rebuttal=yes, score_changed=no. May be repeated: all conditions must be met, but
        only one of several with "=" and the same name.
    tokenizer
        Tokenizer that counts tokens: a file tokenizer.json, a folder with one, or a model on the Hugging Face Hub. By
        default, words and punctuation marks are counted.
    profile
        Figures to draw: our own, or those of the Re² paper (its Fig. 2 a to f and Fig. 3).
    model_texts
        Reviews that a model wrote, to estimate the share of reviews that look so: a folder of .txt or .md files, or
        JSON Lines with the key "text".
    """
    from peercorpus.execution.local_processes import LocalExecutor
    from peercorpus.pipeline.build import require_whole
    from peercorpus.report.panels import FigureProfile
    from peercorpus.report.write_report import write_report

    spread = _settle_counting(tokenizer, spreading)
    require_extra("report", "matplotlib")
    require_whole(workspace, where)
    target = out or _choose_folder(workspace)
    with ProgressLines() as lines:
        written = write_report(
            workspace,
            target,
            where,
            tokenizer,
            lines.show,
            spread,
            profile=FigureProfile(profile),
            model_texts=model_texts,
            by_venue=LocalExecutor(),
        )
    say(report_written(written, target, is_filtered=bool(where)))


def _choose_folder(source: Path) -> Path:
    """Return the folder of a report that is not named: beside the workspace or release, and outside any workspace."""
    from peercorpus.workspace.workspace import find_workspace_around

    beside = source.resolve()
    around = find_workspace_around(beside)
    folder = (around or beside).parent / f"{beside.name}-report"
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _settle_counting(tokenizer: str | None, spreading: Spreading) -> "Executor | None":
    """Return the executor that counts tokens; None if the tokenizer's own threads do, on all cores of this machine.

    Raises:
        PeercorpusError: Work is to be distributed, but none is.
        MissingExtraError: A package is not installed.
    """
    if spreading != HERE and tokenizer is None:
        raise PeercorpusError(
            "--executor, --address and --workers need --tokenizer, as only counting its tokens is distributed; add"
            " --tokenizer, or leave them out."
        )
    spread = None if spreading == HERE else open_executor(spreading)
    if tokenizer is not None:
        require_extra("hf", "tokenizers")
    return spread


def table1(
    workspace: WorkspaceOrRelease,
    *,
    where: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    name: str | None = None,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
) -> None:
    """Print the row that Table 1 of the Re² paper would have for a corpus, above the printed rows.

    Parameters
    ----------
    where
        Only papers that meet a condition, as for 'peercorpus report'. May be repeated.
    name
        Name of the corpus in the table; by default, that of its folder.
    as_json
        Print JSON, with the counts behind each cell, instead of a Markdown table.
    """
    from peercorpus.pipeline.build import require_whole
    from peercorpus.release.table1 import explain_row, table_json, table_markdown
    from peercorpus.report.write_report import dataset_row, open_source

    require_whole(workspace, where)
    with open_source(workspace, where) as source:
        row = dataset_row(source, name)
    say(table_json(row) if as_json else f"{table_markdown(row)}\n\n{explain_row(row)}")


def explore(
    workspace: WorkspaceFolder,
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65_535))] = 8642,
    no_browser: bool = False,
    select: str | None = None,
    out: Annotated[Path | None, Named] = None,
) -> int:
    """Search and read the corpus in a browser on this machine, or write a selection of papers to a file.

    The first start after a build creates a search index, which takes about a minute per 10,000 papers.

    Parameters
    ----------
    host
        Address to listen on. The default can be reached from this machine only.
    port
        Port to listen on; 0 picks a free one.
    no_browser
        Do not open a browser.
    select
        Do not start the explorer: write the papers that one of its pages shows to --out, given as the page's URL query
        string; an empty string selects all papers.
    out
        With --select: the file to write (.csv, .jsonl or .parquet). Exit with 1 if no paper is selected.
    """
    with needs_extra("web"):
        from peercorpus.explorer.export import check_extension, write_selection
        from peercorpus.explorer.selection import require_selection
        from peercorpus.explorer.server import is_loopback, serve_explorer

    if (select is None) != (out is None):
        raise PeercorpusError("--select and --out need each other; give both, or neither.")
    selection = require_selection(select or "")
    if out is not None:
        check_extension(out)
    with ProgressLines() as lines, _open_pages(workspace, lines) as explorer:
        if select is not None and out is not None:
            count = write_selection(explorer.index, selection, out)
            say(f"{plural(count, 'paper')} in {out}")
            return ExitCode.DONE if count else ExitCode.FOUND
        if not is_loopback(host):
            lines.warn(
                f"WARNING: on '{host}' anyone who can reach this machine can read the whole corpus, without a password."
            )
        announce = partial(_announce, opens_browser=not no_browser)
        serve_explorer(explorer, host, port, announce)
    return ExitCode.DONE


@contextmanager
def _open_pages(workspace: Path, lines: ProgressLines) -> "Iterator[Explorer]":
    from peercorpus.execution.local_processes import LocalExecutor
    from peercorpus.explorer.server import open_explorer
    from peercorpus.pipeline.build import require_whole
    from peercorpus.workspace.workspace import open_workspace

    require_whole(workspace)
    with open_workspace(workspace, write=False) as opened:
        yield open_explorer(opened, lines.show, LocalExecutor())


def _announce(url: str, *, opens_browser: bool) -> None:
    """Print the address of the explorer, and open it in a browser if there is a screen."""
    say(f"The corpus is at {url} until you press Ctrl-C.")
    has_screen = sys.platform in {"darwin", "win32"} or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if opens_browser and has_screen:
        webbrowser.open(url)


def report_written(written: "ReportFiles", out: Path, *, is_filtered: bool) -> str:
    """Return what was drawn, what could not be drawn and why, and which page to open."""
    from peercorpus.report.page import PAGE_NAME

    papers = plural(written.papers, "paper")
    if written.papers < written.every:
        papers = f"{written.papers:,} of {plural(written.every, 'paper')}"
    elif is_filtered and written.papers > 1:
        papers = f"all {papers}"
    number = len(written.empty)
    empty = f"; {plural(number, 'figure')} {verb(number, 'has', 'have')} nothing to draw:" if number else "."
    return "\n".join(
        [
            f"Drew {plural(written.figures, 'figure')} of {papers}{empty}",
            *(f"  '{title}': {reason}" for title, reason in written.empty),
            f"Open {out / PAGE_NAME} in a browser; the figures and their data are next to it.",
        ]
    )


def mcp(workspace: WorkspaceOrRelease) -> None:
    """Let assistants query the corpus: a read-only server for the Model Context Protocol on standard input and output.

    A client starts it. Its tools search papers and criticisms, read records, conversations and scores, count, and run
    SQL within limits. Nothing is written into the folder.

    For a workspace, it shows what a release would contain: its newest one, if nothing has changed since; otherwise the
    tables are first written to a temporary folder, which takes as long as `publish`.
    """
    with needs_extra("web"):
        from peercorpus.mcp_server.tools import serve
    from peercorpus.pipeline.build import require_whole

    require_whole(workspace)
    with ProgressLines() as lines:
        serve(workspace, lines.show)
