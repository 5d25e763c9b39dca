"""Lessons → adapter, with TRL's trainer and PEFT; every device runs this once, and one of them writes."""

import json
import shutil
import warnings
from collections.abc import Iterator, Sized
from math import isfinite
from pathlib import Path

import msgspec
import torch
from accelerate import PartialState
from datasets import Dataset
from peft import LoraConfig
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedModel,
    PrinterCallback,
    TrainerCallback,
    TrainerState,
    TrainingArguments,
    set_seed,
)
from trl import SFTConfig, SFTTrainer

from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.finetune.preparing import token_file
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.run_files import ADAPTER, CHECKPOINTS, DATA, LOSSES, TRAINED, Trained, recipe_of, run_of
from peercorpus.progress import Meter, Show
from peercorpus.publish.splits import Side

STATE = "trainer_state.json"
"""What the trainer writes last of a checkpoint."""


def _precision(recipe: Recipe) -> torch.dtype:
    has_it = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    is_short = recipe.precision == "bfloat16" or (recipe.precision == "auto" and has_it)
    return torch.bfloat16 if is_short else torch.float32


def _quantised(recipe: Recipe, dtype: torch.dtype) -> BitsAndBytesConfig | None:
    """How the base model is held; NF4 with double quantisation is QLoRA's (arXiv 2305.14314)."""
    if recipe.quantised is None:
        return None
    try:
        import bitsandbytes  # noqa: F401
    except ModuleNotFoundError:
        raise PeercorpusError(
            "A quantised base model needs bitsandbytes: pip install bitsandbytes, or leave 'quantised' out of the"
            " recipe."
        ) from None
    if recipe.quantised == 8:
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )


def load_model(name: str, revision: str | None, recipe: Recipe) -> PreTrainedModel:
    """The base model.

    Args:
        name: A folder, or a name on the Hugging Face Hub.
        revision: Its commit there; None for the newest.
        recipe: How it is held.

    Raises:
        ModelError: There is no such model, or it cannot be loaded so.
    """
    dtype = _precision(recipe)
    told = {"dtype": dtype, "attn_implementation": recipe.attention, "quantization_config": _quantised(recipe, dtype)}
    try:
        model = AutoModelForCausalLM.from_pretrained(
            name, revision=revision, **{key: value for key, value in told.items() if value is not None}
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        detail = " ".join(str(error).split())[:300]
        raise ModelError(f"The model '{name}' cannot be loaded: {detail}") from None
    if hasattr(model, "peft_config"):
        raise ModelError(f"'{name}' is an adapter, on which no other is put; name a whole model.")
    return model


def _settings(recipe: Recipe, folder: Path, devices: int, *, measures: bool) -> SFTConfig:
    if recipe.batch % (recipe.per_device * devices):
        raise PeercorpusError(
            f"A batch of {recipe.batch} lessons cannot be shared by {devices} devices with {recipe.per_device} each;"
            " change 'batch' in the recipe."
        )
    is_short = _precision(recipe) is torch.bfloat16
    return SFTConfig(
        output_dir=str(folder / CHECKPOINTS),
        num_train_epochs=recipe.epochs,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=recipe.schedule,
        warmup_steps=recipe.warmup,
        weight_decay=recipe.weight_decay,
        per_device_train_batch_size=recipe.per_device,
        per_device_eval_batch_size=recipe.per_device,
        gradient_accumulation_steps=recipe.batch // (recipe.per_device * devices),
        activation_checkpointing=recipe.checkpointing,
        bf16=is_short,
        use_cpu=not torch.cuda.is_available(),
        max_length=recipe.context,
        packing=recipe.packing,
        eval_packing=False,
        dataset_kwargs={"skip_prepare_dataset": not recipe.packing},
        save_steps=recipe.save_steps,
        save_total_limit=recipe.keep,
        logging_steps=1,
        logging_nan_inf_filter=False,
        eval_strategy="steps" if measures else "no",
        eval_steps=recipe.save_steps,
        seed=recipe.seed,
        report_to="none",
        disable_tqdm=True,
    )


class _Shown(TrainerCallback):  # type: ignore[misc]
    """Tells how many steps are done, and how much of the validation side is measured."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._meter = Meter("training", "steps", show)
        self._measured: Meter | None = None

    def on_train_begin(self, _: TrainingArguments, state: TrainerState, *__: object, **___: object) -> None:
        self._meter = Meter("training", "steps", self._show, done=state.global_step, total=state.max_steps)

    def on_prediction_step(self, *_: object, eval_dataloader: Sized, **__: object) -> None:
        if self._measured is None:
            self._measured = Meter("training", "batches to validate on", self._show, total=len(eval_dataloader))
        self._measured.advance()

    def on_evaluate(self, *_: object, **__: object) -> None:
        self._measured = None

    def on_step_end(self, _: TrainingArguments, state: TrainerState, *__: object, **___: object) -> None:
        self._meter.report(state.global_step, state.max_steps)


def _last_checkpoint(folder: Path) -> Path | None:
    """The last checkpoint that is whole; what was being written when a run was killed is deleted."""
    whole = []
    for path in folder.glob("checkpoint-*"):
        try:
            step = int(json.loads((path / STATE).read_text("utf-8"))["global_step"])
        except (OSError, ValueError, KeyError):
            shutil.rmtree(path, ignore_errors=True)
        else:
            whole.append((step, path))
    return max(whole, default=(0, None))[1]


def _trainer(folder: Path, show: Show) -> SFTTrainer:
    asked, recipe = run_of(folder).asked, recipe_of(folder)
    validation = Dataset.from_file(str(folder / DATA / token_file(Side.VALIDATION)))
    settings = _settings(recipe, folder, PartialState().num_processes, measures=len(validation) > 0)
    set_seed(recipe.seed)
    lora = LoraConfig(
        r=recipe.lora.rank,
        lora_alpha=recipe.lora.alpha,
        lora_dropout=recipe.lora.dropout,
        target_modules=recipe.lora.targets if isinstance(recipe.lora.targets, str) else list(recipe.lora.targets),
        task_type="CAUSAL_LM",
        revision=asked.revision,
    )
    try:
        trainer = SFTTrainer(
            model=load_model(asked.model, asked.revision, recipe),
            args=settings,
            train_dataset=Dataset.from_file(str(folder / DATA / token_file(Side.TRAIN))),
            eval_dataset=validation if len(validation) else None,
            processing_class=AutoTokenizer.from_pretrained(asked.model, revision=asked.revision),
            peft_config=lora,
            callbacks=[_Shown(show)],
        )
    except ValueError as error:
        raise PeercorpusError(
            f"The model '{asked.model}' cannot be tuned so: {' '.join(str(error).split())[:300]}"
        ) from None
    trainer.remove_callback(PrinterCallback)
    return trainer


def _measured(trainer: SFTTrainer, step: int) -> dict[str, float] | None:
    """The loss on the validation side; None where nothing is held to it."""
    if trainer.eval_dataset is None:
        return None
    return {"step": step, "eval_loss": float(trainer.evaluate()["eval_loss"])}


def _told(trainer: SFTTrainer) -> Iterator[dict[str, float]]:
    """The losses that the trainer has written down, those before the last checkpoint included."""
    for one in trainer.state.log_history:
        for name in ("loss", "eval_loss"):
            if name in one:
                yield {"step": one["step"], name: one[name]}


def _first(trainer: SFTTrainer, losses: Path, *, is_fresh: bool) -> dict[str, float] | None:
    """The loss before the first step: measured where this is a fresh run, else as it was measured then."""
    if is_fresh or not losses.exists():
        return _measured(trainer, 0) if is_fresh else None
    first: dict[str, float] = json.loads(losses.read_text("utf-8").partition("\n")[0])
    return first if first["step"] == 0 else None


def _save(trainer: SFTTrainer, folder: Path) -> None:
    partial = folder / f".{ADAPTER}"
    trainer.save_model(str(partial))
    trainer.accelerator.wait_for_everyone()
    if not trainer.is_world_process_zero():
        return
    # A pickle of the trainer's settings, with paths of this machine.
    (partial / "training_args.bin").unlink(missing_ok=True)
    (partial / "README.md").unlink(missing_ok=True)
    shutil.rmtree(folder / ADAPTER, ignore_errors=True)
    partial.rename(folder / ADAPTER)


def train(folder: Path, show: Show) -> None:
    """Tune a model on the lessons of a run, from its last checkpoint on.

    Args:
        folder: Of the run, with its lessons.
        show: Told how many steps are done.

    Raises:
        PeercorpusError: The model cannot be loaded or tuned so, does not fit into memory, or its loss is no number.
    """
    try:
        with warnings.catch_warnings():
            # TRL and transformers tell each other of names that will go.
            warnings.simplefilter("ignore", FutureWarning)
            # PEFT asks the Hub whether the vocabulary has changed; it has not.
            warnings.filterwarnings("ignore", "Could not find a config file")
            _train(folder, show)
    except torch.OutOfMemoryError as error:
        raise PeercorpusError(
            f"The device has not enough memory ({str(error).partition('.')[0]}): in the recipe, set a smaller context"
            " or per_device, checkpointing = true or quantised = 4."
        ) from None


def _train(folder: Path, show: Show) -> None:
    trainer = _trainer(folder, show)
    last, losses = _last_checkpoint(folder / CHECKPOINTS), folder / LOSSES
    first = _first(trainer, losses, is_fresh=last is None)
    is_writer = trainer.is_world_process_zero()
    if is_writer and last is None and first is not None:
        losses.write_text(json.dumps(first) + "\n", "utf-8")
    trainer.train(resume_from_checkpoint=None if last is None else str(last))
    steps = int(trainer.state.global_step)
    told = [first, *_told(trainer)]
    if told[-1] is None or told[-1].keys() != {"step", "eval_loss"} or told[-1]["step"] < steps:
        told.append(_measured(trainer, steps))
    known = [one for one in told if one is not None]
    if not all(isfinite(number) for one in known for number in one.values()):
        raise PeercorpusError("The loss is no number any more; set a lower learning_rate in the recipe.")
    _save(trainer, folder)
    if is_writer:
        whole = losses.with_name(f".{losses.name}")
        whole.write_text("".join(json.dumps(one) + "\n" for one in known), "utf-8")
        whole.rename(losses)
        trained = Trained(steps, *(None if one is None else one["eval_loss"] for one in (first, told[-1])))
        (folder / TRAINED).write_bytes(msgspec.json.format(msgspec.json.encode(trained), indent=1))
