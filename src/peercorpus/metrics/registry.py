"""Define the metrics that need no model, and list all metrics by name."""

from collections.abc import Mapping

from peercorpus.errors import PeercorpusError
from peercorpus.metrics import prediction
from peercorpus.metrics.bertscore import BERT_F1, BERT_PRECISION, BERT_RECALL
from peercorpus.metrics.embedding import EMBED_COS
from peercorpus.metrics.metric import Metric, Takes
from peercorpus.metrics.review_points import POINT_COVERAGE, POINT_PRECISION, POINT_RECALL
from peercorpus.metrics.text_overlap import bleu, corpus_bleu, rouge_l

_OF_SACREBLEU = "nrefs:var|case:mixed|eff:{}|tok:13a|smooth:exp"
"""The signature that sacrebleu prints for texts with different numbers of references."""

_DEFINED = (
    *(BERT_PRECISION, BERT_RECALL, BERT_F1, EMBED_COS, POINT_COVERAGE, POINT_PRECISION, POINT_RECALL),
    Metric(
        name="rouge_l",
        function=rouge_l,
        takes=Takes.TEXT,
        settings="rougeL|f1|stem:yes|refs:max",
        packages=("rouge-score", "nltk", "rapidfuzz"),
        extra="bench",
    ),
    Metric(
        name="sentence_bleu",
        function=bleu,
        takes=Takes.TEXT,
        settings=f"sentenceBLEU|{_OF_SACREBLEU.format('yes')}",
        packages=("sacrebleu",),
        high=100.0,
        extra="bench",
    ),
    Metric(
        name="bleu",
        function=corpus_bleu,
        takes=Takes.TEXTS,
        settings=f"BLEU|{_OF_SACREBLEU.format('no')}",
        packages=("sacrebleu",),
        high=100.0,
        extra="bench",
    ),
    Metric("accuracy", prediction.accuracy, Takes.DECISIONS, "accuracy"),
    Metric("precision", prediction.precision, Takes.DECISIONS, "precision|positive:accept|none-predicted:undefined"),
    Metric("recall", prediction.recall, Takes.DECISIONS, "recall|positive:accept|none-accepted:undefined"),
    Metric("f1", prediction.f1, Takes.DECISIONS, "f1|positive:accept|no-accept:undefined"),
    Metric("balanced_accuracy", prediction.balanced_accuracy, Takes.DECISIONS, "balanced-accuracy|one-class:undefined"),
    Metric("mcc", prediction.mcc, Takes.DECISIONS, "mcc|one-class:undefined", low=-1.0),
    Metric("auroc", prediction.auroc, Takes.PROBABILITIES, "auroc|positive:accept|ties:half|one-class:undefined"),
    Metric("brier", prediction.brier, Takes.PROBABILITIES, "brier|positive:accept", higher_is_better=False),
    Metric(
        "ece", prediction.ece, Takes.PROBABILITIES, f"ece|bins:{prediction.BINS}-equal-width", higher_is_better=False
    ),
    Metric("mae", prediction.mae, Takes.NUMBERS, "mae|scale:given", high=None, higher_is_better=False),
    Metric("mse", prediction.mse, Takes.NUMBERS, "mse|scale:given", high=None, higher_is_better=False),
    Metric(
        "mae_unit", prediction.mae_unit, Takes.NUMBERS_ON_SCALES, "mae|scale:unit", high=None, higher_is_better=False
    ),
    Metric(
        "mse_unit", prediction.mse_unit, Takes.NUMBERS_ON_SCALES, "mse|scale:unit", high=None, higher_is_better=False
    ),
    Metric("spearman", prediction.spearman, Takes.NUMBERS, "spearman|ties:mean|constant:undefined", low=-1.0),
)
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _DEFINED}
"""Every metric by name."""


def definition(name: str) -> Metric:
    """Return the definition of a metric.

    Raises:
        PeercorpusError: There is no metric of that name.
    """
    if name not in METRICS:
        raise PeercorpusError(f"Unknown metric '{name}'; choose one of {', '.join(METRICS)}.")
    return METRICS[name]
