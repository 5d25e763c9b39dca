"""A review in ReviewBench's format: every field documented in its card, with values of the right type."""

import json
from dataclasses import replace
from typing import Any

import pytest

from invented_tables import review, score
from peercorpus.records.enums import Aspect, Phase, ScoreSource, SectionKind
from peercorpus.records.reviews import Section
from peercorpus.release.reviews_json import FIELDS, review_entry, reviews_json
from peercorpus.release.rows import review_row

CARD = """
review_id reviewer rating confidence rebuttal
summary questions limitations strengths weaknesses
soundness presentation contribution
quality clarity significance originality
strengths_and_weaknesses
was_revised final_justification
claims_and_evidence theoretical_claims experimental_designs_or_analyses relation_to_broader_scientific_literature
essential_references_not_discussed
paper_topic_and_main_contributions reasons_to_accept reasons_to_reject excitement reproducibility ethical_concerns
summary_of_paper summary_of_recommendation technical_quality clarity_of_presentation potential_impact robotics_focus
extra_scores extra_text
"""
"""The table "Decoding reviews_json" of ReviewBench's card, row by row."""


def entry(*scores: Any, sections: tuple[Section, ...] = (), extra: str = "{}", **more: Any) -> dict[str, Any]:
    """Return the entry of a review with these answers, and its members that are neither empty nor None."""
    record = review("f1", scores=scores, sections=sections, extra=extra, **more)
    return review_entry(record, review_row(record, "We thank you."))


def filled(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value not in (None, "", {})}


def section(field: str, text: str) -> Section:
    return Section(SectionKind.OTHER, field, text)


def test_every_entry_has_the_cards_fields_in_order_and_one_of_ours() -> None:
    bare = entry(reviewer="", review_id="")
    assert list(bare) == [*CARD.split(), "extra_other"]
    assert list(entry(score("novelty", 3, "3", Aspect.NOVELTY), title="Good")) == list(bare)
    assert filled(bare) == {"rebuttal": "We thank you."}
    assert {type(value) for value in bare.values()} == {str, type(None), dict}


def test_answers_are_in_the_documented_fields_and_others_in_extra_ones() -> None:
    record = review("f1", title="Good", final_justification="I stay.")
    found = review_entry(record, review_row(record, "We thank you."))
    assert filled(found) == {
        "review_id": "f1-R1",
        "reviewer": "R1",
        "rating": 6,
        "confidence": 4,
        "rebuttal": "We thank you.",
        "summary": "They invent.",
        "final_justification": "I stay.",
        "extra_text": {
            "title": "Good",
            "rating_label": "6: Weak Accept",
            "soundness_label": "Not applicable",
            "code_of_conduct": "Yes",
        },
    }


def test_a_rating_under_another_name_is_the_rating_too() -> None:
    found = entry(
        score("overall_recommendation", 4, "4", Aspect.RECOMMENDATION),
        score("Reviewer_Confidence", 3, "3", Aspect.CONFIDENCE),
    )
    assert (found["rating"], found["confidence"]) == (4, 3)
    assert found["extra_scores"] == {"overall_recommendation": 4, "Reviewer_Confidence": 3}


def test_of_two_recommendations_the_one_named_rating_is_used_and_a_current_one_is_preferred() -> None:
    twice = [score("overall_score", 5, "5", Aspect.RECOMMENDATION), score("rating", 6, "6", Aspect.RECOMMENDATION)]
    found = entry(*twice)
    assert (found["rating"], found["extra_scores"]) == (6, {"overall_score": 5})
    first = score("preliminary_rating", 2, "2", Aspect.RECOMMENDATION, Phase.INITIAL)
    found = entry(first, score("final_rating", 5, "5", Aspect.RECOMMENDATION))
    assert (found["rating"], found["extra_scores"]) == (5, {"preliminary_rating": 2, "final_rating": 5})
    assert entry(first)["rating"] == 2


def test_an_initial_score_is_beside_the_current_one() -> None:
    found = entry(
        score("rating", 8, "8", Aspect.RECOMMENDATION),
        score("rating", 3.5, "3.5: borderline", Aspect.RECOMMENDATION, Phase.INITIAL),
    )
    assert (found["rating"], found["extra_scores"]) == (8, {"rating_initial": 3.5})
    assert found["extra_text"] == {"rating_initial_label": "3.5: borderline"}


def test_scores_known_only_from_the_reviewers_words_are_marked() -> None:
    now, said = (
        score("rating", number, label, Aspect.RECOMMENDATION, phase)
        for number, label, phase in ((6, "6", Phase.FINAL), (5, "raise from 5 to 6", Phase.INITIAL))
    )
    found = entry(now, replace(said, source=ScoreSource.TEXT))
    assert (found["rating"], found["extra_scores"]) == (6, {"rating_initial_claimed": 5})
    assert found["extra_text"] == {"rating_initial_claimed_label": "raise from 5 to 6"}


def test_an_initial_text_is_beside_the_current_one() -> None:
    found = entry(
        sections=(section("Summary", "New."), section("tips", "c")),
        initial_sections=(section("Summary", "Old."), section("tips", "b")),
        updated_fields=("tips",),
    )
    assert found["summary"] == "New."
    assert found["extra_text"] == {"tips": "c", "summary_initial": "Old.", "tips_initial": "b"}
    assert found["extra_other"] == {"updated_fields": ("tips",)}


def test_a_documented_name_in_capitals_is_the_documented_field() -> None:
    found = entry(
        score("Soundness", 4, "4: Strong", Aspect.SOUNDNESS), sections=(section("Reasons_to_accept", "It flies."),)
    )
    assert (found["soundness"], found["reasons_to_accept"]) == (4, "It flies.")
    assert (found["extra_scores"], found["extra_text"]) == ({}, {"soundness_label": "4: Strong"})


def test_no_column_mixes_texts_and_numbers() -> None:
    found = entry(
        score("limitations", 2, "2", Aspect.OTHER),
        score("claims_and_evidence", None, "Yes", Aspect.OTHER),
        sections=(section("clarity", "Well written."),),
        extra='{"ethical_concerns": ["None"], "is_expert": true}',
    )
    assert (found["limitations"], found["clarity"], found["ethical_concerns"]) == ("", None, "")
    assert found["claims_and_evidence"] == "Yes"
    assert found["extra_scores"] == {"limitations": 2}
    assert found["extra_text"] == {"clarity": "Well written."}
    assert found["extra_other"] == {"ethical_concerns": ["None"], "is_expert": True}


@pytest.mark.parametrize("name", ["review_id", "reviewer", "rebuttal", "final_justification"])
def test_a_field_of_the_form_never_overwrites_a_field_of_the_record(name: str) -> None:
    found = entry(sections=(section(name, "I am one."),))
    assert found["extra_text"] == {name: "I am one."}
    assert found[name] in {"f1-R1", "R1", "We thank you.", ""}


def test_two_answers_of_one_name_are_both_kept() -> None:
    texts = (section("summary", "One."), section("Summary", "Two."), section("tips", "a"), section("tips", "b"))
    found = entry(score("rating", 8, "8: top", Aspect.RECOMMENDATION), sections=(*texts, section("rating_label", "x")))
    assert found["summary"] == "One."
    assert found["extra_text"] == {
        "rating_label": "8: top",
        "Summary": "Two.",
        "tips": "a",
        "form_tips": "b",
        "form_rating_label": "x",
    }


def test_code_written_for_reviewbench_runs_unchanged() -> None:
    """Use an entry as its readers do: by key, without checking that the key exists."""
    records = [review("f1"), review("f1", "R2", scores=(), extra="{}")]
    rows = [review_row(record, words) for record, words in zip(records, ("Thanks.", ""), strict=True)]
    reviews = json.loads(reviews_json(records, rows))
    assert [one["rating"] for one in reviews] == [6, None]
    assert [len(one["strengths"].split()) + len(one["summary"].split()) for one in reviews] == [2, 2]
    assert [bool(one["rebuttal"].strip()) for one in reviews] == [True, False]
    assert all(isinstance(text, str) for one in reviews for text in one["extra_text"].values())
    assert {frozenset(one) for one in reviews} == {frozenset([*FIELDS, "extra_scores", "extra_text", "extra_other"])}
