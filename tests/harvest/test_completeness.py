"""`peercorpus status` reports exactly what was harvested of a venue, and every special case is recognised."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from in_this_process import build_here
from peercorpus.execution.requests import HarvestRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.pipeline.status import ENOUGH_ACCEPTED, Completeness, KnownIssue, read_completeness, read_status
from peercorpus.records.enums import Grade, Phase, ScoreSource, Status
from peercorpus.records.reviews import Review
from peercorpus.simulator.server.changes import delete_note, edit_rating, hide_note
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import Json, World
from peercorpus.simulator.world.world import build_world
from peercorpus.venues import catalogue
from peercorpus.venues.catalogue import Visibility
from peercorpus.workspace.harvest_state import Listing, StoredFile
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace, open_workspace
from raw_forums import v2

AURORA, BOREALIS = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
V = "Invented.cc/2024/Conference"
DAY_MS = 86_400_000
POSTED_MS = 1_700_000_000_000

MakeClient = Callable[..., Client]


def note(note_id: str, forum: str = "paper", tail: str = "Official_Comment", **more: Any) -> dict[str, Any]:
    """A note of API v2; a root if forum and id are the same."""
    times = {"tcdate": POSTED_MS, "tmdate": POSTED_MS}
    signer = "Authors" if note_id == forum else "Reviewer_AbCd"
    return v2(note_id, "Submission" if note_id == forum else tail, signer, forum=forum, **times | more)


def paper(forum_id: str = "paper", venueid: str = V, **content: Any) -> dict[str, Any]:
    content = {"title": f"On {forum_id}", "venueid": venueid, "pdf": f"/pdf/{forum_id}.pdf"} | content
    return note(forum_id, forum_id, content=content)


def review(forum_id: str = "paper", **content: Any) -> dict[str, Any]:
    return note(f"{forum_id}-review", forum_id, "Official_Review", content={"review": "Clear."} | content)


def raw(body: dict[str, Any], kind: RawKind = RawKind.NOTE, subject: str = "", api: int = 2) -> RawObject:
    times = body["tmdate"], POSTED_MS
    return RawObject(
        kind, body["id"], api, V, body["forum"], subject or body["id"], *times, "test", json.dumps(body).encode()
    )


@pytest.fixture
def complete(workspace: Workspace) -> Callable[..., Completeness]:
    """Builds invented notes and reports how complete they are."""

    def read(*found: RawObject) -> Completeness:
        with workspace.raw.transaction():
            workspace.raw.add(found)
        build_here(workspace)
        return read_completeness(workspace, V)

    return read


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(papers=12, venues=[AURORA, BOREALIS])


@pytest.fixture(scope="module")
def harvested(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Two venues of the simulator, harvested without their files, and built."""
    folder = tmp_path_factory.mktemp("completeness") / "corpus"
    with open_workspace(folder, create=True) as opened, serve_simulator(world) as service:
        with Client(service.base_url_v1, service.base_url_v2) as client:
            harvest(opened, client, [AURORA, BOREALIS], request=HarvestRequest(no_files=True))
        build_here(opened)
        yield opened


def public(notes: dict[str, Json], venue_id: str) -> dict[str, Json]:
    return {
        note_id: found
        for note_id, found in notes.items()
        if "everyone" in str(found["readers"]) and not found.get("ddate") and venue_id in json.dumps(found)
    }


@pytest.mark.slow
@pytest.mark.parametrize("venue_id", [AURORA, BOREALIS])
def test_whole_counts_equal_the_services(world: World, harvested: Workspace, venue_id: str) -> None:
    found = read_completeness(harvested, venue_id)
    notes = public(world.v1.notes if venue_id == AURORA else world.v2.notes, venue_id)
    roots = {note_id for note_id, one in notes.items() if note_id == one["forum"]}
    reviews = [one for one in notes.values() if "Official_Review" in str(one.get("invitation") or one["invitations"])]
    reviews = [one for one in reviews if one["id"] not in roots and "Rebuttal" not in json.dumps(one)[:200]]
    assert found.held.received == found.held.expected == len(roots)
    assert (found.held.is_listed, found.held.gone, found.held.edits_left) == (True, 0, 0)
    assert found.held.last_seen_at is not None
    assert abs((datetime.now(UTC) - found.held.last_seen_at).total_seconds()) < 600
    assert found.notes is not None
    assert sum(found.notes.papers.values()) == len(roots)
    assert sum(found.notes.without_reviews.values()) == len(roots - {str(one["forum"]) for one in reviews})
    dangling = [one for one in notes.values() if one["replyto"] and one["replyto"] not in notes]
    assert found.notes.dangling_replies == len(dangling)
    assert (found.notes.deleted, found.notes.not_public, found.notes.listed_twice.count) == (0, 0, 0)
    assert found.pdfs is not None
    assert found.pdfs.known == found.pdfs.never_asked > 0
    assert found.pdfs.grades == {Grade.UNAVAILABLE: len(roots)}


def test_unbuilt_tables_are_not_counted(workspace: Workspace) -> None:
    workspace.raw.add([raw(paper())])
    (found,) = read_status(workspace).venues
    assert (found.notes, found.pdfs, found.cautions) == (None, None, [])
    assert found.held.is_listed is None
    assert found.held.last_seen_at is None


def test_an_impossible_time_is_unknown(workspace: Workspace) -> None:
    workspace.raw.add([raw(paper())])
    workspace.raw.state.sight(["paper"], 1 << 50)
    assert read_completeness(workspace, V).held.last_seen_at is None


@pytest.mark.slow
def test_incomplete_papers_reviews_and_replies_are_counted(complete: Callable[..., Completeness]) -> None:
    notes = [
        paper("rated"),
        review("rated", rating=6),
        paper("unrated", f"{V}/Rejected_Submission"),
        review("unrated", rating="Not applicable", confidence=4),
        paper("bare", f"{V}/Desk_Rejected_Submission"),
        paper("hidden") | {"readers": [V]},
        paper("withdrawn", f"{V}/Withdrawn_Submission"),
        review("withdrawn", rating=3) | {"ddate": POSTED_MS},
        note("answer", "rated", replyto="rated-review"),
        note("orphan", "rated", replyto="never-seen"),
        note("left", "withdrawn", replyto="withdrawn-review"),
        note("secret", "rated") | {"readers": [V]},
    ]
    counts = complete(*map(raw, notes)).notes
    assert counts is not None
    assert counts.papers == {Status.ACCEPTED: 1, Status.REJECTED: 1, Status.DESK_REJECTED: 1, Status.WITHDRAWN: 1}
    assert counts.without_reviews == {Status.DESK_REJECTED: 1, Status.WITHDRAWN: 1}
    assert (counts.reviews, counts.without_rating) == (2, 1)
    assert (counts.dangling_replies, counts.deleted, counts.not_public) == (2, 1, 2)


def test_missing_files_are_counted_by_cause(workspace: Workspace, complete: Callable[..., Completeness]) -> None:
    causes = {"a": "forbidden", "b": "forbidden", "c": "not found", "d": None}
    for name, problem in causes.items():
        sha256 = "ab" * 32 if problem is None else None
        workspace.raw.state.add_file(StoredFile(name, f"/pdf/{name}.pdf", V, name, sha256, None, problem))
    workspace.raw.state.enqueue(V, "versions", ["a 1", "b 1", "c 1"])
    workspace.raw.state.mark_done("versions", "a 1")
    workspace.raw.state.mark_done("versions", "b 1", "not found")
    found = complete(*(raw(paper(name)) for name in "abcde"))
    assert found.held.files_not_had == {"forbidden": 2, "not found": 1}
    assert (found.held.edits_left, found.held.edits_not_had) == (1, {"not found": 1})
    assert found.pdfs is not None
    assert (found.pdfs.known, found.pdfs.here, found.pdfs.never_asked) == (5, 1, 1)


HOSTILE_TITLES = ["<script>alert(1)</script>", "../../etc/passwd", "\x1b[2Jgone", "abc\u202edef", " "]


@pytest.mark.slow
def test_odd_records_that_are_kept_are_named(complete: Callable[..., Completeness]) -> None:
    titles = [*HOSTILE_TITLES, "If x < y, then $\\alpha$-divergence: a/b tests?", "Über \u03b1"]
    papers = [paper(f"paper{number}", title=title) for number, title in enumerate(titles)]
    papers += [paper("../../up"), paper("<b>bold</b>"), paper("x" * 65), paper("Ab-_9")]
    long_note = note("long", "paper0", content={"comment": "a" * 10_000_000})
    found = complete(*map(raw, [*papers, long_note]))
    assert (found.held.odd_ids.count, found.held.large_notes.count) == (3, 1)
    assert found.held.odd_ids.examples == sorted(["../../up", "<b>bold</b>", "x" * 65])
    assert found.held.large_notes.examples == ["long"]
    assert found.notes is not None
    # The titles of the two papers with odd ids repeat those ids.
    assert found.notes.odd_titles.count == len(HOSTILE_TITLES) + 2


def caught(found: Completeness) -> dict[KnownIssue, tuple[int, int | None]]:
    return {one.trap: (one.count, one.of) for one in found.cautions if one.trap is not KnownIssue.NO_DEADLINE}


def decided(count: int, venueid: str = V) -> list[dict[str, Any]]:
    return [paper(f"{venueid[-3:]}{number}", venueid) for number in range(count)]


UNDECIDED = [paper("open", f"{V}/Submission"), review("open"), paper("closed"), paper("opened", f"{V}/Submission")]
SAME: dict[str, Any] = {"title": "On  Kites", "authors": ["Ada Example"]}
PAIRS = [
    ([paper("a", **SAME) | {"number": 1}, paper("b", **(SAME | {"title": "on kites"})) | {"number": 1}], 1),
    ([paper("a", **SAME) | {"number": 1}, paper("b", **SAME) | {"number": 2}], 0),
    ([paper("a", **SAME), paper("b", **SAME)], 1),
    ([paper("a", **SAME), paper("b", **(SAME | {"authors": ["Bo Example"]}))], 0),
    ([paper("a", title="Withdrawn", authors=[]), paper("b", title="withdrawn", authors=[])], 0),
    ([paper("a", title="On flying kites", authors=[]), paper("b", title="On flying kites", authors=[])], 1),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("papers", "twice"),
    PAIRS,
    ids=["same number", "other number", "same authors", "others", "a short title alone", "a title alone"],
)
def test_a_paper_listed_twice_is_recognised(
    complete: Callable[..., Completeness], papers: list[dict[str, Any]], twice: int
) -> None:
    found = complete(*map(raw, papers))
    assert caught(found) == ({KnownIssue.LISTED_TWICE: (1, 2)} if twice else {})


@pytest.mark.parametrize(
    ("notes", "traps"),
    [
        (UNDECIDED, {KnownIssue.BEFORE_DECISIONS: (1, 1)}),
        ([*UNDECIDED, review("closed")], {}),
        (decided(ENOUGH_ACCEPTED), {KnownIssue.NO_REJECTED: (0, ENOUGH_ACCEPTED)}),
        (decided(ENOUGH_ACCEPTED - 1), {}),
        ([*decided(ENOUGH_ACCEPTED), *decided(1, f"{V}/Rejected_Submission")], {}),
        ([paper(), note("secret") | {"readers": [V]}], {KnownIssue.NOT_PUBLIC: (1, None)}),
        ([paper(), note("unclear") | {"readers": None}], {KnownIssue.NOT_PUBLIC: (1, None)}),
    ],
    ids=["undecided", "half decided", "accepted only", "few", "one rejected", "not public", "without readers"],
)
def test_issues_are_recognised_from_papers(
    complete: Callable[..., Completeness], notes: list[dict[str, Any]], traps: dict[KnownIssue, tuple[int, int | None]]
) -> None:
    assert caught(complete(*map(raw, notes))) == traps


@pytest.mark.parametrize(
    ("api", "listing", "state", "traps"),
    [
        (2, "Submission", Listing("z", 3, 4, True, 5), {KnownIssue.COUNTS_DISAGREE: (1, 1)}),
        (2, "Submission", Listing("z", 3, 4, False, 5), {}),
        (2, "Submission", Listing("z", 3, None, True, 5), {}),
        (1, "Withdrawn_Submission", Listing(None, 0, 0, True, 5), {KnownIssue.WITHDRAWN_HIDDEN: (1, None)}),
        (2, "Withdrawn_Submission", Listing(None, 0, 0, True, 5), {}),
    ],
)
def test_issues_are_recognised_from_lists(
    workspace: Workspace,
    complete: Callable[..., Completeness],
    api: int,
    listing: str,
    state: Listing,
    traps: dict[KnownIssue, tuple[int, int | None]],
) -> None:
    workspace.raw.state.set_listing(V, f"{V}/-/{listing}", state)
    workspace.raw.state.set_listing(V, "review form", Listing("x", 1, None, True))
    found = complete(raw(paper(), api=api))
    assert caught(found) == traps
    assert f"{V}/-/{listing}" in [one.invitation for one in found.held.lists]


def reference(number: int, day: int, path: str, forum: str = "paper") -> RawObject:
    at = POSTED_MS + day * DAY_MS
    body: dict[str, Any] = {
        "id": f"{forum}-{number}",
        "forum": forum,
        "referent": forum,
        "invitation": f"{V}/-/Revision",
    }
    body |= {"readers": ["everyone"], "tcdate": at, "tmdate": at, "content": {"pdf": path}}
    return raw(body, RawKind.REFERENCE, forum, api=1)


@pytest.mark.parametrize(
    ("references", "status", "traps"),
    [
        ([(0, "/pdf/a.pdf"), (90, "/pdf/a.pdf")], "Poster", {KnownIssue.PDFS_OVERWRITTEN: (1, 1)}),
        ([(0, "/pdf/a.pdf"), (9, "/pdf/a.pdf")], "Poster", {}),
        ([(0, "/pdf/a.pdf"), (90, "/pdf/b.pdf")], "Poster", {}),
        ([(0, "/pdf/a.pdf"), (90, "/pdf/a.pdf")], "Submitted", {}),
    ],
    ids=["one PDF over months", "over days", "two PDFs", "not accepted"],
)
def test_one_pdf_months_apart_is_odd(
    complete: Callable[..., Completeness], references: list[tuple[int, str]], status: str, traps: dict[KnownIssue, Any]
) -> None:
    content = {"title": "On Kites", "venue": f"Invented 2024 {status}", "pdf": "/pdf/a.pdf"}
    root = paper() | {"invitations": None, "invitation": f"{V}/-/Blind_Submission", "content": content}
    uploads = [reference(number, day, path) for number, (day, path) in enumerate(references)]
    assert caught(complete(raw(root, api=1), *uploads)) == traps


def catalogued(
    workspace: Workspace, venue_id: str, statuses: dict[str, str]
) -> tuple[dict[KnownIssue, tuple[int, int | None]], str | None]:
    """Return the report on one reviewed paper of each `venueid`, at a venue in the catalogue."""
    for forum_id, venueid in statuses.items():
        for body in (paper(forum_id, venueid), review(forum_id, rating=6)):
            moved = json.loads(json.dumps(body).replace(V, venue_id))
            workspace.raw.add([raw(moved)._replace(venue_id=venue_id)])
    build_here(workspace)
    found = read_completeness(workspace, venue_id)
    return caught(found), found.remark


@pytest.mark.parametrize(
    ("visibility", "traps"),
    [
        (Visibility.PUBLIC, {}),
        (Visibility.REJECTED_OPT_IN, {KnownIssue.NO_REJECTED: (1, 2)}),
        (Visibility.REVERTED_BEFORE_DISCUSSION, {KnownIssue.REVERTED: (2, None)}),
    ],
)
def test_the_catalogues_notes_on_a_venue_are_shown(
    workspace: Workspace, visibility: Visibility, traps: dict[KnownIssue, tuple[int, int | None]]
) -> None:
    row = next(row for row in catalogue.rows() if row.visibility is visibility and row.api == 2)
    found, remark = catalogued(workspace, row.id, {"a": V, "b": f"{V}/Rejected_Submission"})
    assert (found, remark) == (traps, row.remark)


def test_private_reviews_explain_missing_ones(workspace: Workspace) -> None:
    row = next(row for row in catalogue.rows() if row.visibility is Visibility.REVIEWS_PRIVATE)
    workspace.raw.add([raw(json.loads(json.dumps(paper()).replace(V, row.id)))._replace(venue_id=row.id)])
    build_here(workspace)
    assert caught(read_completeness(workspace, row.id)) == {KnownIssue.REVIEWS_HIDDEN: (1, 1)}


@pytest.mark.slow
def test_an_unknown_deadline_is_an_issue(complete: Callable[..., Completeness]) -> None:
    (found,) = complete(raw(paper()), raw(paper("b", pdf=None))).cautions
    assert (found.trap, found.count, found.of) == (KnownIssue.NO_DEADLINE, 1, 1)


@pytest.mark.slow
def test_two_harvests_show_what_changed_in_between(workspace: Workspace, hasty: MakeClient) -> None:
    world = build_world(papers=5, venues=[BOREALIS])
    reviews = [
        note_id
        for note_id, found in public(world.v2.notes, BOREALIS).items()
        if str(found["invitations"]).count("/-/Official_Review") == 1 and found["replyto"] == found["forum"]
    ]
    changed, deleted, hidden = reviews[0], reviews[1], reviews[2]
    rating = world.v2.notes[changed]["content"]["rating"]["value"]  # type: ignore[index]
    other = 3 if rating != 3 else 6
    later_ms = max(int(str(found["tmdate"])) for found in world.v2.notes.values()) + DAY_MS
    with serve_simulator(world) as service:
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True))
        edit_rating(world, changed, other, later_ms, public=False)
        delete_note(world, deleted, later_ms)
        hide_note(world, hidden)
        service.reindex()
        harvest(workspace, hasty(service), [BOREALIS], request=HarvestRequest(no_files=True, refresh=True))
    build_here(workspace)
    found = {one.review_id: one for one in workspace.tables.read(Review, BOREALIS)}
    scores = [(one.value, one.phase, one.source) for one in found[changed].scores if one.field == "rating"]
    assert scores == [(other, Phase.FINAL, ScoreSource.NOTE)]
    (change,) = (one for one in found[changed].score_changes if one.field == "rating")
    assert (change.before, change.after, change.source) == (rating, other, ScoreSource.SNAPSHOT)
    assert found[changed].revised is True
    others = Counter(one.source for review_id, row in found.items() if review_id != changed for one in row.scores)
    assert ScoreSource.SNAPSHOT not in others
    completeness = read_completeness(workspace, BOREALIS)
    assert completeness.notes is not None
    assert completeness.held.gone + completeness.notes.deleted >= 2


@pytest.mark.slow
def test_a_reader_gets_the_same_counts(harvested: Workspace) -> None:
    with open_workspace(Path(harvested.folder), write=False) as reader:
        assert read_completeness(reader, AURORA) == read_completeness(harvested, AURORA)
