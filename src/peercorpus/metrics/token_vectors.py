"""The vectors a transformer gives to the tokens of texts, each of length one, with the weight of each token."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from peercorpus.errors import ModelError
from peercorpus.metrics.local_models import fetched, loading

WINDOW = 512
"""Tokens taken of a text where a tokenizer names no limit: what DeBERTa was trained with; its tokenizer says 1e30."""
BATCH = 32
LOADED = 2
"""Models held in memory at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """A text as its tokens, markers at both ends included.

    Attributes:
        vectors: Of each token, tokens by width, of length one.
        weights: 0 for a marker of beginning or end, 1 for any other token.
        is_cut: Whether the text is longer than the model takes.
    """

    vectors: Any
    weights: Any
    is_cut: bool


class TokenEncoder:
    """The first layers of a model, as bert-score uses them.

    Attributes:
        window: Tokens that it takes of a text, markers included.
    """

    def __init__(self, model: str, layers: int) -> None:
        """Load it, on the GPU if there is one.

        Raises:
            MissingExtraError: PyTorch or transformers is not installed.
            ModelError: It cannot be loaded, or has fewer layers.
        """
        with loading(model):
            import torch
            import transformers

            place = fetched(model)
            config = transformers.AutoConfig.from_pretrained(place)
            if not 0 <= layers <= config.num_hidden_layers:
                raise ModelError(
                    f"'{model}' has {config.num_hidden_layers} layers; choose as many or fewer, not {layers}."
                )
            config.num_hidden_layers = layers
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(place)
            network, told = transformers.AutoModel.from_pretrained(place, config=config, output_loading_info=True)
            if lacking := sorted(key for key in told["missing_keys"] if not key.startswith("pooler.")):
                raise ModelError(f"The folder or name '{model}' holds no weights for {lacking[0]}; give a whole model.")
            self._network = network.eval()
        self._torch = torch
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._network.to(self._device)
        said = self._tokenizer.model_max_length
        self.window = said if said < 2**31 else WINDOW

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The vectors of each text, in their order; white space around a text is left out, as bert-score does."""
        ids, cut = self._tokens(texts)
        found: list[TokenVectors | None] = [None] * len(texts)
        # By length, so that a batch pads little.
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        for first in range(0, len(order), BATCH):
            places = order[first : first + BATCH]
            for place, (vectors, weights) in zip(places, self._batch([ids[place] for place in places]), strict=True):
                found[place] = TokenVectors(vectors, weights, cut[place])
        return [each for each in found if each is not None]

    def _tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], list[bool]]:
        """The tokens of each text as numbers, cut to the window, and whether they were cut."""
        told = self._tokenizer(
            [text.strip() for text in texts], truncation=True, max_length=self.window, return_overflowing_tokens=True
        )
        pieces: list[list[list[int]]] = [[] for _ in texts]
        for place, ids in zip(told["overflow_to_sample_mapping"], told["input_ids"], strict=True):
            pieces[place].append(ids)
        return [each[0] for each in pieces], [len(each) > 1 for each in pieces]

    def _batch(self, ids: Sequence[list[int]]) -> Iterator[tuple[Any, Any]]:
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
    """A model, loaded once.

    Raises:
        MissingExtraError: PyTorch or transformers is not installed.
        ModelError: It cannot be loaded, or has fewer layers.
    """
    return TokenEncoder(model, layers)
