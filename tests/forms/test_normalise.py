"""How a forum's notes become a paper, reviews and posts, or are set aside."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.forms import vocabulary
from peercorpus.forms.invitation_forms import derive_form
from peercorpus.forms.reviews import fields_to_json
from peercorpus.forms.vocabulary import VenueVocabulary, read_words
from peercorpus.records.enums import PostKind, Reason, Role, Status
from peercorpus.workspace.raw_store import RawKind, RawObject
from raw_forums import Normalised, V, raw, v2

PAPER = v2("paper", "Submission", "Authors", number=1, content={"title": "On Kites", "venueid": f"{V}/Submission"})


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        (v2("x", "Official_Comment") | {"forum": None}, Reason.NO_FORUM),
        (v2("x", "Official_Comment") | {"invitations": []}, Reason.NO_INVITATION),
        (v2("x", "Official_Comment") | {"forum": "another"}, Reason.FORUM_MISSING),
        (v2("x", "Official_Comment") | {"content": "no object"}, Reason.UNREADABLE),
        (v2("x", "Submission") | {"forum": "x", "readers": [V]}, Reason.NOT_PUBLIC),
        (v2("x", "Submission") | {"forum": "x", "ddate": 1}, Reason.DELETED),
    ],
)
def test_a_placeless_note_is_set_aside(tmp_path: Path, note: dict[str, Any], reason: Reason) -> None:
    found = Normalised(tmp_path / "w", [PAPER, note])
    assert found.aside == {"x": reason}
    assert all(one.holds for one in found.sums)
    assert len(found.papers) == 1


@pytest.mark.parametrize("root", [{"ddate": 1}, {"readers": [V]}])
def test_replies_of_hidden_submissions_are_explained(tmp_path: Path, root: dict[str, Any]) -> None:
    submission = v2("x", "Submission") | {"forum": "x"} | root
    reply = v2("y", "Official_Comment") | {"forum": "x", "replyto": "x"}
    found = Normalised(tmp_path / "w", [PAPER, submission, reply])
    assert found.aside["y"] is Reason.FORUM_SET_ASIDE
    assert all(one.holds for one in found.sums)


@pytest.mark.parametrize(
    ("tail", "signature", "kind", "role", "name"),
    [
        ("Official_Review", "Reviewer_AbCd", PostKind.REVIEW, Role.REVIEWER, "Reviewer_AbCd"),
        ("Official_Review2/-/Rebuttal", "Authors", PostKind.REBUTTAL, Role.AUTHOR, "Authors"),
        ("Official_Comment", "Area_Chair_WxYz", PostKind.COMMENT, Role.AREA_CHAIR, "Area_Chair_WxYz"),
        ("Official_Comment", "Senior_Area_Chairs", PostKind.COMMENT, Role.SENIOR_AREA_CHAIR, "Senior_Area_Chairs"),
        ("Public_Comment", "~Ada_Example1", PostKind.COMMENT, Role.PUBLIC, "public_~Ada_Example1"),
        ("Ethics_Review", "Ethics_Reviewer_Ab12", PostKind.ETHICS_REVIEW, Role.ETHICS_REVIEWER, "Ethics_Reviewer_Ab12"),
        ("Decision", "Program_Chairs", PostKind.DECISION, Role.PROGRAM_CHAIR, "Program_Chairs"),
        ("Official_Comment", "jane.doe@example.org", PostKind.COMMENT, Role.UNKNOWN, "unknown_jane.doe@example.org"),
        ("Official_Comment", "Jane Doe", PostKind.COMMENT, Role.UNKNOWN, "unknown_1"),
        ("Public_Comment", "(anonymous)", PostKind.COMMENT, Role.PUBLIC, "public_1"),
        ("Review_of_Something_Else", "Reviewer_AbCd", PostKind.COMMENT, Role.REVIEWER, "Reviewer_AbCd"),
        ("Notice_of_Something_Else", "Program_Chairs", PostKind.OTHER, Role.PROGRAM_CHAIR, "Program_Chairs"),
    ],
)
def test_kind_and_role_come_from_invitation_and_signature(
    tmp_path: Path, tail: str, signature: str, kind: PostKind, role: Role, name: str
) -> None:
    found = Normalised(tmp_path / "w", [PAPER, v2("x", tail, signature, content={"comment": "Words."})])
    post, person = found.posts["x"], name.partition("_")[2]
    if "~" in person or "@" in person:
        name = f"{role}_{found.pseudonym(person)}"
    assert (post.kind, post.role, post.signature, post.text) == (kind, role, name, "Words.")


def test_a_signing_author_keeps_no_name(tmp_path: Path) -> None:
    paper = PAPER | {"content": PAPER["content"] | {"authorids": {"value": ["~Ada_Example1", "ada@example.org"]}}}
    found = Normalised(
        tmp_path / "w", [paper, v2("x", "Official_Comment", "~Ada_Example1", content={"comment": "Hi."})]
    )
    assert (found.posts["x"].role, found.posts["x"].signature) == (Role.AUTHOR, "Authors")
    assert "ada@example.org" not in found.papers[0].extra
    assert "~Ada" not in found.papers[0].extra


DECISION = v2("d", "Decision", "Program_Chairs", content={"decision": "Accept (poster)", "comment": "Good."})


def test_the_decision_is_verbatim(tmp_path: Path) -> None:
    paper = Normalised(tmp_path / "w", [PAPER, DECISION]).papers[0]
    assert (paper.decision, paper.decision_comment) == ("Accept (poster)", "Good.")
    assert paper.decided_at is not None
    assert paper.decided_at.isoformat() == "2023-11-14T22:13:20+00:00"


def test_hidden_and_deleted_notes_are_kept_and_marked(tmp_path: Path) -> None:
    hidden = v2("h", "Official_Review", "Reviewer_AbCd", content={"review": "Secret."}) | {"readers": [V]}
    deleted = v2("d", "Official_Comment", "Authors", content={"comment": "Gone."}) | {"ddate": 1}
    found = Normalised(tmp_path / "w", [PAPER, hidden, deleted])
    assert (found.posts["h"].readers_public, found.posts["d"].deleted) == (False, True)
    assert found.reviews[0].readers_public is False


def test_a_closed_field_is_not_read(tmp_path: Path) -> None:
    content = {"comment": {"value": "Open."}, "to_chairs": {"value": "Closed.", "readers": [V]}}
    found = Normalised(tmp_path / "w", [PAPER, v2("x", "Official_Comment", "Authors") | {"content": content}])
    assert found.posts["x"].text == "Open."
    assert "Closed." not in found.posts["x"].extra


@pytest.mark.parametrize("hidden", [{"readers": [V]}, {"ddate": 1}])
def test_a_hidden_or_deleted_edit_is_ignored(tmp_path: Path, hidden: dict[str, Any]) -> None:
    review = v2("r", "Official_Review", "Reviewer_AbCd", content={"rating": 8}, tmdate=1_700_900_000_000)
    made = {"id": "e1", "tcdate": 1_700_000_000_000, "note": {"id": "r", "content": {"rating": {"value": 3}}}} | hidden
    later = {"id": "e2", "tcdate": 1_700_900_000_000, "note": {"id": "r", "content": {"rating": {"value": 8}}}}
    edits = [raw({"readers": ["everyone"], **edit}, RawKind.EDIT, "r") for edit in (made, later)]
    (read,) = Normalised(tmp_path / "w", [PAPER, review], *edits).reviews
    assert [score.value for score in read.scores] == [8.0]
    assert read.revised is None


def test_a_chairs_recommendation_decides_nothing(tmp_path: Path) -> None:
    advice = v2("m", "Meta_Review", "Area_Chair_X", content={"recommendation": "Accept (Poster)", "metareview": "Yes."})
    (paper,) = Normalised(tmp_path / "w", [PAPER, advice]).papers
    assert (paper.status, paper.decision, paper.decision_comment) == (Status.UNDER_REVIEW, None, "Yes.")


def test_the_group_names_its_replies(tmp_path: Path) -> None:
    said = {"review_name": "Assessment", "decision_name": "Outcome", "decision_field_name": "our_verdict"}
    content = {name: {"value": value} for name, value in said.items()}
    group = json.dumps({"id": V, "domain": V, "content": content}).encode()
    found = Normalised(
        tmp_path / "w",
        [
            PAPER,
            v2("r", "Assessment", "Reviewer_AbCd", content={"rating": 4}),
            v2("d", "Outcome", "Program_Chairs", content={"our_verdict": "Accept as is"}),
        ],
        RawObject(RawKind.GROUP, V, 2, V, "", V, 0, 0, "test", group),
    )
    assert {post.post_id: post.kind for post in found.posts.values()} == {"r": PostKind.REVIEW, "d": PostKind.DECISION}
    assert (found.papers[0].decision, found.papers[0].status) == ("Accept as is", Status.ACCEPTED)
    assert len(found.reviews) == 1


def test_redacted_extra_is_valid_json(tmp_path: Path) -> None:
    concern = {"author_identity_guess": "Mail me:\nada@example.org\tor ~Ada_Example1"}
    (review,) = Normalised(tmp_path / "w", [PAPER, v2("r", "Official_Review", "Reviewer_A", content=concern)]).reviews
    assert json.loads(review.extra) == {"author_identity_guess": "Mail me:\n[e-mail]\tor [profile]"}


def test_unknown_fields_are_kept(tmp_path: Path) -> None:
    content = {"title": {"value": ["Two", "titles"]}, "venue": {"value": {"a": 1}}, "primary_area": {"value": ["x"]}}
    (paper,) = Normalised(tmp_path / "w", [PAPER | {"content": content}]).papers
    assert json.loads(paper.extra) == {"title": ["Two", "titles"], "venue": {"a": 1}, "primary_area": ["x"]}


@pytest.mark.parametrize("authorids", [[{"id": 1}], "one", None, [None]])
def test_malformed_authorids_stop_nothing(tmp_path: Path, authorids: Any) -> None:
    paper = PAPER | {"content": {"authorids": {"value": authorids}}}
    assert len(Normalised(tmp_path / "w", [paper, v2("x", "Official_Comment", "Authors")]).posts) == 1


@pytest.mark.parametrize(
    ("odd", "fields"),
    [
        ({"edit": True}, None),
        ({"edit": {"note": "n", "invitation": "i"}}, None),
        ({"reply": "r"}, None),
        ({"reply": {"content": None}}, None),
        (
            {"edit": {"note": {"content": {"rating": {"value": {"param": []}}, "b": {"value": {"param": None}}}}}},
            ["rating", "b"],
        ),
        ({"edit": {"note": {"content": {"b": {"value": {"param": None}}, "c": 1}}}}, ["b"]),
    ],
)
def test_malformed_invitations_stop_nothing(odd: dict[str, Any], fields: list[str] | None) -> None:
    form = derive_form(json.dumps({"id": "V/-/Official_Review", **odd}).encode())
    assert (form and list(form.questions)) == fields


@pytest.mark.parametrize("content", [None, [1], "text", {"review_name": "bare"}, {"review_name": {"value": [1]}}])
def test_malformed_groups_are_ignored(content: Any) -> None:
    assert read_words(json.dumps({"id": "V", "content": content}).encode()) == VenueVocabulary()


def test_an_email_address_is_never_in_extra(tmp_path: Path) -> None:
    paper = PAPER | {"content": PAPER["content"] | {"contact": {"value": ["a.b@example.org"]}}}
    assert "example.org" not in Normalised(tmp_path / "w", [paper]).papers[0].extra


def test_the_order_of_notes_changes_nothing(tmp_path: Path) -> None:
    notes = [PAPER, DECISION, v2("b", "Official_Review", "Reviewer_B"), v2("a", "Public_Comment", "(anonymous)")]
    one, two = Normalised(tmp_path / "1", notes), Normalised(tmp_path / "2", notes[::-1])
    assert (one.papers, one.reviews, one.posts) == (two.papers, two.reviews, two.posts)


def _edit(edit_id: str, at_ms: int, answers: dict[str, Any]) -> RawObject:
    """An edit of the review `r`."""
    content = {name: {"value": value} for name, value in answers.items()}
    found = {"id": edit_id, "invitation": f"{V}/-/Official_Review", "readers": ["everyone"], "tcdate": at_ms}
    return raw({**found, "tmdate": at_ms, "note": {"id": "r", "content": content}}, RawKind.EDIT, "r")


def asks(name: str, options: list[str]) -> RawObject:
    """A review invitation whose one question offers these answers."""
    asked = {"rating": {"value": {"param": {"type": "string", "enum": options}}}}
    found = {"id": f"{V}/-/{name}", "edit": {"invitation": {"edit": {"note": {"content": asked}}}}}
    return raw(found, RawKind.INVITATION)


def says(**answers: Any) -> RawObject:
    """The venue's own group."""
    return raw({"id": V, "content": {name: {"value": value} for name, value in answers.items()}}, RawKind.GROUP)


def test_each_kind_has_its_own_form(tmp_path: Path) -> None:
    notes = [
        v2("a", "First_Look", "Reviewer_A", content={"rating": "2: good"}),
        v2("b", "Second_Look", "Reviewer_B", content={"rating": "2: fair"}),
        v2("c", "Third_Look", "Reviewer_C", content={"rating": "2: what"}),
    ]
    forms = [asks("First_Look", ["1: bad", "2: good"]), asks("Second_Look", ["1: bad", "2: fair", "3: good"])]
    words = says(review_names=["First_Look", "Second_Look", "Third_Look"])
    read = {one.review_id: one for one in Normalised(tmp_path / "w", [PAPER, *notes], *forms, words).reviews}
    assert {review_id: one.scores[0].offered for review_id, one in read.items()} == {
        "a": (1.0, 2.0),
        "b": (1.0, 2.0, 3.0),
        "c": (),
    }
    assert {review_id: one.form_id for review_id, one in read.items()} == {
        "a": f"{V}/-/First_Look",
        "b": f"{V}/-/Second_Look",
        "c": f"inferred:{V}",
    }


def test_a_chairs_edit_names_no_kind(tmp_path: Path) -> None:
    review = v2("r", "Official_Review", "Reviewer_A", content={"summary": "Kites."})
    review["invitations"] = [f"{V}/-/Edit", *review["invitations"]]
    (read,) = Normalised(tmp_path / "w", [PAPER, review]).reviews
    assert read.review_id == "r"


@pytest.mark.parametrize(("verdict", "status"), [("Invite for talk", Status.ACCEPTED), ("Not this time", "unknown")])
def test_a_venue_states_which_decisions_accept(tmp_path: Path, verdict: str, status: Status) -> None:
    paper = v2("paper", "Submission", "Authors", content={"title": "On Kites"})
    decision = v2("d", "Decision", "Program_Chairs", content={"decision": verdict})
    group = says(accept_decision_options=["Invite for Talk", "Invite for poster"])
    (read,) = Normalised(tmp_path / "w", [paper, decision], group).papers
    assert (read.decision, read.status) == (verdict, status)


def test_a_venue_names_its_own_committees(tmp_path: Path) -> None:
    signers = {"a": "Juror_AbCd", "b": "Judges", "c": "Jurors", "d": "Juror"}
    notes = [v2(note_id, "Official_Comment", signer, content={"comment": "x"}) for note_id, signer in signers.items()]
    group = says(reviewers_name="Jurors", reviewers_anon_name="Juror_", area_chairs_name="Judges")
    read = Normalised(tmp_path / "w", [PAPER, *notes], group)
    assert {note_id: post.role for note_id, post in read.posts.items()} == {
        "a": Role.REVIEWER,
        "b": Role.AREA_CHAIR,
        "c": Role.REVIEWER,
        "d": Role.UNKNOWN,
    }
    assert read.posts["a"].signature == "Juror_AbCd"


def test_a_file_path_is_not_prose(tmp_path: Path) -> None:
    fields = {"review": "Clear.", "supplementary_material": "/attachment/0a1b2c.zip"}
    notes = [v2("r", "Official_Review", "Reviewer_A", content=fields)]
    notes.append(v2("c", "Official_Comment", "Authors", content={"comment": "See there.", "plot": "/pdf/1.pdf"}))
    read = Normalised(tmp_path / "w", [PAPER, *notes])
    (review,) = read.reviews
    assert [section.field for section in review.sections] == ["review"]
    assert json.loads(review.extra) == {"supplementary_material": "/attachment/0a1b2c.zip"}
    assert (read.posts["r"].text, read.posts["c"].text) == ("Clear.", "See there.")


def test_a_changed_review_has_both_texts(tmp_path: Path) -> None:
    now = {"summary": "Kites.", "questions": "UPDATE: none."}
    review = v2("r", "Official_Review", "Reviewer_A", tcdate=1_000, tmdate=9_000, content=now)
    edits = [_edit("e1", 1_000, {**now, "questions": "Why?"}), _edit("e2", 9_000, now)]
    post = Normalised(tmp_path / "w", [PAPER, review], *edits).posts["r"]
    assert post.text == "### summary\n\nKites.\n\n### questions\n\nUPDATE: none."
    assert post.initial_text == "### summary\n\nKites.\n\n### questions\n\nWhy?"
    assert not post.holds_update
    unseen = Normalised(tmp_path / "unseen", [PAPER, review]).posts["r"]
    assert (unseen.initial_text, unseen.holds_update) == (None, True)


PERSONAL = {
    "service_contributor": ["~Ada_Example1"],
    "visa_needs": "yes",
    "country_of_origin": "CN",
    "Nationality of presenter": "Utopian",
    "presenterEmail": "kites at example",
    "authorGender": "f",
    "contact_phone": "12 34",
    "first_time_reviewer": "yes",
    "studentAuthors": "two",
    "secondary_reviewer": ["~Ada_Example1"],
    "career_stage": "early",
    "seniority": "junior",
    "affiliation": "Kite School",
    "years_of_reviewing_experience": 3,
    "English native speaker": "no",
    "academic_rank": "reader",
    "previous_reviewing_experience": "none",
}


@given(st.sampled_from(sorted(PERSONAL)), st.sampled_from(["", "author_", "main_"]))
def test_personal_fields_are_known_by_words(name: str, prefix: str) -> None:
    assert vocabulary.is_personal(f"{prefix}{name}")


@pytest.mark.parametrize(
    "name",
    [
        *("contribution", "summary_of_contributions", "gender_bias_in_data", "presentation", "limitations", "keywords"),
        *("student_paper", "best_student_paper", "experience_report", "experience_assessment", "user_experience"),
        *("confidence", "reviewer_confidence", "previously_reviewed", "time_spent_reviewing", "ethical_expertise"),
        *(
            *("first_impression", "degree_of_novelty", "age_bias_in_data", "position_paper", "language_quality"),
            "cv_track",
        ),
        *("number_of_years_in_dataset", "native_resolution", "secondary_area", "comments_to_senior_reviewers"),
    ],
)
def test_fields_about_papers_are_kept(name: str) -> None:
    assert not vocabulary.is_personal(name)


def test_nested_personal_fields_are_found() -> None:
    told = fields_to_json({"about": {"you": {"career_stage": "early", "note": "Fine."}}, "student_paper": "yes"})
    assert told == '{"about":{"you":{"note":"Fine."}},"student_paper":"yes"}'


def test_fields_about_persons_stay_in_the_raw_data(tmp_path: Path) -> None:
    content = {name: {"value": value} for name, value in PERSONAL.items()}
    root = PAPER | {"content": PAPER["content"] | content}
    review = v2("r", "Official_Review", "Reviewer_A", content=PERSONAL | {"rating": 4, "review": "Fine."})
    comment = v2("c", "Official_Comment", "Authors", content=PERSONAL | {"comment": "Thanks."})
    found = Normalised(tmp_path / "w", [root, review, comment])
    (paper,), (read,) = found.papers, found.reviews
    assert json.loads(paper.extra).keys().isdisjoint(PERSONAL)
    assert json.loads(read.extra).keys().isdisjoint(PERSONAL)
    assert [section.field for section in read.sections] == ["review"]
    assert [score.field for score in read.scores] == ["rating"]
    assert (found.posts["c"].text, found.posts["c"].extra) == ("Thanks.", "{}")


@pytest.mark.parametrize(
    ("venue", "status"), [("Invented 2020 January Submission", Status.UNKNOWN), ("Invented 2020", Status.ACCEPTED)]
)
def test_a_bare_venueid_does_not_accept(tmp_path: Path, venue: str, status: Status) -> None:
    content = PAPER["content"] | {"venueid": {"value": V}, "venue": {"value": venue}}
    assert Normalised(tmp_path / "w", [PAPER | {"content": content}]).papers[0].status is status
