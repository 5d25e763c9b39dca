"""Runs tasks with a model, and their baselines beside it; what was interrupted goes on where it was."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from inspect_ai import Task, eval_set
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog, read_eval_log_sample_summaries
from inspect_ai.model import Model, get_model
from inspect_ai.util import DisplayType

from peercorpus.benchmark.adapters.registry import adapter_for, load_adapter
from peercorpus.benchmark.baselines.registry import baselines_of
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.judging.scoring import GRADER, SECOND
from peercorpus.benchmark.loaded import Loaded, find_loaded, let_go, tell_ends
from peercorpus.benchmark.logs import check_logs
from peercorpus.benchmark.solving import AUTHOR
from peercorpus.benchmark.tasks import NO_MODEL, acceptance, rebuttal, review, scores
from peercorpus.errors import BaselineError, ModelError, PeercorpusError

TASKS: Mapping[BenchTask, Callable[..., Task]] = {
    BenchTask.ACCEPTANCE: acceptance,
    BenchTask.SCORES: scores,
    BenchTask.REVIEW: review,
    BenchTask.REBUTTAL: rebuttal,
}
SECRETS = frozenset({"token", "hf_token", "access_token", "auth_token", "password", "secret"})
"""Arguments of models that `inspect_ai` writes to its logs; `api_key` it leaves out."""
MAX_RETRIES = 6
"""Times that a question is asked again where the model's service is busy or silent: by inspect_ai's waits of 3 s, each
twice the last, some three minutes in all."""
MARKUP = re.compile(r"\[/?[a-z]+\]|ERROR: ")
"""What inspect_ai writes around words for a terminal."""
BLANK_LINE = re.compile(r"(?:\n|\\n){2,}")
MOST_CHARACTERS = 300
OF_WRITING = frozenset({"bert_score", "embed_cos", "judged", "repeats"})
"""Options that concern what is written, so not acceptance and scores."""
OF_MODELS = frozenset({"adapter", "wordings", "few_shot", "paper_tokens", "tokenizer"})
"""Options that concern what a model is told, so no baseline."""


@dataclass(frozen=True, slots=True)
class Bench:
    """One run of the benchmark.

    Attributes:
        logs: The folder of the logs; the same command goes on with what stands there.
        model: As `inspect_ai` names it, such as `openai/…`, `vllm/…`, `hf/…`, or the folder of a model, an adapter or a
            run of fine-tuning; None for the baselines alone.
        options: See `options.Options`.
        with_baselines: Whether the baselines of each task answer too.
        roles: The models in the roles `grader`, `grader2` and `author`.
        keeps_errors: Whether a case that ends in an error stays so, and counts as one without a score.
        settings: Passed on to `inspect_ai.eval_set`: `limit`, `max_connections`, `temperature` and the like.
    """

    tasks: Sequence[BenchTask]
    release: Path
    logs: Path
    model: str | Model | None
    options: Mapping[str, Any] = field(default_factory=dict)
    with_baselines: bool = True
    roles: Mapping[str, str | Model] = field(default_factory=dict)
    base_url: str | None = None
    model_args: Mapping[str, Any] = field(default_factory=dict)
    keeps_errors: bool = False
    display: DisplayType = "none"
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a run.

    Attributes:
        logs: One a task and model or baseline.
        is_whole: Whether every case was answered.
        errors: Tasks that broke off and cases that were not answered, by what the error says.
        notes: Baselines that could not answer, and why.
    """

    logs: Sequence[EvalLog]
    is_whole: bool
    errors: Counter[str]
    notes: Sequence[str]


def tasks_named(names: Iterable[str]) -> list[BenchTask]:
    """The tasks of these names, each once; all of them where none is named."""
    return [BenchTask(name) for name in dict.fromkeys(names)] or list(BenchTask)


def _check_secrets(bench: Bench) -> None:
    named = sorted(SECRETS & set(bench.model_args))
    if named:
        raise PeercorpusError(
            f"What is given as '{named[0]}' would stand in every log; set the service's API key in the environment."
        )
    if "@" in urlsplit(bench.base_url or "").netloc:
        raise PeercorpusError(
            "A name or password in the address of a model would stand in every log; leave it out of --model-url and"
            " set the service's API key in the environment."
        )


def _check(bench: Bench) -> None:
    _check_secrets(bench)
    if bench.model is None and not bench.with_baselines:
        raise PeercorpusError("Nobody is asked: name a model with --model, or leave out --no-baselines.")
    if bench.options.get("judged") and GRADER not in bench.roles:
        raise PeercorpusError("To have answers judged, name who judges: --grader PROVIDER/MODEL.")
    if SECOND in bench.roles and GRADER not in bench.roles:
        raise PeercorpusError("A second grader judges beside a first one: name that with --grader PROVIDER/MODEL.")
    if "wordings" in bench.options and "adapter" not in bench.options and not _adapter_of(bench.model):
        raise PeercorpusError("Words of a model's authors (--wordings) are for an adapter: name it with --adapter.")
    if bench.options.get("led") and AUTHOR not in bench.roles:
        raise PeercorpusError("A discussion that is led needs who takes the authors' part: --author PROVIDER/MODEL.")
    if bench.options.get("led") and list(bench.tasks) != [BenchTask.REBUTTAL]:
        raise PeercorpusError("Only the task 'rebuttal' can be led; run it alone.")


def _options(bench: Bench, task: BenchTask, *, is_baseline: bool) -> dict[str, Any]:
    unused = (frozenset() if task.is_written else OF_WRITING) | (OF_MODELS if is_baseline else frozenset())
    chosen = {name: value for name, value in bench.options.items() if name not in unused}
    theirs = _adapter_of(bench.model)
    if theirs is not None and not is_baseline and "adapter" not in chosen and task in load_adapter(theirs).tasks:
        chosen["adapter"] = theirs
    return chosen


def _adapter_of(model: str | Model | None) -> str | None:
    """The adapter that is made for a model; None where there is none."""
    return adapter_for(model) if isinstance(model, str) else None


def _baselines(bench: Bench, task: BenchTask, notes: list[str]) -> list[Task]:
    """The baselines of a task; one that cannot learn from so little is left out, and said."""
    options, made = _options(bench, task, is_baseline=True), []
    for name in baselines_of(task):
        try:
            made.append(TASKS[task](str(bench.release), baseline=name, **options))
        except BaselineError as error:
            notes.append(f"Left out of '{task}': {error}")
    return made


def _tasks(bench: Bench, loaded: Loaded | None, notes: list[str]) -> list[Task]:
    made = []
    for task in bench.tasks:
        if bench.model is not None:
            made.append(TASKS[task](str(bench.release), **_options(bench, task, is_baseline=False)))
        if loaded is not None:
            loaded.fit(made[-1], bench.settings)
        if bench.with_baselines and not bench.options.get("led"):
            made += _baselines(bench, task, notes)
    return made


def _loaded(named: str | Model | None, model_args: Mapping[str, Any]) -> Loaded | None:
    return find_loaded(named, model_args) if isinstance(named, str) else None


def _model(named: str | Model, loaded: Loaded | None, base_url: str | None, model_args: Mapping[str, Any]) -> Model:
    if isinstance(named, Model):
        return named
    try:
        if loaded is not None:
            model = get_model(loaded.name, memoize=False, **loaded.model_args)
            tell_ends(model)
            return model
        return get_model(named, base_url=base_url, **model_args)
    except (PrerequisiteError, ValueError, TypeError, ImportError, OSError, RuntimeError) as error:
        raise ModelError(f"The model '{named}' cannot be asked: {_first_line(error)}") from None


def _first_line(error: object) -> str:
    return " ".join(MARKUP.sub("", str(error)).split())[:MOST_CHARACTERS]


def rehearse(bench: Bench) -> None:
    """See that every question can be asked, without loading the model.

    Raises:
        PeercorpusError: A task cannot be made, or a question is longer than a model takes that this process would load.
    """
    _check(bench)
    _tasks(bench, _loaded(bench.model, bench.model_args), [])


def run(bench: Bench) -> Ran:
    """Run tasks; a run that was interrupted goes on where it was.

    Raises:
        PeercorpusError: A task cannot be made, a log that is there cannot be read, or the model cannot be asked at all.
        KeyboardInterrupt: It was interrupted.
    """
    _check(bench)
    check_logs(bench.logs)
    notes: list[str] = []
    loaded = _loaded(bench.model, bench.model_args)
    tasks = _tasks(bench, loaded, notes)
    if not tasks and notes:
        raise PeercorpusError(notes[0])
    if not tasks:
        raise PeercorpusError("A discussion that is led has no baseline; name a model with --model.")
    model = _model(bench.model or NO_MODEL, loaded, bench.base_url, bench.model_args)
    roles: dict[str, str | Model] = {
        role: _model(named, _loaded(named, {}), None, {}) for role, named in bench.roles.items()
    }
    try:
        # What inspect_ai shows is progress; standard output is for the tables.
        with redirect_stdout(sys.stderr):
            is_whole, logs = eval_set(
                tasks,
                log_dir=str(bench.logs),
                log_dir_allow_dirty=True,
                model=model,
                model_roles=roles,
                display=bench.display,
                retry_attempts=0,
                retry_immediate=False,
                retry_on_error=1,
                fail_on_error=not bench.keeps_errors,
                continue_on_fail=True,
                **({"max_retries": MAX_RETRIES} | dict(bench.settings)),
            )
    except PrerequisiteError as error:
        raise ModelError(f"The benchmark cannot run: {_first_line(error.message)}") from None
    finally:
        if loaded is not None:
            let_go(model)
    if len(logs) < len(tasks) or any(log.status == "cancelled" for log in logs):
        # inspect_ai takes Ctrl-C for itself, and ends as if all were done, but without the logs of what was not.
        raise KeyboardInterrupt
    return Ran(logs, is_whole, Counter(error for log in logs for error in _errors(log)), notes)


def _errors(log: EvalLog) -> Iterator[str]:
    if log.error is not None:
        yield _first_line(log.error.message)
    for sample in read_eval_log_sample_summaries(log.location):
        if sample.error:
            # The whole question stands before what the provider said of it.
            yield _first_line(BLANK_LINE.split(sample.error)[-1].rstrip("')\\"))
