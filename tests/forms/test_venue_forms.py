"""Which form a venue's reviews are read with: its invitation's, else the declared one, else one inferred from them."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.forms.invitation_forms import infer_form
from peercorpus.forms.normalise import STAGE, balance
from peercorpus.forms.reviews import read_fields
from peercorpus.forms.vocabulary import read_words
from peercorpus.records.enums import Aspect, FieldType, Phase, PostKind, ScoreSource
from peercorpus.records.reviews import Review
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

UNKNOWN, KNOWN = "Invented.cc/2024/Conference", "ICLR.cc/2022/Conference"
OFFERED = {"reply": {"content": {"rating": {"value-radio": ["5: yes", "6: surely", "2: no"]}}}}


def note(note_id: str, tail: str, signer: str, content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": note_id,
        "forum": "paper",
        "replyto": None if note_id == "paper" else "paper",
        "invitation": tail,
        "signatures": [signer],
        "readers": ["everyone"],
        "tcdate": 1_700_000_000_000,
        "content": content,
    } | more


def read(folder: Path, venue_id: str, *notes: dict[str, Any], form: dict[str, Any] | None = None) -> list[Review]:
    """Return the reviews of one forum, in the order of their ids."""
    paper = note("paper", "-/Blind_Submission", "Authors", {"title": "On Kites"})
    found = [(RawKind.NOTE, each) for each in (paper, *notes)]
    for _, each in found:
        each["invitation"] = f"{venue_id}/{each['invitation']}"
        each["signatures"] = [f"{venue_id}/Paper1/{name}" for name in each["signatures"]]
    if form is not None:
        found.append((RawKind.INVITATION, {"id": f"{venue_id}/-/Official_Review", **form}))
    folder.mkdir(parents=True)
    with closing(Workspace(folder)) as workspace:
        with workspace.raw.transaction():
            for kind, each in found:
                forum_id, body = each.get("forum", ""), json.dumps(each).encode()
                workspace.raw.add([RawObject(kind, each["id"], 1, venue_id, forum_id, each["id"], 0, 0, "test", body)])
        STAGE.run(workspace, venue_id, BuildRequest(), "ab" * 32, no_report)
        assert all(one.holds for one in balance(workspace, venue_id))
        reviews = list(workspace.tables.read(Review, venue_id))
    return sorted(reviews, key=lambda review: review.review_id)


def review(note_id: str = "r", signer: str = "AnonReviewer1", **content: Any) -> dict[str, Any]:
    return note(note_id, "Paper1/-/Official_Review", signer, {"review": "Clear.", "rating": "6: surely"} | content)


def remark(text: str, signer: str = "AnonReviewer1", **more: Any) -> dict[str, Any]:
    return note("c", "Paper1/-/Official_Comment", signer, {"comment": text}, **more)


@pytest.mark.parametrize(
    ("venue_id", "form", "form_id"),
    [
        (KNOWN, OFFERED, f"{KNOWN}/-/Official_Review"),
        (KNOWN, None, "declared:"),
        (KNOWN, {"reply": {"content": {}}}, "declared:"),
        (UNKNOWN, OFFERED, f"{UNKNOWN}/-/Official_Review"),
        (UNKNOWN, None, f"inferred:{UNKNOWN}"),
    ],
)
def test_invitations_precede_declared_forms(
    tmp_path: Path, venue_id: str, form: dict[str, Any] | None, form_id: str
) -> None:
    (found,) = read(tmp_path / "w", venue_id, review(), form=form)
    assert found.form_id.startswith(form_id)


def test_a_declared_form_rejects_other_answers(tmp_path: Path) -> None:
    answers = {"recommendation": "8: accept, good paper", "correctness": "7: never offered"}
    (found,) = read(tmp_path / "w", KNOWN, review(**answers))
    scores = {score.field: score for score in found.scores}
    recommended = scores["recommendation"]
    assert (recommended.value, recommended.offered) == (8.0, (1.0, 3.0, 5.0, 6.0, 8.0, 10.0))
    assert (scores["correctness"].value, scores["correctness"].label) == (None, "7: never offered")


def test_many_answers_identify_a_score(tmp_path: Path) -> None:
    reviews = [review(f"r{number}", f"AnonReviewer{number}", new_field=f"{number % 3}: words") for number in range(9)]
    found = read(tmp_path / "w", UNKNOWN, *reviews)
    assert [s.value for one in found for s in one.scores if s.field == "new_field"] == [0.0, 1.0, 2.0] * 3
    assert {s.aspect for one in found for s in one.scores if s.field == "new_field"} == {Aspect.OTHER}


RAISED = "Thank you. I raise my score from 5 to 6."


def initial(found: list[Review]) -> list[tuple[float | None, ScoreSource]]:
    return [(s.value, s.source) for one in found for s in one.scores if s.phase is Phase.INITIAL]


def test_a_reviewers_own_comment_gives_the_initial_score(tmp_path: Path) -> None:
    found = read(tmp_path / "w", UNKNOWN, review(), remark(RAISED), form=OFFERED)
    assert initial(found) == [(5.0, ScoreSource.TEXT)]


@pytest.mark.parametrize(
    "comment",
    [
        remark(RAISED, "AnonReviewer2"),
        remark(RAISED, "Authors"),
        remark(RAISED, readers=["V"]),
        remark(RAISED, ddate=1),
    ],
    ids=["another reviewer", "the authors", "not public", "deleted"],
)
def test_comments_by_others_and_hidden_ones_are_ignored(tmp_path: Path, comment: dict[str, Any]) -> None:
    assert initial(read(tmp_path / "w", UNKNOWN, review(), comment, form=OFFERED)) == []


@pytest.mark.parametrize(("signer", "reviews"), [("AnonReviewer1", 2), ("Reviewers", 1), ("", 1)])
def test_a_shared_signature_is_ignored(tmp_path: Path, signer: str, reviews: int) -> None:
    signed = [review(f"r{number}", signer) for number in range(reviews)]
    assert initial(read(tmp_path / "w", UNKNOWN, *signed, remark(RAISED, signer), form=OFFERED)) == []


def test_a_group_names_reviews_and_verdicts() -> None:
    said = {"review_names": ["First_Look", "Second_Look"], "meta_review_recommendation": "our_verdict"}
    group = {"id": "V", "content": {name: {"value": value} for name, value in said.items()}}
    words = read_words(json.dumps(group).encode())
    assert [words.kind(tail) for tail in ("First_Look", "Second_Look")] == [PostKind.REVIEW, PostKind.REVIEW]
    assert words.decision_fields[0] == "our_verdict"


PROSE = "A passage of some length, written and not chosen.\nIt has two lines."


def inferred(answers: list[Any]) -> FieldType | None:
    return infer_form("V", ({"new_field": answer} for answer in answers)).questions["new_field"].type


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([1, 2, 3, 4] * 4, FieldType.SCORE),
        (["3: good", "4: excellent"] * 6, FieldType.SCORE),
        (["3 good", "Not applicable"] * 6, FieldType.CHOICE),
        (["Oral", "Poster", "Neither"] * 4, FieldType.CHOICE),
        (["Yes", "No"] * 6, FieldType.FLAG),
        (["I agree."] * 12, FieldType.FLAG),
        ([True, False] * 6, FieldType.FLAG),
        ([["a"], ["a", "b"]] * 6, FieldType.LIST),
        ([PROSE, "Yes", "Yes", "No"] * 3, FieldType.TEXT),
        ([f"Remark {number}." for number in range(12)], FieldType.TEXT),
        ([f"{number}: remark" for number in range(30)] * 3, FieldType.TEXT),
        (["Yes", "No"], None),
    ],
)
def test_answers_determine_what_a_field_asks_for(answers: list[Any], expected: FieldType | None) -> None:
    assert inferred(answers) is expected


def test_an_inferred_score_has_no_scale() -> None:
    reviews = [{"new_field": rating, "review": PROSE} for rating in ["6: above", "3: below"] * 6]
    form = infer_form("V", reviews)
    (score,) = read_fields(reviews[0], form).scores
    assert (score.value, score.low, score.high, score.offered, score.unit) == (6.0, None, None, (), None)
    assert form.form_id == "inferred:V"


def test_prose_stays_prose_in_one_word() -> None:
    form = infer_form("V", [{"clarity": PROSE}, {"clarity": "Good."}])
    assert [section.text for section in read_fields({"clarity": "Good."}, form).sections] == ["Good."]


def test_few_reviews_are_read_by_name() -> None:
    fields = {"soundness": "3 good", "review": "Fine work.", "rating": "Weak Accept"}
    reading = read_fields(fields, infer_form("V", [fields]))
    assert [(score.field, score.value) for score in reading.scores] == [("soundness", 3.0), ("rating", None)]
    assert [section.field for section in reading.sections] == ["review"]


def test_of_many_different_answers_few_are_kept() -> None:
    reviews = ({"review": f"Review {number}"} for number in range(10_000))
    assert infer_form("V", reviews).questions["review"].type is FieldType.TEXT
