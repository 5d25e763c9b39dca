"""The outcome of a paper, the kind of a reply, and its author's role: at today's venues and the oldest."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from peercorpus.forms import vocabulary
from peercorpus.forms.papers import read_paper
from peercorpus.forms.posts import is_prose_field, read_speakers
from peercorpus.forms.venue_forms import read_venue
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, invitation_name
from peercorpus.records.enums import PostKind, Role, Status
from peercorpus.records.papers import Paper
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

V = "Invented.cc/2013/conference"


def in_letters(account: str) -> str:
    return f"p{len(account)}"


LEFT = [
    ("Withdrawal", "revert_withdrawal_confirmation", Status.WITHDRAWN),
    ("Desk_Rejection", "revert_desk_rejection_confirmation", Status.DESK_REJECTED),
]


def old_root(**content: Any) -> Note:
    """A submission on API v1."""
    return Note(id="paper", forum="paper", invitation=f"{V}/-/submission", content={"title": "On Kites"} | content)


def new_root(**content: Any) -> Note:
    """A submission on API v2."""
    answers = {name: {"value": value} for name, value in {"title": "On Kites", **content}.items()}
    return Note(id="paper", forum="paper", invitations=[f"{V}/-/Submission"], content=answers)


def reply(tail: str, at: int = 1, signature: str = "", **content: Any) -> Note:
    """A reply on API v1, whose content is flat."""
    note = Note(id=f"{tail}{at}", forum="paper", replyto="paper", invitation=f"{V}/-/{tail}")
    note.signatures, note.tcdate, note.content = [signature] if signature else [], at, content
    return note


def new_decision(text: str) -> Note:
    """A decision on API v2."""
    content = {"decision": {"value": text}}
    return Note(id="d", forum="paper", invitations=[f"{V}/Paper1/-/Decision"], tcdate=1, content=content)


def paper_of(root: Note, *replies: Note) -> Paper:
    """Return the paper made from a submission and its replies, in time order."""
    words = VenueVocabulary()
    return read_paper(root, V, [(words.kind(invitation_name(note.created_by)), note) for note in replies], words)


@pytest.mark.parametrize(
    ("decision", "status"),
    [
        *(
            (given, Status.ACCEPTED)
            for given in (
                *("Accept (Poster)", "Accept as is", "Accept with minor revision", "Accept: notable-top-5%"),
                *("Accept to findings - conditional", "Accept and select as a highlight"),
                *("Accept \u2013 do not reject", "Conditional Accept", "Conditionat Accept - Findings"),
                *("Regular Long Paper Accept-Main", "Short Paper Accept-Findings", "Strong Accept", "(2) Weak accept"),
                *("1 - definite accept", "conferencePoster-iclr2013-conference", "conferenceOral-iclr2013-conference"),
                *("conferencePoster-iclr2013-workshop", "conferenceOral-iclr2013-workshop"),
            )
        ),
        ("Reject", Status.REJECTED),
        ("reject", Status.REJECTED),
        ("(1) Reject", Status.REJECTED),
        ("Weak Reject", Status.REJECTED),
        ("Reject - resubmit", Status.REJECTED),
        ("Invite to Workshop Track", Status.REJECTED),
        ("Desk Reject", Status.DESK_REJECTED),
        ("Desk rejected", Status.DESK_REJECTED),
        ("desk-rejected by the chairs", Status.DESK_REJECTED),
        *(
            (given, Status.REJECTED)
            for given in (
                *("Not accepted", "Not Accept", "Decline", "Declined.", "No acceptance", "Non-acceptance"),
                *("Cannot be accepted in its current form", "We are unable to accept this paper", "Rejected by PCs"),
                *("Decision: Reject", "Accept? No: Reject"),
            )
        ),
        ("Reject? No: Accept", Status.ACCEPTED),
        ("Accept \u2192 Reject", Status.REJECTED),
        ("Accept -> Reject", Status.REJECTED),
        ("Withdrawn by PCs", Status.WITHDRAWN),
        ("Withdrawn by the authors", Status.WITHDRAWN),
        ("Accept (withdrawn by the authors)", Status.WITHDRAWN),
        ("Withdrawn (was accepted)", Status.WITHDRAWN),
        ("Conditionally accepted", Status.ACCEPTED),
        ("Accept with minor revisions", Status.ACCEPTED),
        ("Your paper has been accepted as a poster", Status.ACCEPTED),
        ("Oral Presentation", Status.ACCEPTED),
        ("Accept. The reviewers recommended to reject it at first.", Status.ACCEPTED),
        *(
            (given, Status.UNKNOWN)
            for given in (
                *("Accept (revoked)", "Acceptance withdrawn", "Rejection withdrawn", "Accept?", "Accept / Reject"),
                *("Accept if space permits, otherwise reject", "Not yet accepted", "Probably accept"),
                *("Major revision", "Minor Revision", "Revise and resubmit", "Retracted", "Declined by the authors"),
                *("No oral", "Not rejected", "2 - possible accept to main conference"),
                *("The authors have accepted the terms", "Acceptable after changes", "On Hold", "Decision Pending"),
                *("submitted, no decision", ""),
            )
        ),
    ],
)
def test_a_decision_is_read_closely(decision: str, status: Status) -> None:
    assert vocabulary.status_of_decision(decision) is status


@pytest.mark.parametrize(
    ("venue", "status"),
    [
        ("ICML 2025 spotlightposter", Status.ACCEPTED),
        ("ICML 2023 OralPoster", Status.ACCEPTED),
        ("ICLR 2025 conditionalposter", Status.ACCEPTED),
        ("ICLR 2020 Poster", Status.ACCEPTED),
        ("Submitted to ICLR 2025", Status.UNKNOWN),
        ("ICLR 2025", Status.UNKNOWN),
        ("ICLR 2022 Conference Withdrawn Submission", Status.WITHDRAWN),
        ("ICLR 2022 Conference Desk Rejected Submission", Status.DESK_REJECTED),
    ],
)
def test_a_presentation_type_means_accepted(venue: str, status: Status) -> None:
    assert vocabulary.status_of_venue(venue) is status
    assert paper_of(old_root(venue=venue)).status is status


@pytest.mark.parametrize(
    ("tail", "status"),
    [
        ("", Status.ACCEPTED),
        ("/Submission", Status.UNDER_REVIEW),
        ("/Submitted", Status.UNDER_REVIEW),
        ("/Assigning_AE", Status.UNDER_REVIEW),
        ("/Assigned_AE", Status.UNDER_REVIEW),
        ("/Under_Review", Status.UNDER_REVIEW),
        ("/Decision_Pending", Status.UNDER_REVIEW),
        ("/Rejected", Status.REJECTED),
        ("/Rejected_Submission", Status.REJECTED),
        ("/Desk_Rejected", Status.DESK_REJECTED),
        ("/Desk_Rejected_Submission", Status.DESK_REJECTED),
        ("/Withdrawn_Submission", Status.WITHDRAWN),
        ("/Retracted_Acceptance", Status.UNKNOWN),
        ("/Something_New", Status.UNKNOWN),
    ],
)
def test_a_journals_venueid_gives_the_status(tail: str, status: Status) -> None:
    assert paper_of(new_root(venueid=V + tail)).status is status


@pytest.mark.parametrize(
    ("decision", "status"),
    [
        ("conferencePoster-iclr2013-conference", Status.ACCEPTED),
        ("reject", Status.REJECTED),
        ("submitted, no decision", Status.UNKNOWN),
    ],
)
def test_on_api_1_submissions_may_decide(decision: str, status: Status) -> None:
    paper = paper_of(old_root(decision=decision), reply("submission/review", review="Clear."))
    assert (paper.decision, paper.status, paper.decided_at) == (decision, status, None)


def test_a_posted_decision_takes_precedence_over_the_submissions() -> None:
    paper = paper_of(old_root(decision="reject"), reply("Paper1/Decision", decision="Accept"))
    assert (paper.decision, paper.status) == ("Accept", Status.ACCEPTED)


def test_on_api_1_a_venueid_accepts_nothing() -> None:
    paper = paper_of(old_root(venueid=V, authors=["Anonymous"]))
    assert (paper.status, paper.authors) == (Status.UNKNOWN, ())


def test_on_api_2_submissions_decide_nothing() -> None:
    paper = paper_of(new_root(decision="Accept", venueid=f"{V}/Submission"))
    assert (paper.decision, paper.status) == (None, Status.UNDER_REVIEW)


@pytest.mark.parametrize(
    ("tail", "field", "decision"),
    [
        ("Paper1/Meta_Review", "final_recommendation", "Accept"),
        ("Paper1/Decision", "decision_recommendation", "Accept"),
        ("Paper1/Suggested_Decision", "suggested_decision", "4 - reject"),
        ("Paper1/Official_Recommendation", "decision_recommendation", None),
        ("Paper1/Official_Review", "suggested_decision", None),
        ("Paper1/Official_Comment", "final_recommendation", None),
    ],
)
def test_recommendations_rarely_decide(tail: str, field: str, decision: str | None) -> None:
    answers: dict[str, Any] = {field: decision or "Accept"}
    assert paper_of(old_root(), reply(tail, **answers)).decision == decision


@pytest.mark.parametrize("tail", ["Meta_Review", "Suggested_Decision", "Official_Recommendation"])
def test_on_api_2_only_a_decision_decides(tail: str) -> None:
    fields = ("recommendation", "final_recommendation", "decision_recommendation", "suggested_decision")
    answers: dict[str, Any] = dict.fromkeys(fields, "Accept")
    assert paper_of(new_root(), reply(tail, **answers)).decision is None


def test_the_final_recommendation_takes_precedence_over_the_first() -> None:
    advice = reply("Paper1/Meta_Review", recommendation="Reject", final_recommendation="Accept")
    assert paper_of(old_root(), advice).decision == "Accept"


@pytest.mark.parametrize(("tail", "reversion", "left"), LEFT)
def test_a_reverted_withdrawal_does_not_count(tail: str, reversion: str, left: Status) -> None:
    gone, back = reply(tail, 1), reply(f"{tail}_Reversion", 2, **{reversion: "We approve."})
    root = new_root(venueid=f"{V}/Submission")
    assert paper_of(root, gone).status is left
    assert paper_of(root, gone, back).status is Status.UNDER_REVIEW
    assert paper_of(root, gone, back, reply("Decision", 3, decision="Accept")).status is Status.ACCEPTED
    assert paper_of(root, gone, back, reply(tail, 3)).status is left
    assert paper_of(root, back, gone).status is Status.UNDER_REVIEW, "by their times, whatever their places"


@pytest.mark.parametrize(("tail", "reversion", "left"), LEFT)
def test_a_reversion_before_it_reverts_nothing(tail: str, reversion: str, left: Status) -> None:
    root = new_root(venueid=f"{V}/Submission")
    assert paper_of(root, reply(f"{tail}_Reversion", 1, **{reversion: "Yes."}), reply(tail, 2)).status is left


def test_a_reversion_reverts_its_kind() -> None:
    root = new_root(venueid=f"{V}/Submission")
    withdrawn, rejected = reply("Withdrawal", 1), reply("Desk_Rejection", 2)
    back = reply("Desk_Rejection_Reversion", 2, revert_desk_rejection_confirmation="We approve.")
    assert paper_of(root, withdrawn, rejected).status is Status.DESK_REJECTED
    assert paper_of(root, withdrawn, back, rejected).status is Status.WITHDRAWN


@pytest.mark.parametrize("reversion", [reversion for _, reversion, _ in LEFT])
def test_the_checkbox_that_reverts_is_not_prose(reversion: str) -> None:
    assert not is_prose_field(reversion, "We approve the reversion.")


@pytest.mark.parametrize(
    ("tail", "kind"),
    [
        ("submission/B1/review", PostKind.REVIEW),
        ("submission/review", PostKind.REVIEW),
        ("submission/conference/review", PostKind.REVIEW),
        ("submission/reply", PostKind.COMMENT),
        ("official/review", PostKind.REVIEW),
        ("pre-review/question", PostKind.COMMENT),
        ("Official_Review/AnonReviewer3/Revision", PostKind.OTHER),
        ("Official_Review/AnonReviewer3", PostKind.OTHER),
        ("Review_of_Something_Else", PostKind.OTHER),
        ("submission", PostKind.OTHER),
    ],
)
def test_an_invitations_kind_is_its_last_path_element(tail: str, kind: PostKind) -> None:
    assert VenueVocabulary().kind(tail) is kind


@pytest.mark.parametrize("tail", ["submission/review", "submission/B1/review"])
def test_an_old_invitation_has_its_form(tmp_path: Path, tail: str) -> None:
    form_id = f"{V}/-/{tail}"
    form = {"id": form_id, "reply": {"content": {"review": {"value-regex": ".*"}}}}
    with closing(Workspace(tmp_path)) as workspace:
        with workspace.raw.transaction():
            body = json.dumps(form).encode()
            workspace.raw.add([RawObject(RawKind.INVITATION, form_id, 1, V, "", form_id, 0, 0, "test", body)])
        reader = read_venue(workspace, V)
        assert reader.form_of(reply(tail)).form_id == form_id


@pytest.mark.parametrize(
    ("signature", "role", "name"),
    [
        ("anonymous reviewer 5a5e", Role.REVIEWER, "anonymous reviewer 5a5e"),
        ("Anonymous Reviewer 1D2f", Role.REVIEWER, "Anonymous Reviewer 1D2f"),
        ("anonymous reviewer Jane Doe", Role.UNKNOWN, "unknown_1"),
        ("an anonymous reviewer 5a5e", Role.UNKNOWN, "unknown_1"),
    ],
)
def test_the_oldest_anonymous_reviewers_are_reviewers(signature: str, role: Role, name: str) -> None:
    review = reply("submission/review", signature=signature)
    assert read_speakers(old_root(), [review], VenueVocabulary(), in_letters) == {review.id: (role, name)}


@pytest.mark.parametrize(
    "content",
    [
        {"authors": [{"fullname": "Ada Example", "username": "~Ada_Example1"}]},
        {"authors": [{"fullname": "Ada Example", "username": "~Ada_Example1"}], "authorids": ["~Bo_Example1"]},
        {"authors": ["Ada Example"], "authorids": ["~Ada_Example1"]},
    ],
)
def test_an_author_is_known_by_account(content: dict[str, Any]) -> None:
    note = reply("Official_Comment", signature="~Ada_Example1")
    assert read_speakers(new_root(**content), [note], VenueVocabulary(), in_letters) == {
        note.id: (Role.AUTHOR, "Authors")
    }
    assert paper_of(new_root(**content)).authors == ("Ada Example",)


@pytest.mark.parametrize(
    "authors", ["~Ada_Example1", ["~Ada_Example1"], [{"username": 1}], [{"fullname": "~Ada_Example1"}], [None], None]
)
def test_a_name_alone_does_not_identify_an_author(authors: Any) -> None:
    note = reply("Public_Comment", signature="~Ada_Example1")
    assert read_speakers(new_root(authors=authors), [note], VenueVocabulary(), in_letters) == {
        note.id: (Role.PUBLIC, "public_p13")
    }


@pytest.mark.parametrize("decision", ["Major revision", "Accept (revoked)", "Two readers liked it"])
def test_an_unrecognised_decision_is_kept(decision: str) -> None:
    new = new_root(venueid=f"{V}/Submission", venue="Submitted to V")
    for paper in (paper_of(new, new_decision(decision)), paper_of(old_root(), reply("Decision", decision=decision))):
        assert (paper.status, paper.decision) == (Status.UNKNOWN, decision)
    assert paper_of(new).status is Status.UNDER_REVIEW


def test_a_pending_decision_decides_nothing() -> None:
    answer = new_decision("Decision Pending")
    assert paper_of(new_root(venueid=f"{V}/Submission"), answer).status is Status.UNDER_REVIEW


def test_only_the_venue_rejects_submitted_papers() -> None:
    headings = {"Submitted to V": "Reject", "V poster": "Accept (Poster)", "V": "Submitted"}
    group = {"id": V, "content": {"decision_heading_map": {"value": headings}}}
    words = vocabulary.read_words(json.dumps(group).encode())
    root = new_root(venueid=f"{V}/Submission", venue="Submitted to V")
    assert read_paper(root, V, [], words).status is Status.REJECTED
    assert read_paper(root, V, [], VenueVocabulary()).status is Status.UNDER_REVIEW
    assert read_paper(new_root(venueid=f"{V}/Submission", venue="V"), V, [], words).status is Status.UNDER_REVIEW


@pytest.mark.parametrize(
    ("venueid", "status"), [(f"{V}/Beached", Status.WITHDRAWN), (V, Status.REJECTED), (f"{V}/Other", Status.UNKNOWN)]
)
def test_users_explain_a_venueid(venueid: str, status: Status) -> None:
    words = VenueVocabulary(own_statuses={"beached": Status.WITHDRAWN, V.lower(): Status.REJECTED})
    assert read_paper(old_root(venueid=venueid), V, [], words).status is status
    assert read_paper(old_root(venueid=venueid), V, [], VenueVocabulary()).status is Status.UNKNOWN


def test_users_name_roles_of_committees() -> None:
    settings = VenueVocabulary(roles={"Referees": Role.REVIEWER})
    own = replace(settings, own_roles={"Reviewer_": Role.AREA_CHAIR, "Referees": Role.SENIOR_AREA_CHAIR})
    assert [settings.role(name) for name in ("Reviewer_ab12", "Referees")] == [Role.REVIEWER, Role.REVIEWER]
    assert [own.role(name) for name in ("Reviewer_ab12", "Referees")] == [Role.AREA_CHAIR, Role.SENIOR_AREA_CHAIR]
    assert own.role("Area_Chair_x") is Role.AREA_CHAIR


@pytest.mark.parametrize(
    ("name", "answer", "is_prose"),
    [
        ("recommendation_to_conference_track", "I recommend it for the Journal Track.", False),
        ("final_decision_of_area_chair", "Accept", False),
        ("recommendation_to_conference_track", "It fits.\nIt is clear.", True),
        ("justification_for_recommendation", "Sound.", True),
        ("comment_on_decision", "Agreed.", True),
        ("additional_comments", "None.", True),
    ],
)
def test_a_longer_named_verdict_is_no_prose(name: str, answer: str, *, is_prose: bool) -> None:
    assert is_prose_field(name, answer) is is_prose


DECISION = reply("Decision", 2, decision="Accept (Poster)", comment="They fly.")


def posted(note: Note) -> int:
    return note.created_ms or 0


def advice(at: int) -> Note:
    """A meta-review that recommends the opposite of the decision."""
    return reply("Meta_Review", at, recommendation="Reject", metareview="They fall.")


@pytest.mark.parametrize("at", [1, 3])
def test_a_meta_review_never_overrules(at: int) -> None:
    paper = paper_of(old_root(), *sorted([DECISION, advice(at)], key=posted))
    assert (paper.decision, paper.status) == ("Accept (Poster)", Status.ACCEPTED)
    assert paper.decided_at is not None
    assert paper.decided_at.timestamp() == pytest.approx(0.002)
    assert paper.decision_comment == "They fly."


def test_the_last_meta_review_may_decide() -> None:
    later = reply("Meta_Review", 4, recommendation="Accept", metareview="They fly after all.")
    paper = paper_of(old_root(), advice(3), later)
    assert (paper.decision, paper.decision_comment) == ("Accept", "They fly after all.")


def test_a_later_decision_replaces_the_first() -> None:
    paper = paper_of(new_root(), DECISION, reply("Decision", 5, decision="Reject"))
    assert (paper.decision, paper.status) == ("Reject", Status.REJECTED)


@pytest.mark.parametrize("root", [old_root(), new_root(venueid=f"{V}/Submission")], ids=["old", "new"])
@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize(("tail", "left"), [(tail, left) for tail, _, left in LEFT])
def test_a_withdrawn_paper_keeps_its_decision(tail: str, left: Status, at: int, root: Note) -> None:
    paper = paper_of(root, *sorted([DECISION, reply(tail, at)], key=posted))
    assert (paper.status, paper.decision) == (left, "Accept (Poster)")
