"""`peercorpus bench`: the four tasks with a model and the baselines, and the tables of such runs."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from cyclopts import App, Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import AtLeastOne, Named, app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.errors import MissingExtraError, PeercorpusError

if TYPE_CHECKING:
    from peercorpus.benchmark.run import Ran

SaidT = TypeVar("SaidT")
bench = App(name="bench", help="Test language models on a release: acceptance, scores, review, rebuttal.")
app.command(bench)

TaskName = Literal["acceptance", "scores", "review", "rebuttal"]
Unset = Parameter(show_default=False)
RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked, and of which papers.

    Parameters
    ----------
    side
        The papers that are asked about.
    profile
        The sides that the release must have.
    venue
        The id of a venue or the name of a conference; may be given several times.
    grade
        The worst grade of text to take; all of these are initial versions.
    paper_tokens
        Show no more of a paper; references and what follows go first, then paragraphs from the end.
    tokenizer
        What counts tokens: a file, a folder or a name on the Hugging Face Hub; by default words and signs.
    few_shot
        Examples from the papers to train on, before each question.
    adapter
        Whose words and form of answer: sea-e, openreviewer, deepreviewer, cyclereviewer; that of the model, if any.
    wordings
        A file or folder of the adapter's authors with the words that their model was trained with.
    bert_score
        Measure BERTScore with this model, a folder or a name on the Hub; "re2" is Re²'s.
    embed_cos
        Measure EmbedCos with this model, a folder or a name on the Hub; "re2" is Re²'s.
    limit
        Only the first so many cases: those of one venue, as a rule, so no fair sample.
    """

    side: Literal["test", "validation", "train"] = "test"
    profile: Annotated[Literal["re2", "temporal"] | None, Unset] = None
    venue: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    grade: Literal["exact", "exact_attachment", "unrevised"] = "unrevised"
    paper_tokens: Annotated[int | None, AtLeastOne, Unset] = None
    tokenizer: Annotated[str | None, Unset] = None
    few_shot: Annotated[int, Parameter(validator=Number(gte=0))] = 0
    adapter: Annotated[str | None, Unset] = None
    wordings: Annotated[Path | None, Unset] = None
    bert_score: Annotated[str | None, Unset] = None
    embed_cos: Annotated[str | None, Unset] = None
    limit: Annotated[int | None, AtLeastOne, Unset] = None

    def options(self) -> dict[str, object]:
        """As the tasks take them."""
        neural = {name: True if said == "re2" else said for name, said in self._models().items()}
        return neural | {
            "side": self.side,
            "profile": self.profile,
            "venue": ",".join(self.venue) or None,
            "grade": self.grade,
            "paper_tokens": self.paper_tokens,
            "tokenizer": self.tokenizer,
            "few_shot": self.few_shot,
            "adapter": self.adapter,
            "wordings": None if self.wordings is None else str(self.wordings),
        }

    def _models(self) -> dict[str, str | None]:
        return {"bert_score": self.bert_score, "embed_cos": self.embed_cos}


@dataclass(frozen=True, slots=True)
class Models:
    """Who is asked.

    Parameters
    ----------
    model
        As inspect_ai names it: openai/…, vllm/…, hf/…, openai-api/SERVICE/…; or the folder of a model, an adapter or a
        run of `peercorpus finetune`; the baselines alone without.
    model_url
        The address of the model's endpoint.
    model_arg
        What else the model's provider takes, as --model-arg.NAME VALUE; numbers, true, false and null as JSON has them.
    grader
        The model that judges reviews and rebuttals.
    second_grader
        A second one that judges beside it.
    repeats
        How often the grader is asked each question, to see whether it repeats itself; the first answer counts.
    author
        Let the model lead the discussions of `rebuttal`, with this model as the authors.
    baselines
        Let the baselines answer too.
    max_connections
        Questions that are asked at a time.
    max_retries
        Times that a question is asked again where the service is busy or silent; 6 if not given.
    max_tokens
        Of an answer.
    temperature
        Of the model.
    """

    model: Annotated[str | None, Unset] = None
    model_url: Annotated[str | None, Unset] = None
    model_arg: Annotated[dict[str, str] | None, Unset] = None
    grader: Annotated[str | None, Unset] = None
    second_grader: Annotated[str | None, Unset] = None
    repeats: Annotated[int | None, AtLeastOne, Unset] = None
    author: Annotated[str | None, Unset] = None
    baselines: bool = True
    max_connections: Annotated[int | None, AtLeastOne, Unset] = None
    max_retries: Annotated[int | None, Parameter(validator=Number(gte=0)), Unset] = None
    max_tokens: Annotated[int | None, AtLeastOne, Unset] = None
    temperature: Annotated[float | None, Parameter(validator=Number(gte=0)), Unset] = None


ALL_QUESTIONS, ALL_MODELS = Questions(), Models()


@bench.default
def run_tasks(
    tasks: Annotated[tuple[TaskName, ...], Parameter(name="TASK", show_default=False)] = (),
    /,
    *,
    release: Annotated[Path, Named],
    logs: Annotated[Path, Named] = Path("bench-logs"),
    questions: Annotated[Questions, Parameter(name="*")] = ALL_QUESTIONS,
    models: Annotated[Models, Parameter(name="*")] = ALL_MODELS,
    keep_errors: Annotated[bool, Parameter(negative=())] = False,
    resamples: Annotated[int, Parameter(validator=Number(gte=2))] = RESAMPLES,
) -> int:
    """Run tasks with a model and with the baselines, and print their tables; the same command again goes on.

    The logs are inspect_ai's: `inspect view --log-dir LOGS` shows every answer. Exit with 1 if cases are missing.

    Parameters
    ----------
    tasks
        Which; all four, if none is named.
    release
        The folder that `peercorpus publish` wrote.
    logs
        The folder of the logs.
    keep_errors
        Count a case that ended in an error as one without a score, instead of asking again the next time.
    resamples
        Draws of papers for the intervals.
    """
    ran = _run(tasks, release, logs, questions, models, keeps_errors=keep_errors)
    _tables(logs, logs, resamples)
    tell_missing(ran.notes, ran.errors, is_whole=ran.is_whole)
    if not ran.is_whole:
        say("With --keep-errors such cases count as answers without a score.")
    return 0 if ran.is_whole else 1


def tell_missing(notes: Sequence[str], errors: Mapping[str, int], *, is_whole: bool) -> None:
    """Say what could not be answered, and why."""
    for note in notes:
        say(note)
    for error, count in errors.items():
        say(f"Error, {count:,} times: {error}")
    if not is_whole:
        say("Not every case was answered: see to what the errors name and run the same command again to go on.")


def _run(
    tasks: Sequence[str], release: Path, logs: Path, questions: Questions, models: Models, *, keeps_errors: bool
) -> "Ran":
    with needs_extra():
        from peercorpus.benchmark import run
    roles = {"grader": models.grader, "grader2": models.second_grader, "author": models.author}
    asked = {"judged": models.grader and True, "repeats": models.repeats, "led": models.author and True}
    settings = {name: getattr(models, name) for name in ("max_connections", "max_retries", "max_tokens", "temperature")}
    bench = run.Bench(
        run.tasks_named(tasks),
        release,
        logs,
        models.model,
        _said(questions.options() | asked),
        models.baselines,
        _said(roles),
        models.model_url,
        {name: _value(said) for name, said in (models.model_arg or {}).items()},
        keeps_errors,
        display(),
        _said(settings | {"limit": questions.limit}),
    )
    return run.run(bench)


def display() -> Literal["rich", "plain"]:
    """How `inspect_ai` shows how far it is."""
    return "rich" if sys.stdout.isatty() and sys.stderr.isatty() else "plain"


def _said(options: Mapping[str, SaidT | None]) -> dict[str, SaidT]:
    """What was said, without what was not."""
    return {name: value for name, value in options.items() if value is not None}


@contextmanager
def needs_extra(extra: str = "bench") -> Iterator[None]:
    """Name the extra where a package of it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "inspect_ai", extra) from None


def _value(said: str) -> object:
    """A number, true or false where it is one; else the words."""
    try:
        return json.loads(said)
    except ValueError:
        return said


@bench.command
def table(
    logs: Annotated[Path, Parameter(name="LOGDIR")],
    /,
    *,
    out: Annotated[Path | None, Named, Unset] = None,
    resamples: Annotated[int, Parameter(validator=Number(gte=2))] = RESAMPLES,
) -> None:
    """Print the tables of runs as Markdown, and write them as Markdown, CSV and HTML.

    Runs stand in one table only if they answered the same cases of the same release in the same words; baselines stand
    in each table of their cases, and what Re² printed below it.

    Parameters
    ----------
    logs
        The folder of the logs.
    out
        The folder for leaderboard.md, leaderboard.csv and leaderboard.html; that of the logs by default.
    resamples
        Draws of papers for the intervals.
    """
    _tables(logs, out or logs, resamples)


def _tables(logs: Path, out: Path, resamples: int) -> None:
    with needs_extra():
        from peercorpus.benchmark.logs import read_runs
    from peercorpus.benchmark.rendered import as_csv, as_html, as_markdown
    from peercorpus.benchmark.table import make_boards

    with ProgressLines() as lines:
        boards = make_boards(read_runs(logs), resamples, lines.show)
    out.mkdir(parents=True, exist_ok=True)
    for kind, write in (("md", as_markdown), ("csv", as_csv), ("html", as_html)):
        (out / f"leaderboard.{kind}").write_text(write(boards), encoding="utf-8")
    say(as_markdown(boards).rstrip())
    say(f"\nThe tables are {out / 'leaderboard.md'}, .csv and .html; see each answer: inspect view --log-dir {logs}")


@bench.command
def compare(
    first: Annotated[Path, Parameter(name="LOG")],
    second: Annotated[Path, Parameter(name="LOG")],
    /,
    *,
    resamples: Annotated[int, Parameter(validator=Number(gte=2))] = RESAMPLES,
) -> None:
    """Print how much two runs on the same cases differ, with 95 % intervals; answers without a score count as wrong.

    Parameters
    ----------
    first
        The log of a run.
    second
        The log of the other.
    resamples
        Draws of papers, the same for both.
    """
    with needs_extra():
        from peercorpus.benchmark.logs import read_run
    from peercorpus.benchmark.table import compare as compare_runs

    runs = []
    for path in (first, second):
        run = read_run(path)
        if run is None or run.missing:
            what = "no log of the benchmark" if run is None else "broken off; run it again"
            raise PeercorpusError(f"'{path}' is {what}.")
        runs.append(run)
    differences = compare_runs(runs[0], runs[1], resamples)
    say(f"{runs[0].name} less {runs[1].name}, with 95 % interval and p of the paired bootstrap over papers:")
    for name, found in differences:
        if isinstance(found, str):
            say(f"  {name}: {found}")
            continue
        one = found.difference
        say(f"  {name}: {one.value:+.4f} [{one.low:+.4f}, {one.high:+.4f}], p = {found.p:.4f} ({one.papers:,} papers)")


@bench.command
def judge(log: Annotated[Path, Parameter(name="LOG")], /) -> None:
    """Print what a calibration says of a judge: whether it ranks reviews that were made worse below the gold.

    The log is that of `inspect eval peercorpus/judge_calibration` or `peercorpus/judge_pairs`.

    Parameters
    ----------
    log
        The log.
    """
    with needs_extra():
        from peercorpus.benchmark.judging.told import tell_log
    say(tell_log(log))
