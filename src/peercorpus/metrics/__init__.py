"""One definition of each metric, with the signature printed beside its numbers."""

from importlib import import_module

from peercorpus.errors import PeercorpusError
from peercorpus.metrics.bertscore import BertScore, BertScores, bert_score, bert_scores
from peercorpus.metrics.bleu_counts import BleuCounts, add_counts, bleu, corpus_bleu, count_bleu
from peercorpus.metrics.definition import Metric, Takes
from peercorpus.metrics.embedding import EmbedCosines, embed_cos, embed_cosines
from peercorpus.metrics.resampling import Difference, Interval, bootstrap, paired
from peercorpus.metrics.rouge import rouge_l

__all__ = [
    "METRICS",
    "BertScore",
    "BertScores",
    "BleuCounts",
    "Difference",
    "EmbedCosines",
    "Interval",
    "Metric",
    "Takes",
    "add_counts",
    "bert_score",
    "bert_scores",
    "bleu",
    "bootstrap",
    "corpus_bleu",
    "count_bleu",
    "definition",
    "embed_cos",
    "embed_cosines",
    "paired",
    "rouge_l",
]

METRICS: dict[str, str] = {
    "rouge_l": "definitions:ROUGE_L",
    "bleu": "definitions:BLEU",
    "sentence_bleu": "definitions:SENTENCE_BLEU",
    "bert_precision": "bertscore:BERT_PRECISION",
    "bert_recall": "bertscore:BERT_RECALL",
    "bert_f1": "bertscore:BERT_F1",
    "embed_cos": "embedding:EMBED_COS",
    "accuracy": "definitions:ACCURACY",
    "precision": "definitions:PRECISION",
    "recall": "definitions:RECALL",
    "f1": "definitions:F1",
    "balanced_accuracy": "definitions:BALANCED_ACCURACY",
    "mcc": "definitions:MCC",
    "auroc": "definitions:AUROC",
    "mae": "definitions:MAE",
    "mse": "definitions:MSE",
    "mae_unit": "definitions:MAE_UNIT",
    "mse_unit": "definitions:MSE_UNIT",
    "spearman": "definitions:SPEARMAN",
}
"""The name of each metric → the module of this room and the definition in it."""


def definition(name: str) -> Metric:
    """The definition of one metric.

    Raises:
        PeercorpusError: There is no metric of that name.
    """
    if name not in METRICS:
        raise PeercorpusError(f"There is no metric '{name}'; choose one of {', '.join(METRICS)}.")
    module, _, thing = METRICS[name].partition(":")
    found = getattr(import_module(f"{__name__}.{module}"), thing)
    assert isinstance(found, Metric)
    return found
