"""A clear answer is read whatever its format, and nothing is read into an unclear one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.benchmark.answers import Decision, UnreadableAnswerError, Unscored, is_refusal, read_decision
from peercorpus.benchmark.cases import AskedScore
from peercorpus.benchmark.solvers import read_decision_leniently, read_scores_leniently
from peercorpus.records.enums import Aspect

RATING = AskedScore(Aspect.RECOMMENDATION, "rating", 1, 10, (5,))
CONFIDENCE = AskedScore(Aspect.CONFIDENCE, "confidence_score", 1, 5, (3,))

WORDS = {
    True: [
        "accept",
        "Accept",
        "ACCEPT",
        "accepted",
        "Accept.",
        " accept ",
        "**Accept**",
        "Accept (poster)",
        "weak accept",
    ],
    False: ["reject", "Reject!", "rejected", "REJECTED.", "Strong Reject", "rejection"],
}
CHANCES = {
    None: ["null"],
    0.7: ["0.7", '"0.7"', '"70%"', '"70 %"', "70", '"70"', '"7/10"', '".7"'[:1] + '0.7 (likely)"'],
}
NAMES = [("decision", "probability"), ("Decision", "Probability"), ("DECISION", "PROBABILITY")]
ROUND = [
    "{}",
    "```json\n{}\n```",
    "```\n{}\n```",
    "Here is my answer:\n```json\n{}\n```\nI hope that this helps.",
    "After reading the paper, I say {}.",
    '<think>Maybe {{"decision": "reject"}} or {{"decision": "accept"}}?</think>\n{}',
    "The prompt had the opening.</think>{}",
    'First I thought {{"decision": "reject", "probability": 0.1}}, but: {}',
    "Sets such as {{a, b}} are used. {}",
]


@given(
    st.sampled_from([True, False]).flatmap(lambda way: st.tuples(st.just(way), st.sampled_from(WORDS[way]))),
    st.sampled_from([(value, shape) for value, shapes in CHANCES.items() for shape in shapes]),
    st.sampled_from(NAMES),
    st.sampled_from(ROUND),
)
def test_a_decision_is_read_in_every_shape(
    word: tuple[bool, str], chance: tuple[float | None, str], names: tuple[str, str], around: str
) -> None:
    said = f'{{"{names[0]}": {json.dumps(word[1])}, "{names[1]}": {chance[1]}}}'
    read = read_decision_leniently(around.format(said))
    assert (read.accept, read.probability) == (word[0], chance[0] and pytest.approx(chance[0]))


@given(st.booleans(), st.floats(0, 1) | st.none())
def test_strict_and_lenient_reading_agree_on_valid_answers(accept: bool, probability: float | None) -> None:
    said = json.dumps({"decision": "accept" if accept else "reject", "probability": probability})
    strict = read_decision(said)
    assert strict == Decision(accept, probability)
    assert read_decision_leniently(said) == strict


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ("Accept.", Decision(True)),
        ("**Reject**", Decision(False)),
        ("Decision: Accepted\nProbability: 70%", Decision(True, 0.7)),
        ("**Decision:** reject\n**Probability:** 0.2", Decision(False, 0.2)),
        ("- decision = accept", Decision(True)),
    ],
)
def test_a_decision_without_an_object_is_read(said: str, decision: Decision) -> None:
    assert read_decision_leniently(said) == decision


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", Unscored.EMPTY),
        ("<think>accept", Unscored.EMPTY),
        ("I would accept it.", Unscored.NO_OBJECT),
        ("I would not accept it.", Unscored.NO_OBJECT),
        ("accept or reject", Unscored.NO_OBJECT),
        ("[" * 100_000 + "{" * 100_000, Unscored.NO_OBJECT),
        ('{"decision": "accept", "decision": "reject"}', Unscored.NO_DECISION),
        ('{\n"decision": "accept",\n"decision": "reject"\n}', Unscored.TWO_ANSWERS),
        ('{"verdict": "accept"}', Unscored.NO_OBJECT),
        ("Decision: accept\nDecision: reject", Unscored.TWO_ANSWERS),
        ('{"decision": "do not accept"}', Unscored.NO_DECISION),
        ('{"decision": "maybe"}', Unscored.NO_DECISION),
        ('{"decision": true}', Unscored.NO_DECISION),
        ('{"decision": "accept", "probability": "high"}', Unscored.NO_NUMBER),
        ('{"decision": "accept", "probability": true}', Unscored.NO_NUMBER),
        # A percentage, or a number out of ten: it is ambiguous.
        ('{"decision": "accept", "probability": 7}', Unscored.OFF_SCALE),
        ('{"decision": "accept", "probability": 1.2}', Unscored.OFF_SCALE),
        ('{"decision": "accept", "probability": -0.1}', Unscored.OFF_SCALE),
        ('{"decision": "accept", "probability": "7/0"}', Unscored.OFF_SCALE),
        ('{"decision": "accept", "probability": 1e999}', Unscored.OFF_SCALE),
    ],
)
def test_an_ambiguous_answer_stays_unreadable(said: str, reason: Unscored) -> None:
    with pytest.raises(UnreadableAnswerError) as caught:
        read_decision_leniently(said)
    assert caught.value.reason is reason


@pytest.mark.parametrize("rating", ["7", '"7"', "7.0", '"7/10"', '"7: good paper, accept"', '"7 (good)"'])
@pytest.mark.parametrize("confidence", ["confidence_score", "Confidence Score", "confidence-score"])
def test_scores_are_read_in_every_shape(rating: str, confidence: str) -> None:
    said = f'Scores: {{"Rating": {rating}, "{confidence}": "4", "why": "novel"}}'
    assert read_scores_leniently(said, [RATING, CONFIDENCE]) == {"rating": 7, "confidence_score": 4}


def test_scores_in_lines_are_read() -> None:
    assert read_scores_leniently("**Rating:** 7/10\n- confidence score: 4", [RATING, CONFIDENCE]) == {
        "rating": 7,
        "confidence_score": 4,
    }


@pytest.mark.parametrize(
    "said", ['{"rating": 70}', '{"rating": "70%"}', '{"rating": "4/5"}', '{"rating": "seven"}', "7"]
)
def test_doubtful_scores_stay_unreadable(said: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        read_scores_leniently(said, [RATING])


SORRY = ["", "I'm sorry, but ", "I am very sorry. ", "Sorry, ", "I apologise, but ", "Unfortunately, ", "As an AI, "]
UNABLE = [
    "I cannot ",
    "I can't ",
    "I can\u2019t ",
    "I'm unable to ",
    "I am not able to ",
    "I won't ",
    "I must decline to ",
]
TASKS = ["assist with that.", "help with this request", "provide a review of this paper.", "review this submission."]


@given(st.sampled_from(SORRY), st.sampled_from(UNABLE), st.sampled_from(TASKS))
def test_a_refusal_in_words_is_a_refusal(sorry: str, unable: str, task: str) -> None:
    assert is_refusal(sorry + unable + task)


@pytest.mark.parametrize(
    "said",
    [
        "I cannot recommend acceptance.",
        "I am sorry, but I keep my score.",
        "Unfortunately, I cannot see how the proof holds.",
        "Thank you. I cannot raise my score.",
        "We cannot assess the proofs in detail.",
        "I can't follow section 3.",
        '{"decision": "reject"}',
        "",
        "I'm sorry, but I can't assist with that. " + "The paper is well written. " * 30,
    ],
)
def test_a_reviewers_words_are_not_a_refusal(said: str) -> None:
    assert not is_refusal(said)
