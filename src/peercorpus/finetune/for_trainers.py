"""The lessons of a run and its recipe as the files of another trainer: LLaMA-Factory 0.9.5 or Axolotl 0.19.

Neither is left to put a conversation into the words of a chat template, nor to find in them what is learnt: the lessons
stand there as text of the model, marks included, in pieces of which each is learnt or not. So the trainer's tokens are
those of `Encoder`, and the lengths that were measured hold. LLaMA-Factory's own reading of a chat template repeats the
head of LLaMA-3.1's in every turn, and its format `openai` adds words to the system prompt.
"""

import json
import shutil
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from peercorpus.errors import PeercorpusError
from peercorpus.finetune.encoding import Encoder, load_encoder
from peercorpus.finetune.lengths import Fitted
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.run import Say, Wanted, prepare_run
from peercorpus.finetune.trainer_settings import Settings, Trainer, carried, not_carried
from peercorpus.progress import Show, show_nothing
from peercorpus.publish.front_matter import to_yaml
from peercorpus.publish.splits import Side
from peercorpus.spread import Spread

NAME_OF_INDEX = "{{idx}}"
"""LLaMA-Factory puts the number of the turn in its place, once a message."""
DATASET_INFO = "dataset_info.json"
CONFIGURATIONS = {Trainer.LLAMA_FACTORY: "train.yaml", Trainer.AXOLOTL: "config.yaml"}
STARTED = {
    Trainer.LLAMA_FACTORY: "llamafactory-cli train train.yaml",
    Trainer.AXOLOTL: "axolotl train config.yaml",
}
"""In the folder of the files."""
Turns = Sequence[tuple[str, str]]
"""What the model reads before each answer, and the answer."""


def _factory_row(turns: Turns) -> dict[str, Any]:
    said = []
    for asked, answer in turns:
        said += [{"role": "user", "content": asked.replace(NAME_OF_INDEX, "{ {idx}}")}]
        said += [{"role": "assistant", "content": answer}]
    return {"messages": said}


def _axolotl_row(turns: Turns) -> dict[str, Any]:
    return {
        "segments": [
            {"label": is_learnt, "text": text}
            for turn in turns
            for is_learnt, text in zip((False, True), turn, strict=True)
        ]
    }


ROWS = {Trainer.LLAMA_FACTORY: _factory_row, Trainer.AXOLOTL: _axolotl_row}


def _data_name(side: Side) -> str:
    return f"peercorpus_{side}"


def _file(side: Side) -> str:
    return f"{side}.jsonl"


class _Told:
    """Lessons on their way to the files of a trainer; the folder is made for the first of them."""

    def __init__(self, folder: Path, trainer: Trainer, encoder: Encoder) -> None:
        self._folder, self._row, self._encoder = folder, ROWS[trainer], encoder
        self._files: dict[Side, IO[str]] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._open.close()

    @property
    def sides(self) -> set[Side]:
        """Those of which there is a lesson."""
        return set(self._files)

    def add(self, side: Side, found: Fitted) -> None:
        """Write a lesson."""
        if side not in self._files:
            self._folder.mkdir(exist_ok=True)
            self._files[side] = self._open.enter_context((self._folder / _file(side)).open("w", encoding="utf-8"))
        turns = self._encoder.turns(found.lesson.messages(found.shown.text))
        self._files[side].write(json.dumps(self._row(turns), ensure_ascii=False) + "\n")


def _factory_settings(model: str, recipe: Recipe, sides: set[Side]) -> Settings:
    held_to = {"eval_dataset": _data_name(Side.VALIDATION), "eval_strategy": "steps", "eval_steps": recipe.save_steps}
    return {
        "model_name_or_path": model,
        "stage": "sft",
        "do_train": True,
        "finetuning_type": "lora",
        "template": "empty",
        "train_on_prompt": False,
        "mask_history": False,
        "dataset_dir": ".",
        "dataset": _data_name(Side.TRAIN),
        **(held_to if Side.VALIDATION in sides else {}),
        "output_dir": "adapter",
        "logging_steps": 1,
        "report_to": "none",
    }


def _axolotl_data(side: Side) -> Settings:
    return {"path": _file(side), "ds_type": "json", "split": "train", "type": "input_output"}


def _axolotl_settings(model: str, recipe: Recipe, sides: set[Side]) -> Settings:
    held_to = {"test_datasets": [_axolotl_data(Side.VALIDATION)], "eval_steps": recipe.save_steps}
    return {
        "base_model": model,
        "chat_template": "tokenizer_default",
        "train_on_inputs": False,
        "datasets": [_axolotl_data(Side.TRAIN)],
        **(held_to if Side.VALIDATION in sides else {}),
        "output_dir": "adapter",
        "logging_steps": 1,
    }


FIXED = {Trainer.LLAMA_FACTORY: _factory_settings, Trainer.AXOLOTL: _axolotl_settings}


def _configuration(trainer: Trainer, model: str, recipe: Recipe, sides: set[Side]) -> str:
    comments = [
        f"In this folder: {STARTED[trainer]}",
        "",
        f"No lesson has more tokens than the recipe's context of {recipe.context:,}, so no answer is ever cut.",
        "The batch is that of one device. Of the recipe these are not told:",
        *(f"  {name}: {why}." for name, why in not_carried(trainer, recipe).items()),
    ]
    head = "".join(f"# {line}".rstrip() + "\n" for line in comments)
    return f"{head}\n{to_yaml(FIXED[trainer](model, recipe, sides))}\n{to_yaml(carried(trainer, recipe))}"


def _dataset_info(sides: set[Side]) -> str:
    entry = {
        "formatting": "sharegpt",
        "columns": {"messages": "messages"},
        "tags": {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"},
    }
    told = {_data_name(side): {"file_name": _file(side), **entry} for side in Side if side in sides}
    return json.dumps(told, indent=2) + "\n"


def write_for(
    wanted: Wanted, trainer: Trainer, say: Say, show: Show = show_nothing, spread: Spread | None = None
) -> Path:
    """Write the lessons of a run, and its recipe, for another trainer.

    Args:
        wanted: The run; it is prepared where it is not yet.
        trainer: Which one.
        say: Told the table of lengths.
        show: Told how many papers are read.
        spread: Over which processes lessons are made to fit; None makes all here.

    Returns:
        The folder with the files, in that of the run.

    Raises:
        PeercorpusError: What `prepare_run` says; the trainer lacks a setting; or its folder is there already.
    """
    folder, partial = wanted.out / trainer.value, wanted.out / f".{trainer}"
    if folder.exists():
        raise PeercorpusError(f"'{folder}' is there already; delete it to have it written again.")
    carried(trainer, wanted.recipe)
    shutil.rmtree(partial, ignore_errors=True)
    try:
        with _Told(partial, trainer, load_encoder(wanted.model)) as told:
            prepare_run(wanted, say, show, told.add, spread)
        _write_settings(partial, trainer, wanted, told.sides)
        partial.rename(folder)
    except OSError as error:
        raise PeercorpusError(f"The files for {trainer} in '{folder}' cannot be written: {error.strerror}.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        with suppress(OSError):
            # Of a run that was refused nothing is left.
            wanted.out.rmdir()
    return folder


def _write_settings(partial: Path, trainer: Trainer, wanted: Wanted, sides: set[Side]) -> None:
    model = str(Path(wanted.model).absolute()) if Path(wanted.model).is_dir() else wanted.model
    (partial / CONFIGURATIONS[trainer]).write_text(_configuration(trainer, model, wanted.recipe, sides), "utf-8")
    if trainer is Trainer.LLAMA_FACTORY:
        (partial / DATASET_INFO).write_text(_dataset_info(sides), "utf-8")
