"""`peercorpus forms` shows how `venues.toml` changes the reading of a venue's reviews; `status` names its form."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from commands import Run
from in_this_process import build_here
from peercorpus.forms.form_usage import NO_REVIEW, compare_readings
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

V = "Strange.org/2026/Workshop"
ROW = f'[[venue]]\nid = "{V}"\nsource = "https://strange.example/guide"\n'
FORM = """
[venue.form]
evidence = ["D"]
field = [
  { name = "verdict", type = "score", aspect = "recommendation", answers = MARKS },
  { name = "craft", type = "score", aspect = "quality", written = "words", answers = GRADES },
  { name = "shines", type = "text", section = "strengths" },
]
""".replace("MARKS", '{ offered = ["9: superb", "7: good", "1: poor"], low = 1, high = 9 }').replace(
    "GRADES", '{ offered = ["B", "A-", "A"], higher_is_better = true }'
)


def note(note_id: str, answers: Mapping[str, object], invitation: str = "Official_Review", **more: object) -> RawObject:
    body = {
        "id": note_id,
        "forum": "paper",
        "replyto": None if note_id == "paper" else "paper",
        "invitations": [f"{V}/-/Submission" if note_id == "paper" else f"{V}/Submission1/-/{invitation}"],
        "signatures": [f"{V}/Submission1/Reviewer_{note_id}"],
        "readers": ["everyone"],
        "content": {name: {"value": value} for name, value in answers.items()},
    }
    return RawObject(RawKind.NOTE, note_id, 2, V, "paper", note_id, 1, 1, "t", json.dumps(body | more).encode())


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two public reviews in a strange form, one of them with an answer that it does not offer, and a hidden one."""
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        answers: dict[str, object] = {
            "verdict": "7: good",
            "craft": "A-",
            "shines": "It flies.",
            "title": "Fine",
            "ages": [1],
        }
        workspace.raw.add(
            [
                note("paper", {"title": "On Kites"}),
                note("r1", answers),
                note("r2", answers | {"craft": "D", "verdict": "8"}),
                note("r3", answers | {"secret": "x"}, readers=[V]),
            ]
        )
    return tmp_path / "corpus"


def readings(corpus: Path, text: str) -> dict[str, tuple[dict[str, int], dict[str, int]]] | None:
    (corpus / "venues.toml").write_text(text)
    with open_workspace(corpus, write=False) as workspace:
        compared = compare_readings(workspace, V)
    return None if compared is None else {one.name: (dict(one.without), dict(one.own)) for one in compared}


def test_fields_are_compared_in_order(corpus: Path) -> None:
    found = readings(corpus, ROW + FORM)
    assert found == {
        "verdict": (
            {"score: recommendation, with a number": 2},
            {"score: recommendation, with a number": 1, "score: recommendation, with no value": 1},
        ),
        "craft": ({"text: other": 2}, {"score: quality, with a rank": 1, "score: quality, with no value": 1}),
        "shines": ({"text: other": 2}, {"text: strengths": 2}),
        "title": ({"title": 2}, {"title": 2}),
        "ages": ({"neither a score nor a text": 2}, {"neither a score nor a text": 2}),
    }
    assert found is not None
    assert list(found)[:3] == ["verdict", "craft", "shines"]


def test_the_venues_own_names_identify_reviews(corpus: Path) -> None:
    with open_workspace(corpus) as workspace:
        workspace.raw.add([note("r4", {"shines": "Words."}, "Referee_Report")])
    found = readings(corpus, f'{ROW}[venue.words]\nreplies.review = ["Referee_Report"]\n')
    assert found is not None
    assert found["shines"] == ({"text: other": 2, NO_REVIEW: 1}, {"text: other": 3})


def test_without_declared_reading_nothing_is_compared(corpus: Path) -> None:
    assert readings(corpus, "") is None
    assert readings(corpus, f'{ROW}remark = "Strange."\n') is None


@pytest.mark.slow
def test_the_command_shows_both_readings(corpus: Path, run: Run) -> None:
    (corpus / "venues.toml").write_text(ROW + FORM)
    with open_workspace(corpus) as workspace:
        build_here(workspace)
    shown = run("forms", V, "-w", corpus).out
    assert "\n  from      declared in venues.toml of the workspace\n" in shown
    table = [
        [*filter(None, map(str.strip, line.split("  ")))] for line in shown.partition("How venues.toml")[2].splitlines()
    ]
    assert ["shines", "text: other (2)", "text: strengths (2)"] in table
    assert shown.endswith("\n2 other fields read as before.\n")
    (own,) = json.loads(run("forms", V, "-w", corpus, "--json").out)
    assert own["is_own"] is True
    assert "2 reviews read with the form of venues.toml" in run("status", "-w", corpus).out
    (corpus / "venues.toml").write_text("")
    shown = run("forms", V, "-w", corpus).out
    assert "How venues.toml" not in shown
