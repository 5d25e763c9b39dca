"""Replies are matched to the points they answer on any evidence, and to none without evidence."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.criticism.align import Label, find_labels, read_label
from peercorpus.criticism.answers import STEPS, Reply, ReviewPoint, calibrate, find_answers, make_matcher
from peercorpus.criticism.split import split_text
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import AnswerMethod, PointAnswer
from peercorpus.records.reviews import Section

WEAKNESSES = (
    "1. The ablation of the cumulus encoder is missing, so its benefit is not shown.\n"
    "2. The comparison with NimbusNet on the stratus benchmark is unfair, as it was trained on fewer images.\n"
    "3. Equation 4 defines the humidity prior without any motivation."
)
QUESTIONS = "1. How long does training take on one machine?\n2. Why is the learning rate halved after ten epochs?"
SECTIONS = (
    Section(SectionKind.WEAKNESSES, "weaknesses", WEAKNESSES),
    Section(SectionKind.QUESTIONS, "questions", QUESTIONS),
)


def points() -> list[ReviewPoint]:
    return [ReviewPoint(section, point) for section in SECTIONS for point in split_text(section.text, section.kind)]


def answers(text: str, **more: object) -> dict[int, list[PointAnswer]]:
    return find_answers(make_matcher(points()), [Reply("reply", text, None, **more)])  # type: ignore[arg-type]


def test_labels_match_answers_to_points_of_their_own_list() -> None:
    found = answers("**W2:** We do not agree.\n\n**Q1:** Two days.\n\n**Q2:** It helps.\n\n**W1:** We will.")
    assert {index: [one.text for one in many] for index, many in found.items()} == {
        1: ["**W2:** We do not agree."],
        3: ["**Q1:** Two days."],
        4: ["**Q2:** It helps."],
        0: ["**W1:** We will."],
    }
    assert {one.method for many in found.values() for one in many} == {AnswerMethod.LABEL}


def test_quoted_words_match_an_answer() -> None:
    text = "> Equation 4 defines the humidity prior without any motivation.\n\nWe now motivate it by the dew point."
    ((index, (answer,)),) = answers(text).items()
    assert (index, answer.method) == (2, AnswerMethod.QUOTE)
    assert answer.text == "We now motivate it by the dew point."
    assert text[answer.start : answer.end] == answer.text


def test_rare_words_match_an_answer_to_a_point() -> None:
    ((index, (answer,)),) = answers("NimbusNet was trained on the same images of the stratus benchmark.").items()
    assert index == 1
    assert answer.method in {AnswerMethod.SIMILARITY, AnswerMethod.QUOTE}


def test_a_quotation_alone_answers_nothing() -> None:
    assert answers("> Equation 4 defines the humidity prior without any motivation.") == {}


@pytest.mark.parametrize(
    "text", ["", "   ", "Thank you for your review.", "[1] Smith et al. Clouds. 2020.", "We thank the reviewers."]
)
def test_thanks_and_references_answer_nothing(text: str) -> None:
    assert answers(text) == {}


def test_only_passages_for_the_reviewer_count() -> None:
    text = "Reviewer A: **W1** Here it is.\n\nReviewer B: **W3** Motivated now."
    found = answers(text, is_to_all=True, concerning=("Reviewer B: **W3** Motivated now.",))
    assert set(found) == {2}
    assert all(one.is_to_all and text[one.start : one.end] == one.text for many in found.values() for one in many)


@given(st.lists(st.sampled_from([*WEAKNESSES.split(), "**W1**", "\n\n", "> ", "Q2:", "We agree.", "(3)"]), max_size=40))
def test_answers_do_not_overlap(words: list[str]) -> None:
    text = " ".join(words)
    found = [one for many in answers(text).values() for one in many]
    assert all(text[one.start : one.end] == one.text and one.text.strip() for one in found)
    spans = sorted((one.start, one.end) for one in found)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("Q1 & Q2: yes", [("q", 1), ("q", 2)]),
        ("W1-W3: yes", [("w", 1), ("w", 2), ("w", 3)]),
        ("Regarding weakness 3, yes", [("w", 3)]),
        ("(2) Yes.", [("", 2)]),
        ("Response to Question 4: yes", [("q", 4)]),
        ("A2. Yes.", [("", 2)]),
        ("It takes 3 days, 2 hours and 1.5 minutes.", []),
    ],
)
def test_replies_name_labels_in_many_ways(words: str, labels: list[tuple[str, int]]) -> None:
    found = [(label.letter, label.number) for label in find_labels(words)]
    assert [label for label in found if label in labels] == labels
    assert set(found) <= set(labels)


@pytest.mark.parametrize(
    ("label", "read"),
    [
        ("W2", Label("w", 2)),
        ("(3)", Label("", 3)),
        ("Question 1", Label("q", 1)),
        ("2.1", Label("", 2, 1)),
        ("(a)", None),
    ],
)
def test_labels_of_points_are_read(label: str, read: Label | None) -> None:
    assert read_label(label) == read


def test_confidence_rises_with_the_probability() -> None:
    assert set(STEPS) == set(AnswerMethod)
    for method in AnswerMethod:
        shares = [calibrate(step / 100, method, is_to_all=False) for step in range(101)]
        assert shares == sorted(shares)
        assert 0 < shares[0] <= shares[-1] < 1
        assert calibrate(1.0, method, is_to_all=True) == shares[0]
