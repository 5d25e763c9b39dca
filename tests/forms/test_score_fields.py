"""Scores of any shape are scores in venues of any size, and prose that begins with numbers is prose."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.forms.invitation_forms import infer_form
from peercorpus.forms.reviews import read_fields
from peercorpus.openreview.objects import Note
from peercorpus.records.enums import Aspect

TEN = [
    "Trivial or wrong",
    "Strong rejection",
    "Clear rejection",
    "Ok but not good enough - rejection",
    "Marginally below acceptance threshold",
    "Marginally above acceptance threshold",
    "Good paper, accept",
    "Top 50% of accepted papers, clear accept",
    "Top 15% of accepted papers, strong accept",
    "Top 5% of accepted papers, seminal paper",
]
FOUR = ["poor", "fair", "good", "excellent"]
SIX = ["Strong reject", "Reject", "Weak reject", "Weak accept", "Accept", "Strong accept"]
WRITTEN = ["{n}: {w}", "{n} - {w}", "{n} = {w}", "({n}) {w}", "{w} ({n})", "{w} [{n}]"]
RATINGS = [
    "rating",
    "Overall Rating",
    "recommendation",
    "overall",
    "Q6_Overall_Score",
    "verdict",
    "finalRecommendation",
]
ASPECTS = ["confidence", "Reviewer_Confidence", "soundness", "clarity", "novelty", "presentation"]

Option = tuple[float, Any]


@st.composite
def scales(draw: st.DrawFn, words: list[str] | None = None) -> list[Option]:
    """The options of a question, each with its number: whole, half or negative steps, alone or with words."""
    words = words or draw(st.sampled_from([TEN, FOUR, SIX]))
    start, step = draw(st.sampled_from([(1, 1), (0, 1), (-3, 1), (1, 0.5), (0, 2)]))
    numbers = [start + step * place for place in range(len(words))]
    shape = draw(st.sampled_from([*WRITTEN, "{n}", "int", "float"]))
    if shape == "int":
        return [(number, int(number) if float(number).is_integer() else number) for number in numbers]
    if shape == "float":
        return [(number, float(number)) for number in numbers]
    return [(number, shape.format(n=f"{number:g}", w=word)) for number, word in zip(numbers, words, strict=True)]


def as_note(fields: dict[str, Any], api: int) -> Note:
    if api == 1:
        return Note(id="r", forum="f", invitation="V/-/Paper1/Official_Review", content=fields)
    return Note(
        id="r",
        forum="f",
        invitations=["V/Submission1/-/Official_Review"],
        content={name: {"value": answer} for name, answer in fields.items()},
    )


def read_values(name: str, answers: list[Any], api: int) -> list[float | None]:
    """Return the value of one field in each review, read with the form that the reviews show; None if no score."""
    notes = [
        as_note({name: answer, "review": f"Review {place} says much."}, api) for place, answer in enumerate(answers)
    ]
    form = infer_form("V", (note.fields for note in notes))
    read = [read_fields(note.fields, form).scores for note in notes]
    return [scores[0].value if scores else None for scores in read]


@given(st.sampled_from([*RATINGS, *ASPECTS]), scales(), st.data(), st.sampled_from([1, 2]))
def test_a_named_score_is_read_in_a_venue_of_any_size(
    name: str, scale: list[Option], data: st.DataObject, api: int
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(scale), min_size=1, max_size=30))
    assert read_values(name, [answer for _, answer in chosen], api) == [number for number, _ in chosen]


@given(st.sampled_from(["fit_to_venue", "q7", "Theme"]), scales(SIX), st.data(), st.sampled_from([1, 2]))
def test_verdicts_with_numbers_are_scores_under_any_name(
    name: str, scale: list[Option], data: st.DataObject, api: int
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(scale), min_size=1, max_size=30))
    assert read_values(name, [answer for _, answer in chosen], api) == [number for number, _ in chosen]


@given(
    st.sampled_from(["rating", "verdict"]), st.lists(st.sampled_from([*SIX, *"ABCD", "B+"]), min_size=1, max_size=30)
)
def test_words_and_letters_are_kept_as_labels(name: str, answers: list[str]) -> None:
    form = infer_form("V", ({name: answer} for answer in answers))
    scores = [score for answer in answers for score in read_fields({name: answer}, form).scores]
    assert [(score.label, score.value) for score in scores] == [(answer, None) for answer in answers]
    assert {score.aspect for score in scores} == {Aspect.RECOMMENDATION}


NOUNS = st.sampled_from(["weaknesses", "typos", "figures", "experiments", "baselines", "pages", "unclear figures"])
ENDS = st.sampled_from(
    ["are missing.", "should be discussed in the paper", "need work: see the list", "in Section 2", ""]
)
AMOUNTS = st.integers(1, 30).map(str) | st.sampled_from(["0.5", "2.5", "2019", "2023"])
PROSE = (
    st.builds("{} main {} {}".format, AMOUNTS, NOUNS, ENDS)
    | st.builds("{} {} {}".format, AMOUNTS, NOUNS, ENDS)
    | st.builds("1. The {} {}".format, NOUNS, ENDS)
    | st.builds("1) The {} {}\n2) More.".format, NOUNS, ENDS)
    | st.builds("1: the {} {}".format, NOUNS, ENDS)
    | st.builds("{} improvement over {}".format, st.sampled_from(["0.5", "2", "3.1"]), NOUNS)
    | st.integers(1990, 2026).map(str)
    | st.builds("{} pages".format, st.integers(4, 12))
).map(str.strip)


@given(
    st.sampled_from(["weaknesses", "remarks", "minor_comments", "length_of_paper", "questions"]),
    st.lists(PROSE, min_size=1, max_size=30),
    st.sampled_from([1, 2]),
)
def test_prose_that_begins_with_numbers_stays_prose(name: str, answers: list[str], api: int) -> None:
    notes = [as_note({name: answer}, api) for answer in answers]
    form = infer_form("V", (note.fields for note in notes))
    for note in notes:
        assert read_fields(note.fields, form).scores == ()


@pytest.mark.parametrize("name", ["clarity", "novelty", "evaluation"])
@pytest.mark.parametrize("answer", ["3 main weaknesses: see below.", "2 unclear figures", "0.5 improvement at most"])
def test_a_remark_in_a_field_that_may_be_a_score_is_text(name: str, answer: str) -> None:
    form = infer_form("V", [{name: answer}, {name: "The text reads well, apart from the proofs."}])
    assert [section.text for section in read_fields({name: answer}, form).sections] == [answer]


@pytest.mark.parametrize("name", ["number_of_typos", "hours_spent", "year_of_first_publication"])
def test_an_amount_is_no_score(name: str) -> None:
    assert read_values(name, ["3", "5", "4"], 2) == [None, None, None]


def test_ratings_remain_scores_beside_one_long_answer() -> None:
    answers = [f"{number}: {word}" for number, word in enumerate(TEN, 1)]
    assert read_values("rating", [*answers, "word " * 100, "", None], 2) == [*range(1, 11), None, None, None]


def test_a_venues_own_name_of_its_rating_counts() -> None:
    answers = [{"merit": f"{number} {word} work"} for number, word in enumerate(TEN, 1)]
    form = infer_form("V", answers, {"merit": Aspect.RECOMMENDATION})
    named = [read_fields(fields, form) for fields in answers]
    assert [reading.scores[0].value for reading in named] == list(range(1, 11))
