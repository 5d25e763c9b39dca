"""A Hub model stays at the commit with which the run began, from the first example to the merged export."""

import json
import shutil
from pathlib import Path

import pytest

from commands import Run

pytestmark = [pytest.mark.neural, pytest.mark.slow]
FIRST, SECOND = "0" * 39 + "1", "0" * 39 + "2"
RECIPE = """
batch = 4
context = 2048
paper_tokens = 100
validation = 0
checkpointing = false
"""


@pytest.fixture
def hub(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fill the Hub's own cache with `kite/tiny`: one commit, the newest."""
    constants = pytest.importorskip("huggingface_hub.constants")
    pytest.importorskip("trl")
    folder = tmp_path / "cache" / "models--kite--tiny"
    (folder / "snapshots").mkdir(parents=True)
    shutil.copytree(models / "llama", folder / "snapshots" / FIRST)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(FIRST)
    for name, value in (("HF_HUB_CACHE", str(tmp_path / "cache")), ("HF_HUB_OFFLINE", True)):
        monkeypatch.setattr(constants, name, value)
    return folder


def test_a_run_keeps_the_commit_of_its_model(run: Run, papers: Path, hub: Path, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    told = ["finetune", "--release", papers, "--task", "acceptance", "--model", "kite/tiny", "--out", tmp_path / "run"]
    ended = run(*told, "--recipe", tmp_path / "recipe.toml", "--merge")
    assert ended.code == 0, ended.err
    assert json.loads((tmp_path / "run" / "data" / "run.json").read_text())["asked"]["weights"] == FIRST
    adapter = json.loads((tmp_path / "run" / "adapter" / "adapter_config.json").read_text())
    assert (adapter["base_model_name_or_path"], adapter["revision"]) == ("kite/tiny", FIRST)
    assert (tmp_path / "run" / "merged" / "model.safetensors").exists()
    shutil.copytree(hub / "snapshots" / FIRST, hub / "snapshots" / SECOND)
    (hub / "refs" / "main").write_text(SECOND)
    again = run(*told, "--recipe", tmp_path / "recipe.toml")
    assert (again.code, " weights" in again.err, "--out" in again.err or "folder" in again.err) == (2, True, True)
