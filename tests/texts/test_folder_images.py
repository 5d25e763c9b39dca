"""`convert --figures`: the figures of a folder of PDFs become images that the JSON of each text lists."""

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from in_this_process import InThisProcess
from invented_figures import page_of_both, paper_with_figures
from invented_pdfs import by_hand, put
from peercorpus.errors import PeercorpusError
from peercorpus.execution.executor import Failure, FailureKind
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


def test_images_are_kept_until_something_changes(pdfs: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = put(pdfs, "paper", paper_with_figures())
    convert([source], out)
    assert counts(convert([source], out)) == (0, 1, 0, 0)
    assert convert([source], out, options=BuildRequest()).images is None
    assert counts(convert([source], out)) == (0, 1, 0, 0)
    (out / "paper-figures" / "01-figure-1.webp").unlink()
    assert counts(convert([source], out)) == (1, 0, 2, 0)
    monkeypatch.setattr(folder_images, "name_maker", lambda: "another")
    assert counts(convert([source], out)) == (1, 0, 2, 0)


def test_figures_not_cut_are_retried(pdfs: Path, out: Path) -> None:
    sources = [put(pdfs, name, paper_with_figures(number)) for number, name in enumerate(("paper", "slow"), 1)]
    convert(sources, out, options=BuildRequest())
    summary = convert(sources, out, InThisProcess(failures=(Failure(FailureKind.TIMEOUT, "It took too long."),)))
    assert summary.images is not None
    assert [(source.name, detail) for source, detail in summary.images.failures] == [("paper.pdf", "It took too long.")]
    assert (counts(summary), told_of(out)["images"]) == ((1, 0, 4, 0), None)
    assert counts(convert(sources, out)) == (1, 1, 2, 0)


@pytest.mark.fault("kill", "`convert --figures` between two images", "the images of that PDF are cut again")
def test_an_interrupt_lists_no_missing_image(pdfs: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_file_in_the_way_is_reported(pdfs: Path, out: Path) -> None:
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
