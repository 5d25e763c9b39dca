"""`convert --figures`: the figures of a folder of PDFs become images that the JSON of each text lists."""

import json
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from PIL import Image

from commands import Run
from in_this_process import InThisProcess
from invented_figures import page_of_both, paper_with_figures, paper_without_figures, prose, say
from invented_pdfs import HTML, by_hand, put
from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.texts import folder_files, folder_images
from peercorpus.texts.folder import FolderSummary, convert_to_folder
from peercorpus.workspace.object_store import S3Path, write_whole

WITH_IMAGES = BuildRequest(figures=True)


def convert(
    sources: Sequence[Path], out: Path, spread: Any = None, options: BuildRequest = WITH_IMAGES, **more: Any
) -> FolderSummary:
    return convert_to_folder(spread or InThisProcess(), sources, out, options, **more)


def told_of(out: Path, name: str = "paper") -> dict[str, Any]:
    told: dict[str, Any] = json.loads((out / f"{name}.json").read_text())
    return told


def images_in(out: Path, name: str = "paper") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / f"{name}-figures").glob("*")}


def counts(summary: FolderSummary) -> tuple[int, int, int, int]:
    images = summary.images
    assert images is not None
    return images.cut, images.already, images.images, images.without_image


def test_each_caption_names_its_image_and_its_block(pdfs: Path, out: Path) -> None:
    summary = convert([put(pdfs, "paper", paper_with_figures(2))], out)
    assert counts(summary) == (1, 0, 4, 0)
    told = told_of(out)
    assert [(one["kind"], one["label"], one["page"], one["file"]) for one in told["images"]] == [
        ("figure", "Figure 1", 1, "paper-figures/01-figure-1.webp"),
        ("table", "Table 1", 1, "paper-figures/02-table-1.webp"),
        ("figure", "Figure 2", 2, "paper-figures/03-figure-2.webp"),
        ("table", "Table 2", 2, "paper-figures/04-table-2.webp"),
    ]
    text = (out / "paper.md").read_text()
    for one in told["images"]:
        block = told["blocks"][one["block_id"]]
        assert one["caption"] == text[block["start"] : block["end"]]
        with Image.open(out / one["file"]) as image:
            assert (image.format, image.size) == ("WEBP", (one["width_px"], one["height_px"]))
        assert one["box"]["page"] == one["page"]
    assert set(images_in(out)) == {Path(one["file"]).name for one in told["images"]}


def test_the_json_keeps_its_published_schema(pdfs: Path, out: Path) -> None:
    convert([put(pdfs, "paper", paper_with_figures())], out)
    schema = json.loads((Path(__file__).parents[2] / "docs" / "text.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(told_of(out))) == []
    assert not validator.is_valid(told_of(out) | {"images": [{"file": "01-figure-1.webp"}]})


def test_images_are_made_only_on_request(pdfs: Path, out: Path) -> None:
    summary = convert([put(pdfs, "paper", paper_with_figures())], out, options=BuildRequest())
    assert summary.images is None
    assert not (out / "paper-figures").exists()
    assert (told_of(out)["images"], told_of(out)["images_made_with"]) == (None, None)


def test_a_text_of_an_earlier_run_gets_its_images_without_being_read_again(pdfs: Path, out: Path) -> None:
    source = put(pdfs, "paper", paper_with_figures())
    convert([source], out, options=BuildRequest())
    before = told_of(out), (out / "paper.md").stat().st_mtime_ns
    summary = convert([source], out)
    assert (summary.already, counts(summary)) == (1, (1, 0, 2, 0))
    assert (told_of(out) | {"images": None, "images_made_with": None}, (out / "paper.md").stat().st_mtime_ns) == before


def test_images_that_are_there_are_kept_until_their_maker_or_files_change(
    pdfs: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = put(pdfs, "paper", paper_with_figures())
    convert([source], out)
    assert counts(convert([source], out)) == (0, 1, 0, 0)
    assert convert([source], out, options=BuildRequest()).images is None
    assert counts(convert([source], out)) == (0, 1, 0, 0)
    (out / "paper-figures" / "01-figure-1.webp").unlink()
    assert counts(convert([source], out)) == (1, 0, 2, 0)
    monkeypatch.setattr(folder_images, "name_maker", lambda: "another")
    assert counts(convert([source], out)) == (1, 0, 2, 0)


def test_replacing_a_text_removes_images_of_the_earlier_file(pdfs: Path, out: Path) -> None:
    convert([put(pdfs, "paper", paper_with_figures(2))], out)
    (out / "paper-figures" / "notes.txt").write_text("Mine.")
    convert([put(pdfs, "paper", paper_without_figures())], out, options=BuildRequest())
    assert images_in(out) == {"notes.txt": b"Mine."}
    convert([put(pdfs, "paper", paper_with_figures())], out)
    (out / "paper-figures" / "notes.txt").unlink()
    convert([put(pdfs, "paper", HTML)], out)
    assert not (out / "paper-figures").exists()
    assert told_of(out)["images"] is None


def test_a_paper_without_captions_and_one_without_drawing_say_so(pdfs: Path, out: Path) -> None:
    undrawn = by_hand([prose(740, 20) + say("Figure 1: Nothing is above.", 72, 400) + prose(380)])
    sources = [put(pdfs, "none", paper_without_figures()), put(pdfs, "undrawn", undrawn)]
    assert counts(convert(sources, out)) == (2, 0, 0, 1)
    assert told_of(out, "none")["images"] == []
    (figure,) = told_of(out, "undrawn")["images"]
    assert (figure["file"], figure["box"], figure["problem"]) == (None, None, "Nothing is drawn next to the caption.")
    assert counts(convert(sources, out)) == (0, 2, 0, 0)


def test_papers_of_one_content_are_cut_once_and_all_have_images(pdfs: Path, out: Path) -> None:
    sources = [put(pdfs, name, paper_with_figures()) for name in ("paper", "copy")]
    spread = InThisProcess()
    assert counts(convert(sources, out, spread)) == (2, 0, 4, 0)
    assert len(spread.read) == 2
    assert images_in(out) == images_in(out, "copy")
    assert told_of(out, "copy")["images"][0]["file"] == "copy-figures/01-figure-1.webp"


def test_an_engine_without_blocks_has_images_without_blocks(pdfs: Path, out: Path) -> None:
    convert([put(pdfs, "paper", paper_with_figures())], out, options=replace(WITH_IMAGES, engine="pdfium-text"))
    assert [(one["label"], one["block_id"]) for one in told_of(out)["images"]] == [
        ("Figure 1", None),
        ("Table 1", None),
    ]


def test_no_caption_is_named_where_several_of_its_page_have_its_number(pdfs: Path, out: Path) -> None:
    twice = page_of_both(extra=say("Figure 1: Weights of other herbs.", 150, 120))
    convert([put(pdfs, "paper", by_hand([twice]))], out)
    assert {one["label"]: one["block_id"] is None for one in told_of(out)["images"]} == {
        "Figure 1": True,
        "Table 1": False,
    }


@pytest.mark.slow
def test_images_have_the_same_bytes_from_every_executor(pdfs: Path, out: Path, tmp_path: Path) -> None:
    sources = [put(pdfs, f"p{number}", by_hand([page_of_both(number)])) for number in range(5)]
    convert(sources, out, LocalExecutor(), replace(WITH_IMAGES, workers=2))
    convert(sources, tmp_path / "here")
    for number in range(5):
        assert images_in(out, f"p{number}") == images_in(tmp_path / "here", f"p{number}") != {}
        assert told_of(out, f"p{number}")["images"] == told_of(tmp_path / "here", f"p{number}")["images"]


def test_a_pdf_whose_figures_cannot_be_cut_is_reported_and_retried(pdfs: Path, out: Path) -> None:
    sources = [put(pdfs, name, paper_with_figures(number)) for number, name in enumerate(("paper", "slow"), 1)]
    convert(sources, out, options=BuildRequest())
    summary = convert(sources, out, InThisProcess(failures=(Failure(FailureKind.TIMEOUT, "It took too long."),)))
    assert summary.images is not None
    assert [(source.name, detail) for source, detail in summary.images.failures] == [("paper.pdf", "It took too long.")]
    assert (counts(summary), told_of(out)["images"]) == ((1, 0, 4, 0), None)
    assert counts(convert(sources, out)) == (1, 1, 2, 0)


@pytest.mark.fault("kill", "`convert --figures` between two images", "the images of that PDF are cut again")
def test_an_interrupted_run_lists_no_image_that_is_missing(
    pdfs: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [put(pdfs, f"p{number}", by_hand([page_of_both(number)])) for number in range(3)]
    convert(sources[:2], out)

    def stop_at_the_second_image(location: Path | S3Path, content: bytes) -> None:
        if location.name == "02-table-1.webp":
            (out / "p1-figures" / ".02-table-1.webp.0a1b2c3d.partial").write_bytes(content[:9])
            raise KeyboardInterrupt
        write_whole(location, content)

    monkeypatch.setattr(folder_files, "write_whole", stop_at_the_second_image)
    monkeypatch.setattr(folder_images, "name_maker", lambda: "another")
    with pytest.raises(KeyboardInterrupt):
        convert(sources, out)
    monkeypatch.undo()
    assert [told_of(out, f"p{number}")["images"] is None for number in range(3)] == [False, True, True]
    assert counts(convert(sources, out)) == (3, 0, 6, 0)
    assert set(images_in(out, "p1")) == {"01-figure-1.webp", "02-table-1.webp"}


def test_a_file_at_the_image_folders_path_is_reported_before_reading(pdfs: Path, out: Path) -> None:
    out.mkdir()
    (out / "paper-figures").write_text("Mine.")
    spread = InThisProcess()
    with pytest.raises(PeercorpusError, match=r"paper-figures' is a file.*--out"):
        convert([put(pdfs, "paper", paper_with_figures())], out, spread)
    assert spread.read == []
    assert convert([pdfs / "paper.pdf"], out, options=BuildRequest()).converted == 1
    assert (out / "paper-figures").read_text() == "Mine."


def test_images_are_written_to_a_store(bucket: S3Path, pdfs: Path) -> None:
    place = S3Path(bucket.bucket, "out")
    source = put(pdfs, "paper", paper_with_figures())
    assert counts(convert_to_folder(InThisProcess(), [source], place, WITH_IMAGES)) == (1, 0, 2, 0)
    told = json.loads((place / "paper.json").read_bytes())
    for one in told["images"]:
        with Image.open(BytesIO((place / one["file"]).read_bytes())) as image:
            assert image.size == (one["width_px"], one["height_px"])
    assert counts(convert_to_folder(InThisProcess(), [source], place, WITH_IMAGES)) == (0, 1, 0, 0)


@pytest.mark.slow
def test_the_command_reports_the_figures_cut(run: Run, pdfs: Path, out: Path) -> None:
    put(pdfs, "paper", paper_with_figures())
    command = ("convert", pdfs, "--out", out, "--figures")
    ended = run(*command)
    assert (ended.code, ended.out.splitlines()[1]) == (0, "2 images of figures and tables cut out of 1 PDF.")
    assert "The images of 1 PDF were there before." in run(*command).out
