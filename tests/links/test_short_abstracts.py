"""A short abstract cannot distinguish papers, whatever it has in common with another."""

import pytest

from naming import Naming
from peercorpus.links import similarity
from peercorpus.links.similarity import Likeness, PaperComparer, normalise_head

SHORT = "We count white clouds above three towns and find that they are fewer than was thought."
LONG = f"{SHORT} A camera looks up, and each picture is cut into squares."
"""The short one contains more than half of its word pairs."""


@pytest.fixture(autouse=True)
def _few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count words in fewer buckets, which is enough for two papers and fast."""
    monkeypatch.setattr(similarity, "COUNTER_SLOTS", 1 << 12)


def likeness(one: str, other: str) -> Likeness:
    """Return the similarity of two papers with different titles."""
    heads = normalise_head("Clouds Over Town", one), normalise_head("What a Camera Sees of Clouds", other)
    return PaperComparer(heads).likeness(*heads)


def test_a_short_abstract_does_not_make_two_papers_similar() -> None:
    shorter = " ".join(SHORT.split()[:14])
    found = likeness(shorter, " ".join(LONG.split()[:26]))
    assert found.abstract is not None
    assert found.abstract >= 0.5
    assert found.rule() is None
    assert not found.may_be_one()


def test_two_short_abstracts_do_not_make_papers_similar_either() -> None:
    shorter = " ".join(SHORT.split()[:14])
    assert likeness(shorter, shorter).rule() is None


def test_two_abstracts_just_long_enough_make_papers_similar() -> None:
    assert likeness(SHORT, SHORT).rule() == Naming("abstracts", "texts cannot be compared")
