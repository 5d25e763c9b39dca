"""Write the figures and tables of converted PDFs as images beside their Markdown, and list them in their JSON."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from peercorpus.execution.executor import Executor, Failure, failure_reason
from peercorpus.execution.progress import Meter, Show
from peercorpus.execution.requests import ReadingRequest
from peercorpus.records.blocks import FigureImage, PageBox, TextBlock
from peercorpus.records.enums import FigureKind, MentionKind
from peercorpus.texts.figures import IMAGE_FORMAT, CutFigure, FigureJob, cut_file, join_box, name_maker
from peercorpus.texts.folder_files import FilePairs, FolderPdf, name_image
from peercorpus.workspace.object_store import Location

_CAPTIONED = {FigureKind.FIGURE: MentionKind.FIGURE, FigureKind.TABLE: MentionKind.TABLE}


@dataclass(slots=True)
class ImageSummary:
    """Counts of the figures of a run by outcome.

    Attributes:
        cut: PDFs whose figures and tables were cut in this run.
        already: PDFs with images from an earlier run with the same limits.
        images: Images written in this run.
        without_image: Captions found in this run without an image.
        failures: PDFs whose figures could not be cut, each with a sentence; the next run tries again.
    """

    cut: int = 0
    already: int = 0
    images: int = 0
    without_image: int = 0
    failures: list[tuple[Location, str]] = field(default_factory=list)


def cut_images(
    spread: Executor, pdfs: Sequence[FolderPdf], pairs: FilePairs, options: ReadingRequest, show: Show
) -> ImageSummary:
    """Write the images of PDFs with a text in the folder, unless they exist; each content is cut once.

    Images are written before the JSON that lists them, so that an interrupted run leaves no list of missing images.
    """
    made_with = name_maker()
    summary = ImageSummary()
    by_content: dict[str, list[FolderPdf]] = {}
    for pdf in pdfs:
        if pairs.has_images(pdf.name, made_with):
            summary.already += 1
        elif pdf.sha256 is not None:
            by_content.setdefault(pdf.sha256, []).append(pdf)
    jobs = [FigureJob(sha256, alike[0].source) for sha256, alike in by_content.items()]
    meter = Meter("convert", "PDFs searched for figures", show, total=sum(map(len, by_content.values())))
    for job, cuts in spread(cut_file, jobs, timeout_s=options.pdf_timeout_s, workers=options.workers):
        for pdf in by_content[job.sha256]:
            if isinstance(cuts, Failure):
                summary.failures.append((pdf.source, failure_reason(cuts)[1]))
            else:
                _write_images(pdf.name, cuts, pairs, made_with, summary)
            meter.advance()
    return summary


def _write_images(
    name: str, cuts: Sequence[CutFigure], pairs: FilePairs, made_with: str, summary: ImageSummary
) -> None:
    blocks = pairs.read_blocks(name)
    images = {_name_image(number, cut): cut.image for number, cut in enumerate(cuts, 1) if cut.image is not None}
    figures = [_describe(name, number, cut, blocks) for number, cut in enumerate(cuts, 1)]
    pairs.write_images(name, images, figures, made_with)
    summary.cut += 1
    summary.images += len(images)
    summary.without_image += len(cuts) - len(images)


def _name_image(number: int, cut: CutFigure) -> str:
    return name_image(number, cut.region.label, IMAGE_FORMAT)


def _describe(name: str, number: int, cut: CutFigure, blocks: Sequence[TextBlock]) -> FigureImage:
    region = cut.region
    page = region.page + 1
    edges = [edge for edge in join_box(region.box) if edge is not None]
    return FigureImage(
        kind=region.kind,
        label=region.label,
        caption=region.caption,
        page=page,
        block_id=_find_caption(cut, blocks),
        box=PageBox(page, *edges) if edges else None,
        file=None if cut.image is None else f"{FilePairs.name_image_folder(name)}/{_name_image(number, cut)}",
        width_px=cut.width_px,
        height_px=cut.height_px,
        problem=cut.problem,
    )


def _find_caption(cut: CutFigure, blocks: Sequence[TextBlock]) -> int | None:
    number = cut.region.label.rpartition(" ")[2]
    fitting = [
        block.block_id
        for block in blocks
        if block.caption_of == _CAPTIONED[cut.region.kind] and block.number == number
        if block.boxes and block.boxes[0].page == cut.region.page + 1
    ]
    return fitting[0] if len(fitting) == 1 else None
