"""The stage that reads the text of every file: each in a process that may die.

The texts of published records are taken as they are. What an engine reads is kept in the cache as it comes, so a killed
run continues where it was; the table changes when all is read, and until then has what it had before.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from peercorpus.errors import PeercorpusError
from peercorpus.kinds import Reason
from peercorpus.per_file import NOT_HERE, PASSING, in_batches, reported
from peercorpus.raw import Kind
from peercorpus.records import PaperText, PaperVersion
from peercorpus.spread import Spread
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Tables
from peercorpus.texts.cache import TextCache
from peercorpus.texts.choose import choose_engine
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
"""Texts in one commit."""

Aside = tuple[Reason, str]
"""Why a file gives no text, and the sentence for it."""

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


def _text(sha256: str, converted: Converted, venue_id: str, engine: Engine) -> PaperText:
    return PaperText(
        sha256=sha256,
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
        heavier_pages=converted.heavier_pages,
    )


def _read(spread: Spread, cache: TextCache, jobs: Sequence[Job], options: Options, report: Report) -> dict[str, Aside]:
    """Read into the cache what is not there yet; of each file that gives no text, why."""
    asides: dict[str, Aside] = {}
    to_read = []
    for job in jobs:
        kept = cache.read(job.sha256)
        if kept is None:
            to_read.append(job)
        elif (problem := why_no_text(kept)) is not None:
            asides[job.sha256] = problem
    outcomes = spread(convert_file, to_read, timeout_s=options.pdf_timeout_s, workers=options.workers)
    for job, result in reported(outcomes, len(to_read), report):
        if isinstance(result, Converted):
            # A failure is not kept, so that it is tried anew when the stage runs.
            cache.write(job.sha256, result)
        problem = why_no_text(result)
        if problem is not None:
            asides[job.sha256] = problem
    return asides


def _kept_texts(cache: TextCache, sha256s: Iterable[str], venue_id: str, engine: Engine) -> Iterator[PaperText]:
    for sha256 in sha256s:
        converted = cache.read(sha256)
        if converted is None:
            raise PeercorpusError(
                f"The text of the file {sha256} left the workspace's cache while it was built; run 'peercorpus build'"
                " again."
            )
        yield _text(sha256, converted, venue_id, engine)


def read_texts(spread: Spread, workspace: Workspace, venue_id: str, options: Options, key: str, report: Report) -> None:
    """Read the files of a venue that have not been read by this engine yet.

    Raises:
        PeercorpusError: There is no such engine, or it does not take an option that is set.
    """
    tables, chosen = workspace.tables, choose_engine(options, workspace.folder / "answers.db")
    engine, cache = chosen.engine, TextCache(workspace, chosen.engine)
    wanted, records = _wanted(tables, venue_id), _published(tables, venue_id)
    fitting = {(sha256, engine.name, engine.version) for sha256 in wanted}
    fitting |= {(sha256, engine_of(record_id), "") for sha256, record_id in records.items()}
    held = {sha256 for sha256, *_ in fitting & tables.tuples(TABLE, venue_id, COLUMNS)}
    to_read = [sha256 for sha256 in wanted if sha256 not in held]
    path, present = workspace.files.path, set(filter(workspace.files.has, to_read))
    jobs = [Job(sha256, path(sha256), engine.name, chosen.settings) for sha256 in to_read if sha256 in present]
    logger.info("%s %s: %d files, %d to read with %s", NAME, venue_id, len(wanted), len(jobs), engine.name)
    asides = dict.fromkeys((sha256 for sha256 in to_read if sha256 not in present), NOT_HERE)
    asides |= _read(spread, cache, jobs, options, report)
    tables.sift(PaperText, venue_id, NAME, COLUMNS, fitting, key)
    _take_published(workspace, venue_id, [record_id for sha256, record_id in records.items() if sha256 not in held])
    texts = _kept_texts(cache, [sha256 for sha256 in to_read if sha256 not in asides], venue_id, engine)
    for batch in in_batches(texts, BATCH_FILES):
        tables.append(TABLE, venue_id, NAME, batch)
    with tables.replacing((), venue_id, NAME, key) as left:
        for sha256, problem in asides.items():
            left.set_aside(sha256, wanted[sha256], *problem)
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


def default_engine() -> tuple[str, str]:
    """The engine that reads PDFs where none is named, and its version here."""
    engine = load_engine(Options().engine)
    return engine.name, engine.version


def stage(spread: Spread) -> Stage[Workspace]:
    """The stage, with the executor that spreads its work."""
    return Stage(
        name=NAME,
        version=3,
        reads_raw=(Kind.PUBLISHED,),
        reads=("4-versions",),
        writes=(TABLE,),
        options=("engine",),
        run=partial(read_texts, spread),
        balance=balance,
        passing=PASSING,
        made_with=_version,
    )
