"""Write the training examples of a run as tokens, with a manifest of their sources."""

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

from peercorpus.benchmark.cases import CONFIG, BenchTask, CaseCounts
from peercorpus.errors import PeercorpusError
from peercorpus.execution.progress import Meter, Show
from peercorpus.finetune.examples import TrainingExample
from peercorpus.finetune.lengths import Fitted, Fitting, Lengths, length_table
from peercorpus.finetune.run_folder import DATA, EXAMPLES, LENGTHS
from peercorpus.finetune.selection import ExampleSelector
from peercorpus.release.splits import Split
from peercorpus.workspace.object_store import file_digest

SCHEMA = pa.schema([("input_ids", pa.list_(pa.int32())), ("labels", pa.list_(pa.int32()))])
"""Input of the trainer: token ids, and labels that state which are learnt."""
BATCH = 64
"""Number of examples per record batch."""
EXAMPLES_OF = {Split.TRAIN: "papers to learn from", Split.VALIDATION: "papers to validate on"}
"""The splits that are used, with their names for progress; the test split is never read."""
Sink = Callable[[Split, Fitted], None]
"""Receives each example as often as it is repeated, in the order of the files."""


@dataclass(slots=True)
class Prepared:
    """The result of preparing a run's examples.

    Attributes:
        lengths: Lengths of the training examples, by task.
        taken: Counts of examples left out, by split.
        examples: Number of examples by split.
        papers: Forum ids of the papers with examples, by split.
        venues: Venue ids and conference names of the training papers.
        files: Files written, with their SHA-256.
    """

    lengths: dict[BenchTask, Lengths] = field(default_factory=dict)
    taken: dict[Split, CaseCounts] = field(default_factory=lambda: {split: CaseCounts() for split in EXAMPLES_OF})
    examples: Counter[Split] = field(default_factory=Counter)
    papers: dict[Split, set[str]] = field(default_factory=lambda: {split: set() for split in EXAMPLES_OF})
    venues: set[str] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=dict)


def _make_key(example: TrainingExample) -> str:
    return f"{example.task}/{example.example_id}"


def _draw_validation(choice: ExampleSelector, tasks: tuple[BenchTask, ...], most: int) -> set[str]:
    """Return the keys of the validation examples: those with the smallest hashes."""
    keys = (_make_key(example) for task in tasks for example in choice.examples(task, Split.VALIDATION, CaseCounts()))
    return set(heapq.nsmallest(most, keys, key=lambda key: hashlib.sha256(key.encode()).digest()))


def _make_entry(fitted: Fitted, split: Split) -> dict[str, Any]:
    example = fitted.example
    paper = fitted.example.case.paper
    return {
        "split": split.value,
        "task": example.task.value,
        "example_id": example.example_id,
        "forum_id": paper.forum_id,
        "venue_id": paper.venue_id,
        "year": paper.year,
        "grade": paper.grade.value,
        "reviewer": example.reviewer,
        "record_ids": example.record_ids,
        "tokens": len(fitted.encoded.ids),
        "learnt": fitted.encoded.learnt,
        "paper_tokens": fitted.shown.tokens,
        "paper_left_out": fitted.shown.left_out,
    }


def _make_batches(rows: Iterator[Fitted]) -> Iterator[pa.RecordBatch]:
    while batch := list(itertools.islice(rows, BATCH)):
        columns = [[fitted.encoded.ids for fitted in batch], [fitted.encoded.labels for fitted in batch]]
        yield pa.record_batch([pa.array(column, SCHEMA.types[0]) for column in columns], SCHEMA)


@dataclass(slots=True)
class _Writer:
    """State of writing the examples of a run."""

    choice: ExampleSelector
    tasks: tuple[BenchTask, ...]
    fitting: Fitting
    listed: IO[bytes]
    show: Show
    sink: Sink | None
    prepared: Prepared = field(default_factory=Prepared)

    def write(self, folder: Path) -> Prepared:
        """Write the tokens of all examples to a folder."""
        for split in EXAMPLES_OF:
            with pa.ipc.new_stream(folder / token_file(split), SCHEMA) as file:
                for batch in _make_batches(self.examples(split)):
                    file.write_batch(batch)
        return self.prepared

    def examples(self, split: Split) -> Iterator[Fitted]:
        """Yield the examples of a split; those that do not fit are counted."""
        drawn = (
            _draw_validation(self.choice, self.tasks, self.fitting.recipe.validation)
            if split is Split.VALIDATION
            else None
        )
        for task in self.tasks:
            total = self.choice.release.count(CONFIG[task], split)
            meter = Meter(task.value, EXAMPLES_OF[split], self.show, total=total)
            counts = self.prepared.taken[split]
            lengths = Lengths()
            if split is Split.TRAIN:
                self.prepared.lengths[task] = lengths
            for fitted in self.fitting.fit(self._select_examples(task, split, drawn, meter), total):
                lengths.see(fitted)
                if isinstance(fitted, Fitted):
                    yield self._record(fitted, split)
                else:
                    counts.left_out["examples: longer than the context"] += 1
            if meter.done < total:
                meter.report(total, total)

    def _select_examples(
        self, task: BenchTask, split: Split, drawn: set[str] | None, meter: Meter
    ) -> Iterator[TrainingExample]:
        """Yield the examples of a task that are used; the others are counted."""
        counts = self.prepared.taken[split]
        seen = None
        for example in self.choice.examples(task, split, counts):
            paper = example.case.paper
            if paper.forum_id != seen:
                seen = paper.forum_id
                if split is Split.TRAIN:
                    self.prepared.venues |= {paper.venue_id, paper.conference}
                meter.advance()
            if drawn is not None and _make_key(example) not in drawn:
                counts.left_out["examples: not drawn to validate on"] += 1
            else:
                yield example

    def _record(self, fitted: Fitted, split: Split) -> Fitted:
        self.listed.write(msgspec.json.encode(_make_entry(fitted, split)) + b"\n")
        self.prepared.examples[split] += 1
        self.prepared.papers[split].add(fitted.example.case.paper.forum_id)
        if self.sink is not None:
            self.sink(split, fitted)
        return fitted


def token_file(split: Split) -> str:
    """Return the name of the file with the tokens of a split."""
    return f"{split}.arrow"


def prepare(
    choice: ExampleSelector,
    tasks: tuple[BenchTask, ...],
    fitting: Fitting,
    folder: Path,
    show: Show,
    sink: Sink | None = None,
) -> Prepared:
    """Write the examples of a run to its folder `.data`, to be kept by `adopt_prepared` or deleted by `drop`.

    Args:
        choice: Selects the examples.
        tasks: The tasks.
        fitting: Fits the examples into the context.
        folder: Folder of the run.
        show: Receives the number of papers read.
        sink: Also receives every example; may be None.

    Raises:
        PeercorpusError: A file of the release cannot be read, an example cannot be made, or the folder cannot be
            written.
    """
    partial = folder / f".{DATA}"
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        with (partial / EXAMPLES).open("wb") as listed:
            prepared = _Writer(choice, tasks, fitting, listed, show, sink).write(partial)
    except OSError as error:
        raise PeercorpusError(f"The run '{folder}' cannot be written: {error.strerror or error}.") from None
    table = length_table(prepared.lengths, fitting.recipe.context, fitting.recipe.paper_tokens)
    (partial / LENGTHS).write_text(f"{table}\n", "utf-8")
    prepared.files = {path.name: file_digest(path) for path in sorted(partial.iterdir())}
    return prepared


def adopt_prepared(folder: Path) -> None:
    """Move the output of `prepare` to its location in the run."""
    shutil.rmtree(folder / DATA, ignore_errors=True)
    (folder / f".{DATA}").rename(folder / DATA)


def drop(folder: Path) -> None:
    """Delete the output of `prepare`, and the folder of the run if it is then empty."""
    shutil.rmtree(folder / f".{DATA}", ignore_errors=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
