"""The command `finetune`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.benchmark import RESAMPLES, Unset, print_unanswered
from peercorpus.cli.console import AtLeastOne, Named, ProgressLines, finite, say
from peercorpus.cli.extras import require_extra
from peercorpus.cli.options import HERE, Spreading, WorstGrade
from peercorpus.errors import ExitCode, PeercorpusError
from peercorpus.records.enums import Grade
from peercorpus.venues.short_names import read_venue_or_conference

if TYPE_CHECKING:
    from peercorpus.execution.executor import Executor
    from peercorpus.finetune.run import RunOptions
    from peercorpus.finetune.selection import SelectionRule

ShareOf1 = finite(Number(gte=0, lte=1))


@dataclass(frozen=True, slots=True)
class Data:
    """Which of the training papers and reviews become training examples.

    Parameters
    ----------
    venue
        Only papers of this venue (id or short name such as ICLR2024) or conference (iclr). May be repeated.
    year
        Only venues of this year; may be repeated.
    grade
        Worst acceptable grade of a paper's text. The default and better ones are proven initial versions; worse ones
        need a release that was published with --grade; `export` also takes them from a workspace.
    min_words
        Shortest review to use, in words. For a conversation, its review counts.
    max_words
        Longest review to use, in words. For a conversation, its review counts.
    min_confidence
        Lowest reviewer confidence to use, from 0 (lowest answer of the form) to 1 (highest answer).
    max_spread
        Largest difference between a paper's recommendations to use, from 0 (all equal) to 1 (the form's lowest and
        highest answer).
    every_try
        Use all submissions of the same work, instead of the one whose text has the best grade.
    weight
        How many times to repeat a venue's or conference's training examples, as NAME=NUMBER; 0.5 uses half of them. May
        be repeated.
    """

    venue: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    year: Annotated[tuple[int, ...], Parameter(negative=(), show_default=False)] = ()
    grade: WorstGrade = "only_before_review"
    min_words: Annotated[int | None, AtLeastOne, Unset] = None
    max_words: Annotated[int | None, AtLeastOne, Unset] = None
    min_confidence: Annotated[float | None, ShareOf1, Unset] = None
    max_spread: Annotated[float | None, ShareOf1, Unset] = None
    every_try: Annotated[bool, Parameter(negative=())] = False
    weight: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()


ALL_DATA = Data()


def finetune(
    *,
    release: Annotated[Path, Named],
    task: Literal["acceptance", "scores", "review", "rebuttal", "meta_review", "mixed"],
    model: str,
    out: Annotated[Path, Named],
    recipe: Annotated[Path | None, Named, Unset] = None,
    data: Annotated[Data, Parameter(name="*")] = ALL_DATA,
    leave_out_long: Annotated[bool, Parameter(negative=())] = False,
    lengths: Annotated[bool, Parameter(negative=())] = False,
    merge: Annotated[bool, Parameter(negative=())] = False,
    evaluate: Annotated[bool, Parameter(negative=())] = False,
    limit: Annotated[int | None, AtLeastOne, Unset] = None,
    spreading: Spreading = HERE,
) -> int:
    """Fine-tune a model with LoRA on a release, with the prompts of the benchmark.

    The same command resumes a run that was interrupted. Exit with 1 if cases of the evaluation are missing.

    Only training papers are used; a release whose splits separate linked papers is refused. The lengths of the training
    examples are shown first: papers are truncated to fit the context, answers never.

    Parameters
    ----------
    release
        Folder that `peercorpus publish` wrote, with splits.
    task
        Task to train on; mixed: all five.
    model
        Base model: a folder, or a name on the Hugging Face Hub.
    out
        Folder of the run.
    recipe
        TOML file with settings that differ from Re²'s; `python -m pydoc peercorpus.finetune.recipe` lists them.
    leave_out_long
        Skip training examples whose answers do not fit into the context, instead of refusing to start.
    lengths
        Show the lengths of the training examples and stop.
    merge
        Also write the model with the adapter merged into it, to OUT/merged.
    evaluate
        Benchmark the model before and after training on the test papers and print both in one table. Logs are in
        OUT/bench.
    limit
        With --evaluate: use only the first N cases of each task. They usually come from one venue and are not a random
        sample.
    """
    then = Then(lengths=lengths, merge=merge, evaluate=evaluate, limit=limit)
    then.check()
    spread = spreading.settle()
    options = _run_options(release, task, model, out, recipe, data, leaves_out_long=leave_out_long)
    _require_extras(then)
    with ProgressLines() as lines:
        return _tune(options, then, lines, spread)


@dataclass(frozen=True, slots=True)
class Then:
    """Further steps with the training examples."""

    lengths: bool
    merge: bool
    evaluate: bool
    limit: int | None

    def check(self) -> None:
        """Check that the options can be combined.

        Raises:
            PeercorpusError: Two options exclude each other, or one needs another.
        """
        if self.lengths and (self.merge or self.evaluate):
            raise PeercorpusError("--lengths trains nothing; leave out --lengths, or --merge and --evaluate.")
        if self.limit is not None and not self.evaluate:
            raise PeercorpusError("--limit needs --evaluate; add --evaluate, or leave out --limit.")


def _require_extras(then: Then) -> None:
    """Check for the packages of every step before the first one, as training takes hours."""
    if then.evaluate:
        require_extra("bench", "inspect_ai")
    require_extra("finetune", "transformers")
    if not then.lengths:
        require_extra("finetune", "torch", "accelerate", "datasets", "peft", "trl")


def _run_options(
    release: Path, task: str, model: str, out: Path, recipe: Path | None, data: Data, *, leaves_out_long: bool
) -> "RunOptions":
    from peercorpus.finetune.examples import TrainingTask
    from peercorpus.finetune.recipe import read_recipe
    from peercorpus.finetune.run import RunOptions

    rule = selection_rule(data)
    return RunOptions(
        release=release,
        subject=TrainingTask(task),
        model=model,
        out=out,
        recipe=read_recipe(recipe),
        chosen=rule,
        leaves_out_long=leaves_out_long,
    )


def _tune(options: "RunOptions", then: Then, lines: ProgressLines, spread: "Executor") -> int:
    from peercorpus.cli.text import finetune as finetune_texts
    from peercorpus.finetune.launch import tune
    from peercorpus.finetune.model_card import write_model_card
    from peercorpus.finetune.run import prepare_run
    from peercorpus.finetune.run_folder import load_trained

    prepared = prepare_run(options, say, lines.show, spread=spread)
    if then.lengths:
        return ExitCode.DONE
    say(finetune_texts.examples(prepared))
    if then.evaluate:
        from peercorpus.finetune.evaluate import check_evaluation

        check_evaluation(options.out, options.release, then.limit, lines.say)
    lines.say(finetune_texts.LOADING)
    tune(options.out, lines.show)
    write_model_card(options.out)
    say(finetune_texts.tuned(options.out, load_trained(options.out)))
    if then.merge:
        from peercorpus.finetune.training import merge_adapter

        say(finetune_texts.merged(merge_adapter(options.out)))
    return _evaluate(options, then, lines) if then.evaluate else ExitCode.DONE


def _evaluate(options: "RunOptions", then: Then, lines: ProgressLines) -> int:
    from peercorpus.finetune.evaluate import evaluate
    from peercorpus.finetune.model_card import write_model_card

    evaluation = evaluate(options.out, options.release, then.limit, RESAMPLES, "plain", lines.show)
    write_model_card(options.out)
    say(evaluation.markdown)
    print_unanswered(evaluation.notes, evaluation.errors, is_whole=evaluation.is_whole)
    return ExitCode.DONE if evaluation.is_whole else ExitCode.FOUND


def selection_rule(data: Data) -> "SelectionRule":
    """Return the rule by which examples are chosen, from what the user named.

    Raises:
        PeercorpusError: A weight is not written as NAME=NUMBER, or a name has two.
    """
    from peercorpus.finetune.selection import SelectionRule

    weights = dict(map(_parse_weight, data.weight))
    if len(weights) < len(data.weight):
        raise PeercorpusError("A name has two weights; give each venue or conference one --weight.")
    return SelectionRule(
        venues=frozenset(map(read_venue_or_conference, data.venue)),
        years=frozenset(data.year),
        worst_grade=Grade(data.grade),
        min_words=data.min_words or 0,
        max_words=data.max_words,
        min_confidence=data.min_confidence,
        max_spread=data.max_spread,
        every_try=data.every_try,
        weights=weights,
    )


def _parse_weight(argument: str) -> tuple[str, float]:
    name, _, number = argument.rpartition("=")
    try:
        weight = float(number) if name else None
    except ValueError:
        weight = None
    if weight is None:
        raise PeercorpusError(
            f"Invalid weight '{argument}': expected a venue or conference and a number, as in --weight iclr=2."
        )
    return name, weight
