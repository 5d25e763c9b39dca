"""`publish --points`: by rules alone, or with a model for the points they leave open."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from commands import Run, assert_refused, succeed
from model_endpoint import Reply, completion, serving

VENUE = "Invented.cc/2024/Conference"
ANSWER = "It was calm on both days."


def note(note_id: str, signer: str, reply_to: str | None, day: int, **content: Any) -> dict[str, Any]:
    kind = "Submission" if reply_to is None else ("Official_Review" if "rating" in content else "Official_Comment")
    return {
        "id": note_id,
        "forum": "p1",
        "replyto": reply_to,
        "invitations": [f"{VENUE}/-/{kind}" if reply_to is None else f"{VENUE}/Submission1/-/{kind}"],
        "signatures": [f"{VENUE}/Submission1/{signer}"],
        "readers": ["everyone"],
        "tcdate": day * 86_400_000,
        "tmdate": day * 86_400_000,
        "content": {name: {"value": value} for name, value in content.items()},
    }


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that tests must not change."""
    folder = tmp_path_factory.mktemp("points")
    notes = [
        note("p1", "Authors", None, 1, title="On kites", abstract="We fly kites."),
        note("r1", "Reviewer_A1bC", "p1", 10, weaknesses="The wind is not measured.", rating=5),
        note("a1", "Authors", "r1", 20, comment=ANSWER),
    ]
    (folder / "notes.json").write_text(json.dumps(notes))
    succeed("import", folder / "notes.json", "-w", folder / "corpus")
    succeed("build", "--points", "-w", folder / "corpus")
    return folder / "corpus"


def tell(body: dict[str, Any]) -> Reply:
    """Return a model's answer to each of the two questions."""
    is_of_answers = "which sentences answer" in body["messages"][0]["content"]
    return completion("P1: S1" if is_of_answers else "P1: weakness, experiments")


def rows(out: Path, config: str) -> list[dict[str, Any]]:
    return [row for path in (out / "data" / config).glob("*.parquet") for row in pq.read_table(path).to_pylist()]


@pytest.mark.slow
def test_a_model_is_asked_what_the_rules_left_open(corpus: Path, tmp_path: Path, run: Run) -> None:
    # A model's answers are cached in the workspace.
    own = shutil.copytree(corpus, tmp_path / "corpus")
    with serving(rule=tell) as stand:
        command = ["publish", "--points", "model", "--model", "kite-1", "--model-url", stand.url, "-w", own, "--out"]
        ended = run(*command, tmp_path / "out")
        again = run(*command, tmp_path / "again")
    assert (ended.code, again.code) == (0, 0)
    assert len(stand.bodies) == 2
    for said in (ended.out, again.out):
        assert "Points by the model: 0 kinds, 1 aspect and the answers to 1 point." in said
    (point,), (answer,) = rows(tmp_path / "out", "points"), rows(tmp_path / "out", "answers")
    assert (point["kind_source"], point["aspect_source"]) == ("field", "model")
    assert (answer["text"], answer["method"], answer["confidence"]) == (ANSWER, "model", None)


@pytest.mark.parametrize("option", [["--points"], ["--points", "rules"]])
def test_without_a_model_only_the_rules_apply(corpus: Path, tmp_path: Path, run: Run, option: list[str]) -> None:
    assert run("publish", *option, "-w", corpus, "--out", tmp_path / "out").code == 0
    (point,) = rows(tmp_path / "out", "points")
    assert (point["aspect"], point["aspect_source"]) == (None, None)
    assert all(answer["method"] != "model" for answer in rows(tmp_path / "out", "answers"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--points", "model"], "--model-url"),
        (["--points", "--model", "kite-1"], "--points model"),
        (["--points", VENUE], 'Choose from: "rules", "model"'),
        (
            ["--points", "model", "--model", "m", "--model-url", "http://127.0.0.1:9/v1", "--layout", "reviewbench"],
            "points",
        ),
    ],
)
def test_impossible_questions_are_refused(
    corpus: Path, tmp_path: Path, run: Run, arguments: list[str], named: str
) -> None:
    assert_refused(run("publish", "-w", corpus, "--out", tmp_path / "out", *arguments), named)
    assert not (tmp_path / "out").exists()
