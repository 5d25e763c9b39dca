"""The command `finetune`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.benchmark import Unset
from peercorpus.cli.console import AtLeastOne, Named, ProgressLines, finite, say
from peercorpus.cli.extras import require_extra
from peercorpus.cli.options import HERE, open_executor
from peercorpus.errors import PeercorpusError
from peercorpus.execution.requests import Spreading
from peercorpus.finetune.run_folder import ADAPTER, DATA, EXAMPLES, RunFile, TrainingResult
from peercorpus.records.enums import Grade, WorstGrade
from peercorpus.venues.venue_names import read_venue_or_conference
from peercorpus.wording.counted_nouns import plural

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
        need a release that was published with --grade.
    min_words
        Shortest review to use, in words. For a conversation, its review counts.
    min_confidence
        Lowest reviewer confidence to use, from 0 (lowest answer of the form) to 1 (highest answer).
    """

    venue: Annotated[tuple[str, ...], Parameter(show_default=False)] = ()
    year: Annotated[tuple[int, ...], Parameter(show_default=False)] = ()
    grade: WorstGrade = "only_before_review"
    min_words: Annotated[int | None, AtLeastOne, Unset] = None
    min_confidence: Annotated[float | None, ShareOf1, Unset] = None


ALL_DATA = Data()


def finetune(
    *,
    release: Annotated[Path, Named],
    task: Literal["acceptance", "scores", "review", "rebuttal", "meta_review", "mixed"],
    model: str,
    out: Annotated[Path, Named],
    recipe: Annotated[Path | None, Named, Unset] = None,
    data: Annotated[Data, Parameter(name="*")] = ALL_DATA,
    leave_out_long: bool = False,
    lengths: bool = False,
    merge: bool = False,
    spreading: Annotated[Spreading, Parameter(name="*")] = HERE,
) -> None:
    """Fine-tune a model with LoRA on a release, with the prompts of the benchmark.

    The same command resumes a run that was interrupted.

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
    """
    if lengths and merge:
        raise PeercorpusError("--lengths trains nothing; leave out --lengths, or --merge.")
    spread = open_executor(spreading)
    options = _run_options(release, task, model, out, recipe, data, leaves_out_long=leave_out_long)
    # Training takes hours, so what every step needs is checked before the first.
    require_extra("models", "transformers")
    if not lengths:
        require_extra("models", "torch", "accelerate", "datasets", "peft", "trl")
    with ProgressLines() as lines:
        _tune(options, lines, spread, only_lengths=lengths, merge=merge)


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


def _tune(options: "RunOptions", lines: ProgressLines, spread: "Executor", *, only_lengths: bool, merge: bool) -> None:
    from peercorpus.finetune.run import prepare_run

    prepared = prepare_run(options, say, lines.show, spread=spread)
    if only_lengths:
        return
    say(examples(prepared))
    lines.say(LOADING)
    from peercorpus.finetune.model_card import write_model_card
    from peercorpus.finetune.run_folder import load_trained
    from peercorpus.finetune.training import merge_adapter, train

    train(options.out, lines.show)
    write_model_card(options.out)
    say(tuned(options.out, load_trained(options.out)))
    if merge:
        say(merged(merge_adapter(options.out)))


def selection_rule(data: Data) -> "SelectionRule":
    """Return the rule by which examples are chosen, from what the user named."""
    from peercorpus.finetune.selection import SelectionRule

    return SelectionRule(
        venues=frozenset(map(read_venue_or_conference, data.venue)),
        years=frozenset(data.year),
        worst_grade=Grade(data.grade),
        min_words=data.min_words or 0,
        min_confidence=data.min_confidence,
    )


LOADING = "Loading the model; then the loss on the validation split is measured, and training begins."


def examples(run: RunFile) -> str:
    """Return how many training examples there are, what was left out and why, and that no test paper is among them."""
    train, validation = (
        f"{plural(run.examples[split], 'example')} from {plural(run.papers[split], 'paper')}"
        for split in ("train", "validation")
    )
    lines = [f"Training: {train}. Validation: {validation}."]
    lines += [f"  left out, {reason}: {count:,}" for reason, count in run.left_out["train"].items()]
    held_out, links = run.fitness["held_out"], run.fitness["links"]
    link_check = (
        "the release has no links: no paper was found that was submitted twice, or none was looked for"
        if links is None
        else f"none of {plural(links, 'link')} between papers is between two splits"
    )
    lines.append(f"None of them is among the {plural(held_out, 'paper')} to test and validate on, and {link_check}.")
    return "\n".join(lines)


def tuned(folder: Path, trained: TrainingResult) -> str:
    """Return the result of a training run: the loss, and where the adapter is."""
    loss = (
        "No validation loss was measured"
        if trained.first is None or trained.last is None
        else f"Loss on the validation split: {trained.first:.4f} before, {trained.last:.4f} after"
    )
    if trained.kept is not None and trained.kept_loss is not None:
        loss += f" (kept: that of step {trained.kept:,}, {trained.kept_loss:.4f})"
    return (
        f"{loss}, in {plural(trained.steps, 'step')}.\nThe adapter is {folder / ADAPTER}; its training examples are"
        f" listed in {folder / DATA / EXAMPLES}.\nTest it: peercorpus bench --release RELEASE --model"
        f" {folder / ADAPTER}"
    )


def merged(folder: Path) -> str:
    """Return where the model with the merged adapter is."""
    return f"The merged model is {folder}."
