"""Find model weights in a folder, whole or as a LoRA adapter, and identify them by a digest."""

import hashlib
import json
import os
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from peercorpus.errors import MissingExtraError, ModelError
from peercorpus.workspace.object_store import file_digest

INSPECT_PREFIX = "hf/"
"""Prefix of inspect_ai's names of models that it loads with transformers."""
CONFIG, ADAPTER_CONFIG, TOKENIZER = "config.json", "adapter_config.json", "tokenizer_config.json"
ADAPTER = "adapter"
"""Folder of the adapter in the folder of a fine-tuning run."""
KINDS = frozenset({".safetensors", ".bin", ".json", ".jinja", ".model", ".txt"})
"""Suffixes of the files of a model, its tokenizer and its chat template."""
TELLS_NOTHING = frozenset({ADAPTER, "merged", "checkpoints"})
"""Folder names that many models share, so that the name of a model includes the folder above."""
SHOWN_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Weights:
    """A model in a folder.

    Attributes:
        folder: The folder as the user named it; for a fine-tuning run, the folder of its adapter.
        digest: SHA-256 over all files of the model; for an adapter, also over those of its base, or its base's name.
        base: Base model of an adapter: another folder, or a name on the Hugging Face Hub; None for a whole model.
    """

    folder: Path
    digest: str
    base: "Weights | str | None" = None

    @property
    def name(self) -> str:
        """Return a name for tables and logs: the end of the path and the beginning of the digest."""
        parts = Path(os.path.abspath(self.folder)).parts  # noqa: PTH100 -- a link keeps its name
        first = len(parts) - 1
        while first > 1 and (parts[first] in TELLS_NOTHING or parts[first].startswith("checkpoint-")):
            first -= 1
        return f"{'/'.join(parts[first:])}@{self.digest[:SHOWN_DIGITS]}"

    @property
    def whole(self) -> str:
        """Return the location of the whole model; for an adapter, of its base."""
        if self.base is None:
            return str(self.folder)
        return self.base if isinstance(self.base, str) else self.base.whole

    @property
    def tokenizer(self) -> str:
        """Return the location of the tokenizer; for an adapter without its own, that of its base."""
        return self.whole if self.base is not None and not (self.folder / TOKENIZER).exists() else str(self.folder)


def is_loaded_here(named: str) -> bool:
    """Return whether a model of this name is loaded in this process instead of being called at a service."""
    return named.startswith(INSPECT_PREFIX) or Path(named).is_dir()


def find_weights(named: str) -> Weights | None:
    """Return the model in a folder; None if there is no such folder, so that the name belongs to a service.

    Args:
        named: Folder of a model, an adapter or a fine-tuning run, with or without the prefix `hf/`.

    Raises:
        ModelError: The folder has no model, or the base of the adapter is missing.
        MissingExtraError: The folder has an adapter, and peft is not installed.
    """
    folder = Path(named.removeprefix(INSPECT_PREFIX))
    return read_weights(folder) if folder.is_dir() else None


def read_weights(folder: Path) -> Weights:
    """Return the model in a folder; raises the errors of `find_weights`."""
    if (folder / ADAPTER_CONFIG).is_file():
        base = _find_base(folder)
        return Weights(folder, _compute_digest(folder, base if isinstance(base, str) else base.digest), base)
    if (folder / CONFIG).is_file():
        return Weights(folder, _compute_digest(folder))
    if (folder / ADAPTER / ADAPTER_CONFIG).is_file():
        return read_weights(folder / ADAPTER)
    raise ModelError(
        f"'{folder}' contains neither {CONFIG} nor {ADAPTER_CONFIG}: name the folder of a model, of an adapter, or of"
        " a finished run of 'peercorpus finetune'."
    )


def _find_base(folder: Path) -> Weights | str:
    if find_spec("peft") is None:
        raise MissingExtraError("peft", "models")
    path = folder / ADAPTER_CONFIG
    try:
        named = json.loads(path.read_text("utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        named = None
    if not isinstance(named, str) or not named:
        raise ModelError(f"'{path}' does not name the base model of the adapter; save the adapter again.")
    if Path(named).is_dir():
        return read_weights(Path(named))
    if Path(named).is_absolute() or named.startswith(".") or named.count("/") > 1:
        raise ModelError(
            f"The base model '{named}' of the adapter '{folder}' does not exist: restore it, or correct"
            f" 'base_model_name_or_path' in '{path}'."
        )
    return named


def _compute_digest(folder: Path, base: str = "") -> str:
    digest = hashlib.sha256(base.encode())
    for path in sorted(folder.iterdir()):
        if path.suffix in KINDS and path.is_file():
            status = path.stat()
            digest.update(f"\0{path.name}\0{_digest_file(path, status.st_size, status.st_mtime_ns)}".encode())
    return digest.hexdigest()


@lru_cache(256)
def _digest_file(path: Path, _size: int, _changed: int) -> str:
    """Return a file's digest, cached by size and time, so that a 16 GB base is read once for itself and its adapter."""
    return file_digest(path)
