"""Export examples and settings for LLaMA-Factory and Axolotl.

Examples are pieces of text that are learnt or not, so that the trainer's own chat template is not used and both train
on the same tokens as `finetune`. Every setting of a recipe is translated, or named with the reason why not.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Executor
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.finetune.examples import Encoder, load_encoder
from peercorpus.finetune.lengths import Fitted
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.request import tune_as
from peercorpus.finetune.run import Say, prepare_run
from peercorpus.release.card.markdown import to_yaml
from peercorpus.release.exports.export import MANIFEST
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.folder import check_outside, replace_folder
from peercorpus.release.splits import Split

Settings = dict[str, Any]
Translation = Callable[[Recipe], Settings] | str
"""Returns a trainer's settings for one setting of a recipe; a text states why there are none."""
ATTENTION = {"eager": "disabled", "sdpa": "sdpa", "flash_attention_2": "fa2", "flash_attention_3": "fa3"}
"""LLaMA-Factory's names for the attention implementations of `transformers`."""


def _count_steps(recipe: Recipe) -> int:
    """Return the gradient accumulation steps on one device."""
    return recipe.batch // recipe.per_device


def _translate_factory_lora(recipe: Recipe) -> Settings:
    lora = recipe.lora
    targets = recipe.lora.targets
    if isinstance(targets, str) and targets != "all-linear":
        raise PeercorpusError(
            f"LLaMA-Factory does not choose layers by a pattern such as '{targets}'; set 'targets' in the recipe to a"
            " list of names."
        )
    return {
        "lora_rank": lora.rank,
        "lora_alpha": lora.alpha,
        "lora_dropout": lora.dropout,
        "lora_target": "all" if isinstance(targets, str) else ",".join(targets),
    }


def _translate_factory_attention(recipe: Recipe) -> Settings:
    if recipe.attention is None:
        return {}
    if recipe.attention not in ATTENTION:
        raise PeercorpusError(
            f"LLaMA-Factory has no attention implementation '{recipe.attention}'; set 'attention' in the recipe"
            f" to one of {', '.join(ATTENTION)}, or omit it."
        )
    return {"flash_attn": ATTENTION[recipe.attention]}


def _translate_axolotl_lora(recipe: Recipe) -> Settings:
    lora = recipe.lora
    targets = recipe.lora.targets
    named = {"lora_target_linear": True} if targets == "all-linear" else {"lora_target_modules": targets}
    return {"lora_r": lora.rank, "lora_alpha": lora.alpha, "lora_dropout": lora.dropout, **named}


def _translate_axolotl_quantised(recipe: Recipe) -> Settings:
    if recipe.quantised is None:
        return {"adapter": "lora"}
    return (
        {"adapter": "qlora", "load_in_4bit": True}
        if recipe.quantised == 4
        else {"adapter": "lora", "load_in_8bit": True}
    )


UNTRANSLATED: Mapping[str, Translation] = {
    "paper_tokens": "the papers in the examples are already cut",
    "validation": "validation.jsonl contains no more examples than that",
}
LLAMA_FACTORY: Mapping[str, Translation] = {
    "epochs": lambda recipe: {"num_train_epochs": recipe.epochs},
    "learning_rate": lambda recipe: {"learning_rate": recipe.learning_rate},
    "schedule": lambda recipe: {"lr_scheduler_type": recipe.schedule},
    "warmup": lambda recipe: {"warmup_steps": recipe.warmup},
    "weight_decay": lambda recipe: {"weight_decay": recipe.weight_decay},
    "batch": lambda recipe: {"gradient_accumulation_steps": _count_steps(recipe)},
    "per_device": lambda recipe: {
        "per_device_train_batch_size": recipe.per_device,
        "per_device_eval_batch_size": recipe.per_device,
    },
    # If it packs, LLaMA-Factory subtracts one from this length.
    "context": lambda recipe: {"cutoff_len": recipe.context + recipe.packing},
    "precision": lambda recipe: {"bf16": recipe.precision != "float32"},
    "quantised": lambda recipe: {} if recipe.quantised is None else {"quantization_bit": recipe.quantised},
    "attention": _translate_factory_attention,
    "packing": lambda recipe: {"packing": recipe.packing, "neat_packing": recipe.packing},
    "checkpointing": lambda recipe: {"disable_gradient_checkpointing": not recipe.checkpointing},
    "save_steps": lambda recipe: {"save_strategy": "steps", "save_steps": recipe.save_steps},
    "keep": lambda recipe: {"save_total_limit": recipe.keep},
    "seed": lambda recipe: {"seed": recipe.seed},
    "lora": _translate_factory_lora,
    **UNTRANSLATED,
}
AXOLOTL: Mapping[str, Translation] = {
    "epochs": lambda recipe: {"num_epochs": recipe.epochs},
    "learning_rate": lambda recipe: {"learning_rate": recipe.learning_rate},
    "schedule": lambda recipe: {"lr_scheduler": recipe.schedule},
    "warmup": lambda recipe: {"warmup_ratio": recipe.warmup},
    "weight_decay": lambda recipe: {"weight_decay": recipe.weight_decay},
    "batch": lambda recipe: {"gradient_accumulation_steps": _count_steps(recipe)},
    "per_device": lambda recipe: {"micro_batch_size": recipe.per_device, "eval_batch_size": recipe.per_device},
    "context": lambda recipe: {"sequence_len": recipe.context, "excess_length_strategy": "raise"},
    "precision": lambda recipe: {"bf16": {"auto": "auto", "bfloat16": True, "float32": False}[recipe.precision]},
    "quantised": _translate_axolotl_quantised,
    "attention": lambda recipe: {} if recipe.attention is None else {"attn_implementation": recipe.attention},
    "packing": lambda recipe: {"sample_packing": recipe.packing, "eval_sample_packing": False},
    "checkpointing": lambda recipe: {"gradient_checkpointing": recipe.checkpointing},
    "save_steps": lambda recipe: {"save_steps": recipe.save_steps},
    "keep": lambda recipe: {"save_total_limit": recipe.keep},
    "seed": lambda recipe: {"seed": recipe.seed},
    "lora": _translate_axolotl_lora,
    **UNTRANSLATED,
}
TRANSLATIONS: Mapping[ExportLayout, Mapping[str, Translation]] = {
    ExportLayout.LLAMA_FACTORY: LLAMA_FACTORY,
    ExportLayout.AXOLOTL: AXOLOTL,
}
"""Every setting of a recipe in the settings of each trainer."""


def translate_recipe(trainer: ExportLayout, recipe: Recipe) -> Settings:
    """Return a recipe in the settings of a trainer.

    Raises:
        PeercorpusError: The trainer has no such setting.
    """
    settings: Settings = {}
    for translation in TRANSLATIONS[trainer].values():
        if not isinstance(translation, str):
            settings |= translation(recipe)
    return settings


def untranslated_settings(trainer: ExportLayout, recipe: Recipe) -> dict[str, str]:
    """Return the settings of a recipe that a trainer does not get, with the reason."""
    return {
        name: translation
        for name, translation in TRANSLATIONS[trainer].items()
        if isinstance(translation, str) and getattr(recipe, name) is not None
    }


NAME_OF_INDEX = "{{idx}}"
"""LLaMA-Factory replaces this with the number of the turn, once per message."""
DATASET_INFO = "dataset_info.json"
CONFIGURATIONS = {ExportLayout.LLAMA_FACTORY: "train.yaml", ExportLayout.AXOLOTL: "config.yaml"}
STARTED = {
    ExportLayout.LLAMA_FACTORY: "llamafactory-cli train train.yaml",
    ExportLayout.AXOLOTL: "axolotl train config.yaml",
}
"""Command that starts each trainer, in the folder of the files."""
Turns = Sequence[tuple[str, str]]
"""Pairs of the model's input before an answer, and the answer."""


def _make_factory_row(turns: Turns) -> dict[str, Any]:
    messages = []
    for asked, answer in turns:
        messages += [{"role": "user", "content": asked.replace(NAME_OF_INDEX, "{ {idx}}")}]
        messages += [{"role": "assistant", "content": answer}]
    return {"messages": messages}


def _make_axolotl_row(turns: Turns) -> dict[str, Any]:
    return {
        "segments": [
            {"label": is_learnt, "text": text}
            for turn in turns
            for is_learnt, text in zip((False, True), turn, strict=True)
        ]
    }


ROWS = {ExportLayout.LLAMA_FACTORY: _make_factory_row, ExportLayout.AXOLOTL: _make_axolotl_row}


def _name_data(split: Split) -> str:
    return f"peercorpus_{split}"


def _name_file(split: Split) -> str:
    return f"{split}.jsonl"


class _TrainerFiles:
    """The files of a trainer while examples are written; each is opened for its first example."""

    def __init__(self, folder: Path, trainer: ExportLayout, encoder: Encoder) -> None:
        self._folder = folder
        self._row = ROWS[trainer]
        self._encoder = encoder
        self._files: dict[Split, IO[str]] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._open.close()

    @property
    def splits(self) -> set[Split]:
        """The splits that have an example."""
        return set(self._files)

    def add(self, split: Split, fitted: Fitted) -> None:
        """Write an example."""
        if split not in self._files:
            self._files[split] = self._open.enter_context(
                (self._folder / _name_file(split)).open("w", encoding="utf-8")
            )
        turns = self._encoder.turns(fitted.example.messages(fitted.shown.text))
        self._files[split].write(json.dumps(self._row(turns), ensure_ascii=False) + "\n")


def _make_factory_settings(model: str, recipe: Recipe, splits: set[Split]) -> Settings:
    held_to = {"eval_dataset": _name_data(Split.VALIDATION), "eval_strategy": "steps", "eval_steps": recipe.save_steps}
    return {
        "model_name_or_path": model,
        "stage": "sft",
        "do_train": True,
        "finetuning_type": "lora",
        "template": "empty",
        "train_on_prompt": False,
        "mask_history": False,
        "dataset_dir": ".",
        "dataset": _name_data(Split.TRAIN),
        **(held_to if Split.VALIDATION in splits else {}),
        "output_dir": "adapter",
        "logging_steps": 1,
        "report_to": "none",
    }


def _make_axolotl_data(split: Split) -> Settings:
    return {"path": _name_file(split), "ds_type": "json", "split": "train", "type": "input_output"}


def _make_axolotl_settings(model: str, recipe: Recipe, splits: set[Split]) -> Settings:
    held_to = {"test_datasets": [_make_axolotl_data(Split.VALIDATION)], "eval_steps": recipe.save_steps}
    return {
        "base_model": model,
        "chat_template": "tokenizer_default",
        "train_on_inputs": False,
        "datasets": [_make_axolotl_data(Split.TRAIN)],
        **(held_to if Split.VALIDATION in splits else {}),
        "output_dir": "adapter",
        "logging_steps": 1,
    }


FIXED = {ExportLayout.LLAMA_FACTORY: _make_factory_settings, ExportLayout.AXOLOTL: _make_axolotl_settings}


def _render_configuration(trainer: ExportLayout, model: str, recipe: Recipe, splits: set[Split]) -> str:
    comments = [
        f"In this folder: {STARTED[trainer]}",
        "",
        f"No example has more tokens than the recipe's context of {recipe.context:,}, so no answer is ever cut.",
        "The batch size is per device. These settings of the recipe have no counterpart here:",
        *(f"  {name}: {why}." for name, why in untranslated_settings(trainer, recipe).items()),
    ]
    head = "".join(f"# {line}".rstrip() + "\n" for line in comments)
    return f"{head}\n{to_yaml(FIXED[trainer](model, recipe, splits))}\n{to_yaml(translate_recipe(trainer, recipe))}"


def _render_dataset_info(splits: set[Split]) -> str:
    entry = {
        "formatting": "sharegpt",
        "columns": {"messages": "messages"},
        "tags": {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"},
    }
    datasets = {_name_data(split): {"file_name": _name_file(split), **entry} for split in Split if split in splits}
    return json.dumps(datasets, indent=2) + "\n"


def write_for(
    release: Path,
    out: Path,
    request: ExportRequest,
    say: Say,
    show: Show = show_nothing,
    spread: Executor | None = None,
) -> None:
    """Write an export with the examples of a model, and the settings of a recipe, for another trainer.

    Args:
        release: The release.
        out: The folder to write, in which an earlier export is replaced.
        request: The request, which names a model.
        say: Receives the table of lengths.
        show: Receives the number of papers read.
        spread: Executor for the processes that fit examples; None means doing everything in this process.

    Raises:
        PeercorpusError: As for `prepare_run`; the trainer lacks a setting; or the folder contains other files.
    """
    tuned, trainer = tune_as(request), request.format
    translate_recipe(trainer, tuned.settings)
    check_outside(out, release)
    try:
        with replace_folder(out, "an export", MANIFEST) as partial:
            with _TrainerFiles(partial, trainer, load_encoder(tuned.model)) as files:
                prepare_run(release, partial, tuned, say, show, files.add, spread)
            model = str(Path(tuned.model).absolute()) if Path(tuned.model).is_dir() else tuned.model
            configuration = _render_configuration(trainer, model, tuned.settings, files.splits)
            (partial / CONFIGURATIONS[trainer]).write_text(configuration, "utf-8")
            if trainer is ExportLayout.LLAMA_FACTORY:
                (partial / DATASET_INFO).write_text(_render_dataset_info(files.splits), "utf-8")
    except OSError as error:
        raise PeercorpusError(f"The files for {trainer} in '{out}' cannot be written: {error.strerror}.") from None
