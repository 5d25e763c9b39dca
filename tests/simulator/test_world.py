"""The invented world: complete, plausible, reproducible, of any number of years, and with what real threads have."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from statistics import mean, quantiles
from time import process_time
from typing import Any, cast

import pypdfium2
import pytest

from peercorpus.errors import PeercorpusError
from peercorpus.simulator.world.holdings import Holdings, World
from peercorpus.simulator.world.papers import read_handwritten
from peercorpus.simulator.world.venues import EMPTY, FIRST, VENUES, YEAR, Venue, find_venues, venue_years
from peercorpus.simulator.world.world import build_world

AURORA, BOREALIS, CASCADIA, JLE, DALES = VENUES
HANDWRITTEN = 12
NOTE_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{9}")
PDF_PATH = re.compile(r"/(pdf|attachment)/[0-9a-f]{40}\.pdf")


@pytest.fixture(scope="module")
def world() -> World:
    return build_world()


@pytest.fixture(scope="module")
def larger_world() -> World:
    return build_world(papers=200, seed=3)


def both(world: World) -> tuple[Holdings, Holdings]:
    return world.v1, world.v2


def held(world: World, venue: Venue) -> Holdings:
    return world.v1 if venue.api == 1 else world.v2


def notes(holdings: Holdings, venue: Venue | None = None, tail: str = "") -> Iterator[dict[str, Any]]:
    for note in holdings.notes.values():
        invitation = kind(note)
        if (venue is None or invitation.startswith(f"{venue.venue_id}/")) and invitation.endswith(tail):
            yield note


def kind(note: dict[str, Any]) -> str:
    return str(note.get("invitation") or note["invitations"][0])


def roots(holdings: Holdings, venue: Venue | None = None) -> list[dict[str, Any]]:
    return [note for note in notes(holdings, venue) if note["id"] == note["forum"] and "everyone" in note["readers"]]


def answer(note: dict[str, Any], name: str) -> Any:
    found = note["content"].get(name)
    return found.get("value") if isinstance(found, dict) else found


def paper(world: World, venue: Venue, start: str) -> dict[str, Any]:
    return next(root for root in roots(held(world, venue), venue) if answer(root, "title").startswith(start))


def edits_of(holdings: Holdings, note_id: str) -> list[dict[str, Any]]:
    edits: list[dict[str, Any]] = list(holdings.edits.values())
    return [edit for edit in edits if (edit.get("referent") or edit["note"]["id"]) == note_id]


def text_of(pdf: bytes) -> str:
    document = pypdfium2.PdfDocument(pdf)
    try:
        return "\n".join(page.get_textpage().get_text_range() for page in document)
    finally:
        document.close()


def as_json(world: World) -> str:
    return json.dumps(
        [[h.groups, h.invitations, h.notes, h.edits, sorted(h.author_edits), list(h.files)] for h in both(world)]
    )


def test_the_world_is_the_same_twice() -> None:
    first, second = (build_world(40, seed=5) for _ in range(2))
    assert as_json(first) == as_json(second)
    path = list(first.v2.files)[-1]
    assert first.v2.files[path]() == second.v2.files[path]()


def test_another_seed_gives_another_world() -> None:
    first, second = build_world(seed=0), build_world(seed=1)
    assert not first.v2.notes.keys() & second.v2.notes.keys()
    assert not first.v2.files.keys() & second.v2.files.keys()


def test_unknown_venue_is_refused() -> None:
    with pytest.raises(PeercorpusError, match=r"Nowhere.*Aurora\.cc/2020/Conference.*JLE"):
        build_world(venues=["Nowhere.cc/2024/Conference"])


def test_only_the_chosen_venues_are_built() -> None:
    world = build_world(6, venues=[JLE.venue_id])
    assert {note["domain"] for note in world.v2.notes.values()} == {"JLE"}
    assert len(roots(world.v2)) == 6
    assert not world.v1.notes


@pytest.mark.parametrize("papers", [0, 1, 4, 12, 13, 57])
def test_papers_are_as_many_as_asked(papers: int) -> None:
    assert sum(len(roots(holdings)) for holdings in both(build_world(papers))) == papers


def test_every_venue_has_handwritten_papers(world: World) -> None:
    counts = {venue.venue_id: len(roots(held(world, venue), venue)) for venue in VENUES}
    assert counts == {venue.venue_id: len(read_handwritten(venue.venue_id)) for venue in VENUES}
    assert sum(counts.values()) == HANDWRITTEN
    assert min(counts.values()) > 1


def test_venue_is_group_on_own_api(world: World) -> None:
    for venue in (*VENUES, EMPTY):
        own, other = (world.v1, world.v2) if venue.api == 1 else (world.v2, world.v1)
        group = own.groups[venue.venue_id]
        assert group["domain"] == (None if venue.api == 1 else venue.venue_id)
        assert ("content" in group) == (venue.api == 2)
        assert group["readers"] == ["everyone"]
        assert venue.venue_id not in other.groups


def test_fixed_groups_list_every_venue(world: World) -> None:
    for holdings in both(world):
        assert holdings.groups["venues"]["members"] == [venue.venue_id for venue in (*VENUES, EMPTY)]
        assert "Aurora.cc" in holdings.groups["host"]["members"]  # type: ignore[operator]


def test_empty_venue_has_a_form(world: World) -> None:
    assert f"{EMPTY.venue_id}/-/Submission" in world.v2.invitations
    assert not list(notes(world.v2, EMPTY))


def test_the_submission_invitation_shows_the_deadline(world: World) -> None:
    aurora = world.v1.invitations[AURORA.submission]
    borealis = world.v2.invitations[BOREALIS.submission]
    assert aurora["duedate"] == AURORA.calendar.deadline
    assert borealis["duedate"] == BOREALIS.calendar.registration < BOREALIS.calendar.deadline
    assert world.v2.invitations[JLE.submission]["duedate"] is None


def test_forms_differ_by_api(world: World) -> None:
    v1: Any = world.v1.invitations[f"{AURORA.venue_id}/-/Official_Review"]
    offered = v1["reply"]["content"]["rating"]["value-radio"]
    assert offered == ["1: Reject", "3: Weak Reject", "6: Weak Accept", "8: Accept"]
    v2: Any = world.v2.invitations[f"{BOREALIS.venue_id}/-/Official_Review"]
    rating = v2["edit"]["invitation"]["edit"]["note"]["content"]["rating"]["value"]["param"]
    assert rating["type"] == "integer"
    assert [option["value"] for option in rating["enum"]] == [1, 3, 5, 6, 8, 10]


def test_papers_have_their_review_invitations(larger_world: World) -> None:
    for venue in VENUES:
        holdings = held(larger_world, venue)
        for root in roots(holdings, venue):
            name = f"{venue.venue_id}/{venue.paper_name}{root['number']}/-/{venue.review_name}"
            assert name in holdings.invitations


@pytest.mark.parametrize("venue", VENUES, ids=lambda venue: venue.host)
def test_answers_are_those_offered(larger_world: World, venue: Venue) -> None:
    fields = {field.name: field for field in venue.forms[venue.review_name]}
    reviews = list(notes(held(larger_world, venue), venue, f"/-/{venue.review_name}"))
    assert len(reviews) > 60
    for review in reviews:
        assert review["content"].keys() <= fields.keys()
        for name in review["content"]:
            offered = [option if isinstance(option, str) else option[0] for option in fields[name].options]
            given = answer(review, name)
            assert not offered or set(given if isinstance(given, list) else [given]) <= set(offered)


def test_ids_look_like_openreviews(larger_world: World) -> None:
    for holdings in both(larger_world):
        assert all(NOTE_ID.fullmatch(note_id) for note_id in (*holdings.notes, *holdings.edits))
        assert not holdings.notes.keys() & holdings.edits.keys()
        assert all(note["id"] == note_id for note_id, note in holdings.notes.items())


def test_replies_are_later_than_their_parents(larger_world: World) -> None:
    for holdings in both(larger_world):
        order = [note["tcdate"] for note in holdings.notes.values()]
        assert order == sorted(order)  # type: ignore[type-var]
        for note in notes(holdings):
            if note["replyto"]:
                parent: dict[str, Any] = holdings.notes[note["replyto"]]
                assert parent["forum"] == note["forum"]
                assert parent["tcdate"] < note["tcdate"] <= note["tmdate"], note["id"]


def test_edits_name_notes_and_files(larger_world: World) -> None:
    for edit in larger_world.v2.edits.values():
        assert edit["note"]["id"] in larger_world.v2.notes  # type: ignore[index]
    for reference in larger_world.v1.edits.values():
        assert reference["referent"] in larger_world.v1.notes
    for holdings in both(larger_world):
        found = {match[0] for match in PDF_PATH.finditer(json.dumps([holdings.notes, holdings.edits]))}
        assert found == holdings.files.keys()


def test_v2_note_is_sum_of_edits(larger_world: World) -> None:
    sums: dict[str, dict[str, Any]] = {}
    edits: list[Any] = list(larger_world.v2.edits.values())
    for edit in sorted(edits, key=lambda edit: edit["tcdate"]):
        sums.setdefault(edit["note"]["id"], {}).update(edit["note"].get("content", {}))
    for root in roots(larger_world.v2):
        assert sums[root["id"]] == root["content"]


def test_v1_author_edits_are_marked(world: World) -> None:
    root = paper(world, AURORA, "Stale Gradients")
    references = edits_of(world.v1, root["id"])
    plain = [edit for edit in references if edit["id"] not in world.v1.author_edits]
    uploads = [edit for edit in references if "pdf" in edit["content"]]
    assert len(plain) == 1
    assert len(uploads) == 4
    assert len(references) > len(plain) + len(uploads)
    assert all(edit["invitation"].endswith("Blind_Submission") for edit in uploads)
    in_time = [edit["content"]["pdf"] for edit in uploads if edit["tcdate"] <= AURORA.calendar.deadline]
    assert root["content"]["original_pdf"] == in_time[-1].replace("/pdf/", "/attachment/")


def test_original_is_not_public(world: World) -> None:
    for root in roots(world.v1):
        original = world.v1.notes[root["original"]]
        assert "everyone" not in original["readers"]  # type: ignore[operator]
        assert original["invitation"] == AURORA.submission


def test_withdrawn_differs_from_desk_rejected(world: World) -> None:
    assert kind(paper(world, AURORA, "Column-Wise")) == f"{AURORA.venue_id}/-/Withdrawn_Submission"
    desk = paper(world, BOREALIS, "Tokenisers for Morse")
    assert answer(desk, "venueid") == f"{BOREALIS.venue_id}/Desk_Rejected_Submission"


def test_unrevised_paper_has_no_later_invitation(world: World) -> None:
    root = paper(world, BOREALIS, "Prediction Intervals")
    tails = [invitation.rpartition("/")[2] for invitation in root["invitations"]]
    assert tails == ["Submission", "Full_Submission", "Post_Submission"]
    assert answer(root, "venueid").endswith("Rejected_Submission")


def test_early_edits_are_public_where_shown(world: World) -> None:
    root = paper(world, CASCADIA, "Forgetting Curves")
    public = [edit for edit in edits_of(world.v2, root["id"]) if edit["readers"] == ["everyone"]]
    early = [edit for edit in public if edit["tmdate"] <= CASCADIA.calendar.deadline]
    assert len([edit for edit in early if "pdf" in edit["note"]["content"]]) == 2
    assert early[-1]["note"]["content"]["pdf"] != root["content"]["pdf"]


def test_the_journal_rewrites_its_first_edit(world: World) -> None:
    root = paper(world, JLE, "A Replication")
    first = edits_of(world.v2, root["id"])[0]
    assert first["invitation"] == "JLE/-/Edit"
    assert first["tmdate"] > first["tcdate"] == root["tcdate"]
    assert root["invitations"][0] == JLE.submission


def test_v1_review_versions_are_public(world: World) -> None:
    v1 = next(note for note in notes(world.v1, AURORA, "Official_Review") if "Update" in note["content"]["review"])
    versions = edits_of(world.v1, v1["id"])
    assert [edit["content"]["rating"] for edit in versions] == ["3: Weak Reject", v1["content"]["rating"]]


def test_v2_score_is_seen_after_release(world: World) -> None:
    forum = paper(world, BOREALIS, "How Much Graph")["id"]
    reviews = [note for note in notes(world.v2, BOREALIS, "/-/Official_Review") if note["forum"] == forum]
    raised = max(reviews, key=lambda note: note["tmdate"])
    edits = edits_of(world.v2, raised["id"])
    public = [edit["note"] for edit in edits if edit["readers"] == ["everyone"]]
    assert [note["content"]["rating"]["value"] for note in public if "content" in note] == [5, 8]
    assert "content" not in public[0]
    assert "everyone" not in edits[0]["readers"]
    assert raised["tmdate"] > raised["tcdate"]


def test_threads_have_what_real_threads_have(world: World) -> None:
    replies = [note for holdings in both(world) for note in notes(holdings) if note["replyto"]]
    titles = [str(answer(note, "title")) for note in replies]
    assert any(title.endswith("(1/2)") for title in titles)
    kinds = {note["id"]: kind(note).rpartition("/")[2] for note in replies}
    parents = {kinds[note["replyto"]] for note in replies if str(answer(note, "title")).endswith("(2/2)")}
    assert parents == {"Official_Comment", "Official_Review"}
    assert any("reminder" in title.lower() for title in titles)
    by_authors = [note for note in replies if note["signatures"][0].endswith("/Authors")]
    assert {note["replyto"] == note["forum"] for note in by_authors} == {True, False}
    assert any(note["signatures"][0].startswith("~") for note in replies)
    assert any(note["signatures"] == ["(anonymous)"] for note in replies)
    assert any("Area_Chair" in note["signatures"][0] and kind(note).endswith("Official_Comment") for note in replies)
    assert any(note["readers"] != ["everyone"] for note in replies)
    assert any(isinstance(part, dict) and "readers" in part for note in replies for part in note["content"].values())


def test_deleted_note_leaves_a_reply(world: World) -> None:
    deleted = [note for note in notes(world.v1) if note["ddate"]]
    assert len(deleted) == 1
    assert [note["ddate"] for note in notes(world.v1) if note["replyto"] == deleted[0]["id"]] == [None]


def test_placeholders_are_replaced(larger_world: World) -> None:
    for holdings in both(larger_world):
        assert not re.search(r"\{R\d\}|\{(task|data|knob|object|metric|method)\}", json.dumps(holdings.notes))


def test_generated_papers_have_every_status() -> None:
    world = build_world(400)
    verdicts = list(notes(world.v2, tail="/-/Decision"))
    decided = {answer(note, "decision") or answer(note, "recommendation") for note in verdicts}
    assert decided == {label for venue in VENUES if venue.api == 2 for label in venue.labels} | {"Reject"}
    tails = {kind(root).rpartition("/")[2] for root in roots(world.v1)}
    assert tails == {"Blind_Submission", "Withdrawn_Submission", "Desk_Rejected_Submission"}


@pytest.mark.parametrize("venue", VENUES, ids=lambda venue: venue.host)
def test_pdf_has_title_and_layout(world: World, venue: Venue) -> None:
    holdings = held(world, venue)
    root = next(root for root in roots(holdings, venue) if answer(root, "venueid") == venue.venue_id)
    uploads = [edit if venue.api == 1 else edit["note"] for edit in edits_of(holdings, root["id"])]
    paths = [answer(upload, "pdf") for upload in uploads if "pdf" in upload["content"]]
    first, last = (" ".join(text_of(holdings.files[path]()).split()) for path in (paths[0], paths[-1]))
    title = answer(root, "title").split(":")[0]
    assert title in first
    assert title in last
    assert "Anonymous authors" in first
    assert answer(root, "authors")[0] not in first
    assert answer(root, "authors")[0] in last
    assert "Published" in last
    assert first != last
    assert ("12 13 14 15" in first) == venue.ruled


def test_every_handwritten_version_differs_and_opens(world: World) -> None:
    for holdings in both(world):
        files = {path: file() for path, file in holdings.files.items() if path.startswith("/pdf/")}
        assert len(set(files.values())) == len(files)
        pages = [len(pypdfium2.PdfDocument(pdf)) for pdf in files.values()]
        assert set(pages) <= {1, 2, 3, 4}


@pytest.mark.slow
def test_generated_pdfs_are_distinct() -> None:
    world = build_world(200, venues=[BOREALIS.venue_id])
    pdfs = [file() for file in list(world.v2.files.values())[-60:]]
    assert len(set(pdfs)) == len(pdfs)
    assert "Borealis 2024" in text_of(pdfs[-1])


def test_papers_are_typeset_lazily(world: World) -> None:
    assert all(isinstance(file, partial) for holdings in both(world) for file in holdings.files.values())


@pytest.mark.slow
def test_two_thousand_papers_are_built_quickly() -> None:
    start = process_time()
    world = build_world(2000)
    assert process_time() - start < 10
    reviews = sum(1 for holdings in both(world) for note in notes(holdings) if kind(note).endswith("Review"))
    assert reviews > 6000


def test_notes_are_numbered_in_time(larger_world: World) -> None:
    numbers: dict[tuple[str, str], list[int]] = {}
    for holdings in both(larger_world):
        for note in notes(holdings):
            if note["replyto"]:
                numbers.setdefault((note["forum"], kind(note)), []).append(note["number"])
    assert all(given == list(range(1, len(given) + 1)) for given in numbers.values())


def test_journal_has_papers_under_review() -> None:
    world = build_world(60, venues=[JLE.venue_id])
    waiting = [root for root in roots(world.v2) if answer(root, "venueid") == "JLE/Under_Review"]
    assert waiting
    decided = {note["forum"] for note in notes(world.v2, JLE, "/-/Decision")}
    assert not decided & {root["id"] for root in waiting}


def test_venues_precede_earlier_years() -> None:
    found = venue_years(22)
    assert found[:5] == VENUES
    assert len({venue.venue_id for venue in found}) == 22
    assert [venue.venue_id for venue in found[5:9]] == [
        "Aurora.cc/2019/Conference",
        "Borealis.cc/2023/Conference",
        "Cascadia.cc/2024/Conference",
        "DALES/2022/Conference",
    ]


def test_earlier_year_is_the_same_venue() -> None:
    borealis = next(venue for venue in VENUES if venue.venue_id == "Borealis.cc/2024/Conference")
    (before,) = find_venues(["Borealis.cc/2022/Conference"])
    assert (before.short, before.website) == ("Borealis 2022", "https://borealis.example.org/2022")
    assert before.labels == {name: label.replace("2024", "2022") for name, label in borealis.labels.items()}
    year_ms = 365.25 * 86_400_000
    for moment in ("opens", "registration", "deadline", "released", "camera_ready"):
        assert getattr(borealis.calendar, moment) - getattr(before.calendar, moment) == pytest.approx(2 * year_ms)
    (aurora,) = find_venues(["Aurora.cc/2018/Conference"])
    assert aurora.calendar.registration == 0


def test_no_year_precedes_openreview() -> None:
    with pytest.raises(PeercorpusError, match="venue-years"):
        venue_years(1_000)
    most = len(VENUES) + sum(int(YEAR.findall(one.venue_id)[0]) - FIRST for one in VENUES if "20" in one.venue_id)
    assert len(venue_years(most)) == most


def test_every_venue_year_has_papers() -> None:
    world = build_world(papers=44, number=22)
    for venue in venue_years(22):
        holdings = world.v1 if venue.api == 1 else world.v2
        # Their signatures name the paper, and so the venue.
        held = [note for note in holdings.notes.values() if f"{venue.venue_id}/" in str(note.get("signatures"))]
        assert held, venue.venue_id


@pytest.mark.slow
def test_large_papers_are_long() -> None:
    venue = venue_years(1)[0]
    world = build_world(papers=192, venues=[venue.venue_id], is_large=True)
    reviews = [note for note in world.v1.notes.values() if str(note["invitation"]).endswith("Official_Review")]
    texts = [str(cast(Mapping[str, object], note["content"])["review"]) for note in reviews]
    words = [len(re.findall(r"\w+", text)) for text in texts]
    assert mean(words) == pytest.approx(434, rel=0.15)
    assert quantiles(words)[0] == pytest.approx(265, rel=0.2)
    assert quantiles(words)[2] == pytest.approx(538, rel=0.2)
    assert len(set(texts)) == len(texts)
    files = [content() for content in list(dict.fromkeys(world.v1.files.values()))[-6:]]
    assert len(set(files)) == 6
    assert max(map(len, files)) < 300_000


@pytest.mark.slow
def test_large_papers_share_texts_on_request() -> None:
    venue = venue_years(1)[0]
    world = build_world(papers=24, venues=[venue.venue_id], is_large=True, papers_per_file=12)
    files = {content() for content in world.v1.files.values()}
    assert len(files) < len(world.v1.files) / 2
