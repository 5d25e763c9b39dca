"""What a reviewer's sentence says about points: lists written before the rule was, and composed sentences."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.points.resolution import Resolution, read_resolution
from peercorpus.records.points import Reaction

SHARES = {"resolved all": 0.9, "resolved one": 0.85, "partly": 0.9, "not resolved": 0.9, "not said": 0.95}
"""Smallest share of each list that is read as labelled."""


def name_kind(read: Resolution | None) -> str:
    if read is None:
        return "not said"
    if read.reaction is Reaction.RESOLVED:
        return "resolved all" if read.is_about_all else "resolved one"
    return read.reaction.value.replace("_", " ")


def read_lists() -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("reactions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            lists[line[2:]] = []
        elif line:
            [*lists.values()][-1].append(line)
    return lists


KINDS = {"RA": "resolved", "RO": "resolved", "P": "partly", "N": "not resolved", "0": "not said"}


def read_replies() -> dict[str, list[tuple[str, str]]]:
    """Sentences of replies in many styles by kind, each with the kind that is read."""
    replies: dict[str, list[tuple[str, str]]] = {}
    for line in Path(__file__).with_name("replies.txt").read_text(encoding="utf-8").splitlines():
        label, sentence = line.split("|", 1)
        read = name_kind(read_resolution(sentence)).removesuffix(" all").removesuffix(" one")
        replies.setdefault(KINDS[label], []).append((read, sentence))
    return replies


def test_replies_are_read_as_labelled() -> None:
    for kind, read in read_replies().items():
        assert sum(one == kind for one, _ in read) >= 0.9 * len(read), (kind, [one for one in read if one[0] != kind])
    wrong = [one for kind, read in read_replies().items() for one in read if one[0] not in {kind, "not said"}]
    assert len(wrong) <= 3, wrong


@pytest.mark.parametrize("kind", SHARES)
def test_listed_sentences_are_read_as_labelled(kind: str) -> None:
    sentences = read_lists()[kind]
    assert len(sentences) == 60
    assert sum(name_kind(read_resolution(one)) == kind for one in sentences) >= SHARES[kind] * len(sentences)


def test_no_other_sentence_means_all_resolved() -> None:
    others = [one for kind, sentences in read_lists().items() if kind != "resolved all" for one in sentences]
    assert [one for one in others if name_kind(read_resolution(one)) == "resolved all"] == []


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("None of my concerns have been addressed.", "not resolved"),
        ("Once all my concerns are addressed, I will raise my score.", "not said"),
        ("Had the authors addressed all my concerns, I would have accepted.", "not said"),
        ("I hope all my concerns will be addressed.", "not said"),
        ("All my concerns are addressed except the third.", "partly"),
        ("Almost all of my concerns have been addressed.", "partly"),
        ("The rebuttal not only addresses all my concerns but also adds a proof.", "resolved all"),
        ("I have no further concerns.", "resolved all"),
        ("None of my concerns remain.", "resolved all"),
        ("The authors left none of my questions unanswered.", "resolved all"),
        ("All remaining concerns have been resolved.", "resolved all"),
        ("My remaining concerns are as follows:", "not said"),
        ("My rating remains unchanged.", "not said"),
        ("My rating remains unchanged because none of my questions were answered.", "not resolved"),
        ("I do not think that all of my questions were answered.", "partly"),
        ("My concern was dismissed rather than addressed.", "not resolved"),
        ("Reviewer 2 writes that all of their concerns are resolved.", "not said"),
    ],
)
def test_negations_conditions_and_exceptions_are_read(sentence: str, kind: str) -> None:
    assert name_kind(read_resolution(sentence)) == kind


THINGS = st.sampled_from(["concerns", "questions", "comments", "issues", "doubts"])
VERBS = st.sampled_from(["addressed", "resolved", "answered", "clarified"])
CONDITIONS = st.sampled_from(["Once", "If", "Unless", "Provided that", "As soon as", "Only if", "Until", "As long as"])
INTENTS = st.sampled_from(["I hope that", "I expect that", "It would be good if", "Please make sure that", "I wish"])
PARTS = st.sampled_from(["Almost all", "Most", "Not all", "Some", "Nearly all", "The majority", "All but one", "Half"])
EXCEPTIONS = st.sampled_from(
    [
        *("except the third", "apart from one", "with the exception of W2", "other than the last", "bar one"),
        *("aside from the ablation", "besides the first", "but not on runtime", ", the only exception being the proof"),
    ]
)
ASSURANCES = st.sampled_from(
    [
        *("I can confirm that", "I would say that", "I have no doubt that", "There is no question that"),
        *("I cannot deny that", "I am happy to report that", "I must say that"),
    ]
)
MANNERS = st.sampled_from(["without exception", "without difficulty", "without new experiments", "without delay"])
TRIALS = st.sampled_from(["try to", "attempt to", "make an effort to", "aim to", "seek to"])
NONE = st.sampled_from(["None", "Not one", "Not a single one", "Neither"])


@given(THINGS, VERBS)
def test_all_points_resolved(things: str, verb: str) -> None:
    for words in (f"All my {things} have been {verb}.", f"The authors {verb} every one of my {things}."):
        assert name_kind(read_resolution(words)) == "resolved all"


@given(CONDITIONS, INTENTS, THINGS, VERBS)
def test_conditions_and_intents_say_nothing(condition: str, intent: str, things: str, verb: str) -> None:
    for words in (
        f"{condition} all my {things} are {verb}, I will raise my score.",
        f"I will raise my score {condition.lower()} all my {things} are {verb}.",
        f"{intent} all my {things} are {verb}.",
        f"Had all my {things} been {verb}, I would have raised my score.",
        f"Have all my {things} been {verb}?",
    ):
        assert read_resolution(words) is None


@given(PARTS, EXCEPTIONS, THINGS, VERBS)
def test_a_part_or_an_exception_is_never_all(part: str, exception: str, things: str, verb: str) -> None:
    for words in (f"{part} of my {things} have been {verb}.", f"All my {things} have been {verb} {exception}."):
        assert name_kind(read_resolution(words)) == "partly"


@given(ASSURANCES, MANNERS, THINGS, VERBS)
def test_an_assurance_or_a_manner_turns_nothing(assurance: str, manner: str, things: str, verb: str) -> None:
    for words in (f"{assurance} all my {things} have been {verb}.", f"All my {things} have been {verb} {manner}."):
        assert name_kind(read_resolution(words)) == "resolved all"


@given(st.sampled_from(["not", "never", "hardly"]), st.sampled_from(["would", "can", "may"]), THINGS, VERBS)
def test_a_denied_assurance_resolves_nothing(negation: str, auxiliary: str, things: str, verb: str) -> None:
    found = read_resolution(f"I {auxiliary} {negation} say that all my {things} have been {verb}.")
    assert name_kind(found) in {"not said", "not resolved", "partly"}


@given(st.sampled_from(["the rebuttal", "the discussion", "reading the response"]), THINGS, VERBS)
def test_what_follows_the_rebuttal_is_stated(event: str, things: str, verb: str) -> None:
    found = read_resolution(f"After {event}, all my {things} are {verb} and I will raise my score.")
    assert name_kind(found) == "resolved all"


@given(TRIALS, THINGS)
def test_trials_and_consequences_say_nothing(trial: str, things: str) -> None:
    for words in (
        f"The authors {trial} address all my {things}.",
        f"After all my {things} are addressed, I will raise my score.",
        f"Supposing my {things} are resolved, I would accept the paper.",
        f"With a satisfactory answer to my {things} I would raise my score.",
        f"A convincing answer to my {things} would change my mind.",
    ):
        assert read_resolution(words) is None


@given(NONE, THINGS, VERBS)
def test_a_negation_turns_what_it_reaches(none: str, things: str, verb: str) -> None:
    for words, kind in (
        (f"{none} of my {things} has been {verb}.", "not resolved"),
        (f"My {things} were not {verb}.", "not resolved"),
        (f"{none} of my {things} remains.", "resolved all"),
        (f"The rebuttal has not {verb} all my {things}.", "partly"),
        (f"I do not think that my {things} have been {verb}.", "not resolved"),
    ):
        assert name_kind(read_resolution(words)) == kind
