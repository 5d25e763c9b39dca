"""Convert a folder of PDFs to a folder of Markdown, JSON and optionally LaTeX files, without a workspace."""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import TRANSIENT_REASONS, Executor, Failure
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.execution.requests import ReadingRequest
from peercorpus.records.enums import Reason
from peercorpus.texts.engine import (
    Converted,
    Engine,
    EngineJob,
    EngineSettings,
    choose_engine,
    explain_missing_text,
)
from peercorpus.texts.folder_files import (
    FilePairs,
    FolderNames,
    FolderPdf,
    open_pairs,
    path_from,
)
from peercorpus.texts.text_json import CONVERTED, Measures, StoredPair, TimedText, convert_timed
from peercorpus.workspace.object_store import Location, S3Path, raise_error

if TYPE_CHECKING:
    from peercorpus.texts.folder_images import ImageSummary

FormulaStyle = Literal["unicode", "latex"]
"""Form of letters and signs in the formulas of the Markdown: Unicode characters, or LaTeX commands."""


def find_pdfs(path: Location) -> Iterator[Location]:
    """Yield the file at a path, or every `*.pdf` below a folder or prefix; hidden files and folders are left out."""
    if isinstance(path, S3Path):
        yield from _find_stored_pdfs(path)
    elif path.is_dir():
        yield from _find_pdfs_below(path)
    elif path.exists():
        yield path
    else:
        raise PeercorpusError(f"'{path}' does not exist; name a PDF, or a folder with PDFs.")


def _find_stored_pdfs(prefix: S3Path) -> Iterator[S3Path]:
    if prefix.key and prefix.exists():
        yield prefix
        return
    is_empty = True
    above = len(PurePosixPath(prefix.key).parts)
    for stored, _ in prefix.walk():
        is_empty = False
        parts = PurePosixPath(stored.key).parts[above:]
        if stored.name.lower().endswith(".pdf") and not any(part.startswith(".") for part in parts):
            yield stored
    if is_empty:
        raise PeercorpusError(f"There is nothing at '{prefix}'; name an object, or a prefix of several keys.")


def _find_pdfs_below(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder, onerror=raise_error):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(where, name)
            if name.lower().endswith(".pdf") and not name.startswith(".") and (path.is_file() or path.is_symlink()):
                yield path


LASTING = frozenset(Reason) - TRANSIENT_REASONS
"""Reasons for failure that persist as long as file and engine are the same."""


@dataclass(slots=True)
class FolderSummary:
    """Counts of the PDFs of a run by outcome.

    Attributes:
        converted: PDFs converted in this run.
        already: PDFs converted in an earlier run.
        repeated: PDFs listed twice, or with the same content and name as another one.
        failed: Failed PDFs by reason, including those of earlier runs not tried again.
        failures: Failed PDFs, each with a sentence.
        renamed: PDFs whose files have a different name because their own was taken, with that name.
        pages: Pages converted in this run.
        latex: Texts written as LaTeX in this run.
        formulas: Formulas in them.
        formulas_as_text: Formulas in them shown as text, by reason.
        images: Counts of the figures; None if images were not requested.
    """

    converted: int = 0
    already: int = 0
    repeated: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Location, str]] = field(default_factory=list)
    renamed: list[tuple[Location, str]] = field(default_factory=list)
    pages: int = 0
    seconds: float = 0.0
    latex: int = 0
    formulas: int = 0
    formulas_as_text: Counter[str] = field(default_factory=Counter)
    images: "ImageSummary | None" = None


def find_all_pdfs(paths: Sequence[Location]) -> list[Location]:
    """Return the files at these paths and every `*.pdf` below folders among them, once each, without hidden ones."""
    pdfs: dict[str, Location] = {}
    for path in paths:
        for pdf in find_pdfs(path):
            key = os.path.abspath(pdf) if isinstance(pdf, Path) else str(pdf)  # noqa: PTH100 -- links stay
            pdfs.setdefault(key, pdf)
    if not pdfs:
        raise PeercorpusError(f"There is no PDF in {' or '.join(repr(str(path)) for path in paths)}.")
    return list(pdfs.values())


def check_destination(options: ReadingRequest, out: Location) -> None:
    """Raise a PeercorpusError if texts cannot be written to a place with these options."""
    if options.engine_url is not None and not isinstance(out, Path):
        raise PeercorpusError(
            "The answers of a vision endpoint are stored beside the texts; name a folder of this machine with --out."
        )


def convert_to_folder(
    spread: Executor,
    sources: Sequence[Location],
    out: Location,
    options: ReadingRequest,
    *,
    formulas: FormulaStyle = "unicode",
    latex: bool = False,
    force: bool = False,
    show: Show = show_nothing,
) -> FolderSummary:
    """Write `NAME.md` and `NAME.json` for every PDF; for an unreadable PDF only the JSON, with the reason.

    Args:
        spread: Reads the files, possibly in other processes.
        sources: The PDFs; if two have the same name, a digest of its path is appended to the name of the second.
        out: The output folder; created if missing.
        options: Engine, time limit per PDF, number of workers, and whether figures are cut out as images.
        formulas: Whether letters and signs in the formulas of the Markdown are Unicode characters or LaTeX commands.
        latex: Whether each text is also written as LaTeX, `NAME.tex`; a text of an earlier run is converted from its
            Markdown.
        force: Whether to read PDFs again that were read, or failed for a lasting reason, earlier.
        show: Receives progress.

    Raises:
        PeercorpusError: There is no such engine, or it does not support an option; `out` is a file, or another run is
            writing to it.
        OSError: The folder cannot be written to.
    """
    check_destination(options, out)
    chosen = choose_engine(options, out / ".answers.db" if isinstance(out, Path) else None)
    summary = FolderSummary()
    with open_pairs(out) as pairs:
        run = _Run(
            engine=chosen.engine,
            settings=chosen.settings,
            pairs=pairs,
            formulas=formulas,
            latex=latex,
            figures=options.figures,
            force=force,
            summary=summary,
        )
        started = time.perf_counter()
        run.convert(spread, run.look(sources, show), options, show)
        if options.figures:
            from peercorpus.texts.folder_images import cut_images

            summary.images = cut_images(spread, run.with_text, pairs, options, show)
        summary.seconds = time.perf_counter() - started
    return summary


@dataclass(slots=True)
class _Run:
    engine: Engine
    settings: EngineSettings
    pairs: FilePairs
    formulas: FormulaStyle
    latex: bool
    figures: bool
    force: bool
    summary: FolderSummary
    with_text: list[FolderPdf] = field(default_factory=list)

    def look(self, sources: Sequence[Location], show: Show) -> list[FolderPdf]:
        names = FolderNames(self.pairs.folder)
        to_do = []
        for pdf, was_given in names.give(self._identify(sources, show)):
            if pdf.name != pdf.source.stem and not was_given:
                self.summary.renamed.append((pdf.source, pdf.name))
            if self.latex:
                self.pairs.check_latex(pdf.name)
            if self.figures:
                self.pairs.check_image_folder(pdf.name)
            if was_given:
                self.summary.repeated += 1
            elif not self._is_known(pdf, names.read(pdf.name)):
                to_do.append(pdf)
        return to_do

    def _identify(self, sources: Sequence[Location], show: Show) -> list[FolderPdf]:
        meter = Meter("convert", "PDFs looked at", show)
        pdfs = []
        for source in sources:
            pdfs.append(FolderPdf(source, path_from(self.pairs.folder, source), _compute_sha256(source)))
            meter.advance(total=len(sources))
        return pdfs

    def _is_known(self, pdf: FolderPdf, earlier: StoredPair | None) -> bool:
        if self.force or earlier is None or pdf.sha256 is None:
            return False
        made_of = (earlier.sha256, earlier.engine, earlier.engine_version)
        if made_of != (pdf.sha256, self.engine.name, self.engine.version):
            return False
        if earlier.status == CONVERTED:
            is_there = earlier.formulas == self.formulas and self.pairs.has_text(pdf.name)
            if is_there:
                self.summary.already += 1
                self.with_text.append(pdf)
            if is_there and earlier.path != pdf.path:
                self.pairs.replace_path(pdf.name, pdf.path)
            if is_there and self.latex and not self.pairs.check_latex(pdf.name):
                self._write_latex(pdf)
            return is_there
        if earlier.reason not in LASTING:
            return False
        self._count_failure(pdf, Reason(earlier.reason), f"{earlier.detail} (So it was in an earlier run.)")
        return True

    def convert(self, spread: Executor, pdfs: Sequence[FolderPdf], options: ReadingRequest, show: Show) -> None:
        by_content: dict[str, list[FolderPdf]] = {}
        for pdf in pdfs:
            by_content.setdefault(pdf.sha256 or str(pdf.source), []).append(pdf)
        meter = Meter("convert", "PDFs read", show, total=len(pdfs))
        jobs = (
            EngineJob(sha256=sha256, path=alike[0].source, engine=self.engine.name, settings=self.settings)
            for sha256, alike in by_content.items()
        )
        read = partial(convert_timed, commands=self.formulas == "latex")
        for job, result in spread(read, jobs, timeout_s=options.pdf_timeout_s, workers=options.workers):
            for pdf in by_content[job.sha256]:
                self._take(pdf, result)
                meter.advance()

    def _take(self, pdf: FolderPdf, result: TimedText | Failure) -> None:
        converted, parts, seconds = (result, None, None) if isinstance(result, Failure) else result
        problem = explain_missing_text(converted)
        measures = Measures(
            source=pdf.source.name,
            path=pdf.path,
            sha256=pdf.sha256,
            engine=self.engine.name,
            engine_version=self.engine.version,
            formulas=self.formulas,
        )
        if problem is not None and pdf.sha256 is None and self.pairs.has_text(pdf.name):
            # The file cannot be opened, so the text of the earlier run may still be its text.
            self._count_failure(pdf, problem[0], f"{problem[1]} (The text of an earlier run is still there.)")
        elif problem is not None:
            self._count_failure(pdf, *problem)
            self.pairs.write(pdf.name, measures.failed(*problem), None)
        elif isinstance(converted, Converted):
            self.summary.converted += 1
            self.summary.pages += converted.pages
            self.pairs.write(pdf.name, measures.converted(converted, parts, seconds), converted.markdown)
            self.with_text.append(pdf)
            if self.latex:
                self._write_latex(pdf)

    def _write_latex(self, pdf: FolderPdf) -> None:
        written = self.pairs.write_latex(pdf.name)
        self.summary.latex += 1
        self.summary.formulas += written.formulas
        self.summary.formulas_as_text += written.shown_as_text

    def _count_failure(self, pdf: FolderPdf, reason: Reason, detail: str) -> None:
        self.summary.failed[reason] += 1
        self.summary.failures.append((pdf.source, detail))


def _compute_sha256(path: Location) -> str | None:
    try:
        if not isinstance(path, Path):
            return hashlib.sha256(path.read_bytes()).hexdigest()
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
