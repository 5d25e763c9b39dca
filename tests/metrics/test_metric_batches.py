"""A model's measures are the same wherever they are computed; what cannot be measured is reported."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from in_this_process import InThisProcess
from peercorpus.errors import ModelError
from peercorpus.execution.executor import Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.metrics.bertscore import bert_scores
from peercorpus.metrics.embedding import embed_cosines
from peercorpus.models import local_models
from peercorpus.models.local_models import Measured, Sample, measure_samples
from tiny_encoders import WINDOW

TEXTS = ["the paper is new.", "we find the method not clear", "a review", "", " ".join(["a"] * WINDOW)]
CANDIDATES, REFERENCES = TEXTS * 2, [[text, "the paper"] for text in reversed(TEXTS * 2)]
STOPPED = Failure(FailureKind.TIMEOUT, "It was stopped.")
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


def test_numbers_keep_their_order_and_a_text_that_several_batches_have_is_counted_once() -> None:
    assert measure_samples(letters, SAMPLES, None) == ((97, 100, 101), 1 / 5)
    assert measure_samples(letters, SAMPLES, InThisProcess()) == ((97, 100, 101), 1 / 5)


def test_a_batch_that_cannot_be_scored_is_reported() -> None:
    with pytest.raises(ModelError, match=r"It was stopped\.$"):
        measure_samples(letters, SAMPLES, InThisProcess(failures=(STOPPED,)))


def test_a_model_that_differs_between_machines_is_refused() -> None:
    with pytest.raises(ModelError, match="a b, e;"):
        measure_samples(by_text, SAMPLES, InThisProcess())


@pytest.mark.slow
@pytest.mark.neural
def test_bert_score_is_the_same_in_other_processes(bert: Path) -> None:
    here = bert_scores(CANDIDATES, REFERENCES, model=str(bert), layers=2)
    assert bert_scores(CANDIDATES, REFERENCES, model=str(bert), layers=2, spread=LocalExecutor(None)) == here
    with pytest.raises(ModelError, match="has 3 layers"):
        bert_scores(CANDIDATES, REFERENCES, model=str(bert), layers=99, spread=LocalExecutor(None))


@pytest.mark.slow
@pytest.mark.neural
def test_cosines_are_the_same_in_other_processes(sentence_model: Path) -> None:
    here = embed_cosines(CANDIDATES, REFERENCES, model=str(sentence_model))
    assert here.cut_share == 1 / 6
    assert embed_cosines(CANDIDATES, REFERENCES, model=str(sentence_model), spread=LocalExecutor(None)) == here
