"""EmbedCos: the cosine of a text and its references, each as one vector of a sentence model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from peercorpus.metrics.batches import Measured, Sample, measure, texts_of
from peercorpus.metrics.definition import Metric, Takes
from peercorpus.metrics.local_models import fetched, loading, signed
from peercorpus.metrics.samples import with_references
from peercorpus.spread import Spread

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

MODEL = "sentence-transformers/all-mpnet-base-v2"
LOADED = 2
"""Models held in memory at a time."""


@dataclass(frozen=True, slots=True)
class EmbedCosines:
    """The numbers of several texts.

    Attributes:
        of_each: In [-1, 1], the best over the references, in the order of the candidates.
        cut_share: The share of different texts, references included, of which the model took the beginning alone.
    """

    of_each: tuple[float, ...]
    cut_share: float


def embed_cos(candidate: str, references: Sequence[str], *, model: str = MODEL) -> float:
    """The cosine of one text with the reference that is nearest, in [-1, 1]; of many texts `embed_cosines` is faster.

    An empty text has a vector too, and so a cosine, as sentence-transformers says.

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
    spread: Spread | None = None,
) -> EmbedCosines:
    """The cosine of each text with the nearest of its own references.

    Args:
        candidates: The texts to measure.
        references_of_each: The references of each, in the same order; at least one for each.
        model: A folder that holds a model of sentence-transformers, or its name on the Hugging Face Hub.
        spread: Over which processes, each of which loads the model once; None measures here. Torch uses all cores of
            one machine itself, so that this pays on several machines or GPUs; see `executors.ray.RayExecutor`.

    Raises:
        UndefinedMetricError: There is no text, or a text has no reference.
        MissingExtraError: sentence-transformers is not installed.
        ModelError: The model cannot be loaded, or is not the same on every machine.
    """
    samples = with_references("EmbedCos", candidates, references_of_each)
    return EmbedCosines(*measure(partial(_measure, model), samples, spread))


def _measure(model: str, samples: Sequence[Sample]) -> Measured[float]:
    network, texts = _sentence_model(model), texts_of(samples)
    rows = network.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    vectors = dict(zip(texts, rows, strict=True))
    of_each = tuple(
        max(float(vectors[candidate] @ vectors[reference]) for reference in references)
        for candidate, references in samples
    )
    lengths = map(len, network.tokenizer(texts, truncation=False, verbose=False)["input_ids"])
    cut = frozenset(text for text, length in zip(texts, lengths, strict=True) if length > network.max_seq_length)
    return Measured(of_each, cut, signed(model))


@lru_cache(maxsize=LOADED)
def _sentence_model(model: str) -> "SentenceTransformer":
    with loading(model):
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(fetched(model))


def definition_of(model: str = MODEL) -> Metric:
    """The definition, with a model of one's own."""

    def number(candidate: str, references: Sequence[str]) -> float:
        return embed_cos(candidate, references, model=model)

    return Metric(
        "embed_cos",
        number,
        Takes.TEXT,
        "EmbedCos|refs:max",
        ("sentence-transformers", "torch", "transformers"),
        low=-1.0,
        extra="neural",
        model=model,
    )


EMBED_COS = definition_of()
