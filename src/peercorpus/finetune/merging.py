"""The adapter of a run merged into its base: one model that every program opens."""

import shutil
import warnings
from pathlib import Path

from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.finetune.run_files import ADAPTER, MERGED, TRAINED, run_of


def _merged(base: PreTrainedModel, adapter: Path) -> PreTrainedModel:
    with warnings.catch_warnings():
        # peft 0.21 asks transformers 5.23 by a name that it has replaced.
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing` is deprecated", FutureWarning)
        return PeftModel.from_pretrained(base, adapter).merge_and_unload(safe_merge=True)


def merge(folder: Path) -> Path:
    """Write the model of a run with its adapter merged in, in the precision that the base model is published in.

    A base that was held in few bits while it learnt is loaded as it is published, so nothing is rounded again.

    Args:
        folder: Of a run that is done.

    Returns:
        The folder of the merged model, with its tokenizer; what an earlier call wrote is replaced.

    Raises:
        PeercorpusError: The run is not done, its base cannot be loaded, or the folder cannot be written.
    """
    asked = run_of(folder).asked
    if not (folder / TRAINED).exists():
        raise PeercorpusError(f"The run '{folder}' has no adapter yet; run 'peercorpus finetune' again to go on.")
    partial = folder / f".{MERGED}"
    try:
        base = AutoModelForCausalLM.from_pretrained(asked.model, revision=asked.revision, dtype="auto")
        if getattr(base.config, "quantization_config", None) is not None:
            raise ModelError(
                f"The base model '{asked.model}' is published in few bits, into which nothing can be merged; use the"
                f" adapter '{folder / ADAPTER}' as it is."
            )
        merged = _merged(base, folder / ADAPTER)
        shutil.rmtree(partial, ignore_errors=True)
        merged.save_pretrained(partial)
        AutoTokenizer.from_pretrained(folder / ADAPTER).save_pretrained(partial)
        shutil.rmtree(folder / MERGED, ignore_errors=True)
        partial.rename(folder / MERGED)
    except (OSError, ValueError, KeyError, ImportError) as error:
        detail = " ".join(str(error).split())[:300]
        raise ModelError(f"The run '{folder}' cannot be merged: {detail}") from None
    return folder / MERGED
