"""The contract of every metric in the registry."""

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from random import Random
from typing import Any

import pytest

from peercorpus.errors import PeercorpusError, UndefinedMetricError
from peercorpus.metrics import bertscore, embedding
from peercorpus.metrics.metric import Metric, Takes
from peercorpus.metrics.registry import METRICS, definition

TEXTS = [
    "The method is new, and the paper is clear.",
    "We miss a comparison with earlier work on 12 tasks.",
    "Why does the third experiment use another seed?",
]
REVIEWS = [
    "Weaknesses:\n- The kites were flown on one beach only.\n- There is no comparison with balloons.",
    "Weaknesses:\n- Nobody measured the wind.",
    "Questions:\n- Why is the string made of hemp?\n- Which glue holds the tail?",
]
ANSWERS = [
    "The kites now fly on a second beach too.\n\nA comparison with balloons was added.",
    "We measured the wind.",
    "Hemp makes a strong string.\n\nThe glue that holds the tail is starch.",
]
SCALES = [(1.0, 10.0), (1.0, 5.0), (0.0, 4.0)]
PERFECT: dict[Takes, tuple[Sequence[Any], ...]] = {
    Takes.TEXTS: (TEXTS, [[text, "Another one."] for text in TEXTS]),
    Takes.REVIEWS: (REVIEWS, [[review, "Well written."] for review in REVIEWS]),
    Takes.REPLIES: (ANSWERS, REVIEWS),
    Takes.DECISIONS: ([True, False, True], [True, False, True]),
    Takes.PROBABILITIES: ([1.0, 0.0, 1.0], [True, False, True]),
    Takes.NUMBERS: ([3.0, 5.0, 4.0], [3.0, 5.0, 4.0]),
    Takes.NUMBERS_ON_SCALES: ([3.0, 5.0, 4.0], [3.0, 5.0, 4.0], SCALES),
}
"""Columns of perfectly predicted samples."""
MIXED: dict[Takes, tuple[Sequence[Any], ...]] = {
    Takes.TEXTS: (TEXTS, [[text.replace("the", "a"), TEXTS[place - 1]] for place, text in enumerate(TEXTS)]),
    Takes.REVIEWS: (REVIEWS, [[review, REVIEWS[place - 1]] for place, review in enumerate([REVIEWS[1], *REVIEWS[1:]])]),
    Takes.REPLIES: (ANSWERS[::-1], REVIEWS),
    Takes.DECISIONS: ([True, True, False, False], [True, False, False, True]),
    Takes.PROBABILITIES: ([0.9, 0.9, 0.7, 0.1], [True, False, True, False]),
    Takes.NUMBERS: ([3.0, 5.5, 4.0, 1.0], [4.0, 5.0, 3.0, 2.0]),
    Takes.NUMBERS_ON_SCALES: ([3.0, 5.5, 4.0], [4.0, 5.0, 3.0], SCALES),
}
"""Columns of moderately predicted samples."""


NEURAL = [name for name in METRICS if name.startswith(("bert_", "embed_"))]


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.neural] * (name in NEURAL)) for name in METRICS])
def metric(request: pytest.FixtureRequest) -> Metric:
    """Each metric; those that need a model use a tiny one."""
    found = definition(request.param)
    assert (found.name, found.extra == "models") == (request.param, request.param in NEURAL)
    if found.name == "embed_cos":
        return embedding.embedding_metric(str(request.getfixturevalue("sentence_model")))
    if found.extra == "models":
        part: Any = found.name.removeprefix("bert_")
        return bertscore.bert_metric(part, str(request.getfixturevalue("bert")), layers=2)
    return found


def is_of_one_text(metric: Metric) -> bool:
    return metric.takes is Takes.TEXT


def test_a_perfect_prediction_gives_the_best_number(metric: Metric) -> None:
    if is_of_one_text(metric):
        for text in TEXTS:
            assert metric.function(text, [text]) == pytest.approx(metric.best)
            assert metric.function(text, ["Another one.", text]) == pytest.approx(metric.best)
    else:
        assert metric.function(*PERFECT[metric.takes]) == pytest.approx(metric.best)


def test_a_worse_prediction_gives_a_worse_number_in_range(metric: Metric) -> None:
    columns = (TEXTS[0], [TEXTS[1], TEXTS[2]]) if is_of_one_text(metric) else MIXED[metric.takes]
    number = metric.function(*columns)
    assert number < metric.best if metric.higher_is_better else number > metric.best
    assert metric.low is None or number >= metric.low
    assert metric.high is None or number <= metric.high


def test_the_order_of_references_does_not_matter(metric: Metric) -> None:
    if is_of_one_text(metric):
        turned = metric.function(TEXTS[0], TEXTS[:0:-1])
        assert metric.function(TEXTS[0], TEXTS[1:]) == pytest.approx(turned, abs=1e-6)
    elif metric.takes in {Takes.TEXTS, Takes.REVIEWS}:
        candidates, references = MIXED[metric.takes]
        assert metric.function(candidates, references) == metric.function(
            candidates, [each[::-1] for each in references]
        )


def test_the_order_of_samples_does_not_matter(metric: Metric) -> None:
    if not is_of_one_text(metric):
        samples = list(zip(*MIXED[metric.takes], strict=True))
        Random(1).shuffle(samples)
        columns = [list(column) for column in zip(*samples, strict=True)]
        assert metric.function(*columns) == pytest.approx(metric.function(*MIXED[metric.takes]), abs=1e-12)


def test_nothing_to_measure_is_an_error(metric: Metric) -> None:
    columns: tuple[Any, ...] = ("text", []) if is_of_one_text(metric) else tuple([] for _ in PERFECT[metric.takes])
    with pytest.raises(UndefinedMetricError):
        metric.function(*columns)


def test_an_empty_candidate_gives_0(metric: Metric) -> None:
    if metric.name == "embed_cos":
        assert -1 <= metric.function("", TEXTS) <= 1, "sentence-transformers has a vector for an empty text"
    elif is_of_one_text(metric):
        assert metric.function("", TEXTS) == 0.0
    elif metric.name == "point_precision":
        with pytest.raises(UndefinedMetricError):
            metric.function(["", "", ""], PERFECT[metric.takes][1])
    elif metric.takes in {Takes.TEXTS, Takes.REVIEWS, Takes.REPLIES}:
        assert metric.function(["", "", ""], PERFECT[metric.takes][1]) == 0.0


def test_the_signature_has_every_setting_and_is_stable(metric: Metric) -> None:
    signature = metric.signature
    assert signature == metric.signature
    assert (metric.model is None) or f"|model:{Path(metric.model).name}|revision:sha256-" in signature
    assert signature.endswith(f"|peercorpus:{metadata.version('peercorpus')}")
    for package in metric.packages:
        assert f"|{package}:{metadata.version(package)}|" in signature
    assert (metric.extra is None) == (not metric.packages)
    assert not set(signature) & set(" \n/\\")


def test_an_unknown_metric_is_named_with_the_known_ones() -> None:
    with pytest.raises(PeercorpusError, match=r"'rouge'.* rouge_l, "):
        definition("rouge")
