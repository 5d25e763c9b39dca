"""Baselines that write: the review of a near-duplicate, the turn that followed similar words, and fixed words."""

from typing import Any

import pytest

from baseline_cases import answered, rated, reviewed, words
from peercorpus.benchmark.answers import WrittenReview, read_review_answer, read_turn
from peercorpus.benchmark.baselines.baseline import list_baselines, load_baseline
from peercorpus.benchmark.cases import BenchTask, Case
from peercorpus.errors import BaselineError
from peercorpus.models.chat_messages import Speaker
from peercorpus.records.enums import Aspect

KITES = "Kites with tails of paper fall slower over the sea, as forty trials in strong wind show."
BREAD = "Bread of rye rises slower in the cold, as nine bakers found over one winter of measurements."
SOUND = rated(3, aspect=Aspect.SOUNDNESS, field="soundness", low=1.0, high=4.0)


def review(name: str, train: list[Case], case: Case) -> WrittenReview:
    made = load_baseline(name, BenchTask.REVIEW)
    made.fit(iter(train))
    return read_review_answer(made.answer(case), case.scores)


def turn(name: str, train: list[Case], case: Case) -> str:
    made = load_baseline(name, BenchTask.REBUTTAL)
    made.fit(iter(train))
    return read_turn(made.answer(case))


def library() -> list[Case]:
    plain = [reviewed(f"p{n}", f"Review {n}.", asked=(rated(2),), abstract=words(n)) for n in range(30)]
    kites = reviewed("kites", "On kites.", asked=(rated(8, 9),), title="Slow kites", abstract=KITES)
    return [*plain, kites, reviewed("bread", "On bread.", asked=(SOUND,), title="Slow bread", abstract=BREAD)]


def test_the_review_of_a_near_duplicate_is_found() -> None:
    near: dict[str, Any] = {"title": "Kites that fall slowly", "abstract": KITES.replace("forty", "fifty")}
    said = review("nearest", library(), reviewed("a", "?", asked=(rated(1),), **near))
    assert said == WrittenReview("On kites.", {"rating": 8.5})
    assert review("nearest", library(), reviewed("a", "?", title=None, abstract=BREAD)).text == "On bread."


def test_a_field_the_nearest_lacks_gets_the_mean() -> None:
    said = review("nearest", library(), reviewed("a", "?", asked=(rated(1), SOUND), abstract=BREAD))
    assert said.scores == {"rating": pytest.approx((30 * 2 + 8.5) / 31, abs=1e-4), "soundness": 3.0}


def test_the_papers_id_chooses_the_review() -> None:
    papers = [reviewed(f"kites{number}", "First.", "Second.", "Third.", abstract=KITES) for number in range(24)]
    case = reviewed("a", "?", abstract=KITES)
    said = [review("nearest", [paper], case).text for paper in papers]
    assert set(said) == {"First.", "Second.", "Third."}
    more = reviewed("bread", "On bread.", abstract=BREAD)
    assert [review("nearest", [more, paper], case).text for paper in papers] == said


def test_a_case_without_common_words_gets_the_first_review() -> None:
    assert review("nearest", library(), reviewed("a", "?", title="\u7b2c", abstract=None)).text == "Review 0."
    train = [answered("p1", "The wind was strong.", "First."), answered("p2", "No.", "Second.")]
    assert turn("retrieved", train, answered("a", "\u7b2c", "?")) == "First."


def test_the_turn_after_a_similar_message_is_found() -> None:
    train = [answered(f"p{n}", words(n), f"Turn {n}.") for n in range(30)]
    train.append(answered("kites", f"We thank the reviewer. {KITES}", "I see that kites fall slower."))
    assert turn("retrieved", train, answered("a", f"Thank you. {KITES}", "?")) == "I see that kites fall slower."


def test_only_the_authors_last_message_counts() -> None:
    train = [answered("bread", BREAD, "On bread."), answered("kites", KITES, "On kites.")]
    case = answered("a", KITES, "?")
    first, last = answered("b", BREAD, "?").history, case.history
    longer = Case(case.case_id, case.task, case.paper, history=(*first, *last))
    assert [said.speaker for said in longer.history][-1] is Speaker.USER
    assert turn("retrieved", train, longer) == "On kites."


def test_a_template_has_the_venues_headings() -> None:
    icml: dict[str, Any] = {"venue_id": "ICML.cc/2024/Conference"}
    own = "### summary\n\nWords.\n\n### strengths_and_weaknesses\n\nWords.\n\n### fit\n\nWords."
    train = [
        *(reviewed(f"p{n}", own, asked=(rated(6),)) for n in range(3)),
        reviewed("p3", f"{own}\n\n### My own heading\n\nWords."),
        *(reviewed(f"q{n}", "A review without headings.", **icml) for n in range(9)),
    ]
    said = review("template", train, reviewed("a", "?", asked=(rated(1),), title="Braces {0}", abstract="Of {title}."))
    headings = [line for line in said.text.splitlines() if line.startswith("#")]
    assert headings == ["### summary", "### strengths_and_weaknesses", "### fit"]
    assert "\u201cBraces {0}\u201d" in said.text
    assert "Of {title}." in said.text
    assert "the experiments support" in said.text
    assert "novelty" in said.text
    assert said.scores == {"rating": 6.0}
    whole = review("template", train, reviewed("b", "?", **icml))
    assert "###" not in whole.text
    assert "the experiments support" in whole.text
    elsewhere = review("template", train, reviewed("c", "?", venue_id="NeurIPS.cc/2024/Conference"))
    assert elsewhere.text == whole.text, "what is most usual at all venues"


def test_a_template_turn_does_not_depend_on_the_discussion() -> None:
    assert turn("template", [], answered("a", KITES, "?")) == turn("template", [], answered("b", BREAD, "?"))


def test_empty_texts_are_not_learnt_from() -> None:
    blank = [reviewed("a", "Words.", title=None, abstract="17 % 3.1")]
    with pytest.raises(BaselineError, match=r"'nearest'.* title or abstract "):
        review("nearest", blank, blank[0])
    assert list_baselines(BenchTask.REVIEW) == ["template", "nearest", "other-paper", "generic"]
