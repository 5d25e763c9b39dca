"""PDFs → a folder of Markdown: for each PDF a text and a JSON of measures, written whole or not at all.

What lies there already, read from the same bytes by the same engine, is not read again: a run that was stopped goes on
where it was. A worker process imports this module; it therefore imports nothing heavy.
"""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from peercorpus.errors import PeercorpusError
from peercorpus.kinds import Reason
from peercorpus.per_file import PASSING
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.spread import Failure, Spread
from peercorpus.stage import Options
from peercorpus.store import Place
from peercorpus.texts.choose import choose_engine
from peercorpus.texts.engine import Converted, Engine, Job, convert_file, without_pages
from peercorpus.texts.finding import find_pdfs as pdfs_at
from peercorpus.texts.names import Held, Met, Names
from peercorpus.texts.outcome import why_no_text
from peercorpus.texts.pairs import CONVERTED, Measures, Pairs, open_pairs, path_from
from peercorpus.texts.settings import EngineSettings

LASTING = frozenset(Reason) - PASSING
"""Reasons that hold as long as the file and the engine are the same."""


@dataclass(frozen=True, slots=True)
class Source:
    """One PDF and the name of what is made of it.

    Attributes:
        path: Where it lies, as seen from the folder of the texts.
        sha256: None where it cannot be opened.
    """

    source: Place
    path: str
    name: str
    sha256: str | None


@dataclass(slots=True)
class FolderSummary:
    """What became of the PDFs.

    Attributes:
        converted: Became Markdown in this run.
        already: Had become Markdown before.
        repeated: Named twice, or the same file under the same name.
        failed: By reason, those of earlier runs that were not tried again among them.
        failures: Each with its sentence.
        renamed: Names that are not the PDF's own, because another file has that.
        pages: Of what was converted in this run; `seconds` is how long that took.
    """

    converted: int = 0
    already: int = 0
    repeated: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Place, str]] = field(default_factory=list)
    renamed: list[tuple[Place, str]] = field(default_factory=list)
    pages: int = 0
    seconds: float = 0.0


def find_pdfs(paths: Sequence[Place]) -> list[Place]:
    """The files named, and every `*.pdf` in the folders named and below them, once each; hidden ones are left out.

    Raises:
        PeercorpusError: A path is not there, or there is no PDF at all.
        OSError: A folder or a store cannot be read.
    """
    found: dict[str, Place] = {}
    for path in paths:
        for each in pdfs_at(path):
            key = os.path.abspath(each) if isinstance(each, Path) else str(each)  # noqa: PTH100 -- links stay
            found.setdefault(key, each)
    if not found:
        raise PeercorpusError(f"There is no PDF in {' or '.join(repr(str(path)) for path in paths)}.")
    return list(found.values())


def convert_timed(job: Job) -> tuple[Converted, float]:
    """Read one file, and tell how many seconds it took.

    Raises:
        UnreadablePdfError: The file is not there, or the engine cannot read it.
    """
    started = time.perf_counter()
    return convert_file(job), time.perf_counter() - started


def convert_to_folder(
    spread: Spread,
    sources: Sequence[Place],
    out: Place,
    options: Options,
    *,
    page_marks: bool = True,
    force: bool = False,
    show: Show = show_nothing,
) -> FolderSummary:
    """Write `NAME.md` and `NAME.json` for every PDF; of one that cannot be read the JSON alone, with the reason.

    Args:
        spread: How the work is spread.
        sources: The PDFs; two of one name are told apart by their paths.
        out: The folder; made where it is not there.
        options: The engine, the seconds for one PDF, and the number of workers.
        page_marks: Show in the Markdown where pages end.
        force: Read again what was read before, and what failed for good.
        show: Told how far it is.

    Raises:
        PeercorpusError: There is no such engine, or it does not take an option; the folder is a file, or another run
            is writing to it.
        OSError: The folder cannot be written to.
    """
    if options.engine_url is not None and not isinstance(out, Path):
        raise PeercorpusError("What a vision endpoint answers is kept beside the texts; name a folder with --out.")
    chosen = choose_engine(options, out / ".answers.db" if isinstance(out, Path) else None)
    summary = FolderSummary()
    with open_pairs(out) as pairs:
        run = _Run(chosen.engine, chosen.settings, pairs, page_marks, force, summary)
        started = time.perf_counter()
        run.convert(spread, run.look(sources, show), options, show)
        summary.seconds = time.perf_counter() - started
    return summary


@dataclass(slots=True)
class _Run:
    engine: Engine
    settings: EngineSettings
    pairs: Pairs
    page_marks: bool
    force: bool
    summary: FolderSummary

    def look(self, sources: Sequence[Place], show: Show) -> list[Source]:
        """What is left to do."""
        names, to_do = Names(self.pairs.folder), []
        digests, found = self._meet(sources, show)
        for met, sha256, (name, was_given) in zip(found, digests, names.give(found), strict=True):
            if name != met.source.stem and not was_given:
                self.summary.renamed.append((met.source, name))
            place = Source(met.source, met.path, name, sha256)
            if was_given:
                self.summary.repeated += 1
            elif not self._is_known(place, names.read(name)):
                to_do.append(place)
        return to_do

    def _meet(self, sources: Sequence[Place], show: Show) -> tuple[list[str | None], list[Met]]:
        """The digest of each PDF, None where it cannot be opened; and what its name depends on."""
        meter, digests, found = Meter("convert", "PDFs looked at", show), [], []
        for source in sources:
            sha256, path = _sha256(source), path_from(self.pairs.folder, source)
            digests.append(sha256)
            found.append(Met(source, path, sha256 or hashlib.sha256(path.encode()).hexdigest()))
            meter.advance(total=len(sources))
        return digests, found

    def _is_known(self, place: Source, held: Held | None) -> bool:
        """Whether an earlier run told all that this one could."""
        if self.force or held is None or place.sha256 is None:
            return False
        made_of = (held.sha256, held.engine, held.engine_version)
        if made_of != (place.sha256, self.engine.name, self.engine.version):
            return False
        if held.status == CONVERTED:
            is_there = held.page_marks == self.page_marks and self.pairs.has_text(place.name)
            self.summary.already += is_there
            if is_there and held.path != place.path:
                self.pairs.retell(place.name, place.path)
            return is_there
        if held.reason not in LASTING:
            return False
        self._count_failure(place, Reason(held.reason), f"{held.detail} (So it was in an earlier run.)")
        return True

    def convert(self, spread: Spread, places: Sequence[Source], options: Options, show: Show) -> None:
        """Read what is left to do; PDFs of the same bytes are read once."""
        by_content: dict[str, list[Source]] = {}
        for place in places:
            by_content.setdefault(place.sha256 or str(place.source), []).append(place)
        meter = Meter("convert", "PDFs read", show, total=len(places))
        jobs = (Job(sha256, same[0].source, self.engine.name, self.settings) for sha256, same in by_content.items())
        for job, result in spread(convert_timed, jobs, timeout_s=options.pdf_timeout_s, workers=options.workers):
            for place in by_content[job.sha256]:
                self._take(place, result)
                meter.advance()

    def _take(self, place: Source, result: tuple[Converted, float] | Failure) -> None:
        converted, seconds = (result, None) if isinstance(result, Failure) else result
        problem = why_no_text(converted)
        measures = Measures(
            place.source.name,
            place.path,
            place.sha256,
            self.engine.name,
            self.engine.version,
            page_marks=self.page_marks,
        )
        if problem is not None and place.sha256 is None and self.pairs.has_text(place.name):
            # Nobody knows whether the file is another one now.
            self._count_failure(place, problem[0], f"{problem[1]} (The text of an earlier run is still there.)")
        elif problem is not None:
            self._count_failure(place, *problem)
            self.pairs.write(place.name, measures.failed(*problem), None)
        elif isinstance(converted, Converted):
            self.summary.converted += 1
            self.summary.pages += converted.pages
            text = converted.markdown if self.page_marks else without_pages(converted.markdown)
            self.pairs.write(place.name, measures.converted(converted, seconds), text)

    def _count_failure(self, place: Source, reason: Reason, detail: str) -> None:
        self.summary.failed[reason] += 1
        self.summary.failures.append((place.source, detail))


def _sha256(path: Place) -> str | None:
    """The digest of a file's content; None where it cannot be read."""
    try:
        if not isinstance(path, Path):
            return hashlib.sha256(path.read_bytes()).hexdigest()
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
