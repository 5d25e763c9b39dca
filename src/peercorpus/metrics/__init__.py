"""Metrics of the benchmark and the reports: one definition each, with a signature for reproducibility."""

from peercorpus.metrics.bertscore import bert_scores

__all__ = ["bert_scores"]
