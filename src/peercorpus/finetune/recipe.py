"""Read the hyperparameters of fine-tuning; the defaults are Re²'s if it states them."""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from peercorpus.errors import PeercorpusError

Share = Annotated[float, Meta(ge=0, lt=1)]
Count = Annotated[int, Meta(ge=1, le=2**31)]


class Lora(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the LoRA adapter (arXiv 2106.09685).

    Attributes:
        rank: Rank of the update; Re² states none, 16 is our choice.
        alpha: The update is scaled by `alpha / rank`.
        dropout: Share of the adapter's inputs that are dropped in training, in [0, 1).
        targets: Names of layers, or `all-linear` for every linear layer except the last.
    """

    rank: Count = 16
    alpha: Count = 32
    dropout: Share = 0.0
    targets: str | tuple[str, ...] = "all-linear"


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hyperparameters of fine-tuning.

    LoRA, one epoch, and a learning rate of 1e-4 with a cosine schedule are Re²'s (arXiv 2505.07920), which states no
    others; all other defaults are ours.

    Attributes:
        epochs: Passes over all examples.
        learning_rate: Highest learning rate.
        schedule: How the learning rate decays: `cosine`, `linear`, or `constant`.
        warmup: Share of the steps during which the learning rate rises, in [0, 1).
        weight_decay: Weight decay of AdamW.
        batch: Examples per step.
        per_device: Examples on the device at once; `batch` must be a multiple of this.
        context: Maximum tokens of an example, including the answer; a longer paper is cut, an answer never.
        paper_tokens: Maximum tokens of a paper.
        precision: Precision of the base model and of the computation: `bfloat16`, `float32`, or `auto` for the first if
            the device supports it, otherwise the second.
        quantised: Bits to which the base model is quantised (bitsandbytes), 4 or 8; None for no quantisation.
        attention: Attention implementation in transformers; None for its default.
        packing: Whether several short examples share a row of `context` tokens, without attending to each other.
        checkpointing: Whether activations are recomputed instead of stored: less memory, more time.
        validation: Maximum number of validation examples; their loss is measured before training, at each
            checkpoint and at the end.
        save_steps: Steps between two checkpoints.
        keep: Number of checkpoints to keep: the latest, and always the one with the lowest validation loss, from which
            the adapter is made.
        seed: Seed of the order of examples and of the adapter's initial weights.
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
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    quantised: Literal[4, 8] | None = None
    attention: str | None = None
    packing: bool = False
    checkpointing: bool = True
    validation: Annotated[int, Meta(ge=0, le=2**31)] = 200
    save_steps: Count = 200
    keep: Count = 2
    seed: Annotated[int, Meta(ge=0, lt=2**32)] = 0
    lora: Lora = Lora()


BOUND = re.compile(r"Expected `(?P<kind>\w+)` (?P<sign>[<>]=?) (?P<bound>[\d.]+) - at `\$\.(?P<name>[\w.]+)`")
"""Matches msgspec's error for a number that is too small or too large."""
SIGNS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}


def _describe_invalid(error: str) -> str:
    """Return a description of what is wrong with a setting.

    >>> _describe_invalid("Expected `int` >= 64 - at `$.paper_tokens`")
    "'paper_tokens' must be at least 64"
    """
    bound = BOUND.fullmatch(error)
    return error if bound is None else f"'{bound['name']}' must be {SIGNS[bound['sign']]} {bound['bound']}"


def read_recipe(path: Path | None) -> Recipe:
    """Read a recipe from a TOML file, or return the defaults if no file is given.

    Raises:
        PeercorpusError: The file cannot be read, or a setting is unknown or out of range.
    """
    if path is None:
        return Recipe()
    try:
        recipe = msgspec.convert(tomllib.loads(path.read_text("utf-8")), Recipe)
    except OSError as error:
        raise PeercorpusError(f"The recipe '{path}' cannot be read: {error.strerror}.") from None
    except msgspec.ValidationError as error:
        raise PeercorpusError(f"The recipe '{path}' cannot be used: {_describe_invalid(str(error))}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PeercorpusError(f"The recipe '{path}' cannot be read: {error}.") from None
    if recipe.batch % recipe.per_device:
        raise PeercorpusError(
            f"In the recipe '{path}', batch ({recipe.batch}) must be a multiple of per_device ({recipe.per_device})."
        )
    return recipe
