"""The share of a model's texts in a population: counts, estimates, and the coverage of intervals."""

from random import Random

import pytest

from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.marked_share import (
    FEWEST_PAPERS,
    FEWEST_TEXTS,
    Sample,
    SampleCounter,
    estimate_share,
    marker_lists,
    marker_words,
)
from planted_shares import GREAT_RATIO, LEAST_RATIO, passage, planted, sampled, written


def counted(*texts: str) -> SampleCounter:
    counter = SampleCounter()
    for text in texts:
        counter.add("p", text)
    return counter


class TestWords:
    def test_every_list_has_a_source(self) -> None:
        for each in marker_lists():
            assert "arXiv:" in each.source
            assert all(word.isalpha() and word == word.lower() for word in each.words + each.frequent)
            assert not set(each.words) & set(each.frequent)
        assert {"commendable", "meticulously", "delves"} <= marker_words()


class TestCounting:
    def test_a_marked_share_is_of_passages(self) -> None:
        text = f"{passage(['Delves', 'pivotal'])} {passage()} {passage()} {passage(['REALM'])} delves"
        assert counted(text).sample() == Sample((1,), (0.5,))

    @pytest.mark.parametrize(
        ("word", "share"), [("delvesx", 0.0), ("redelves", 0.0), ("*delves*,", 1.0), ("Delves", 1.0)]
    )
    def test_only_whole_words_count(self, word: str, share: float) -> None:
        assert counted(passage([word])).sample().marked_share == share

    def test_a_short_text_is_in_no_sample(self) -> None:
        counter = counted("delves", "", passage())
        assert (counter.short, counter.sample().size) == (2, 1)

    def test_texts_are_added_up_by_paper_however_they_come(self) -> None:
        texts = [("b", passage()), ("a", passage(["delves"])), ("b", passage(["delves"]))]
        assert sampled(iter(texts)) == sampled(iter(texts[::-1])) == Sample((1, 2), (1.0, 1.0))

    def test_zero_texts_have_no_share(self) -> None:
        with pytest.raises(UndefinedMetricError):
            _ = Sample((), ()).marked_share

    def test_a_population_has_enough_texts(self) -> None:
        def of(papers: int, texts: int) -> Sample:
            return Sample((texts,) * papers, (0.0,) * papers)

        assert of(FEWEST_PAPERS, -(-FEWEST_TEXTS // FEWEST_PAPERS)).is_large
        assert not of(FEWEST_PAPERS, 1).is_large
        assert not of(FEWEST_PAPERS - 1, FEWEST_TEXTS).is_large


def even(share: float, papers: int = 100) -> Sample:
    return Sample((2,) * papers, (2 * share,) * papers)


class TestEstimate:
    @pytest.mark.parametrize("alpha", [0.0, 0.1, 0.3, 1.0])
    def test_a_share_without_variance_is_exact(self, alpha: float) -> None:
        observed = even(0.05 * (1 - alpha) + 0.6 * alpha)
        exact = estimate_share(observed, even(0.05), even(0.6), 50)
        assert (exact.value, exact.low, exact.high) == pytest.approx((alpha, alpha, alpha), abs=1e-9)
        assert estimate_share(observed, even(0.05), None, 50).value <= alpha + 1e-9

    def test_model_texts_that_resemble_human_ones_give_no_estimate(self) -> None:
        with pytest.raises(UndefinedMetricError, match=r"5\.0 %.*7\.0 %"):
            estimate_share(even(0.06), even(0.05), even(0.07), 50)

    def test_papers_are_drawn_and_not_texts(self) -> None:
        apart = Sample((1,) * 400, (1.0, 0.0) * 200)
        together = Sample((4,) * 100, (4.0, 0.0) * 50)
        widths = [
            interval.high - interval.low
            for interval in (estimate_share(one, even(0.05), None, 400) for one in (apart, together))
        ]
        assert widths[1] / widths[0] == pytest.approx(2.0, rel=0.25)

    def test_one_seed_at_any_size(self) -> None:
        chance = Random(1)
        observed = sampled(written(chance, 60, 0.1, 8.0))
        assert estimate_share(observed, even(0.05), None, 200) == estimate_share(observed, even(0.05), None, 200)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "ratio"), [(0.0, LEAST_RATIO), (0.1, LEAST_RATIO), (0.3, LEAST_RATIO), (0.1, GREAT_RATIO)]
)
def test_the_interval_contains_the_planted_share(share: float, ratio: float) -> None:
    """If intervals cover 90 %, as they must, sixteen or more of twenty contain the planted share in 96 % of cases."""
    made = [planted(seed, share, ratio, papers=60, resamples=200) for seed in range(20)]
    assert sum(holds for holds, _, _ in made) >= 16
    assert sum(bound <= share for _, bound, _ in made) >= 18
    assert sum(value for _, _, value in made) / 20 == pytest.approx(share, abs=0.03)
