"""`peercorpus convert`: PDFs as Markdown, without a workspace."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import (
    DEFAULT_ENGINE,
    Address,
    AtLeastOne,
    EngineModel,
    EngineName,
    EngineUrl,
    Executor,
    Heavier,
    Models,
    MostPages,
    Ocr,
    app,
)
from peercorpus.cli.console import ProgressLines, say


@app.command
def convert(
    paths: Annotated[list[str], Parameter(name="PDF", help="PDFs, and folders or s3:// URLs, searched for *.pdf.")],
    /,
    *,
    out: str,
    engine: EngineName = DEFAULT_ENGINE,
    ocr: Ocr = "off",
    heavier: Heavier = None,
    models: Models = None,
    engine_url: EngineUrl = None,
    engine_model: EngineModel = None,
    most_pages: MostPages = 1_000,
    executor: Executor = "local",
    address: Address = None,
    workers: Annotated[int | None, AtLeastOne] = None,
    pdf_timeout_s: Annotated[float, Parameter(validator=Number(gt=0))] = 60.0,
    pages: bool = True,
    force: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Turn PDFs into Markdown: for each a `NAME.md` and a `NAME.json` with its headings, measures and problems.

    Stopped at any moment, it goes on where it was. A PDF that cannot be read has a JSON with the reason; exit code 1.

    Parameters
    ----------
    out
        The folder to write, or s3://BUCKET/PREFIX; two PDFs of one name are told apart by a part of their sha256.
    workers
        Processes that read PDFs; one per core if not named.
    pdf_timeout_s
        Seconds a single PDF may take.
    pages
        Show in the Markdown where pages end, by a line `---` between them.
    force
        Read again what was read before, and what could not be read.
    """
    from peercorpus import wording_texts
    from peercorpus.executors.choose import load_executor
    from peercorpus.stage import Options
    from peercorpus.store import locate
    from peercorpus.texts.engine import HEAVY
    from peercorpus.texts.folder import convert_to_folder, find_pdfs

    options = Options(
        engine=engine,
        ocr=ocr,
        heavier=heavier,
        models=models,
        engine_url=engine_url,
        engine_model=engine_model,
        most_pages=most_pages,
        pdf_timeout_s=pdf_timeout_s,
        workers=workers,
    )
    sources, place = find_pdfs([locate(path) for path in paths]), locate(out)
    spread = load_executor(executor, address, heavy=not HEAVY.isdisjoint({engine, heavier}))
    with ProgressLines() as lines:
        summary = convert_to_folder(spread, sources, place, options, page_marks=pages, force=force, show=lines.show)
    say(wording_texts.converted(summary, place))
    return 1 if summary.failures else 0
