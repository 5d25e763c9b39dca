"""Cosine similarity of sentence embeddings (EmbedCos)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from peercorpus.execution.executor import Executor
from peercorpus.metrics.metric import Metric, Takes, with_references
from peercorpus.models.local_models import (
    Measured,
    Sample,
    check_model_available,
    distinct_texts,
    loading,
    measure_samples,
    model_signature,
)

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

MODEL = "sentence-transformers/all-mpnet-base-v2"
"""The model that Re² used."""
LOADED = 2
"""Maximum number of models held in memory."""


@dataclass(frozen=True, slots=True)
class EmbedCosines:
    """Cosine similarities of several texts.

    Attributes:
        of_each: In [-1, 1], the best over the references, in the order of the candidates.
        cut_share: Share of distinct texts, including references, that exceed the model's window and were cut.
    """

    of_each: tuple[float, ...]
    cut_share: float


def embed_cos(candidate: str, references: Sequence[str], *, model: str = MODEL) -> float:
    """Return the cosine of a text with its nearest reference, in [-1, 1]; for many texts, `embed_cosines` is faster.

    An empty text has an embedding too, and therefore a cosine, as in sentence-transformers.

    Raises:
        UndefinedMetricError: There is no reference.
        MissingExtraError: sentence-transformers is not installed.
        ModelError: The model cannot be loaded.
    """
    return embed_cosines([candidate], [references], model=model).of_each[0]


def embed_cosines(
    candidates: Sequence[str],
    references_of_each: Sequence[Sequence[str]],
    *,
    model: str = MODEL,
    spread: Executor | None = None,
) -> EmbedCosines:
    """Return the cosine of each text with the nearest of its references.

    Args:
        candidates: The texts to measure.
        references_of_each: The references of each, in the same order; at least one for each.
        model: A folder with a sentence-transformers model, or its name on the Hugging Face Hub.
        spread: Executor whose processes each load the model once; None computes in this process. Torch already uses all
            cores of a machine, so this pays on several machines or GPUs only; see `execution.ray_cluster.RayExecutor`.

    Raises:
        UndefinedMetricError: There is no text, or a text has no reference.
        MissingExtraError: sentence-transformers is not installed.
        ModelError: The model cannot be loaded, or differs between machines.
    """
    samples = with_references("EmbedCos", candidates, references_of_each)
    return EmbedCosines(*measure_samples(partial(_measure, model), samples, spread))


def _measure(model: str, samples: Sequence[Sample]) -> Measured[float]:
    network = _load_sentence_model(model)
    texts = distinct_texts(samples)
    rows = network.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    vectors = dict(zip(texts, rows, strict=True))
    of_each = tuple(
        max(float(vectors[candidate] @ vectors[reference]) for reference in references)
        for candidate, references in samples
    )
    lengths = map(len, network.tokenizer(texts, truncation=False, verbose=False)["input_ids"])
    cut = frozenset(text for text, length in zip(texts, lengths, strict=True) if length > network.max_seq_length)
    return Measured(of_each, cut, model_signature(model))


@lru_cache(maxsize=LOADED)
def _load_sentence_model(model: str) -> "SentenceTransformer":
    with loading(model):
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(check_model_available(model))


def embedding_metric(model: str = MODEL) -> Metric:
    """Return the metric for a given model."""

    def number(candidate: str, references: Sequence[str]) -> float:
        return embed_cos(candidate, references, model=model)

    return Metric(
        name="embed_cos",
        function=number,
        takes=Takes.TEXT,
        settings="EmbedCos|refs:max",
        packages=("sentence-transformers", "torch", "transformers"),
        low=-1.0,
        extra="models",
        model=model,
    )


EMBED_COS = embedding_metric()
