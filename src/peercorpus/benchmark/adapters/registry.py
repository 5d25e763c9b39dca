"""Which adapters there are, by name and by the model that one is made for."""

from importlib import import_module
from pathlib import Path

from peercorpus.benchmark.adapters.adapter import Adapter
from peercorpus.errors import PeercorpusError

ADAPTERS = {
    "sea-e": "peercorpus.benchmark.adapters.sea:SeaE",
    "openreviewer": "peercorpus.benchmark.adapters.openreviewer:OpenReviewer",
    "deepreviewer": "peercorpus.benchmark.adapters.deepreviewer:DeepReviewer",
    "deepreviewer-fast": "peercorpus.benchmark.adapters.deepreviewer:FastDeepReviewer",
    "cyclereviewer": "peercorpus.benchmark.adapters.cyclereviewer:CycleReviewer",
}
"""Where each is defined. A model that is told our own prompts, tuned on them or not, has none."""


def load_adapter(name: str, wordings: Path | None = None) -> Adapter:
    """An adapter by its name.

    Args:
        name: Of `ADAPTERS`.
        wordings: Where the words stand that the model was trained with: a file or folder of its authors. None where
            nothing is asked, only read.

    Raises:
        PeercorpusError: There is none of this name, or the words are not there.
    """
    if name not in ADAPTERS:
        raise PeercorpusError(f"There is no adapter '{name}'; choose one of {', '.join(ADAPTERS)}.")
    module, _, defined = ADAPTERS[name].partition(":")
    loaded: Adapter = getattr(import_module(module), defined)(wordings)
    return loaded


def adapter_for(model: str) -> str | None:
    """The adapter for a model as `inspect_ai` names it; None where the model is told our own prompts.

    A model with a LoRA adapter on top (`base:adapter`) is another one than its base.

    >>> adapter_for("vllm/ecnu-sea/SEA-E"), adapter_for("hf/Qwen/Qwen2.5-7B-Instruct")
    ('sea-e', None)
    """
    said = f"/{model.casefold()}"
    return next(
        (name for name in ADAPTERS if any(said.endswith(f"/{one.casefold()}") for one in load_adapter(name).models)),
        None,
    )
