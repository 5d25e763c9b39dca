"""The definitions of the metrics that need no model."""

from peercorpus.metrics import classification, regression
from peercorpus.metrics.bleu_counts import bleu, corpus_bleu
from peercorpus.metrics.definition import Metric, Takes
from peercorpus.metrics.rouge import rouge_l

_OF_SACREBLEU = "nrefs:var|case:mixed|eff:{}|tok:13a|smooth:exp"
"""As sacrebleu prints its own, where texts differ in how many references they have."""

ROUGE_L = Metric(
    "rouge_l",
    rouge_l,
    Takes.TEXT,
    "rougeL|f1|stem:yes|refs:max",
    ("rouge-score", "nltk", "rapidfuzz"),
    extra="bench",
)
SENTENCE_BLEU = Metric(
    "sentence_bleu",
    bleu,
    Takes.TEXT,
    f"sentenceBLEU|{_OF_SACREBLEU.format('yes')}",
    ("sacrebleu",),
    high=100.0,
    extra="bench",
)
BLEU = Metric(
    "bleu", corpus_bleu, Takes.TEXTS, f"BLEU|{_OF_SACREBLEU.format('no')}", ("sacrebleu",), high=100.0, extra="bench"
)

ACCURACY = Metric("accuracy", classification.accuracy, Takes.DECISIONS, "accuracy")
PRECISION = Metric(
    "precision", classification.precision, Takes.DECISIONS, "precision|positive:accept|none-predicted:undefined"
)
RECALL = Metric("recall", classification.recall, Takes.DECISIONS, "recall|positive:accept|none-accepted:undefined")
F1 = Metric("f1", classification.f1, Takes.DECISIONS, "f1|positive:accept|no-accept:undefined")
BALANCED_ACCURACY = Metric(
    "balanced_accuracy", classification.balanced_accuracy, Takes.DECISIONS, "balanced-accuracy|one-class:undefined"
)
MCC = Metric("mcc", classification.mcc, Takes.DECISIONS, "mcc|one-class:undefined", low=-1.0)
AUROC = Metric(
    "auroc", classification.auroc, Takes.PROBABILITIES, "auroc|positive:accept|ties:half|one-class:undefined"
)

MAE = Metric("mae", regression.mae, Takes.NUMBERS, "mae|scale:given", high=None, higher_is_better=False)
MSE = Metric("mse", regression.mse, Takes.NUMBERS, "mse|scale:given", high=None, higher_is_better=False)
MAE_UNIT = Metric(
    "mae_unit", regression.mae_unit, Takes.NUMBERS_ON_SCALES, "mae|scale:unit", high=None, higher_is_better=False
)
MSE_UNIT = Metric(
    "mse_unit", regression.mse_unit, Takes.NUMBERS_ON_SCALES, "mse|scale:unit", high=None, higher_is_better=False
)
SPEARMAN = Metric("spearman", regression.spearman, Takes.NUMBERS, "spearman|ties:mean|constant:undefined", low=-1.0)
