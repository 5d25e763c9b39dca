"""How a forum's notes become a paper, reviews and posts, or are set aside."""

import json
from pathlib import Path
from typing import Any

import pytest

from peercorpus.forms.derive import derive_form
from peercorpus.forms.normalise import STAGE, balance
from peercorpus.forms.words import Words, read_words
from peercorpus.kinds import PostKind, Reason, Role, Status
from peercorpus.raw import Kind, RawObject
from peercorpus.records import Paper, Post, Review, SetAside
from peercorpus.stage import Options, no_report
from peercorpus.workspace import Workspace

V = "Invented.cc/2024/Conference"
KEY = "ab" * 32


def _v2(note_id: str, tail: str, signature: str = "", **more: Any) -> dict[str, Any]:
    is_root = note_id == "paper"
    prefix = f"{V}/-/" if is_root else f"{V}/Submission1/-/"
    content = more.pop("content", {})
    return {
        "id": note_id,
        "forum": "paper",
        "replyto": None if is_root else "paper",
        "invitations": [prefix + tail],
        "signatures": [f"{V}/Submission1/{signature}" if signature and "~" not in signature else signature],
        "readers": ["everyone"],
        "tcdate": 1_700_000_000_000,
        "content": {name: {"value": value} for name, value in content.items()},
    } | more


PAPER = _v2("paper", "Submission", "Authors", number=1, content={"title": "On Kites", "venueid": f"{V}/Submission"})


def _raw(note: dict[str, Any], kind: Kind = Kind.NOTE, subject: str = "") -> RawObject:
    body = json.dumps(note).encode()
    subject_id, forum_id = subject or note["id"], note.get("forum") or ("paper" if kind is Kind.EDIT else "")
    return RawObject(kind, note["id"], 2, V, forum_id, subject_id, 0, 0, "test", body)


class Normalised:
    """What a list of notes was normalised to."""

    def __init__(self, folder: Path, notes: list[dict[str, Any]], *others: RawObject) -> None:
        folder.mkdir(parents=True)
        workspace = Workspace(folder)
        with workspace.raw.transaction():
            workspace.raw.add([*map(_raw, notes), *others])
        STAGE.run(workspace, V, Options(), KEY, no_report)
        tables = workspace.tables
        self.papers, self.reviews = list(tables.read(Paper, V)), list(tables.read(Review, V))
        self.posts = {post.post_id: post for post in tables.read(Post, V)}
        self.aside = {row.record_id: row.reason for row in tables.read(SetAside, V)}
        self.sums = balance(workspace, V)
        workspace.raw.close()


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        (_v2("x", "Official_Comment") | {"forum": None}, Reason.NO_FORUM),
        (_v2("x", "Official_Comment") | {"invitations": []}, Reason.NO_INVITATION),
        (_v2("x", "Official_Comment") | {"forum": "another"}, Reason.FORUM_MISSING),
        (_v2("x", "Official_Comment") | {"content": "no object"}, Reason.UNREADABLE),
        (_v2("x", "Submission") | {"forum": "x", "readers": [V]}, Reason.NOT_PUBLIC),
        (_v2("x", "Submission") | {"forum": "x", "ddate": 1}, Reason.DELETED),
    ],
)
def test_a_note_that_cannot_be_placed_is_set_aside_and_the_sum_agrees(
    tmp_path: Path, note: dict[str, Any], reason: Reason
) -> None:
    found = Normalised(tmp_path / "w", [PAPER, note])
    assert found.aside == {"x": reason}
    assert all(one.holds for one in found.sums)
    assert len(found.papers) == 1


@pytest.mark.parametrize(
    ("tail", "signature", "kind", "role", "name"),
    [
        ("Official_Review", "Reviewer_AbCd", PostKind.REVIEW, Role.REVIEWER, "Reviewer_AbCd"),
        ("Official_Review2/-/Rebuttal", "Authors", PostKind.REBUTTAL, Role.AUTHOR, "Authors"),
        ("Official_Comment", "Area_Chair_WxYz", PostKind.COMMENT, Role.AREA_CHAIR, "Area_Chair_WxYz"),
        ("Official_Comment", "Senior_Area_Chairs", PostKind.COMMENT, Role.SENIOR_AREA_CHAIR, "Senior_Area_Chairs"),
        ("Public_Comment", "~Ada_Example1", PostKind.COMMENT, Role.PUBLIC, "public_1"),
        ("Ethics_Review", "Ethics_Reviewer_Ab12", PostKind.ETHICS_REVIEW, Role.ETHICS_REVIEWER, "Ethics_Reviewer_Ab12"),
        ("Decision", "Program_Chairs", PostKind.DECISION, Role.PROGRAM_CHAIR, "Program_Chairs"),
        ("Official_Comment", "jane.doe@example.org", PostKind.COMMENT, Role.UNKNOWN, "unknown_1"),
        ("Official_Comment", "Jane Doe", PostKind.COMMENT, Role.UNKNOWN, "unknown_1"),
        ("Public_Comment", "(anonymous)", PostKind.COMMENT, Role.PUBLIC, "public_1"),
        ("Review_of_Something_Else", "Reviewer_AbCd", PostKind.OTHER, Role.REVIEWER, "Reviewer_AbCd"),
    ],
)
def test_kind_and_role_come_from_invitation_and_signature(
    tmp_path: Path, tail: str, signature: str, kind: PostKind, role: Role, name: str
) -> None:
    post = Normalised(tmp_path / "w", [PAPER, _v2("x", tail, signature, content={"comment": "Words."})]).posts["x"]
    assert (post.kind, post.role, post.signature, post.text) == (kind, role, name, "Words.")


def test_an_author_who_signs_by_name_is_an_author_and_keeps_no_name(tmp_path: Path) -> None:
    paper = PAPER | {"content": PAPER["content"] | {"authorids": {"value": ["~Ada_Example1", "ada@example.org"]}}}
    found = Normalised(
        tmp_path / "w", [paper, _v2("x", "Official_Comment", "~Ada_Example1", content={"comment": "Hi."})]
    )
    assert (found.posts["x"].role, found.posts["x"].signature) == (Role.AUTHOR, "Authors")
    assert "ada@example.org" not in found.papers[0].extra
    assert "~Ada" not in found.papers[0].extra


def _venueid(tail: str) -> dict[str, Any]:
    return PAPER | {"content": PAPER["content"] | {"venueid": {"value": V + tail}}}


DECISION = _v2("d", "Decision", "Program_Chairs", content={"decision": "Accept (poster)", "comment": "Good."})


@pytest.mark.parametrize(
    ("notes", "status"),
    [
        ([_venueid("")], Status.ACCEPTED),
        ([_venueid("/Rejected_Submission")], Status.REJECTED),
        ([_venueid("/Withdrawn_Submission")], Status.WITHDRAWN),
        ([_venueid("/Desk_Rejected_Submission")], Status.DESK_REJECTED),
        ([_venueid("/Submission")], Status.UNDER_REVIEW),
        ([_venueid("/Submission"), DECISION], Status.ACCEPTED),
        ([_venueid("/Submission"), _v2("w", "Withdrawal", "Authors")], Status.WITHDRAWN),
        ([_venueid("/Something_New")], Status.UNKNOWN),
    ],
)
def test_the_status_is_read_from_where_the_note_lies_then_from_its_replies(
    tmp_path: Path, notes: list[dict[str, Any]], status: Status
) -> None:
    assert Normalised(tmp_path / "w", notes).papers[0].status is status


def test_the_decision_is_verbatim_with_its_time_and_text(tmp_path: Path) -> None:
    paper = Normalised(tmp_path / "w", [PAPER, DECISION]).papers[0]
    assert (paper.decision, paper.decision_comment) == ("Accept (poster)", "Good.")
    assert paper.decided_at is not None
    assert paper.decided_at.isoformat() == "2023-11-14T22:13:20+00:00"


def test_api_1_says_accepted_by_the_decision_never_by_the_venueid(tmp_path: Path) -> None:
    content = {"title": "On Kites", "venueid": V, "authors": ["Anonymous"]}
    root = {"id": "paper", "forum": "paper", "invitation": f"{V}/-/Blind_Submission", "content": content}
    found = Normalised(tmp_path / "w", [root])
    assert (found.papers[0].status, found.papers[0].authors) == (Status.UNKNOWN, ())


def test_what_is_not_public_or_deleted_is_kept_and_marked(tmp_path: Path) -> None:
    hidden = _v2("h", "Official_Review", "Reviewer_AbCd", content={"review": "Secret."}) | {"readers": [V]}
    deleted = _v2("d", "Official_Comment", "Authors", content={"comment": "Gone."}) | {"ddate": 1}
    found = Normalised(tmp_path / "w", [PAPER, hidden, deleted])
    assert (found.posts["h"].readers_public, found.posts["d"].deleted) == (False, True)
    assert found.reviews[0].readers_public is False


def test_a_field_with_its_own_readers_is_not_read(tmp_path: Path) -> None:
    content = {"comment": {"value": "Open."}, "to_chairs": {"value": "Closed.", "readers": [V]}}
    found = Normalised(tmp_path / "w", [PAPER, _v2("x", "Official_Comment", "Authors") | {"content": content}])
    assert found.posts["x"].text == "Open."
    assert "Closed." not in found.posts["x"].extra


@pytest.mark.parametrize("hidden", [{"readers": [V]}, {"ddate": 1}])
def test_an_edit_that_is_not_public_or_deleted_tells_nothing(tmp_path: Path, hidden: dict[str, Any]) -> None:
    review = _v2("r", "Official_Review", "Reviewer_AbCd", content={"rating": 8})
    made = {"id": "e1", "tcdate": 1_700_000_000_000, "note": {"id": "r", "content": {"rating": {"value": 3}}}} | hidden
    later = {"id": "e2", "tcdate": 1_700_900_000_000, "note": {"id": "r", "content": {"rating": {"value": 8}}}}
    edits = [_raw({"readers": ["everyone"], **edit}, Kind.EDIT, "r") for edit in (made, later)]
    (read,) = Normalised(tmp_path / "w", [PAPER, review], *edits).reviews
    assert [score.value for score in read.scores] == [8.0]
    assert read.revised is False


def test_a_chairs_recommendation_is_no_decision_where_the_venue_states_it_itself(tmp_path: Path) -> None:
    advice = _v2(
        "m", "Meta_Review", "Area_Chair_X", content={"recommendation": "Accept (Poster)", "metareview": "Yes."}
    )
    (paper,) = Normalised(tmp_path / "w", [PAPER, advice]).papers
    assert (paper.status, paper.decision, paper.decision_comment) == (Status.UNDER_REVIEW, None, "Yes.")


def test_the_venues_own_group_names_its_reviews_and_decisions(tmp_path: Path) -> None:
    said = {"review_name": "Assessment", "decision_name": "Outcome", "decision_field_name": "our_verdict"}
    content = {name: {"value": value} for name, value in said.items()}
    group = json.dumps({"id": V, "domain": V, "content": content}).encode()
    found = Normalised(
        tmp_path / "w",
        [
            PAPER,
            _v2("r", "Assessment", "Reviewer_AbCd", content={"rating": 4}),
            _v2("d", "Outcome", "Program_Chairs", content={"our_verdict": "Accept as is"}),
        ],
        RawObject(Kind.GROUP, V, 2, V, "", V, 0, 0, "test", group),
    )
    assert {post.post_id: post.kind for post in found.posts.values()} == {"r": PostKind.REVIEW, "d": PostKind.DECISION}
    assert (found.papers[0].decision, found.papers[0].status) == ("Accept as is", Status.ACCEPTED)
    assert len(found.reviews) == 1


def test_api_1_names_the_presentation_of_accepted_papers_in_the_venue(tmp_path: Path) -> None:
    content = {"title": "On Kites", "venue": "Invented 2020 Poster"}
    root = {"id": "paper", "forum": "paper", "invitation": f"{V}/-/Blind_Submission", "content": content}
    assert Normalised(tmp_path / "w", [root]).papers[0].status is Status.ACCEPTED


def test_extra_stays_json_where_an_address_begins_a_line(tmp_path: Path) -> None:
    concern = {"paper_formatting_concerns": "Mail me:\nada@example.org\tor ~Ada_Example1"}
    (review,) = Normalised(tmp_path / "w", [PAPER, _v2("r", "Official_Review", "Reviewer_A", content=concern)]).reviews
    assert json.loads(review.extra) == {"paper_formatting_concerns": "Mail me:\n[e-mail]\tor [profile]"}


def test_what_a_paper_cannot_hold_is_kept_in_extra(tmp_path: Path) -> None:
    content = {"title": {"value": ["Two", "titles"]}, "venue": {"value": {"a": 1}}, "primary_area": {"value": ["x"]}}
    (paper,) = Normalised(tmp_path / "w", [PAPER | {"content": content}]).papers
    assert json.loads(paper.extra) == {"title": ["Two", "titles"], "venue": {"a": 1}, "primary_area": ["x"]}


@pytest.mark.parametrize("authorids", [[{"id": 1}], "one", None, [None]])
def test_odd_authorids_stop_nothing(tmp_path: Path, authorids: Any) -> None:
    paper = PAPER | {"content": {"authorids": {"value": authorids}}}
    assert len(Normalised(tmp_path / "w", [paper, _v2("x", "Official_Comment", "Authors")]).posts) == 1


@pytest.mark.parametrize(
    "odd",
    [
        {"edit": True},
        {"edit": {"note": "n", "invitation": "i"}},
        {"reply": "r"},
        {"reply": {"content": None}},
        {"edit": {"note": {"content": {"rating": {"value": {"param": []}}, "b": {"value": {"param": None}}, "c": 1}}}},
    ],
)
def test_odd_invitations_stop_nothing(odd: dict[str, Any]) -> None:
    derive_form(json.dumps({"id": "V/-/Official_Review", **odd}).encode())


@pytest.mark.parametrize("content", [None, [1], "text", {"review_name": "bare"}, {"review_name": {"value": [1]}}])
def test_odd_groups_say_nothing(content: Any) -> None:
    assert read_words(json.dumps({"id": "V", "content": content}).encode()) == Words()


def test_an_e_mail_address_never_reaches_extra(tmp_path: Path) -> None:
    paper = PAPER | {"content": PAPER["content"] | {"contact": {"value": ["a.b@example.org"]}}}
    assert "example.org" not in Normalised(tmp_path / "w", [paper]).papers[0].extra


def test_the_same_notes_in_another_order_give_the_same_rows(tmp_path: Path) -> None:
    notes = [PAPER, DECISION, _v2("b", "Official_Review", "Reviewer_B"), _v2("a", "Public_Comment", "~Z_Y1")]
    one, two = Normalised(tmp_path / "1", notes), Normalised(tmp_path / "2", notes[::-1])
    assert (one.papers, one.reviews, one.posts) == (two.papers, two.reviews, two.posts)
