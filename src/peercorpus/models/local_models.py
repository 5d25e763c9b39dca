"""Locate models that run in this process, pin their versions for signatures, and run them on batches."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest, sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Generic, TypeVar

from peercorpus.errors import MissingExtraError, ModelError
from peercorpus.execution.executor import Executor, Failure

EXTRAS = {
    "nltk": "bench",
    "rapidfuzz": "bench",
    "rouge_score": "bench",
    "sacrebleu": "bench",
    "sentence_transformers": "models",
    "tokenizers": "models",
    "torch": "models",
    "transformers": "models",
}
"""Import name of a package → extra that installs it."""


def to_missing_extra(error: ModuleNotFoundError) -> MissingExtraError:
    """Return the error that names the extra of a missing package; re-raise if the package belongs to no extra."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        raise error
    return MissingExtraError(package.replace("_", "-"), EXTRAS[package])


def package_signature(*packages: str) -> str:
    """Return packages with their versions as in a metric's signature: `rouge-score:0.1.2|peercorpus:0.1.0`.

    Raises:
        MissingExtraError: A package is not installed.
    """
    try:
        return "|".join(f"{package}:{version(package)}" for package in packages)
    except PackageNotFoundError as error:
        package = str(error.name)
        extra = EXTRAS.get(package.replace("-", "_"))
        if extra is None:
            raise
        raise MissingExtraError(package, extra) from None


DIGITS = 12
"""Number of hexadecimal digits of a revision or digest in a signature."""
WEIGHT_PATTERNS = ("*.safetensors", "*.bin")


@contextmanager
def _silence_transformers() -> Iterator[None]:
    """Silence transformers' progress bars and its report of unused weights."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    has_bars = logging.is_progress_bar_enabled()
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
    """Turn errors while loading a model into errors of one sentence.

    Raises:
        MissingExtraError: A package that loads the model is not installed.
        ModelError: The model is neither in a folder nor on the Hub, or the Hub cannot be reached.
    """
    try:
        with _silence_transformers():
            yield
    except ModuleNotFoundError as error:
        raise to_missing_extra(error) from None
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ModelError(
            f"The model '{model}' cannot be loaded ({reason});"
            " give a folder that contains a model, or its name on the Hugging Face Hub."
        ) from error


def model_location(model: str) -> str:
    """Return the model as libraries load it: an existing folder, or a name on the Hub.

    Raises:
        ModelError: The name looks like a folder, but the folder does not exist.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return str(folder)
    if model.startswith((".", "/", "~")) or model.count("/") > 1:
        raise ModelError(f"There is no folder '{model}'; give a folder that contains a model, or a name on the Hub.")
    return model


def check_model_available(model: str) -> str:
    """Return the model's location as `model_location` does, after checking that the Hub has it.

    A single request shows that a model is unavailable, instead of one for each of its files.

    Raises:
        ModelError: The name looks like a folder, but the folder does not exist.
        OSError: The Hub does not have the model or cannot be reached.
    """
    location = model_location(model)
    if not Path(location).is_dir():
        from huggingface_hub import hf_hub_download

        hf_hub_download(location, "config.json")
    return location


def model_signature(model: str) -> str:
    """Return a model's name for signatures: `microsoft/deberta-large-mnli|revision:1a2b3c4d5e6f`.

    The revision of a folder is a digest of its weights; that of a name on the Hub is the commit in the local cache, or
    `unknown` until the model was loaded once.

    Raises:
        ModelError: The name looks like a folder, but the folder does not exist.
    """
    location = model_location(model)
    if Path(location).is_dir():
        return f"{Path(location).resolve().name}|revision:sha256-{_compute_digest(Path(location).resolve())}"
    return f"{location}|revision:{_find_cached_revision(location) or 'unknown'}"


@cache
def _compute_digest(folder: Path) -> str:
    """Return a digest of only a model's weights and settings, so that copies have the same digest."""
    digest = sha256()
    for pattern in ("config.json", "tokenizer.json", *WEIGHT_PATTERNS):
        for path in sorted(folder.glob(pattern)):
            with path.open("rb") as file:
                digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()[:DIGITS]


def _find_cached_revision(name: str) -> str | None:
    try:
        from huggingface_hub import try_to_load_from_cache
    except ModuleNotFoundError:
        return None
    path = try_to_load_from_cache(name, "config.json")
    return Path(path).parent.name[:DIGITS] if isinstance(path, str) else None


BATCH_TEXTS = 64
"""Texts per batch; their vectors and their references' are in memory: 0.7 GB for DeBERTa with four references."""
TIMEOUT_S = 3_600.0
"""Time limit for a batch in seconds, including loading the model; DeBERTa takes minutes on one core."""

Sample = tuple[str, Sequence[str]]
"""A text and its references."""
NumberT = TypeVar("NumberT")


@dataclass(frozen=True, slots=True)
class Measured(Generic[NumberT]):
    """The numbers that a model computed for a batch.

    Attributes:
        of_each: One number per text, in order.
        cut: Texts, including references, that the model truncated.
        model: The model, as `model_signature` names it.
    """

    of_each: tuple[NumberT, ...]
    cut: frozenset[str]
    model: str


def distinct_texts(samples: Sequence[Sample]) -> list[str]:
    """Return the distinct texts of samples, including references."""
    return list(dict.fromkeys(text for candidate, references in samples for text in (candidate, *references)))


def measure_samples(
    function: Callable[[Sequence[Sample]], Measured[NumberT]], samples: Sequence[Sample], spread: Executor | None
) -> tuple[tuple[NumberT, ...], float]:
    """Return the number of each sample, and the share of distinct texts that were truncated.

    Batches are the same wherever they are computed, because the other texts of a batch affect the last digits.

    Args:
        function: Computes the numbers of a batch.
        samples: All samples.
        spread: Executor for the batches; None computes them in this process.

    Raises:
        ModelError: A batch fails, or the model differs between machines.
    """
    batches = (samples[first : first + BATCH_TEXTS] for first in range(0, len(samples), BATCH_TEXTS))
    parts = [*map(function, batches)] if spread is None else [*_spread(function, batches, spread)]
    models = sorted({part.model for part in parts})
    if len(models) > 1:
        raise ModelError(
            f"The model differs between machines: {', '.join(models)}; install the same one on every machine."
        )
    cut = {text for part in parts for text in part.cut}
    return tuple(number for part in parts for number in part.of_each), len(cut) / len(distinct_texts(samples))


def _spread(
    function: Callable[[Sequence[Sample]], Measured[NumberT]], batches: Iterator[Sequence[Sample]], spread: Executor
) -> Iterator[Measured[NumberT]]:
    for _, measured in spread(function, batches, timeout_s=TIMEOUT_S, in_order=True):
        if isinstance(measured, Failure):
            raise ModelError(f"Some texts could not be measured: {measured.detail}")
        yield measured
