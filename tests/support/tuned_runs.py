"""Runs of fine-tuning on the invented release, with tiny models."""

from dataclasses import dataclass
from pathlib import Path

from peercorpus.execution.progress import show_nothing
from peercorpus.finetune.examples import TrainingTask
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.run import RunOptions, prepare_run
from tiny_chats import write_tiny_llama, write_tiny_qwen

NEEDED = ("torch", "transformers", "accelerate", "datasets", "peft", "trl")
"""Packages required for tuning."""
RECIPE = Recipe(
    context=2_048,
    paper_tokens=400,
    batch=4,
    per_device=4,
    learning_rate=3e-3,
    epochs=4.0,
    checkpointing=False,
    validation=0,
    precision="float32",
)


@dataclass(frozen=True)
class Tuned:
    """A finished run: its base model and its folder."""

    base: Path
    folder: Path


def tune_on(release: Path, folder: Path, family: str, subject: TrainingTask = TrainingTask.ACCEPTANCE) -> Tuned:
    """A tiny model of a family, `llama` or `qwen`, tuned for a task."""
    from peercorpus.finetune.training import train

    base = {"llama": write_tiny_llama, "qwen": write_tiny_qwen}[family](folder / family)
    prepare_run(RunOptions(release, subject, str(base), folder / "run", RECIPE), lambda _: None)
    train(folder / "run", show_nothing)
    return Tuned(base, folder / "run")
