"""The command `bench` and its subcommands `table`, `rank`, `compare` and `judge`; `re2` is in `benchmark_re2`."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from cyclopts import App, Parameter

from peercorpus.benchmark.request import BenchRequest, QuestionRequest
from peercorpus.cli.console import Named, NamedRelease, ProgressLines, convert_path, say
from peercorpus.cli.options import needs_extra, require_extra
from peercorpus.errors import ExitCode, PeercorpusError
from peercorpus.installation import advise_install
from peercorpus.wording.counted_nouns import plural

if TYPE_CHECKING:
    from peercorpus.benchmark.run import BenchResult
    from peercorpus.metrics.intervals.pairs import PairedDifference


OptionT = TypeVar("OptionT")
bench = App(
    name="bench", help="Benchmark language models on a release: acceptance, scores, review, rebuttal, meta_review."
)

TaskName = Literal["acceptance", "scores", "review", "rebuttal", "meta_review"]
Unset = Parameter(show_default=False)
SETTINGS = ("max_connections", "max_tokens", "temperature")
"""Options that are settings of inspect_ai by the same names."""
EVERYTHING = BenchRequest()


@bench.default
def run_tasks(
    tasks: Annotated[tuple[TaskName, ...], Parameter(name="TASK", show_default=False)] = (),
    /,
    *,
    release: Annotated[Path, NamedRelease],
    logs: Annotated[Path, Named] = Path("bench-logs"),
    request: Annotated[BenchRequest, Parameter(name="*")] = EVERYTHING,
    cutoff: Annotated[date | None, Unset] = None,
) -> int:
    """Run tasks with a model and with the baselines, and print their tables.

    The same command resumes a run that was interrupted. The logs are in inspect_ai's format:
    `inspect view --log-dir LOGS` shows every answer. Exit with 1 if cases are missing.

    Parameters
    ----------
    tasks
        Tasks to run; all that the release has papers for if omitted.
    release
        Folder that `peercorpus publish` wrote, or hf:OWNER/NAME@REVISION on the Hugging Face Hub.
    logs
        Folder for the logs.
    cutoff
        Last day of the model's training data, in UTC: split all tables into papers from before it and later ones.
    """
    ran = _run(tasks, release, logs, request, dates=cutoff is not None)
    # The logs name the folder of a release that was downloaded.
    _print_tables(logs, cutoff, release)
    return say_unanswered(ran.notes, ran.errors, is_whole=ran.is_whole)


def say_unanswered(notes: Sequence[str], errors: Mapping[str, int], *, is_whole: bool) -> ExitCode:
    """Print what could not be answered, why, and the next step if cases are missing; return the exit code."""
    for note in notes:
        say(note)
    for error, count in errors.items():
        say(f"Error, {plural(count, 'time')}: {error}")
    if is_whole:
        return ExitCode.DONE
    say("Some cases have no answer: fix what the errors name and run the same command again to resume.")
    say("With --keep-errors these cases count as answers without a score.")
    return ExitCode.FOUND


def _run(tasks: Sequence[str], release: Path, logs: Path, request: BenchRequest, *, dates: bool) -> "BenchResult":
    require_extras(request, (request.model, request.grader, request.second_grader))
    _check_before_import(release, request)
    with needs_extra("bench"):
        from peercorpus.benchmark import run
        from peercorpus.benchmark.judge.instruction import RE2_GRADER
        from peercorpus.models.checkpoints import is_loaded_here
        from peercorpus.release.hub import find_release
    release = find_release(str(release), figures=request.figures, dates=dates)
    chosen = run.select_tasks(tasks, release, request.split)
    needs_judge = request.judge_profile == "re2" and any(task.is_written for task in chosen)
    grader = request.grader or (RE2_GRADER if needs_judge else None)
    roles = {"grader": grader, "grader2": request.second_grader}
    judging: dict[str, object] = {"judged": grader and True, "repeats": request.repeats}
    judging |= {"judge_profile": request.judge_profile, "judge_words": request.judge_words and str(request.judge_words)}
    settings = {name: getattr(request, name) for name in SETTINGS}
    is_local = any(name is not None and is_loaded_here(name) for name in (request.model, *roles.values()))
    bench = run.Bench(
        tasks=chosen,
        release=release,
        logs=logs,
        model=request.model,
        options=drop_unset(request.options() | judging),
        controls=request.controls,
        with_baselines=not request.no_baselines,
        is_of_all=not tasks,
        roles=drop_unset(roles),
        role_args={"grader": parse_arguments(request.grader_arg)} if request.grader_arg else {},
        base_url=request.model_url,
        model_args=parse_arguments(request.model_arg or {}),
        keeps_errors=request.keep_errors,
        # A model that is loaded here shows its progress itself.
        display="plain" if is_local and display() == "rich" else display(),
        settings=drop_unset(settings | {"limit": request.limit}),
    )
    with ProgressLines() as lines:
        return run.run_tasks(replace(bench, say=lines.say, show=lines.show))


def _check_before_import(release: Path, request: BenchRequest) -> None:
    """Check names, URLs and the release in a moment, before inspect_ai is imported.

    Raises:
        PeercorpusError: One of them cannot be used.
    """
    from peercorpus.benchmark.early_checks import NamedModel, check_models, check_needs_model

    names = ("model_url", "model_arg", "adapter", "wordings", "paper_tokens", "tokenizer")
    check_needs_model(request.model, {f"--{name.replace('_', '-')}": getattr(request, name) for name in names})
    check_release(release)
    named = [NamedModel("--model", request.model, "--model-url", request.model_url)] if request.model else []
    for option, name, args in (
        ("--grader", request.grader, request.grader_arg),
        ("--second-grader", request.second_grader, None),
    ):
        named += [NamedModel(option, name, f"{option}-arg.base_url", (args or {}).get("base_url"))] if name else []
    check_models(named)


def check_release(release: Path) -> None:
    """Check that a folder is a release, before inspect_ai is imported; a dataset on the Hub is checked later.

    Raises:
        PeercorpusError: It is not.
    """
    from peercorpus.release.folder import open_release
    from peercorpus.workspace.hub_datasets import parse_repository

    if parse_repository(release) is None:
        open_release(release, is_whole=False)


def require_extras(questions: QuestionRequest, asked: Sequence[str | None]) -> None:
    """Check for the packages that options need before any release or model is read."""
    require_extra("bench", "inspect_ai")
    if questions.tokenizer is not None:
        require_extra("hf", "tokenizers")
    if questions.bert_score is not None:
        require_extra("models", "torch", "transformers")
    if questions.embed_cos is not None:
        require_extra("models", "sentence_transformers")
    if any(name is not None and name.startswith("hf/") for name in asked):
        require_extra("models", "torch", "transformers", "accelerate")


def display() -> Literal["rich", "none"]:
    """Return inspect_ai's progress display: "rich" on a terminal, otherwise "none", as it would fill a log."""
    return "rich" if sys.stdout.isatty() and sys.stderr.isatty() else "none"


def drop_unset(options: Mapping[str, OptionT | None]) -> dict[str, OptionT]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def parse_arguments(texts: Mapping[str, str]) -> dict[str, object]:
    """Return the values of arguments of a model's provider, by name."""
    return {name: _parse_argument(text) for name, text in texts.items()}


def _parse_argument(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


@bench.command
def table(
    logs: Annotated[Path, Parameter(name="LOGDIR", converter=convert_path)],
    /,
    *,
    cutoff: Annotated[date | None, Unset] = None,
    release: Annotated[Path | None, Named, Unset] = None,
) -> None:
    """Print the tables of runs as Markdown, and write them to its folder as Markdown, CSV and HTML.

    If answers state probabilities of acceptance, a plot of their calibration is written as SVG (extra `report`).

    Runs share a table only if they answered the same cases of the same release with the same prompts. Baselines appear
    in every table of their cases; the numbers that Re² reported are below it.

    Parameters
    ----------
    logs
        Folder of the logs.
    cutoff
        Last day of the model's training data, in UTC: split all tables into papers from before it and later ones.
    release
        Folder of the release that the logs are about, to date its papers by. Default: where it was when they were made.
    """
    if release is not None and cutoff is None:
        raise PeercorpusError("--release only dates papers for --cutoff; name a day with --cutoff, or leave it out.")
    _print_tables(logs, cutoff, release)


def _print_tables(logs: Path, cutoff_day: date | None, release: Path | None) -> None:
    from peercorpus.benchmark.early_checks import check_log_folder

    require_extra("bench", "inspect_ai")
    check_log_folder(logs)
    from peercorpus.benchmark.cutoff import Cutoff
    from peercorpus.benchmark.leaderboard import make_boards, plot_reliability
    from peercorpus.benchmark.leaderboard_render import lay_out
    from peercorpus.benchmark.logs import read_runs
    from peercorpus.workspace.object_store import write_whole

    with ProgressLines() as lines:
        cutoff = None if cutoff_day is None else Cutoff(cutoff_day, release)
        boards = make_boards(read_runs(logs), show=lines.show, cutoff=cutoff)
    tables = lay_out(boards)
    tables.write(logs, "leaderboard")
    plots = [(board, shown) for board in boards.boards if (shown := plot_reliability(board))]
    if plots and find_spec("matplotlib") is None:
        say(f"The reliability plot is left out: it needs Matplotlib; {advise_install('report')}")
    elif plots:
        from peercorpus.benchmark.reliability import draw_reliability

        for number, (board, shown) in enumerate(plots, 1):
            path = logs / f"reliability-{number}.svg"
            write_whole(path, draw_reliability(shown))
            say(f"Calibration of the probabilities of the cases {board.protocol.cases[:12]}: {path}")
    say(tables.to_markdown().rstrip())
    say(tables_written(logs))


@bench.command
def rank(
    logs: Annotated[Path, Parameter(name="LOGDIR", converter=convert_path)],
    /,
) -> int:
    """Print how often runs of `acceptance` and `scores` put two papers of one venue and year in the right order.

    The tables are printed as Markdown, and written as Markdown, CSV and HTML.

    The tables also show the baselines and, for ratings, one reviewer against the mean of the others. Answers without
    a score are left out. Exit with 1 if there is no pair of papers.

    Parameters
    ----------
    logs
        Folder of the logs.
    """
    from peercorpus.benchmark.early_checks import check_log_folder

    require_extra("bench", "inspect_ai")
    check_log_folder(logs)
    from peercorpus.benchmark.logs import read_runs
    from peercorpus.benchmark.ranking import lay_out, rank_runs

    ranked = rank_runs(read_runs(logs))
    if not ranked:
        say("No complete run of 'acceptance' or 'scores' is there to rank papers by.")
        return ExitCode.FOUND
    tables = lay_out(ranked)
    tables.write(logs, "ranking")
    say(tables.to_markdown().rstrip())
    say(tables_written(logs, "ranking"))
    return ExitCode.DONE if any(of_protocol.rankings for of_protocol in ranked) else ExitCode.FOUND


@bench.command
def compare(
    first: Annotated[Path, Parameter(name="LOG")],
    second: Annotated[Path, Parameter(name="LOG")],
    /,
) -> None:
    """Print the differences between two runs on the same cases, with 95 % intervals.

    A case without a score in one of the runs is left out of both; the output says how many such cases there are.

    Parameters
    ----------
    first
        Log of the first run.
    second
        Log of the second run.
    """
    from peercorpus.benchmark.early_checks import check_log_file

    require_extra("bench", "inspect_ai")
    for path in (first, second):
        check_log_file(path)
    from peercorpus.benchmark.arms import name_runs
    from peercorpus.benchmark.leaderboard import compare_runs
    from peercorpus.benchmark.logs import read_run

    runs = []
    for path in (first, second):
        run = read_run(path)
        if run is None:
            raise PeercorpusError(f"'{path}' is not a log of the benchmark; name a file of the folder given as --logs.")
        if run.missing:
            raise PeercorpusError(f"The run in '{path}' is incomplete; run the same command again to complete it.")
        runs.append(run)
    names = name_runs(runs)
    say(compared(names[0], names[1], compare_runs(runs[0], runs[1])))


@bench.command
def judge(log: Annotated[Path, Parameter(name="LOG")], /) -> None:
    """Print the result of a judge's calibration: does it rank deliberately worsened reviews below the originals?

    Parameters
    ----------
    log
        Log of `inspect eval peercorpus/judge_calibration` or `inspect eval peercorpus/judge_pairs`.
    """
    from peercorpus.benchmark.early_checks import check_log_file

    require_extra("bench", "inspect_ai")
    check_log_file(log)
    from peercorpus.benchmark.judge.agreement import describe_log

    say(describe_log(log))


def tables_written(logs: Path, name: str = "leaderboard") -> str:
    """Return where the tables are, and how to see each answer."""
    path = logs / f"{name}.md"
    return f"\nThe tables are {path}, .csv and .html; see each answer: inspect view --log-dir {logs}"


def compared(first: str, second: str, differences: "Sequence[tuple[str, PairedDifference | str]]") -> str:
    """Return the differences of two runs, one metric a line; a metric that has none is listed with the reason."""
    from peercorpus.metrics.intervals.pairs import PAIRED

    lines = [f"{first} minus {second}, with {PAIRED}:"]
    for name, result in differences:
        if isinstance(result, str):
            lines.append(f"  {name}: {result}")
            continue
        bounds = "" if result.bounds is None else f" [{result.bounds[0]:+.4f}, {result.bounds[1]:+.4f}]"
        lines.append(f"  {name}: {result.value:+.4f}{bounds}, p = {result.p:.4f} ({plural(result.papers, 'paper')})")
    return "\n".join(lines)
