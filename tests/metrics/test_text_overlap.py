"""BLEU and ROUGE-L: known values, equality with sacrebleu and rouge-score, and corpus scores of resamples."""

from itertools import zip_longest
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import BLEU, sentence_bleu
from sacrebleu import corpus_bleu as sacrebleu_of_corpus

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.bertscore import bert_score
from peercorpus.metrics.embedding import embed_cos
from peercorpus.metrics.registry import definition
from peercorpus.metrics.text_overlap import BleuCounts, add_counts, bleu, corpus_bleu, count_bleu, rouge_l

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


def test_nothing_to_measure_is_an_error() -> None:
    with pytest.raises(UndefinedMetricError, match="reference"):
        bleu("the cat", [])
    with pytest.raises(UndefinedMetricError, match="reference"):
        corpus_bleu(["a", "b"], [["a"], []])
    with pytest.raises(UndefinedMetricError, match="text"):
        corpus_bleu([], [])


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


SCORER = RougeScorer(["rougeL"], use_stemmer=True)
ROUGE_WORDS = [
    *("the", "reviews", "reviewing", "reviewer", "of", "a", "papers'", "relational", "skies", "dying", "news", "x_y"),
    *("—", "naïve", "Ünïcode", "漢字", "\u0130", "\u017f", "\u212a", "10:", "-3.5", "\ud800"),
]
"""Some become different letters in lower case; one is half a character."""


def rouge_score(candidate: str, references: list[str]) -> float:
    return float(SCORER.score_multi(references, candidate)["rougeL"].fmeasure)


@pytest.mark.parametrize(
    ("candidate", "references", "expected"),
    [
        ("the cat sat", ["the cat sat"], 1.0),
        ("the cat", ["the cat sat on it"], 2 * 1 * 0.4 / 1.4),
        ("a b c d", ["a x c d"], 0.75),
        ("a b", ["b a"], 0.5),
        ("reviews", ["reviewing"], 1.0),
        ("a b", ["x y", "a b", "a"], 1.0),
        ("The\nCat!", ["the cat"], 1.0),
        ("", ["the cat"], 0.0),
        ("the cat", [""], 0.0),
        ("", [""], 0.0),
        ("漢字", ["漢字"], 0.0),
    ],
)
def test_known_rouge(candidate: str, references: list[str], expected: float) -> None:
    assert rouge_l(candidate, references) == expected


@pytest.mark.slow
def test_pairs_equal_rouge_score_bit_by_bit() -> None:
    chance = Random(7)

    def text() -> str:
        return "".join(
            chance.choice(ROUGE_WORDS) + chance.choice([" ", "\n", ", ", ".\n\n", "\t"])
            for _ in range(chance.randrange(40))
        )

    unlike = 0
    for _ in range(1000):
        candidate, references = text(), [text() for _ in range(chance.randint(1, 3))]
        assert rouge_l(candidate, references) == rouge_score(candidate, references)
        unlike += 0 < rouge_l(candidate, references) < 1
    assert unlike > 900


@given(st.text(), st.text())
def test_any_two_texts_are_equal_to_rouge_score(candidate: str, reference: str) -> None:
    assert rouge_l(candidate, [reference]) == rouge_score(candidate, [reference])


def test_a_single_string_is_not_a_list_of_references() -> None:
    with pytest.raises(TypeError, match="list"):
        rouge_l("the cat sat", "the cat sat")
    with pytest.raises(TypeError, match="list"):
        bleu("the cat sat", "the cat sat")
    with pytest.raises(TypeError, match="list"):
        bert_score("the cat sat", "the cat sat", model="nowhere")
    with pytest.raises(TypeError, match="list"):
        embed_cos("the cat sat", "the cat sat", model="nowhere")
    assert rouge_l("the cat sat", ["the cat sat"]) == 1.0
