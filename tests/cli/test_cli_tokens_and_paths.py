"""What the command line accepts as a venue or a token, and how it handles a folder that cannot be written."""

import shutil
from pathlib import Path

import pytest

import peercorpus
from commands import Run, assert_refused
from peercorpus.cli import options


@pytest.mark.parametrize(
    ("given", "venue_id"),
    [
        ("JLE", "JLE"),
        (" JLE ", "JLE"),
        ("https://openreview.net/group?id=ICLR.cc/2024/Conference#tab-accept", "ICLR.cc/2024/Conference"),
        ("openreview.net/group?referrer=x&id=JLE", "JLE"),
    ],
)
def test_a_venue_may_be_given_by_the_address_of_its_page(given: str, venue_id: str) -> None:
    assert options.read_venue_ids([given]) == [venue_id]


def test_an_empty_venue_id_is_refused(run: Run, tmp_path: Path) -> None:
    assert_refused(run("harvest", "", "--workspace", tmp_path / "w"), "''")
    assert not (tmp_path / "w").exists()


@pytest.mark.slow
def test_a_read_only_workspace_can_be_read(demo_folder: Path, tmp_path: Path, run: Run) -> None:
    corpus = shutil.copytree(demo_folder / "corpus", tmp_path / "corpus")
    for path in (*corpus.rglob("*"), corpus):
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        assert run("status", "--workspace", corpus).code == 0
        assert peercorpus.open(corpus).papers().collect().height > 0
    finally:
        for path in (corpus, *corpus.rglob("*")):
            path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.parametrize(
    ("mode", "text", "sentence"),
    [(None, b"", "token"), (0o644, b"abc", "chmod 600"), (0o600, b"\xff\xfe", "token")],
)
def test_a_token_file_must_be_the_users_own(
    run: Run, tmp_path: Path, mode: int | None, text: bytes, sentence: str
) -> None:
    file = tmp_path / "token"
    if mode is not None:
        file.write_bytes(text)
        file.chmod(mode)
    assert_refused(run("harvest", "JLE", "--workspace", tmp_path / "w", "--token-file", file), sentence)
