"""Benchmark the base model and the adapter of a run on the test split, and report the differences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from inspect_ai.util import DisplayType

from peercorpus.benchmark.cases import BenchTask, held_tasks
from peercorpus.benchmark.leaderboard import compare_runs, make_boards
from peercorpus.benchmark.leaderboard_render import render_markdown
from peercorpus.benchmark.logs import TaskRun, read_run
from peercorpus.benchmark.run import Bench, BenchResult, Say, rehearse, run_tasks, say_nothing
from peercorpus.errors import PeercorpusError
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.finetune.examples import TrainingTask
from peercorpus.finetune.run_folder import ADAPTER, BEFORE_AFTER, BENCH, TRAINED, load_recipe, load_run
from peercorpus.metrics.paired_intervals import PAIRED
from peercorpus.metrics.paired_intervals import PairedDifference as Difference
from peercorpus.release.folder import open_release
from peercorpus.release.splits import Split

DIFFERENCES = "differences.json"
"""File in the folder of the logs: the differences as JSON."""
HEAD = (
    "| task | measure | before | after | difference | 95 % interval | p | papers |\n|---|---|--:|--:|--:|--:|--:|--:|"
)


class MeasureChange(msgspec.Struct, frozen=True):
    """One number before and after training; shares are in [0, 1].

    Attributes:
        why_not: Why there is no such number; if None, the other attributes are set.
        difference: `after` minus `before`.
        low: Lower bound of the difference's 95 % interval; None if it has none.
        high: Upper bound of this interval.
        p: Two-sided p-value of a difference this large arising by chance, in (0, 1].
        papers: Number of papers compared.
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
class EvaluationResult:
    """The result of an evaluation.

    Attributes:
        markdown: The tables, followed by the differences.
        is_whole: Whether every case has an answer.
        errors: Number of failed tasks and unanswered cases, by error message.
        notes: Baselines that could not answer, with the reason.
    """

    markdown: str
    changes: Sequence[MeasureChange]
    is_whole: bool
    errors: Counter[str]
    notes: Sequence[str]


def _make_benches(
    folder: Path,
    release: Path,
    limit: int | None,
    display: DisplayType,
    say: Say = say_nothing,
    show: Show = show_nothing,
) -> tuple[Bench, Bench]:
    """Return two benchmark runs with the same questions: the base model with the baselines, and the adapter."""
    asked = load_run(folder).asked
    recipe = load_recipe(folder)
    if open_release(release).sha256 != asked.release:
        raise PeercorpusError(
            f"'{release}' is not the release that '{folder}' was trained on, so its test papers may be among the"
            " training papers; name that release."
        )
    settings = {"max_tokens": recipe.answer_tokens, "max_connections": recipe.per_device, "limit": limit}
    held = held_tasks(open_release(release), Split.TEST)
    learnt = TrainingTask(asked.subject).tasks
    tasks = [task for task in learnt if task in held] or learnt

    def bench(model: str, revision: Mapping[str, str], *, with_baselines: bool) -> Bench:
        return Bench(
            tasks=tasks,
            release=release,
            logs=folder / BENCH,
            model=model,
            options={"split": Split.TEST.value, "paper_tokens": recipe.paper_tokens, "tokenizer": asked.model},
            with_baselines=with_baselines,
            model_args=revision,
            display=display,
            settings={name: value for name, value in settings.items() if value is not None},
            say=say,
            show=show,
        )

    base = asked.model if Path(asked.model).is_dir() else f"hf/{asked.model}"
    revision = {} if asked.revision is None else {"revision": asked.revision}
    return bench(base, revision, with_baselines=True), bench(str(folder / ADAPTER), {}, with_baselines=False)


def check_evaluation(folder: Path, release: Path, limit: int | None = None, say: Say = say_nothing) -> None:
    """Check, before training, that the model can be evaluated: the longest question and its answer must fit the window.

    Args:
        folder: Folder of the run, with its examples.
        release: The release that the run is trained on.
        limit: Maximum number of cases per task.
        say: Receives warnings for the user before resources are spent.

    Raises:
        PeercorpusError: A question is too long, or the release is a different one.
    """
    base, _ = _make_benches(folder, release, limit, "none", say)
    rehearse(base)


def evaluate(
    folder: Path,
    release: Path,
    limit: int | None = None,
    resamples: int = 1000,
    display: DisplayType = "none",
    show: Show = show_nothing,
) -> EvaluationResult:
    """Benchmark the base model and the adapter of a run on the test papers of its tasks.

    Both decode greedily, with as many questions at a time as the recipe's `per_device`; repeating the call resumes.

    Args:
        folder: Folder of a finished run; logs and tables are written to its folder `bench`.
        release: The release that the run was trained on.
        limit: Maximum number of cases per task. The first cases are usually from one venue, so they are not a
            representative sample.
        resamples: Number of bootstrap resamples for the intervals.
        display: How inspect_ai shows its progress.
        show: Receives the number of tokens generated, then the number of tables done.

    Raises:
        PeercorpusError: The run is not finished, the release is a different one, or a model cannot be run.
    """
    if not (folder / TRAINED).exists():
        raise PeercorpusError(f"The run '{folder}' has no adapter yet; run 'peercorpus finetune' again to resume.")
    results = [run_tasks(bench) for bench in _make_benches(folder, release, limit, display, show=show)]
    before, after = ([run for run in _read_runs(result) if not run.is_baseline] for result in results)
    changes = list(_compare_all(before, after, resamples))
    tables = render_markdown(make_boards([run for result in results for run in _read_runs(result)], resamples, show))
    markdown = f"{tables.rstrip()}\n\n{_render_differences(before, after, changes, load_recipe(folder).per_device)}\n"
    (folder / BEFORE_AFTER).write_text(markdown, "utf-8")
    (folder / BENCH / DIFFERENCES).write_bytes(msgspec.json.format(msgspec.json.encode(changes), indent=1))
    errors = sum((result.errors for result in results), Counter[str]())
    return EvaluationResult(
        markdown=markdown,
        changes=changes,
        is_whole=all(result.is_whole for result in results),
        errors=errors,
        notes=[*results[0].notes, *results[1].notes],
    )


def _read_runs(result: BenchResult) -> list[TaskRun]:
    runs = (read_run(Path(log.location.removeprefix("file://"))) for log in result.logs)
    return [run for run in runs if run is not None]


def _compare_all(before: Sequence[TaskRun], after: Sequence[TaskRun], resamples: int) -> Iterator[MeasureChange]:
    of_base: Mapping[BenchTask, TaskRun] = {run.protocol.task: run for run in before}
    for tuned in after:
        task = tuned.protocol.task
        base = of_base.get(task)
        if base is None or base.missing or tuned.missing:
            yield MeasureChange(task.value, "all", "not every case was answered; run the same command again to resume")
            continue
        for measure, compared in compare_runs(tuned, base, resamples):
            yield _make_change(task, measure, compared)


def _make_change(task: BenchTask, measure: str, compared: Difference | str) -> MeasureChange:
    if isinstance(compared, str):
        return MeasureChange(task.value, measure, compared)
    low, high = compared.bounds or (None, None)
    return MeasureChange(
        task=task.value,
        measure=measure,
        before=compared.second,
        after=compared.first,
        difference=compared.value,
        low=low,
        high=high,
        p=compared.p,
        papers=compared.papers,
    )


def _format_change(change: MeasureChange) -> str:
    if change.why_not is not None:
        return f"| {change.task} | {change.measure} | {change.why_not} | | | | | |"
    bounds = "-" if change.low is None else f"[{change.low:+.4f}, {change.high:+.4f}]"
    numbers = f"{change.before:.4f} | {change.after:.4f} | {change.difference:+.4f} | {bounds}"
    return f"| {change.task} | {change.measure} | {numbers} | {change.p:.4f} | {change.papers:,} |"


def _count_answers(run: TaskRun) -> tuple[int, int]:
    """Return how many answers of a run have no score, and how many answers there are."""
    outcomes = next(iter(run.outcomes.values()))
    return sum(outcome.unscored is not None for outcome in outcomes), len(outcomes)


def _describe_answers(before: Sequence[TaskRun], after: Sequence[TaskRun]) -> Iterator[str]:
    """Yield for each task facts about both models' answers that the measures do not show."""
    for base, tuned in zip(before, after, strict=False):
        unscored, (still, asked) = _count_answers(base)[0], _count_answers(tuned)
        only = f"; only the first {asked:,} of {asked + tuned.not_asked:,} cases (--limit)" if tuned.not_asked else ""
        yield f"- {tuned.protocol.task}: answers without a score {unscored:,} → {still:,} of {asked:,}{only}."
        for when, run in (("before", base), ("after", tuned)):
            if run.says:
                yield f"- {tuned.protocol.task}, {when}: {run.says}."


def _render_differences(
    before: Sequence[TaskRun], after: Sequence[TaskRun], changes: Sequence[MeasureChange], at_a_time: int
) -> str:
    return "\n".join(
        [
            "## Differences: adapter minus base",
            "",
            f"On the cases with a score from both models, with {PAIRED}. Percentages in the tables are shares here."
            " Both models answered greedily, with at most"
            f" {at_a_time:,} {'questions' if at_a_time > 1 else 'question'} at a time.",
            "",
            *_describe_answers(before, after),
            "",
            HEAD,
            *map(_format_change, changes),
        ]
    )
