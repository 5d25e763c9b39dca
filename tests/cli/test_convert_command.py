"""`peercorpus convert`, and `build --engine`: their results for all options, and after every interruption."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import peercorpus
from commands import Run, assert_refused
from invented_pdfs import HTML, by_hand, lines, put
from naming import Naming
from peercorpus.texts.engines.pdfium_text import PdfiumText
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

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


@pytest.mark.slow
def test_workers_import_nothing_from_folder(pdfs: Path, tmp_path: Path) -> None:
    put_papers(pdfs, 2)
    for name in ("pickle", "struct", "pebble", "peercorpus"):  # What a worker imports first.
        (tmp_path / f"{name}.py").write_text(f"open('{tmp_path / 'pwned'}', 'w')\nraise SystemExit(9)\n")
    script = pdfs / "peercorpus-installed"  # In a folder of its own, as pip installs it.
    script.write_text("from peercorpus.cli.main import main\nif __name__ == '__main__':\n    main()\n")
    command = [sys.executable, str(script), "convert", str(pdfs)]
    ended = subprocess.run([*command, "--workers", "2", "--out", "out"], cwd=tmp_path, capture_output=True, timeout=120)
    assert (ended.returncode, (tmp_path / "pwned").exists()) == (0, False)


@pytest.mark.slow
def test_unconverted_pdfs_are_reported(run: Run, pdfs: Path, tmp_path: Path) -> None:
    put_papers(pdfs, 1)
    put(pdfs, "page", HTML)
    for _ in range(2):
        ended = run("convert", pdfs, "--out", tmp_path / "out")
        assert ended.code == 1
        assert "1 PDF" in ended.out
        assert "(not_a_pdf 1)" in ended.out
        assert f"  {pdfs / 'page.pdf'}: " in ended.out
    assert "earlier run" in ended.out
    assert "earlier run" not in run("convert", pdfs, "--out", tmp_path / "out", "--force").out


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
        (["p00.pdf", "--out", "out", "--heavier", "docling"], "--heavier"),
        (["p00.pdf", "--out", "out", "--models", "."], "'docling'"),
        (["p00.pdf", "--out", "out", "--engine-url", "http://x/v1"], "--engine-url"),
        (["p00.pdf", "--out", "out", "--max-pages", "1000"], "--max-pages"),
        (["p00.pdf", "--out", "out", "--engine", "pdfium-text", "--ocr", "auto"], "--ocr"),
        (["missing.pdf", "--out", "out", "--engine", "rapidocr", "--ocr", "auto"], "--ocr"),
        (["p00.pdf", "--out", "out", "--engine", "nemotron", "--models", "nowhere"], "'nowhere'"),
        (["p00.pdf", "--out", "out", "--engine", "nemotron", "--models", ""], "--models"),
        (["p00.pdf", "--out", ""], "'.'"),
        (["", "--out", "out"], "''"),
        (["p00.pdf", "--out", "out", "--address", "auto"], "--address"),
        (["p00.pdf", "--out", "out", "--workers", "0"], "--workers"),
        (["p00.pdf", "--out", "out", "--pdf-timeout-s", "0"], "--pdf-timeout-s"),
        (["p00.pdf"], "--out"),
        (["--out", "out"], "PDF"),
    ],
)
def test_bad_input_is_refused_in_one_sentence_and_nothing_is_written(
    run: Run, pdfs: Path, arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_papers(pdfs, 1)
    (pdfs / "empty").mkdir()
    monkeypatch.chdir(pdfs)
    assert_refused(run("convert", *arguments), sentence)
    assert {path.name for path in pdfs.iterdir()} == {"p00.pdf", "empty"}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_stopped_at_any_moment_resumes_where_it_was(pdfs: Path, tmp_path: Path, number: int) -> None:
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


@pytest.mark.slow
def test_a_workspace_may_be_built_with_any_engine(run: Run, demo_folder: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "corpus"
    shutil.copytree(demo_folder / "corpus", workspace)
    before = peercorpus.open(workspace).texts().sort("venue_id", "sha256").collect()
    assert run("build", "--workspace", workspace, "--engine", "pdfium-text").code == 0
    engines = peercorpus.open(workspace).texts().filter(pl.col("engine").str.starts_with("pdfium")).collect()["engine"]
    assert set(engines) == {"pdfium-text"}
    assert run("status", "--workspace", workspace).code == 0
    assert run("publish", "--workspace", workspace, "--out", tmp_path / "release").code == 0
    again = run("build", "--workspace", workspace, "--engine", "pdfium-text")
    assert again.out.startswith("Nothing to do")
    assert run("build", "--workspace", workspace).code == 0
    assert peercorpus.open(workspace).texts().sort("venue_id", "sha256").collect().equals(before)
    assert_refused(run("build", "--workspace", workspace, "--engine", "magic"), "'magic'")
    assert_refused(run("build", "--workspace", workspace, "--max-pages", "5"), "--max-pages")
    assert_refused(run("build", "--workspace", workspace, "--address", "auto"), "--address")


def test_an_unwritable_folder_is_reported(run: Run, pdfs: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    put_papers(pdfs, 1)
    tmp_path.chmod(0o500)
    assert_refused(run("convert", pdfs, "--out", tmp_path / "out"), f"'{tmp_path / 'out'}'")


def test_a_vision_engine_without_an_endpoint_is_refused_before_anything_is_done(
    pdfs: Path, tmp_path: Path, run: Run
) -> None:
    put_papers(pdfs, 1)
    assert_refused(run("convert", pdfs, "--out", tmp_path / "out", "--engine", "vision"), "--engine-url")
    more = ("--engine-url", "http://127.0.0.1:9/v1", "--engine-model", "m")
    ended = run("convert", pdfs, "--out", "s3://papers/out", "--engine", "vision", *more)
    assert_refused(ended, "--out")
    ended = run("convert", pdfs, "--out", tmp_path / "out", "--engine", "vision", *more, "--executor", "ray")
    assert_refused(ended, "--executor")


def test_the_heavier_engine_is_never_the_router_itself(pdfs: Path, tmp_path: Path, run: Run) -> None:
    put_papers(pdfs, 1)
    ended = run("convert", pdfs, "--out", tmp_path / "out", "--engine", "auto", "--heavier", "auto")
    assert ended.code == 2


@pytest.mark.slow
def test_status_shows_which_venues_another_engine_read(tmp_path: Path, demo_folder: Path, run: Run) -> None:
    corpus = shutil.copytree(demo_folder / "corpus", tmp_path / "corpus")
    assert "pdfium-text" not in run("status", "--workspace", corpus).out
    venues = [venue for venue in json.loads(run("status", "-w", corpus, "--json").out)["venues"] if venue["read_by"]]
    assert run("build", "--venue", venues[0]["venue_id"], "--workspace", corpus, "--engine", "pdfium-text").code == 0
    (told,) = [line for line in run("status", "--workspace", corpus).out.splitlines() if "pdfium-text" in line]
    plain, default = PdfiumText.version, PdfiumLayout.version
    assert told.startswith("1 venue ")
    assert f"'pdfium-text' {plain}" in told
    assert f"'pdfium-layout' {default}" in told
    assert "'peercorpus build'" in told
    found = json.loads(run("status", "--workspace", corpus, "--json").out)
    assert found["default_engine"] == ["pdfium-layout", default]
    assert [venue["read_by"] for venue in found["venues"]].count(["pdfium-text", plain]) == 1
    assert len(venues) > 1


@pytest.mark.slow
def test_texts_are_written_as_latex_including_those_of_an_earlier_run(run: Run, pdfs: Path, tmp_path: Path) -> None:
    put_papers(pdfs, 2)
    out = tmp_path / "out"
    assert run("convert", pdfs, "--out", out).code == 0
    assert not [*out.glob("*.tex")]
    ended = run("convert", pdfs, "--out", out, "--to", "latex")
    assert (ended.code, ended.out.splitlines()[:2]) == (
        0,
        ["2 PDFs had been converted before.", "2 texts written as LaTeX."],
    )
    latex = (out / "p00.tex").read_text()
    assert "Sentence 7 of paper 0." in latex
    assert latex.endswith("\\end{document}\n")
    assert "LaTeX" not in run("convert", pdfs, "--out", out, "--to", "latex").out
    assert "2 texts written as LaTeX." in run("convert", pdfs, "--out", out, "--to", "latex", "--force").out
    assert (out / "p00.tex").read_text() == latex
    run("convert", pdfs, "--out", out, "--formulas", "latex")
    assert not [*out.glob("*.tex")]  # the Markdown that they were made from is gone


@pytest.mark.slow
def test_a_latex_file_of_someone_else_is_kept(run: Run, pdfs: Path, tmp_path: Path) -> None:
    put_papers(pdfs, 1)
    own = tmp_path / "out" / "p00.tex"
    own.parent.mkdir()
    own.write_text("\\documentclass{article}")
    refused = run("convert", pdfs, "--out", own.parent, "--to", "latex")
    assert (refused.code, refused.out) == (2, "")
    assert "p00.tex' was not written by peercorpus" in refused.err.splitlines()[-1]
    assert [path.name for path in own.parent.iterdir()] == ["p00.tex"]
    assert run("convert", pdfs, "--out", own.parent).code == 0
    assert own.read_text() == "\\documentclass{article}"
