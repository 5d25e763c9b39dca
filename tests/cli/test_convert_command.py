"""`peercorpus convert`, and `build --engine`: their results for all options, and after every interruption."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import Run, assert_refused
from invented_pdfs import by_hand, lines, put
from naming import Naming

FILES = 40


@pytest.fixture
def pdfs(tmp_path: Path) -> Path:
    folder = tmp_path / "pdfs"
    folder.mkdir()
    return folder


def put_papers(folder: Path, count: int, pages: int = 1) -> None:
    for number in range(count):
        texts = [f"Sentence {line} of paper {number}." for line in range(30)]
        put(folder, f"p{number:02d}", by_hand([lines(*texts)] * pages))


def started(pdfs: Path, out: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "peercorpus", "convert", str(pdfs), "--out", str(out), "--workers", "2"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL
    )


def wait_for_texts(running: "subprocess.Popen[str]", out: Path, count: int) -> None:
    until = time.monotonic() + 60
    while len(list(out.glob("*.md"))) < count:
        assert running.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)


def assert_every_text_is_told_of(out: Path) -> None:
    for path in out.glob("*.md"):
        told = json.loads(path.with_suffix(".json").read_text())
        assert told["status"] == "converted"
        assert len(path.read_text()) - 1 == told["characters"] + (told["pages"] - 1) * len("\n\n---\n\n")


@pytest.mark.slow
def test_converting_every_pdf_exits_with_0(run: Run, pdfs: Path, tmp_path: Path) -> None:
    put_papers(pdfs, 2, pages=3)
    ended = run("convert", pdfs, "--out", tmp_path / "out")
    assert ended.code == 0
    assert ended.out.startswith("2 PDFs became Markdown: 6 pages in ")
    assert ended.out.endswith(f"'{tmp_path / 'out'}'.\n")
    assert "convert: PDFs read 2 of 2" in ended.err
    again = run("convert", pdfs, "--out", tmp_path / "out")
    assert (again.code, again.out.splitlines()[0]) == (0, Naming("2 PDFs", "before"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing.pdf", "--out", "out"], "'missing.pdf'"),
        (["empty", "--out", "out"], "'empty'"),
        (["p00.pdf", "--out", "p00.pdf"], "'p00.pdf'"),
        (
            ["p00.pdf", "--out", "out", "--engine", "magic"],
            "auto, docling,",
        ),
        (["missing.pdf", "--out", "out", "--engine", "rapidocr", "--ocr", "auto"], "--ocr"),
        (["p00.pdf", "--out", "out", "--engine", "nemotron", "--models", "nowhere"], "'nowhere'"),
        (["p00.pdf", "--out", ""], "'.'"),
        (["", "--out", "out"], "''"),
        (["p00.pdf", "--out", "out", "--workers", "0"], "--workers"),
        (["p00.pdf"], "--out"),
        (["--out", "out"], "PDF"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    run: Run, pdfs: Path, arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_papers(pdfs, 1)
    (pdfs / "empty").mkdir()
    monkeypatch.chdir(pdfs)
    assert_refused(run("convert", *arguments), sentence)
    assert {path.name for path in pdfs.iterdir()} == {"p00.pdf", "empty"}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_run_resumes(pdfs: Path, tmp_path: Path, number: int) -> None:
    put_papers(pdfs, FILES, pages=20)
    out = tmp_path / "out"
    running = started(pdfs, out)
    wait_for_texts(running, out, 3)
    running.send_signal(number)
    _, told = running.communicate(timeout=60)
    if number == signal.SIGKILL:
        assert running.returncode == -signal.SIGKILL
    else:
        assert running.returncode == 130, told
        assert "command again" in told
        assert "Traceback" not in told
        assert {path.suffix for path in out.iterdir()} == {".md", ".json"}
    assert_every_text_is_told_of(out)
    texts = {path.name: path.stat().st_mtime_ns for path in out.glob("*.md")}
    assert 3 <= len(texts) < FILES
    again = started(pdfs, out)
    said, told = again.communicate(timeout=120)
    assert again.returncode == 0, told
    assert said.startswith(f"{FILES - len(texts)} PDFs became Markdown")
    assert {name: (out / name).stat().st_mtime_ns for name in texts} == texts
    assert len(list(out.iterdir())) == 2 * FILES
    assert_every_text_is_told_of(out)


def test_a_vision_engine_needs_an_endpoint(pdfs: Path, tmp_path: Path, run: Run) -> None:
    put_papers(pdfs, 1)
    assert_refused(run("convert", pdfs, "--out", tmp_path / "out", "--engine", "vision"), "--engine-url")
    more = ("--engine-url", "http://127.0.0.1:9/v1", "--engine-model", "m")
    ended = run("convert", pdfs, "--out", "s3://papers/out", "--engine", "vision", *more)
    assert_refused(ended, "--out")
    ended = run("convert", pdfs, "--out", tmp_path / "out", "--engine", "vision", *more, "--executor", "ray")
    assert_refused(ended, "--executor")
