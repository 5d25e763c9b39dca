"""Writes a release's task configurations as files that trainers open as they stand, in memory bounded by a few rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from peercorpus.errors import PeercorpusError
from peercorpus.progress import Meter, Show, show_nothing
from peercorpus.publish.export import Exported, Layout, Wanted, Written
from peercorpus.publish.export_card import write_companions
from peercorpus.publish.json_rows import write_rows
from peercorpus.publish.opened import Release, open_release
from peercorpus.publish.re2_reviews import re2_paper, write_manuscript
from peercorpus.publish.record_rows import Row
from peercorpus.publish.release import check_outside, releasing
from peercorpus.publish.renderings import Rendering, render
from peercorpus.publish.splits import Side, Task
from peercorpus.publish.tasks import CONFIG
from peercorpus.publish.training_rows import SAMPLES, Samples

MANIFEST = "export.json"
"""Names every other file of an export with its sha256."""


RENDERED = {
    Layout.TRL: Rendering.MESSAGES,
    Layout.LLAMA_FACTORY: Rendering.SHAREGPT,
    Layout.AXOLOTL: Rendering.AXOLOTL,
    Layout.RE2: Rendering.RE2,
}
"""How each layout renders a sample; the rows of `jsonl` are none."""
_PAPER = ("forum_id", "venue_id", "conference", "year", "track", "title", "abstract", "grade", "markdown")
COLUMNS = {Task.REVIEW: (*_PAPER, "decision", "reviews"), Task.REBUTTAL: (*_PAPER, "conversations")}
"""What a sample is made of."""
RE2_NAMES = {Task.REVIEW: "REVIEWS", Task.REBUTTAL: "REBUTTAL"}


def _name(layout: Layout, task: Task, side: Side) -> str:
    return f"{RE2_NAMES[task]}_{side}.json" if layout is Layout.RE2 else f"{task}_{side}.jsonl"


def _choose_tasks(release: Release, wanted: Wanted) -> list[Task]:
    """The tasks to write, in the order of their names' use: reviews first.

    Raises:
        PeercorpusError: The release has not what is asked for.
    """
    held = [task for task, config in CONFIG.items() if any(release.count(config, side) for side in Side)]
    if not held and release.sides() is not None:
        raise PeercorpusError(
            f"No paper of the release '{release.folder}' can be trained on: none has a text that the reviewers read,"
            " with a review or conversation."
        )
    missing = [task for task in wanted.tasks if task not in held]
    if missing:
        raise PeercorpusError(
            f"The release '{release.folder}' has no configuration '{CONFIG[missing[0]]}'; publish it with --splits re2"
            " or --splits temporal, or name another task."
        )
    if not held:
        raise PeercorpusError(
            f"The release '{release.folder}' has no task configurations; publish it with --splits re2 or"
            " --splits temporal."
        )
    return [task for task in held if task in wanted.tasks or not wanted.tasks]


def _licences(release: Release) -> dict[str, str]:
    """The licences stated, by paper."""
    rows = release.rows("papers", None, ["forum_id", "licence"])
    return {row["forum_id"]: row["licence"] for row in rows if row["licence"]}


@dataclass(frozen=True, slots=True)
class _Writing:
    """One side of one task, as it is written."""

    folder: Path
    wanted: Wanted
    task: Task
    licences: Mapping[str, str]
    samples: Samples

    def rows(self, papers: Iterator[Row], met: Callable[[], None]) -> Iterator[Row]:
        """The rows of the file; what is left out is counted."""
        for paper in papers:
            licence = self.licences.get(paper["forum_id"])
            before = self.samples.rows
            for row in self._of_paper(paper, licence):
                self.samples.rows += 1
                yield row
            if self.samples.rows > before:
                self.samples.papers += 1
                self.samples.licences[licence] += 1
            met()

    def _of_paper(self, paper: Row, licence: str | None) -> Iterator[Row]:
        layout = self.wanted.layout
        if layout is Layout.JSONL:
            yield paper | {"licence": licence}
        elif layout is Layout.RE2 and self.task is Task.REVIEW:
            row = re2_paper(paper, licence, self.samples)
            if row is not None:
                write_manuscript(self.folder, paper)
                yield row
        else:
            for sample in SAMPLES[self.task](paper, licence, self.wanted.telling, self.samples):
                yield render(sample, RENDERED[layout])


def _write_side(
    release: Release, folder: Path, wanted: Wanted, task: Task, side: Side, licences: Mapping[str, str], show: Show
) -> Written:
    config, name, samples = CONFIG[task], _name(wanted.layout, task, side), Samples()
    meter = Meter(name, "export", show, total=release.count(config, side))
    writing = _Writing(folder, wanted, task, licences, samples)
    columns = None if wanted.layout is Layout.JSONL else COLUMNS[task]
    rows = writing.rows(release.rows(config, side, columns), meter.advance)
    write_rows(folder / name, rows, as_list=wanted.layout is Layout.RE2)
    if not samples.rows:
        # No trainer opens a file without rows.
        (folder / name).unlink()
    return Written(name, task, side, samples)


def export(folder: Path, out: Path, wanted: Wanted, show: Show = show_nothing) -> Exported:
    """Write a release's tasks for a trainer; the folder is there at the end, whole, or is as it was.

    Args:
        folder: The release.
        out: What to write; an earlier export that is there is replaced.
        wanted: Which tasks, for whom.
        show: Told how far each file is.

    Raises:
        PeercorpusError: There is no release with these tasks, a file of it cannot be read, or `out` holds other files.
    """
    release = open_release(folder)
    check_outside(out, folder)
    tasks = _choose_tasks(release, wanted)
    exported = Exported(release, wanted, release.sides())
    with releasing(out, "an export", MANIFEST) as partial:
        licences = _licences(release)
        for task in tasks:
            for side in reversed(Side):
                exported.files.append(_write_side(release, partial, wanted, task, side, licences, show))
        write_companions(partial, exported)
    return exported
