"""Recommendations of different forms on Re²'s scale of ten, and back."""

from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naming import Naming
from peercorpus.forms.scales import unified_scale
from peercorpus.importers.re2 import RATINGS

Labels: TypeAlias = dict[float, str]

NEURIPS_2022 = {
    10.0: "10: Award quality: Technically flawless paper with groundbreaking impact",
    9.0: "9: Very Strong Accept: Technically flawless paper",
    8.0: "8: Strong Accept: Technically strong paper",
    7.0: "7: Accept: Technically solid paper, with high impact",
    6.0: "6: Weak Accept: Technically solid, moderate-to-high impact paper",
    5.0: "5: Borderline accept: Technically solid paper where reasons to accept outweigh reasons to reject",
    4.0: "4: Borderline reject: Technically solid paper where reasons to reject outweigh reasons to accept",
    3.0: "3: Reject: For instance, a paper with technical flaws",
    2.0: "2: Strong Reject: For instance, a paper with major technical flaws",
    1.0: "1: Very Strong Reject: For instance, a paper with trivial results",
}
ICLR_2020 = {1.0: "1: Reject", 3.0: "3: Weak Reject", 6.0: "6: Weak Accept", 8.0: "8: Accept"}
DEFAULT = {
    10.0: "10: Top 5% of accepted papers, seminal paper",
    7.0: "7: Good paper, accept",
    6.0: "6: Marginally above acceptance threshold",
    5.0: "5: Marginally below acceptance threshold",
    4.0: "4: Ok but not good enough - rejection",
    1.0: "1: Trivial or wrong",
}
SIX = {
    6.0: "6: strong accept",
    5.0: "5: accept",
    4.0: "4: borderline accept",
    3.0: "3: borderline reject",
    2.0: "2: reject",
    1.0: "1: strong reject",
}
ARR = {3.0: "3 = Findings: could be accepted", 2.5: "2.5 = Borderline Findings", 2.0: "2 = Resubmit next cycle"}


@pytest.mark.parametrize(
    ("labels", "value", "place"),
    [
        (NEURIPS_2022, 5, 6.0),
        (NEURIPS_2022, 4, 5.0),
        (NEURIPS_2022, 10, 10.0),
        (NEURIPS_2022, 1, 1.0),
        (SIX, 3, 5.0),
        (SIX, 4, 6.0),
        (SIX, 5, 8.0),
        (ICLR_2020, 3, 3.0),
        (ICLR_2020, 8, 8.0),
        (DEFAULT, 5, 5.0),
        (DEFAULT, 7, 7.0),
        (DEFAULT, 8, None),
    ],
)
def test_answers_stay_on_their_side(labels: Labels, value: float, place: float | None) -> None:
    scale = unified_scale(labels)
    assert scale is not None
    assert scale.unify(value) == place


def test_re2s_card_errs_about_its_threshold() -> None:
    scale = unified_scale(NEURIPS_2022)
    assert scale is not None
    assert RATINGS[round(scale.unify(5) or 0)] == Naming("marginally above")


@pytest.mark.parametrize(
    "labels",
    [
        {},
        ARR,
        {1.0: "1: no", 2.0: "2: yes"},
        {1.0: "1: accept", 2.0: "2: reject"},
        {1.0: "1: reject", 2.0: "2: accept"},
    ],
    ids=["no scale", "one answer on no side", "no side at all", "sides reversed", "one answer a side"],
)
def test_without_threshold_nothing_is_unified(labels: Labels) -> None:
    assert unified_scale(labels) is None


@given(st.sets(st.integers(0, 20), min_size=4), st.data())
def test_the_unified_scale_is_invertible(values: set[int], data: st.DataObject) -> None:
    ordered = sorted(values)
    threshold = data.draw(st.integers(2, len(ordered) - 2))
    words = {value: "reject" if place < threshold else "accept" for place, value in enumerate(ordered)}
    scale = unified_scale({float(value): f"{value}: {word}" for value, word in words.items()})
    assert scale is not None
    places = [scale.unify(value) for value in ordered]
    assert places == sorted(set(places), key=lambda place: place or 0)
    assert [scale.restore(place) for place in places if place is not None] == ordered
    assert all(
        (place or 0) >= 6 if words[value] == "accept" else (place or 9) <= 5
        for value, place in zip(ordered, places, strict=True)
    )
