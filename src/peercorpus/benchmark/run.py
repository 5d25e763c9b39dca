"""Run the tasks of the benchmark, with models and baselines; an interrupted run resumes."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from inspect_ai import Task, eval_set
from inspect_ai._util import dotenv
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.hooks import Hooks, SampleEnd, SampleStart, hooks
from inspect_ai.log import EvalLog, read_eval_log_sample_summaries
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.util import DisplayType

from peercorpus.benchmark.adapters.reviewer_models import find_adapter, load_adapter
from peercorpus.benchmark.baselines.baseline import CEILINGS, HUMAN, list_baselines
from peercorpus.benchmark.cases import CONTROLS, BenchTask, held_tasks
from peercorpus.benchmark.figures.showing import ask_about_image
from peercorpus.benchmark.judge.scorer import GRADER, SECOND
from peercorpus.benchmark.leaderboard_render import FEW_PAPERS
from peercorpus.benchmark.local_model import LocalModel, find_local_model, free_model, load_local
from peercorpus.benchmark.logs import check_logs
from peercorpus.benchmark.tasks import NO_MODEL, NoCaseError, acceptance, meta_review, rebuttal, review, scores
from peercorpus.errors import BaselineError, ModelError, PeercorpusError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.models.checkpoints import is_loaded_here
from peercorpus.release.folder import open_release
from peercorpus.release.splits import Split


class AnsweredQuestions(Hooks):
    """Counts the answered questions of the run in progress, if it shows them here.

    inspect_ai makes one instance, which lives as long as the process.

    Attributes:
        make_meter: Makes the run's meter; None if no run shows its progress here.
        meter: The meter, from the first question on, so that preparations do not count for the time left.
    """

    make_meter: Callable[[], Meter] | None = None
    meter: Meter | None = None

    def enabled(self) -> bool:
        """Return whether a run shows its progress here."""
        return AnsweredQuestions.make_meter is not None

    async def on_sample_start(self, data: SampleStart) -> None:  # noqa: ARG002 -- its signature
        """Begin to measure the time at the first question."""
        if AnsweredQuestions.meter is None and AnsweredQuestions.make_meter is not None:
            AnsweredQuestions.meter = AnsweredQuestions.make_meter()

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Count a question that was answered."""
        if AnsweredQuestions.meter is not None and data.sample.error is None:
            AnsweredQuestions.meter.advance()


@cache
def _register() -> None:
    """Register the counter, when inspect_ai has already printed which hooks there are."""
    hooks(name="peercorpus_progress", description="Counts the answered questions of a run.")(AnsweredQuestions)


@contextmanager
def showing_progress(show: Show, questions: int) -> Iterator[None]:
    """Show the progress of a run.

    Args:
        show: Receives it after each answer.
        questions: Number of questions; those answered by an earlier run are not counted again.
    """
    _register()
    AnsweredQuestions.make_meter = partial(Meter, "benchmark", "answering", show, total=questions)
    try:
        yield
    finally:
        AnsweredQuestions.make_meter = AnsweredQuestions.meter = None


TASKS: Mapping[BenchTask, Callable[..., Task]] = {
    BenchTask.ACCEPTANCE: acceptance,
    BenchTask.SCORES: scores,
    BenchTask.REVIEW: review,
    BenchTask.REBUTTAL: rebuttal,
    BenchTask.META_REVIEW: meta_review,
}
SECRETS = frozenset({"token", "hf_token", "access_token", "auth_token", "password", "secret"})
"""Secret model arguments that inspect_ai would write to its logs; it omits `api_key` itself."""
MAX_RETRIES = 6
"""Number of times a request is repeated if the model's service is busy or does not respond.

inspect_ai waits 3 s before the first repetition and twice as long before each further one, about three minutes in all.
"""
MARKUP = re.compile(r"\[/?[a-z]+\]|ERROR: ")
"""Terminal markup that inspect_ai puts around a message."""
BLANK_LINE = re.compile(r"(?:\n|\\n){2,}")
MAX_ERROR_CHARACTERS = 300
OPTIONS_OF_WRITTEN_TASKS = frozenset({"bert_score", "embed_cos", "judged", "judge_profile", "judge_words", "repeats"})
"""Options for written answers, which do not apply to the tasks acceptance and scores."""
OPTIONS_OF_MODELS = frozenset({"adapter", "wordings", "paper_tokens", "tokenizer", "shown", "likelihood", "figures"})
"""Options that affect the question, which do not apply to baselines."""
NO_KEY = "no-key"
"""Sent as the key of an OpenAI-compatible endpoint if none is set: local servers do not need one."""


Say = Callable[[str], None]
"""Receives a sentence for the user."""


def say_nothing(_: str) -> None:
    """Ignore a sentence."""


@dataclass(frozen=True, slots=True)
class Bench:
    """One run of the benchmark.

    Attributes:
        logs: Folder of the logs; running the same command again resumes from them.
        model: Its name in inspect_ai, such as `openai/…`, `vllm/…` or `hf/…`, or the folder of a model, an adapter or a
            fine-tuning run; None for only the baselines.
        options: See `options.TaskRequest`.
        with_baselines: Whether the baselines of each task are run too.
        roles: The models in the roles `grader` and `grader2`.
        role_args: Arguments of these models, by role: settings such as `temperature` and `max_tokens`, the `base_url`
            of a service, or arguments of a provider.
        keeps_errors: Whether a case that ends in an error is kept and counts as an answer without a score.
        settings: Passed on to `inspect_ai.eval_set`: `limit`, `max_connections`, `temperature` and the like. A model
            that this process loads decodes greedily unless a temperature is set, and then samples with the seed 0
            unless a seed is set.
        is_of_all: Whether the tasks are all of the release; one without a case is then left out with a note.
        controls: Whether a model is also asked the same questions with less than the paper.
        say: Receives warnings before resources are spent.
        show: Receives the number of tokens written by models of this process.
    """

    tasks: Sequence[BenchTask]
    release: Path
    logs: Path
    model: str | Model | None
    options: Mapping[str, Any] = field(default_factory=dict)
    with_baselines: bool = True
    roles: Mapping[str, str | Model] = field(default_factory=dict)
    role_args: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    base_url: str | None = None
    model_args: Mapping[str, Any] = field(default_factory=dict)
    keeps_errors: bool = False
    display: DisplayType = "none"
    settings: Mapping[str, Any] = field(default_factory=dict)
    controls: bool = False
    is_of_all: bool = False
    say: Say = say_nothing
    show: Show = show_nothing


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The result of a run.

    Attributes:
        logs: One per task and model or baseline.
        is_whole: Whether every case was answered.
        errors: Tasks that failed and cases that were not answered, counted by error message.
        notes: Baselines that could not answer, and why.
    """

    logs: Sequence[EvalLog]
    is_whole: bool
    errors: Counter[str]
    notes: Sequence[str]


def select_tasks(names: Iterable[str], release: Path, split: str = Split.TEST) -> list[BenchTask]:
    """Return the tasks of these names without duplicates, or all that a release has cases for if no name is given.

    Raises:
        PeercorpusError: The folder is not a release.
    """
    chosen = [BenchTask(name) for name in dict.fromkeys(names)]
    return chosen or held_tasks(open_release(release, is_whole=False), Split(split)) or list(BenchTask)


def _check_secrets(bench: Bench) -> None:
    named = sorted(SECRETS & {*bench.model_args, *(name for args in bench.role_args.values() for name in args)})
    if named:
        raise PeercorpusError(
            f"The model argument '{named[0]}' would be written to every log; set the service's API key in the"
            " environment instead."
        )
    if "@" in urlsplit(bench.base_url or "").netloc:
        raise PeercorpusError(
            "A name or password in the URL of a model would be written to every log; omit it from --model-url"
            " and set the service's API key in the environment."
        )


def _check(bench: Bench) -> None:
    _check_secrets(bench)
    if bench.model is None and not bench.with_baselines:
        raise PeercorpusError("There is nothing to run: name a model with --model, or omit --no-baselines.")
    if "wordings" in bench.options and "adapter" not in bench.options and not _find_adapter_name(bench.model):
        raise PeercorpusError("--wordings needs an adapter: name it with --adapter.")
    if bench.options.get("likelihood") and (bench.model is None or BenchTask.ACCEPTANCE not in bench.tasks):
        raise PeercorpusError("--likelihood needs a model and the task 'acceptance'; name both, or omit it.")
    _check_roles(bench)
    if bench.options.get("figures"):
        _check_figures(bench)
    if bench.controls:
        _check_controls(bench)


def _check_roles(bench: Bench) -> None:
    if bench.options.get("judged") and GRADER not in bench.roles:
        raise PeercorpusError("Judging needs a model: name it with --grader PROVIDER/MODEL.")
    if SECOND in bench.roles and GRADER not in bench.roles:
        raise PeercorpusError("A second grader needs a first one: name it with --grader PROVIDER/MODEL.")
    for role in bench.role_args:
        if role not in bench.roles:
            raise PeercorpusError(
                f"There are arguments for the model in the role '{role}', but no such model; name it."
            )


def _check_figures(bench: Bench) -> None:
    if bench.model is None:
        raise PeercorpusError("Figures are shown only to a model, not to baselines: name one with --model.")
    if isinstance(bench.model, str) and is_loaded_here(bench.model):
        raise ModelError(
            f"The model '{bench.model}' is loaded by this process, which shows it only text; name a model of a"
            " service that takes images, such as vllm/…, or omit --figures."
        )


def _check_controls(bench: Bench) -> None:
    if bench.model is None:
        raise PeercorpusError("Controls are for models, as baselines always use whole papers: name one with --model.")
    for task in bench.tasks:
        adapter = _select_options(bench, task, is_baseline=False).get("adapter")
        if adapter is not None:
            raise PeercorpusError(
                f"The model of the adapter '{adapter}' was trained on whole papers, so '{task}' has no controls;"
                " omit --controls."
            )


def _select_options(bench: Bench, task: BenchTask, *, is_baseline: bool) -> dict[str, Any]:
    unused = (
        (frozenset() if task.is_written else OPTIONS_OF_WRITTEN_TASKS)
        | (OPTIONS_OF_MODELS if is_baseline else frozenset())
        | (frozenset() if task is BenchTask.ACCEPTANCE else {"likelihood"})
    )
    unused |= frozenset() if task is BenchTask.SCORES else {"unified"}
    chosen = {name: value for name, value in bench.options.items() if name not in unused}
    theirs = _find_adapter_name(bench.model)
    if theirs is not None and not is_baseline and "adapter" not in chosen and task in load_adapter(theirs).tasks:
        chosen["adapter"] = theirs
    return chosen


def _find_adapter_name(model: str | Model | None) -> str | None:
    return find_adapter(model) if isinstance(model, str) else None


def _make_baseline_tasks(bench: Bench, task: BenchTask, notes: list[str]) -> list[Task]:
    """Return the baselines of a task; one that cannot learn from the release is left out with a note."""
    options = _select_options(bench, task, is_baseline=True)
    tasks = []
    for name in (*list_baselines(task), *([HUMAN] if task in CEILINGS else [])):
        try:
            tasks.append(TASKS[task](str(bench.release), baseline=name, **options))
        except BaselineError as error:
            notes.append(f"Left out of '{task}': {error}")
    return tasks


def _list_arms(bench: Bench, task: BenchTask) -> Iterator[dict[str, Any]]:
    options = _select_options(bench, task, is_baseline=False)
    yield options
    # The same questions without images, as in a run without figures.
    plain = {name: value for name, value in options.items() if name != "figures"}
    if options.get("figures"):
        yield plain
    for part in CONTROLS if bench.controls else ():
        yield plain | {"shown": part.value}


def _make_tasks(bench: Bench, loaded: LocalModel | None, notes: list[str]) -> list[Task]:
    tasks: list[Task] = []
    for task in bench.tasks:
        try:
            tasks += _make_arms(bench, task, loaded)
            if bench.with_baselines:
                tasks += _make_baseline_tasks(bench, task, notes)
        except NoCaseError as error:
            if not bench.is_of_all:
                raise
            notes.append(f"Left out '{task}': {error}")
    return tasks


def _make_arms(bench: Bench, task: BenchTask, loaded: LocalModel | None) -> Iterator[Task]:
    """Yield a task for each arm in which the model is asked; none without a model."""
    for options in _list_arms(bench, task) if bench.model is not None else ():
        made = TASKS[task](str(bench.release), **options)
        if loaded is not None:
            loaded.fit(made, bench.settings)
        yield made


def _find_local(named: str | Model | None, model_args: Mapping[str, Any]) -> LocalModel | None:
    return find_local_model(named, model_args) if isinstance(named, str) else None


def _get_model(
    named: str | Model,
    local: LocalModel | None,
    args: Mapping[str, Any],
    show: Show,
    config: GenerateConfig | None = None,
) -> Model:
    """Return a model: one that this process loads if `local` is given, otherwise one of a service.

    Raises:
        ModelError: It cannot be used.
    """
    if isinstance(named, Model):
        return named
    config = config or GenerateConfig()
    try:
        if local is not None:
            return load_local(local, config, show)
        # Not memoised: inspect_ai identifies a client by its name, and the same name may now be at another address.
        return get_model(named, config=config, memoize=False, **(_stand_in_key(named) | dict(args)))
    except (PrerequisiteError, ValueError, TypeError, ImportError, OSError, RuntimeError) as error:
        raise ModelError(f"The model '{named}' cannot be asked: {_shorten_error(error)}") from None


def _stand_in_key(named: str) -> dict[str, Any]:
    """Return a key for an OpenAI-compatible endpoint without one, as inspect_ai requires a key."""
    provider, _, model = named.partition("/")
    variable = f"{model.partition('/')[0].upper().replace('-', '_')}_API_KEY"
    return {} if provider != "openai-api" or os.environ.get(variable) else {"api_key": NO_KEY}


def _get_role(bench: Bench, role: str) -> tuple[Model, LocalModel | None]:
    """Return the model in a role; arguments that are generation settings become its configuration."""
    args = dict(bench.role_args.get(role, {}))
    settings = {name: args.pop(name) for name in GenerateConfig.model_fields if name in args}
    try:
        config = GenerateConfig.model_validate(settings)
    except ValueError as error:
        raise ModelError(f"An argument of the {role} is invalid: {_shorten_error(error)}") from None
    local = _find_local(bench.roles[role], args)
    return _get_model(bench.roles[role], local, args, bench.show, config), local


def _choose_settings(bench: Bench, local: LocalModel | None) -> dict[str, Any]:
    """Return the settings of a run, with those that make the answers of a loaded model repeatable."""
    settings = {"max_retries": MAX_RETRIES} | dict(bench.settings)
    if local is None:
        return settings
    if not bench.model_args.get("do_sample"):
        settings.setdefault("temperature", 0.0)
    if settings.get("temperature") != 0:
        settings.setdefault("seed", 0)
    return settings


def _say_few_papers(bench: Bench, tasks: Sequence[Task]) -> None:
    """Warn, before resources are spent, that there are too few papers to distinguish models."""
    limit = bench.settings.get("limit")
    papers = {task.name: {(sample.metadata or {})["forum_id"] for sample in task.dataset[:limit]} for task in tasks}
    few = [f"{len(ids):,} of '{name}'" for name, ids in papers.items() if len(ids) < FEW_PAPERS]
    if few:
        bench.say(
            f"Few papers to test on: {', '.join(few)}. With fewer than {FEW_PAPERS} papers two models can hardly"
            f" be distinguished; publish a release of more venues{', or omit --limit' if limit else ''}."
        )


def _shorten_error(error: object) -> str:
    return " ".join(MARKUP.sub("", str(error)).split())[:MAX_ERROR_CHARACTERS]


def rehearse(bench: Bench) -> None:
    """Check every question without loading the model.

    Raises:
        PeercorpusError: A task cannot be made, or a question exceeds the window of a model that this process loads.
    """
    _check(bench)
    _say_few_papers(bench, _make_tasks(bench, _find_local(bench.model, bench.model_args), []))


def run_tasks(bench: Bench) -> BenchResult:
    """Run tasks; an interrupted run resumes where it stopped.

    Raises:
        PeercorpusError: A task cannot be made, an existing log cannot be read, or the model cannot be asked at all.
        KeyboardInterrupt: The run was interrupted.
    """
    _check(bench)
    check_logs(bench.logs)
    notes: list[str] = []
    loaded = _find_local(bench.model, bench.model_args)
    tasks = _make_tasks(bench, loaded, notes)
    if not tasks and notes:
        raise PeercorpusError(notes[0])
    at = {} if bench.base_url is None else {"base_url": bench.base_url}
    model = _get_model(bench.model or NO_MODEL, loaded, at | dict(bench.model_args), bench.show)
    roles = {role: _get_role(bench, role) for role in bench.roles}
    if bench.options.get("figures"):
        _check_sees(bench, tasks)
    _say_few_papers(bench, tasks)
    try:
        # inspect_ai may show progress; standard output is for the tables.
        with redirect_stdout(sys.stderr), _show_progress(bench, tasks, loaded), _ignoring_env_files():
            is_whole, logs = eval_set(
                tasks,
                log_dir=str(bench.logs),
                log_dir_allow_dirty=True,
                model=model,
                model_roles={role: in_role for role, (in_role, _) in roles.items()},
                display=bench.display,
                retry_attempts=0,
                retry_immediate=False,
                retry_on_error=1,
                fail_on_error=not bench.keeps_errors,
                continue_on_fail=True,
                log_images=False,
                **_choose_settings(bench, loaded),
            )
    except PrerequisiteError as error:
        raise ModelError(f"The benchmark cannot run: {_shorten_error(error.message)}") from None
    finally:
        for used, local in ((model, loaded), *roles.values()):
            if local is not None:
                free_model(used)
    if len(logs) < len(tasks) or any(log.status == "cancelled" for log in logs):
        # inspect_ai handles Ctrl-C itself and returns normally, but without the logs of unfinished tasks.
        raise KeyboardInterrupt
    return BenchResult(
        logs=logs, is_whole=is_whole, errors=Counter(error for log in logs for error in _list_errors(log)), notes=notes
    )


@contextmanager
def _ignoring_env_files() -> Iterator[None]:
    """Keep inspect_ai from reading a `.env` in the working directory or above: it could name a host that gets keys."""
    find_file = vars(dotenv)["find_dotenv"]
    vars(dotenv)["find_dotenv"] = lambda **_: ""
    try:
        yield
    finally:
        vars(dotenv)["find_dotenv"] = find_file


def _show_progress(bench: Bench, tasks: Sequence[Task], loaded: LocalModel | None) -> AbstractContextManager[None]:
    """Show the answered questions, unless inspect_ai or the model shows its progress."""
    if bench.display != "none" or loaded is not None:
        return nullcontext()
    questions = sum(len(task.dataset[: bench.settings.get("limit")]) * (task.epochs or 1) for task in tasks)
    return showing_progress(bench.show, questions)


def _check_sees(bench: Bench, tasks: Sequence[Task]) -> None:
    """Check that the model accepts an image, with one short question with one of the figures.

    Raises:
        ModelError: It does not accept it.
    """
    # A client is bound to the event loop that it was first used in, and inspect_ai starts another one for the tasks.
    named, args = bench.model, dict(bench.model_args)
    model = named if isinstance(named, Model) else get_model(named, base_url=bench.base_url, memoize=False, **args)
    release = open_release(bench.release, is_whole=False)
    samples = (sample for task in tasks for sample in task.dataset)
    try:
        ask_about_image(model, release.folder.absolute(), release.sha256, samples)
    except Exception as error:  # noqa: BLE001 -- each provider raises errors of its own
        raise ModelError(
            f"The model '{model}' does not take a question with an image ({_find_reason(str(error))}); name a"
            " model that takes images, or omit --figures."
        ) from None


def _find_reason(error: str) -> str:
    """Return a provider's message, which is at the end of inspect_ai's, after the whole question."""
    reason = BLANK_LINE.split(error)[-1]
    while reason.endswith(("'", "\\")) or (reason.endswith(")") and reason.count("(") < reason.count(")")):
        reason = reason[:-1]
    return _shorten_error(reason)


RETRIED = re.compile(r"RetryError\(?<Future at \w+ state=finished raised (\w+)>\)?")
"""The error after the last repetition of a request, as tenacity writes it."""
FAILURES = {
    "APIConnectionError": "cannot be reached",
    "APITimeoutError": "does not reply in time",
    "InternalServerError": "fails",
    "RateLimitError": "is too busy",
}
"""What is the matter with a service, by the name of the error."""


def _describe_error(error: str, service: str) -> str:
    """Return the reason of an error; of a request that was repeated in vain, what is the matter with the service."""
    retried = RETRIED.search(error)
    if retried is None:
        return _find_reason(error)
    return f"{service} {FAILURES.get(retried[1], 'fails')} ({retried[1]}), although asked several times"


def _list_errors(log: EvalLog) -> Iterator[str]:
    service = log.eval.model_base_url or log.eval.model
    if log.error is not None:
        yield _describe_error(log.error.message, service)
    for sample in read_eval_log_sample_summaries(log.location):
        if sample.error:
            yield _describe_error(sample.error, service)
