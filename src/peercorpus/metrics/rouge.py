"""ROUGE-L of a text against its references: the numbers of `rouge-score`, three hundred times as fast."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from threading import Lock

from peercorpus.metrics.packages import missing
from peercorpus.metrics.samples import check_references

KNOWN_WORDS = 2**19
"""Words whose stems are kept, some 60 MB; with more, all are forgotten, and cost no more than being stemmed again."""
KNOWN_TEXTS = 2**12
"""Texts kept as stems, so that a reference is prepared once for all its candidates: some 25 MB of reviews."""
NO_LETTER = bytes(place if chr(place) in "abcdefghijklmnopqrstuvwxyz0123456789" else 32 for place in range(256))
"""Makes a space of every byte that `rouge-score` does not count to a word."""


def rouge_l(candidate: str, references: Sequence[str], *, stem: bool = True) -> float:
    """ROUGE-L F1 of a text, in [0, 1]: the best over its references, and 0 where either has no word.

    Equal to the F-measure of `rouge_score.rouge_scorer.RougeScorer(["rougeL"], use_stemmer=stem)`, bit for bit. Only
    a-z and 0-9 make words, as they do there; a text in another script has none.

    Args:
        candidate: The text to measure; it may be empty.
        references: What it is compared with, each alone; at least one.
        stem: Whether words longer than three letters are compared by their Porter stems, in NLTK's variant.

    Raises:
        UndefinedMetricError: There is no reference.
        MissingExtraError: rouge-score or rapidfuzz is not installed.
    """
    check_references("ROUGE-L", references)
    words = _words(stem)
    length, similarity = words.prepared(candidate), words.similarity
    return max(_f1(similarity(length, reference), length, reference) for reference in map(words.prepared, references))


def _f1(common: int, candidate: str, reference: str) -> float:
    """The harmonic mean of precision and recall, in the order of operations of `rouge_score.scoring.fmeasure`."""
    if not common:
        return 0.0
    precision, recall = common / len(candidate), common / len(reference)
    return 2 * precision * recall / (precision + recall)


class _Words(dict[bytes, str]):
    """Each word met so far → one character that stands for its stem; a text becomes a string of them.

    A string, as rapidfuzz then compares numbers, and hashes nothing. A word that leaves no token becomes no character.
    """

    def __init__(self, stem: bool) -> None:
        """Begin with no word.

        Raises:
            MissingExtraError: rouge-score or rapidfuzz is not installed.
        """
        super().__init__()
        try:
            from rapidfuzz.distance import LCSseq
            from rouge_score.tokenizers import DefaultTokenizer
        except ModuleNotFoundError as error:
            raise missing(error) from None
        self.similarity: Callable[[str, str], int] = LCSseq.similarity
        self._tokenize: Callable[[str], list[str]] = DefaultTokenizer(use_stemmer=stem).tokenize
        self._characters: dict[str, str] = {}
        self._numbers = count()
        self.prepared: Callable[[str], str] = lru_cache(maxsize=KNOWN_TEXTS)(self._prepare)

    def __missing__(self, word: bytes) -> str:
        characters = [self._character(token) for token in self._tokenize(word.decode("ascii"))]
        return self.setdefault(word, "".join(characters))

    def _character(self, token: str) -> str:
        known = self._characters.get(token)
        # Numbers are skipped where two threads meet the same token, and never given twice.
        return known or self._characters.setdefault(token, chr(next(self._numbers)))

    def _prepare(self, text: str) -> str:
        words = text.lower().encode("ascii", "replace").translate(NO_LETTER).split()
        return "".join(map(self.__getitem__, words))


_known: dict[bool, _Words] = {}
_renewal = Lock()


def _words(stem: bool) -> _Words:
    """The words met so far; those of a call stay as they are until it ends, whatever other threads do."""
    with _renewal:
        words = _known.get(stem)
        if words is None or len(words) > KNOWN_WORDS:
            words = _known[stem] = _Words(stem)
        return words
