"""`peercorpus publish --splits`: splits that are written, kept, and never drawn by an incomplete command."""

import json
from pathlib import Path

import pytest

from commands import Run, assert_refused
from invented_tables import ICLR, TMLR, a_forum, fill
from peercorpus.workspace.workspace import open_workspace


@pytest.fixture
def workspace(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six papers that both tasks can use, in tables without received data behind them."""
    folder, dump = tmp_path / "corpus", tmp_path / "notes.json"
    dump.write_text(json.dumps([{"id": "x", "forum": "x", "invitation": f"{TMLR}/-/Submission", "content": {}}]))
    assert run("import", dump, "--workspace", folder).code == 0
    with open_workspace(folder) as opened:
        fill(opened, ICLR, [record for name in "abcdef" for record in a_forum(name)])
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)
    return folder


@pytest.mark.slow
def test_splits_are_written_and_kept_by_a_later_release(run: Run, workspace: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    held = ("publish", "--workspace", workspace, "--splits", "re2", "--out")
    ended = run(*held, first)
    assert ended.code == 0
    assert "  review: 4 train, 1 validation, 1 test\n" in ended.out
    assert "test split of 'review' is small: 1 paper, which is too few to measure a share. 6 of 6" in ended.out
    assert run(*held, second, "--splits-from", first).code == 0
    before, after = (json.loads((one / "splits" / "re2.json").read_text()) for one in (first, second))
    assert before["sizes"]["review"] == {"train": 4, "validation": 1, "test": 1}
    assert after["splits"] == before["splits"]
    ended = run(
        "publish", "--workspace", workspace, "--splits", "temporal", "--test-after", "2019-12-31", "--out", first
    )
    assert ended.code == 0
    temporal = json.loads((first / "splits" / "temporal.json").read_text())
    assert (temporal["test_after"], temporal["splits"]["test"]) == ("2019-12-31", list("abcdef"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--test-after", "2024-01-01"], "'re2'"),
        (["--splits", "none", "--test-after", "2024-01-01"], "--splits none"),
        (["--splits", "none", "--splits-from", "old"], "--splits none"),
        (["--splits", "temporal"], "--test-after"),
        (["--splits", "re2", "--test-after", "2024-01-01"], "'re2'"),
        (["--splits", "temporal", "--test-after", "spring"], "spring"),
        (["--splits", "random"], "random"),
        (["--splits", "re2", "--splits-from", "old"], "old/splits/re2.json'"),
    ],
)
def test_incomplete_options_for_splits_are_refused_in_one_sentence(
    run: Run, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run("publish", "--workspace", workspace, "--out", "release", *options), sentence)
    assert not Path("release").exists()
