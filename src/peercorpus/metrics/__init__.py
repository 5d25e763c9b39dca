"""Metrics of the benchmark and the reports: one definition each, with a signature for reproducibility."""

from peercorpus.metrics.bertscore import BertScore, BertScores, bert_score, bert_scores
from peercorpus.metrics.embedding import EmbedCosines, embed_cos, embed_cosines
from peercorpus.metrics.intervals import Interval, bootstrap
from peercorpus.metrics.metric import Metric, Takes
from peercorpus.metrics.paired_intervals import Estimator, PairedDifference, compare_pairs
from peercorpus.metrics.registry import METRICS, definition
from peercorpus.metrics.text_overlap import BleuCounts, add_counts, bleu, corpus_bleu, count_bleu, rouge_l

__all__ = [
    "METRICS",
    "BertScore",
    "BertScores",
    "BleuCounts",
    "EmbedCosines",
    "Estimator",
    "Interval",
    "Metric",
    "PairedDifference",
    "Takes",
    "add_counts",
    "bert_score",
    "bert_scores",
    "bleu",
    "bootstrap",
    "compare_pairs",
    "corpus_bleu",
    "count_bleu",
    "definition",
    "embed_cos",
    "embed_cosines",
    "rouge_l",
]
