"""What each setting of a recipe is called by LLaMA-Factory 0.9.5 and by Axolotl 0.19."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from peercorpus.errors import PeercorpusError
from peercorpus.finetune.recipe import Recipe

Settings = dict[str, Any]
Said = Callable[[Recipe], Settings] | str
"""What a trainer is told for a setting, or why it is told nothing."""
ATTENTION = {"eager": "disabled", "sdpa": "sdpa", "flash_attention_2": "fa2", "flash_attention_3": "fa3"}
"""LLaMA-Factory's words for the implementations in `transformers`."""


class Trainer(StrEnum):
    """Whose configuration is written."""

    LLAMA_FACTORY = "llama-factory"
    AXOLOTL = "axolotl"


def _steps(recipe: Recipe) -> int:
    """Steps between two updates, on one device."""
    return recipe.batch // recipe.per_device


def _factory_lora(recipe: Recipe) -> Settings:
    lora, targets = recipe.lora, recipe.lora.targets
    if isinstance(targets, str) and targets != "all-linear":
        raise PeercorpusError(
            f"LLaMA-Factory takes no pattern of layers such as '{targets}'; give 'targets' in the recipe a list of"
            " names."
        )
    return {
        "lora_rank": lora.rank,
        "lora_alpha": lora.alpha,
        "lora_dropout": lora.dropout,
        "lora_target": "all" if isinstance(targets, str) else ",".join(targets),
    }


def _factory_attention(recipe: Recipe) -> Settings:
    if recipe.attention is None:
        return {}
    if recipe.attention not in ATTENTION:
        raise PeercorpusError(
            f"LLaMA-Factory has no attention '{recipe.attention}'; name one of {', '.join(ATTENTION)} in the recipe, or"
            " none."
        )
    return {"flash_attn": ATTENTION[recipe.attention]}


def _axolotl_lora(recipe: Recipe) -> Settings:
    lora, targets = recipe.lora, recipe.lora.targets
    named = {"lora_target_linear": True} if targets == "all-linear" else {"lora_target_modules": targets}
    return {"lora_r": lora.rank, "lora_alpha": lora.alpha, "lora_dropout": lora.dropout, **named}


def _axolotl_quantised(recipe: Recipe) -> Settings:
    if recipe.quantised is None:
        return {"adapter": "lora"}
    return (
        {"adapter": "qlora", "load_in_4bit": True}
        if recipe.quantised == 4
        else {"adapter": "lora", "load_in_8bit": True}
    )


NOT_TOLD: Mapping[str, Said] = {
    "paper_tokens": "the papers in the lessons are cut so already",
    "answer_tokens": "of an evaluation, not of a training",
    "validation": "validation.jsonl holds no more lessons than that",
    "accelerate": "several devices are started in another way; divide gradient_accumulation_steps by their number",
}
LLAMA_FACTORY: Mapping[str, Said] = {
    "epochs": lambda recipe: {"num_train_epochs": recipe.epochs},
    "learning_rate": lambda recipe: {"learning_rate": recipe.learning_rate},
    "schedule": lambda recipe: {"lr_scheduler_type": recipe.schedule},
    "warmup": lambda recipe: {"warmup_steps": recipe.warmup},
    "weight_decay": lambda recipe: {"weight_decay": recipe.weight_decay},
    "batch": lambda recipe: {"gradient_accumulation_steps": _steps(recipe)},
    "per_device": lambda recipe: {
        "per_device_train_batch_size": recipe.per_device,
        "per_device_eval_batch_size": recipe.per_device,
    },
    # Where it packs, LLaMA-Factory takes one off.
    "context": lambda recipe: {"cutoff_len": recipe.context + recipe.packing},
    "precision": lambda recipe: {"bf16": recipe.precision != "float32"},
    "quantised": lambda recipe: {} if recipe.quantised is None else {"quantization_bit": recipe.quantised},
    "attention": _factory_attention,
    "packing": lambda recipe: {"packing": recipe.packing, "neat_packing": recipe.packing},
    "checkpointing": lambda recipe: {"disable_gradient_checkpointing": not recipe.checkpointing},
    "save_steps": lambda recipe: {"save_strategy": "steps", "save_steps": recipe.save_steps},
    "keep": lambda recipe: {"save_total_limit": recipe.keep},
    "seed": lambda recipe: {"seed": recipe.seed},
    "lora": _factory_lora,
    **NOT_TOLD,
}
AXOLOTL: Mapping[str, Said] = {
    "epochs": lambda recipe: {"num_epochs": recipe.epochs},
    "learning_rate": lambda recipe: {"learning_rate": recipe.learning_rate},
    "schedule": lambda recipe: {"lr_scheduler": recipe.schedule},
    "warmup": lambda recipe: {"warmup_ratio": recipe.warmup},
    "weight_decay": lambda recipe: {"weight_decay": recipe.weight_decay},
    "batch": lambda recipe: {"gradient_accumulation_steps": _steps(recipe)},
    "per_device": lambda recipe: {"micro_batch_size": recipe.per_device, "eval_batch_size": recipe.per_device},
    "context": lambda recipe: {"sequence_len": recipe.context, "excess_length_strategy": "raise"},
    "precision": lambda recipe: {"bf16": {"auto": "auto", "bfloat16": True, "float32": False}[recipe.precision]},
    "quantised": _axolotl_quantised,
    "attention": lambda recipe: {} if recipe.attention is None else {"attn_implementation": recipe.attention},
    "packing": lambda recipe: {"sample_packing": recipe.packing, "eval_sample_packing": False},
    "checkpointing": lambda recipe: {"gradient_checkpointing": recipe.checkpointing},
    "save_steps": lambda recipe: {"save_steps": recipe.save_steps},
    "keep": lambda recipe: {"save_total_limit": recipe.keep},
    "seed": lambda recipe: {"seed": recipe.seed},
    "lora": _axolotl_lora,
    **NOT_TOLD,
}
NAMES: Mapping[Trainer, Mapping[str, Said]] = {Trainer.LLAMA_FACTORY: LLAMA_FACTORY, Trainer.AXOLOTL: AXOLOTL}
"""Every setting of a recipe, as each trainer has it."""


def carried(trainer: Trainer, recipe: Recipe) -> Settings:
    """What a trainer is told of a recipe.

    Raises:
        PeercorpusError: It has no such setting.
    """
    told: Settings = {}
    for said in NAMES[trainer].values():
        if not isinstance(said, str):
            told |= said(recipe)
    return told


def not_carried(trainer: Trainer, recipe: Recipe) -> dict[str, str]:
    """Settings that the trainer is not told, with the reason."""
    return {
        name: said
        for name, said in NAMES[trainer].items()
        if isinstance(said, str) and getattr(recipe, name) is not None
    }
