"""What the command line says of fine-tuning: what went in, and what came of it."""

from pathlib import Path

from peercorpus.finetune.for_trainers import STARTED
from peercorpus.finetune.run_files import ADAPTER, DATA, LESSONS, RunFile, Trained
from peercorpus.finetune.trainer_settings import Trainer
from peercorpus.wording import plural


def lessons(run: RunFile) -> str:
    """What is learnt from, what is left out and why, and what was made sure of."""
    lines = [
        f"To learn from: {plural(run.lessons['train'], 'lesson')} of {plural(run.papers['train'], 'paper')}; to"
        f" validate on: {plural(run.lessons['validation'], 'lesson')} of {plural(run.papers['validation'], 'paper')}."
    ]
    lines += [f"  left out, {reason}: {count:,}" for reason, count in run.left_out["train"].items()]
    held_out, links = run.fitness["held_out"], run.fitness["links"]
    known = (
        "the release has no links: no paper was found that was submitted twice, or none was looked for"
        if links is None
        else f"no link of {links:,} parts a work between the sides"
    )
    lines.append(f"None of them is among the {held_out:,} papers to test and validate on, and {known}.")
    return "\n".join(lines)


def tuned(folder: Path, trained: Trained) -> str:
    """What came of it."""
    loss = (
        "Nothing was held to it"
        if trained.first is None or trained.last is None
        else f"Loss on the validation side: {trained.first:.4f} before, {trained.last:.4f} after"
    )
    return (
        f"{loss}, in {plural(trained.steps, 'step')}.\nThe adapter is {folder / ADAPTER}; what went in is listed in"
        f" {folder / DATA / LESSONS}.\nTest it: peercorpus bench --release RELEASE --model {folder / ADAPTER}"
    )


def handed_over(folder: Path, trainer: Trainer) -> str:
    """Where the files for another trainer are, and how it is started."""
    return f"The lessons and settings are in {folder}, with what is not carried over; there: {STARTED[trainer]}"
