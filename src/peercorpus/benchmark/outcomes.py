"""What became of one case in one run, as the logs keep it.

It holds all that the numbers of a run are made of, so that each can be made again from the log.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from peercorpus.metrics.bleu_counts import BleuCounts


class Scored(StrEnum):
    """What a scorer looks at; the name of the scorer in a log."""

    DECISION = "decision"
    NUMBERS = "numbers"
    OVERLAP = "overlap"
    """Words shared with what people wrote."""
    BERT_SCORE = "bert_score"
    EMBED_COS = "embed_cos"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class SaidDecision:
    """An answer to `acceptance`.

    Attributes:
        accepted: What was decided.
        said: What the model says.
        probability: Of acceptance, as the model says; None where it says none.
    """

    accepted: bool
    said: bool
    probability: float | None


@dataclass(frozen=True, slots=True)
class SaidNumber:
    """One field of an answer to `scores`.

    Attributes:
        gold: The mean of what the reviewers gave.
        said: On the scale from `low` to `high`.
    """

    aspect: str
    field: str
    low: float
    high: float
    gold: float
    said: float


@dataclass(frozen=True, slots=True)
class SaidNumbers:
    """An answer to `scores`."""

    fields: tuple[SaidNumber, ...]


@dataclass(frozen=True, slots=True)
class Overlap:
    """A text and those that people wrote.

    Attributes:
        rouge_l: F1, on [0, 1], the best of the references.
        bleu: What BLEU of a corpus is summed from.
        words: Of the text, parted at white space.
        cut_off: Whether the model was stopped before its end.
    """

    rouge_l: float
    bleu: BleuCounts
    words: int
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class BertScored:
    """BERTScore of a text, on [0, 1] as a rule, each the best of the references.

    Attributes:
        truncated: Share of the texts compared that are longer than the model reads.
    """

    precision: float
    recall: float
    f1: float
    truncated: float


@dataclass(frozen=True, slots=True)
class Embedded:
    """Cosine of the embeddings of two texts, the best of the references.

    Attributes:
        truncated: As in `BertScored`.
    """

    cosine: float
    truncated: float


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge says of a text: whole numbers from 1 to 10."""

    quality: float
    constructiveness: float
    accuracy: float
    completeness: float
    clarity: float


Found = SaidDecision | SaidNumbers | Overlap | BertScored | Embedded | Judged
FOUND: Mapping[Scored, type[Found]] = {
    Scored.DECISION: SaidDecision,
    Scored.NUMBERS: SaidNumbers,
    Scored.OVERLAP: Overlap,
    Scored.BERT_SCORE: BertScored,
    Scored.EMBED_COS: Embedded,
    Scored.JUDGE: Judged,
}
"""What each scorer keeps."""
GRADER_FAILED = "grader_failed"
"""Why an answer has no marks though it has words: never the answer's own fault."""
KEPT = "found"
"""The name in a score's metadata under which it is kept."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case in one run.

    Attributes:
        forum_id: The paper, which is what chance draws.
        found: What the scorer found; where the answer is not scored, what it would count as if it were wrong.
        unscored: Why it is not scored; None where it is.
    """

    case_id: str
    forum_id: str
    found: Found
    unscored: str | None = None


def keep(found: Found) -> dict[str, Any]:
    """A finding as a score's metadata."""
    return {KEPT: msgspec.to_builtins(found)}


def read_found(scored: Scored, metadata: Mapping[str, Any]) -> Found:
    """A finding from a score's metadata.

    Raises:
        KeyError: It has none.
        msgspec.ValidationError: It has another form.
    """
    return msgspec.convert(metadata[KEPT], FOUND[scored])


Number = Callable[[list[Outcome]], float]
"""A number of some outcomes; raises `UndefinedMetricError` where they do not define it."""
