"""Write the folder of a site from a release."""

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

from filelock import FileLock, Timeout

from peercorpus.corpus.takedown import LIST, read_takedown
from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Executor, Failure
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.rendering import masked
from peercorpus.explorer.site.assets import list_files
from peercorpus.explorer.site.extras import Extra
from peercorpus.explorer.site.release_papers import read_rows, require_tables
from peercorpus.explorer.site.render import (
    Contents,
    Job,
    RenderedPaper,
    Run,
    count_venue_pages,
    describe_result,
    paper_file,
    render_lists,
    render_papers,
    render_venue_page,
    venue_file,
)
from peercorpus.explorer.site.search_files import SearchIndex
from peercorpus.explorer.venue_page import VenueCounts
from peercorpus.records.enums import Status
from peercorpus.release.folder import Release, check_outside, check_replaceable, replace_folder
from peercorpus.release.published import count_taken_rows
from peercorpus.wording.counted_nouns import plural
from peercorpus.workspace.workspace import Workspace


def check_taken_down(release: Release, workspace: Workspace, out: Path) -> None:
    """Check that a release contains nothing that a workspace has taken down since.

    A file of a paper that is taken down counts wherever it is, and a listed id also if the workspace no longer has its
    record. `out` is the folder of the site, which the error says is unchanged if it exists.

    Raises:
        PeercorpusError: It does.
    """
    rows = count_taken_rows(release, read_takedown(workspace))
    if rows:
        kept = f" '{out}' was not changed: take it down where it is hosted." if out.exists() else ""
        raise PeercorpusError(
            f"The release '{release.folder}' contains what is taken down in {plural(rows, 'row')}, by"
            f" '{workspace.folder / LIST}'; publish it again, then make the site of the new release.{kept}"
        )


MANIFEST = "site.json"
"""Names every other file of a site with its sha256; a folder that has it may be replaced."""
KIND = "a site that peercorpus wrote"
_PER_JOB = 16
_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """Result of writing a site.

    Attributes:
        index_bytes: Size of the files of the search.
        points: Number of points that the pages of papers show.
    """

    papers: int
    venues: int
    files: int
    size_bytes: int
    index_bytes: int
    text_bytes: int
    change_bytes: int
    points: int


@dataclass(slots=True)
class _Writer:
    """Writes the files of a site and counts them."""

    folder: Path
    digests: dict[str, str]
    size_bytes: int = 0
    by_folder: Counter[str] = field(default_factory=Counter)
    _folders: set[Path] = field(default_factory=set)

    def write(self, name: str, content: bytes) -> None:
        path = self.folder / name
        if path.parent not in self._folders:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._folders.add(path.parent)
        path.write_bytes(content)
        self.digests[name] = hashlib.sha256(content).hexdigest()
        self.size_bytes += len(content)
        self.by_folder[name.partition("/")[0]] += len(content)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The papers of a release.

    Attributes:
        numbers: Number of each paper in the search, by forum id: the newest venues first.
        venues: The venues, in the order of their papers.
    """

    numbers: Mapping[str, int]
    titles: Mapping[str, str]
    venues: Sequence[str]
    runs: Sequence[Run]


def _plan(release: Release) -> _Plan:
    """Read which papers are in a release.

    Raises:
        PeercorpusError: It has none, or one twice.
    """
    columns = ("forum_id", "venue_id", "year", "status", "title")
    order = {status.value: place for place, status in enumerate(Status)}
    papers = [
        ((-(row["year"] or 0), row["venue_id"], order.get(row["status"], len(order)), row["forum_id"]), row)
        for row in release.rows("papers_full", None, columns)
    ]
    rows = [row for _, row in sorted(papers, key=itemgetter(0))]
    titles = {row["forum_id"]: row["title"] or "" for row in rows}
    if len(titles) != len(papers):
        raise PeercorpusError(f"The release '{release.folder}' contains a paper twice; run 'peercorpus verify' on it.")
    numbers = {forum_id: number for number, forum_id in enumerate(titles)}
    groups = groupby(rows, key=lambda row: (row["venue_id"], row["year"], row["status"] or Status.UNKNOWN.value))
    runs = [Run(*key, sum(1 for _ in group)) for key, group in groups]
    return _Plan(numbers, titles, list(dict.fromkeys(row["venue_id"] for row in rows)), runs)


def write_site(
    release: Release,
    out: Path,
    *,
    title: str = "Peer reviews",
    extras: Collection[Extra] = (),
    show: Show = show_nothing,
    spread: Executor | None = None,
) -> SiteSummary:
    """Write the site of a release into a folder, which is replaced as a whole: a new, an empty one, or an earlier site.

    Memory grows with the number of papers. Whether the release contains taken-down records is checked by
    `check_taken_down`. Extras that the release does not have are left out. Without `spread`, this process renders.

    Raises:
        PeercorpusError: The release cannot be read, or `out` contains other files, or is in the release.
    """
    require_tables(release)
    check_outside(out, release.folder)
    check_replaceable(out, KIND, MANIFEST)
    try:
        with _lock(out.absolute()):
            return _write_locked(release, out, title, show, spread, extras)
    except OSError as error:
        raise PeercorpusError(
            f"The site cannot be written to '{out}': {error.strerror or error}. What was there before is unchanged."
        ) from None


@contextmanager
def _lock(out: Path) -> Iterator[None]:
    """Keep other runs from writing the same folder; the lock of a run that was killed is free.

    Its file stays: a run that opened it before it was removed, and one that made it again, would both hold a lock.

    Raises:
        PeercorpusError: Another run is writing it.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    path = out.with_name(f".{out.name}.lock")
    try:
        lock = FileLock(path, timeout=0, thread_local=False).acquire()
    except Timeout:
        raise PeercorpusError(
            f"Another run is writing the site '{out}'; wait until it ends, or stop it, then try again."
        ) from None
    with lock:
        yield


def _write_locked(
    release: Release, out: Path, title: str, show: Show, spread: Executor | None, extras: Collection[Extra]
) -> SiteSummary:
    plan = _plan(release)
    digests: dict[str, str] = {}
    with (
        replace_folder(out, KIND, MANIFEST, digests) as folder,
        # In the folder, so that the next run removes it if this one is killed.
        tempfile.TemporaryDirectory(prefix=".index-", dir=folder) as scratch,
    ):
        writer = _Writer(folder, digests)
        index = SearchIndex(Path(scratch), len(plan.numbers))
        jobs = _make_jobs(release, plan.titles, extras)
        contents = _write_papers(release, plan, writer, index, title, show, _render(jobs, spread))
        _write_lists(contents, index.sizes, plan.runs, writer)
        index.write(writer.write)
    return SiteSummary(
        len(plan.numbers),
        len(plan.venues),
        len(digests),
        writer.size_bytes,
        writer.by_folder["search"],
        writer.by_folder["text"],
        writer.by_folder["changes"],
        contents.points,
    )


def _make_jobs(release: Release, titles: Mapping[str, str], extras: Collection[Extra]) -> Iterator[Job]:
    papers = read_rows(release, extras)
    while batch := list(islice(papers, _PER_JOB)):
        linked = {link[side] for rows in batch for link in rows.links for side in ("forum_id", "earlier_id")}
        yield Job(batch, {other: titles[other] for other in linked if other in titles})


def _render(jobs: Iterator[Job], spread: Executor | None) -> Iterator[list[RenderedPaper]]:
    if spread is None:
        yield from map(render_papers, jobs)
        return
    for job, rendered in spread(render_papers, jobs, timeout_s=_TIMEOUT_S, workers=os.cpu_count() or 1, in_order=True):
        if isinstance(rendered, Failure):
            forum_id = job.papers[0].paper["forum_id"]
            said = f"A page could not be made, of '{forum_id}' or one of the next {_PER_JOB} papers. {rendered.detail}"
            raise rendered.error or PeercorpusError(said)
        yield rendered


def _write_papers(
    release: Release,
    plan: _Plan,
    writer: _Writer,
    index: SearchIndex,
    title: str,
    show: Show,
    rendered: Iterator[list[RenderedPaper]],
) -> Contents:
    """Write the page of each paper, add it to the index, and return the data for lists."""
    meter = Meter(release.folder.resolve().name, "site", show, total=len(plan.numbers))
    venues = {venue_id: VenueCounts(venue_id) for venue_id in plan.venues}
    rows: dict[str, list[PaperRow]] = {venue_id: [] for venue_id in plan.venues}
    points = 0
    for batch in rendered:
        for paper in batch:
            row = paper.row
            writer.write(paper_file(row.forum_id), paper.page)
            for kind, page in paper.further.items():
                writer.write(paper_file(row.forum_id, kind), page)
            points += paper.points
            index.add(plan.numbers[row.forum_id], paper.words, paper.ids, describe_result(row))
            venues[row.venue_id].add(paper.counts)
            rows[row.venue_id].append(row)
        meter.advance(len(batch))
    return Contents(masked(title), venues, rows, version("peercorpus"), release.sha256, points)


def _write_lists(contents: Contents, sizes: Mapping[str, int], runs: Sequence[Run], writer: _Writer) -> None:
    for venue_id, counts in contents.venues.items():
        rows = contents.rows[venue_id]
        for page in range(1, count_venue_pages(len(rows)) + 1):
            writer.write(venue_file(venue_id, page), render_venue_page(counts, rows, page))
    for path, content in render_lists(contents, sizes, runs).items():
        writer.write(path, content)
    for name, content in list_files().items():
        writer.write(f"static/{name}", content)
    writer.write(".nojekyll", b"")
    writer.write("README.md", _make_readme(contents).encode())


def _make_readme(contents: Contents) -> str:
    """Return the card of a static Space of the Hugging Face Hub, which other hosts ignore."""
    return (
        "---\n"
        "title: Peer reviews\n"
        "sdk: static\n"
        "app_file: index.html\n"
        "pinned: false\n"
        "---\n\n"
        f"{contents.totals['papers']:,} papers with their public reviews, as pages that need no server. They were made"
        f" by peercorpus {contents.version} from the release `{contents.release_sha256}`.\n"
    )
