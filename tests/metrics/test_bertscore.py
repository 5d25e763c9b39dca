"""BERTScore: equality with bert-score on a tiny model, and its handling of empty, long and missing texts."""

from pathlib import Path
from random import Random

import pytest

from peercorpus.errors import ModelError, UndefinedMetricError
from peercorpus.metrics.bertscore import BertScores, bert_score, bert_scores
from peercorpus.models import local_models
from tiny_encoders import LAYERS, WINDOW, WORDS, write_bert

pytestmark = pytest.mark.neural

PARTS = ("precision", "recall", "f1")


def some_text(chance: Random, longest: int = 30) -> str:
    return " ".join(chance.choice(WORDS[:12]) for _ in range(chance.randint(1, longest)))


def numbers(found: BertScores) -> list[list[float]]:
    return [[getattr(each, part) for each in found.of_each] for part in PARTS]


@pytest.mark.slow
def test_a_thousand_pairs_are_equal_to_bert_score(bert: Path) -> None:
    theirs = pytest.importorskip("bert_score", reason="bert-score is not installed")
    chance = Random(1)
    candidates = [some_text(chance) for _ in range(1000)]
    references = [[some_text(chance)] for _ in candidates]
    found = numbers(bert_scores(candidates, references, model=str(bert), layers=2))
    expected = theirs.score(candidates, references, model_type=str(bert), num_layers=2, batch_size=1)
    for ours, its in zip(found, expected, strict=True):
        assert ours == pytest.approx(its.tolist(), abs=2e-6)
    assert len({round(value, 3) for value in found[2]}) > 100


@pytest.mark.slow
def test_each_part_is_the_best_over_references_as_with_bert_score(bert: Path) -> None:
    theirs = pytest.importorskip("bert_score", reason="bert-score is not installed")
    chance = Random(2)
    candidates = [some_text(chance) for _ in range(200)]
    references = [[some_text(chance) for _ in range(chance.randint(1, 4))] for _ in candidates]
    found = bert_scores(candidates, references, model=str(bert), layers=LAYERS)
    expected = theirs.score(candidates, references, model_type=str(bert), num_layers=LAYERS, batch_size=1)
    for ours, its in zip(numbers(found), expected, strict=True):
        assert ours == pytest.approx(its.tolist(), abs=2e-6)
    apart = [each for each in found.of_each if each.f1 < 0.999 * 2 / (1 / each.precision + 1 / each.recall)]
    assert apart, "precision and recall come from different references somewhere"


@pytest.mark.slow
@pytest.mark.usefixtures("bert")
def test_a_deberta_gives_the_numbers_of_bert_score(tmp_path: Path) -> None:
    theirs = pytest.importorskip("bert_score", reason="bert-score is not installed")
    model = str(write_bert(tmp_path, family="deberta"))
    chance = Random(4)
    candidates, references = ([some_text(chance) for _ in range(50)] for _ in range(2))
    found = numbers(bert_scores(candidates, [[each] for each in references], model=model, layers=2))
    expected = theirs.score(candidates, references, model_type=model, num_layers=2, batch_size=1)
    for ours, its in zip(found, expected, strict=True):
        assert ours == pytest.approx(its.tolist(), abs=2e-6)


def test_layers_count(bert: Path) -> None:
    two, three = (bert_score("the paper is new", ["we find"], model=str(bert), layers=count) for count in (2, 3))
    assert two != three


def test_the_batch_does_not_matter(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(3)
    candidates = [some_text(chance) for _ in range(50)]
    references = [[some_text(chance), some_text(chance)] for _ in candidates]
    whole = numbers(bert_scores(candidates, references, model=str(bert), layers=2))
    monkeypatch.setattr(local_models, "BATCH_TEXTS", 7)
    parts = numbers(bert_scores(candidates, references, model=str(bert), layers=2))
    alone = bert_score(candidates[9], references[9], model=str(bert), layers=2)
    for one, other, part in zip(whole, parts, PARTS, strict=True):
        assert one == pytest.approx(other, abs=1e-6)
        assert one[9] == pytest.approx(getattr(alone, part), abs=1e-6)


@pytest.mark.parametrize(
    ("candidate", "reference"), [("", "the paper"), (" \n", "the paper"), ("the paper", ""), ("", "")]
)
def test_an_empty_text_gives_0(bert: Path, candidate: str, reference: str) -> None:
    found = bert_score(candidate, [reference], model=str(bert), layers=2)
    assert (found.precision, found.recall, found.f1) == (0.0, 0.0, 0.0)


def test_a_text_of_markers_alone_has_no_word(bert: Path) -> None:
    assert bert_score("[SEP] [CLS]", ["the paper"], model=str(bert), layers=2).f1 == 0.0


def test_texts_longer_than_the_window_are_counted(bert: Path) -> None:
    fits, too_long = " ".join(["a"] * (WINDOW - 2)), " ".join(["a"] * (WINDOW - 1))
    found = bert_scores([fits, fits, too_long], [[too_long], ["we", "new"], ["we"]], model=str(bert), layers=2)
    assert found.cut_share == 1 / 4
    assert bert_scores([fits], [["we"]], model=str(bert), layers=2).cut_share == 0.0
    more = bert_score(f"{fits} new paper", [fits], model=str(bert), layers=2)
    assert more.f1 == pytest.approx(1.0)


@pytest.mark.usefixtures("bert")
def test_a_tokenizer_without_a_limit_takes_512_tokens(tmp_path: Path) -> None:
    endless = str(write_bert(tmp_path, window=int(1e30)))
    found = bert_scores([" ".join(["a"] * 510)], [[" ".join(["a"] * 511)]], model=endless, layers=2)
    assert found.cut_share == 1 / 2


def test_nothing_to_measure_is_an_error(bert: Path) -> None:
    for candidates, references in (([], []), (["a"], [[]]), (["a", "b"], [["a"], []])):
        with pytest.raises(UndefinedMetricError, match="reference" if candidates else "text"):
            bert_scores(candidates, references, model=str(bert), layers=2)


def test_more_layers_than_there_are_are_refused(bert: Path) -> None:
    with pytest.raises(ModelError, match=rf"\b{LAYERS}\b.*\b12\b"):
        bert_score("a", ["b"], model=str(bert))


def test_a_model_without_its_weights_is_refused(bert: Path, tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    for path in bert.iterdir():
        if path.suffix != ".safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = safetensors.load_file(bert / "model.safetensors")
    kept = {key: value for key, value in weights.items() if ".1." not in key}
    safetensors.save_file(kept, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match=r"encoder\.layer\.1"):
        bert_score("a", ["b"], model=str(tmp_path), layers=2)


@pytest.mark.usefixtures("bert")
def test_a_folder_without_a_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=tmp_path.name):
        bert_score("a", ["b"], model=str(tmp_path))
