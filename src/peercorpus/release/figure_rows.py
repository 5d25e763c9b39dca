"""Make the rows of `figures`: the images of the version whose text represents the paper, and no others."""

from collections import Counter
from dataclasses import dataclass, field

from peercorpus.corpus.figures import VenueFigures, find_caption_block
from peercorpus.records.documents import Figure
from peercorpus.records.enums import Grade
from peercorpus.records.untrusted_text import redact_people
from peercorpus.release.record_rows import Row

PAPER_COLUMNS = ("forum_id", "venue_id", "conference", "year", "licence", "grade")


@dataclass(slots=True)
class FigureCounts:
    """Counts of the figures of a release.

    Attributes:
        captions: Captions of figures and tables in the files of published texts.
        images: Images by the grade of their version.
        kinds: Images by the kind of their content.
        problems: Captions without an image, by reason.
    """

    captions: int = 0
    images: Counter[Grade | None] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)


def build_figure_rows(paper: Row, figures: VenueFigures, counts: FigureCounts) -> list[Row]:
    """Return the rows of one paper, and count them and captions without an image.

    Args:
        paper: Its row of `papers_full`; `text_sha256` names the file with the figures.
        figures: The figures of its venue.
        counts: Counts of the release, to be increased.
    """
    if paper["text_sha256"] is None:
        return []
    rows: list[Row] = []
    for figure in figures.read(paper["text_sha256"]):
        counts.captions += 1
        if figure.image is None:
            counts.problems[str(figure.problem)] += 1
            continue
        counts.images[paper["grade"]] += 1
        counts.kinds[figure.kind] += 1
        rows.append(_figure_row(figure, paper))
    return rows


def _figure_row(figure: Figure, paper: Row) -> Row:
    row: Row = redact_people({name: getattr(figure, name) for name in ("label", "caption")})
    # The name is made only from the digest: untrusted text must not choose a path.
    image = {"bytes": figure.image, "path": f"{figure.sha256}-{figure.number:03d}.{figure.image_format}"}
    return row | {
        **{name: paper[name] for name in PAPER_COLUMNS},
        "sha256": figure.sha256,
        "number": figure.number,
        "kind": figure.kind.value,
        "page": figure.page,
        "box": [figure.x0, figure.y0, figure.x1, figure.y1],
        "block": find_caption_block(paper["markdown"], figure),
        "image": image,
        "width_px": figure.width_px,
        "height_px": figure.height_px,
        "format": figure.image_format,
    }
