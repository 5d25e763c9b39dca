"""Figures and tables are cut out of PDFs with their captions, within limits, and every file is accounted for."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from hostile_pdfs import HOSTILE_PDFS
from in_this_process import InThisProcess
from invented_figures import page_of_both, paper_with_figures, paper_without_figures, prose, say
from invented_pdfs import HOSTILE, by_hand
from peercorpus.errors import UnreadablePdfError
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.records.documents import Figure
from peercorpus.records.enums import FigureKind, Grade, Reason
from peercorpus.records.papers import Evidence, PaperVersion
from peercorpus.texts import cut_figures as stage_module
from peercorpus.texts.figures import LIMITS, CutFigure, FigureLimits, cut_figures
from peercorpus.workspace.workspace import Workspace, open_workspace

VENUE, KEY = "V.cc/2020/Conference", "a" * 64
NOON = datetime(2020, 1, 1, tzinfo=UTC)


def cut(*contents: bytes, limits: FigureLimits = LIMITS) -> list[CutFigure]:
    return cut_figures(by_hand(contents), limits)


def box_of(one: CutFigure) -> tuple[int, ...]:
    assert one.region.box is not None
    return tuple(round(edge) for edge in one.region.box)


def is_near(box: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    return all(abs(edge - wanted) <= 3 for edge, wanted in zip(box, expected, strict=True))


def test_figures_are_above_captions_tables_below() -> None:
    figure, table = cut(page_of_both())
    assert (figure.region.kind, figure.region.label) == (FigureKind.FIGURE, "Figure 1")
    assert (table.region.kind, table.region.label) == (FigureKind.TABLE, "Table 1")
    assert figure.region.caption == "Figure 1: Weights of herbs on three days."
    assert is_near(box_of(figure), (140, 466, 380, 640))
    assert is_near(box_of(table), (120, 240, 460, 300))


def test_the_image_shows_the_region() -> None:
    figure, _ = cut(page_of_both(), limits=replace(LIMITS, dpi=72))
    image = Image.open(BytesIO(figure.image or b""))
    assert image.format == "WEBP"
    assert image.size == (figure.width_px, figure.height_px)
    left, bottom, right, top = figure.region.box or (0, 0, 0, 0)
    assert abs(image.width - (right - left)) <= 2
    assert abs(image.height - (top - bottom)) <= 2
    red, green, blue = image.convert("RGB").getpixel((round(330 - left), round(top - 550)))  # type: ignore[misc]
    assert (red < 90, green < 130, blue > 170) == (True, True, True)


def test_a_table_above_its_caption_is_found_there() -> None:
    below = prose(740) + b"0 G 120 640 m 460 640 l S 120 600 m 460 600 l S" + say("Sage", 130, 615)
    (table,) = cut(below + say("Table 2: Herbs.", 200, 580) + prose(555))
    assert is_near(box_of(table), (120, 600, 460, 640))


def test_figures_side_by_side_are_cut_separately() -> None:
    left = b"0.5 g 90 500 150 120 re f "
    right = b"0.2 g 300 500 150 120 re f "
    captions = say("Figure 1: Sage alone.", 100, 480) + say("Figure 2: Thyme alone.", 320, 480)
    first, second = cut(prose(740) + left + right + captions + prose(450))
    assert is_near(box_of(first), (90, 500, 240, 620))
    assert is_near(box_of(second), (300, 500, 450, 620))


def test_a_caption_alone_has_a_reason() -> None:
    (figure,) = cut(prose(740) + say("Figure 1: A figure that was lost.", 150, 645) + prose(600))
    assert (figure.region.box, figure.image) == (None, None)
    assert figure.problem == "Nothing is drawn next to the caption."


def test_a_reference_to_a_figure_is_no_caption() -> None:
    assert cut(prose(740) + say("as seen before. Figure 1 shows what we weighed then.", 72, 688)) == []


def test_images_keep_their_limits() -> None:
    pages = [page_of_both(number) for number in (1, 2)]
    small = cut(*pages, limits=replace(LIMITS, most_pixels=200))
    assert {max(one.width_px or 0, one.height_px or 0) for one in small} <= {199, 200, 201}
    (light, *_) = cut(*pages, limits=replace(LIMITS, most_bytes=1_500))
    assert light.image is not None
    assert len(light.image) <= 1_500
    (heavy, *_) = cut(*pages, limits=replace(LIMITS, most_bytes=10))
    assert (heavy.image, heavy.problem) == (None, "The image has more than 10 bytes at any legible size.")
    few = cut(*pages, limits=replace(LIMITS, max_figures=1))
    assert [one.image is not None for one in few] == [True, False, False, False]
    assert few[1].problem == "The file has more than 1 figures and tables."


def test_the_same_file_gives_the_same_bytes() -> None:
    assert cut(page_of_both()) == cut(page_of_both())


@pytest.mark.parametrize("name", HOSTILE)
def test_an_unreadable_file_has_no_figures(name: str) -> None:
    try:
        assert cut_figures(HOSTILE[name], LIMITS) == []
    except UnreadablePdfError:
        return  # the stage reports the problem


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        yield opened


def versions(workspace: Workspace, pdfs: Iterable[bytes]) -> list[str]:
    """Store PDFs as the versions of as many papers."""
    with workspace.tables.replacing(("4-versions",), VENUE, "invent", KEY) as replacement:
        sha256s = [workspace.files.add(pdf) for pdf in pdfs]
        for number, sha256 in enumerate(sha256s):
            forum_id, evidence = f"f{number:03d}", Evidence(None, None, "invented", None)
            replacement.add(
                PaperVersion(forum_id, VENUE, f"e{number}", NOON, NOON, "/pdf/a", sha256, True, Grade.EXACT, evidence)
            )
    return sha256s


def run(workspace: Workspace, spread: Any, options: BuildRequest | None = None, key: str = KEY) -> None:
    stage_module.stage(spread).run(workspace, VENUE, options or BuildRequest(), key, no_report)


def figures(workspace: Workspace) -> list[Figure]:
    return list(workspace.tables.read(Figure, VENUE))


def set_aside(workspace: Workspace) -> dict[Reason, int]:
    (balance,) = stage_module.balance(workspace, VENUE)
    assert balance.holds
    return dict(balance.set_aside)


@pytest.mark.slow
def test_every_file_has_figures_or_is_set_aside(workspace: Workspace) -> None:
    missing = by_hand([page_of_both(9)])
    sha256s = versions(workspace, [paper_with_figures(2), paper_without_figures(), *HOSTILE.values(), missing])
    workspace.files.path(sha256s[-1]).unlink()
    assert stage_module.balance(workspace, VENUE) == []
    run(workspace, LocalExecutor())
    assert [(one.forum_id, one.number, one.label, one.page) for one in figures(workspace)] == [
        ("f000", 1, "Figure 1", 1),
        ("f000", 2, "Table 1", 1),
        ("f000", 3, "Figure 2", 2),
        ("f000", 4, "Table 2", 2),
    ]
    assert all(one.image and one.image_format == "webp" for one in figures(workspace))
    assert set_aside(workspace) == {
        Reason.FILE_MISSING: 1,
        Reason.NOT_A_PDF: 3,
        Reason.PDF_DAMAGED: 3,
        Reason.PDF_ENCRYPTED: 1,
        Reason.NO_CAPTION: 2,
    }
    assert workspace.tables.is_finished("5-figures", VENUE, "cut_figures", KEY)


@pytest.mark.slow
def test_an_interrupted_run_keeps_finished_files_and_resumes(workspace: Workspace, monkeypatch: Any) -> None:
    monkeypatch.setattr(stage_module, "BATCH_FILES", 1)
    sha256s = versions(workspace, [by_hand([page_of_both(number)]) for number in range(4)])
    with pytest.raises(KeyboardInterrupt):
        run(workspace, InThisProcess(stop_after=2))
    assert not workspace.tables.is_finished("5-figures", VENUE, "cut_figures", KEY)
    again = InThisProcess()
    run(workspace, again)
    assert again.read == sha256s[2:]
    assert {one.sha256 for one in figures(workspace)} == set(sha256s)


def test_only_another_maker_cuts_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    versions(workspace, [paper_with_figures()])
    run(workspace, InThisProcess())
    same, other = InThisProcess(), InThisProcess()
    run(workspace, same, key="b" * 64)
    monkeypatch.setattr(stage_module, "name_maker", lambda: "another")
    run(workspace, other, key="c" * 64)
    assert (same.read, len(other.read), len(figures(workspace))) == ([], 1, 2)


@pytest.mark.slow
@pytest.mark.slow
def test_no_hostile_file_stops_the_run(workspace: Workspace) -> None:
    sha256s = set(versions(workspace, [*(make() for make in HOSTILE_PDFS.values()), paper_with_figures()]))
    run(workspace, LocalExecutor(memory_bytes=384 << 20), BuildRequest(pdf_timeout_s=20))
    (balance,) = stage_module.balance(workspace, VENUE)
    assert (balance.holds, balance.rows_in) == (True, len(sha256s))
    assert balance.rows_out >= 1
