"""The command `finetune`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from peercorpus.cli.console import Named, ProgressLines, say
from peercorpus.cli.options import HERE, open_executor, require_extra
from peercorpus.errors import PeercorpusError
from peercorpus.execution.requests import Spreading
from peercorpus.finetune.request import TuneRequest
from peercorpus.finetune.run_folder import ADAPTER, DATA, EXAMPLES, RunFile, TrainingResult
from peercorpus.wording.counted_nouns import plural


def finetune(
    *,
    release: Annotated[Path, Named],
    out: Annotated[Path, Named],
    request: Annotated[TuneRequest, Parameter(name="*")],
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
    out
        Folder of the run.
    lengths
        Show the lengths of the training examples and stop.
    merge
        Also write the model with the adapter merged into it, to OUT/merged.
    """
    if lengths and merge:
        raise PeercorpusError("--lengths trains nothing; leave out --lengths, or --merge.")
    spread = open_executor(spreading)
    # Training takes hours, so what every step needs is checked before the first.
    require_extra("models", "transformers")
    if not lengths:
        require_extra("models", "torch", "accelerate", "datasets", "peft", "trl")
    from peercorpus.finetune.run import prepare_run

    with ProgressLines() as lines:
        prepared = prepare_run(release, out, request, say, lines.show, spread=spread)
        if not lengths:
            say(examples(prepared))
            lines.say(LOADING)
            _train(out, lines, merge=merge)


def _train(out: Path, lines: ProgressLines, *, merge: bool) -> None:
    from peercorpus.finetune.model_card import write_model_card
    from peercorpus.finetune.run_folder import load_trained
    from peercorpus.finetune.training import merge_adapter, train

    train(out, lines.show)
    write_model_card(out)
    say(tuned(out, load_trained(out)))
    if merge:
        say(f"The merged model is {merge_adapter(out)}.")


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
