"""BLEU: known values, equality with sacrebleu, and corpus scores of resamples from sums of counts."""

from itertools import zip_longest
from math import exp
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu import BLEU, sentence_bleu
from sacrebleu import corpus_bleu as sacrebleu_of_corpus

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.registry import definition
from peercorpus.metrics.text_overlap import BleuCounts, add_counts, bleu, corpus_bleu, count_bleu

WORDS = [
    *("we", "find", "the", "method", "is", "not", "new", ",", "and", "(again)", "it's", "don't", "3.5", "&", "&amp;"),
    *("—", "naïve", "漢字", "U.S.", "well-\nknown", "."),
]


def texts_with_references(chance: Random, count: int) -> tuple[list[str], list[list[str]]]:
    def text() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randrange(40)))

    candidates, references = [], []
    for _ in range(count):
        references.append([text() for _ in range(chance.randint(1, 4))])
        kept = references[-1][0].split(" ")
        candidates.append(" ".join(word for word in kept if chance.random() < 0.8) if chance.random() < 0.7 else text())
    return candidates, references


def theirs(candidates: list[str], references: list[list[str]]) -> float:
    turned = [list(column) for column in zip_longest(*references)]
    return float(sacrebleu_of_corpus(candidates, turned, force=True).score)


def test_known_counts() -> None:
    counts = count_bleu("the cat sat on it", ["the cat sat there", "a cat is on it"])
    assert counts == BleuCounts(5, 5, (5, 3, 1, 0), (5, 4, 3, 2))


def test_known_values() -> None:
    assert bleu("a b c d e", ["a b c d e"]) == pytest.approx(100)
    assert bleu("a b c d", ["a b c d e"]) == pytest.approx(100 * exp(1 - 5 / 4))
    assert corpus_bleu(["a b c d e", "x"], [["a b c d e"], ["y"]]) == pytest.approx(100 * (5 / 6) ** (1 / 4))


def test_empty_candidates_are_zero_as_sacrebleu_says() -> None:
    assert bleu("", ["the cat"]) == sentence_bleu("", ["the cat"]).score == 0.0
    assert corpus_bleu([""], [["the cat"]]) == 0.0


def test_nothing_to_measure_is_an_error() -> None:
    with pytest.raises(UndefinedMetricError, match="reference"):
        bleu("the cat", [])
    with pytest.raises(UndefinedMetricError, match="reference"):
        corpus_bleu(["a", "b"], [["a"], []])
    with pytest.raises(UndefinedMetricError, match="text"):
        corpus_bleu([], [])


@pytest.mark.slow
def test_a_thousand_texts_are_equal_to_sacrebleu() -> None:
    candidates, references = texts_with_references(Random(3), 1000)
    for candidate, those in zip(candidates, references, strict=True):
        assert bleu(candidate, those) == sentence_bleu(candidate, those).score
    assert corpus_bleu(candidates, references) == theirs(candidates, references)
    assert corpus_bleu(candidates, references) != pytest.approx(theirs(candidates, [each[:1] for each in references]))


@pytest.mark.slow
def test_resamples_are_equal_to_sacrebleu() -> None:
    chance = Random(4)
    candidates, references = texts_with_references(chance, 60)
    counts = [count_bleu(candidate, those) for candidate, those in zip(candidates, references, strict=True)]
    for _ in range(50):
        places = chance.choices(range(60), k=60)
        expected = theirs([candidates[place] for place in places], [references[place] for place in places])
        assert add_counts(counts[place] for place in places).bleu() == expected


@given(st.text(), st.lists(st.text(), min_size=1, max_size=3))
def test_any_text_is_equal_to_sacrebleu(candidate: str, references: list[str]) -> None:
    assert bleu(candidate, references) == sentence_bleu(candidate, references).score
    assert corpus_bleu([candidate], [references]) == theirs([candidate], [references])


@pytest.mark.parametrize(("name", "effective_order"), [("bleu", False), ("sentence_bleu", True)])
def test_the_signature_is_that_of_sacrebleu(name: str, effective_order: bool) -> None:
    metric = BLEU(effective_order=effective_order)
    metric.corpus_score(["a", "b"], [["a", "b"], ["c", None]])  # type: ignore[list-item]
    settings, _, version = str(metric.get_signature()).rpartition("|version:")
    assert f"|{settings}|sacrebleu:{version}|" in definition(name).signature
