"""An encoder whose tokens are words and signs, for tests without a model."""

import re
from collections.abc import Sequence

from peercorpus.finetune.examples import Encoder

TOKEN = re.compile(r"\w+|[^\w\s]")
MARK = "<end>"


def _render(told: Sequence[dict[str, str]], asks: bool) -> str:
    return "".join(f"{one['role']}\n{one['content']}\n{MARK}\n" for one in told) + "assistant\n" * asks


def word_encoder() -> Encoder:
    """Words and signs, numbered in order of first appearance; a special mark ends each turn."""
    known: dict[str, int] = {}

    def tokens(text: str) -> list[int]:
        return [known.setdefault(word, len(known)) for word in TOKEN.findall(text)]

    return Encoder("words", _render, tokens, re.compile(re.escape(MARK)), "digest")
