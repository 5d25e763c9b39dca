"""A release named `hf:owner/name@revision`: downloaded once, only the files the benchmark reads, and verified."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from commands import Run
from invented_bench import TEST, bench_release
from peercorpus.errors import PeercorpusError, UnreachableError
from peercorpus.release.folder import MANIFEST
from peercorpus.release.hub import find_release

NAME = "hf:ada/reviews@abc123"
Asked = list[tuple[str, object]]


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Asked]]:
    """The folder that the Hub's client will return, with a release as links into its cache, and its requests."""
    moments = {"created_at": datetime(2023, 9, 28, tzinfo=UTC), "decided_at": datetime(2024, 1, 16, tzinfo=UTC)}
    papers = [{"forum_id": name, "status": "accepted"} | moments for name in TEST]
    blobs = bench_release(tmp_path / "blobs", more={("papers_full", "iclr"): papers})
    (blobs / "data" / "posts").mkdir()
    (blobs / "data" / "posts" / "iclr-00000-of-00001.parquet").write_bytes(b"not needed")
    snapshot = tmp_path / "snapshots" / "abc123"
    asked: Asked = []

    def stand_in(repository: str, *, revision: str, allow_patterns: Sequence[str], **_: object) -> str:
        asked.append((repository, revision))
        for path in blobs.rglob("*"):
            name = path.relative_to(blobs).as_posix()
            if path.is_file() and any(fnmatchcase(name, pattern) for pattern in allow_patterns):
                (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
                (snapshot / name).unlink(missing_ok=True)
                (snapshot / name).symlink_to(path)
        return str(snapshot)

    monkeypatch.setattr("huggingface_hub.snapshot_download", stand_in)
    find_release.cache_clear()
    yield snapshot, asked
    find_release.cache_clear()


@pytest.mark.fault("input", "a file of a dataset of the Hub differs from its manifest", "its name")
@pytest.mark.usefixtures("dataset")
@pytest.mark.parametrize("change", [lambda path: path.write_bytes(b"other"), lambda path: path.unlink()])
def test_a_file_unlike_its_digest_is_refused(tmp_path: Path, change: Callable[[Path], object]) -> None:
    name = "data/review_sft/test-00000-of-00001.parquet"
    change(tmp_path / "blobs" / name)
    with pytest.raises(PeercorpusError, match=name):
        find_release(NAME)


@pytest.mark.usefixtures("dataset")
def test_a_dataset_that_is_no_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "blobs" / MANIFEST).unlink()
    with pytest.raises(PeercorpusError, match="is not a release"):
        find_release(NAME)


def test_a_name_without_a_revision_is_refused(dataset: tuple[Path, Asked], run: Run) -> None:
    ended = run("bench", "acceptance", "--release", "hf:ada/reviews")
    assert ended.code == 2
    assert "hf:ada/reviews@COMMIT" in ended.err
    assert dataset[1] == []


@pytest.mark.fault("service", "the Hub cannot be reached, and the release is not cached", "one sentence")
def test_an_unreachable_hub_is_reported_in_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub.errors import LocalEntryNotFoundError

    def refuse(*_: object, **__: object) -> str:
        raise LocalEntryNotFoundError("no network")

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    with pytest.raises(UnreachableError, match=r"ada/reviews.*try again"):
        find_release("hf:ada/reviews@def456")
    ended = run("bench", "acceptance", "--release", "hf:ada/reviews@def456")
    assert (ended.code, len(ended.err.splitlines())) == (3, 1)
