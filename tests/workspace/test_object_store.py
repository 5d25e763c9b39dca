"""An object in a store is read, written and found like a file, no error repeats a key, and `place.json` is checked."""

import logging
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from commands import Run, assert_refused
from invented_pdfs import by_hand, lines
from peercorpus.errors import MissingExtraError, PeercorpusError
from peercorpus.texts.folder import find_pdfs
from peercorpus.workspace import object_store
from peercorpus.workspace.object_store import (
    FILE,
    WHOLE_BYTES,
    S3Path,
    locate,
    write_whole,
)
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace
from simulated_store import KEY, SECRET

NAMES = ["a.pdf", "deep/er/B.PDF", "é ü#%20?.pdf", "100%.pdf"]
OTHERS = ["notes.txt", ".hidden.pdf", ".hidden/c.pdf"]


@pytest.mark.slow
@pytest.mark.cluster
def test_objects_behave_like_files(bucket: S3Path, tmp_path: Path) -> None:
    for folder in (bucket / "2025", bucket / "2025b", tmp_path / "2025", tmp_path / "2025b"):
        for name in [*NAMES, *OTHERS]:
            place = folder / name
            if isinstance(place, Path):
                place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, name.encode())
    for folder in (locate("s3://papers/2025/"), locate(f"file://{tmp_path}/2025")):
        found = list(find_pdfs(folder))
        assert sorted(str(place).removeprefix(f"{folder}/") for place in found) == sorted(NAMES)
        assert {place.read_bytes().decode() for place in found} == set(NAMES)
        assert list(find_pdfs(folder / "a.pdf")) == [folder / "a.pdf"]
        assert (folder / "a.pdf").exists()
        (folder / "a.pdf").unlink()
        (folder / "a.pdf").unlink(missing_ok=True)
        assert not (folder / "a.pdf").exists()
        with pytest.raises(FileNotFoundError, match=r"a\.pdf"):
            (folder / "a.pdf").read_bytes()


@pytest.mark.cluster
def test_large_object_is_read_in_parts(bucket: S3Path) -> None:
    content = bytes(range(256)) * (3 * WHOLE_BYTES // 256 + 1)
    (bucket / "large").write_bytes(content)
    with (bucket / "large").open() as opened:
        assert opened.seekable()
        assert opened.seek(-5, os.SEEK_END) == len(content) - 5
        assert opened.read() == content[-5:]
        assert opened.read(1) == b""
        opened.seek(WHOLE_BYTES - 1)
        opened.seek(2, os.SEEK_CUR)
        assert (opened.read(3), opened.tell()) == (content[WHOLE_BYTES + 1 : WHOLE_BYTES + 4], WHOLE_BYTES + 4)
        opened.seek(0)
        assert opened.read() == content


@pytest.mark.cluster
def test_a_listing_is_read_lazily(bucket: S3Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "AT_A_TIME", 10)
    for number in range(25):
        (bucket / f"{number:02}.pdf").write_bytes(b"")
    found = find_pdfs(bucket)
    assert next(found) == bucket / "00.pdf"
    assert len(list(found)) == 24


@pytest.mark.cluster
def test_replaced_file_is_old_or_new(bucket: S3Path, tmp_path: Path) -> None:
    for place in (bucket / "a.pdf", tmp_path / "a.pdf"):
        write_whole(place, b"old")
        write_whole(place, b"new" * 4_000_000)
        assert place.read_bytes() == b"new" * 4_000_000
    assert [path.name for path in tmp_path.iterdir()] == ["a.pdf"]


def test_failed_write_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_bytes(b"old")

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "a.md", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.md", b"old")]


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("s3://nowhere", "bucket"),
        ("s3://papers/x//y", "empty part"),
        ("s3://papers/nothing", "There is nothing at"),
    ],
)
def test_a_missing_object_is_reported(bucket: S3Path, place: str, sentence: str) -> None:
    assert bucket.bucket == "papers"
    with pytest.raises((OSError, PeercorpusError), match=sentence):
        list(find_pdfs(locate(place)))


@pytest.mark.parametrize("text", ["", " ", "file:", "file://"])
def test_empty_path_is_refused(text: str) -> None:
    with pytest.raises(PeercorpusError, match=f"^'{text}' .*'.'"):
        locate(text)
    assert locate(".") == Path()


class Refusal(BaseHTTPRequestHandler):
    """A store that rejects every key with S3's error."""

    def do_GET(self) -> None:
        body = f"<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>{KEY}</AWSAccessKeyId></Error>".encode()
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.parametrize(("refuses", "error"), [(True, PermissionError), (False, OSError)])
def test_no_error_repeats_a_key(
    bucket: S3Path,
    refuses: bool,
    error: type[OSError],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(object_store, "RETRIES", 0)
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port if refuses else 9}")
        with caplog.at_level(logging.DEBUG), pytest.raises(error, match="environment") as caught:
            (bucket / "a.pdf").read_bytes()
        server.shutdown()
    assert caught.value.__suppress_context__
    for told in (str(caught.value), repr(caught.value), caplog.text):
        assert KEY not in told
        assert SECRET not in told


@pytest.mark.parametrize("text", ["https://example.org/a.pdf", f"s3://{KEY}:{SECRET}@papers/a.pdf", "s3://"])
def test_other_urls_are_refused_unrepeated(text: str) -> None:
    with pytest.raises(PeercorpusError) as caught:
        locate(text)
    assert SECRET not in str(caught.value)


def test_missing_obstore_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(MissingExtraError, match=r"'(peercorpus|\.)\[cluster\]'"):
        S3Path("papers", "a.pdf").read_bytes()


@pytest.mark.slow
@pytest.mark.cluster
def test_stored_pdfs_are_converted_once(bucket: S3Path, tmp_path: Path, run: Run) -> None:
    for name in ("a.pdf", "deep/b.pdf"):
        (bucket / "in" / name).write_bytes(by_hand([lines(f"Text of {name}")]))
    (bucket / "in" / "bad.pdf").write_bytes(b"no PDF")
    command = ("convert", "s3://papers/in", "--out", "s3://papers/out")
    assert run(*command).code == 1
    assert (bucket / "out" / "a.md").read_bytes() == b"Text of a.pdf\n"
    made = {"a.md", "a.json", "b.md", "b.json", "bad.json"}
    assert {found.name for found, _ in (bucket / "out").walk()} == made
    assert "2 PDFs" in run(*command).out
    assert run("convert", "s3://papers/in/a.pdf", "--out", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "a.md").read_text() == "Text of a.pdf\n"


@pytest.mark.fault("disk", "`place.json` states what cannot be", "one sentence that names it", times=5)
@pytest.mark.parametrize(
    "content",
    [
        b'{"at": "elsewhere", "other": null, "mark": "x"}',
        b'{"at": ".", "other": "/somewhere", "mark": "x"}',
        b'{"at": "\\xff"}',
        b'{"at": "\xff"}',
        b"{}",
    ],
)
def test_damaged_placement_is_reported(tmp_path: Path, run: Run, content: bytes) -> None:
    with open_workspace(tmp_path, create=True) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "a", 2, "V", "a", "a", 1, 1, "a dump", b"{}")])
    (tmp_path / FILE).write_bytes(content)
    for command in (("status",), ("move", "--to", ".")):
        assert_refused(run(*command, "--workspace", tmp_path), FILE)
