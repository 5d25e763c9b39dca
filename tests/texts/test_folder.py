"""PDFs become a folder of Markdown: each is read once, completely or not at all, and no name is used twice."""

import errno
import hashlib
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import peercorpus
from in_this_process import InThisProcess
from invented_figures import paper_with_figures
from invented_pdfs import HTML, by_hand, lines, put
from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Failure, FailureKind
from peercorpus.execution.requests import BuildRequest
from peercorpus.records.enums import Reason
from peercorpus.texts import folder as folder_module
from peercorpus.texts.engine import SEPARATOR
from peercorpus.texts.engines.pdfium_layout import DefaultLayout
from peercorpus.texts.folder import FolderSummary, convert_to_folder, find_all_pdfs
from peercorpus.texts.folder_files import open_pairs
from peercorpus.texts.layout import pdfium_layout as layout


def paper(*texts: str) -> bytes:
    return by_hand([lines(text) for text in texts])


def convert(sources: Sequence[Path], out: Path, spread: Any = None, **options: Any) -> tuple[FolderSummary, list[str]]:
    """Convert, and return what was read."""
    spread = spread or InThisProcess()
    return convert_to_folder(spread, sources, out, BuildRequest(), **options), spread.read


def written(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*")}


def measures(out: Path, name: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((out / f"{name}.json").read_text())
    return told


def test_a_pdf_gives_markdown_and_quality_measures(pdfs: Path, out: Path) -> None:
    pdf = paper("One.", "Two.")
    summary, _ = convert([put(pdfs, "paper", pdf)], out)
    assert written(out) == {"paper.md", "paper.json"}
    assert (out / "paper.md").read_text() == f"One.{SEPARATOR}Two.\n"
    told = measures(out, "paper")
    assert (told["source"], told["sha256"]) == ("paper.pdf", hashlib.sha256(pdf).hexdigest())
    assert (told["engine"], told["engine_version"]) == ("pdfium-layout", layout.PdfiumLayout.version)
    assert (told["status"], told["pages"], told["characters"]) == ("converted", 2, 8)
    assert (told["headings"], told["problems"], told["ocr_pages"], told["figures"]) == ([], [], [], [])
    assert told["quality"]["empty_pages"] == 0
    assert told["seconds"] >= 0
    assert (summary.converted, summary.pages, summary.failures) == (1, 2, [])


def test_the_json_keeps_its_published_schema(pdfs: Path, out: Path) -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs" / "text.schema.json").read_text())
    sources = [put(pdfs, "paper", paper_with_figures()), put(pdfs, "bad", HTML)]
    convert(sources, out)
    validator = jsonschema.Draft202012Validator(schema)
    assert [list(validator.iter_errors(measures(out, name))) for name in ("paper", "bad")] == [[], []]
    table = next(block for block in measures(out, "paper")["blocks"] if block["kind"] == "table")
    table["cells"][0]["row"] = "first"
    assert not validator.is_valid(measures(out, "paper") | {"blocks": [table]})


def test_a_text_is_opened_with_its_blocks(pdfs: Path, out: Path) -> None:
    convert([put(pdfs, "paper", paper("See Eq. (1).", "Two."))], out)
    for name in ("paper.json", "paper.md"):
        text = peercorpus.open_text(out / name)
        assert [text.read(block) for block in text.blocks] == ["See Eq. (1).", "Two."]
        assert [text.read(mention) for mention in text.mentions] == ["Eq. (1)"]


@pytest.mark.fault(
    "disk",
    "a text that `convert` wrote, or its JSON: gone, cut short, or changed by hand",
    "the file is named, and blocks are never read into another text",
    times=5,
)
@pytest.mark.parametrize(
    ("name", "content", "culprit"),
    [
        ("paper.json", None, "paper.json"),
        ("paper.md", None, "paper.md"),
        ("paper.json", b'{"engine": "pdfium-layout", "bl', "paper.json"),
        ("paper.md", b"One more.\n\nSee Eq. (1).\n", "convert"),
        ("paper.md", b"See Eq. (2).\n", "convert"),
    ],
)
def test_a_text_needs_its_json(pdfs: Path, out: Path, name: str, content: bytes | None, culprit: str) -> None:
    convert([put(pdfs, "paper", paper("See Eq. (1)."))], out)
    (out / name).unlink() if content is None else (out / name).write_bytes(content)
    with pytest.raises(PeercorpusError, match=culprit):
        peercorpus.open_text(out / "paper.json")


def test_a_text_without_blocks_is_refused(pdfs: Path, out: Path) -> None:
    sources = [put(pdfs, "paper", paper("One.")), put(pdfs, "page", HTML)]
    convert_to_folder(InThisProcess(), sources, out, BuildRequest(engine="pdfium-text"))
    for name, culprit in (("paper", "the engine 'pdfium-text' reports none"), ("page", "has no text: ")):
        with pytest.raises(PeercorpusError, match=culprit):
            peercorpus.open_text(out / f"{name}.json")


def test_no_pdf_is_read_twice(pdfs: Path, out: Path) -> None:
    sources = [put(pdfs, "good", paper("Good.")), put(pdfs, "bad", HTML)]
    convert(sources, out)
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    summary, read = convert(sources, out)
    assert read == []
    assert (summary.converted, summary.already, dict(summary.failed)) == (0, 1, {"not_a_pdf": 1})
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == before
    summary, read = convert(sources, out, force=True)
    assert (len(read), summary.converted, summary.already) == (2, 1, 0)


def test_temporary_failures_are_retried(pdfs: Path, out: Path) -> None:
    source = put(pdfs, "slow", paper("Slow."))
    late = InThisProcess(failures=(Failure(FailureKind.TIMEOUT, "It was stopped."),))
    assert convert([source], out, late)[0].failed == {Reason.PDF_TIMEOUT: 1}
    assert convert([source], out)[0].converted == 1
    assert written(out) == {"slow.md", "slow.json"}


def other_name(stem: str, path: str) -> str:
    return f"{stem}-{hashlib.sha256(path.encode()).hexdigest()[:8]}"


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("stem", ["paper", "Paper"])
def test_equal_names_stay_separate(pdfs: Path, out: Path, stem: str, is_turned: bool) -> None:
    (pdfs / "a").mkdir()
    (pdfs / "b").mkdir()
    first, second = put(pdfs / "a", "paper", paper("First.")), put(pdfs / "b", stem, paper("Second."))
    both = [second, first] if is_turned else [first, second]
    summary, _ = convert(both, out)
    other = other_name(stem, f"../pdfs/b/{stem}.pdf")
    assert written(out) == {"paper.md", "paper.json", f"{other}.md", f"{other}.json"}
    assert (out / f"{other}.md").read_text() == "Second.\n"
    assert summary.renamed == [(second, other)]
    assert convert(both[::-1], out)[1] == []
    assert convert([second], out)[1] == []
    assert len(written(out)) == 4


def test_equal_names_replace_their_own_text(pdfs: Path, out: Path) -> None:
    folders = [pdfs / "a", pdfs / "b"]
    for folder in folders:
        folder.mkdir()
    names = ["paper", other_name("paper", "../pdfs/b/paper.pdf")]
    for what in ("old", "new", "newest"):
        convert([put(folder, "paper", paper(f"{what} {folder.name}")) for folder in folders], out)
        assert [(out / f"{name}.md").read_text() for name in names] == [f"{what} a\n", f"{what} b\n"]
    # Now the second has the content of the first.
    convert([put(folders[0], "paper", paper("x")), put(folders[1], "paper", paper("newest a"))], out)
    assert [(out / f"{name}.md").read_text() for name in names] == ["x\n", "newest a\n"]
    assert len(written(out)) == 4


def test_a_moved_file_keeps_its_text(pdfs: Path, out: Path) -> None:
    convert([put(pdfs, "paper", paper("Before."))], out)
    (pdfs / "deep").mkdir()
    moved = (pdfs / "paper.pdf").rename(pdfs / "deep" / "paper.pdf")
    assert convert([moved], out)[1] == []
    assert measures(out, "paper")["path"] == "../pdfs/deep/paper.pdf"
    assert measures(out, "paper")["status"] == "converted"
    convert([put(pdfs / "deep", "paper", paper("After."))], out)
    assert written(out) == {"paper.md", "paper.json"}
    assert (out / "paper.md").read_text() == "After.\n"


def test_a_text_outlives_an_unreadable_file(pdfs: Path, out: Path) -> None:
    source = put(pdfs, "paper", paper("Paper."))
    convert([source], out)
    source.unlink()
    source.symlink_to("nowhere")
    summary, _ = convert([source], out)
    assert summary.failed == {Reason.FILE_MISSING: 1}
    assert "earlier run" in summary.failures[0][1]
    assert written(out) == {"paper.md", "paper.json"}
    assert measures(out, "paper")["status"] == "converted"


def test_options_are_checked_before_any_file_is_opened(pdfs: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = put(pdfs, "paper", paper("Paper."))

    def opened(_: object) -> str:
        raise AssertionError("A PDF was opened.")

    monkeypatch.setattr(folder_module, "_compute_sha256", opened)
    for options in (
        BuildRequest(engine="magic"),
        BuildRequest(engine="pdfium-text", ocr="auto"),
        BuildRequest(engine="vision"),
    ):
        with pytest.raises(PeercorpusError):
            convert_to_folder(InThisProcess(), [source], out, options)
        assert not out.exists()

    def full(**_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(out))

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(OSError, match="Read-only"):
        convert([source], out)


@pytest.mark.parametrize("ending", ["md", "json"])
def test_other_files_are_left_alone(pdfs: Path, out: Path, ending: str) -> None:
    out.mkdir()
    (out / f"paper.{ending}").write_text("[1]")
    summary, _ = convert([put(pdfs, "paper", paper("Paper."))], out)
    assert (out / f"paper.{ending}").read_text() == "[1]"
    assert (len(summary.renamed), len(written(out))) == (1, 3)


def test_the_same_content_is_read_once(pdfs: Path, out: Path) -> None:
    one, two = put(pdfs, "one", paper("Same.")), put(pdfs, "two", paper("Same."))
    (pdfs / "deep").mkdir()
    again = put(pdfs / "deep", "one", paper("Same."))
    summary, read = convert([one, two, again], out)
    assert (len(read), summary.converted, summary.repeated) == (1, 2, 1)
    assert written(out) == {"one.md", "one.json", "two.md", "two.json"}
    assert measures(out, "two")["source"] == "two.pdf"


@pytest.mark.parametrize("stem", ["n" * 240, "é" * 120, "a\nb", "\udcff", "..", "a.json", " "])
def test_any_name_becomes_one_inside_the_folder(pdfs: Path, out: Path, stem: str) -> None:
    summary, _ = convert([put(pdfs, stem, paper("Paper."))], out)
    assert summary.converted == 1
    assert sorted(path.suffix for path in out.iterdir()) == [".json", ".md"]
    (told,) = out.glob("*.json")
    assert json.loads(told.read_text(encoding="utf-8"))["status"] == "converted"


def test_a_stopped_run_resumes_where_it_was(pdfs: Path, out: Path) -> None:
    sources = [put(pdfs, f"p{number}", paper(f"Paper {number}.")) for number in range(9)]
    with pytest.raises(KeyboardInterrupt):
        convert(sources, out, InThisProcess(stop_after=4))
    assert len(written(out)) == 8
    summary, read = convert(sources, out)
    assert (summary.already, summary.converted, len(read)) == (4, 5, 5)
    assert len(written(out)) == 18


@pytest.mark.parametrize("step", ["unlink", "replace"])
def test_a_kill_leaves_no_text_unlisted(pdfs: Path, out: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    convert([put(pdfs, "paper", paper("Before."))], out)
    original, calls = getattr(Path, step), []

    def killed(self: Path, *arguments: Any, **named: Any) -> Any:
        calls.append(self)
        result = original(self, *arguments, **named)
        if calls:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(DefaultLayout, "version", "2")
    monkeypatch.setattr(Path, step, killed)
    with pytest.raises(KeyboardInterrupt):
        convert([pdfs / "paper.pdf"], out)
    monkeypatch.undo()
    assert written(out) == {"paper.json"}
    monkeypatch.setattr(DefaultLayout, "version", "2")
    assert convert([pdfs / "paper.pdf"], out)[0].converted == 1


@pytest.mark.fault("kill", "a conversion of a folder of PDFs", "what was half-written is removed")
def test_partial_files_of_a_killed_run_are_removed(pdfs: Path, out: Path) -> None:
    out.mkdir(parents=True)
    (out / ".paper.md.partial").write_text("Half")
    convert([put(pdfs, "paper", paper("Paper."))], out)
    assert written(out) == {"paper.md", "paper.json"}


def test_two_runs_do_not_write_to_one_folder(pdfs: Path, out: Path) -> None:
    source = put(pdfs, "paper", paper("Paper."))
    with open_pairs(out), pytest.raises(PeercorpusError) as raised:
        convert([source], out)
    assert [part for part in (f"'{out}'", "wait", "try again") if part not in str(raised.value)] == []
    assert convert([source], out)[0].converted == 1


def test_a_file_as_folder_is_refused(pdfs: Path, out: Path) -> None:
    source = put(pdfs, "paper", paper("Paper."))
    for folder in (source, source / "below"):
        with pytest.raises(PeercorpusError, match=rf"{re.escape(str(folder))}.*--out"):
            convert([source], folder)
    with pytest.raises(PeercorpusError, match=r"'magic'.*pdfium-text"):
        convert_to_folder(InThisProcess(), [source], out, BuildRequest(engine="magic"))
    assert not out.exists()


def test_every_file_is_found_once(pdfs: Path) -> None:
    for name in ("b/two.PDF", "a/one.pdf", "a/notes.txt", ".hidden/x.pdf", "a/._one.pdf", "folder.pdf/three.pdf"):
        (pdfs / name).parent.mkdir(exist_ok=True)
        (pdfs / name).touch()
    named = pdfs / "a" / "notes.txt"
    found = find_all_pdfs([pdfs, named, pdfs / "a" / "one.pdf", pdfs / "a"])
    assert [str(path).removeprefix(f"{pdfs}/") for path in found] == [
        *("a/one.pdf", "b/two.PDF", "folder.pdf/three.pdf"),
        "a/notes.txt",
    ]


def test_paths_without_a_pdf_are_reported(pdfs: Path) -> None:
    with pytest.raises(PeercorpusError, match=re.escape(f"'{pdfs}'")):
        find_all_pdfs([pdfs])
    with pytest.raises(PeercorpusError, match=re.escape(f"'{pdfs / 'missing'}'")):
        find_all_pdfs([pdfs, pdfs / "missing"])
