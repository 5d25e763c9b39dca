"""Recorded reviews: no field lost, no number guessed, and the known counts of two venues."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from joining import joined
from peercorpus.forms import declared_forms, vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.invitation_forms import infer_form
from peercorpus.forms.reviews import read_fields, read_review
from peercorpus.openreview.objects import Note, invitation_name, read_note, venue_of
from peercorpus.records.enums import Aspect, FieldType, Phase, PostKind, ScoreSource

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not DATA.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data"),
]
ICLR_2019, ICLR_2020 = "ICLR.cc/2019/Conference", "ICLR.cc/2020/Conference"
STATES_OF_REVIEWS = 49
"""Nineteen belong to eight reviews of ICLR 2019; thirty to thirty others."""
RATINGS = {
    ICLR_2019: {1: 15, 2: 91, 3: 418, 4: 983, 5: 1063, 6: 1067, 7: 833, 8: 222, 9: 66, 10: 6},
    ICLR_2020: {1: 1372, 3: 3523, 6: 2136, 8: 662},
}


def contents(venue_id: str) -> Iterator[dict[str, Any]]:
    path = DATA / "raw-v1-content-iclr2019-2020" / f"iclr{venue_id.split('/')[1]}_review_content.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["content"]


def form_of(venue_id: str) -> ReviewForm:
    found = declared_forms.declared_form(venue_id)
    return declared_forms.as_review_form(found) if found else ReviewForm(f"inferred:{venue_id}", {})


@pytest.mark.slow
@pytest.mark.parametrize("venue_id", RATINGS)
@pytest.mark.parametrize("is_declared", [True, False], ids=["declared", "inferred"])
def test_every_recorded_rating_has_a_value(venue_id: str, *, is_declared: bool) -> None:
    form = form_of(venue_id) if is_declared else infer_form(venue_id, contents(venue_id))
    ratings: Counter[float | None] = Counter()
    for fields in contents(venue_id):
        reading = read_fields(fields, form)
        assert joined(reading, fields) == fields
        ratings.update(score.value for score in reading.scores if score.field == "rating")
        assert [section.field for section in reading.sections] == ["review"]
        assert reading.extra == {}
    assert ratings == RATINGS[venue_id]
    assert form.form_id.startswith("declared:" if is_declared else "inferred:")


@pytest.mark.slow
def test_iclr_2020_answers_show_the_fields() -> None:
    form = infer_form(ICLR_2020, contents(ICLR_2020))
    types = {name: question.type for name, question in form.questions.items()}
    assert types.pop("rating") is FieldType.SCORE
    assert {types.pop(name) for name in ("title", "review")} == {FieldType.TEXT}
    assert set(types.values()) == {FieldType.CHOICE}


def _notes(found: Any) -> Iterator[dict[str, Any]]:
    if isinstance(found, dict):
        if isinstance(found.get("content"), dict) and ("invitation" in found or "invitations" in found):
            yield found
        for inner in found.values():
            yield from _notes(inner)
    elif isinstance(found, list):
        for inner in found:
            yield from _notes(inner)


def recorded_reviews() -> dict[tuple[str, int | None], Note]:
    """Return every state of every review in the raw files, by id and time."""
    found: dict[tuple[str, int | None], Note] = {}
    for path in sorted(DATA.glob("raw-*/*.json*")):
        if path.suffix == ".gz":
            continue
        text = path.read_text(encoding="utf-8")
        for document in map(json.loads, text.strip().split("\n") if path.suffix == ".jsonl" else [text]):
            for each in _notes(document):
                note = read_note(json.dumps(each))
                if vocabulary.post_kind(invitation_name(note.created_by).split("/")[0]) is PostKind.REVIEW:
                    found[note.id or "", note.modified_ms] = note
    return found


def test_every_raw_review_field_is_assigned() -> None:
    reviews = recorded_reviews().values()
    assert len(reviews) == STATES_OF_REVIEWS
    for note in reviews:
        fields, venue_id = note.fields, venue_of(note.created_by)
        hidden = set(note.content or {}) - set(fields)
        assert all(isinstance(note.content[name], dict) for name in hidden if note.content)
        for form in (form_of(venue_id), infer_form(venue_id, [fields]), ReviewForm("inferred:V", {})):
            reading = read_fields(fields, form)
            assert joined(reading, fields) == fields
            offered = [score for score in reading.scores if score.offered and score.value is not None]
            assert all(score.value in score.offered for score in offered)


def edited_reviews() -> dict[str, list[Note]]:
    """Return the eight edited reviews of ICLR 2019, by id: all their references, oldest first."""
    lines = (DATA / "raw-v1-nnkennard" / "iclr2019_review_revisions.jsonl").read_text(encoding="utf-8").splitlines()
    reviews: dict[str, list[Note]] = {}
    for note in sorted(map(read_note, lines), key=lambda note: note.tcdate or 0):
        reviews.setdefault(note.referent or "", []).append(note)
    return reviews


def test_edited_iclr_2019_ratings_are_unproven() -> None:
    # The file has only references: a review's final state is its last reference, created when its first was. Each first
    # reference was posted again at the release of the review, so what the reviewer gave before is not known.
    changes, texts = {}, {}
    for review_id, references in edited_reviews().items():
        last = references[-1]
        made_at, now = references[0].tcdate, last.tmdate
        note = Note(review_id, last.forum, invitation=last.invitation, tcdate=made_at, tmdate=now, content=last.content)
        review = read_review(note, ICLR_2019, "AnonReviewer1", form_of(ICLR_2019), references)
        assert all(score.phase is Phase.FINAL for score in review.scores)
        changes[review_id] = [
            (change.before, change.after, change.source)
            for change in review.score_changes
            if change.aspect is Aspect.RECOMMENDATION
        ]
        texts[review_id] = [section.text for section in review.initial_sections]
        assert review.revised is True
        assert review.updated_fields == ()
    edit = ScoreSource.EDIT
    assert changes == {
        "r1ghyrDc2m": [],
        "H1eDBfaunm": [(6.0, 8.0, edit)],
        "Syelg-g92X": [(4.0, 5.0, edit)],
        "S1xCeCI9nm": [],
        "HJx46y-q37": [(5.0, 6.0, edit)],
        "S1eex_jDhm": [(4.0, 5.0, edit)],
        "H1gVYFVS3X": [(5.0, 6.0, edit)],
        "rye41gla2Q": [(5.0, 6.0, edit)],
    }
    first = {review_id: (references[0].content or {})["review"] for review_id, references in edited_reviews().items()}
    last_text = {
        review_id: (references[-1].content or {})["review"] for review_id, references in edited_reviews().items()
    }
    assert texts == {key: [text] if text != last_text[key] else [] for key, text in first.items()}
    assert sum(map(len, texts.values())) == 5


@pytest.mark.slow
def test_iclr_2019_reviews_mark_updates() -> None:
    marked = {}
    for venue_id in RATINGS:
        form = form_of(venue_id)
        notes = (Note(invitation="V/-/Official_Review", content=content) for content in contents(venue_id))
        marked[venue_id] = sum(bool(read_review(note, venue_id, "R", form, []).updated_fields) for note in notes)
    assert 300 <= marked[ICLR_2019] <= 400
    assert marked[ICLR_2020] <= 10
