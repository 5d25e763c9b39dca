"""A single text in place of a list of references is refused: its letters are not references."""

import pytest

from peercorpus.metrics.bertscore import bert_score
from peercorpus.metrics.embedding import embed_cos
from peercorpus.metrics.text_overlap import bleu, rouge_l


def test_a_single_string_is_not_a_list_of_references() -> None:
    with pytest.raises(TypeError, match="list"):
        rouge_l("the cat sat", "the cat sat")
    with pytest.raises(TypeError, match="list"):
        bleu("the cat sat", "the cat sat")
    with pytest.raises(TypeError, match="list"):
        bert_score("the cat sat", "the cat sat", model="nowhere")
    with pytest.raises(TypeError, match="list"):
        embed_cos("the cat sat", "the cat sat", model="nowhere")
    assert rouge_l("the cat sat", ["the cat sat"]) == 1.0
