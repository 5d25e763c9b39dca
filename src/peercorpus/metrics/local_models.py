"""Models that run here: from a folder or by their name on the Hugging Face Hub, and which revision of them it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path

from peercorpus.errors import ModelError
from peercorpus.metrics.packages import missing

DIGITS = 12
"""Hexadecimal digits of a revision or digest that a signature shows."""
WEIGHTS = ("*.safetensors", "*.bin")


@contextmanager
def _quiet() -> Iterator[None]:
    """Without transformers' bars, and without its report of the weights that are not needed."""
    from transformers.utils import logging

    level, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_bars:
            logging.enable_progress_bar()


@contextmanager
def loading(model: str) -> Iterator[None]:
    """Say in one sentence why a model cannot be loaded.

    Raises:
        MissingExtraError: A package that loads it is not installed.
        ModelError: It is neither a folder with a model nor a name on the Hub, or the Hub cannot be reached.
    """
    try:
        with _quiet():
            yield
    except ModuleNotFoundError as error:
        raise missing(error) from None
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ModelError(
            f"The model '{model}' cannot be loaded ({reason});"
            " give a folder that holds one, or its name on the Hugging Face Hub."
        ) from error


def place_of(model: str) -> str:
    """The model as it is loaded: a name of the Hub, or a folder that exists.

    Raises:
        ModelError: It is written as a folder, and is none.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return str(folder)
    if model.startswith((".", "/", "~")) or model.count("/") > 1:
        raise ModelError(f"There is no folder '{model}'; give a folder that holds a model, or a name on the Hub.")
    return model


def fetched(model: str) -> str:
    """As `place_of`, once the Hub was asked for it: not for each of its files, where it cannot be had.

    Raises:
        ModelError: It is written as a folder, and is none.
        OSError: The Hub has no such model, or cannot be reached.
    """
    place = place_of(model)
    if not Path(place).is_dir():
        from huggingface_hub import hf_hub_download

        hf_hub_download(place, "config.json")
    return place


def signed(model: str) -> str:
    """A model as signatures name it: `microsoft/deberta-large-mnli|revision:1a2b3c4d5e6f`.

    A folder is named by its last part and by a digest of its weights; a name of the Hub by the commit in the local
    cache, and by `unknown` until it was loaded once.

    Raises:
        ModelError: It is written as a folder, and is none.
    """
    place = place_of(model)
    if Path(place).is_dir():
        return f"{Path(place).resolve().name}|revision:sha256-{_digest(Path(place).resolve())}"
    return f"{place}|revision:{_cached_revision(place) or 'unknown'}"


@cache
def _digest(folder: Path) -> str:
    """Of the weights and settings of a model; of nothing else, so that a copy has the same."""
    whole = sha256()
    for pattern in ("config.json", "tokenizer.json", *WEIGHTS):
        for path in sorted(folder.glob(pattern)):
            with path.open("rb") as file:
                whole.update(file_digest(file, "sha256").digest())
    return whole.hexdigest()[:DIGITS]


def _cached_revision(name: str) -> str | None:
    try:
        from huggingface_hub import try_to_load_from_cache
    except ModuleNotFoundError:
        return None
    path = try_to_load_from_cache(name, "config.json")
    return Path(path).parent.name[:DIGITS] if isinstance(path, str) else None
