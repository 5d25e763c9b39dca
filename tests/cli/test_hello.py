from pathlib import Path

from commands import Run


def test_the_workspace_is_named(run: Run, tmp_path: Path) -> None:
    assert run("hello", tmp_path / "kites").out == "kites\n"
