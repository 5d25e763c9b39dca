"""Models' output in their documented formats becomes an answer in our form, or is unreadable for a stated reason."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asked_cases import CONFIDENCE, NOVELTY, OVERALL, RATING, SOUNDNESS, acceptance, rebutting, reviewing, scoring
from peercorpus.benchmark.adapters.reviewer_models import ADAPTERS, load_adapter
from peercorpus.benchmark.answers import (
    UnreadableAnswerError,
    Unscored,
    read_decision,
    read_review_answer,
    read_score_answer,
)
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case
from peercorpus.errors import PeercorpusError

OUTPUTS = Path(__file__).parent / "outputs"
OF_ADAPTER = {
    "sea-e": "sea-e",
    "openreviewer": "openreviewer",
    "deepreviewer": "deepreviewer",
    "deepreviewer-fast": "deepreviewer-fast",
    "cyclereviewer": "cyclereviewer",
    "cyclereviewer-large": "cyclereviewer",
}
"""Return which adapter reads which recorded answer."""


def said(name: str) -> str:
    return (OUTPUTS / f"{name}.md").read_text(encoding="utf-8")


def read(name: str, case: Case, text: str | None = None, *, is_complete: bool = True) -> str:
    return load_adapter(OF_ADAPTER[name]).read(case, said(name) if text is None else text, is_complete=is_complete)


def reason(name: str, case: Case, text: str, *, is_complete: bool = True) -> Unscored:
    with pytest.raises(UnreadableAnswerError) as caught:
        read(name, case, text, is_complete=is_complete)
    return caught.value.reason


def changed(name: str, before: str, after: str) -> str:
    text = said(name)
    assert before in text
    return text.replace(before, after)


def test_every_adapter_has_a_recorded_answer() -> None:
    assert set(OF_ADAPTER.values()) == set(ADAPTERS)
    assert {path.stem for path in OUTPUTS.glob("*.md")} == set(OF_ADAPTER)


@pytest.mark.parametrize(
    ("name", "accept"),
    [
        ("sea-e", True),
        ("openreviewer", False),
        ("deepreviewer", False),
        ("deepreviewer-fast", True),
        ("cyclereviewer", False),
        ("cyclereviewer-large", True),
    ],
)
def test_the_models_own_final_decision_is_used(name: str, accept: bool) -> None:
    decision = read_decision(read(name, acceptance()))
    assert (decision.accept, decision.probability) == (accept, None)


@pytest.mark.parametrize(
    ("name", "rating", "soundness"),
    [
        ("sea-e", 6, 3),
        ("openreviewer", 5, 2),
        ("deepreviewer", 4.5, 3),
        ("deepreviewer-fast", 6.75, 3.25),
        ("cyclereviewer", 6.5, 2.5),
        ("cyclereviewer-large", 7, 3),
    ],
)
def test_scores_are_the_mean_of_the_reviewers(name: str, rating: float, soundness: float) -> None:
    asked = (RATING, SOUNDNESS)
    assert read_score_answer(read(name, scoring(*asked)), asked) == {"rating": rating, "soundness": soundness}


@pytest.mark.parametrize("name", [name for name in OF_ADAPTER if name != "sea-e"])
def test_confidence_is_read_if_the_format_has_it(name: str) -> None:
    value = json.loads(read(name, scoring(CONFIDENCE)))["confidence"]
    assert value == {"openreviewer": 4}.get(name, 3.5)


def test_simulated_reviewers_count_rather_than_the_models_summary() -> None:
    text = changed("deepreviewer", "## Rating:\n\n4.5", "## Rating:\n\n9")
    assert json.loads(read("deepreviewer", scoring(RATING), text)) == {"rating": 4.5}


@pytest.mark.parametrize("name", OF_ADAPTER)
def test_a_review_is_prose_then_scores(name: str) -> None:
    review = read_review_answer(read(name, reviewing(RATING, OVERALL)), (RATING,))
    assert review.text.startswith("### summary\n\n")
    assert "### weaknesses" in review.text
    assert list(review.scores) == ["rating"]
    for word in ("boxed", "Decision", "Reasons", "ethics", "justification", "****", "Soundness"):
        assert word not in review.text


def test_a_rule_determines_which_text_is_the_review() -> None:
    of_deep = read_review_answer(read("deepreviewer", reviewing()), ()).text
    assert "introduces a tray" in of_deep
    assert "    drop();\n}\n```" in of_deep
    assert "### suggestions\n\nMeasure both." in of_deep
    of_cycle = read_review_answer(read("cyclereviewer", reviewing()), ()).text
    assert "A tray sorts pebbles by weight." in of_cycle
    assert "Stones are sorted." not in of_cycle


def test_a_number_on_another_scale_is_not_converted() -> None:
    assert reason("sea-e", scoring(RATING, OVERALL), said("sea-e")) is Unscored.OTHER_SCALE


def test_a_field_the_model_lacks_has_no_number() -> None:
    assert reason("sea-e", scoring(RATING, CONFIDENCE), said("sea-e")) is Unscored.NO_NUMBER
    assert reason("cyclereviewer", scoring(NOVELTY), said("cyclereviewer")) is Unscored.NO_NUMBER


def test_an_adapter_declares_the_fields_it_provides() -> None:
    case = scoring(RATING, OVERALL, CONFIDENCE, NOVELTY, SOUNDNESS)
    assert load_adapter("sea-e").asked(case) == (RATING, SOUNDNESS)
    assert load_adapter("openreviewer").asked(case) == (RATING, CONFIDENCE, SOUNDNESS)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("6", 6),
        ("**6**", 6),
        ("- 6", 6),
        ("6.", 6),
        ("3.5/10", 3.5),
        ("7 / 10", 7),
        ("7 out of 10", 7),
        ("10", 10),
        ("10: strong accept", 10),
        ("Rating: 8 (accept)", 8),
        ("Score: 4 - borderline reject", 4),
        ("5 Marginally below the acceptance threshold", 5),
        ("6\n\nThe 3 beaches of Section 2 would be 8 if they were wet.", 6),
        ("6\n6", 6),
    ],
)
def test_a_number_is_read_by_rule(written: str, value: float) -> None:
    text = changed("sea-e", "6 marginally above the acceptance threshold", written)
    assert json.loads(read("sea-e", scoring(RATING), text)) == {"rating": value}


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("", Unscored.NO_NUMBER),
        ("N/A", Unscored.NO_NUMBER),
        ("Rating: N/A", Unscored.NO_NUMBER),
        ("I would give this paper a 7.", Unscored.NO_NUMBER),
        ("3 experiments are missing", Unscored.NO_NUMBER),
        ("6-7", Unscored.NO_NUMBER),
        ("6 or 7", Unscored.NO_NUMBER),
        ("-6", Unscored.NO_NUMBER),
        ("6%", Unscored.NO_NUMBER),
        ("3rd", Unscored.NO_NUMBER),
        ("1.2.3", Unscored.NO_NUMBER),
        ("six", Unscored.NO_NUMBER),
        ("٦", Unscored.NO_NUMBER),
        ("6\n8", Unscored.TWO_ANSWERS),
        ("0", Unscored.OFF_SCALE),
        ("11", Unscored.OFF_SCALE),
        ("10.5", Unscored.OFF_SCALE),
        ("3/5", Unscored.OTHER_SCALE),
        ("60/100", Unscored.OTHER_SCALE),
        ("3 (of 5)", Unscored.OTHER_SCALE),
        ("4\n\n**Rating:**\n7", Unscored.TWO_ANSWERS),
    ],
)
def test_no_number_is_guessed(written: str, why: Unscored) -> None:
    text = changed("sea-e", "6 marginally above the acceptance threshold", written)
    assert reason("sea-e", scoring(RATING), text) is why


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("", Unscored.NO_DECISION),
        ("- Decision: Accept/Reject", Unscored.TWO_ANSWERS),
        ("- Decision: Accept or Reject", Unscored.TWO_ANSWERS),
        ("- Decision: not accepted", Unscored.NO_DECISION),
        ("The paper could be accepted.", Unscored.NO_DECISION),
        ("N/A", Unscored.NO_DECISION),
        ("Acceptable", Unscored.NO_DECISION),
        ("Accept\n\n**Paper Decision:**\nReject", Unscored.TWO_ANSWERS),
    ],
)
def test_no_decision_is_guessed(written: str, why: Unscored) -> None:
    text = said("sea-e").split("- Decision:")[0] + written
    assert reason("sea-e", acceptance(), text) is why


@pytest.mark.parametrize(
    "written", ["Reject", "**Reject**", "- **Decision:** Reject", "Decision: rejected", "Rejection"]
)
def test_a_decision_is_read_by_rule(written: str) -> None:
    text = said("sea-e").split("- Decision:")[0] + written
    assert read_decision(read("sea-e", acceptance(), text)).accept is False


@pytest.mark.parametrize(("rating", "accept"), [("10", True), ("8", True), ("6", True), ("5", False), ("1", False)])
def test_the_forms_wording_makes_the_decision(rating: str, accept: bool) -> None:
    text = changed("openreviewer", "## Rating\n5", f"## Rating\n{rating}")
    assert read_decision(read("openreviewer", acceptance(), text)).accept is accept


def test_a_rating_between_labels_decides_nothing() -> None:
    text = changed("openreviewer", "## Rating\n5", "## Rating\n5.5")
    assert reason("openreviewer", acceptance(), text) is Unscored.NO_DECISION


@pytest.mark.parametrize("name", OF_ADAPTER)
def test_prose_without_the_format_is_unreadable(name: str) -> None:
    for case in (acceptance(), scoring(RATING), reviewing(RATING)):
        assert reason(name, case, "I would accept this paper: 8 of 10.") is Unscored.NO_FORMAT
        assert reason(name, case, " \n") is Unscored.EMPTY


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("sea-e", "**Questions:**"),
        ("openreviewer", "## Questions"),
        ("deepreviewer", "## Questions:"),
        ("deepreviewer-fast", "## Questions:"),
        ("cyclereviewer", "## Strengths"),
    ],
)
def test_a_truncated_answer_is_reported(name: str, end: str) -> None:
    text = said(name).split(end)[0] + end + "\nHow is"
    for case in (acceptance(), reviewing()):
        assert reason(name, case, text) is Unscored.CUT_OFF
    if name != "deepreviewer":
        assert reason(name, scoring(RATING), text) is Unscored.CUT_OFF


def test_a_number_at_a_cut_may_be_incomplete() -> None:
    text = said("sea-e").split("6 marginally")[0]
    assert reason("sea-e", scoring(RATING), text + "1", is_complete=False) is Unscored.CUT_OFF
    assert json.loads(read("sea-e", scoring(RATING), text + "1")) == {"rating": 1}
    assert json.loads(read("sea-e", scoring(RATING), text + "6 marginally above")) == {"rating": 6}
    assert reason("sea-e", acceptance(), text + "6 marginally above") is Unscored.CUT_OFF


def test_a_reviewer_without_a_number_does_not_count() -> None:
    given = "## Rating\n\n3: reject, not good enough\n\n"
    text = changed("cyclereviewer", given, "")
    others = json.loads(read("cyclereviewer", scoring(RATING), text))["rating"]
    assert (others + 3) / 2 == 6.5
    assert json.loads(read("cyclereviewer", scoring(RATING), changed("cyclereviewer", given, "## Rating\n\n"))) == {
        "rating": others
    }
    unreadable = changed("cyclereviewer", "3: reject, not good enough", "three")
    assert reason("cyclereviewer", scoring(RATING), unreadable) is Unscored.NO_NUMBER
    assert read_decision(read("cyclereviewer", acceptance(), text)).accept is False


@pytest.mark.parametrize("end", ["Now I verify", "## Weaknesses:", "## Rating:"])
def test_simulated_reviewers_suffice_for_scores(end: str) -> None:
    text = said("deepreviewer").split(end)[0]
    assert json.loads(read("deepreviewer", scoring(RATING), text)) == {"rating": 4.5}
    assert reason("deepreviewer", acceptance(), text) is Unscored.CUT_OFF
    assert reason("deepreviewer", reviewing(), text) is Unscored.CUT_OFF


def test_two_final_reviews_are_ambiguous() -> None:
    text = said("deepreviewer-fast") + "\n" + said("deepreviewer-fast").replace("Accept", "Reject")
    assert reason("deepreviewer-fast", acceptance(), text) is Unscored.TWO_ANSWERS


def test_a_review_without_a_decision_still_scores() -> None:
    text = changed("deepreviewer-fast", "## Decision:\n\nAccept\n", "")
    assert json.loads(read("deepreviewer-fast", scoring(RATING), text)) == {"rating": 6.75}
    assert read_review_answer(read("deepreviewer-fast", reviewing(RATING), text), (RATING,)).scores == {"rating": 6.75}
    assert reason("deepreviewer-fast", acceptance(), text) is Unscored.CUT_OFF


def test_unfinished_simulated_reviewers_have_no_mean() -> None:
    text = said("deepreviewer").split("## Reviewer 2")[0]
    for case in (acceptance(), scoring(RATING), reviewing()):
        assert reason("deepreviewer", case, text, is_complete=False) is Unscored.CUT_OFF
    for case in (acceptance(), reviewing()):
        assert reason("deepreviewer", case, text) is Unscored.CUT_OFF


def test_none_of_these_models_answers_rebuttals() -> None:
    for name in ADAPTERS:
        with pytest.raises(PeercorpusError, match="rebuttal"):
            load_adapter(name).messages(rebutting(), "We sort pebbles.")


def test_a_brace_in_a_simulated_reviewers_text_ends_nothing() -> None:
    text = changed("deepreviewer", "Four beaches.", "Four beaches:\n\n```c\nif (m) {\n}\n}\n```")
    assert json.loads(read("deepreviewer", scoring(RATING), text)) == {"rating": 4.5}


HEADINGS = {
    "two": "## {}",
    "three": "### {}",
    "one": "# {}",
    "bold": "**{}**",
    "bold with a colon": "**{}:**",
    "a colon behind bold": "**{}**:",
    "both": "## **{}**",
    "closed": "## {} ##",
}
VALUES = {"next line": "{heading}\n{value}", "blank line": "{heading}\n\n{value}", "same line": "{heading}: {value}"}
SHAPES = [
    pytest.param(heading, value, id=f"{name}, {place}")
    for (name, heading), (place, value) in itertools.product(HEADINGS.items(), VALUES.items())
    if not (place == "same line" and name in {"bold with a colon", "a colon behind bold"})
]
PARTS = {"Summary": "We sort pebbles.", "Strengths": "It works.", "Weaknesses": "Few.", "Questions": "Why?"}
NUMBERS = {"Soundness": "3 good", "Rating": "6"}
LAST = {"sea-e": "Paper Decision", "openreviewer": "Confidence", "deepreviewer-fast": "Decision"}


def written(heading: str, value: str, parts: dict[str, str]) -> str:
    return "\n\n".join(value.format(heading=heading.format(name), value=text) for name, text in parts.items())


def scores_of(name: str, text: str, *asked: AskedScore, **more: bool) -> dict[str, float]:
    scores: dict[str, float] = json.loads(load_adapter(name).read(scoring(*asked), text, **more))
    return scores


class TestHeadings:
    @pytest.mark.parametrize(("heading", "value"), SHAPES)
    @pytest.mark.parametrize("name", LAST)
    def test_a_review_is_read_in_every_shape(self, name: str, heading: str, value: str) -> None:
        ending = {LAST[name]: "4" if name == "openreviewer" else "Accept"}
        text = written(heading, value, PARTS | NUMBERS | ending)
        text = text if name != "deepreviewer-fast" else f"\\boxed_review{{\n{text}\n}}"
        assert scores_of(name, text, RATING, SOUNDNESS) == {"rating": 6, "soundness": 3}
        assert read_decision(load_adapter(name).read(acceptance(), text)).accept
        review = read_review_answer(load_adapter(name).read(reviewing(RATING), text), (RATING,))
        assert review.scores == {"rating": 6}
        assert all(words in review.text for words in PARTS.values())
        assert "Soundness" not in review.text

    @pytest.mark.parametrize(("heading", "value"), SHAPES)
    def test_simulated_reviewers_are_read_in_every_shape(self, heading: str, value: str) -> None:
        reviewers = [
            f"{heading.format(f'Reviewer {number}')}\n\n{written(heading, value, PARTS | {'Rating': str(number + 3)})}"
            for number in (1, 2)
        ]
        text = "\n\n".join(["\\boxed_simreviewers{", *reviewers, "}"])
        assert scores_of("deepreviewer", text, RATING) == {"rating": 4.5}

    @pytest.mark.parametrize(("heading", "value"), SHAPES)
    def test_cycle_reviewers_are_read_in_every_shape(self, heading: str, value: str) -> None:
        reviewers = [written(heading, value, PARTS | {"Rating": rating}) for rating in ("6", "5")]
        chair = written(heading, value, {"Meta Review": "Pebbles.", "Paper Decision": "Reject"})
        text = "\n\n**********\n\n".join([*reviewers, chair])
        assert scores_of("cyclereviewer", text, RATING) == {"rating": 5.5}
        assert not read_decision(load_adapter("cyclereviewer").read(acceptance(), text)).accept

    def test_a_heading_within_the_prose_is_part_of_it(self) -> None:
        parts = PARTS | {"Weaknesses": "Few.\n\n### Strengths\n\nNone of these."} | NUMBERS | {"Confidence": "4"}
        text = written("## {}", VALUES["next line"], parts)
        review = read_review_answer(load_adapter("openreviewer").read(reviewing(), text), ())
        assert "### Strengths\n\nNone of these." in review.text


class TestEnds:
    @pytest.mark.parametrize("name", ["sea-e", "openreviewer"])
    def test_an_answer_that_ends_after_the_rating_has_one(self, name: str) -> None:
        text = written("## {}", VALUES["next line"], PARTS | NUMBERS)
        assert scores_of(name, text, RATING) == {"rating": 6}
        # If the model was stopped, a number may be incomplete: 1 may be half of 10.
        with pytest.raises(UnreadableAnswerError, match="rating"):
            scores_of(name, text, RATING, is_complete=False)

    def test_a_rating_at_the_end_decides(self) -> None:
        text = written("## {}", VALUES["next line"], PARTS | NUMBERS)
        assert read_decision(load_adapter("openreviewer").read(acceptance(), text)).accept

    def test_reviewers_without_a_chair_have_a_mean(self) -> None:
        text = "\n\n**********\n\n".join(
            written("## {}", VALUES["next line"], PARTS | {"Rating": rating}) for rating in ("6", "5")
        )
        assert scores_of("cyclereviewer", text, RATING) == {"rating": 5.5}
        with pytest.raises(UnreadableAnswerError):
            scores_of("cyclereviewer", text, RATING, is_complete=False)

    @pytest.mark.parametrize("without", [0, 1, 2])
    def test_a_simulated_reviewer_without_a_rating_does_not_count(self, without: int) -> None:
        reviewers = []
        for number in range(3):
            rating = {} if number == without else {"Rating": str(number + 3)}
            reviewers.append(f"## Reviewer {number + 1}\n\n{written('### {}', VALUES['next line'], PARTS | rating)}")
        text = "\n\n".join(["\\boxed_simreviewers{", *reviewers, "}"])
        given = [number + 3 for number in range(3) if number != without]
        assert scores_of("deepreviewer", text, RATING) == {"rating": sum(given) / 2}


RECORDED = sorted(path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "outputs").glob("*.md"))
LINES = sorted({line for text in RECORDED for line in text.splitlines()})
ODD = [
    "}",
    "{",
    "\\boxed_review{",
    "\\boxed_simreviewers{",
    "**********",
    "10/10",
    "Accept/Reject",
    "N/A",
    "",
    "## Rating",
]
SHUFFLED = st.lists(st.one_of(st.sampled_from(LINES), st.sampled_from(ODD), st.text(max_size=20)), max_size=40)
TEXTS = st.one_of(
    st.text(),
    SHUFFLED.map("\n".join),
    st.builds(lambda text, end: text[:end], st.sampled_from(RECORDED), st.integers(0, 4000)),
    st.builds(
        lambda text, at, put: text[:at] + put + text[at:], st.sampled_from(RECORDED), st.integers(0, 4000), st.text()
    ),
)
ASKED = st.lists(st.sampled_from([RATING, SOUNDNESS, CONFIDENCE, OVERALL, NOVELTY]), unique=True)
CASES = st.one_of(st.just(acceptance()), ASKED.map(lambda asked: scoring(*asked)), ASKED.map(lambda a: reviewing(*a)))


def check_form(case: Case, answer: str) -> None:
    if case.task is BenchTask.ACCEPTANCE:
        assert read_decision(answer).probability is None
    elif case.task is BenchTask.SCORES:
        assert set(read_score_answer(answer, case.scores)) == {one.field for one in case.scores}
    else:
        assert read_review_answer(answer, case.scores).text


@pytest.mark.parametrize("name", ADAPTERS)
@given(case=CASES, text=TEXTS)
def test_an_answer_is_in_our_format_or_unreadable(name: str, case: Case, text: str) -> None:
    try:
        answer = load_adapter(name).read(case, text)
    except UnreadableAnswerError as error:
        assert error.reason  # noqa: PT017
        return
    check_form(case, answer)


@pytest.mark.parametrize("text", RECORDED)
@pytest.mark.parametrize("name", ADAPTERS)
def test_every_prefix_is_read_alike(name: str, text: str) -> None:
    """A truncated answer never yields a different number or decision from the whole one."""
    adapter = load_adapter(name)
    for case in (acceptance(), scoring(RATING), scoring(SOUNDNESS)):
        try:
            whole = adapter.read(case, text)
        except UnreadableAnswerError:
            continue
        for end in range(0, len(text), 3):
            try:
                assert adapter.read(case, text[:end], is_complete=False) == whole
            except UnreadableAnswerError:
                continue
