"""A source with most records set aside is named first by import, build and status; an ordinary one never is."""

import json
from pathlib import Path
from typing import Any

import pytest

from commands import Run
from peercorpus.cli.text.losses import REMEDIES
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.losses import _name_source, foresee_losses, read_losses
from peercorpus.workspace.workspace import open_workspace
from published_records import reviewbench_row, write_json, write_parquet

VENUE = "Kites.cc/2019/Conference"


def submission(forum: str, **more: Any) -> dict[str, Any]:
    base = {"id": forum, "forum": forum, "invitation": f"{VENUE}/-/Blind_Submission", "readers": ["everyone"]}
    return base | {"content": {"title": f"On {forum}"}, "tmdate": 5, "ddate": None} | more


def reply(note_id: str, forum: str, name: str = "Official_Review", **more: Any) -> dict[str, Any]:
    content = {"review": "Kites fly.", "rating": "7: Good paper, accept"}
    base = {"id": note_id, "forum": forum, "invitation": f"{VENUE}/-/Paper1/{name}", "readers": ["everyone"]}
    return base | {"signatures": [f"{VENUE}/Paper1/AnonReviewer1"], "content": content, "tmdate": 5} | more


def bare(note_id: str, forum: str) -> dict[str, Any]:
    return {"id": note_id, "forum": forum, "content": {"review": "Kites fly.", "rating": "7: Good paper, accept"}}


WHOLE = [submission("k1"), reply("a1", "k1"), submission("k2"), reply("a2", "k2")]
SOURCES: dict[str, tuple[list[dict[str, Any]], dict[str, int] | None]] = {
    "whole forums": (WHOLE, None),
    "one of two": ([submission("k1"), bare("b1", "k9")], None),
    "two of three": ([submission("k1"), bare("b1", "k8"), bare("b2", "k9")], {"no_venue": 2}),
    "no venue at all": ([bare(f"b{number}", "k9") for number in range(3)], {"no_venue": 3}),
    "comments alone": ([reply("a1", "k1", "Official_Comment"), reply("a2", "k2", "Comment")], {"forum_missing": 2}),
    "reviews alone": ([reply("a1", "k1"), reply("a2", "k2")], None),
    "hidden submissions": (
        [submission("k1", readers=[VENUE]), reply("a1", "k1"), submission("k2", ddate=7), reply("a2", "k2")],
        {"forum_set_aside": 2, "not_public": 1, "deleted": 1},
    ),
    "no ids": (
        [submission("k1"), {"content": {"a": 1}, "forum": "x"}, {"content": {"b": 1}, "forum": "x"}],
        {"left_out": 2},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_predicted_losses_match_the_build(name: str, run: Run, tmp_path: Path) -> None:
    content, expected = SOURCES[name]
    path, corpus = write_json(tmp_path / "some.json", content), tmp_path / "corpus"
    with open_workspace(corpus, create=True) as workspace:
        losses = foresee_losses(workspace, import_dumps(workspace, [path]))
    assert [(loss.source, dict(loss.aside)) for loss in losses] == ([("some.json", expected)] if expected else [])
    built = run("build", "--workspace", corpus)
    assert built.code == (1 if name in {"no venue at all", "comments alone", "hidden submissions"} else 0)
    with open_workspace(corpus, write=False) as workspace:
        after = read_losses(workspace, workspace.venues())
    told = {reason: number for reason, number in (expected or {}).items() if reason != "left_out"}
    assert [(loss.source, dict(loss.aside)) for loss in after] == ([("some.json", told)] if told else [])
    status = run("status", "--workspace", corpus, "--json")
    assert [loss["aside"] for loss in json.loads(status.out)["mostly_set_aside"]] == ([told] if told else [])


@pytest.mark.slow
def test_losses_are_reported_first(run: Run, tmp_path: Path) -> None:
    path, corpus = write_json(tmp_path / "some.json", SOURCES["no venue at all"][0]), tmp_path / "corpus"
    for code, *arguments in ((1, "import", path), (1, "build"), (0, "status")):
        told = run(*arguments, "--workspace", corpus)
        first = told.out.splitlines()[0]
        assert told.code == code
        assert all(word in first for word in ("None", "some.json", "no_venue 3"))
        assert "--venue" in told.out.splitlines()[1]
        assert "in total" not in told.out
        assert "publish" not in told.out
    again = run("import", path, "--venue", VENUE, "--workspace", corpus)
    assert "some.json" in again.out.splitlines()[0]
    assert "None" not in again.out
    assert "peercorpus build" in again.out
    assert run("build", "--workspace", corpus).code == 0
    assert "All sums agree" in run("status", "--workspace", corpus).out


@pytest.mark.slow
def test_published_records_count_by_their_file(run: Run, tmp_path: Path) -> None:
    rows = [reviewbench_row("k1"), reviewbench_row("k2", reviews_json="[{"), reviewbench_row("k3", reviews_json="[{")]
    path, corpus = write_parquet(tmp_path / "kites.parquet", rows), tmp_path / "corpus"
    assert run("import", path, "--workspace", corpus).code == 0
    first = run("build", "--workspace", corpus).out.splitlines()[0]
    assert all(word in first for word in ("1 of 3", "kites.parquet", "record_unreadable 2"))


def test_every_reason_has_advice() -> None:
    assert {"no_venue", "no_forum", "no_invitation", "forum_missing", "unreadable", "left_out"} <= set(REMEDIES)


def test_unknown_venue_is_named(run: Run, tmp_path: Path) -> None:
    path, corpus = write_json(tmp_path / "some.json", WHOLE), tmp_path / "corpus"
    told = run("import", path, "--venue", "ICLR.cc/2019/Conferense", "--workspace", corpus)
    assert told.code == 0
    assert "did you mean 'ICLR.cc/2019/Conference'" in told.out
    bare_notes = write_json(tmp_path / "iclr2019.json", [bare("b1", "k8")])
    assert "by the name of the file" in run("import", bare_notes, "--workspace", corpus).out
    assert "by the name" not in run("import", bare_notes, "--venue", VENUE, "--workspace", corpus).out
    assert "catalogue" not in run("import", path, "--venue", "ICLR.cc/2019/Conference", "--workspace", corpus).out


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("a.parquet, row 5", "a.parquet"),
        ("REVIEWS_train.json, record 7", "REVIEWS_train.json"),
        ("in/train (peerread), reviews/316.json", "in/train (peerread)"),
        ("in/data (nlpeer), p17/v1/reviews.json", "in/data (nlpeer)"),
        ("reviews.json", "reviews.json"),
        ("https://api.openreview.net/notes", "Kites"),
    ],
)
def test_records_count_by_their_file(source: str, name: str) -> None:
    assert _name_source(source, "Kites") == name
