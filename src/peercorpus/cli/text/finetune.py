"""Texts of `finetune`: the training examples, the result of training, and where the adapter is."""

from pathlib import Path

from peercorpus.finetune.run_folder import ADAPTER, DATA, EXAMPLES, RunFile, TrainingResult
from peercorpus.records.counted_nouns import plural

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
