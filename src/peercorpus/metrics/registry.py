"""Registry of all metrics by name; those that need a model are imported on demand."""

from importlib import import_module

from peercorpus.errors import PeercorpusError
from peercorpus.metrics import prediction
from peercorpus.metrics.metric import Metric, Takes
from peercorpus.metrics.text_overlap import bleu, corpus_bleu, rouge_l

_OF_SACREBLEU = "nrefs:var|case:mixed|eff:{}|tok:13a|smooth:exp"
"""The signature that sacrebleu prints for texts with different numbers of references."""

ROUGE_L = Metric(
    name="rouge_l",
    function=rouge_l,
    takes=Takes.TEXT,
    settings="rougeL|f1|stem:yes|refs:max",
    packages=("rouge-score", "nltk", "rapidfuzz"),
    extra="bench",
)
SENTENCE_BLEU = Metric(
    name="sentence_bleu",
    function=bleu,
    takes=Takes.TEXT,
    settings=f"sentenceBLEU|{_OF_SACREBLEU.format('yes')}",
    packages=("sacrebleu",),
    high=100.0,
    extra="bench",
)
BLEU = Metric(
    name="bleu",
    function=corpus_bleu,
    takes=Takes.TEXTS,
    settings=f"BLEU|{_OF_SACREBLEU.format('no')}",
    packages=("sacrebleu",),
    high=100.0,
    extra="bench",
)

ACCURACY = Metric("accuracy", prediction.accuracy, Takes.DECISIONS, "accuracy")
PRECISION = Metric(
    "precision", prediction.precision, Takes.DECISIONS, "precision|positive:accept|none-predicted:undefined"
)
RECALL = Metric("recall", prediction.recall, Takes.DECISIONS, "recall|positive:accept|none-accepted:undefined")
F1 = Metric("f1", prediction.f1, Takes.DECISIONS, "f1|positive:accept|no-accept:undefined")
BALANCED_ACCURACY = Metric(
    "balanced_accuracy", prediction.balanced_accuracy, Takes.DECISIONS, "balanced-accuracy|one-class:undefined"
)
MCC = Metric("mcc", prediction.mcc, Takes.DECISIONS, "mcc|one-class:undefined", low=-1.0)
AUROC = Metric("auroc", prediction.auroc, Takes.PROBABILITIES, "auroc|positive:accept|ties:half|one-class:undefined")
BRIER = Metric("brier", prediction.brier, Takes.PROBABILITIES, "brier|positive:accept", higher_is_better=False)
ECE = Metric(
    "ece", prediction.ece, Takes.PROBABILITIES, f"ece|bins:{prediction.BINS}-equal-width", higher_is_better=False
)

MAE = Metric("mae", prediction.mae, Takes.NUMBERS, "mae|scale:given", high=None, higher_is_better=False)
MSE = Metric("mse", prediction.mse, Takes.NUMBERS, "mse|scale:given", high=None, higher_is_better=False)
MAE_UNIT = Metric(
    "mae_unit", prediction.mae_unit, Takes.NUMBERS_ON_SCALES, "mae|scale:unit", high=None, higher_is_better=False
)
MSE_UNIT = Metric(
    "mse_unit", prediction.mse_unit, Takes.NUMBERS_ON_SCALES, "mse|scale:unit", high=None, higher_is_better=False
)
SPEARMAN = Metric("spearman", prediction.spearman, Takes.NUMBERS, "spearman|ties:mean|constant:undefined", low=-1.0)

METRICS: dict[str, str] = {
    "rouge_l": "registry:ROUGE_L",
    "bleu": "registry:BLEU",
    "sentence_bleu": "registry:SENTENCE_BLEU",
    "bert_precision": "bertscore:BERT_PRECISION",
    "bert_recall": "bertscore:BERT_RECALL",
    "bert_f1": "bertscore:BERT_F1",
    "embed_cos": "embedding:EMBED_COS",
    "point_recall": "review_points:POINT_RECALL",
    "point_precision": "review_points:POINT_PRECISION",
    "point_coverage": "review_points:POINT_COVERAGE",
    "accuracy": "registry:ACCURACY",
    "precision": "registry:PRECISION",
    "recall": "registry:RECALL",
    "f1": "registry:F1",
    "balanced_accuracy": "registry:BALANCED_ACCURACY",
    "mcc": "registry:MCC",
    "auroc": "registry:AUROC",
    "brier": "registry:BRIER",
    "ece": "registry:ECE",
    "mae": "registry:MAE",
    "mse": "registry:MSE",
    "mae_unit": "registry:MAE_UNIT",
    "mse_unit": "registry:MSE_UNIT",
    "spearman": "registry:SPEARMAN",
}
"""Metric name → module of this package and the definition in it."""


def definition(name: str) -> Metric:
    """Return the definition of a metric.

    Raises:
        PeercorpusError: There is no metric of that name.
    """
    if name not in METRICS:
        raise PeercorpusError(f"Unknown metric '{name}'; choose one of {', '.join(METRICS)}.")
    module, _, attribute = METRICS[name].partition(":")
    metric_found = getattr(import_module(f"peercorpus.metrics.{module}"), attribute)
    assert isinstance(metric_found, Metric)
    return metric_found
