"""One text where a list of references is wanted is refused: its letters are no references."""

import pytest

from peercorpus.metrics import bert_score, bleu, embed_cos, rouge_l


def test_one_text_is_no_list_of_references() -> None:
    with pytest.raises(TypeError, match="put the one text into a list"):
        rouge_l("the cat sat", "the cat sat")
    with pytest.raises(TypeError, match="put the one text into a list"):
        bleu("the cat sat", "the cat sat")
    with pytest.raises(TypeError, match="put the one text into a list"):
        bert_score("the cat sat", "the cat sat", model="nowhere")
    with pytest.raises(TypeError, match="put the one text into a list"):
        embed_cos("the cat sat", "the cat sat", model="nowhere")
    assert rouge_l("the cat sat", ["the cat sat"]) == 1.0
