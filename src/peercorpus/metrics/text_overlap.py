"""BLEU and ROUGE-L, with the numbers of sacrebleu and rouge-score."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count
from operator import sub
from threading import Lock
from typing import TYPE_CHECKING

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.metric import check_references
from peercorpus.models.local_models import to_missing_extra

if TYPE_CHECKING:
    from sacrebleu import BLEU


@dataclass(frozen=True, slots=True)
class BleuCounts:
    """Counts from which BLEU is computed; the counts of a corpus are the sums over its texts.

    Attributes:
        candidate_words: Words of the candidate, as tokenised by 13a.
        reference_words: Words of the reference that is closest in length.
        matches: N-grams found in a reference, for n from 1 to 4.
        ngrams: N-grams of the candidate, for n from 1 to 4.
    """

    candidate_words: int
    reference_words: int
    matches: tuple[int, ...]
    ngrams: tuple[int, ...]

    def bleu(self) -> float:
        """Return BLEU in [0, 100], equal to sacrebleu's `corpus_bleu`; 0 if no n-gram matches."""
        return self._compute_score(effective_order=False)

    def sentence_bleu(self) -> float:
        """Return BLEU in [0, 100], equal to sacrebleu's `sentence_bleu`, which ignores n-grams longer than the text."""
        return self._compute_score(effective_order=True)

    def _compute_score(self, effective_order: bool) -> float:
        compute = _load_sacrebleu().compute_bleu
        words = self.candidate_words, self.reference_words
        counts = list(self.matches), list(self.ngrams)
        return float(compute(*counts, *words, smooth_method="exp", effective_order=effective_order).score)


def count_bleu(candidate: str, references: Sequence[str]) -> BleuCounts:
    """Return the counts of one text against all its references; the text may be empty.

    Raises:
        UndefinedMetricError: There is no reference.
        MissingExtraError: sacrebleu is not installed.
    """
    check_references("BLEU", references)
    score = _load_sacrebleu().sentence_score(candidate, references)
    return BleuCounts(
        candidate_words=score.sys_len,
        reference_words=score.ref_len,
        matches=tuple(score.counts),
        ngrams=tuple(score.totals),
    )


def add_counts(counts: Iterable[BleuCounts]) -> BleuCounts:
    """Sum the counts of texts to those of a corpus.

    Raises:
        UndefinedMetricError: There are no counts.
    """
    rows = [(each.candidate_words, each.reference_words, *each.matches, *each.ngrams) for each in counts]
    if not rows:
        raise UndefinedMetricError("BLEU of a corpus is undefined without a text; give at least one.")
    candidate_words, reference_words, *both = (sum(column) for column in zip(*rows, strict=True))
    orders = len(both) // 2
    return BleuCounts(
        candidate_words=candidate_words,
        reference_words=reference_words,
        matches=tuple(both[:orders]),
        ngrams=tuple(both[orders:]),
    )


def subtract_counts(whole: BleuCounts, part: BleuCounts) -> BleuCounts:
    """Return the counts of a corpus without one of its texts."""
    return BleuCounts(
        candidate_words=whole.candidate_words - part.candidate_words,
        reference_words=whole.reference_words - part.reference_words,
        matches=tuple(map(sub, whole.matches, part.matches)),
        ngrams=tuple(map(sub, whole.ngrams, part.ngrams)),
    )


def bleu(candidate: str, references: Sequence[str]) -> float:
    """Return the BLEU of one text in [0, 100], for display: a mean of these is not the BLEU of the corpus.

    Raises:
        UndefinedMetricError: There is no reference.
        MissingExtraError: sacrebleu is not installed.
    """
    return count_bleu(candidate, references).sentence_bleu()


def corpus_bleu(candidates: Sequence[str], references_of_each: Sequence[Sequence[str]]) -> float:
    """Return the BLEU of a corpus in [0, 100]; texts may differ in their number of references.

    Args:
        candidates: The texts to measure.
        references_of_each: The references of each text, in the same order; sacrebleu takes the transposed form.

    Raises:
        UndefinedMetricError: There is no text, or a text has no reference.
        MissingExtraError: sacrebleu is not installed.
    """
    both = zip(candidates, references_of_each, strict=True)
    return add_counts(count_bleu(candidate, references) for candidate, references in both).bleu()


@cache
def _load_sacrebleu() -> "BLEU":
    try:
        from sacrebleu import BLEU
    except ModuleNotFoundError as error:
        raise to_missing_extra(error) from None
    # Counts are the same with and without `effective_order`; with it, sacrebleu does not warn about single texts.
    return BLEU(effective_order=True)


MAX_CACHED_WORDS = 2**19
"""Maximum number of cached word stems, about 60 MB; beyond it the cache is emptied, which only costs stemming again."""
MAX_CACHED_TEXTS = 2**12
"""Number of cached stemmed texts, about 25 MB of reviews; a reference is thus prepared once for all candidates."""
NO_LETTER = bytes(byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789" else 32 for byte in range(256))
"""Translation table: every byte that rouge-score does not count as part of a word becomes a space."""


def rouge_l(candidate: str, references: Sequence[str]) -> float:
    """Return the ROUGE-L F1 of a text in [0, 1]: the best over its references, and 0 if either text has no word.

    Equal to the F-measure of `rouge_score.rouge_scorer.RougeScorer(["rougeL"], use_stemmer=True)`, bit for bit. As
    there, words consist of a-z and 0-9 only, so a text in another script has none.

    Args:
        candidate: The text to measure; it may be empty.
        references: At least one text; each is compared separately.

    Raises:
        UndefinedMetricError: There is no reference.
        MissingExtraError: rouge-score or rapidfuzz is not installed.
    """
    check_references("ROUGE-L", references)
    words = _words()
    length = words.prepared(candidate)
    similarity = words.similarity
    return max(
        _compute_f1(similarity(length, reference), length, reference) for reference in map(words.prepared, references)
    )


def _compute_f1(common: int, candidate: str, reference: str) -> float:
    """Return the harmonic mean of precision and recall, computed in the order of `rouge_score.scoring.fmeasure`."""
    if not common:
        return 0.0
    precision = common / len(candidate)
    recall = common / len(reference)
    return 2 * precision * recall / (precision + recall)


class _Words(dict[bytes, str]):
    """Maps each word to one character that represents its stem, so that a text becomes a string of such characters.

    rapidfuzz compares such strings without hashing. A word without any token maps to the empty string.
    """

    def __init__(self) -> None:
        """Create an empty mapping.

        Raises:
            MissingExtraError: rouge-score or rapidfuzz is not installed.
        """
        super().__init__()
        try:
            from rapidfuzz.distance import LCSseq
            from rouge_score.tokenizers import DefaultTokenizer
        except ModuleNotFoundError as error:
            raise to_missing_extra(error) from None
        self.similarity: Callable[[str, str], int] = LCSseq.similarity
        self._tokenize: Callable[[str], list[str]] = DefaultTokenizer(use_stemmer=True).tokenize
        self._characters: dict[str, str] = {}
        self._numbers = count()
        self.prepared: Callable[[str], str] = lru_cache(maxsize=MAX_CACHED_TEXTS)(self._prepare)

    def __missing__(self, word: bytes) -> str:
        characters = []
        for token in self._tokenize(word.decode("ascii")):
            # If two threads meet the same token, a number is skipped; none is assigned twice.
            character = self._characters.get(token) or self._characters.setdefault(token, chr(next(self._numbers)))
            characters.append(character)
        return self.setdefault(word, "".join(characters))

    def _prepare(self, text: str) -> str:
        words = text.lower().encode("ascii", "replace").translate(NO_LETTER).split()
        return "".join(map(self.__getitem__, words))


_word_caches: list[_Words] = []
_cache_lock = Lock()


def _words() -> _Words:
    """Return the cached words; a call keeps its own even if another thread replaces the cache."""
    with _cache_lock:
        if not _word_caches or len(_word_caches[0]) > MAX_CACHED_WORDS:
            _word_caches[:] = [_Words()]
        return _word_caches[0]
