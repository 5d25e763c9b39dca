"""Run a list of models several times as in the Re² paper; an interrupted comparison resumes."""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from inspect_ai._util.registry import registry_find, registry_unqualified_name
from inspect_ai.model import Model

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.logs import TaskRun, read_run
from peercorpus.benchmark.run import Bench, BenchResult, rehearse, run_tasks
from peercorpus.errors import ModelError, PeercorpusError

if TYPE_CHECKING:
    from inspect_ai.model import Model


NOT_IN_FOLDERS = re.compile(r"[^A-Za-z0-9._-]+")


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    """A table of a TOML file."""

    model: str
    url: str | None = None
    args: dict[str, Any] = {}
    adapter: str | None = None
    wordings: str | None = None


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One model of a comparison.

    Attributes:
        name: Name of its rows.
        model: Its name in inspect_ai, or a folder.
        url: URL of its endpoint.
        args: Further arguments for its provider.
        options: Options of the tasks for this model only: `adapter` and `wordings`.
    """

    name: str
    model: "str | Model"
    url: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Name of the folder of its logs."""
        return NOT_IN_FOLDERS.sub("-", self.name).strip("-.") or "model"


def read_model_list(path: Path) -> list[ListedModel]:
    """Read a list of models: a TOML file with a table for each, or any other text file with one model per line.

    Raises:
        PeercorpusError: The file cannot be read, names no model, does not have this format, or has a name twice.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PeercorpusError(
            f"The list of models '{path}' cannot be read ({error}); name a text file with one model per line."
        ) from None
    models = _read_tables(path, text) if path.suffix == ".toml" else _read_lines(text)
    if not models:
        raise PeercorpusError(f"'{path}' names no model; write one per line, such as openai/gpt-5.")
    names = dict[str, str]()
    for model in models:
        if model.folder in names:
            raise PeercorpusError(
                f"'{path}' has two models whose logs would be in the folder '{model.folder}': '{names[model.folder]}'"
                f" and '{model.name}'; give each its own name."
            )
        names[model.folder] = model.name
    return models


def _read_lines(text: str) -> list[ListedModel]:
    lines = (line.partition(" #")[0].strip() for line in text.splitlines())
    return [ListedModel(line, line) for line in lines if line and not line.startswith("#")]


def _read_tables(path: Path, text: str) -> list[ListedModel]:
    try:
        entries = msgspec.convert(tomllib.loads(text), dict[str, _Entry])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise PeercorpusError(
            f"The list of models '{path}' cannot be read ({error}); write a table for each model, with 'model', and"
            " 'url', 'args', 'adapter' and 'wordings' as needed."
        ) from None
    return [
        ListedModel(
            name=name,
            model=entry.model,
            url=entry.url,
            args=entry.args,
            options={
                option: value
                for option, value in (("adapter", entry.adapter), ("wordings", entry.wordings))
                if value is not None
            },
        )
        for name, entry in entries.items()
    ]


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
