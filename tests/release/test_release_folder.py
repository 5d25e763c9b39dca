"""Folders of releases: an earlier one is replaced, one of the two always exists, and two runs never write at once."""

import os
from pathlib import Path
from random import Random

import pytest

from invented_releases import a_release
from peercorpus.errors import PeercorpusError
from peercorpus.release.folder import lock_folder, open_release, own_folder, replace_folder


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
def test_an_interrupt_leaves_one_of_two_releases(folder: Path, renames: int, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_release_moved_away_is_restored(folder: Path) -> None:
    folder.rename(folder.with_name(".release.replaced"))
    with pytest.raises(ZeroDivisionError), replace_folder(folder):
        raise ZeroDivisionError
    assert (folder / "word").read_text() == "earlier"
    write(folder, "later")
    assert (folder / "word").read_text() == "later"
    assert [path.name for path in folder.parent.iterdir()] == ["release"]


BUSY = "Another run is writing .*release'; wait until it ends, or stop it, then try again."


def test_a_busy_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    write(folder, "papers")
    with replace_folder(folder) as partial:
        (partial / "word").write_text("new papers")
        with pytest.raises(PeercorpusError, match=BUSY):
            write(folder, "papers")
        assert (folder / "word").read_text() == "papers"
    assert (folder / "word").read_text() == "new papers"
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    write(folder, "papers")
    assert (folder / "word").read_text() == "papers"


def test_the_folder_of_a_killed_run_is_replaced(tmp_path: Path) -> None:
    left = tmp_path / ".release.partial"
    left.mkdir()
    (left / "half").touch()
    write(tmp_path / "release", "papers")
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert not (tmp_path / "release" / "half").exists()


def test_a_renamed_folder_leaves_the_next_runs(tmp_path: Path) -> None:
    partial = tmp_path / "partial"
    with own_folder(partial, tmp_path / "release"):
        partial.rename(tmp_path / "release")
        partial.mkdir()
        (partial / "of the next").touch()
    assert (partial / "of the next").exists()


def test_a_lock_is_free_after_an_error(tmp_path: Path) -> None:
    opened: list[int] = []

    def fail() -> None:
        with lock_folder(tmp_path, tmp_path / "release") as descriptor:
            opened.append(descriptor)
            raise BlockingIOError

    for _ in range(2):
        with pytest.raises(BlockingIOError):
            fail()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


@pytest.mark.fault("disk", "one bit of a file of a release is changed", "a sentence that names the file", times=60)
def test_one_changed_bit_is_noticed(tmp_path: Path) -> None:
    release, draw = a_release(tmp_path / "release"), Random(0)
    names = sorted(name for name in open_release(release).manifest.files if not name.endswith(".md"))
    for _ in range(60):
        path = release / (name := draw.choice(names))
        whole = path.read_bytes()
        place = draw.randrange(8 * len(whole))
        path.write_bytes(whole[: place // 8] + bytes([whole[place // 8] ^ 1 << place % 8]) + whole[place // 8 + 1 :])
        with pytest.raises(PeercorpusError, match=f"{name}' .*intact copy"):
            open_release(release)
        if name.startswith("data/"):
            with pytest.raises(PeercorpusError, match=f"{name}' .*intact copy"):
                list(open_release(release, is_whole=False).id_rows())
        path.write_bytes(whole)
    open_release(release)


def test_a_shard_in_the_place_of_another_is_noticed(tmp_path: Path) -> None:
    release = a_release(tmp_path / "release")
    train, test = (
        next(shard.path for shard in open_release(release).shards("rebuttal", name)) for name in ("train", "test")
    )
    test.write_bytes(train.read_bytes())
    with pytest.raises(PeercorpusError, match="intact copy"):
        open_release(release)


def test_a_file_is_compared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = open_release(a_release(tmp_path / "release"))
    monkeypatch.setattr("peercorpus.release.folder.file_digest", lambda _: "another")
    assert list(release.rows("rebuttal", None, None))
    with pytest.raises(PeercorpusError, match="intact copy"):
        open_release(tmp_path / "release")
