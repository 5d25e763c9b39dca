"""BLEU as sacrebleu counts it: of one text for display, of a corpus, and of any resample of it from sums of counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.packages import missing
from peercorpus.metrics.samples import check_references

if TYPE_CHECKING:
    from sacrebleu import BLEU


@dataclass(frozen=True, slots=True)
class BleuCounts:
    """What BLEU is computed from; the counts of a corpus are the sums of those of its texts.

    Attributes:
        candidate_words: Words of the candidate, as 13a splits it.
        reference_words: Words of the reference that is nearest in length.
        matches: N-grams found in a reference, of one to four words.
        ngrams: N-grams of the candidate, of one to four words.
    """

    candidate_words: int
    reference_words: int
    matches: tuple[int, ...]
    ngrams: tuple[int, ...]

    def bleu(self) -> float:
        """BLEU in [0, 100] of the texts counted, as sacrebleu's `corpus_bleu` gives it; 0 where no n-gram matches."""
        return self._score(effective_order=False)

    def sentence_bleu(self) -> float:
        """BLEU in [0, 100] of one text, as sacrebleu's `sentence_bleu` gives it: without orders it is too short for."""
        return self._score(effective_order=True)

    def _score(self, effective_order: bool) -> float:
        compute = _sacrebleu().compute_bleu
        words = self.candidate_words, self.reference_words
        counts = list(self.matches), list(self.ngrams)
        return float(compute(*counts, *words, smooth_method="exp", effective_order=effective_order).score)


def count_bleu(candidate: str, references: Sequence[str]) -> BleuCounts:
    """The counts of one text against all its references together; it may be empty.

    Raises:
        UndefinedMetricError: There is no reference.
        MissingExtraError: sacrebleu is not installed.
    """
    check_references("BLEU", references)
    score = _sacrebleu().sentence_score(candidate, references)
    return BleuCounts(score.sys_len, score.ref_len, tuple(score.counts), tuple(score.totals))


def add_counts(counts: Iterable[BleuCounts]) -> BleuCounts:
    """The counts of a corpus from those of its texts.

    Raises:
        UndefinedMetricError: There is none.
    """
    rows = [(each.candidate_words, each.reference_words, *each.matches, *each.ngrams) for each in counts]
    if not rows:
        raise UndefinedMetricError("BLEU of a corpus has no value without a text; give at least one.")
    candidate_words, reference_words, *both = (sum(column) for column in zip(*rows, strict=True))
    orders = len(both) // 2
    return BleuCounts(candidate_words, reference_words, tuple(both[:orders]), tuple(both[orders:]))


def bleu(candidate: str, references: Sequence[str]) -> float:
    """BLEU in [0, 100] of one text, for display: a mean of these is not the BLEU of a corpus.

    Raises:
        UndefinedMetricError: There is no reference.
        MissingExtraError: sacrebleu is not installed.
    """
    return count_bleu(candidate, references).sentence_bleu()


def corpus_bleu(candidates: Sequence[str], references_of_each: Sequence[Sequence[str]]) -> float:
    """BLEU in [0, 100] of a corpus; the texts need not have equally many references.

    Args:
        candidates: The texts to measure.
        references_of_each: The references of each, in the same order: not sacrebleu's own order, which is turned about.

    Raises:
        UndefinedMetricError: There is no text, or a text has no reference.
        MissingExtraError: sacrebleu is not installed.
    """
    both = zip(candidates, references_of_each, strict=True)
    return add_counts(count_bleu(candidate, references) for candidate, references in both).bleu()


@cache
def _sacrebleu() -> "BLEU":
    try:
        from sacrebleu import BLEU
    except ModuleNotFoundError as error:
        raise missing(error) from None
    # It counts the same with and without short orders; with them it does not warn about single texts.
    return BLEU(effective_order=True)
