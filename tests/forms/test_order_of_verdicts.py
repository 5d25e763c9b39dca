"""Which verdict counts if a chair, the programme chairs and the authors post one after another."""

import pytest

from peercorpus.forms.papers import read_paper
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note, invitation_name
from peercorpus.records.enums import Status
from peercorpus.records.papers import Paper

V = "Kites.cc/2019/Conference"


def root(*, is_old: bool, **content: str) -> Note:
    """A submission, of API v1 if it is old."""
    named = {"title": "On Kites"} | content
    if is_old:
        return Note(id="p", forum="p", invitation=f"{V}/-/Blind_Submission", content=dict(named))
    return Note(
        id="p", forum="p", invitations=[f"{V}/-/Submission"], content={k: {"value": v} for k, v in named.items()}
    )


def reply(tail: str, at: int, **content: str) -> Note:
    """A reply posted at a given time, whose content is flat."""
    note = Note(id=f"{tail}{at}", forum="p", replyto="p", invitation=f"{V}/Paper1/-/{tail}")
    note.tcdate, note.content = at, dict(content)
    return note


def paper_of(submission: Note, *replies: Note) -> Paper:
    """Return the paper made from a submission and its replies, in time order."""
    words = VenueVocabulary()
    return read_paper(submission, V, [(words.kind(invitation_name(note.created_by)), note) for note in replies], words)


DECISION = reply("Decision", 2, decision="Accept (Poster)", comment="They fly.")


def advice(at: int) -> Note:
    """A meta-review that recommends the opposite of the decision."""
    return reply("Meta_Review", at, recommendation="Reject", metareview="They fall.")


@pytest.mark.parametrize("at", [1, 3])
def test_on_api_1_a_meta_review_never_overrules_the_decision_whichever_came_first(at: int) -> None:
    replies = sorted([DECISION, advice(at)], key=lambda note: note.created_ms or 0)
    paper = paper_of(root(is_old=True), *replies)
    assert (paper.decision, paper.status) == ("Accept (Poster)", Status.ACCEPTED)
    assert paper.decided_at is not None
    assert paper.decided_at.timestamp() == pytest.approx(0.002)
    assert paper.decision_comment == "They fly."


def test_on_api_1_the_last_of_several_meta_reviews_decides_where_there_is_no_decision() -> None:
    later = reply("Meta_Review", 4, recommendation="Accept", metareview="They fly after all.")
    paper = paper_of(root(is_old=True), advice(3), later)
    assert (paper.decision, paper.decision_comment) == ("Accept", "They fly after all.")


def test_a_later_decision_replaces_the_first() -> None:
    paper = paper_of(root(is_old=False), DECISION, reply("Decision", 5, decision="Reject"))
    assert (paper.decision, paper.status) == ("Reject", Status.REJECTED)


@pytest.mark.parametrize("is_old", [True, False])
@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize(
    ("tail", "status"), [("Withdrawal", Status.WITHDRAWN), ("Desk_Rejection", Status.DESK_REJECTED)]
)
def test_a_paper_withdrawn_before_or_after_its_decision_is_withdrawn_and_keeps_it(
    tail: str, status: Status, at: int, is_old: bool
) -> None:
    content = {} if is_old else {"venueid": f"{V}/Submission"}
    replies = sorted([DECISION, reply(tail, at)], key=lambda note: note.created_ms or 0)
    paper = paper_of(root(is_old=is_old, **content), *replies)
    assert (paper.status, paper.decision) == (status, "Accept (Poster)")
