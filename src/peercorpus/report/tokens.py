"""How many tokens a text has: by default words and signs, which needs no model; else by a tokenizer of the user's."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from peercorpus.publish.tokens import WORD_OR_SIGN, load_counter


@dataclass(frozen=True, slots=True)
class Tokens:
    """A way to count tokens.

    Attributes:
        says: What a token is, in words that end a sentence.
        count: Of each text of a series.
    """

    says: str
    count: Callable[[pl.Series], pl.Series]


def words_and_signs() -> Tokens:
    """A token is a run of letters, digits and underscores, or one other sign that is no space.

    >>> words_and_signs().count(pl.Series(["It's new (2024)."])).to_list()
    [8]
    """
    return Tokens(
        "a token is a word (a run of letters, digits and underscores) or one other sign",
        lambda texts: texts.str.count_matches(WORD_OR_SIGN).cast(pl.Int64),
    )


def tokens_of(tokenizer: str | None) -> Tokens:
    """Words and signs, or the tokens of a tokenizer: a file, a folder or a model on the Hugging Face Hub.

    Raises:
        PeercorpusError: The package `tokenizers` is missing, or there is no such tokenizer.
    """
    if tokenizer is None:
        return words_and_signs()
    counter, name = load_counter(tokenizer), Path(tokenizer).name
    return Tokens(
        f"tokens of the tokenizer '{name}'", lambda texts: pl.Series([counter(text) for text in texts], dtype=pl.Int64)
    )
