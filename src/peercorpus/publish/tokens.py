"""How many tokens a text has, by a tokenizer of the user's choice (Hugging Face's `tokenizers`, the extra 'tokens')."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from peercorpus.errors import ModelError, PeercorpusError

WORD_OR_SIGN = r"\w+|[^\w\s]"
"""A token where no tokenizer is named: a run of letters, digits and underscores, or one other sign."""

AT_ONCE = 64
"""Texts whose tokens are in memory at a time: of papers some 100 MB."""


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """What counts the tokens of texts, without the marks that a chat template adds.

    Attributes:
        name: A file, a folder or a model on the Hugging Face Hub.
        digest: Of the tokenizer itself: two of one digest count alike.
        encode: Some texts → what has as many items as each has tokens; on all cores where there are several.
    """

    name: str
    digest: str
    encode: Callable[[Sequence[str]], Sequence[Any]]

    def count(self, text: str) -> int:
        """The tokens of a text; by this process's one core."""
        return len(self.encode([text])[0])

    def count_each(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each of some texts; on all cores."""
        queue = iter(texts)
        batches = iter(lambda: list(islice(queue, AT_ONCE)), [])
        return [len(tokens) for tokens in chain.from_iterable(map(self.encode, batches))]


def load_tokenizer(name: str) -> Tokenizer:
    """What counts tokens.

    Args:
        name: A file `tokenizer.json`, a folder that holds one, or a model on the Hugging Face Hub.

    Raises:
        PeercorpusError: The package is missing.
        ModelError: There is no such tokenizer.
    """
    try:
        import tokenizers
    except ModuleNotFoundError:
        raise PeercorpusError("To count tokens, install the extra: pip install 'peercorpus[tokens]'.") from None
    path = Path(name)
    path = path / "tokenizer.json" if path.is_dir() else path
    kind = tokenizers.Tokenizer
    try:
        loaded = kind.from_file(str(path)) if path.exists() else kind.from_pretrained(name)
    except Exception as error:  # noqa: BLE001 -- its errors have no type of their own
        detail = str(error).partition("\n")[0]
        raise ModelError(f"No tokenizer '{name}' is here or on the Hugging Face Hub: {detail}") from None
    # Many files say that texts are to be cut, or filled up to one length: then every text would have that many tokens.
    loaded.no_truncation()
    loaded.no_padding()

    def encode(texts: Sequence[str]) -> Sequence[Any]:
        # Without places in the text, of which nothing is asked, it takes a third less time.
        found: Sequence[Any] = loaded.encode_batch_fast(texts, add_special_tokens=False)
        return found

    return Tokenizer(name, hashlib.sha256(loaded.to_str().encode()).hexdigest(), encode)


def load_counter(name: str) -> Callable[[str], int]:
    """What counts the tokens of one text after the other.

    Raises:
        PeercorpusError: As `load_tokenizer`.
    """
    return load_tokenizer(name).count
