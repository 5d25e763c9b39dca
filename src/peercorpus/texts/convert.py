"""Read the PDFs of a venue's versions as Markdown: the stage `read_texts`.

Texts are cached in the workspace by engine, engine version and SHA-256, so a file is read once for each combination.
Published texts of other datasets become rows of the same table.
"""

import hashlib
import logging
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

import msgspec
import zstandard

from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import FILE_MISSING, TRANSIENT_REASONS, Executor, in_batches, report_progress
from peercorpus.execution.requests import BuildRequest, StatedEngine
from peercorpus.execution.stage import Balance, ProgressCallback, Stage
from peercorpus.importers.datasets import read_text
from peercorpus.records.datasets import parse_dataset
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import Reason
from peercorpus.records.papers import names_pdf
from peercorpus.texts.engine import (
    Converted,
    Engine,
    EngineJob,
    choose_engine,
    convert_file,
    explain_missing_text,
    load_engine,
    make_settings,
)
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

FOLDER = "texts"


ENDING = ".json.zst"


class CachedText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text in the cache, bound to the PDF and the engine that it was read from.

    Attributes:
        sha256: Of the PDF.
        engine: Name and version of the engine, as the cache names their folders: `pdfium-layout/v1`.
        digest: SHA-256 of `text`.
        text: A `Converted`, as JSON.
    """

    sha256: str
    engine: str
    digest: str
    text: msgspec.Raw


def find_text_fault(path: Path) -> str | None:
    """Return what is wrong with a file of the cache; None if it holds the text that its name and folders say."""
    found = _open_text(path)
    return found if isinstance(found, str) else None


def _open_text(path: Path) -> CachedText | str:
    """Return what a file of the cache holds, or what is wrong with it."""
    try:
        entry = msgspec.json.decode(zstandard.decompress(path.read_bytes()), type=CachedText)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    except (zstandard.ZstdError, msgspec.DecodeError):
        return "it was cut or changed after it was stored"
    sha256, engine = path.name.removesuffix(ENDING), "/".join(path.parts[-4:-2])
    if (entry.sha256, entry.engine) != (sha256, engine):
        return f"it is the text of {entry.sha256} by {entry.engine}"
    is_whole = hashlib.sha256(entry.text).hexdigest() == entry.digest
    return entry if is_whole else "it was changed after it was stored"


class TextCache:
    """Texts read by one version of one engine, one compressed file each."""

    def __init__(self, workspace: Workspace, engine: Engine) -> None:
        # Characters unsuitable for a folder name are escaped: version "../2" becomes "v..%2F2".
        self.folder = workspace.folder / FOLDER / quote(engine.name, safe="") / f"v{quote(engine.version, safe='+')}"
        self._partial = workspace.files.partial

    def _path(self, sha256: str) -> Path:
        return self.folder / sha256[:2] / f"{sha256}{ENDING}"

    def read(self, sha256: str) -> Converted | None:
        """Return the text of a file; None if it has not been read, or what is cached is not, whole, its text."""
        found = _open_text(self._path(sha256))
        return None if isinstance(found, str) else msgspec.json.decode(found.text, type=Converted)

    def write(self, sha256: str, converted: Converted) -> None:
        """Store the text of a file atomically."""
        path = self._path(sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._partial.mkdir(parents=True, exist_ok=True)
        text = msgspec.json.encode(converted)
        engine = "/".join(self.folder.parts[-2:])
        entry = CachedText(sha256, engine, hashlib.sha256(text).hexdigest(), msgspec.Raw(text))
        packed = zstandard.ZstdCompressor(write_checksum=True).compress(msgspec.json.encode(entry))
        with tempfile.NamedTemporaryFile(dir=self._partial, delete=False) as partial:
            partial.write(packed)
        Path(partial.name).replace(path)

    def trim(self) -> None:
        """Remove texts read by older code of this engine with the same libraries; texts read with others are kept."""
        _, _, libraries = self.folder.name.partition("+")
        for path in self.folder.parent.glob("*"):
            if path != self.folder and path.name.partition("+")[2] == libraries:
                shutil.rmtree(path, ignore_errors=True)  # Another worker may be removing it too.


def name_engine_of_record(record_id: str) -> str:
    """Return the engine name of a published text: its dataset's name without the suffix.

    >>> name_engine_of_record("re2-text:m97Cdr9IOZJ")
    're2'
    """
    return parse_dataset(record_id).value.partition("-")[0]


def make_published_text(record: RawObject, venue_id: str) -> PaperText:
    """Return the text in a published record; its pages are unknown."""
    markdown = read_text(record.object_id, record.body) or ""
    sha256 = hashlib.sha256(markdown.encode()).hexdigest()
    return PaperText(
        sha256=sha256,
        venue_id=venue_id,
        engine=name_engine_of_record(record.object_id),
        engine_version="",
        markdown=markdown,
        pages=None,
        characters_per_page=None,
        problems=(),
    )


NAME = "read_texts"
TABLE = "5-texts"
COLUMNS = ("sha256", "engine", "engine_version")
"""Columns that decide whether a row is kept: the file or published text, and the engine that read it."""
BATCH_FILES = 64
"""Number of texts written in one commit."""

Aside = tuple[Reason, str]
"""Reason why a file yields no text, with an explanatory sentence."""

logger = logging.getLogger(__name__)


def find_pdfs(tables: Tables, venue_id: str) -> dict[str, str]:
    """Return the PDFs of a venue's versions, each with the forum id of its first version, in order."""
    forum_ids: dict[str, str] = {}
    for sha256, path, forum_id in tables.rows("4-versions", venue_id, ["sha256", "path", "forum_id"]):
        if sha256 is not None and names_pdf(path):
            forum_ids.setdefault(sha256, forum_id)
    return forum_ids


def _find_published(tables: Tables, venue_id: str) -> dict[str, str]:
    """Return the published texts of a venue's versions, each with the id of its first record, in order."""
    records: dict[str, str] = {}
    for sha256, path, edit_id in tables.rows("4-versions", venue_id, ["sha256", "path", "edit_id"]):
        if sha256 is not None and not names_pdf(path):
            records.setdefault(sha256, edit_id)
    return records


def _make_text(sha256: str, converted: Converted, venue_id: str, engine: Engine) -> PaperText:
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
        blocks=converted.blocks,
    )


def _read(
    spread: Executor, cache: TextCache, jobs: Sequence[EngineJob], options: BuildRequest, report: ProgressCallback
) -> dict[str, Aside]:
    """Convert the files whose text is not cached yet; return the reasons for files without text, by sha256."""
    asides: dict[str, Aside] = {}
    to_read = []
    for job in jobs:
        kept = cache.read(job.sha256)
        if kept is None:
            to_read.append(job)
        elif (problem := explain_missing_text(kept)) is not None:
            asides[job.sha256] = problem
    outcomes = spread(convert_file, to_read, timeout_s=options.pdf_timeout_s, workers=options.workers)
    for job, result in report_progress(outcomes, len(to_read), report):
        if isinstance(result, Converted):
            # Failures are not cached, so that the next run of the stage tries again.
            cache.write(job.sha256, result)
        problem = explain_missing_text(result)
        if problem is not None:
            asides[job.sha256] = problem
    return asides


def _read_kept_texts(cache: TextCache, sha256s: Iterable[str], venue_id: str, engine: Engine) -> Iterator[PaperText]:
    for sha256 in sha256s:
        converted = cache.read(sha256)
        if converted is None:
            raise PeercorpusError(
                f"The text of the file {sha256} was removed from the workspace's cache during the build; run"
                " 'peercorpus build' again."
            )
        yield _make_text(sha256, converted, venue_id, engine)


def read_texts(
    spread: Executor, workspace: Workspace, venue_id: str, options: BuildRequest, key: str, report: ProgressCallback
) -> None:
    """Read the files of a venue that this engine has not read yet."""
    tables = workspace.tables
    chosen = choose_engine(options, workspace.folder / "answers.db")
    engine = chosen.engine
    cache = TextCache(workspace, engine)
    forum_ids = find_pdfs(tables, venue_id)
    records = _find_published(tables, venue_id)
    fitting = {(sha256, engine.name, engine.version) for sha256 in forum_ids}
    fitting |= {(sha256, name_engine_of_record(record_id), "") for sha256, record_id in records.items()}
    sha256s_kept = {sha256 for sha256, *_ in fitting & tables.tuples(TABLE, venue_id, COLUMNS)}
    to_read = [sha256 for sha256 in forum_ids if sha256 not in sha256s_kept]
    present = set(filter(workspace.files.has, to_read))
    jobs = [
        EngineJob(sha256=sha256, path=workspace.files.path(sha256), engine=engine.name, settings=chosen.settings)
        for sha256 in to_read
        if sha256 in present
    ]
    logger.info("%s %s: %d files, %d to read with %s", NAME, venue_id, len(forum_ids), len(jobs), engine.name)
    asides = dict.fromkeys((sha256 for sha256 in to_read if sha256 not in present), FILE_MISSING)
    asides |= _read(spread, cache, jobs, options, report)
    tables.sift(PaperText, venue_id, NAME, COLUMNS, fitting, key)
    _take_published(
        workspace, venue_id, [record_id for sha256, record_id in records.items() if sha256 not in sha256s_kept]
    )
    texts = _read_kept_texts(cache, [sha256 for sha256 in to_read if sha256 not in asides], venue_id, engine)
    for batch in in_batches(texts, BATCH_FILES):
        tables.append(TABLE, venue_id, NAME, batch)
    with tables.replacing((), venue_id, NAME, key) as left:
        for sha256, problem in sorted(asides.items()):  # Sorted, because their order depends on when processes end.
            left.set_aside(sha256, forum_ids[sha256], *problem)
    tables.finish(TABLE, venue_id, NAME, key)
    cache.trim()


def _take_published(workspace: Workspace, venue_id: str, record_ids: Sequence[str]) -> None:
    for start in range(0, len(record_ids), BATCH_FILES):
        published = (
            workspace.raw.find(RawKind.PUBLISHED, record_id) for record_id in record_ids[start : start + BATCH_FILES]
        )
        texts = [make_published_text(record, venue_id) for record in published if record is not None]
        workspace.tables.append(TABLE, venue_id, NAME, texts)


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Return the balance: files and published texts of the venue's versions = texts + files set aside."""
    tables = workspace.tables
    files = len(find_pdfs(tables, venue_id)) + len(_find_published(tables, venue_id))
    aside = tables.set_aside_counts(venue_id, NAME)
    return [Balance(NAME, venue_id, "files", rows_in=files, rows_out=tables.count(TABLE, venue_id), set_aside=aside)]


def _find_engine_version(options: BuildRequest) -> str:
    if isinstance(options, StatedEngine):
        return options.engine_version
    return load_engine(options.engine, make_settings(options)).version


def read_engine_used(tables: Tables, venue_id: str) -> tuple[str, str] | None:
    """Return name and version of the engine that read the PDFs of a venue; None if none were read."""
    rows = tables.rows(TABLE, venue_id, ["engine", "engine_version"])
    return next(((engine, version) for engine, version in rows if version), None)


def default_engine() -> tuple[str, str]:
    """Return name and version of the default engine."""
    engine = load_engine(BuildRequest().engine)
    return engine.name, engine.version


def stage(spread: Executor) -> Stage[Workspace]:
    """Return the stage `read_texts`; `spread` reads the files, possibly in other processes."""
    return Stage(
        name=NAME,
        doing="reading PDFs",
        version=4,
        reads_raw=(RawKind.PUBLISHED,),
        reads=("4-versions",),
        writes=(TABLE,),
        options=("engine",),
        run=partial(read_texts, spread),
        balance=balance,
        passing=TRANSIENT_REASONS,
        made_with=_find_engine_version,
    )
