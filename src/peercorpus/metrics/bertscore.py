"""BERTScore: similarity of texts by the contextual vectors of their tokens.

Source: Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT. The numbers are those of the package
bert-score 0.3.13 without idf weights and without rescaling, one pair at a time: in a batch, it lets a word that is
unlike every other word match the padding. That package no longer runs with DeBERTa and transformers 5.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal

from peercorpus.errors import ModelError
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

WINDOW = 512
"""Window in tokens if the tokenizer states none: DeBERTa was trained with 512, but its tokenizer says 1e30."""
BATCH = 32
"""Texts per batch."""
LOADED = 2
"""Maximum number of models held in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The token vectors of a text, including the markers at both ends.

    Attributes:
        vectors: Unit vectors, one row per token.
        weights: 0 for a marker, 1 for any other token.
        is_cut: Whether the text exceeds the model's window.
    """

    vectors: Any
    weights: Any
    is_cut: bool


class TokenEncoder:
    """The first layers of a model, used as bert-score does.

    Attributes:
        window: Maximum tokens of a text, including markers.
    """

    def __init__(self, model: str, layers: int) -> None:
        """Load the model, on the GPU if there is one.

        Raises:
            MissingExtraError: PyTorch or transformers is not installed.
            ModelError: The model cannot be loaded, or has fewer layers.
        """
        with loading(model):
            import torch
            import transformers

            path = check_model_available(model)
            config = transformers.AutoConfig.from_pretrained(path)
            if not 0 <= layers <= config.num_hidden_layers:
                raise ModelError(
                    f"'{model}' has {config.num_hidden_layers} layers, so 'layers' cannot be {layers}; choose fewer."
                )
            config.num_hidden_layers = layers
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(path)
            network, loading_info = transformers.AutoModel.from_pretrained(
                path, config=config, output_loading_info=True
            )
            if lacking := sorted(key for key in loading_info["missing_keys"] if not key.startswith("pooler.")):
                raise ModelError(f"The model '{model}' has no weights for {lacking[0]}; give a complete model.")
            self._network = network.eval()
        self._torch = torch
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._network.to(self._device)
        stated_window = self._tokenizer.model_max_length
        self.window = stated_window if stated_window < 2**31 else WINDOW

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the vectors of each text, in order; surrounding white space is ignored, as in bert-score."""
        ids, cut = self._tokenize(texts)
        vectors_by_index: list[TokenVectors | None] = [None] * len(texts)
        # Sorted by length, so that batches need little padding.
        order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
        for first in range(0, len(order), BATCH):
            indices = order[first : first + BATCH]
            for index, (vectors, weights) in zip(
                indices, self._encode_batch([ids[index] for index in indices]), strict=True
            ):
                vectors_by_index[index] = TokenVectors(vectors, weights, cut[index])
        return [each for each in vectors_by_index if each is not None]

    def _tokenize(self, texts: Sequence[str]) -> tuple[list[list[int]], list[bool]]:
        """Return the token ids of each text, cut to the window, and whether they were cut."""
        encoding = self._tokenizer(
            [text.strip() for text in texts], truncation=True, max_length=self.window, return_overflowing_tokens=True
        )
        pieces: list[list[list[int]]] = [[] for _ in texts]
        for index, ids in zip(encoding["overflow_to_sample_mapping"], encoding["input_ids"], strict=True):
            pieces[index].append(ids)
        return [each[0] for each in pieces], [len(each) > 1 for each in pieces]

    def _encode_batch(self, ids: Sequence[list[int]]) -> Iterator[tuple[Any, Any]]:
        torch = self._torch
        pad = torch.nn.utils.rnn.pad_sequence
        rows = [torch.tensor(each, device=self._device) for each in ids]
        padded = pad(rows, batch_first=True, padding_value=self._tokenizer.pad_token_id or 0)
        mask = pad([torch.ones_like(row) for row in rows], batch_first=True)
        with torch.inference_mode():
            vectors = self._network(padded, attention_mask=mask)[0]
            vectors = vectors / vectors.norm(dim=-1, keepdim=True)
            for row, each in zip(rows, vectors, strict=True):
                is_marker = (row == self._tokenizer.sep_token_id) | (row == self._tokenizer.cls_token_id)
                yield each[: len(row)], (~is_marker).to(each.dtype)


@lru_cache(maxsize=LOADED)
def token_encoder(model: str, layers: int) -> TokenEncoder:
    """Return the encoder of a model, which is loaded only once.

    Raises:
        MissingExtraError: PyTorch or transformers is not installed.
        ModelError: The model cannot be loaded, or has fewer layers.
    """
    return TokenEncoder(model, layers)


MODEL = "microsoft/deberta-large-mnli"
"""The model that Re² used."""
LAYERS = 12
"""The layer that Re² used; bert-score's default for this model is 18."""


@dataclass(frozen=True, slots=True)
class BertScore:
    """Scores in [-1, 1], in practice above 0; 0 if either text is empty. The best over the references.

    Attributes:
        precision: Mean similarity of the candidate's tokens to their nearest in a reference.
        recall: Mean similarity of a reference's tokens to their nearest in the candidate.
        f1: The best harmonic mean with a single reference, so not the harmonic mean of the two numbers above.
    """

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class BertScores:
    """BERTScore of several texts.

    Attributes:
        of_each: In the order of the candidates.
        cut_share: Share of distinct texts, including references, that exceed the model's window and were cut.
    """

    of_each: tuple[BertScore, ...]
    cut_share: float


def bert_score(candidate: str, references: Sequence[str], *, model: str = MODEL, layers: int = LAYERS) -> BertScore:
    """Return the BERTScore of one text; for many texts, `bert_scores` is faster and reports how many were cut.

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
    spread: Executor | None = None,
) -> BertScores:
    """Return the BERTScore of each text against its own references.

    Args:
        candidates: The texts to measure; they may be empty.
        references_of_each: The references of each, in the same order; at least one for each.
        model: A folder with a transformers model, or its name on the Hugging Face Hub.
        layers: Number of layers to use; the vectors are those of the last of them.
        spread: Executor whose processes each load the model once; None computes in this process. Torch already uses all
            cores of a machine, so this pays on several machines or GPUs only; see `execution.ray_cluster.RayExecutor`.

    Raises:
        UndefinedMetricError: There is no text, or a text has no reference.
        MissingExtraError: PyTorch or transformers is not installed.
        ModelError: The model cannot be loaded, or differs between machines.
    """
    samples = with_references("BERTScore", candidates, references_of_each)
    return BertScores(*measure_samples(partial(_measure, model, layers), samples, spread))


def _measure(model: str, layers: int, samples: Sequence[Sample]) -> Measured[BertScore]:
    texts = distinct_texts(samples)
    vectors = dict(zip(texts, token_encoder(model, layers).encode(texts), strict=True))
    cut = frozenset(text for text, each in vectors.items() if each.is_cut)
    scores = []
    for candidate, references in samples:
        matches = [_match(vectors[candidate], vectors[reference]) for reference in references]
        scores.append(BertScore(*map(max, zip(*matches, strict=True))))
    return Measured(tuple(scores), cut, model_signature(model))


def _match(candidate: TokenVectors, reference: TokenVectors) -> tuple[float, float, float]:
    """Return precision, recall and their harmonic mean; a token may match a marker too, as in bert-score."""
    of_candidate = float(candidate.weights.sum())
    of_reference = float(reference.weights.sum())
    if not of_candidate or not of_reference:
        return 0.0, 0.0, 0.0
    likeness = candidate.vectors @ reference.vectors.T
    precision = float(likeness.amax(dim=1) @ candidate.weights) / of_candidate
    recall = float(likeness.amax(dim=0) @ reference.weights) / of_reference
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


Part = Literal["precision", "recall", "f1"]


def bert_metric(part: Part, model: str = MODEL, layers: int = LAYERS) -> Metric:
    """Return the metric for one of the three numbers, with a given model."""

    def number(candidate: str, references: Sequence[str]) -> float:
        return float(getattr(bert_score(candidate, references, model=model, layers=layers), part))

    return Metric(
        name=f"bert_{part}",
        function=number,
        takes=Takes.TEXT,
        settings=f"BERTScore|{part}|idf:no|rescaled:no|refs:max|layer:{layers}",
        packages=("torch", "transformers"),
        low=-1.0,
        extra="models",
        model=model,
    )


BERT_PRECISION = bert_metric("precision")
BERT_RECALL = bert_metric("recall")
BERT_F1 = bert_metric("f1")
