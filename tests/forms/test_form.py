"""Scores of any shape are scores in venues of any size, and prose that begins with numbers is prose."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from joining import joined
from peercorpus.forms.form import Question, ReviewForm, read_score
from peercorpus.forms.invitation_forms import derive_form, infer_form
from peercorpus.forms.reviews import read_fields
from peercorpus.forms.scales import leading_number
from peercorpus.openreview.objects import Note
from peercorpus.records.enums import Aspect, FieldType, Phase

TEN = [
    *("Trivial or wrong", "Strong rejection", "Clear rejection", "Ok but not good enough - rejection"),
    *("Marginally below acceptance threshold", "Marginally above acceptance threshold", "Good paper, accept"),
    *("Top 50% of accepted papers, clear accept", "Top 15% of accepted papers, strong accept"),
    "Top 5% of accepted papers, seminal paper",
]
FOUR = ["poor", "fair", "good", "excellent"]
SIX = ["Strong reject", "Reject", "Weak reject", "Weak accept", "Accept", "Strong accept"]
WRITTEN = ["{n}: {w}", "{n} - {w}", "{n} = {w}", "({n}) {w}", "{w} ({n})", "{w} [{n}]"]
RATINGS = [
    *("rating", "Overall Rating", "recommendation", "overall", "Q6_Overall_Score", "verdict", "finalRecommendation")
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
def test_a_named_score_is_read(name: str, scale: list[Option], data: st.DataObject, api: int) -> None:
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
def test_a_remark_is_text(name: str, answer: str) -> None:
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


NUMBERS = st.integers(-3, 12) | st.floats(0, 10).map(lambda number: round(number * 2) / 2)
WORDS = st.sampled_from(["strong accept", "Weak Accept", "Reject", "good", "", "not applicable"])
JOINED = st.sampled_from(["{n}: {w}", "{n} {w}", "{n} = {w}", "({n}) {w}", "{n}", "{w}", "{n}-{n} {w}", "{w} {n}"])
TEXTS = st.builds(lambda shape, n, w: shape.format(n=n, w=w), JOINED, NUMBERS, WORDS) | st.text(max_size=12)
ANSWERS: st.SearchStrategy[Any] = NUMBERS | TEXTS | st.lists(TEXTS | NUMBERS, max_size=2)
SCALES = st.dictionaries(NUMBERS.map(float), TEXTS, min_size=1, max_size=8)
BOUNDS = st.tuples(NUMBERS, NUMBERS).map(lambda ends: (float(min(ends)), float(max(ends))))


@st.composite
def questions(draw: st.DrawFn, name: str = "rating") -> Question:
    """A question of any type; a score with answers, a range, or neither."""
    kind = draw(st.sampled_from([None, *FieldType]))
    labels = draw(SCALES | st.just({})) if kind in {None, FieldType.SCORE} else {}
    bounds = draw(st.none() | BOUNDS) if kind is FieldType.SCORE and not labels else None
    return Question(name, draw(st.integers(0, 9)), labels, bounds, draw(st.booleans()), type=kind)


@given(questions(), ANSWERS)
def test_a_value_is_offered_or_null(question: Question, answer: Any) -> None:
    score = read_score(answer, "rating", ReviewForm("F", {"rating": question}))
    if question.labels and score.value is not None:
        assert score.value in question.labels
    if question.bounds and score.value is not None:
        assert question.bounds[0] <= score.value <= question.bounds[1]
    assert score.unit is None or 0 <= score.unit <= 1
    assert score.offered == tuple(sorted(question.labels))


@given(st.lists(TEXTS.filter(bool), min_size=1, max_size=8, unique=True), st.data())
def test_an_offered_answer_has_its_number(options: list[str], data: st.DataObject) -> None:
    asked = {"id": "F", "edit": {"note": {"content": {"rating": {"value": {"param": {"enum": options}}}}}}}
    form = derive_form(json.dumps(asked).encode())
    assert form is not None
    offered = form.question("rating").offered
    assert len(offered) in {0, sum(leading_number(option) is not None for option in options)}
    answer = data.draw(st.sampled_from(options) | ANSWERS)
    value = read_score(answer, "rating", form).value
    assert value is None or value in offered


@given(questions(), ANSWERS)
def test_a_value_comes_from_the_answer(question: Question, answer: Any) -> None:
    score = read_score(answer, "rating", ReviewForm("F", {"rating": question}))
    if score.value is None:
        return
    given_answer = answer[0] if isinstance(answer, list) else answer
    if not isinstance(given_answer, str):
        assert score.value == given_answer
    elif leading_number(given_answer) is not None:
        assert given_answer.lstrip(" (").startswith(str(int(score.value)))
    else:
        assert given_answer.strip() in question.labels[score.value]


FIELDS = ["rating", "Clarity", "review", "code_of_conduct", "title", "final_justification", "new_field", "flag"]


@st.composite
def forms(draw: st.DrawFn) -> ReviewForm:
    """Any form that asks some of the fields."""
    names = draw(st.lists(st.sampled_from(FIELDS), unique=True))
    return ReviewForm("F", {name: draw(questions(name)) for name in names})


@pytest.mark.slow
@given(forms(), st.dictionaries(st.sampled_from(FIELDS), ANSWERS))
def test_parsed_fields_together_equal_the_notes_content(form: ReviewForm, fields: dict[str, Any]) -> None:
    assert joined(read_fields(fields, form), fields) == fields


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("Weak Accept", 3.0),
        ("Strong Accept", None),
        ("Accept", 4.0),
        ("Not applicable", None),
        (["3"], 3.0),
        ([3, 4], None),
    ],
)
def test_the_form_gives_words_numbers(answer: Any, value: float | None) -> None:
    labels = {4.0: "4: Accept", 3.0: "3: Weak Accept", 2.0: "2 Reject", 1.0: "1 Reject"}
    form = ReviewForm("F", {"rating": Question("rating", 1, labels, is_choice=True)})
    assert read_score(answer, "rating", form).value == value
    assert read_score("Reject", "rating", form).value is None


@pytest.mark.parametrize("answer", ["2-3", "3 / 4", "3 to 4", "3 or 4", "3,5"])
def test_ranges_and_fractions_are_no_numbers(answer: str) -> None:
    score = read_score(answer, "rating", ReviewForm("inferred:V", {}))
    assert (score.value, score.label) == (None, answer)


def test_too_large_a_number_is_null() -> None:
    assert read_score(10**400, "rating", ReviewForm("inferred:V", {})).value is None


def test_two_ratings_of_two_times_keep_their_times() -> None:
    scores = read_fields(
        {"preliminary_rating": "4: Borderline accept", "final_rating": "5: Weak accept"}, ReviewForm("F", {})
    ).scores
    assert {(score.aspect, score.phase, score.value) for score in scores} == {
        (Aspect.RECOMMENDATION, Phase.INITIAL, 4.0),
        (Aspect.RECOMMENDATION, Phase.FINAL, 5.0),
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"Soundness": "4: Strong", "Excitement": "3: Ambivalent", "Reviewer_Confidence": "3: Pretty sure"},
        {"novelty": 5, "technical_quality": 6, "scope": 4, "reviewer_confidence": 3},
        {"claims_and_evidence": "Yes", "audience": "Yes"},
    ],
    ids=["EMNLP 2023", "TheWebConf", "TMLR"],
)
def test_a_form_without_an_overall_rating_gives_none(fields: dict[str, Any]) -> None:
    scores = read_fields(fields, ReviewForm("inferred:V", {})).scores
    assert len(scores) == len(fields)
    assert Aspect.RECOMMENDATION not in {score.aspect for score in scores}
