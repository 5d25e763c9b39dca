"""Lessons chosen, made to fit and written as tokens, with the list of all that went in."""

import hashlib
import heapq
import itertools
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import msgspec
import pyarrow as pa

from peercorpus.benchmark.cases import CONFIG, BenchTask, Taken
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.choosing import Choice
from peercorpus.finetune.fitting import Fitting
from peercorpus.finetune.lengths import Fitted, Lengths, length_table
from peercorpus.finetune.lessons import Lesson
from peercorpus.finetune.run_files import DATA, LENGTHS, LESSONS
from peercorpus.progress import Meter, Show
from peercorpus.publish.release import digest_of
from peercorpus.publish.splits import Side

SCHEMA = pa.schema([("input_ids", pa.list_(pa.int32())), ("labels", pa.list_(pa.int32()))])
"""What a trainer gets: tokens, and which of them are learnt."""
BATCH = 64
LESSONS_OF = {Side.TRAIN: "papers to learn from", Side.VALIDATION: "papers to validate on"}
"""The sides that are told, in words; none of the other is read."""
Sink = Callable[[Side, Fitted], None]
"""Gets each lesson as often as it is told, in the order of the files."""


@dataclass(slots=True)
class Prepared:
    """What became of the papers of a release.

    Attributes:
        lengths: Of the lessons to train on, by task.
        taken: By side, what is left out and why.
        lessons: By side, weights counted in.
        papers: By side, those from which a lesson is.
        venues: Ids of venues and names of conferences of which there is a paper to learn from.
        files: Written, with their sha256.
    """

    lengths: dict[BenchTask, Lengths] = field(default_factory=dict)
    taken: dict[Side, Taken] = field(default_factory=lambda: {side: Taken() for side in LESSONS_OF})
    lessons: Counter[Side] = field(default_factory=Counter)
    papers: dict[Side, set[str]] = field(default_factory=lambda: {side: set() for side in LESSONS_OF})
    venues: set[str] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=dict)


def _key(lesson: Lesson) -> str:
    return f"{lesson.task}/{lesson.lesson_id}"


def _drawn(choice: Choice, tasks: tuple[BenchTask, ...], most: int) -> set[str]:
    """Lessons to validate on: those that come first by a hash of their names."""
    keys = (_key(lesson) for task in tasks for lesson in choice.lessons(task, Side.VALIDATION, Taken()))
    return set(heapq.nsmallest(most, keys, key=lambda key: hashlib.sha256(key.encode()).digest()))


def _entry(found: Fitted, side: Side, times: int) -> dict[str, Any]:
    lesson, paper = found.lesson, found.lesson.case.paper
    return {
        "side": side.value,
        "task": lesson.task.value,
        "lesson_id": lesson.lesson_id,
        "forum_id": paper.forum_id,
        "venue_id": paper.venue_id,
        "year": paper.year,
        "grade": paper.grade.value,
        "reviewer": lesson.reviewer,
        "record_ids": lesson.record_ids,
        "times": times,
        "tokens": len(found.encoded.ids),
        "learnt": found.encoded.learnt,
        "paper_tokens": found.shown.tokens,
        "paper_left_out": found.shown.left_out,
    }


def _batches(rows: Iterator[Fitted]) -> Iterator[pa.RecordBatch]:
    while batch := list(itertools.islice(rows, BATCH)):
        columns = [[one.encoded.ids for one in batch], [one.encoded.labels for one in batch]]
        yield pa.record_batch([pa.array(column, SCHEMA.types[0]) for column in columns], SCHEMA)


@dataclass(slots=True)
class _Writing:
    """Lessons on their way to the files of a run."""

    choice: Choice
    tasks: tuple[BenchTask, ...]
    fitting: Fitting
    validation: int
    prepared: Prepared
    listed: IO[bytes]
    show: Show
    sink: Sink | None

    def lessons(self, side: Side) -> Iterator[Fitted]:
        """Of a side, each as often as it is told; what does not fit is counted."""
        drawn = _drawn(self.choice, self.tasks, self.validation) if side is Side.VALIDATION else None
        for task in self.tasks:
            total = self.choice.release.count(CONFIG[task], side)
            meter = Meter(task.value, LESSONS_OF[side], self.show, total=total)
            taken, lengths = self.prepared.taken[side], Lengths()
            if side is Side.TRAIN:
                self.prepared.lengths[task] = lengths
            for found in self.fitting.fit(self._asked_for(task, side, drawn, meter), total):
                lengths.see(found)
                if isinstance(found, Fitted):
                    yield from self._told(found, side)
                else:
                    taken.left_out["lessons: longer than the context"] += 1
            if meter.done < total:
                meter.report(total, total)

    def _asked_for(self, task: BenchTask, side: Side, drawn: set[str] | None, meter: Meter) -> Iterator[Lesson]:
        """The lessons of a task that are told at least once; the others are counted."""
        taken, seen = self.prepared.taken[side], None
        for lesson in self.choice.lessons(task, side, taken):
            paper = lesson.case.paper
            if paper.forum_id != seen:
                seen = paper.forum_id
                if side is Side.TRAIN:
                    self.prepared.venues |= {paper.venue_id, paper.conference}
                meter.advance()
            if drawn is not None and _key(lesson) not in drawn:
                taken.left_out["lessons: not drawn to validate on"] += 1
            elif not self._times(lesson, side):
                taken.left_out["lessons: their venue weighs less"] += 1
            else:
                yield lesson

    def _times(self, lesson: Lesson, side: Side) -> int:
        return 1 if side is Side.VALIDATION else self.choice.chosen.times(lesson)

    def _told(self, found: Fitted, side: Side) -> Iterator[Fitted]:
        times = self._times(found.lesson, side)
        self.listed.write(msgspec.json.encode(_entry(found, side, times)) + b"\n")
        self.prepared.lessons[side] += times
        self.prepared.papers[side].add(found.lesson.case.paper.forum_id)
        for _ in range(times):
            if self.sink is not None:
                self.sink(side, found)
            yield found


def token_file(side: Side) -> str:
    """The name of the file with the tokens of a side."""
    return f"{side}.arrow"


def prepare(
    choice: Choice,
    tasks: tuple[BenchTask, ...],
    fitting: Fitting,
    folder: Path,
    show: Show,
    sink: Sink | None = None,
) -> Prepared:
    """Write the lessons of a run into its folder `.data`, for `keep` or for nothing.

    Args:
        choice: Which lessons.
        tasks: Of these tasks.
        fitting: How they are made to fit.
        folder: Of the run.
        show: Told how many papers are read.
        sink: Gets every lesson besides; None where nobody wants them.

    Raises:
        PeercorpusError: A file of the release cannot be read, a lesson cannot be made, or the folder cannot be written.
    """
    recipe = fitting.recipe
    prepared, partial = Prepared(), folder / f".{DATA}"
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        with (partial / LESSONS).open("wb") as listed:
            _write(partial, _Writing(choice, tasks, fitting, recipe.validation, prepared, listed, show, sink))
    except OSError as error:
        raise PeercorpusError(f"The run '{folder}' cannot be written: {error.strerror or error}.") from None
    table = length_table(prepared.lengths, recipe.context, recipe.paper_tokens)
    (partial / LENGTHS).write_text(f"{table}\n", "utf-8")
    prepared.files = {path.name: digest_of(path) for path in sorted(partial.iterdir())}
    return prepared


def _write(partial: Path, writing: _Writing) -> None:
    for side in LESSONS_OF:
        with pa.ipc.new_stream(partial / token_file(side), SCHEMA) as file:
            for batch in _batches(writing.lessons(side)):
                file.write_batch(batch)


def keep(folder: Path) -> None:
    """Give what `prepare` wrote its place in the run."""
    shutil.rmtree(folder / DATA, ignore_errors=True)
    (folder / f".{DATA}").rename(folder / DATA)


def drop(folder: Path) -> None:
    """Delete what `prepare` wrote; of a run that has nothing else, its folder."""
    shutil.rmtree(folder / f".{DATA}", ignore_errors=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
