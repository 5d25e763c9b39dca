"""Run a list of models several times as in the Re² paper; an interrupted comparison resumes."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from inspect_ai._util.registry import registry_find, registry_unqualified_name
from inspect_ai.model import Model

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.logs import TaskRun, read_run
from peercorpus.benchmark.re2.model_list import ListedModel
from peercorpus.benchmark.run import Bench, BenchResult, rehearse, run_tasks
from peercorpus.errors import ModelError


@dataclass(frozen=True, slots=True)
class Comparison:
    """Settings of a comparison, the same for every model.

    Attributes:
        bench: The run of one model, without the model; its folder of logs has a folder for each model and run.
        runs: Number of times each model answers all questions; run number N has the seed N.
    """

    bench: Bench
    models: Sequence[ListedModel]
    runs: int

    def plan(self, model: ListedModel, run: int) -> Bench:
        """Return one run of one model."""
        return replace(
            self.bench,
            logs=self.bench.logs / model.folder / f"run-{run}",
            model=model.model,
            base_url=model.url,
            model_args=model.args,
            options=dict(self.bench.options) | model.options,
            settings={"seed": run} | dict(self.bench.settings),
        )


@dataclass(slots=True)
class ComparedModel:
    """The runs of one model.

    Attributes:
        runs: Complete runs by task, in the order of their seeds.
    """

    name: str
    runs: dict[BenchTask, list[TaskRun]] = field(default_factory=dict)


@dataclass(slots=True)
class ComparisonResult:
    """Result of a comparison.

    Attributes:
        is_whole: Whether every case of every run was answered.
        errors: Tasks that failed and cases that were not answered, counted by error message.
        notes: Runs that are in no table, with the reason.
    """

    models: list[ComparedModel] = field(default_factory=list)
    is_whole: bool = True
    errors: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def compare_models(comparison: Comparison, say: Callable[[str], object]) -> ComparisonResult:
    """Run every model and read its answers.

    All questions for all models are prepared before the first one is asked.

    Args:
        comparison: Settings of the comparison.
        say: Receives a line before each run.

    Raises:
        PeercorpusError: A task cannot be made, a model is unknown, or a log cannot be read.
        KeyboardInterrupt: The comparison was interrupted.
    """
    for model in comparison.models:
        bench = comparison.plan(model, 1)
        for named in (bench.model, *bench.roles.values()):
            _check_provider(named)
        rehearse(bench)
    result = ComparisonResult()
    for model in comparison.models:
        compared = ComparedModel(model.name)
        for number in range(1, comparison.runs + 1):
            say(f"{model.name}: run {number:,} of {comparison.runs:,}")
            ran = run_tasks(comparison.plan(model, number))
            result.is_whole &= ran.is_whole
            result.errors += ran.errors
            for run in _read_complete(ran, f"run {number} of {model.name}", result.notes):
                compared.runs.setdefault(run.protocol.task, []).append(run)
        result.models.append(compared)
    return result


def _check_provider(named: str | Model | None) -> None:
    """Check that inspect_ai knows the provider of a model that is not a folder; nothing is loaded or requested.

    Raises:
        ModelError: It does not know the provider.
    """
    if not isinstance(named, str) or Path(named).is_dir():
        return
    provider, _, name = named.partition("/")
    known = registry_find(lambda info: info.type == "modelapi" and registry_unqualified_name(info) == provider)
    if not name or not known:
        raise ModelError(
            f"The model '{named}' is unknown: it is not a folder, and '{provider}' is not a provider of"
            " inspect_ai; name one"
            " as PROVIDER/MODEL, such as openai/gpt-5, or a folder."
        )


def _read_complete(ran: BenchResult, name: str, notes: list[str]) -> Iterator[TaskRun]:
    for log in ran.logs:
        run = read_run(Path(log.location.removeprefix("file://")))
        if run is not None and not run.missing:
            yield run
        else:
            notes.append(f"'{log.eval.task}' of {name} is in no table, because cases are missing.")
