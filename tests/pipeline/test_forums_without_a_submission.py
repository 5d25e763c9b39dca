"""Forums whose submission is missing or incomplete: only what their replies agree on is used."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest

from in_this_process import build_here
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import PaperSource, PostKind, Reason, Role, Status, VenueSource
from peercorpus.records.papers import Paper, SetAside
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.workspace.workspace import Workspace
from published_records import reviewbench_row, write_json, write_parquet

KITES = "Kites.cc/2019/Conference"
V1_GROUP, V2_GROUP = f"{KITES}/Paper7", f"{KITES}/Submission7"
ICLR = "ICLR.cc/2019/Conference"
Notes = list[dict[str, Any]]


def note(note_id: str, invitation: str, signature: str, content: dict[str, Any], forum: str = "kite") -> dict[str, Any]:
    """A note of API v1."""
    return {
        "id": note_id,
        "forum": forum,
        "replyto": None if note_id == forum else forum,
        "invitation": f"{KITES}/-/{invitation}",
        "signatures": [signature],
        "readers": ["everyone"],
        "tcdate": 1_500_000_000_000,
        "tmdate": 1_500_000_000_001,
        "content": content,
    }


def forum_v1() -> Notes:
    """A submission, a review, the authors' answer and a decision."""
    review = {"title": "Fine", "review": "Kites fly.", "rating": "7: Good paper, accept", "confidence": "4: sure"}
    return [
        note("kite", "Blind_Submission", KITES, {"title": "On Kites", "abstract": "We fly.", "authors": ["Anonymous"]}),
        note("r1", "Paper7/Official_Review", f"{V1_GROUP}/AnonReviewer1", review),
        note("c1", "Paper7/Official_Comment", f"{V1_GROUP}/Authors", {"title": "Thanks", "comment": "We agree."})
        | {"replyto": "r1"},
        note("d1", "Acceptance_Decision", f"{KITES}/Program_Chairs", {"decision": "Accept (Poster)"}),
    ]


def forum_v2() -> Notes:
    notes: Notes = json.loads(json.dumps(forum_v1()).replace("/Paper7", "/Submission7").replace("-/Submission7/", "-/"))
    for one in notes:
        one["invitations"] = [one.pop("invitation").replace(f"{KITES}/-/Off", f"{V2_GROUP}/-/Off")]
        one["domain"] = KITES
        one["content"] = {name: {"value": value} for name, value in one["content"].items()}
    return notes


def changed(notes: Notes, *others: str, **members: Any) -> Notes:
    """Return the root and the named replies with other members; a member set to `...` is left out."""
    found = []
    for one in notes:
        if one["id"] in {"kite", *others}:
            one = {name: value for name, value in (one | members).items() if value is not ...}
        found.append(one)
    return found


NO_INVITATION: dict[str, dict[str, Any]] = {
    "as the v2 client prints API 1": {"invitations": None, "invitation": ..., "domain": None},
    "both null": {"invitations": None, "invitation": None, "domain": ...},
    "no member at all": {"invitations": ..., "invitation": ..., "domain": ...},
    "an empty list": {"invitations": [], "invitation": ..., "domain": ...},
}


def as_details(notes: Notes, name: str = "replies") -> object:
    return notes[0] | {"details": {name: notes[1:]}}


WRAPPINGS: dict[str, Callable[[Notes], object]] = {
    "a list": lambda notes: notes,
    "replies in details": as_details,
    "direct replies in details": lambda notes: as_details(notes, "directReplies"),
    "an answer": lambda notes: {"notes": notes, "count": 4},
    "in a crawler's wrapper": lambda notes: [{"venue": "Kites", "submissions": [notes[0] | {"notes": notes[1:]}]}],
    "replies first": lambda notes: notes[::-1],
}


def take(workspace: Workspace, folder: Path, content: object, name: str = "dump.json", **how: Any) -> None:
    import_dumps(workspace, [write_json(folder / name, content)], **how)
    build_here(workspace)
    standing = read_status(workspace)
    assert standing.holds, standing.balances


def rows(workspace: Workspace, kind: Any, venue_id: str = KITES) -> list[Any]:
    return list(workspace.tables.read(kind, venue_id))


def aside(workspace: Workspace, venue_id: str = KITES) -> dict[str, Reason]:
    return {row.record_id: row.reason for row in rows(workspace, SetAside, venue_id) if row.stage == "normalise"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("forum", "members", "wrapping"),
    [(*forum, wrapping) for forum, wrapping in zip(product((forum_v1, forum_v2), NO_INVITATION), cycle(WRAPPINGS))],
)
def test_position_and_replies_identify_a_root(
    tmp_path: Path, workspace: Workspace, forum: Any, members: str, wrapping: str
) -> None:
    take(workspace, tmp_path, WRAPPINGS[wrapping](changed(forum(), **NO_INVITATION[members])))
    (paper,) = rows(workspace, Paper)
    assert (paper.forum_id, paper.title, paper.status, paper.decision) == (
        "kite",
        "On Kites",
        Status.ACCEPTED,
        "Accept (Poster)",
    )
    assert (paper.known_from, paper.venue_from) == (PaperSource.NOTE, VenueSource.REPLIES)
    assert [(one.review_id, one.reviewer, len(one.scores)) for one in rows(workspace, Review)] == [
        ("r1", "AnonReviewer1", 2)
    ]
    assert {post.post_id: post.kind for post in rows(workspace, Post)} == {
        "c1": PostKind.COMMENT,
        "d1": PostKind.DECISION,
        "r1": PostKind.REVIEW,
    }
    assert aside(workspace) == {}
    assert workspace.venues() == [KITES]


@pytest.mark.slow
def test_invitation_of_root_gives_venue(tmp_path: Path, workspace: Workspace) -> None:
    take(workspace, tmp_path, forum_v1())
    (paper,) = rows(workspace, Paper)
    assert (paper.known_from, paper.venue_from) == (PaperSource.NOTE, VenueSource.NOTE)


def test_signatures_identify_a_forum(tmp_path: Path, workspace: Workspace) -> None:
    take(workspace, tmp_path, changed(forum_v1(), "r1", "c1", "d1", invitations=None, invitation=...))
    (paper,) = rows(workspace, Paper)
    assert (paper.title, paper.status, paper.venue_from) == ("On Kites", Status.UNKNOWN, VenueSource.REPLIES)
    assert [one.review_id for one in rows(workspace, Review)] == ["r1"]
    assert aside(workspace) == {"c1": Reason.NO_INVITATION, "d1": Reason.NO_INVITATION}


DISAGREEING: dict[str, tuple[str, dict[str, Any]]] = {
    "two invitations": ("r1", {"invitation": "Balloons.cc/2019/Conference/-/Paper7/Official_Review"}),
    "a signature": ("r1", {"signatures": ["Balloons.cc/2019/Conference/Paper7/AnonReviewer1"]}),
    "a reader": ("c1", {"readers": ["everyone", "Balloons.cc/2019/Conference/Paper7/Reviewers"]}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*DISAGREEING, "no submission"])
def test_two_venues_named_give_none(tmp_path: Path, workspace: Workspace, name: str) -> None:
    changed_id, members = DISAGREEING.get(name, DISAGREEING["two invitations"])
    notes = changed(forum_v1(), invitations=None, invitation=...)
    notes = [one | members if one["id"] == changed_id else one for one in notes]
    take(workspace, tmp_path, notes[1:] if name == "no submission" else notes)
    assert workspace.venues() == ["unplaced"]
    assert set(aside(workspace, "unplaced").values()) == {Reason.NO_VENUE}
    # OpenReview's submission takes precedence.
    take(workspace, tmp_path / "later", [forum_v1()[0] | {"tmdate": 1_600_000_000_000}])
    assert [paper.title for paper in rows(workspace, Paper)] == ["On Kites"]


@pytest.mark.slow
def test_orphaned_replies_make_a_paper(tmp_path: Path, workspace: Workspace) -> None:
    take(workspace, tmp_path, forum_v1()[1:])
    (paper,) = rows(workspace, Paper)
    assert (paper.forum_id, paper.title, paper.abstract, paper.number, paper.created_at) == ("kite", *[None] * 4)
    assert (paper.known_from, paper.venue_from) == (PaperSource.REPLIES, VenueSource.REPLIES)
    assert (paper.status, paper.decision) == (Status.ACCEPTED, "Accept (Poster)")
    assert len(rows(workspace, Post)) == 3
    assert [(one.kind.value, len(one.turns)) for one in rows(workspace, Conversation)][:1] == [("review", 2)]
    take(workspace, tmp_path / "later", forum_v1()[:1])
    (paper,) = rows(workspace, Paper)
    assert (paper.title, paper.known_from, paper.venue_from) == ("On Kites", PaperSource.NOTE, VenueSource.NOTE)


REFUSED: dict[str, Any] = {
    "no review": lambda notes: notes[2:],
    "a hidden review": lambda notes: [notes[1] | {"readers": [KITES]}, *notes[2:]],
    "a deleted review": lambda notes: [notes[1] | {"ddate": 5}, *notes[2:]],
    "a hidden submission": lambda notes: [notes[0] | {"readers": [KITES]}, *notes[1:]],
    "a deleted submission": lambda notes: [notes[0] | {"ddate": 5}, *notes[1:]],
    "a submission that answers something": lambda notes: [notes[0] | {"invitation": None, "replyto": "x"}, *notes[1:]],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_replies_without_review_are_set_aside(tmp_path: Path, workspace: Workspace, name: str) -> None:
    notes = REFUSED[name](forum_v1())
    take(workspace, tmp_path, notes)
    assert (rows(workspace, Paper), rows(workspace, Post)) == ([], [])
    assert aside(workspace).keys() == {one["id"] for one in notes}


def content_only(number: int, forum: str, **more: Any) -> dict[str, Any]:
    """A review with only its content left, in the form of ICLR 2019."""
    content = {
        "title": "Kites",
        "review": f"Kite {number} flies well.",
        "rating": "7: Good paper, accept",
        "confidence": "4: The reviewer is confident but not absolutely certain that the evaluation is correct",
    }
    return {"forum": forum, "id": f"r{number}", "content": content | more}


def reviews_only() -> Notes:
    return [content_only(1, "kite1"), content_only(2, "kite1"), content_only(3, "kite2", rating="1: Trivial or wrong")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iclr2019_reviews.json", "ICLR.cc_2019_Conference.json", "some.json"])
def test_bare_reviews_belong_to_unknown_papers(tmp_path: Path, workspace: Workspace, name: str) -> None:
    take(workspace, tmp_path, reviews_only(), name, venue_id=ICLR if name == "some.json" else None)
    papers = rows(workspace, Paper, ICLR)
    assert [(one.forum_id, one.title, one.status) for one in papers] == [
        ("kite1", None, Status.UNKNOWN),
        ("kite2", None, Status.UNKNOWN),
    ]
    source = VenueSource.IMPORT if name == "some.json" else VenueSource.FILE_NAME
    assert {(one.known_from, one.venue_from) for one in papers} == {(PaperSource.REPLIES, source)}
    reviews = rows(workspace, Review, ICLR)
    assert [(one.review_id, one.reviewer, one.form_id, one.created_at) for one in reviews] == [
        ("r1", "unknown_1", "declared:iclr-2019", None),
        ("r2", "unknown_2", "declared:iclr-2019", None),
        ("r3", "unknown_1", "declared:iclr-2019", None),
    ]
    assert [(score.value, score.low, score.high) for score in reviews[2].scores] == [(1, 1, 10), (4, 1, 5)]
    assert {(one.role, one.kind) for one in rows(workspace, Post, ICLR)} == {(Role.REVIEWER, PostKind.REVIEW)}
    assert len(rows(workspace, Conversation, ICLR)) == 3


@pytest.mark.slow
def test_bare_reviews_wait_for_a_venue(tmp_path: Path, workspace: Workspace) -> None:
    take(workspace, tmp_path, reviews_only(), "some.json")
    assert aside(workspace, "unplaced") == dict.fromkeys(["r1", "r2", "r3"], Reason.NO_VENUE)
    take(workspace, tmp_path, reviews_only(), "some.json", venue_id="ICLR.cc/2018/Conference")
    assert len(rows(workspace, Review, "ICLR.cc/2018/Conference")) == 3
    take(workspace, tmp_path, reviews_only(), "some.json", venue_id=ICLR)
    assert workspace.venues() == [ICLR]
    assert len(rows(workspace, Review, ICLR)) == 3
    take(workspace, tmp_path, reviews_only(), "some.json")
    assert workspace.venues() == [ICLR]


@pytest.mark.slow
def test_forums_own_venue_takes_precedence(tmp_path: Path, workspace: Workspace) -> None:
    read_by_all = content_only(9, "kite") | {"readers": ["everyone"]}
    take(workspace, tmp_path, [*forum_v1()[2:], read_by_all], "iclr2019.json", venue_id=ICLR)
    assert workspace.venues() == [KITES]
    (paper,) = rows(workspace, Paper)
    assert (paper.known_from, paper.venue_from) == (PaperSource.REPLIES, VenueSource.REPLIES)
    later = [content_only(8, "kite3")]
    take(workspace, tmp_path, later, "more.json", venue_id=ICLR)
    take(workspace, tmp_path, [forum_v1()[3] | {"id": "d3", "forum": "kite3", "replyto": "kite3"}], "decision.json")
    assert workspace.venues() == [KITES]


@pytest.mark.slow
def test_bare_review_joins_its_submission(tmp_path: Path, workspace: Workspace) -> None:
    take(workspace, tmp_path, [*forum_v1(), content_only(9, "kite")])
    assert sorted((one.review_id, one.reviewer) for one in rows(workspace, Review)) == [
        ("r1", "AnonReviewer1"),
        ("r9", "unknown_1"),
    ]


NO_REVIEWS: dict[str, dict[str, Any]] = {
    "a comment": {"title": "Hm", "comment": "Why?"},
    "a meta-review": {"title": "Meta", "metareview": "It flies.", "recommendation": "Accept (Oral)", "confidence": "5"},
    "a decision": {"decision": "Accept (Oral)", "comment": "It flies."},
    "a score without a text": {"rating": "7: Good paper, accept"},
    "a text without a score": {"title": "Kites", "review": "They fly."},
    "a label of another form": {"review": "They fly.", "rating": "6: Weak Accept"},
    "a number of another form": {"review": "They fly.", "rating": "11: Best"},
    "nothing": {},
}


def test_unfit_content_is_no_review(tmp_path: Path, workspace: Workspace) -> None:
    notes = [{"forum": "kite1", "id": name, "content": content} for name, content in NO_REVIEWS.items()]
    take(workspace, tmp_path, [*notes, content_only(1, "kite1")], venue_id=ICLR)
    assert aside(workspace, ICLR) == dict.fromkeys(NO_REVIEWS, Reason.NO_INVITATION)
    assert [one.review_id for one in rows(workspace, Review, ICLR)] == ["r1"]


def test_unknown_form_gives_no_review(tmp_path: Path, workspace: Workspace) -> None:
    contents = {name: content for name, content in NO_REVIEWS.items() if "form" not in name}
    notes = [{"forum": "kite1", "id": name, "content": content} for name, content in contents.items()]
    take(workspace, tmp_path, [*notes, content_only(1, "kite1")], venue_id=KITES)
    assert aside(workspace) == dict.fromkeys(contents, Reason.NO_INVITATION)


def test_content_of_others_is_no_review(tmp_path: Path, workspace: Workspace) -> None:
    members: Notes = [
        {"replyto": "another"},
        {"signatures": [f"{V1_GROUP}/Authors"]},
        {"signatures": [f"{V1_GROUP}/Area_Chair1"]},
    ]
    others = [content_only(number, "kite1") | one for number, one in enumerate(members)]
    take(workspace, tmp_path, [*others, content_only(9, "kite1")], venue_id=KITES)
    assert aside(workspace) == dict.fromkeys(["r0", "r1", "r2"], Reason.NO_INVITATION)


def test_published_record_beats_replies(tmp_path: Path, workspace: Workspace) -> None:
    write_parquet(tmp_path / "in" / "kites.parquet", [reviewbench_row("kite", venue_id=KITES, year=2019)])
    import_dumps(workspace, [tmp_path / "in"])
    take(workspace, tmp_path, forum_v1()[1:])
    (paper,) = rows(workspace, Paper)
    assert (paper.title, paper.known_from, paper.venue_from) == ("On Kites", PaperSource.RECORD, VenueSource.RECORD)
    assert Counter(aside(workspace).values()) == {Reason.FORUM_MISSING: 3}
