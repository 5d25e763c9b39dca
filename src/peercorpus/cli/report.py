"""The commands `report`, `table1` and `explore`."""

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.console import Named, ProgressLines, WorkspaceFolder, WorkspaceOrRelease, say
from peercorpus.cli.extras import needs_extra, require_extra, require_report
from peercorpus.cli.options import HERE, Spreading
from peercorpus.errors import ExitCode, PeercorpusError

if TYPE_CHECKING:
    from peercorpus.execution.executor import Executor
    from peercorpus.explorer.pages import Explorer
    from peercorpus.explorer.querying.embeddings import Embedder


def report(
    workspace: WorkspaceOrRelease,
    *,
    out: Annotated[Path | None, Named] = None,
    where: Annotated[tuple[str, ...], Parameter(show_default=False, negative=())] = (),
    tokenizer: str | None = None,
    profile: Literal["peercorpus", "re2"] = "peercorpus",
    detail: Annotated[tuple[str, ...], Parameter(show_default=False, negative=())] = (),
    model_texts: Path | None = None,
    confidential: Annotated[bool, Parameter(negative=())] = False,
    spreading: Spreading = HERE,
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
    detail
        With --profile re2: a conference that Fig. 3 shows; may be repeated. By default, the three with most papers.
    model_texts
        Reviews that a model wrote: a folder of .txt or .md files, or JSON Lines with the key "text". With them, the
        share of reviews that look written by a model is estimated; without, it is bounded from below.
    confidential
        For a workspace: also count what only the account that harvested may read, such as your venue's submissions and
        reviews before they are public. The page and every figure are marked as not for publication.
    """
    from peercorpus.cli.text.report import report_written
    from peercorpus.execution.local_processes import LocalExecutor
    from peercorpus.report.panels import FigureProfile
    from peercorpus.report.write_report import write_report

    spread = _settle_counting(tokenizer, spreading)
    require_report(workspace)
    target = out or _choose_folder(workspace, is_confidential=confidential)
    with ProgressLines() as lines:
        _build_confidential(workspace, lines, is_asked=confidential)
        written = write_report(
            workspace,
            target,
            where,
            tokenizer,
            lines.show,
            spread,
            profile=FigureProfile(profile),
            detail=detail,
            model_texts=model_texts,
            by_venue=None if confidential else LocalExecutor(),
            is_confidential=confidential,
        )
    say(report_written(written, target, is_filtered=bool(where)))


def _choose_folder(source: Path, *, is_confidential: bool) -> Path:
    """Return the folder of a report that is not named: beside the workspace or release, and outside any workspace."""
    from peercorpus.workspace.workspace import find_workspace_around

    beside = source.resolve()
    around = find_workspace_around(beside)
    kind = "confidential-report" if is_confidential else "report"
    folder = (around or beside).parent / f"{beside.name}-{kind}"
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _build_confidential(workspace: Path, lines: ProgressLines, *, is_asked: bool) -> None:
    """Bring the confidential tables of a workspace up to date if asked; a release is refused when it is opened."""
    from peercorpus.pipeline.build_confidential import build_confidential

    if is_asked and (workspace / "raw.db").is_file():
        build_confidential(workspace, lines.show)


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
    spread = None if spreading == HERE else spreading.settle()
    if tokenizer is not None:
        require_extra("tokens", "tokenizers")
    return spread


def table1(
    workspace: WorkspaceOrRelease,
    *,
    where: Annotated[tuple[str, ...], Parameter(show_default=False, negative=())] = (),
    name: str | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative=())] = False,
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
    from peercorpus.release.table1 import explain_row, table_json, table_markdown
    from peercorpus.report.dataset_row import dataset_row
    from peercorpus.report.write_report import open_source

    with open_source(workspace, where) as source:
        row = dataset_row(source, name)
    say(table_json(row) if as_json else f"{table_markdown(row)}\n\n{explain_row(row)}")


def explore(
    workspace: WorkspaceFolder,
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65_535))] = 8642,
    no_browser: Annotated[bool, Parameter(negative=())] = False,
    select: str | None = None,
    out: Annotated[Path | None, Named] = None,
    confidential: Annotated[bool, Parameter(negative=())] = False,
    embeddings: str | None = None,
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
    confidential
        Also show what only the account that harvested may read, such as your venue's submissions and reviews before
        they are public. Only this machine can reach the pages; each page and file is marked as not for publication.
    embeddings
        Find similar papers by this sentence-transformers model (extra 'neural'): a folder, or a name on the Hugging
        Face Hub. The first start embeds every title and abstract. By default, similar papers share rare words.
    """
    with needs_extra("web"):
        from peercorpus.explorer.export import check_extension, write_selection
        from peercorpus.explorer.selection import require_selection
        from peercorpus.explorer.server import is_loopback, require_loopback, serve_explorer
    from peercorpus.cli.text.report import exposed, selection_written

    if (select is None) != (out is None):
        raise PeercorpusError("--select and --out need each other; give both, or neither.")
    selection = require_selection(select or "")
    if out is not None:
        check_extension(out, is_confidential=confidential)
    if confidential:
        require_loopback(host)
    with ProgressLines() as lines, _open_pages(workspace, lines, embeddings, is_confidential=confidential) as explorer:
        if select is not None and out is not None:
            count = write_selection(explorer.index, selection, out, is_confidential=confidential)
            say(selection_written(count, out))
            return ExitCode.DONE if count else ExitCode.FOUND
        if not is_loopback(host):
            lines.warn(exposed(host))
        announce = partial(_announce, opens_browser=not no_browser, is_confidential=confidential)
        serve_explorer(explorer, host, port, announce)
    return ExitCode.DONE


@contextmanager
def _open_pages(
    workspace: Path, lines: ProgressLines, model: str | None, *, is_confidential: bool
) -> "Iterator[Explorer]":
    """Open the pages over the tables that everyone may read, or over those of the account that harvested."""
    from peercorpus.corpus.confidential import open_confidential
    from peercorpus.execution.local_processes import LocalExecutor
    from peercorpus.explorer.server import open_explorer
    from peercorpus.workspace.workspace import open_workspace

    embedder = None if model is None else _load_embedder(model)
    _build_confidential(workspace, lines, is_asked=is_confidential)
    with ExitStack() as stack:
        opened = stack.enter_context(open_workspace(workspace, write=False))
        if is_confidential:
            view = stack.enter_context(open_confidential(opened))
            yield open_explorer(view, lines.show, is_confidential=True, embedder=embedder)
        else:
            yield open_explorer(opened, lines.show, LocalExecutor(), embedder=embedder)


def _load_embedder(model: str) -> "Embedder":
    """Return a sentence-transformers model; it is loaded here, so that its revision is known."""
    from peercorpus.explorer.querying.embeddings import Embedder
    from peercorpus.metrics.embedding import embed_texts
    from peercorpus.models.local_models import model_signature

    embed_texts(["papers"], model=model)
    return Embedder(model_signature(model), partial(embed_texts, model=model))


def _announce(url: str, *, opens_browser: bool, is_confidential: bool) -> None:
    """Print the address of the explorer, and open it in a browser if there is a screen."""
    from peercorpus.cli.text.report import serving

    say(serving(url, is_confidential=is_confidential))
    has_screen = sys.platform in {"darwin", "win32"} or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if opens_browser and has_screen:
        webbrowser.open(url)
