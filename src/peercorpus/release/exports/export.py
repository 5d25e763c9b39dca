"""Export the tasks of a release as a folder of files for a training library.

The rows come from the task configurations; `layouts` writes the other files.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from peercorpus.errors import PeercorpusError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.models import prompts
from peercorpus.models.chat_messages import Message, Speaker, escape_markers
from peercorpus.records.points import CRITICAL_KINDS
from peercorpus.release.exports.formats import ExportLayout, TrainingSample, render_sample, write_rows
from peercorpus.release.exports.layouts import Exported, ExportedFile, write_companions
from peercorpus.release.exports.meta_reviews import meta_review_samples
from peercorpus.release.exports.re2 import ForumRows, Re2Paper, join_papers, write_manuscript, write_paper, write_talks
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.exports.samples import (
    NO_TEXT,
    Samples,
    describe_paper,
    open_paper,
    rebuttal_samples,
    review_samples,
)
from peercorpus.release.folder import Release, check_outside, open_release, replace_folder
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import Split, Task
from peercorpus.release.task_tables import CONFIG

UNANSWERED = "a point without an answer"
UNSURE = "a point whose answers are less certain"
ANSWERED_LATE = "a point that was answered after the decision"
POINT_COLUMNS = ("forum_id", "review_id", "reviewer", "point_id", "text", "kind", "aspect")
ANSWER_COLUMNS = ("forum_id", "point_id", "post_id", "text", "confidence", "posted_after_decision")


def add_points(release: Release, papers: Iterator[Row]) -> Iterator[Row]:
    """Add to each row of `rebuttal` its points that ask for an answer, under `points`, each with its `answers`.

    Raises:
        PeercorpusError: The release has no points.
    """
    points, answers = ForumRows(release, "points", POINT_COLUMNS), ForumRows(release, "answers", ANSWER_COLUMNS)
    if not points:
        raise PeercorpusError(
            f"The release '{release.folder}' has no configuration 'points'; publish it with --points, or leave out"
            " --by-point."
        )
    for paper in papers:
        by_point: defaultdict[str, list[Row]] = defaultdict(list)
        for answer in answers.take(paper["forum_id"]):
            by_point[answer["point_id"]].append(answer)
        own = (point for point in points.take(paper["forum_id"]) if point["kind"] in CRITICAL_KINDS)
        paper["points"] = [point | {"answers": by_point[point["point_id"]]} for point in own]
        yield paper


def point_samples(row: Row, licence: str | None, request: ExportRequest, tally: Samples) -> Iterator[TrainingSample]:
    """Yield a sample for each point of a paper with an answer from before the decision; count the others.

    Args:
        row: A row of `rebuttal` from `add_points`.
        licence: Licence of the paper; None if none is stated.
        request: Presentation of paper and point, and the required confidence of an answer.
        tally: Counts rows written and left out.
    """
    paper, is_cut = open_paper(row, request)
    system = [Message(Speaker.SYSTEM, [prompts.AUTHORS], [])] if request.has_system else []
    for point in row["points"]:
        answers, reason = _choose_answers(point["answers"], request.by_point or 0.0)
        if paper is None or not answers:
            tally.left_out[NO_TEXT if paper is None else reason] += 1
            continue
        about = describe_paper(row, licence, is_cut) | {
            "point_id": point["point_id"],
            "review_id": point["review_id"],
            "reviewer": point["reviewer"],
            "kind": point["kind"],
            "aspect": point["aspect"] or "",
            "confidence": [answer["confidence"] for answer in answers],
            "post_ids": [answer["post_id"] for answer in answers],
        }
        tally.cut += is_cut
        asked = Message(Speaker.USER, [*filter(None, [paper]), escape_markers(point["text"].strip())], [])
        said = Message(Speaker.ASSISTANT, [escape_markers(answer["text"]) for answer in answers], [0])
        yield TrainingSample([*system, asked, said], about)


def _choose_answers(answers: Sequence[Row], least: float) -> tuple[list[Row], str]:
    """Return the answers to use, or the reason for none; a model's answers lack a confidence and are not used."""
    if not answers:
        return [], UNANSWERED
    in_time = [answer for answer in answers if answer["posted_after_decision"] is not True]
    certain = [answer for answer in in_time if answer["confidence"] is not None and answer["confidence"] >= least]
    return certain, UNSURE if in_time else ANSWERED_LATE


MANIFEST = "export.json"
"""File that names every other file of an export with its sha256."""

_PAPER = ("forum_id", "venue_id", "conference", "year", "track", "title", "abstract", "grade", "markdown")
COLUMNS = {
    Task.REVIEW: (*_PAPER, "decision", "reviews"),
    Task.REBUTTAL: (*_PAPER, "conversations"),
    Task.META_REVIEW: (*_PAPER, "status", "meta_reviews", "exchanges", "responses", "turns_left_out"),
}
"""Columns of a task configuration that samples are made from."""
SAMPLES: Mapping[Task, Callable[[Row, str | None, ExportRequest, Samples], Iterator[TrainingSample]]] = {
    Task.REVIEW: review_samples,
    Task.REBUTTAL: rebuttal_samples,
    Task.META_REVIEW: meta_review_samples,
}
RE2_NAMES = {Task.REVIEW: "REVIEWS", Task.REBUTTAL: "REBUTTAL"}
"""Names of Re²'s files; it has no separate file of meta-reviews."""


def _choose_tasks(release: Release, request: ExportRequest) -> list[Task]:
    """Return the tasks to write.

    Raises:
        PeercorpusError: The release lacks a requested task.
    """
    present = [task for task, config in CONFIG.items() if any(release.count(config, split) for split in Split)]
    if not present and release.splits() is not None:
        raise PeercorpusError(
            f"No paper of the release '{release.folder}' can be used for training: none has both a text that the"
            " tasks accept and a review or conversation; 'peercorpus publish --grade' accepts more texts."
        )
    if request.task is not None and request.task not in present:
        raise PeercorpusError(
            f"The release '{release.folder}' has no configuration '{CONFIG[Task(request.task)]}'; publish it with"
            " --splits re2 or --splits temporal, or name another task."
        )
    if not present:
        raise PeercorpusError(
            f"The release '{release.folder}' has no task configurations; publish it with --splits re2 or"
            " --splits temporal."
        )
    if request.task is not None:
        return [Task(request.task)]
    if request.assistant == "author" or request.by_point is not None:
        return [Task.REBUTTAL]
    return [task for task in present if request.format is not ExportLayout.RE2 or task in RE2_NAMES]


def _add_records(release: Release, papers: Iterator[Row]) -> Iterator[Row]:
    """Add to each conversation in rows of `rebuttal` its row of `conversations`, under `record`.

    Raises:
        PeercorpusError: The release lacks a conversation.
    """
    conversations = ForumRows(release, "conversations")
    for paper in papers:
        by_id = {record["conversation_id"]: record for record in conversations.take(paper["forum_id"])}
        for talk in paper["conversations"]:
            if talk["conversation_id"] not in by_id:
                raise PeercorpusError(
                    f"The configuration 'conversations' of the release '{release.folder}' lacks"
                    f" '{talk['conversation_id']}', which 'rebuttal' has; publish the release again."
                )
            talk["record"] = by_id[talk["conversation_id"]]
        yield paper


def _list_splits(layout: ExportLayout) -> dict[Split, list[Split]]:
    """Return the files of a task by split, with the splits of the release that go into each.

    Re² has no validation split: all papers that are not for testing are for training.
    """
    if layout is ExportLayout.RE2:
        return {Split.TRAIN: [Split.TRAIN, Split.VALIDATION], Split.TEST: [Split.TEST]}
    return {split: [split] for split in reversed(Split)}


@dataclass(frozen=True, slots=True)
class _Export:
    """An export of a release, while it is written."""

    release: Release
    folder: Path
    request: ExportRequest
    licences: Mapping[str, str]
    show: Show

    def write_split(self, task: Task, split: Split, splits: Sequence[Split]) -> ExportedFile:
        """Write one file of a task, with the papers of some splits of the release, and count those left out."""
        config = CONFIG[task]
        is_re2 = self.request.format is ExportLayout.RE2
        name = f"{RE2_NAMES[task]}_{split}.json" if is_re2 else f"{task}_{split}.jsonl"
        samples = Samples()
        total = sum(self.release.count(config, one) for one in splits)
        meter = Meter(name, "exporting papers", self.show, total=total)
        rows = self._count(self._read_rows(task, splits, samples), samples, meter)
        write_rows(self.folder / name, rows, as_list=is_re2)
        if not samples.rows and not is_re2:
            # Training libraries cannot open a file without rows; the code that reads Re² opens both splits.
            (self.folder / name).unlink()
        return ExportedFile(name=name, task=task, split=split, samples=samples)

    def _count(
        self, papers: Iterator[tuple[str | None, Iterator[Row]]], samples: Samples, meter: Meter
    ) -> Iterator[Row]:
        for licence, rows in papers:
            before = samples.rows
            for row in rows:
                samples.rows += 1
                yield row
            if samples.rows > before:
                samples.papers += 1
                samples.licences[licence] += 1
            meter.advance()

    def _read_rows(
        self, task: Task, splits: Sequence[Split], samples: Samples
    ) -> Iterator[tuple[str | None, Iterator[Row]]]:
        """Yield the licence of each paper with its rows."""
        config = CONFIG[task]
        if self.request.format is ExportLayout.RE2:
            for joined in join_papers(self.release, config, splits):
                licence = self.licences.get(joined.task["forum_id"])
                yield licence, self._write_re2(task, joined, licence, samples)
            return
        columns = None if self.request.format is ExportLayout.JSONL else COLUMNS[task]
        papers: Iterator[Row] = chain.from_iterable(self.release.rows(config, split, columns) for split in splits)
        make = SAMPLES[task]
        if self.request.by_point is not None:
            papers, make = add_points(self.release, papers), point_samples
        elif task is Task.REBUTTAL and self.request.needs_turns:
            papers = _add_records(self.release, papers)
        for paper in papers:
            licence = self.licences.get(paper["forum_id"])
            if columns is None:
                yield licence, iter([paper | {"licence": licence}])
            else:
                yield licence, self._render(make(paper, licence, self.request, samples))

    def _write_re2(self, task: Task, paper: Re2Paper, licence: str | None, samples: Samples) -> Iterator[Row]:
        if task is Task.REVIEW:
            row = write_paper(paper, licence, samples)
            rows = iter([row] if row is not None else [])
        else:
            rows = self._render(write_talks(paper, licence, self.request, samples))
        for place, row in enumerate(rows):
            if place == 0:
                write_manuscript(self.folder, paper)
            yield row

    def _render(self, samples: Iterator[TrainingSample]) -> Iterator[Row]:
        for sample in samples:
            yield render_sample(sample, self.request.format)


def export_release(folder: Path, out: Path, request: ExportRequest, show: Show = show_nothing) -> Exported:
    """Write the tasks of a release for a training library; the folder is complete at the end, or unchanged.

    Args:
        folder: The release.
        out: The folder to write; an earlier export there is replaced.
        request: The layout, the tasks and their presentation.
        show: Receives the progress of each file.

    Raises:
        PeercorpusError: There is no release with these tasks, a file of it cannot be
            read, or `out` contains other files.
    """
    release = open_release(folder)
    check_outside(out, folder)
    tasks = _choose_tasks(release, request)
    exported = Exported(release, request, release.splits())
    with replace_folder(out, "an export", MANIFEST) as partial:
        papers = release.rows("papers", None, ["forum_id", "licence"])
        licences = {paper["forum_id"]: paper["licence"] for paper in papers if paper["licence"]}
        export = _Export(release=release, folder=partial, request=request, licences=licences, show=show)
        for task in tasks:
            for split, splits in _list_splits(request.format).items():
                exported.files.append(export.write_split(task, split, splits))
        write_companions(partial, exported)
    return exported
