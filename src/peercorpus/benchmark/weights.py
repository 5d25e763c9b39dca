"""A language model in a folder: a whole one, or a LoRA adapter on top of its base. It is known by its bytes."""

import hashlib
import json
import os
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from peercorpus.errors import MissingExtraError, ModelError
from peercorpus.publish.release import digest_of

PROVIDER = "hf/"
"""What inspect_ai's name of a model that it loads with transformers begins with."""
CONFIG, ADAPTER_CONFIG, TOKENIZER = "config.json", "adapter_config.json", "tokenizer_config.json"
ADAPTER = "adapter"
"""Where a run of fine-tuning has its adapter."""
KINDS = frozenset({".safetensors", ".bin", ".json", ".jinja", ".model", ".txt"})
"""Files that a model, its tokenizer and its chat template are made of."""
TELLS_NOTHING = frozenset({ADAPTER, "merged", "checkpoints"})
"""Names of folders that many models share."""
SHOWN_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Weights:
    """A model in a folder.

    Attributes:
        folder: As it was named; of a run of fine-tuning, that of its adapter.
        digest: A sha256 over all files of the model; of an adapter, over those of its base too, or its base's name.
        base: What an adapter is on top of: another folder, or a name on the Hugging Face Hub; None for a whole model.
    """

    folder: Path
    digest: str
    base: "Weights | str | None" = None

    @property
    def name(self) -> str:
        """For tables and logs: the end of the path and the beginning of the digest; other weights, another name."""
        parts = Path(os.path.abspath(self.folder)).parts  # noqa: PTH100 -- a link keeps its name
        first = len(parts) - 1
        while first > 1 and (parts[first] in TELLS_NOTHING or parts[first].startswith("checkpoint-")):
            first -= 1
        return f"{'/'.join(parts[first:])}@{self.digest[:SHOWN_DIGITS]}"

    @property
    def whole(self) -> str:
        """Where the whole model is: of an adapter, its base."""
        if self.base is None:
            return str(self.folder)
        return self.base if isinstance(self.base, str) else self.base.whole

    @property
    def tokenizer(self) -> str:
        """Where the tokenizer is: of an adapter that has none of its own, its base's."""
        return self.whole if self.base is not None and not (self.folder / TOKENIZER).exists() else str(self.folder)


def find_weights(named: str) -> Weights | None:
    """The model in a folder; None where there is no such folder, so that it is one of a service.

    Args:
        named: The folder of a model, an adapter or a run of fine-tuning, with or without `hf/` before it.

    Raises:
        ModelError: The folder holds no model, or the base of the adapter is not there.
        MissingExtraError: It is an adapter, and peft is not installed.
    """
    folder = Path(named.removeprefix(PROVIDER))
    return read_weights(folder) if folder.is_dir() else None


def read_weights(folder: Path) -> Weights:
    """The model in a folder; errors are those of `find_weights`."""
    if (folder / ADAPTER_CONFIG).is_file():
        base = _base(folder)
        return Weights(folder, _digest(folder, base if isinstance(base, str) else base.digest), base)
    if (folder / CONFIG).is_file():
        return Weights(folder, _digest(folder))
    if (folder / ADAPTER / ADAPTER_CONFIG).is_file():
        return read_weights(folder / ADAPTER)
    raise ModelError(
        f"'{folder}' holds neither {CONFIG} nor {ADAPTER_CONFIG}: name the folder of a model, of an adapter, or of a"
        " run of 'peercorpus finetune' that is done."
    )


def _base(folder: Path) -> Weights | str:
    if find_spec("peft") is None:
        raise MissingExtraError("peft", "finetune")
    path = folder / ADAPTER_CONFIG
    try:
        named = json.loads(path.read_text("utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        named = None
    if not isinstance(named, str) or not named:
        raise ModelError(f"'{path}' does not say which model the adapter is of; save the adapter again.")
    if Path(named).is_dir():
        return read_weights(Path(named))
    if Path(named).is_absolute() or named.startswith(".") or named.count("/") > 1:
        raise ModelError(
            f"The model '{named}', which the adapter '{folder}' is of, is not there: put it back, or correct"
            f" 'base_model_name_or_path' in '{path}'."
        )
    return named


def _digest(folder: Path, base: str = "") -> str:
    found = hashlib.sha256(base.encode())
    for path in sorted(folder.iterdir()):
        if path.suffix in KINDS and path.is_file():
            known = path.stat()
            found.update(f"\0{path.name}\0{_digest_of(path, known.st_size, known.st_mtime_ns)}".encode())
    return found.hexdigest()


@lru_cache(256)
def _digest_of(path: Path, _size: int, _changed: int) -> str:
    """The same for as long as the file is the same: a base of 16 GB is read once for itself and its adapter."""
    return digest_of(path)
