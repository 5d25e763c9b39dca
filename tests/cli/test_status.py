"""Blocks and tables of `peercorpus status`, harmless to the terminal, and the same as JSON."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commands import Run
from in_this_process import build_here
from naming import Naming
from peercorpus.cli.text.status_table import MOST_VENUES, overview
from peercorpus.execution.stage import Balance
from peercorpus.harvest.submissions import List
from peercorpus.pipeline.inventory import Coverage, Inventory, NamedExamples, PdfCoverage
from peercorpus.pipeline.status import Completeness, IssueFound, WorkspaceStatus
from peercorpus.records.enums import Grade, Status
from peercorpus.workspace.harvest_state import Listing, StoredFile
from peercorpus.workspace.object_store import Placement
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace
from raw_forums import v2
from small_venues import fill

V = "Invented.cc/2024/Conference"
ESCAPE, TURNED = "\x1b[2J\x1b[31m", "\u202e"
SHOWN_MS = 1_700_000_000_000


def note(note_id: str, forum: str, content: dict[str, Any], **more: Any) -> RawObject:
    tail = "Submission" if note_id == forum else "Official_Review" if "rating" in content else "Official_Comment"
    body = json.dumps(v2(note_id, tail, "Reviewer_AbCd", forum=forum, content=content, **more)).encode()
    return RawObject(RawKind.NOTE, note_id, 2, V, forum, note_id, 1, 1, "test", body)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built venue with an example of everything that can be missing or odd; tests must not change it."""
    folder = tmp_path_factory.mktemp("status") / "corpus"
    with open_workspace(folder, create=True) as workspace:
        raw, odd_id = workspace.raw, f"{ESCAPE}../../x"
        notes = [
            note("paper", "paper", {"title": f"{ESCAPE}{TURNED}Kites", "venueid": V, "pdf": "/pdf/a.pdf"}),
            note("bare", "bare", {"title": "On Stones", "venueid": f"{V}/Rejected_Submission"}),
            note("review", "paper", {"review": "Clear.", "rating": "Not applicable"}),
            note("orphan", "paper", {"comment": "Yes."}, replyto="never-seen"),
            note("secret", "paper", {"comment": "No."}, readers=[V]),
            note(odd_id, "paper", {"comment": "Hm."}, ddate=1),
        ]
        raw.add([*notes, note("gone", "paper", {"comment": "Bye."})])
        raw.state.sight([found.object_id for found in notes], SHOWN_MS)
        raw.state.set_listing(V, f"{V}/-/Submission", Listing("z", 2, 3, True, SHOWN_MS))
        raw.state.add_file(StoredFile("paper", "/pdf/a.pdf", V, "paper", None, None, f"forbidden{ESCAPE}"))
        raw.state.enqueue(V, "versions", ["paper 1", "bare 1"])
        raw.state.mark_done("versions", "bare 1", "not found")
        build_here(workspace)
    return folder


def test_a_venue_is_a_block(run: Run, corpus: Path) -> None:
    ended = run("status", "--workspace", corpus, "--all")
    lines = ended.out.splitlines()
    assert (ended.code, ended.err, lines[0]) == (0, "", V)
    told = {line[2:22].strip(): line[23:] for line in lines[1:] if line.startswith("  ") and "Take care" not in line}
    assert told["harvest"] == (
        "listed completely; 2 submissions received of 3 announced; last seen 2023-11-14 22:13 UTC;"
        " 0 of 1 known PDF here"
    )
    assert told["files missing"] == r"forbidden\x1b[2J\x1b[31m: 1"
    assert told["edits missing"] == Naming("not found: 1", " 1", ";")
    assert told["papers"] == "1 accepted, 1 rejected; without reviews: 1 rejected"
    assert told["reviews"] == "1; without a rating: 1"
    assert told["notes"] == "dangling replies: 1; deleted: 1; no longer shown: 1; not public: 1"
    assert told["unseen replies"] == "with some deleted: 1 (2 replies); not known: 1"
    assert told["initial versions"] == "1 unavailable"
    assert r": 1 ('\x1b[2J\x1b[31m../../x')" in told["kept, but odd"]
    assert r"('\x1b[2J\x1b[31m\u202eKites')" in told["kept, but odd"]
    cautions = [line.removeprefix("  Take care: ") for line in lines if "Take care" in line]
    assert [sentence.split()[0] for sentence in cautions] == ["OpenReview", "1", "No"]
    assert "Invented.cc/2024/Conference/-/Submission (2 of 3)" in cautions[0]
    assert "sums agree" in lines[-1]


@pytest.mark.fault("input", "control characters in what `status` prints", "they are escaped", times=2)
@pytest.mark.parametrize("options", [["--all"], ["--json"]])
def test_no_control_sequence_reaches_the_terminal(run: Run, corpus: Path, options: list[str]) -> None:
    out = run("status", "--workspace", corpus, *options).out
    assert "Kites" in out
    assert [one for one in out if not one.isprintable() and one != "\n"] == []


def test_status_as_json_has_all_counts(run: Run, corpus: Path) -> None:
    ended = run("status", "--workspace", corpus, "--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    (venue,) = found["venues"]
    assert (found["holds"], venue["venue_id"], venue["unfinished"]) == (True, V, [])
    assert venue["held"]["last_seen_at"] == "2023-11-14T22:13:20Z"
    assert venue["held"]["lists"] == [
        {"invitation": f"{V}/-/Submission", "received": 2, "expected": 3, "is_complete": True, "problem": None}
    ]
    assert venue["held"]["odd_ids"] == {"count": 1, "examples": [f"{ESCAPE}../../x"]}
    assert venue["notes"]["papers"] == {"accepted": 1, "rejected": 1}
    assert venue["pdfs"]["grades"] == {"unavailable": 1}
    assert {one["trap"] for one in venue["cautions"]} == {"counts_disagree", "not_public", "no_deadline"}
    assert all(one["sentence"] for one in venue["cautions"])
    assert all(one["holds"] for one in venue["balances"])


def test_status_works_before_a_build(run: Run, tmp_path: Path) -> None:
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        workspace.raw.add([note("paper", "paper", {"title": "On Kites"})])
    plain = run("status", "--workspace", tmp_path / "corpus", "--all")
    assert plain.code == 0
    assert "not harvested" in plain.out
    assert "not built" in plain.out
    (venue,) = json.loads(run("status", "--workspace", tmp_path / "corpus", "--json").out)["venues"]
    assert (venue["notes"], venue["held"]["last_seen_at"]) == (None, None)
    assert "normalise" in venue["unfinished"]


def test_unknown_names_of_invitations_are_listed_with_counts(run: Run, tmp_path: Path) -> None:
    names = ["Second_Thoughts", "Second_Thoughts", "Kite_Talk", "Official_Comment"]
    replies = [
        note(f"n{place}", "paper", {"comment": "Yes."}, invitations=[f"{V}/Submission1/-/{name}"])
        for place, name in enumerate(names)
    ]
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        workspace.raw.add([note("paper", "paper", {"title": "On Kites"}), *replies])
        build_here(workspace)
    shown = " ".join(run("status", "--workspace", tmp_path / "corpus").out.split())
    assert "3 of 4 replies are to invitations with unknown names" in shown
    assert "Second_Thoughts (2)', 'Kite_Talk (1)'" in shown
    assert "Official_Comment" not in shown


NONE = NamedExamples(0, [])


def a_venue(venue_id: str, papers: int = 7_404, *cautions: IssueFound, is_listed: bool = True) -> Completeness:
    lists = [List(f"{venue_id}/-/Submission", received=papers, expected=papers, is_complete=is_listed)]
    held = Inventory(2, is_listed, lists, datetime(2026, 11, 1, tzinfo=UTC), 0, 0, {}, 0, {}, NONE, NONE, NONE)
    statuses = {Status.ACCEPTED: papers - 1, Status.REJECTED: 1}
    notes = Coverage(statuses, {}, 4 * papers, 0, 0, 0, 0, NONE, NONE, {})
    grades = {Grade.EXACT: papers - 3, Grade.UNREVISED_LIKELY: 2, Grade.UNAVAILABLE: 1}
    return Completeness(venue_id, held, notes, PdfCoverage(papers, papers, papers, 0, grades, 0), cautions, None)


def a_status(*venues: Completeness, balances: tuple[Balance, ...] = ()) -> WorkspaceStatus:
    return WorkspaceStatus(venues, balances, [], {}, {}, ("pdfium-layout", "1"), Placement("corpus", None, ""))


def table_of(text: str) -> list[str]:
    return text.partition("\nproven, other, none:")[0].splitlines()


def test_a_thousand_venues_are_counted_by_conference() -> None:
    venues = [a_venue(f"C{number % 100}x.org/{1970 + number // 100}/Conference", 10) for number in range(1_000)]
    text = overview(a_status(*venues))
    table = table_of(text)
    assert len(table) == MOST_VENUES + 2
    assert table[1].split()[1] == "(10)"
    assert "61 other conferences" in table[-2]
    assert table[-1].split()[:3] == ["all", "10,000", "40,000"]
    assert len(text.splitlines()) < MOST_VENUES + 10


def test_missing_rows_are_reported_first() -> None:
    balance = Balance("normalise", "ICLR.cc/2024/Conference", "notes", 3, 1, {})
    text = overview(a_status(a_venue("ICLR.cc/2024/Conference"), balances=(balance,)))
    assert table_of(text)[1].endswith("ROWS MISSING")
    assert "rows are missing" in text
    assert "Rows are missing" in text


def test_overviews_escape_control_characters() -> None:
    text = overview(a_status(a_venue("\x1b[2JX.org/2024/Conference", 5, is_listed=False)))
    assert "\x1b" not in text


ONE_OF_MANY = re.compile(r"(?<![\w.,:/-])1 ([A-Za-z]+s)\b")
NO_PLURALS = {"across", "as", "has", "is", "plus", "this", "was", "its"}
"""Words that may follow 1, although they end in s."""

COMMANDS = (
    ("build", "corpus"),
    ("build", "corpus"),
    ("status", "corpus"),
    ("status", "corpus", "--all"),
    ("check", "corpus"),
    ("publish", "corpus", "--out", "release"),
    ("verify", "release"),
    ("diff", "release", "release"),
    ("table1", "-w", "release"),
    ("forms",),
    ("show", "paper0", "-w", "corpus"),
    ("pdfs", "corpus", "--to", "pdfs"),
    ("audit", "grades", "corpus"),
    ("recipe", "reviewbench"),
    ("recipe", "re2"),
)


def plurals(text: str) -> list[str]:
    return [found[0] for found in ONE_OF_MANY.finditer(text) if found[1] not in NO_PLURALS]


def test_no_plural_after_the_number_one(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "corpus", 1)
    printed = {}
    for command in COMMANDS:
        ended = run(*command)
        assert ended.code in {0, 1}, f"{command}: {ended.err}"
        printed[command] = ended.out + ended.err
    assert {command: found for command, text in printed.items() if (found := plurals(text))} == {}
    assert "1 paper" in printed["publish", "corpus", "--out", "release"]
    cards = [path.read_text(encoding="utf-8") for path in (tmp_path / "release").glob("*.md")]
    assert [plurals(card) for card in cards] == [[] for _ in cards]
