"""A workspace's notes on earlier releases are checked: no file is written elsewhere, only its own are removed."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import zstandard

from asked_releases import publish_release
from invented_tables import ICLR, TMLR, a_forum, invented, paper
from peercorpus.release.kept_parts import PARTS, Part
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

pytestmark = pytest.mark.slow


def publish(corpus: Path, out: Path) -> dict[str, bytes]:
    """Publish to a folder, and return its files."""
    with open_workspace(corpus) as workspace:
        publish_release(workspace, out)
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def make(folder: Path, venues: dict[str, list[object]]) -> Path:
    """Make a workspace of these records, with a note so that it is not removed as empty."""
    with invented(folder, venues) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "a1", 2, ICLR, "a1", "a1", 1, 1, "invented", b"{}")])
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return make(tmp_path / "corpus", {ICLR: a_forum("a1"), TMLR: a_forum("d1", TMLR)})


def rewrite(corpus: Path, change: Callable[[Part], None]) -> None:
    """Change the note on each part, and its digest accordingly."""
    (path,) = (corpus / PARTS).iterdir()
    noted: dict[str, bytes] = msgspec.msgpack.decode(path.read_bytes())
    for key, kept in noted.items():
        part = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(kept[32:]))
        change(part)
        packed = zstandard.ZstdCompressor().compress(msgspec.msgpack.encode(part))
        noted[key] = hashlib.sha256(packed).digest() + packed
    path.write_bytes(msgspec.msgpack.encode(noted))


@pytest.mark.parametrize("field", ["config", "split"])
def test_a_path_leading_elsewhere_is_not_used(corpus: Path, tmp_path: Path, field: str) -> None:
    before = publish(corpus, tmp_path / "out")
    for name in ("../../../planted", "/tmp/planted", "a/b", "", ".."):

        def plant(part: Part, name: str = name) -> None:
            for file in part["files"]:  # type: ignore[index]
                file[field] = name

        rewrite(corpus, plant)
        outside = {path for path in tmp_path.rglob("*") if "out" not in path.parts}
        assert publish(corpus, tmp_path / "out") == before
        assert {path for path in tmp_path.rglob("*") if "out" not in path.parts} == outside


def test_a_note_whose_counts_were_changed_without_its_digest_is_not_used(corpus: Path, tmp_path: Path) -> None:
    before = publish(corpus, tmp_path / "out")
    (path,) = (corpus / PARTS).iterdir()
    noted: dict[str, bytes] = msgspec.msgpack.decode(path.read_bytes())
    key, kept = next(iter(noted.items()))
    noted[key] = kept[:40] + bytes([kept[40] ^ 1]) + kept[41:]
    path.write_bytes(msgspec.msgpack.encode(noted))
    assert publish(corpus, tmp_path / "out") == before


def test_a_file_behind_a_symbolic_link_is_copied(corpus: Path, tmp_path: Path) -> None:
    before = publish(corpus, tmp_path / "out")
    file = next((tmp_path / "out" / "data" / "reviews").glob("*.parquet"))
    elsewhere = tmp_path / "elsewhere.parquet"
    elsewhere.write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(elsewhere)
    assert publish(corpus, tmp_path / "out") == before
    assert not file.is_symlink()
    assert not file.samefile(elsewhere)


def test_other_files_in_the_folder_of_parts_are_kept(corpus: Path, tmp_path: Path) -> None:
    publish(corpus, tmp_path / "out")
    (corpus / PARTS / "notes.txt").write_text("mine")
    (corpus / PARTS / ("0" * 64)).write_bytes(b"of a release that is gone")
    publish(corpus, tmp_path / "other")
    assert (corpus / PARTS / "notes.txt").read_text() == "mine"
    assert not (corpus / PARTS / ("0" * 64)).exists()


def test_a_temporary_release_leaves_the_workspace_unchanged(corpus: Path, tmp_path: Path) -> None:
    publish(corpus, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in corpus.rglob("*")}
    with open_workspace(corpus, write=False) as workspace:
        publish_release(workspace, tmp_path / "other", is_temporary=True)
    after = {path: path.stat().st_mtime_ns for path in corpus.rglob("*") if not path.name.startswith("raw.db-")}
    assert after == {path: time for path, time in before.items() if path in after}
    assert after.keys() == {path for path in before if not path.name.startswith("raw.db-")}


def test_a_paper_in_the_tables_of_two_venues_is_removed_from_the_files_of_both(tmp_path: Path) -> None:
    secret = "zanzibarquagga"
    venues: dict[str, list[object]] = {
        ICLR: [*a_forum("a1"), paper("shared01", title=secret)],
        TMLR: [*a_forum("d1", TMLR), paper("shared01", TMLR, title=secret)],
    }
    corpus = make(tmp_path / "corpus", venues)
    assert any(secret.encode() in content for content in publish(corpus, tmp_path / "out").values())
    (corpus / "takedown.txt").write_text("shared01\n")
    assert [name for name, held in publish(corpus, tmp_path / "out").items() if secret.encode() in held] == []
