"""How many tokens a text has: by default words and signs, which needs no model; else by a tokenizer of the user's."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import tee
from pathlib import Path

import polars as pl

from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.publish.tokens import WORD_OR_SIGN, Tokenizer, load_tokenizer
from peercorpus.spread import Failure, Spread

TIMEOUT_S = 600.0
"""Seconds that counting the tokens of one part may take; two are usual."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A way to count tokens.

    Attributes:
        says: What a token is, in words that end a sentence.
        count: Of each text of each series, in their order.
    """

    says: str
    count: Callable[[Iterable[pl.Series]], Iterator[pl.Series]]

    def counted(self, parts: Iterable[pl.DataFrame], texts: str) -> Iterator[pl.DataFrame]:
        """The same rows, with the column `tokens` of each text in place of the texts."""
        sent, held = tee(parts)
        for counts, rows in zip(self.count(rows[texts] for rows in sent), held, strict=True):
            yield rows.drop(texts).with_columns(tokens=counts)


def words_and_signs() -> Tokens:
    """A token is a run of letters, digits and underscores, or one other sign that is no space.

    >>> [counts.to_list() for counts in words_and_signs().count([pl.Series(["It's new (2024)."])])]
    [[8]]
    """
    return Tokens(
        "a token is a word (a run of letters, digits and underscores) or one other sign",
        lambda parts: (texts.str.count_matches(WORD_OR_SIGN).cast(pl.Int64) for texts in parts),
    )


def tokens_of(tokenizer: str | None, spread: Spread | None = None) -> Tokens:
    """Words and signs, or the tokens of a tokenizer: a file, a folder or a model on the Hugging Face Hub.

    Args:
        tokenizer: None for words and signs.
        spread: Over which processes its tokens are counted; None counts them here, on all cores.

    Raises:
        PeercorpusError: The package `tokenizers` is missing, or there is no such tokenizer.
    """
    if tokenizer is None:
        return words_and_signs()
    loaded = load_tokenizer(tokenizer)
    count = partial(_count_here, loaded) if spread is None else partial(_count_spread, loaded, spread)
    return Tokens(f"tokens of the tokenizer '{Path(tokenizer).name}'", count)


def _count_here(tokenizer: Tokenizer, parts: Iterable[pl.Series]) -> Iterator[pl.Series]:
    for texts in parts:
        yield pl.Series(tokenizer.count_each(texts.to_list()), dtype=pl.Int64)


@dataclass(frozen=True, slots=True)
class Part:
    """Some texts, with all that another process needs to count their tokens.

    Attributes:
        digest: Of the tokenizer that must be found there under this name.
    """

    texts: tuple[str, ...]
    tokenizer: str
    digest: str


@cache
def _tokenizer(name: str, digest: str) -> Tokenizer:
    found = load_tokenizer(name)
    if found.digest != digest:
        raise ModelError(f"The tokenizer '{name}' is another one on some machine; put the same one on every machine.")
    return found


def count_tokens(part: Part) -> list[int]:
    """The tokens of each text, by one core: other processes have the others.

    Raises:
        ModelError: The tokenizer is not here, or another one.
    """
    return [*map(_tokenizer(part.tokenizer, part.digest).count, part.texts)]


def _count_spread(tokenizer: Tokenizer, spread: Spread, parts: Iterable[pl.Series]) -> Iterator[pl.Series]:
    work = (Part(tuple(texts.to_list()), tokenizer.name, tokenizer.digest) for texts in parts)
    for _, found in spread(count_tokens, work, timeout_s=TIMEOUT_S, in_order=True):
        if isinstance(found, Failure):
            raise PeercorpusError(f"The tokens of some texts cannot be counted: {found.detail}")
        yield pl.Series(found, dtype=pl.Int64)
