"""Runs of fine-tuning on the invented release, with tiny models."""

from dataclasses import dataclass
from pathlib import Path

from peercorpus.execution.progress import show_nothing
from peercorpus.finetune.request import TuneRequest
from peercorpus.finetune.run import prepare_run
from peercorpus.release.exports.request import TaskName
from recipe_files import write_recipe
from tiny_chats import write_tiny_llama, write_tiny_qwen

NEEDED = ("torch", "transformers", "accelerate", "datasets", "peft", "trl")
"""Packages required for tuning."""
PAPER_TOKENS = 400
RECIPE = {
    "context": 2_048,
    "paper_tokens": PAPER_TOKENS,
    "batch": 4,
    "per_device": 4,
    "learning_rate": 3e-3,
    "epochs": 4.0,
    "checkpointing": False,
    "validation": 0,
    "precision": "float32",
}


@dataclass(frozen=True)
class Tuned:
    """A finished run: its base model and its folder."""

    base: Path
    folder: Path


def tune_on(release: Path, folder: Path, family: str, task: TaskName = "acceptance") -> Tuned:
    """A tiny model of a family, `llama` or `qwen`, tuned for a task."""
    from peercorpus.finetune.training import train

    base = {"llama": write_tiny_llama, "qwen": write_tiny_qwen}[family](folder / family)
    request = TuneRequest(task=task, model=str(base), recipe=write_recipe(folder, **RECIPE))
    prepare_run(release, folder / "run", request, lambda _: None)
    train(folder / "run", show_nothing)
    return Tuned(base, folder / "run")
