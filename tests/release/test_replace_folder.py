"""A release replaces an earlier one, and one of the two exists whenever the run is stopped."""

from pathlib import Path

import pytest

from peercorpus.release.folder import replace_folder


def write(folder: Path, word: str) -> None:
    with replace_folder(folder) as partial:
        (partial / "word").write_text(word)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "release", "earlier")
    return tmp_path / "release"


@pytest.mark.fault(
    "kill", "Ctrl-C between the two renames of a finished release", "the earlier release, as it was", times=2
)
@pytest.mark.parametrize("renames", [0, 1])
def test_an_interrupt_while_folders_are_renamed_leaves_the_earlier_release(
    folder: Path, renames: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[Path] = []
    rename = Path.rename

    def interrupted(path: Path, to: Path) -> Path:
        if len(done) == renames:
            done.append(path)
            raise KeyboardInterrupt
        done.append(path)
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(folder, "later")
    assert (folder / "word").read_text() == "earlier"
    assert [path.name for path in folder.parent.iterdir()] == ["release"]


@pytest.mark.fault(
    "kill", "SIGKILL between the two renames of a finished release", "the next run begins with the earlier one"
)
def test_a_release_moved_away_by_a_killed_run_is_restored(folder: Path) -> None:
    folder.rename(folder.with_name(".release.replaced"))
    with pytest.raises(ZeroDivisionError), replace_folder(folder):
        raise ZeroDivisionError
    assert (folder / "word").read_text() == "earlier"
    write(folder, "later")
    assert (folder / "word").read_text() == "later"
    assert [path.name for path in folder.parent.iterdir()] == ["release"]
