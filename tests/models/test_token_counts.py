"""Counts of tokens by a tokenizer of Hugging Face."""

from pathlib import Path

import pytest

from peercorpus.errors import PeercorpusError
from peercorpus.models.token_counts import BATCH_TEXTS, load_counter, load_tokenizer


def test_a_tokenizer_of_hugging_face_counts(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the extra 'tokens' is not installed")
    known = tokenizers.Tokenizer(tokenizers.models.WordLevel({"kites": 0, "fly": 1, "?": 2}, unk_token="?"))
    known.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    known.save(str(tmp_path / "tokenizer.json"))
    known.enable_truncation(2)
    known.enable_padding(length=9)
    known.save(str(tmp_path / "tokenizer.json"))
    assert load_counter(str(tmp_path))("kites fly high") == 3
    assert (
        load_tokenizer(str(tmp_path)).count_each(["kites", "", "kites fly high"] * BATCH_TEXTS)
        == [1, 0, 3] * BATCH_TEXTS
    )
    with pytest.raises(PeercorpusError, match="No tokenizer"):
        load_counter(str(tmp_path / "nothing" / "of" / "the" / "kind"))
