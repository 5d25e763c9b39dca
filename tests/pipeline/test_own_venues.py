"""A user's statements about a venue in `venues.toml` apply to that venue only, and are named by a release."""

import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from asked_releases import publish_release
from cards import read_card
from commands import Run, assert_refused
from in_this_process import build_here
from invented_pdfs import lines
from peercorpus.errors import VenuesFileError
from peercorpus.pipeline.build import require_built
from peercorpus.pipeline.status import KnownIssue, read_status
from peercorpus.records.enums import Aspect, Grade, Phase, PostKind, Role, SectionKind, Status, VersionMoment
from peercorpus.records.papers import Paper, PaperVersion
from peercorpus.records.reviews import Post, Review
from peercorpus.release.provenance import ChangedInput, find_moved, read_inputs
from peercorpus.workspace.harvest_state import StoredFile
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace
from published_records import re2_paper, reviewbench_review, reviewbench_row

HARBOUR, LAGOON = "Harbour.org/2031/Conference", "Lagoon.org/2031/Conference"
VENUES = [HARBOUR, LAGOON]
DUE = datetime(2031, 3, 2, 12, tzinfo=UTC)
PAGE = "https://harbour.example/2031"
DEADLINE = f"""
[[venue]]
id = "{HARBOUR}"
source = "{PAGE}"
[venue.full_deadline]
at = 2031-03-02T12:00:00Z
source = "{PAGE}/dates: 'by the first of March, anywhere on earth'"
"""
WORDS = """
[venue.words]
replies.review = ["Referee_Report"]
replies.decision = ["Verdict"]
scores.confidence = ["how_sure"]
roles.reviewer = ["Referee_"]
decision_fields = ["outcome"]
[venue.statuses]
accepted = ["Taken for a talk"]
rejected = ["Passed over"]
"""
FORM = """
[venue.form]
evidence = ["D"]
field = [
  { name = "praise", type = "text", section = "strengths" },
  { name = "mark", type = "score", aspect = "recommendation", answers = MARKS },
]
""".replace("MARKS", '{ offered = ["3: Sail", "2: Moor", "1: Sink"], low = 1, high = 3 }')
LAGOON_ROW = f"""
[[venue]]
id = "{LAGOON}"
source = "https://lagoon.example"
remark = "Shallow."
"""


def ms(after: timedelta) -> int:
    return int((DUE + after).timestamp() * 1000)


def notes(venue_id: str, forum_id: str) -> Iterator[tuple[RawKind, dict[str, Any]]]:
    """One submission with two PDFs, one before noon of the day and one a month later, a review and a decision."""
    own = f"{venue_id}/Submission1"
    names = [f"{venue_id}/-/Submission", f"{own}/-/Camera_Ready"]
    content: dict[str, Any] = {
        "title": "On Tides",
        "pdf": f"/pdf/{forum_id}-late.pdf",
        "venueid": f"{venue_id}/Submission",
    }

    def note(note_id: str, after: timedelta, invitation: str, signer: str, said: dict[str, str]) -> dict[str, Any]:
        times = {"tcdate": ms(after), "tmdate": ms(after), "cdate": ms(after), "mdate": ms(after)}
        who = {"readers": ["everyone"], "signatures": [f"{own}/{signer}"], "invitations": [f"{own}/-/{invitation}"]}
        body: dict[str, Any] = {"id": note_id, "forum": forum_id, "replyto": forum_id, "domain": venue_id}
        return body | times | who | {"content": {name: {"value": value} for name, value in said.items()}}

    yield (
        RawKind.NOTE,
        note(forum_id, -timedelta(days=1), "x", "Authors", content) | {"replyto": None, "invitations": names},
    )
    answers = {"praise": "It holds water.", "mark": "3: Sail", "how_sure": "4: fairly"}
    yield RawKind.NOTE, note(f"{forum_id}-review", timedelta(days=20), "Referee_Report", "Referee_ab12", answers)
    outcome = {"outcome": "Taken for a talk"}
    yield RawKind.NOTE, note(f"{forum_id}-decision", timedelta(days=60), "Verdict", "Program_Chairs", outcome)
    for name, after in (("early", -timedelta(hours=3)), ("late", timedelta(days=70))):
        edit: dict[str, Any] = {"id": f"{forum_id}-{name}", "invitation": names[0] if name == "early" else names[1]}
        edit |= {"tcdate": ms(after), "tmdate": ms(after), "readers": ["everyone"]}
        edit["note"] = {"id": forum_id, "content": {"pdf": {"value": f"/pdf/{forum_id}-{name}.pdf"}}}
        yield RawKind.EDIT, edit


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A workspace of two venues without OpenReview's own settings."""
    folder = tmp_path / "corpus"
    with open_workspace(folder, create=True) as workspace:
        for venue_id, forum_id in zip(VENUES, ("h", "l"), strict=True):
            for kind, body in notes(venue_id, forum_id):
                subject = forum_id if kind is RawKind.EDIT else str(body["id"])
                text, seen = json.dumps(body).encode(), int(body["tmdate"])
                workspace.raw.add(
                    [RawObject(kind, str(body["id"]), 2, venue_id, forum_id, subject, seen, seen, "t", text)]
                )
                if kind is RawKind.EDIT:
                    sha256 = workspace.files.add(lines(str(body["id"])))
                    path = body["note"]["content"]["pdf"]["value"]
                    workspace.raw.state.add_file(StoredFile(str(body["id"]), path, venue_id, forum_id, sha256, 9, None))
    return folder


@pytest.fixture
def build_with(corpus: Path) -> Callable[[str], list[tuple[str, str]]]:
    """Write `venues.toml`, build, and return the venues and stages that ran."""

    def write_and_build(text: str) -> list[tuple[str, str]]:
        (corpus / "venues.toml").write_text(text, encoding="utf-8")
        with open_workspace(corpus) as workspace:
            return [(step.venue_id, step.stage) for step in build_here(workspace) if not step.was_finished]

    return write_and_build


BuildWith = Callable[[str], list[tuple[str, str]]]


def versions(corpus: Path, venue_id: str = HARBOUR) -> dict[str, PaperVersion]:
    with open_workspace(corpus, write=False) as workspace:
        return {row.edit_id: row for row in workspace.tables.read(PaperVersion, venue_id)}


@pytest.mark.slow
def test_own_deadline_proves_the_version(corpus: Path, build_with: BuildWith) -> None:
    build_with("")
    assert [row.grade for row in versions(corpus).values() if row.grade] != [Grade.EXACT]
    build_with(DEADLINE)
    found = versions(corpus)["h-early"]
    assert (found.grade, found.is_initial) == (Grade.EXACT, True)
    assert found.evidence.deadline == DUE + timedelta(minutes=30)
    assert found.evidence.deadline_source is not None
    assert found.evidence.deadline_source.startswith(f"{PAGE}/dates: 'by the first of March, anywhere on earth'")
    assert "venues.toml" in found.evidence.deadline_source
    assert not any(row.grade is Grade.EXACT for row in versions(corpus, LAGOON).values())


@pytest.mark.slow
def test_single_list_proves_no_grade(corpus: Path, build_with: BuildWith) -> None:
    hint = DEADLINE.replace("[venue.full_deadline]", "[[venue.listed_deadlines]]").replace(
        "source = \"https://harbour.example/2031/dates: 'by the first of March, anywhere on earth'\"",
        'sources = ["a list"]',
    )
    build_with(hint)
    assert not any(row.grade is Grade.EXACT for row in versions(corpus).values())


@pytest.mark.slow
def test_own_words_and_form_are_used(corpus: Path, build_with: BuildWith) -> None:
    build_with(DEADLINE)
    with open_workspace(corpus, write=False) as workspace:
        assert list(workspace.tables.read(Review, HARBOUR)) == []
        assert [paper.status for paper in workspace.tables.read(Paper, HARBOUR)] == [Status.UNDER_REVIEW]
    build_with(DEADLINE + WORDS + FORM)
    with open_workspace(corpus, write=False) as workspace:
        [review] = workspace.tables.read(Review, HARBOUR)
        [paper] = workspace.tables.read(Paper, HARBOUR)
        posts = {post.post_id: (post.kind, post.role) for post in workspace.tables.read(Post, HARBOUR)}
        require_built(workspace)
        assert all(balance.holds for balance in read_status(workspace).balances)
    assert (paper.status, paper.decision) == (Status.ACCEPTED, "Taken for a talk")
    assert posts["h-review"] == (PostKind.REVIEW, Role.REVIEWER)
    assert posts["h-decision"] == (PostKind.DECISION, Role.PROGRAM_CHAIR)
    assert review.form_id == f"declared:venues.toml:{HARBOUR}"
    assert [(one.kind, one.text) for one in review.sections] == [(SectionKind.STRENGTHS, "It holds water.")]
    scores = {one.aspect: (one.value, one.low, one.high, one.label) for one in review.scores}
    assert scores[Aspect.RECOMMENDATION] == (3, 1, 3, "3: Sail")
    assert scores[Aspect.CONFIDENCE][0] == 4
    with open_workspace(corpus, write=False) as workspace:
        assert list(workspace.tables.read(Review, LAGOON)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("venueid", "statuses", "status"),
    [
        ("Submission", 'accepted = ["taken FOR a talk"]', Status.ACCEPTED),
        ("Submission", 'rejected = ["Taken for a talk"]', Status.REJECTED),
        ("Submission", 'rejected = ["Taken"]', Status.UNKNOWN),
        ("", 'rejected = ["Taken for a talk"]', Status.REJECTED),
        ("", 'rejected = ["Taken"]', Status.ACCEPTED),
        ("Withdrawn_Submission", 'accepted = ["Taken for a talk"]', Status.WITHDRAWN),
        ("Beached", 'withdrawn = ["beached"]', Status.WITHDRAWN),
        ("Beached", f'desk_rejected = ["{HARBOUR}/Beached"]', Status.DESK_REJECTED),
    ],
)
def test_own_status_is_taken_word_for_word(
    corpus: Path, build_with: BuildWith, venueid: str, statuses: str, status: Status
) -> None:
    with open_workspace(corpus) as workspace:
        root = workspace.raw.find(RawKind.NOTE, "h")
        assert root is not None
        said = json.loads(root.body)
        said["content"]["venueid"]["value"] = f"{HARBOUR}/{venueid}".rstrip("/")
        workspace.raw.add([root._replace(body=json.dumps(said).encode(), modified_ms=root.modified_ms + 1)])
    words = '[venue.words]\nreplies.decision = ["Verdict"]\ndecision_fields = ["outcome"]\n'
    build_with(f"{DEADLINE}{words}[venue.statuses]\n{statuses}\n")
    with open_workspace(corpus, write=False) as workspace:
        assert [paper.status for paper in workspace.tables.read(Paper, HARBOUR)] == [status]


@pytest.mark.slow
def test_changed_row_rebuilds_affected_stages(build_with: BuildWith) -> None:
    assert {venue_id for venue_id, _ in build_with(DEADLINE)} >= set(VENUES)
    assert build_with(f"# A comment.\n{DEADLINE}\n{LAGOON_ROW}") == []
    moved = build_with(DEADLINE.replace("03-02T12", "03-02T11") + LAGOON_ROW)
    assert (HARBOUR, "choose_versions") in moved
    assert (HARBOUR, "normalise") not in moved
    assert LAGOON not in {venue_id for venue_id, _ in moved}
    worded = build_with(DEADLINE.replace("03-02T12", "03-02T11") + WORDS)
    assert (HARBOUR, "normalise") in worded
    assert LAGOON not in {venue_id for venue_id, _ in worded}
    assert build_with(DEADLINE.replace("03-02T12", "03-02T11") + WORDS) == []


@pytest.mark.slow
def test_release_contains_the_own_row(corpus: Path, build_with: BuildWith, tmp_path: Path) -> None:
    text = DEADLINE + WORDS + FORM + LAGOON_ROW
    build_with(text)
    with open_workspace(corpus, write=False) as workspace:
        publish_release(workspace, tmp_path / "out", [HARBOUR])
        publish_release(workspace, tmp_path / "other", [LAGOON])
    inputs = json.loads((tmp_path / "out/inputs.json").read_text())
    assert inputs["venues_toml"] == hashlib.sha256(text.encode()).hexdigest()
    own = inputs["venues"][HARBOUR]["own"]
    assert own["full_deadline"]["at"] == "2031-03-02T12:00:00Z"
    assert own["statuses"] == {"accepted": ["Taken for a talk"], "rejected": ["Passed over"]}
    assert own["form"]["field"][0]["name"] == "praise"
    card = read_card(tmp_path / "out")
    assert "venues.toml" in card
    assert "2031-03-02 12:00:00" in card
    assert "harbour.example/2031/dates" in card
    assert "harbour" not in read_card(tmp_path / "other")
    found = read_inputs(tmp_path / "out")
    assert found is not None
    (corpus / "venues.toml").write_text(f"# Again.\n{text}".replace("Shallow", "Deep"))
    with open_workspace(corpus, write=False) as workspace:
        assert find_moved(found, workspace) == []
    (corpus / "venues.toml").write_text(text.replace("Passed over", "Left"))
    with open_workspace(corpus, write=False) as workspace:
        assert find_moved(found, workspace) == [ChangedInput(HARBOUR, "venues.toml")]


@pytest.mark.slow
def test_release_without_own_file(corpus: Path, build_with: BuildWith, tmp_path: Path) -> None:
    build_with("")
    (corpus / "venues.toml").unlink()
    with open_workspace(corpus, write=False) as workspace:
        publish_release(workspace, tmp_path / "out")
    inputs = json.loads((tmp_path / "out/inputs.json").read_text())
    assert "venues_toml" not in inputs
    assert "own" not in inputs["venues"][HARBOUR]


def test_unreadable_form_stops_the_build(corpus: Path, build_with: BuildWith, run: Run) -> None:
    with pytest.raises(VenuesFileError, match=rf"{HARBOUR}.*form\.field"):
        build_with(DEADLINE + FORM.replace('"text"', '"prose"'))
    refused = run("build", "--workspace", corpus)
    assert_refused(refused, "venues.toml", HARBOUR, "form.field", "score")


@pytest.mark.slow
def test_row_of_absent_venue_is_reported(corpus: Path, run: Run) -> None:
    (corpus / "venues.toml").write_text(DEADLINE.replace("Harbour", "Harbor"))
    built = run("build", "--workspace", corpus)
    assert built.code == 0
    assert "'Harbor.org/2031/Conference'" in built.out
    assert "'Harbour.org/2031/Conference'" in built.out


@pytest.mark.slow
def test_own_invitation_moves_a_pdf(corpus: Path, build_with: BuildWith) -> None:
    build_with(DEADLINE)
    assert versions(corpus)["h-late"].moment is not VersionMoment.DISCUSSION
    stated = DEADLINE + '[venue.invitations]\ndiscussion = ["Camera_Ready"]\n'
    moved = build_with(stated)
    assert (HARBOUR, "choose_versions") in moved
    assert LAGOON not in {venue_id for venue_id, _ in moved}
    assert versions(corpus)["h-late"].moment is VersionMoment.DISCUSSION
    assert build_with(stated) == []


def test_venues_shows_own_rows(corpus: Path, run: Run) -> None:
    (corpus / "venues.toml").write_text(DEADLINE)
    listed = run("venues", "--workspace", corpus, "--family", "harbour", "--json")
    [row] = json.loads(listed.out)
    assert (row["id"], row["full_deadline"]["at"]) == (HARBOUR, "2031-03-02T12:00:00Z")
    assert row["full_deadline"]["source"].startswith(f"{PAGE}/dates")
    assert_refused(run("venues", "--family", "harbour"), "'harbour'")
    assert HARBOUR in run("venues", "--workspace", corpus, HARBOUR).out


def test_own_file_may_come_first(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "venues.toml").write_text(DEADLINE)
    with open_workspace(folder, create=True):
        pass
    assert (folder / "venues.toml").read_text() == DEADLINE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("visibility", "caution", "bias"),
    [
        ("accepted_only", KnownIssue.NO_REJECTED, "only if their authors agree"),
        ("reverted_before_discussion", KnownIssue.REVERTED, "reset its reviews"),
        ("public", None, None),
    ],
)
def test_own_visibility_is_shown(
    corpus: Path, build_with: BuildWith, tmp_path: Path, visibility: str, caution: KnownIssue | None, bias: str | None
) -> None:
    seen = f'visibility = "{visibility}"\nremark = "Low tide."\n'
    build_with(DEADLINE.replace("[venue.full_deadline]", f"{seen}[venue.full_deadline]") + WORDS + FORM)
    with open_workspace(corpus, write=False) as workspace:
        [harbour, lagoon] = read_status(workspace).venues
        publish_release(workspace, tmp_path / "out", [HARBOUR])
    stated = {KnownIssue.NO_REJECTED, KnownIssue.REVERTED}
    assert [issue.trap for issue in harbour.cautions if issue.trap in stated] == ([caution] if caution else [])
    assert not stated & {issue.trap for issue in lagoon.cautions}
    assert (harbour.remark, lagoon.remark) == ("Low tide.", None)
    card = read_card(tmp_path / "out")
    biases = ("only if their authors agree", "reset its reviews")
    assert [one for one in biases if one in card] == ([bias] if bias else [])
    assert "its visibility (" in card


def test_reverted_reviews_are_initial(corpus: Path, build_with: BuildWith) -> None:
    seen = "[venue.full_deadline]"
    build_with(DEADLINE.replace(seen, f'visibility = "reverted_before_discussion"\n{seen}') + WORDS + FORM)
    with open_workspace(corpus, write=False) as workspace:
        [review] = workspace.tables.read(Review, HARBOUR)
    assert {score.phase for score in review.scores} == {Phase.INITIAL}


RECORDS = {
    "reviewbench:row": reviewbench_row(
        "row",
        venue_id=HARBOUR,
        venue="",
        decision="Taken for a talk",
        reviews=[reviewbench_review(rating=None, confidence=None, soundness=None, how_sure="4: fairly")],
    ),
    "re2-reviews:record": re2_paper("record", decision="passed over", reviews=[]),
    "paper-list:listed": {
        "paper_id": "listed",
        "parts": {"row": {"id": "listed", "title": "On Tides", "status": "Passed over"}},
    },
}


@pytest.fixture
def records(corpus: Path) -> None:
    """Published records of the first venue, beside its own notes."""
    with open_workspace(corpus) as workspace:
        for record_id, record in RECORDS.items():
            forum_id = record_id.partition(":")[2]
            body = json.dumps(record).encode()
            row = RawObject(RawKind.PUBLISHED, record_id, 0, HARBOUR, forum_id, forum_id, 0, 1, "a file", body)
            workspace.raw.add([row])


@pytest.mark.slow
@pytest.mark.usefixtures("records")
@pytest.mark.parametrize("form", ["", FORM])
def test_own_file_applies_to_records(corpus: Path, build_with: BuildWith, form: str) -> None:
    def read() -> tuple[dict[str, Status], list[tuple[Aspect, float | None]]]:
        with open_workspace(corpus, write=False) as workspace:
            statuses = {paper.forum_id: paper.status for paper in workspace.tables.read(Paper, HARBOUR)}
            reviews = [one for one in workspace.tables.read(Review, HARBOUR) if one.forum_id == "row"]
        return statuses, [(score.aspect, score.value) for one in reviews for score in one.scores]

    build_with(DEADLINE)
    statuses, scores = read()
    assert {statuses[name] for name in ("row", "record", "listed")} == {Status.UNKNOWN}
    assert scores == []
    build_with(DEADLINE + WORDS + form)
    statuses, scores = read()
    assert (statuses["row"], statuses["record"], statuses["listed"]) == (
        Status.ACCEPTED,
        Status.REJECTED,
        Status.REJECTED,
    )
    assert scores == [(Aspect.CONFIDENCE, 4)]


@pytest.mark.slow
def test_own_role_takes_precedence(corpus: Path, build_with: BuildWith) -> None:
    stated = DEADLINE + WORDS.replace("roles.reviewer", 'roles.area_chair = ["Program_Chairs"]\nroles.reviewer')
    build_with(stated)
    with open_workspace(corpus, write=False) as workspace:
        roles = {post.post_id: post.role for post in workspace.tables.read(Post, HARBOUR)}
    assert roles == {"h-review": Role.REVIEWER, "h-decision": Role.AREA_CHAIR}
