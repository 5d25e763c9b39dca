"""Train a LoRA adapter with TRL and PEFT, and merge it into its base model."""

import json
import logging
import shutil
import warnings
from collections.abc import Iterator, Sized
from math import isfinite
from pathlib import Path

import msgspec
import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel
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
from peercorpus.execution.progress import Meter, Show
from peercorpus.finetune.prepare import token_file
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.run_folder import (
    ADAPTER,
    CHECKPOINTS,
    DATA,
    LOSSES,
    MERGED,
    TRAINED,
    TrainingResult,
    check_data,
    load_run,
)
from peercorpus.release.splits import Split

STATE = "trainer_state.json"
"""Last file that the trainer writes of a checkpoint."""


def _choose_dtype(recipe: Recipe) -> torch.dtype:
    has_it = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    is_short = recipe.precision == "bfloat16" or (recipe.precision == "auto" and has_it)
    return torch.bfloat16 if is_short else torch.float32


def _make_quantisation(recipe: Recipe, dtype: torch.dtype) -> BitsAndBytesConfig | None:
    """Return the quantisation settings; NF4 with double quantisation is QLoRA's choice (arXiv 2305.14314)."""
    if recipe.quantised is None:
        return None
    try:
        import bitsandbytes  # noqa: F401
    except ModuleNotFoundError:
        raise PeercorpusError(
            "A quantised base model needs bitsandbytes: pip install bitsandbytes, or omit 'quantised' from the recipe."
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
    """Load the base model.

    Args:
        name: A folder, or a name on the Hugging Face Hub.
        revision: Its commit on the Hub; None for the latest.
        recipe: Precision, quantisation and attention.

    Raises:
        ModelError: The model does not exist, or cannot be loaded with these settings.
    """
    dtype = _choose_dtype(recipe)
    settings = {
        "dtype": dtype,
        "attn_implementation": recipe.attention,
        "quantization_config": _make_quantisation(recipe, dtype),
    }
    try:
        model = AutoModelForCausalLM.from_pretrained(
            name, revision=revision, **{key: value for key, value in settings.items() if value is not None}
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        detail = " ".join(str(error).split())[:300]
        raise ModelError(f"The model '{name}' cannot be loaded: {detail}") from None
    if hasattr(model, "peft_config"):
        raise ModelError(f"'{name}' is an adapter, but a base model is needed; name a complete model.")
    return model


def _make_settings(recipe: Recipe, folder: Path, *, measures: bool) -> SFTConfig:
    is_short = _choose_dtype(recipe) is torch.bfloat16
    return SFTConfig(
        output_dir=str(folder / CHECKPOINTS),
        num_train_epochs=recipe.epochs,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=recipe.schedule,
        warmup_steps=recipe.warmup,
        weight_decay=recipe.weight_decay,
        per_device_train_batch_size=recipe.per_device,
        per_device_eval_batch_size=recipe.per_device,
        gradient_accumulation_steps=recipe.batch // recipe.per_device,
        activation_checkpointing=recipe.checkpointing,
        bf16=is_short,
        use_cpu=not torch.cuda.is_available(),
        max_length=recipe.context,
        packing=recipe.packing,
        eval_packing=False,
        dataset_kwargs={"skip_prepare_dataset": not recipe.packing},
        save_steps=recipe.save_steps,
        save_total_limit=recipe.keep,
        # Trainer also evaluates and saves after the last step.
        load_best_model_at_end=measures,
        metric_for_best_model="eval_loss" if measures else None,
        greater_is_better=False if measures else None,
        logging_steps=1,
        logging_nan_inf_filter=False,
        eval_strategy="steps" if measures else "no",
        eval_steps=recipe.save_steps,
        seed=recipe.seed,
        report_to="none",
        disable_tqdm=True,
    )


class _ProgressCallback(TrainerCallback):  # type: ignore[misc]
    """Reports the steps done, and the progress of measuring the validation loss."""

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

    def on_substep_end(self, _: TrainingArguments, state: TrainerState, *__: object, **___: object) -> None:
        # A step over many examples takes minutes on a slow device.
        self._meter.report(state.global_step, state.max_steps)

    def on_step_end(self, _: TrainingArguments, state: TrainerState, *__: object, **___: object) -> None:
        self._meter.report(state.global_step, state.max_steps)


def _find_last_checkpoint(folder: Path) -> Path | None:
    """Return the last complete checkpoint, or None; incomplete ones are deleted."""
    complete = []
    for path in folder.glob("checkpoint-*"):
        try:
            step = int(json.loads((path / STATE).read_text("utf-8"))["global_step"])
        except (OSError, ValueError, KeyError):
            shutil.rmtree(path, ignore_errors=True)
        else:
            complete.append((step, path))
    return max(complete, default=(0, None))[1]


def _make_trainer(folder: Path, show: Show) -> SFTTrainer:
    asked = load_run(folder).asked
    model, recipe = asked.request.model, asked.recipe
    validation = Dataset.from_file(str(folder / DATA / token_file(Split.VALIDATION)))
    settings = _make_settings(recipe, folder, measures=len(validation) > 0)
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
            model=load_model(model, asked.revision, recipe),
            args=settings,
            train_dataset=Dataset.from_file(str(folder / DATA / token_file(Split.TRAIN))),
            eval_dataset=validation if len(validation) else None,
            processing_class=AutoTokenizer.from_pretrained(model, revision=asked.revision),
            peft_config=lora,
            callbacks=[_ProgressCallback(show)],
        )
    except ValueError as error:
        raise PeercorpusError(
            f"The model '{model}' cannot be trained with this recipe: {' '.join(str(error).split())[:300]}"
        ) from None
    trainer.remove_callback(PrinterCallback)
    return trainer


def _measure_loss(trainer: SFTTrainer, step: int) -> dict[str, float] | None:
    """Return the validation loss, or None if there are no validation examples."""
    if trainer.eval_dataset is None:
        return None
    return {"step": step, "eval_loss": float(trainer.evaluate()["eval_loss"])}


def _find_first_loss(trainer: SFTTrainer, losses: Path, *, is_fresh: bool) -> dict[str, float] | None:
    """Return the loss before the first step: measured in a new run, otherwise as recorded; None if unknown."""
    if is_fresh or not losses.exists():
        return _measure_loss(trainer, 0) if is_fresh else None
    first: dict[str, float] = json.loads(losses.read_text("utf-8").partition("\n")[0])
    return first if first["step"] == 0 else None


def _save(trainer: SFTTrainer, folder: Path) -> None:
    partial = folder / f".{ADAPTER}"
    trainer.save_model(str(partial))
    # A pickle of the trainer's settings, with paths of this machine.
    (partial / "training_args.bin").unlink(missing_ok=True)
    (partial / "README.md").unlink(missing_ok=True)
    shutil.rmtree(folder / ADAPTER, ignore_errors=True)
    partial.rename(folder / ADAPTER)


def train(folder: Path, show: Show) -> None:
    """Train the model of a run, resuming from its last checkpoint; a finished run is left unchanged.

    Args:
        folder: Folder of the run, with its examples.
        show: Receives the number of steps done.

    Raises:
        PeercorpusError: The model cannot be loaded or trained with this recipe, does not fit into memory, or its loss
            is not finite, or a file of examples has changed.
    """
    if (folder / TRAINED).exists():
        return
    check_data(folder)
    # transformers warns about checkpoints written within the same second, and then sorts them by number.
    logging.getLogger("transformers.trainer_utils").setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            # TRL and transformers warn about each other's deprecated names.
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
    trainer = _make_trainer(folder, show)
    last = _find_last_checkpoint(folder / CHECKPOINTS)
    losses = folder / LOSSES
    first = _find_first_loss(trainer, losses, is_fresh=last is None)
    if last is None and first is not None:
        losses.write_text(json.dumps(first) + "\n", "utf-8")
    trainer.train(resume_from_checkpoint=None if last is None else str(last))
    steps = int(trainer.state.global_step)
    # The trainer's history includes the losses before the last checkpoint.
    history: Iterator[dict[str, float]] = (
        {"step": entry["step"], name: entry[name]}
        for entry in trainer.state.log_history
        for name in ("loss", "eval_loss")
        if name in entry
    )
    losses_so_far = [first, *history]
    if (
        losses_so_far[-1] is None
        or losses_so_far[-1].keys() != {"step", "eval_loss"}
        or losses_so_far[-1]["step"] < steps
    ):
        losses_so_far.append(_measure_loss(trainer, steps))
    measured = [entry for entry in losses_so_far if entry is not None]
    if not all(isfinite(number) for entry in measured for number in entry.values()):
        raise PeercorpusError("The loss is no longer finite; set a lower learning_rate in the recipe.")
    _save(trainer, folder)
    partial = losses.with_name(f".{losses.name}")
    partial.write_text("".join(json.dumps(entry) + "\n" for entry in measured), "utf-8")
    partial.rename(losses)
    last_loss = losses_so_far[-1]
    has_best = trainer.state.best_model_checkpoint is not None
    trained = TrainingResult(
        steps=steps,
        first=None if first is None else first["eval_loss"],
        last=None if last_loss is None else last_loss["eval_loss"],
        kept=trainer.state.best_global_step if has_best else steps,
        kept_loss=trainer.state.best_metric,
    )
    (folder / TRAINED).write_bytes(msgspec.json.format(msgspec.json.encode(trained), indent=1))


def merge_adapter(folder: Path) -> Path:
    """Write the base model of a run with its adapter merged in, in the precision in which the base was published.

    A base model that was quantised for training is loaded unquantised, so nothing is rounded again.

    Args:
        folder: Folder of a finished run.

    Returns:
        The folder of the merged model, with its tokenizer; the result of an earlier call is replaced.

    Raises:
        PeercorpusError: The run is not finished, its base cannot be loaded, or the folder cannot be written.
    """
    asked = load_run(folder).asked
    if not (folder / TRAINED).exists():
        raise PeercorpusError(f"The run '{folder}' has no adapter yet; run 'peercorpus finetune' again to resume.")
    partial = folder / f".{MERGED}"
    try:
        base = AutoModelForCausalLM.from_pretrained(asked.request.model, revision=asked.revision, dtype="auto")
        if getattr(base.config, "quantization_config", None) is not None:
            raise ModelError(
                f"The base model '{asked.request.model}' is quantised, so an adapter cannot be merged into it; use the"
                f" adapter '{folder / ADAPTER}' unmerged."
            )
        with warnings.catch_warnings():
            # peft 0.21 uses a name that transformers 5.23 has replaced.
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing` is deprecated", FutureWarning)
            merged = PeftModel.from_pretrained(base, folder / ADAPTER).merge_and_unload(safe_merge=True)
        shutil.rmtree(partial, ignore_errors=True)
        merged.save_pretrained(partial)
        AutoTokenizer.from_pretrained(folder / ADAPTER).save_pretrained(partial)
        shutil.rmtree(folder / MERGED, ignore_errors=True)
        partial.rename(folder / MERGED)
    except (OSError, ValueError, KeyError, ImportError) as error:
        detail = " ".join(str(error).split())[:300]
        raise ModelError(f"The run '{folder}' cannot be merged: {detail}") from None
    return folder / MERGED
