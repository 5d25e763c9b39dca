"""What an answer that is not scored counts as, where such answers count as wrong: the worst that can be said."""

from collections.abc import Mapping
from typing import Any

import msgspec

from peercorpus.benchmark.cases import AskedScore
from peercorpus.benchmark.outcomes import (
    BertScored,
    Embedded,
    Found,
    Judged,
    Overlap,
    SaidDecision,
    SaidNumber,
    SaidNumbers,
    Scored,
)
from peercorpus.metrics.bleu_counts import count_bleu


def farthest(one: AskedScore) -> float:
    """The end of the scale that is farther from what the reviewers gave."""
    return one.low if one.mean - one.low > one.high - one.mean else one.high


def said_numbers(asked: list[AskedScore], said: Mapping[str, float]) -> SaidNumbers:
    """What is said of each field beside what the reviewers gave."""
    fields = (SaidNumber(one.aspect.value, one.field, one.low, one.high, one.mean, said[one.field]) for one in asked)
    return SaidNumbers(tuple(fields))


def wrong(scored: Scored, metadata: Mapping[str, Any]) -> Found:
    """The opposite decision, said with certainty; the far end of each scale; an empty text, and the lowest marks.

    Args:
        scored: The scorer.
        metadata: Of the sample.
    """
    if scored is Scored.DECISION:
        accepted = bool(metadata["accepted"])
        return SaidDecision(accepted, not accepted, float(not accepted))
    if scored is Scored.NUMBERS:
        asked = msgspec.convert(metadata["asked"], list[AskedScore])
        return said_numbers(asked, {one.field: farthest(one) for one in asked})
    if scored is Scored.OVERLAP:
        return Overlap(0.0, count_bleu("", metadata["references"]), 0)
    if scored is Scored.BERT_SCORE:
        return BertScored(0.0, 0.0, 0.0, 0.0)
    return Embedded(0.0, 0.0) if scored is Scored.EMBED_COS else Judged(1, 1, 1, 1, 1)
