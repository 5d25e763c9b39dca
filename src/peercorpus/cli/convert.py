"""`peercorpus convert`: PDFs as Markdown, without a workspace."""

from typing import Annotated

from cyclopts import Parameter

from peercorpus.cli.app import app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.cli.reading import DEFAULT_READING, Reading


@app.command
def convert(
    paths: Annotated[list[str], Parameter(name="PDF", help="PDFs, and folders or s3:// URLs, searched for *.pdf.")],
    /,
    *,
    out: str,
    reading: Reading = DEFAULT_READING,
    pages: bool = True,
    force: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Turn PDFs into Markdown: for each a `NAME.md` and a `NAME.json` with its headings, measures and problems.

    Stopped at any moment, it goes on where it was. A PDF that cannot be read has a JSON with the reason; exit code 1.

    Parameters
    ----------
    out
        The folder to write, or s3://BUCKET/PREFIX; of two PDFs of one name, one has a longer name.
    pages
        Show in the Markdown where pages end, by a line `---` between them.
    force
        Read again what was read before, and what could not be read.
    """
    from peercorpus import wording_texts
    from peercorpus.store import locate
    from peercorpus.texts.folder import convert_to_folder, find_pdfs

    options, spread = reading.settle()
    place, named = locate(out), [locate(path) for path in paths]
    sources = find_pdfs(named)
    with ProgressLines() as lines:
        summary = convert_to_folder(spread, sources, place, options, page_marks=pages, force=force, show=lines.show)
    say(wording_texts.converted(summary, place))
    return 1 if summary.failures else 0
