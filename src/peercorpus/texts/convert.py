"""The stage that reads the text of every file: each in a process that may die, committed in batches.

The texts of published records are taken as they are. What is left to do is found by comparing ids, so a killed run
continues where it was; what the engine has read before, for whichever venue, is taken from the cache.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from peercorpus.per_file import NOT_HERE, PASSING, in_batches, reported
from peercorpus.raw import Kind
from peercorpus.records import PaperText, PaperVersion
from peercorpus.spread import Failure, Spread
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Replacement, Tables
from peercorpus.texts.cache import TextCache
from peercorpus.texts.engine import Converted, Engine, Job, convert_file, load_engine
from peercorpus.texts.outcome import why_no_text
from peercorpus.texts.published import engine_of, published_text
from peercorpus.texts.settings import settings_of
from peercorpus.workspace import Workspace

NAME = "read_texts"
TABLE = "5-texts"
COLUMNS = ("sha256", "engine", "engine_version")
"""What a row must fit to be kept: a file or a published text, and what read it."""
BATCH_FILES = 64
"""Files converted before their texts are committed: what a kill can cost."""

Outcome = tuple[Job, Converted | Failure]

logger = logging.getLogger(__name__)


def _wanted(tables: Tables, venue_id: str) -> dict[str, str]:
    """The files of a venue's versions, each with the forum of the first version that has it, in forum order."""
    wanted: dict[str, str] = {}
    for version in tables.read(PaperVersion, venue_id):
        if version.sha256 is not None and version.is_pdf:
            wanted.setdefault(version.sha256, version.forum_id)
    return wanted


def _published(tables: Tables, venue_id: str) -> dict[str, str]:
    """The published texts among a venue's versions, each with the first record that holds it, in forum order."""
    records: dict[str, str] = {}
    for version in tables.read(PaperVersion, venue_id):
        if version.sha256 is not None and not version.is_pdf:
            records.setdefault(version.sha256, version.edit_id)
    return records


def _text(job: Job, converted: Converted, venue_id: str, engine: Engine) -> PaperText:
    return PaperText(
        sha256=job.sha256,
        venue_id=venue_id,
        engine=engine.name,
        engine_version=engine.version,
        markdown=converted.markdown,
        pages=converted.pages,
        characters_per_page=converted.characters / converted.pages,
        problems=converted.problems,
        headings=converted.headings,
        figures=converted.figures,
        quality=converted.quality,
        ocr_pages=converted.ocr_pages,
    )


def _commit(
    tables: Tables, venue_id: str, engine: Engine, batch: list[Outcome], wanted: dict[str, str], left: Replacement
) -> None:
    texts = []
    for job, result in batch:
        problem = why_no_text(result)
        if problem:
            left.set_aside(job.sha256, wanted[job.sha256], *problem)
        elif isinstance(result, Converted):
            texts.append(_text(job, result, venue_id, engine))
    if texts:
        tables.append(TABLE, venue_id, NAME, texts)
    logger.debug("%s %s: %d files read, %d set aside", NAME, venue_id, len(texts), len(batch) - len(texts))


def _cached(cache: TextCache, jobs: Iterable[Job], others: list[Job]) -> Iterator[Outcome]:
    """What was read before; jobs of which nothing is kept are added to the others."""
    for job in jobs:
        converted = cache.read(job.sha256)
        if converted is None:
            others.append(job)
        else:
            yield job, converted


def _caching(cache: TextCache, outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    """The same outcomes, each text kept as it comes; a failure is not, so that it is tried anew when the stage runs."""
    for job, result in outcomes:
        if isinstance(result, Converted):
            cache.write(job.sha256, result)
        yield job, result


def read_texts(spread: Spread, workspace: Workspace, venue_id: str, options: Options, key: str, report: Report) -> None:
    """Read the files of a venue that have not been read by this engine yet.

    Raises:
        PeercorpusError: There is no such engine.
    """
    tables, settings = workspace.tables, settings_of(options, workspace.folder / "answers.db")
    engine = load_engine(options.engine, settings)
    cache = TextCache(workspace, engine)
    wanted, records = _wanted(tables, venue_id), _published(tables, venue_id)
    of_files = [(sha256, engine.name, engine.version) for sha256 in wanted]
    of_records = [(sha256, engine_of(record_id), "") for sha256, record_id in records.items()]
    rows = tables.sift(PaperText, venue_id, NAME, COLUMNS, {*of_files, *of_records}, key)
    kept = {sha256 for sha256, *_ in rows}
    _take_published(workspace, venue_id, [record_id for sha256, record_id in records.items() if sha256 not in kept])
    to_read = [sha256 for sha256 in wanted if sha256 not in kept]
    present = {sha256 for sha256 in to_read if workspace.files.has(sha256)}
    absent = [sha256 for sha256 in to_read if sha256 not in present]
    path = workspace.files.path
    missing = [Job(sha256, path(sha256), engine.name, settings) for sha256 in to_read if sha256 in present]
    logger.info("%s %s: %d files, %d to read with %s", NAME, venue_id, len(wanted), len(missing), engine.name)
    with tables.replacing((), venue_id, NAME, key) as left:
        for sha256 in absent:
            left.set_aside(sha256, wanted[sha256], *NOT_HERE)
        to_convert: list[Job] = []
        for batch in in_batches(_cached(cache, missing, to_convert), BATCH_FILES):
            _commit(tables, venue_id, engine, batch, wanted, left)
        outcomes = spread(convert_file, to_convert, timeout_s=options.pdf_timeout_s, workers=options.workers)
        for batch in in_batches(reported(_caching(cache, outcomes), len(to_convert), report), BATCH_FILES):
            _commit(tables, venue_id, engine, batch, wanted, left)
    tables.finish(TABLE, venue_id, NAME, key)
    cache.trim()


def _take_published(workspace: Workspace, venue_id: str, record_ids: Sequence[str]) -> None:
    for start in range(0, len(record_ids), BATCH_FILES):
        found = (workspace.raw.find(Kind.PUBLISHED, each) for each in record_ids[start : start + BATCH_FILES])
        texts = [published_text(each, venue_id) for each in found if each is not None]
        workspace.tables.append(TABLE, venue_id, NAME, texts)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Files and published texts of the venue's versions = texts + files set aside."""
    tables = workspace.tables
    files, texts = len(_wanted(tables, venue_id)) + len(_published(tables, venue_id)), tables.count(TABLE, venue_id)
    return [Balance(NAME, venue_id, "files", files, texts, tables.set_aside_counts(venue_id, NAME))]


def _version(options: Options) -> str:
    return options.engine_version or load_engine(options.engine, settings_of(options)).version


def engine_used(tables: Tables, venue_id: str) -> tuple[str, str] | None:
    """Which engine, and which version of it, read the PDFs of a venue; None where none did."""
    for batch in tables.batches(TABLE, venue_id, ["engine", "engine_version"]):
        for row in batch.to_pylist():
            if row["engine_version"]:
                return row["engine"], row["engine_version"]
    return None


def stage(spread: Spread) -> Stage[Workspace]:
    """The stage, with the executor that spreads its work."""
    return Stage(
        name=NAME,
        version=2,
        reads_raw=(Kind.PUBLISHED,),
        reads=("4-versions",),
        writes=(TABLE,),
        options=("engine",),
        run=partial(read_texts, spread),
        balance=balance,
        passing=PASSING,
        made_with=_version,
    )
