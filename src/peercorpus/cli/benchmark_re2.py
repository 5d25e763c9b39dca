"""The command `bench re2`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from cyclopts import Parameter

from peercorpus.benchmark.request import QuestionRequest, require_temperature
from peercorpus.cli.benchmark import (
    SETTINGS,
    bench,
    check_release,
    display,
    drop_unset,
    require_extras,
    say_unanswered,
)
from peercorpus.cli.console import Named, NamedRelease, ProgressLines, say
from peercorpus.cli.options import require_extra
from peercorpus.execution.requests import require_positive

if TYPE_CHECKING:
    from peercorpus.benchmark.re2.comparison import Comparison, ComparisonResult, ListedModel

PrintedTask = Literal["acceptance", "scores", "review", "rebuttal"]
"""A task for which the Re² paper has a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Re2Request(QuestionRequest):
    """How models answer and who judges, in a comparison with the tables of the Re² paper.

    Attributes:
        grader: Model that judges the discussions, for Table 5; "none" leaves that out. Default: LLaMA-3.1-8B-Instruct,
            as in the paper (vllm/meta-llama/Llama-3.1-8B-Instruct).
        judge_words: File with the judge's instruction; logs record its SHA-256. By default the instruction is ours.
        max_connections: Number of questions asked in parallel.
        max_tokens: Maximum number of tokens in an answer.
        temperature: Sampling temperature of the models.
        runs: How often each model answers all questions; run N has the seed N.
        keep_errors: Count a case that ended in an error as an answer without a score, instead of asking again in the
            next run.
    """

    grader: str | None = None
    judge_words: Path | None = None
    max_connections: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    runs: int = 3
    keep_errors: bool = False

    def __post_init__(self) -> None:
        QuestionRequest.__post_init__(self)
        require_positive("--max-connections", self.max_connections)
        require_positive("--max-tokens", self.max_tokens)
        require_positive("--runs", self.runs)
        require_temperature(self.temperature)


AS_IN_THE_PAPER = Re2Request()
LEFT_OUT = "none"


@bench.command(name="re2")
def compare_as_re2(
    tasks: Annotated[tuple[PrintedTask, ...], Parameter(name="TASK", show_default=False)] = (),
    /,
    *,
    models: Annotated[Path, Named],
    release: Annotated[Path, NamedRelease],
    logs: Annotated[Path, Named],
    request: Annotated[Re2Request, Parameter(name="*")] = AS_IN_THE_PAPER,
) -> int:
    """Run a list of models several times, and print Tables 2 to 5 of the Re² paper with its own rows below.

    Scores are on Re²'s scale of 1 to 10, and the encoders and the judge are those of the paper; `--bert-score none`,
    `--embed-cos none` and `--grader none` leave them out. The same command resumes a comparison that was
    interrupted. Exit with 1 if cases are missing.

    Parameters
    ----------
    tasks
        Tasks to run; all four if omitted.
    models
        File that lists the models: one a line as for --model, or a .toml file with a table for each.
    release
        Folder that `peercorpus publish` wrote, or hf:OWNER/NAME@REVISION on the Hugging Face Hub.
    logs
        Folder for the logs and for re2.md and re2.csv.
    """
    from peercorpus.benchmark.re2.comparison import read_model_list

    require_extra("bench", "inspect_ai")
    check_release(release)
    request = replace(
        request, bert_score=_choose_encoder(request.bert_score), embed_cos=_choose_encoder(request.embed_cos)
    )
    listed = read_model_list(models)
    require_extras(request, [str(model.model) for model in listed])
    from peercorpus.benchmark.re2.comparison import compare_models

    comparison = _plan(tasks, release, logs, listed, request)
    with ProgressLines() as lines:
        shown = replace(comparison, bench=replace(comparison.bench, show=lines.show))
        result = compare_models(shown, lines.say)
    _print_tables(result, logs)
    return say_unanswered([], result.errors, is_whole=result.is_whole)


def _choose_encoder(named: str | None) -> str | None:
    return None if named == LEFT_OUT else named or "re2"


def _plan(
    tasks: Sequence[str], release: Path, logs: Path, listed: "Sequence[ListedModel]", request: Re2Request
) -> "Comparison":
    from peercorpus.benchmark.cases import BenchTask
    from peercorpus.benchmark.judge.instruction import RE2_GRADER
    from peercorpus.benchmark.re2.comparison import Comparison
    from peercorpus.benchmark.run import Bench
    from peercorpus.release.hub import find_release

    chosen = [BenchTask(name) for name in dict.fromkeys(tasks or get_args(PrintedTask))]
    is_judged = request.grader != LEFT_OUT and "rebuttal" in chosen
    judging: dict[str, object] = {}
    if is_judged:
        words = request.judge_words and str(request.judge_words)
        judging = {"judged": True, "judge_profile": "re2", "judge_words": words}
    settings = {name: getattr(request, name) for name in SETTINGS}
    bench = Bench(
        tasks=chosen,
        release=find_release(str(release)),
        logs=logs,
        model=None,
        options=drop_unset(request.options() | {"unified": True} | judging),
        with_baselines=False,
        roles={"grader": request.grader or RE2_GRADER} if is_judged else {},
        keeps_errors=request.keep_errors,
        display=display(),
        settings=drop_unset(settings | {"limit": request.limit}),
    )
    return Comparison(bench, listed, request.runs)


def _print_tables(result: "ComparisonResult", logs: Path) -> None:
    from peercorpus.benchmark.re2.tables import lay_out, make_tables

    tables = lay_out(make_tables(result.models), result.notes)
    tables.write(logs, "re2", page=False)
    say(tables.to_markdown().rstrip())
    say(f"\nThe tables are {logs / 're2.md'} and .csv; see each answer: inspect view --log-dir {logs}")
