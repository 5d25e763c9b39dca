"""Before and after: a run's base model and its adapter on the papers to test on, in one table, and how they differ."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from inspect_ai.util import DisplayType

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.logs import Run, read_run
from peercorpus.benchmark.rendered import as_markdown
from peercorpus.benchmark.run import Bench, Ran, rehearse, run
from peercorpus.benchmark.table import compare, make_boards
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.lessons import Subject
from peercorpus.finetune.run_files import ADAPTER, BEFORE_AFTER, BENCH, TRAINED, recipe_of, run_of
from peercorpus.metrics import Difference
from peercorpus.progress import Show, show_nothing
from peercorpus.publish.opened import open_release
from peercorpus.publish.splits import Side

DIFFERENCES = "differences.json"
"""In the folder of the logs: the numbers of what is told."""
HEAD = (
    "| task | measure | before | after | difference | 95 % interval | p | papers |\n|---|---|--:|--:|--:|--:|--:|--:|"
)


class Change(msgspec.Struct, frozen=True):
    """One number before and after; shares are on [0, 1].

    Attributes:
        why_not: Why there is no such number; else the rest is there.
        low: Of the 95 % interval of `difference`, which is after less before.
        p: How often chance alone brings a difference as large, two-sided, in (0, 1].
    """

    task: str
    measure: str
    why_not: str | None = None
    before: float | None = None
    after: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    papers: int | None = None


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What became of an evaluation.

    Attributes:
        markdown: The tables, and below them the differences.
        is_whole: Whether every case was answered.
        errors: Tasks that broke off and cases that were not answered, by what the error says.
        notes: Baselines that could not answer, and why.
    """

    markdown: str
    changes: Sequence[Change]
    is_whole: bool
    errors: Counter[str]
    notes: Sequence[str]


def _bench(folder: Path, release: Path, limit: int | None, display: DisplayType) -> tuple[Bench, Bench]:
    """The same questions to the base model, with the baselines, and to the adapter."""
    asked, recipe = run_of(folder).asked, recipe_of(folder)
    if open_release(release).sha256 != asked.release:
        raise PeercorpusError(
            f"'{release}' is not the release that '{folder}' has learnt from, so papers to test on may be among what"
            " was learnt; name that one."
        )
    settings: dict[str, Any] = {"max_tokens": recipe.answer_tokens, "max_connections": recipe.per_device}
    if limit is not None:
        settings["limit"] = limit

    def bench(model: str, revision: Mapping[str, str], *, with_baselines: bool) -> Bench:
        return Bench(
            Subject(asked.subject).tasks,
            release,
            folder / BENCH,
            model,
            {"side": Side.TEST.value, "paper_tokens": recipe.paper_tokens, "tokenizer": asked.model},
            with_baselines,
            model_args={"do_sample": False, **revision},
            display=display,
            settings=settings,
        )

    base = asked.model if Path(asked.model).is_dir() else f"hf/{asked.model}"
    revision = {} if asked.revision is None else {"revision": asked.revision}
    return bench(base, revision, with_baselines=True), bench(str(folder / ADAPTER), {}, with_baselines=False)


def check_evaluation(folder: Path, release: Path, limit: int | None = None) -> None:
    """See, before a model is tuned, that it can be asked: with its longest question and an answer in its window.

    Args:
        folder: Of the run, with its lessons.
        release: That the run learns from.
        limit: Only so many cases of each task.

    Raises:
        PeercorpusError: A question is too long, or the release is another one.
    """
    base, _ = _bench(folder, release, limit, "none")
    rehearse(base)


def evaluate(
    folder: Path,
    release: Path,
    limit: int | None = None,
    resamples: int = 1000,
    display: DisplayType = "none",
    show: Show = show_nothing,
) -> Evaluated:
    """Ask the base model and the adapter of a run what they were tuned for, on the papers to test on.

    Both answer greedily, as many questions at a time as a device holds lessons; the same call goes on where it was.

    Args:
        folder: Of a run that is done; logs and tables go to its folder `bench`.
        release: That the run has learnt from.
        limit: Only so many cases of each task: those of one venue as a rule, so no fair sample.
        resamples: Draws of papers for the intervals.
        display: How `inspect_ai` shows how far it is.
        show: Told how many tables are done.

    Raises:
        PeercorpusError: The run is not done, the release is another one, or a model cannot be asked.
    """
    if not (folder / TRAINED).exists():
        raise PeercorpusError(f"The run '{folder}' has no adapter yet; run 'peercorpus finetune' again to go on.")
    ran = [run(bench) for bench in _bench(folder, release, limit, display)]
    before, after = ([one for one in _runs(each) if not one.is_baseline] for each in ran)
    changes = list(_changes(before, after, resamples))
    tables = as_markdown(make_boards([one for each in ran for one in _runs(each)], resamples, show))
    markdown = f"{tables.rstrip()}\n\n{_told(changes, recipe_of(folder).per_device)}\n"
    (folder / BEFORE_AFTER).write_text(markdown, "utf-8")
    (folder / BENCH / DIFFERENCES).write_bytes(msgspec.json.format(msgspec.json.encode(changes), indent=1))
    errors = sum((each.errors for each in ran), Counter[str]())
    return Evaluated(markdown, changes, all(each.is_whole for each in ran), errors, [*ran[0].notes, *ran[1].notes])


def _runs(ran: Ran) -> list[Run]:
    found = (read_run(Path(log.location.removeprefix("file://"))) for log in ran.logs)
    return [one for one in found if one is not None]


def _changes(before: Sequence[Run], after: Sequence[Run], resamples: int) -> Iterator[Change]:
    of_base: Mapping[BenchTask, Run] = {one.protocol.task: one for one in before}
    for tuned in after:
        task = tuned.protocol.task
        base = of_base.get(task)
        if base is None or base.missing or tuned.missing:
            yield Change(task.value, "all", "not every case was answered; run the same again to go on")
            continue
        for measure, found in compare(tuned, base, resamples):
            yield _change(task, measure, found)


def _change(task: BenchTask, measure: str, found: Difference | str) -> Change:
    if isinstance(found, str):
        return Change(task.value, measure, found)
    one = found.difference
    numbers = found.second, found.first, one.value, one.low, one.high, found.p, one.papers
    return Change(task.value, measure, None, *numbers)


def _line(one: Change) -> str:
    if one.why_not is not None:
        return f"| {one.task} | {one.measure} | {one.why_not} | | | | | |"
    numbers = f"{one.before:.4f} | {one.after:.4f} | {one.difference:+.4f} | [{one.low:+.4f}, {one.high:+.4f}]"
    return f"| {one.task} | {one.measure} | {numbers} | {one.p:.4f} | {one.papers:,} |"


def _told(changes: Sequence[Change], at_a_time: int) -> str:
    return "\n".join(
        [
            "## Differences: adapter less base",
            "",
            "Paired bootstrap over papers, with 95 % intervals and a two-sided p; answers without a score count as"
            " wrong. What the tables show in per cent is a share here. Both models answered greedily, with at most"
            f" {at_a_time:,} {'questions' if at_a_time > 1 else 'question'} at a time.",
            "",
            HEAD,
            *map(_line, changes),
        ]
    )
