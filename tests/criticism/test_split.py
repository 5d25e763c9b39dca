"""Reviews are split into points: the form's field first, then headings and lists, then words; nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.criticism.split import split_text
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import KindSource, PointKind

S, W, Q, G, M, NO = (
    PointKind.STRENGTH,
    PointKind.WEAKNESS,
    PointKind.QUESTION,
    PointKind.SUGGESTION,
    PointKind.MINOR,
    PointKind.OTHER,
)  # fmt: skip


def kinds(text: str, section: SectionKind = SectionKind.ASSESSMENT) -> list[PointKind]:
    return [point.kind for point in split_text(text, section)]


@given(st.text(alphabet="ab .?!\n-+*#:1()W>", max_size=120), st.sampled_from(SectionKind))
def test_points_cover_every_character_once(text: str, section: SectionKind) -> None:
    points = split_text(text, section)
    assert "".join(text[point.start : point.end] for point in points) == (text if text.strip() else "")
    assert all(point.sentences for point in points)


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        (SectionKind.STRENGTHS, S),
        (SectionKind.WEAKNESSES, W),
        (SectionKind.QUESTIONS, Q),
        (SectionKind.LIMITATIONS, PointKind.LIMITATION),
        (SectionKind.SUMMARY, PointKind.SUMMARY),
    ],
)
def test_a_field_for_one_kind_decides(section: SectionKind, kind: PointKind) -> None:
    points = split_text("- The clouds are missing.\n- Why is it well written?", section)
    assert {(point.kind, point.kind_source) for point in points} == {(kind, KindSource.FIELD)}
    assert len(points) == 2


def test_headings_decide_in_a_field_for_everything() -> None:
    text = "**Strengths**\n- Grey.\n\n**Weaknesses**\n1. Blue.\n2. Green.\n\nMinor:\n- Red.\n\nQuestions\n1) Which hue?"
    assert kinds(text) == [NO, S, NO, W, W, NO, M, NO, Q]


def test_a_heading_within_a_field_decides_before_the_field() -> None:
    assert kinds("- No clouds.\n\nMinor comments:\n- Page 2.", SectionKind.WEAKNESSES) == [W, NO, M]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The paper is well written and easy to follow.", S),
        ("The paper is not well written.", W),
        ("It is unclear how clouds are counted.", W),
        ("The paper would be more convincing with clouds.", G),
        ("Please compare with CloudNet.", G),
        ("Have the authors tried rain?", Q),
        ("I wonder whether rain matters.", Q),
        ("Typo on page 3.", M),
        ("This paper proposes a theory of clouds.", PointKind.SUMMARY),
    ],
)
def test_words_decide_if_nothing_else_does(text: str, kind: PointKind) -> None:
    assert kinds(text) == [kind]


def test_a_paragraph_of_praise_and_criticism_is_two_points() -> None:
    text = "The paper is well written. I like the clouds. However, rain is missing. It is unclear why."
    points = split_text(text, SectionKind.ASSESSMENT)
    assert [(point.kind, text[point.start : point.end].strip()[:12]) for point in points] == [
        (S, "The paper is"),
        (W, "However, rai"),
    ]


@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        ("The novelty is limited; this is incremental.", "novelty"),
        ("An ablation study on more datasets is missing.", "experiments"),
        ("The code is not released, so I cannot reproduce it.", "reproducibility"),
        ("Clouds.", None),
    ],
)
def test_the_aspect_is_that_of_most_words(text: str, aspect: str | None) -> None:
    (point,) = split_text(text, SectionKind.WEAKNESSES)
    assert point.aspect == aspect


def test_lists_of_plus_and_minus_are_praise_and_criticism() -> None:
    assert kinds("+ Clouds.\n- Rain.\n+ Wind.") == [S, W, S]
    assert S not in kinds("- Clouds.\n- Rain.")
