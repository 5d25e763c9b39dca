"""BERTScore: how well the words of a text find their like among those of a reference, by a model's vectors.

Source: Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT. The numbers are those of the package
bert-score 0.3.13 without idf weights and without rescaling, one pair at a time: in a batch it lets a word that is
unlike every other match the padding. That package no longer runs with DeBERTa and transformers 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from peercorpus.metrics.batches import Measured, Sample, measure, texts_of
from peercorpus.metrics.definition import Metric, Takes
from peercorpus.metrics.local_models import signed
from peercorpus.metrics.samples import with_references
from peercorpus.metrics.token_vectors import TokenVectors, token_encoder
from peercorpus.spread import Spread

MODEL = "microsoft/deberta-large-mnli"
LAYERS = 12
"""What Re² used of it; bert-score itself would take 18."""


@dataclass(frozen=True, slots=True)
class BertScore:
    """Each in [-1, 1], in practice above 0; 0 where either text is empty. Each is the best over the references.

    Attributes:
        precision: How near the words of the candidate are to their nearest in a reference, on average.
        recall: How near the words of a reference are to their nearest in the candidate.
        f1: The best harmonic mean of both with one reference, so not of the two numbers above.
    """

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class BertScores:
    """The numbers of several texts.

    Attributes:
        of_each: In the order of the candidates.
        cut_share: The share of different texts, references included, of which the model took the beginning alone.
    """

    of_each: tuple[BertScore, ...]
    cut_share: float


def bert_score(candidate: str, references: Sequence[str], *, model: str = MODEL, layers: int = LAYERS) -> BertScore:
    """BERTScore of one text; of many `bert_scores` is faster, and says how many were cut.

    Raises:
        UndefinedMetricError: There is no reference.
        MissingExtraError: PyTorch or transformers is not installed.
        ModelError: The model cannot be loaded.
    """
    return bert_scores([candidate], [references], model=model, layers=layers).of_each[0]


def bert_scores(
    candidates: Sequence[str],
    references_of_each: Sequence[Sequence[str]],
    *,
    model: str = MODEL,
    layers: int = LAYERS,
    spread: Spread | None = None,
) -> BertScores:
    """BERTScore of each text, against each of its own references.

    Args:
        candidates: The texts to measure; each may be empty.
        references_of_each: The references of each, in the same order; at least one for each.
        model: A folder that holds a model of transformers, or its name on the Hugging Face Hub.
        layers: How many layers of it are used; the vectors are those of the last of them.
        spread: Over which processes, each of which loads the model once; None measures here. Torch uses all cores of
            one machine itself, so that this pays on several machines or GPUs; see `executors.ray.RayExecutor`.

    Raises:
        UndefinedMetricError: There is no text, or a text has no reference.
        MissingExtraError: PyTorch or transformers is not installed.
        ModelError: The model cannot be loaded, or is not the same on every machine.
    """
    samples = with_references("BERTScore", candidates, references_of_each)
    return BertScores(*measure(partial(_measure, model, layers), samples, spread))


def _measure(model: str, layers: int, samples: Sequence[Sample]) -> Measured[BertScore]:
    texts = texts_of(samples)
    vectors = dict(zip(texts, token_encoder(model, layers).encode(texts), strict=True))
    cut = frozenset(text for text, each in vectors.items() if each.is_cut)
    return Measured(tuple(_best(vectors, *sample) for sample in samples), cut, signed(model))


def _best(vectors: dict[str, TokenVectors], candidate: str, references: Sequence[str]) -> BertScore:
    found = [_match(vectors[candidate], vectors[reference]) for reference in references]
    return BertScore(*map(max, zip(*found, strict=True)))


def _match(candidate: TokenVectors, reference: TokenVectors) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean; a word may find its like in a marker too, as with bert-score."""
    of_candidate, of_reference = float(candidate.weights.sum()), float(reference.weights.sum())
    if not of_candidate or not of_reference:
        return 0.0, 0.0, 0.0
    likeness = candidate.vectors @ reference.vectors.T
    precision = float(likeness.amax(dim=1) @ candidate.weights) / of_candidate
    recall = float(likeness.amax(dim=0) @ reference.weights) / of_reference
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


Part = Literal["precision", "recall", "f1"]


def definition_of(part: Part, model: str = MODEL, layers: int = LAYERS) -> Metric:
    """The definition of one of the three numbers, with a model of one's own."""

    def number(candidate: str, references: Sequence[str]) -> float:
        return float(getattr(bert_score(candidate, references, model=model, layers=layers), part))

    return Metric(
        f"bert_{part}",
        number,
        Takes.TEXT,
        f"BERTScore|{part}|idf:no|rescaled:no|refs:max|layer:{layers}",
        ("torch", "transformers"),
        low=-1.0,
        extra="neural",
        model=model,
    )


BERT_PRECISION, BERT_RECALL, BERT_F1 = definition_of("precision"), definition_of("recall"), definition_of("f1")
