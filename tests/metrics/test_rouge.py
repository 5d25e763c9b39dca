"""ROUGE-L: known values, and equality with rouge-score."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics import text_overlap
from peercorpus.metrics.text_overlap import rouge_l

SCORERS = {stem: RougeScorer(["rougeL"], use_stemmer=stem) for stem in (True, False)}
WORDS = [
    *("the", "reviews", "reviewing", "reviewer", "of", "a", "papers'", "relational", "skies", "dying", "news", "x_y"),
    *("—", "naïve", "Ünïcode", "漢字", "\u0130", "\u017f", "\u212a", "10:", "-3.5", "\ud800"),
]
"""Some become different letters in lower case; one is half a character."""


def theirs(candidate: str, references: list[str], stem: bool) -> float:
    return float(SCORERS[stem].score_multi(references, candidate)["rougeL"].fmeasure)


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
def test_known_values(candidate: str, references: list[str], expected: float) -> None:
    assert rouge_l(candidate, references) == expected


def test_without_stems_words_are_compared_as_they_are() -> None:
    assert rouge_l("reviews", ["reviewing"], stem=False) == 0.0


def test_no_reference_is_an_error() -> None:
    with pytest.raises(UndefinedMetricError, match="reference"):
        rouge_l("the cat", [])


@pytest.mark.slow
@pytest.mark.parametrize("stem", [True, False])
def test_a_thousand_pairs_are_equal_bit_for_bit_to_rouge_score(stem: bool) -> None:
    chance = Random(7)

    def text() -> str:
        return "".join(
            chance.choice(WORDS) + chance.choice([" ", "\n", ", ", ".\n\n", "\t"]) for _ in range(chance.randrange(40))
        )

    unlike = 0
    for _ in range(1000):
        candidate, references = text(), [text() for _ in range(chance.randint(1, 3))]
        assert rouge_l(candidate, references, stem=stem) == theirs(candidate, references, stem)
        unlike += 0 < rouge_l(candidate, references, stem=stem) < 1
    assert unlike > 900


@given(st.text(), st.text(), st.booleans())
def test_any_two_texts_are_equal_to_rouge_score(candidate: str, reference: str, stem: bool) -> None:
    assert rouge_l(candidate, [reference], stem=stem) == theirs(candidate, [reference], stem)


@given(st.lists(st.text("aesingd 1\n", max_size=30), min_size=2, max_size=4))
def test_texts_of_few_letters_are_equal_to_rouge_score(texts: list[str]) -> None:
    assert rouge_l(texts[0], texts[1:]) == theirs(texts[0], texts[1:], True)


def test_cached_words_are_evicted_without_changing_results(monkeypatch: pytest.MonkeyPatch) -> None:
    before = rouge_l("one two three four", ["one three four"])
    held = text_overlap._words(True)
    assert text_overlap._words(True) is held
    monkeypatch.setattr(text_overlap, "MAX_CACHED_WORDS", 3)
    assert rouge_l("one two three four", ["one three four"]) == before
    assert text_overlap._words(True) is not held
