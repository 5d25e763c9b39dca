"""The command `bench` and its subcommands `table`, `rank`, `compare` and `judge`; `re2` is in `benchmark_re2`."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from cyclopts import App, Parameter
from cyclopts.validators import Number

from peercorpus.cli.console import AtLeastOne, Named, NamedRelease, ProgressLines, convert_path, finite, say
from peercorpus.cli.extras import needs_extra, require_extra
from peercorpus.cli.options import WorstGrade
from peercorpus.errors import ExitCode, PeercorpusError
from peercorpus.venues.short_names import read_venue_or_conference

if TYPE_CHECKING:
    from peercorpus.benchmark.run import BenchResult

OptionT = TypeVar("OptionT")
bench = App(
    name="bench", help="Benchmark language models on a release: acceptance, scores, review, rebuttal, meta_review."
)

JudgeProfileName = Literal["ours", "re2"]
TaskName = Literal["acceptance", "scores", "review", "rebuttal", "meta_review"]
Unset = Parameter(show_default=False)
SETTINGS = ("max_connections", "max_tokens", "temperature")
"""Options that are settings of inspect_ai by the same names."""


@dataclass(frozen=True, slots=True)
class Questions:
    """How questions show papers, and what written answers are measured by.

    Parameters
    ----------
    grade
        Worst acceptable grade of a paper's text. The default and better ones are proven initial versions; worse ones
        need a release that was published with --grade.
    paper_tokens
        Truncate each paper to this many tokens, dropping references and appendices first, then paragraphs from the end.
    tokenizer
        Tokenizer that counts tokens: a file, a folder or a name on the Hugging Face Hub. By default, words and
        punctuation marks are counted.
    bert_score
        Compute BERTScore with this model, a folder or a name on the Hub; "re2" selects the model Re² used.
    embed_cos
        Compute EmbedCos with this model, a folder or a name on the Hub; "re2" selects the model Re² used.
    limit
        Ask only the first N cases. They usually come from one venue and are not a random sample.
    """

    grade: WorstGrade = "only_before_review"
    paper_tokens: Annotated[int | None, AtLeastOne, Unset] = None
    tokenizer: Annotated[str | None, Unset] = None
    bert_score: Annotated[str | None, Unset] = None
    embed_cos: Annotated[str | None, Unset] = None
    limit: Annotated[int | None, AtLeastOne, Unset] = None

    def options(self) -> dict[str, object]:
        """Return the options as the tasks take them."""
        models = {"bert_score": self.bert_score, "embed_cos": self.embed_cos}
        return {name: True if model == "re2" else model for name, model in models.items()} | {
            "grade": self.grade,
            "paper_tokens": self.paper_tokens,
            "tokenizer": self.tokenizer,
        }


@dataclass(frozen=True, slots=True)
class Variants:
    """Which papers are asked about, and in which other ways.

    Parameters
    ----------
    split
        Ask about the papers of this split.
    venue
        Only papers of this venue (id or short name such as ICLR2024) or conference (iclr). May be repeated.
    unified
        For `scores`: ask for the recommendation on Re²'s scale of 1 to 10 instead of the fields of the form.
    adapter
        Prompt and output format of a published reviewing model: sea-e, openreviewer, deepreviewer or cyclereviewer.
        Detected from the model's name if omitted.
    wordings
        File or folder from the adapter's authors with the prompts that their model was trained with.
    figures
        Show figures and tables as images, and ask the same questions without them too. Needs a model that reads images,
        and a release published with --figures.
    likelihood
        Answer acceptance by the probability that the model gives each decision, instead of by what it writes. Needs a
        model on this machine, or a server that continues an answer and gives log-probabilities, such as vLLM.
    """

    split: Literal["test", "validation", "train"] = "test"
    venue: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    unified: Annotated[bool, Parameter(negative=())] = False
    adapter: Annotated[str | None, Unset] = None
    wordings: Annotated[Path | None, Unset] = None
    figures: Annotated[bool, Parameter(negative=())] = False
    likelihood: Annotated[bool, Parameter(negative=())] = False

    def options(self) -> dict[str, object]:
        """Return the options as the tasks take them."""
        return {
            "split": self.split,
            "venue": ",".join(map(read_venue_or_conference, self.venue)) or None,
            "unified": self.unified or None,
            "adapter": self.adapter,
            "wordings": None if self.wordings is None else str(self.wordings),
            "figures": self.figures or None,
            "likelihood": self.likelihood or None,
        }


@dataclass(frozen=True, slots=True)
class Models:
    """Which models answer and judge.

    Parameters
    ----------
    model
        Model name for inspect_ai: openai/…, vllm/…, hf/…, openai-api/SERVICE/…; or the folder of a model, an adapter or
        a run of `peercorpus finetune`. Without it only the baselines run.
    model_url
        URL of the model's endpoint.
    model_arg
        Further argument for the model's provider, as --model-arg.NAME VALUE. Numbers, true, false and null are read as
        JSON.
    grader
        Model that judges reviews, rebuttals and meta-reviews: a name or a folder, as for --model. With --judge-profile
        re2, LLaMA-3.1-8B-Instruct is the default.
    judge_profile
        Instruction and answer format of the judge: ours, or Re²'s (appendix D of its paper). Default: ours.
    judge_words
        For --judge-profile re2: a file with the judge's instruction; logs record its SHA-256. By default the
        instruction is ours.
    grader_arg
        Argument for the grader, as --grader-arg.NAME VALUE: base_url, max_tokens, max_connections, or an argument of
        its provider.
    second_grader
        Second model that judges the same answers.
    repeats
        How often to ask the grader each question, to measure its consistency. The first answer counts.
    baselines
        Also run the baselines.
    max_connections
        Number of questions asked in parallel.
    max_tokens
        Maximum number of tokens in an answer. Default of a model on this machine: 64 for acceptance, 256 for scores,
        2,048 for review, else 1,024.
    temperature
        Sampling temperature of the model; 0 decodes greedily, which is the default of a model on this machine.
    """

    model: Annotated[str | None, Unset] = None
    model_url: Annotated[str | None, Unset] = None
    model_arg: Annotated[dict[str, str] | None, Unset] = None
    grader: Annotated[str | None, Unset] = None
    judge_profile: Annotated[JudgeProfileName | None, Unset] = None
    judge_words: Annotated[Path | None, Unset] = None
    grader_arg: Annotated[dict[str, str] | None, Unset] = None
    second_grader: Annotated[str | None, Unset] = None
    repeats: Annotated[int | None, AtLeastOne, Unset] = None
    baselines: bool = True
    max_connections: Annotated[int | None, AtLeastOne, Unset] = None
    max_tokens: Annotated[int | None, AtLeastOne, Unset] = None
    temperature: Annotated[float | None, finite(Number(gte=0)), Unset] = None


ALL_QUESTIONS, NO_VARIANTS, ALL_MODELS = Questions(), Variants(), Models()


@bench.default
def run_tasks(
    tasks: Annotated[tuple[TaskName, ...], Parameter(name="TASK", show_default=False)] = (),
    /,
    *,
    release: Annotated[Path, NamedRelease],
    logs: Annotated[Path, Named] = Path("bench-logs"),
    questions: Annotated[Questions, Parameter(name="*")] = ALL_QUESTIONS,
    variants: Annotated[Variants, Parameter(name="*")] = NO_VARIANTS,
    models: Annotated[Models, Parameter(name="*")] = ALL_MODELS,
    controls: Annotated[bool, Parameter(negative=())] = False,
    cutoff: Annotated[date | None, Unset] = None,
    keep_errors: Annotated[bool, Parameter(negative=())] = False,
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
    controls
        Also ask the same questions with only title and abstract instead of the paper, and with the title alone.
    cutoff
        Last day of the model's training data, in UTC: split all tables into papers from before it and later ones.
    keep_errors
        Count a case that ended in an error as an answer without a score, instead of asking again in the next run.
    """
    from peercorpus.cli.text.benchmark import KEEP_ERRORS

    dates = cutoff is not None
    asked = questions, variants, models
    ran = _run(tasks, release, logs, *asked, controls=controls, keeps_errors=keep_errors, dates=dates)
    # The logs name the folder of a release that was downloaded.
    _print_tables(logs, cutoff, release)
    print_unanswered(ran.notes, ran.errors, is_whole=ran.is_whole)
    if not ran.is_whole:
        say(KEEP_ERRORS)
    return ExitCode.DONE if ran.is_whole else ExitCode.FOUND


def print_unanswered(notes: Sequence[str], errors: Mapping[str, int], *, is_whole: bool) -> None:
    """Print what could not be answered, and why."""
    from peercorpus.cli.text.benchmark import unanswered

    for line in unanswered(notes, errors, is_whole=is_whole):
        say(line)


def _run(
    tasks: Sequence[str],
    release: Path,
    logs: Path,
    questions: Questions,
    variants: Variants,
    models: Models,
    *,
    controls: bool,
    keeps_errors: bool,
    dates: bool,
) -> "BenchResult":
    require_extras(questions, (models.model, models.grader, models.second_grader))
    _check_before_import(release, questions, variants, models)
    with needs_extra("bench"):
        from peercorpus.benchmark import run
        from peercorpus.benchmark.judge.instruction import RE2_GRADER
        from peercorpus.models.checkpoints import is_loaded_here
        from peercorpus.release.hub_download import find_release
    release = find_release(str(release), figures=variants.figures, dates=dates)
    chosen = run.select_tasks(tasks, release, variants.split)
    needs_judge = models.judge_profile == "re2" and any(task.is_written for task in chosen)
    grader = models.grader or (RE2_GRADER if needs_judge else None)
    roles = {"grader": grader, "grader2": models.second_grader}
    judging: dict[str, object] = {"judged": grader and True, "repeats": models.repeats}
    judging |= {"judge_profile": models.judge_profile, "judge_words": models.judge_words and str(models.judge_words)}
    settings = {name: getattr(models, name) for name in SETTINGS}
    is_local = any(name is not None and is_loaded_here(name) for name in (models.model, *roles.values()))
    bench = run.Bench(
        tasks=chosen,
        release=release,
        logs=logs,
        model=models.model,
        options=drop_unset(questions.options() | variants.options() | judging),
        controls=controls,
        with_baselines=models.baselines,
        is_of_all=not tasks,
        roles=drop_unset(roles),
        role_args={"grader": parse_arguments(models.grader_arg)} if models.grader_arg else {},
        base_url=models.model_url,
        model_args=parse_arguments(models.model_arg or {}),
        keeps_errors=keeps_errors,
        # A model that is loaded here shows its progress itself.
        display="plain" if is_local and display() == "rich" else display(),
        settings=drop_unset(settings | {"limit": questions.limit}),
    )
    with ProgressLines() as lines:
        return run.run_tasks(replace(bench, say=lines.say, show=lines.show))


def _check_before_import(release: Path, questions: Questions, variants: Variants, models: Models) -> None:
    """Check names, URLs and the release in a moment, before inspect_ai is imported.

    Raises:
        PeercorpusError: One of them cannot be used.
    """
    from peercorpus.benchmark.early_checks import NamedModel, check_models, check_needs_model

    of_models = {
        "--model-url": models.model_url,
        "--model-arg": models.model_arg,
        "--adapter": variants.adapter,
        "--wordings": variants.wordings,
        "--paper-tokens": questions.paper_tokens,
        "--tokenizer": questions.tokenizer,
    }
    check_needs_model(models.model, of_models)
    check_release(release)
    named = [NamedModel("--model", models.model, "--model-url", models.model_url)] if models.model else []
    for option, name, args in (
        ("--grader", models.grader, models.grader_arg),
        ("--second-grader", models.second_grader, None),
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


def require_extras(questions: Questions, asked: Sequence[str | None]) -> None:
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
    """Return the JSON value of the text, or the text itself if it is not JSON."""
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
    from peercorpus.benchmark.leaderboard_render import render_csv, render_html, render_markdown
    from peercorpus.benchmark.logs import read_runs
    from peercorpus.cli.text.benchmark import plot_left_out, plot_written, tables_written
    from peercorpus.workspace.object_store import write_whole

    with ProgressLines() as lines:
        cutoff = None if cutoff_day is None else Cutoff(cutoff_day, release)
        boards = make_boards(read_runs(logs), show=lines.show, cutoff=cutoff)
    for kind, write in (("md", render_markdown), ("csv", render_csv), ("html", render_html)):
        write_whole(logs / f"leaderboard.{kind}", write(boards).encode())
    plots = [(board, shown) for board in boards.boards if (shown := plot_reliability(board))]
    if plots and find_spec("matplotlib") is None:
        say(plot_left_out())
    elif plots:
        from peercorpus.benchmark.reliability import draw_reliability

        for number, (board, shown) in enumerate(plots, 1):
            write_whole(logs / f"reliability-{number}.svg", draw_reliability(shown))
            say(plot_written(logs / f"reliability-{number}.svg", board.protocol.cases[:12]))
    say(render_markdown(boards).rstrip())
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
    from peercorpus.benchmark.ranking import rank_runs
    from peercorpus.benchmark.ranking_render import render_csv, render_html, render_markdown
    from peercorpus.cli.text.benchmark import NOTHING_TO_RANK, tables_written
    from peercorpus.workspace.object_store import write_whole

    tables = rank_runs(read_runs(logs))
    if not tables:
        say(NOTHING_TO_RANK)
        return ExitCode.FOUND
    for kind, write in (("md", render_markdown), ("csv", render_csv), ("html", render_html)):
        write_whole(logs / f"ranking.{kind}", write(tables).encode())
    say(render_markdown(tables).rstrip())
    say(tables_written(logs, "ranking"))
    return ExitCode.DONE if any(table.rankings for table in tables) else ExitCode.FOUND


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
    from peercorpus.cli.text.benchmark import compared, unusable_log

    runs = []
    for path in (first, second):
        run = read_run(path)
        if run is None or run.missing:
            raise PeercorpusError(unusable_log(path, is_log=run is not None))
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
