"""Fixture notes: each file in `notes/` has a review note and its expected reading.

A file has the venue's id, the note as OpenReview gives it and, if the form is to be read from it, the invitation;
without one, the form declared for the venue is used. `expected` has the id of the form, value and scale of each score,
the kind of each section by field, and the fields left in `extra`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from peercorpus.forms.declared_forms import as_review_form, declared_form
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.invitation_forms import derive_form
from peercorpus.forms.reviews import ParsedReview, read_fields
from peercorpus.openreview.objects import read_note

NOTES = sorted((Path(__file__).parent / "notes").glob("*.json"))


def _find_form(fixture: dict[str, Any]) -> ReviewForm:
    if "invitation" in fixture:
        derived = derive_form(json.dumps(fixture["invitation"]).encode())
        assert derived is not None, "the invitation holds no form"
        return derived
    declared = declared_form(fixture["venue_id"])
    assert declared is not None, "give the invitation, or declare a form for the venue"
    return as_review_form(declared)


def _read(fixture: dict[str, Any], form: ReviewForm) -> ParsedReview:
    return read_fields(read_note(json.dumps(fixture["note"]).encode()).fields, form)


def test_fixture_notes_cover_invited_and_declared_forms() -> None:
    assert {"invitation" in json.loads(path.read_text()) for path in NOTES} == {True, False}


@pytest.mark.parametrize("path", NOTES, ids=lambda path: path.stem)
def test_a_fixture_note_is_read_rightly(path: Path) -> None:
    fixture = json.loads(path.read_text())
    form = _find_form(fixture)
    reading = _read(fixture, form)
    assert {
        "form_id": form.form_id,
        "scores": {
            score.field: {"value": score.value, "low": score.low, "high": score.high} for score in reading.scores
        },
        "sections": {section.field: section.kind.value for section in reading.sections},
        "extra": reading.extra,
    } == fixture["expected"]


@pytest.mark.parametrize("path", NOTES, ids=lambda path: path.stem)
def test_fixture_notes_cover_difficult_cases(path: Path) -> None:
    fixture = json.loads(path.read_text())
    form, scores = _find_form(fixture), fixture["expected"]["scores"]
    fields = read_note(json.dumps(fixture["note"]).encode()).fields
    assert any(score["value"] is None for score in scores.values()), "add an answer that is off the scale"
    assert "" in fields.values(), "add an empty answer"
    assert fields.keys() - form.questions.keys(), "add a field that the form does not have"
