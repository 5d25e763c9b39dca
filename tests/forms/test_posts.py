"""A meta-review's recommendation, confidence and reasons, for venues of both APIs."""

from pathlib import Path
from typing import Any

import pytest

from peercorpus.records.enums import Aspect, Status
from peercorpus.records.reviews import MetaReview
from peercorpus.workspace.raw_store import RawKind
from raw_forums import PAPER, Normalised, V, raw, v1, v2

SURE = {"value": 3, "description": "3: The chair is certain"}
FORM = {
    "metareview": {"order": 1, "value": {"param": {"type": "string", "input": "textarea"}}},
    "why_not_higher": {"order": 2, "value": {"param": {"type": "string", "input": "textarea"}}},
    "recommendation": {"order": 3, "value": {"param": {"type": "string", "enum": ["Accept (Oral)", "Reject"]}}},
    "confidence": {
        "order": 4,
        "value": {"param": {"type": "integer", "enum": [{"value": 1, "description": "1: Unsure"}, SURE]}},
    },
}
V1_PAPER = v1("paper", "Submission", content={"title": "On Kites"})


def read(folder: Path, *notes: dict[str, Any], form: dict[str, Any] | None = None) -> dict[str, MetaReview | None]:
    """Return the meta-review of every post, by id."""
    invitation = {"id": f"{V}/-/Meta_Review", "edit": {"invitation": {"edit": {"note": {"content": form or {}}}}}}
    others = [raw(invitation, RawKind.INVITATION)] if form else []
    done = Normalised(folder / "corpus", list(notes), *others)
    assert all(row.holds for row in done.sums)
    return {name: post.meta_review for name, post in done.posts.items()}


def numbers(found: MetaReview) -> dict[str, tuple[float | None, float | None, float | None]]:
    return {score.field: (score.value, score.low, score.high) for score in found.scores}


def test_a_form_explains_meta_reviews(tmp_path: Path) -> None:
    content = {
        "metareview": "They fly.",
        "why_not_higher": "They fall.",
        "recommendation": "Accept (Oral)",
        "confidence": 3,
    }
    found = read(tmp_path, PAPER, v2("m", "Meta_Review", "Area_Chair_X", content=content), form=FORM)["m"]
    assert found is not None
    assert (found.field, found.recommendation, found.recommends) == ("recommendation", "Accept (Oral)", Status.ACCEPTED)
    assert numbers(found) == {"recommendation": (None, None, None), "confidence": (3.0, 1.0, 3.0)}
    assert [(section.field, section.text) for section in found.justifications] == [("why_not_higher", "They fall.")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"recommendation": "Reject", "confidence": "4: sure"}, ("Reject", Status.REJECTED, None, 4.0)),
        ({"recommendation": "(2) Weak accept"}, ("(2) Weak accept", Status.ACCEPTED, 2.0, None)),
        (
            {"recommendation": "3: Sound but not Exciting Enough: Accept to Findings", "confidence": 5},
            ("3: Sound but not Exciting Enough: Accept to Findings", Status.ACCEPTED, 3.0, 5.0),
        ),
        (
            {"recommendation": "2: Not Sound Enough: Reject"},
            ("2: Not Sound Enough: Reject", Status.REJECTED, 2.0, None),
        ),
        ({"recommendation": "2: Discuss: accept or reject"}, ("2: Discuss: accept or reject", None, 2.0, None)),
        (
            {"recommendation": "6: marginally above the acceptance threshold"},
            ("6: marginally above the acceptance threshold", None, 6.0, None),
        ),
        ({"overall_assessment": 3.5}, ("3.5", None, 3.5, None)),
        ({"overall_assessment": "4 = Conference"}, ("4 = Conference", None, 4.0, None)),
        ({"suggested_decision": "Accept (Poster)"}, ("Accept (Poster)", Status.ACCEPTED, None, None)),
        (
            {"recommendation": "Needs discussion", "final_recommendation": "Reject"},
            ("Reject", Status.REJECTED, None, None),
        ),
        ({"metareview": "I would accept it."}, (None, None, None, None)),
        ({"recommendation": "  ", "metareview": "Good."}, (None, None, None, None)),
    ],
)
@pytest.mark.parametrize("api", [1, 2])
def test_a_meta_review_without_its_form(tmp_path: Path, content: dict[str, Any], expected: Any, api: int) -> None:
    meta = v2("m", "Meta_Review", content=content) if api == 2 else v1("m", "Paper1/Meta_Review", content=content)
    found = read(tmp_path, PAPER if api == 2 else V1_PAPER, meta)["m"]
    assert found is not None
    values = {score.field: score.value for score in found.scores}
    confidence = [score.value for score in found.scores if score.aspect is Aspect.CONFIDENCE]
    assert (
        found.recommendation,
        found.recommends,
        values.get(found.field or ""),
        confidence[0] if confidence else None,
    ) == expected


@pytest.mark.parametrize(
    ("field", "is_reason"),
    [
        ("justification_for_why_not_higher_score", True),
        ("justification_for_why_not_lower_score", True),
        ("Justification", True),
        ("recommendation_justification", True),
        ("summary_of_reasons_to_publish", True),
        ("rationale", True),
        ("best_paper_ae_justification", False),
        ("award_justification", False),
        ("additional_comments_on_reviewer_discussion", False),
        ("metareview", False),
        ("summary_of_suggested_revisions", False),
    ],
)
def test_reasons_are_read_where_asked(tmp_path: Path, field: str, is_reason: bool) -> None:
    found = read(tmp_path, PAPER, v2("m", "Meta_Review", content={field: "For it flies."}))["m"]
    assert found is not None
    assert [section.text for section in found.justifications] == (["For it flies."] if is_reason else [])


def test_a_decision_has_no_separate_recommendation(tmp_path: Path) -> None:
    inside = {"decision": "Reject", "metareview:_summary,_strengths_and_weaknesses": "They fall."}
    inside["justification_for_why_not_higher_score"] = "All of them."
    posts = read(
        tmp_path,
        PAPER,
        v2("with", "Decision", "Program_Chairs", content=inside),
        v2("without", "Decision", "Program_Chairs", content={"decision": "Reject", "comment": "Alas."}),
        v2("review", "Official_Review", "Reviewer_A1bC", content={"review": "Well.", "rating": 3}),
    )
    found = posts["with"]
    assert found is not None
    assert (found.field, found.recommendation, found.recommends, found.scores) == (None, None, None, ())
    assert [section.text for section in found.justifications] == ["All of them."]
    assert (posts["without"], posts["review"]) == (None, None)


def test_hidden_fields_are_not_read(tmp_path: Path) -> None:
    note = v2("m", "Meta_Review", content={"metareview": "Good.", "confidence": 4, "recommendation": "Reject"})
    for field in ("confidence", "recommendation"):
        note["content"][field]["readers"] = [f"{V}/Area_Chairs"]
    found = read(tmp_path, PAPER, note)["m"]
    assert found == MetaReview(None, None, None, (), ())
