"""The command `bench interventions`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.benchmark import (
    RESAMPLES,
    Unset,
    bench,
    check_release,
    display,
    drop_unset,
    parse_argument,
    print_unanswered,
)
from peercorpus.cli.console import AtLeastOne, Named, NamedRelease, ProgressLines, say
from peercorpus.cli.extras import require_extra
from peercorpus.cli.options import WorstGrade
from peercorpus.errors import ExitCode
from peercorpus.venues.short_names import read_venue_or_conference

if TYPE_CHECKING:
    from peercorpus.benchmark.run import Bench, BenchResult


@dataclass(frozen=True, slots=True)
class DrawnPapers:
    """The papers to change and ask about.

    Parameters
    ----------
    papers
        Maximum number of papers, drawn by the seed.
    seed
        Seed of the papers and of their changes.
    side
        Draw from the papers of this split.
    venue
        Only papers of this venue (id or short name such as ICLR2024) or conference (iclr). May be repeated.
    grade
        Worst acceptable grade of a paper's text, as for `bench`.
    paper_tokens
        Truncate each paper to this many tokens before it is changed.
    tokenizer
        Tokenizer that counts tokens: a file, a folder or a name on the Hugging Face Hub.
    """

    papers: Annotated[int, AtLeastOne] = 100
    seed: int = 0
    side: Literal["test", "validation", "train"] = "test"
    venue: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    grade: WorstGrade = "only_before_review"
    paper_tokens: Annotated[int | None, AtLeastOne, Unset] = None
    tokenizer: Annotated[str | None, Unset] = None

    def options(self) -> dict[str, object]:
        """Return the options as the task takes them."""
        return {
            "side": self.side,
            "venue": ",".join(map(read_venue_or_conference, self.venue)) or None,
            "grade": self.grade,
            "paper_tokens": self.paper_tokens,
            "tokenizer": self.tokenizer,
        }


@dataclass(frozen=True, slots=True)
class AskedModel:
    """The model, and how it is called.

    Parameters
    ----------
    model
        Model name for inspect_ai, or a folder, as for `bench`. Without it no model is called: the changes are
        written, or the tables of the logs are made again.
    adapter
        Prompt and output format of a published reviewing model, as for `bench`.
    wordings
        File or folder from the adapter's authors with the prompts that their model was trained with.
    model_url
        URL of the model's endpoint.
    model_arg
        Further argument for the model's provider, as --model-arg.NAME VALUE.
    max_connections
        Number of questions asked in parallel.
    max_tokens
        Maximum number of tokens in an answer.
    temperature
        Sampling temperature of the model.
    """

    model: Annotated[str | None, Unset] = None
    adapter: Annotated[str | None, Unset] = None
    wordings: Annotated[Path | None, Unset] = None
    model_url: Annotated[str | None, Unset] = None
    model_arg: Annotated[dict[str, str] | None, Unset] = None
    max_connections: Annotated[int | None, AtLeastOne, Unset] = None
    max_tokens: Annotated[int | None, AtLeastOne, Unset] = None
    temperature: Annotated[float | None, Parameter(validator=Number(gte=0)), Unset] = None

    def settings(self) -> dict[str, object]:
        """Return the settings of generation."""
        return drop_unset({name: getattr(self, name) for name in ("max_connections", "max_tokens", "temperature")})


ANY_PAPERS, NO_MODEL = DrawnPapers(), AskedModel()


@bench.command
def interventions(
    *,
    release: Annotated[Path, NamedRelease],
    logs: Annotated[Path, Named] = Path("bench-logs"),
    drawn: Annotated[DrawnPapers, Parameter(name="*")] = ANY_PAPERS,
    asked: Annotated[AskedModel, Parameter(name="*")] = NO_MODEL,
    changes: Annotated[Path | None, Named, Unset] = None,
    keep_errors: Annotated[bool, Parameter(negative=())] = False,
    resamples: Annotated[int, Parameter(validator=Number(gte=2))] = RESAMPLES,
) -> int:
    """Ask a model about papers in which one place was changed, and about the same papers unchanged; print the tables.

    Each paper is shown unchanged, with each of four planted errors, a hidden instruction to the reviewer, and a
    harmless edit: at most 14 questions per paper. The same command resumes. Exit with 1 if questions have no answer.

    Parameters
    ----------
    release
        Folder that `peercorpus publish` wrote, or hf:OWNER/NAME@REVISION on the Hugging Face Hub.
    logs
        Folder for the logs, and for interventions.md, .csv and .html.
    changes
        Write every change to this CSV file: paper, arm, and the passage before and after.
    keep_errors
        Count a question that ended in an error as an answer that cannot be read, instead of asking again.
    resamples
        Bootstrap samples for the intervals of differences.
    """
    _check_before_import(release, asked)
    from peercorpus.benchmark.run import Bench
    from peercorpus.cli.text.benchmark import KEEP_ERRORS
    from peercorpus.release.hub_download import find_release

    named = {"adapter": asked.adapter, "wordings": None if asked.wordings is None else str(asked.wordings)}
    run = Bench(
        tasks=[],
        release=find_release(str(release)),
        logs=logs,
        model=asked.model,
        options=drop_unset(drawn.options() | named),
        with_baselines=False,
        base_url=asked.model_url,
        model_args={name: parse_argument(text) for name, text in (asked.model_arg or {}).items()},
        keeps_errors=keep_errors,
        display=display(),
        settings=asked.settings(),
    )
    if changes is not None:
        _write_changes(run, drawn, changes)
    if asked.model is None:
        if changes is None:
            _print_tables(logs, resamples)
        return ExitCode.DONE
    ran = _ask(run, drawn)
    _print_tables(logs, resamples)
    print_unanswered(ran.notes, ran.errors, is_whole=ran.is_whole)
    if not ran.is_whole:
        say(KEEP_ERRORS)
    return ExitCode.DONE if ran.is_whole else ExitCode.FOUND


def _check_before_import(release: Path, asked: AskedModel) -> None:
    """Check the model's name and URL and the release in a moment, before inspect_ai is imported."""
    from peercorpus.benchmark.early_checks import NamedModel, check_models, check_needs_model

    require_extra("bench", "inspect_ai")
    check_needs_model(asked.model, {"--model-url": asked.model_url, "--model-arg": asked.model_arg})
    check_release(release)
    check_models([NamedModel("--model", asked.model, "--model-url", asked.model_url)] if asked.model else [])


def _ask(run: "Bench", drawn: DrawnPapers) -> "BenchResult":
    from peercorpus.benchmark.interventions.tasks import run_interventions

    with ProgressLines() as lines:
        return run_interventions(replace(run, say=lines.say, show=lines.show), drawn.seed, drawn.papers)


def _write_changes(run: "Bench", drawn: DrawnPapers, out: Path) -> None:
    from peercorpus.benchmark.interventions.changes_file import write_changes
    from peercorpus.cli.text.benchmark import changes_written

    counts = write_changes(out, run.release, run.options, drawn.papers, drawn.seed)
    say(changes_written(out, counts.papers, {arm.value: count for arm, count in counts.arms.items()}, counts.left_out))


def _print_tables(logs: Path, resamples: int) -> None:
    from peercorpus.benchmark.interventions.render import (
        make_arm_tables,
        render_arms_csv,
        render_arms_html,
        render_arms_markdown,
    )
    from peercorpus.benchmark.interventions.runs import read_arm_runs
    from peercorpus.cli.text.benchmark import tables_written
    from peercorpus.workspace.object_store import write_whole

    tables = make_arm_tables(*read_arm_runs(logs), resamples)
    for kind, write in (("md", render_arms_markdown), ("csv", render_arms_csv), ("html", render_arms_html)):
        write_whole(logs / f"interventions.{kind}", write(tables).encode())
    say(render_arms_markdown(tables).rstrip())
    say(tables_written(logs, logs, "interventions"))
