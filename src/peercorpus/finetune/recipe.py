"""How a model is tuned: Re²'s settings by default, each of them a line in a file."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from peercorpus.errors import PeercorpusError

Share = Annotated[float, Meta(ge=0, lt=1)]
Count = Annotated[int, Meta(ge=1, le=2**31)]


class Lora(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The adapter, a LoRA (arXiv 2106.09685).

    Attributes:
        rank: Of the update; Re² states none, 16 is ours.
        alpha: The update is scaled by `alpha / rank`.
        dropout: Share of the adapter's inputs that are left out while it learns, on [0, 1).
        targets: Names of layers; `all-linear` for every linear layer but the last.
    """

    rank: Count = 16
    alpha: Count = 32
    dropout: Share = 0.0
    targets: str | tuple[str, ...] = "all-linear"


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model is tuned.

    LoRA, one epoch, and a learning rate of 1e-4 with a cosine schedule are Re²'s (arXiv 2505.07920), which states no
    more; all else is ours.

    Attributes:
        epochs: How often all lessons are told.
        learning_rate: The highest.
        schedule: How it falls: `cosine`, `linear`, or `constant` for not at all.
        warmup: Share of the steps in which it rises, on [0, 1).
        weight_decay: Of AdamW.
        batch: Lessons a step, over all devices.
        per_device: Lessons that a device holds at once; it divides `batch`, so do the devices.
        context: Tokens of the longest lesson, the answer included; a longer paper is cut, an answer never.
        paper_tokens: Tokens of a paper at most, here and in `--evaluate`.
        answer_tokens: Tokens that `--evaluate` lets an answer have.
        precision: Of the base model and of what is computed, `bfloat16` or `float32`; `auto` is the first on a device
            that has it, else the other.
        quantised: Bits in which the base model is held (bitsandbytes), 4 or 8; None for its precision.
        attention: The implementation in `transformers`; None for its default.
        packing: Whether several short lessons share one row of `context` tokens; none of them sees another.
        checkpointing: Whether activations are computed again instead of held: less memory, more time.
        validation: Lessons of the validation side at most whose loss is measured before, at each checkpoint and after.
        save_steps: Steps between two checkpoints.
        keep: Checkpoints that are kept.
        seed: Of the order of lessons and of the adapter's first weights.
        accelerate: A configuration file of `accelerate` (several devices, DeepSpeed, FSDP), from the recipe's folder;
            None for one device.
    """

    epochs: Annotated[float, Meta(gt=0, le=1_000)] = 1.0
    learning_rate: Annotated[float, Meta(gt=0, le=1)] = 1e-4
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    warmup: Share = 0.0
    weight_decay: Annotated[float, Meta(ge=0, le=1)] = 0.0
    batch: Count = 16
    per_device: Count = 1
    context: Annotated[int, Meta(ge=128, le=2**24)] = 16_384
    paper_tokens: Annotated[int, Meta(ge=64, le=2**24)] = 12_288
    answer_tokens: Count = 2_048
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    quantised: Literal[4, 8] | None = None
    attention: str | None = None
    packing: bool = False
    checkpointing: bool = True
    validation: Annotated[int, Meta(ge=0, le=2**31)] = 200
    save_steps: Count = 200
    keep: Count = 2
    seed: Annotated[int, Meta(ge=0, lt=2**32)] = 0
    accelerate: str | None = None
    lora: Lora = Lora()


def read_recipe(path: Path | None) -> Recipe:
    """The recipe of a TOML file; Re²'s settings where none is named.

    Raises:
        PeercorpusError: It cannot be read, or a setting is unknown or out of its range.
    """
    if path is None:
        return Recipe()
    try:
        recipe = msgspec.convert(tomllib.loads(path.read_text("utf-8")), Recipe)
    except OSError as error:
        raise PeercorpusError(f"The recipe '{path}' cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise PeercorpusError(f"The recipe '{path}' cannot be read: {error}.") from None
    if recipe.batch % recipe.per_device:
        raise PeercorpusError(f"The recipe '{path}' has a batch of {recipe.batch}, no multiple of per_device.")
    if recipe.accelerate is None:
        return recipe
    launch = path.parent / recipe.accelerate
    if not launch.is_file():
        raise PeercorpusError(f"The recipe '{path}' names '{launch}' for accelerate, which is not there.")
    return msgspec.structs.replace(recipe, accelerate=str(launch.absolute()))
