"""Count the tokens of texts: words and punctuation marks, or the tokens of a tokenizer."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice, tee
from pathlib import Path
from typing import Any

import polars as pl

from peercorpus.errors import MissingExtraError, ModelError, PeercorpusError
from peercorpus.execution.executor import Executor, Failure

WORD_OR_SIGN = r"\w+|[^\w\s]"
"""A token if no tokenizer is named: a run of letters, digits and underscores, or one other character."""

BATCH_TEXTS = 64
"""Texts whose tokens are in memory at a time: about 100 MB for papers."""


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Counts the tokens of texts, without those that a chat template adds.

    Attributes:
        name: A file, a folder or a model on the Hugging Face Hub.
        digest: SHA-256 of the tokenizer; tokenizers with equal digests count alike.
        encode: Takes texts; returns for each a sequence with one item per token. Uses all cores for several texts.
    """

    name: str
    digest: str
    encode: Callable[[Sequence[str]], Sequence[Any]]

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, on one core."""
        return len(self.encode([text])[0])

    def count_each(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, on all cores."""
        queue = iter(texts)
        batches = iter(lambda: list(islice(queue, BATCH_TEXTS)), [])
        return [len(tokens) for tokens in chain.from_iterable(map(self.encode, batches))]


def load_tokenizer(name: str) -> Tokenizer:
    """Load a tokenizer.

    Args:
        name: A file `tokenizer.json`, a folder with one, or a model on the Hugging Face Hub.

    Raises:
        MissingExtraError: The package `tokenizers` is not installed.
        ModelError: The tokenizer cannot be loaded.
    """
    try:
        import tokenizers
    except ModuleNotFoundError:
        raise MissingExtraError("tokenizers", "hf") from None
    path = Path(name)
    path = path / "tokenizer.json" if path.is_dir() else path
    kind = tokenizers.Tokenizer
    try:
        loaded = kind.from_file(str(path)) if path.exists() else kind.from_pretrained(name)
    except Exception as error:  # noqa: BLE001 -- tokenizers raises bare exceptions
        detail = str(error).partition("\n")[0]
        raise ModelError(
            f"No tokenizer '{name}' was found in a local file or folder, or on the Hugging Face Hub: {detail}"
        ) from None
    # Many tokenizer files truncate or pad texts to one length, which would make all counts equal.
    loaded.no_truncation()
    loaded.no_padding()

    def encode(texts: Sequence[str]) -> Sequence[Any]:
        # Encoding without offsets, which are not needed, takes a third less time.
        encodings: Sequence[Any] = loaded.encode_batch_fast(texts, add_special_tokens=False)
        return encodings

    return Tokenizer(name, hashlib.sha256(loaded.to_str().encode()).hexdigest(), encode)


def load_counter(name: str) -> Callable[[str], int]:
    """Return a function that counts the tokens of one text; raises the errors of `load_tokenizer`."""
    return load_tokenizer(name).count


TIMEOUT_S = 600.0
"""Time limit for counting the tokens of one batch in seconds; two seconds are usual."""


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A way to count tokens.

    Attributes:
        says: What a token is, as the end of a sentence.
        unit: What is counted, in the plural.
        count: Takes series of texts; yields for each the series of their token counts, in order.
        is_kept: Whether it counts words and punctuation marks; these counts are cached between reports.
    """

    says: str
    unit: str
    count: Callable[[Iterable[pl.Series]], Iterator[pl.Series]]
    is_kept: bool = False

    def counted(self, parts: Iterable[pl.DataFrame], texts: str) -> Iterator[pl.DataFrame]:
        """Yield the frames with the column `texts` replaced by a column `tokens` of its token counts."""
        sent, kept = tee(parts)
        for counts, rows in zip(self.count(rows[texts] for rows in sent), kept, strict=True):
            yield rows.drop(texts).with_columns(tokens=counts)


def words_and_signs() -> TokenCounter:
    """Return a counter for which a token is a run of letters, digits and underscores, or one other character.

    >>> [counts.to_list() for counts in words_and_signs().count([pl.Series(["It's new (2024)."])])]
    [[8]]
    """
    return TokenCounter(
        "a token is a word (a run of letters, digits and underscores) or one other sign",
        "words and punctuation marks",
        lambda parts: (texts.str.count_matches(WORD_OR_SIGN).cast(pl.Int64) for texts in parts),
        is_kept=True,
    )


def load_token_counter(tokenizer: str | None, spread: Executor | None = None) -> TokenCounter:
    """Return a counter of words and punctuation marks, or of the tokens of a tokenizer.

    Args:
        tokenizer: A file, a folder or a model on the Hugging Face Hub; None for words and punctuation marks.
        spread: Executor whose processes count tokens; None counts them in this process, on all cores.

    Raises:
        MissingExtraError: The package `tokenizers` is not installed.
        ModelError: The tokenizer cannot be loaded.
    """
    if tokenizer is None:
        return words_and_signs()
    loaded = load_tokenizer(tokenizer)
    count = partial(_count_here, loaded) if spread is None else partial(_count_spread, loaded, spread)
    tokens = f"tokens of the tokenizer '{Path(tokenizer).name}'"
    return TokenCounter(tokens, tokens, count)


def _count_here(tokenizer: Tokenizer, parts: Iterable[pl.Series]) -> Iterator[pl.Series]:
    for texts in parts:
        yield pl.Series(tokenizer.count_each(texts.to_list()), dtype=pl.Int64)


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Texts with everything that another process needs to count their tokens.

    Attributes:
        texts: The texts.
        tokenizer: Name of the tokenizer.
        digest: Digest that the tokenizer must have in the other process.
    """

    texts: tuple[str, ...]
    tokenizer: str
    digest: str


@cache
def _load_same_tokenizer(name: str, digest: str) -> Tokenizer:
    tokenizer = load_tokenizer(name)
    if tokenizer.digest != digest:
        raise ModelError(f"The tokenizer '{name}' differs between machines; install the same one on every machine.")
    return tokenizer


def count_tokens(part: TokenBatch) -> list[int]:
    """Return the number of tokens of each text, on one core, since other processes use the others.

    Raises:
        ModelError: The tokenizer cannot be loaded here, or has another digest.
    """
    return [*map(_load_same_tokenizer(part.tokenizer, part.digest).count, part.texts)]


def _count_spread(tokenizer: Tokenizer, spread: Executor, parts: Iterable[pl.Series]) -> Iterator[pl.Series]:
    work = (TokenBatch(tuple(texts.to_list()), tokenizer.name, tokenizer.digest) for texts in parts)
    for _, counts in spread(count_tokens, work, timeout_s=TIMEOUT_S, in_order=True):
        if isinstance(counts, Failure):
            raise PeercorpusError(f"The tokens of some texts cannot be counted: {counts.detail}")
        yield pl.Series(counts, dtype=pl.Int64)


TOKEN = re.compile(WORD_OR_SIGN)


def count_words_and_signs(text: str) -> int:
    """Return the number of words and other characters that are not spaces.

    >>> count_words_and_signs("It's new (2024).")
    8
    """
    return len(TOKEN.findall(text))
