"""Different spellings of the same words give the same words."""

import pytest

from peercorpus.links.names import plain_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deep Learning", "deep   LEARNING."),
        ('Schr\\"{o}dinger bridges', "Schr\u00f6dinger Bridges"),
        ('Schr\\"odinger', "Schro\u0308dinger"),
        ("Erd\\H{o}s and Erd\\H os", "Erd\u0151s and Erd\u0151s"),
        ("na\u00efve Bayes", "naive bayes"),
        ("$k$-NN: a \\emph{fast} way", "k-NN \u2014 a fast way"),
        ("Stra\u00dfen \\ss", "strassen ss"),
        ("\\L{}ukasiewicz", "\u0141ukasiewicz"),
        ("Games &amp; Plans", "Games & Plans"),
        ("CO<sub>2</sub>", "CO 2"),
        ("\ufb01nite \uff21\uff22", "finite AB"),
        ("multi-agent", "multi\u2011agent"),
        ("An inter-\nview", "an interview"),
    ],
)
def test_typographic_variants_are_equal(one: str, other: str) -> None:
    assert plain_words(one) == plain_words(other) != []


def test_real_differences_are_kept() -> None:
    assert plain_words("$\\alpha$-GAN") == ["alpha", "gan"] != plain_words("$\\beta$-GAN")
    assert plain_words("Part I") != plain_words("Part II")
    assert plain_words("\u6df1\u5ea6\u5b66\u4e60") == ["\u6df1\u5ea6\u5b66\u4e60"]


@pytest.mark.parametrize("text", ["", "  ", "\u2014 !", "$$", "{}", "\n"])
def test_punctuation_alone_is_not_a_word(text: str) -> None:
    assert plain_words(text) == []
