"""Choose the figures of a release that are shown with a question: those in the text that it shows, within limits."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from peercorpus.benchmark.cases import BenchTask, CasePaper
from peercorpus.benchmark.messages import BYTES_PER_KB, PIXELS_PER_MEGAPIXEL, FigureBudget, ShownPaper
from peercorpus.errors import PeercorpusError
from peercorpus.release.folder import Release, open_release
from peercorpus.release.record_rows import Row

CONFIG = "figures"
FORMATS = frozenset({"webp", "png", "jpeg"})
"""Formats of images allowed in a question."""
OTHER_TEXT = "of another text than the question shows"
AFTER_CUT = "after the cut of the text"
NO_PLACE = "without a place in a text that is cut"
NO_IMAGE = "without an image of known size in WebP, PNG or JPEG"
OVER_LIMITS = "over the limits of a question"


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """One image of a question, as recorded in its log.

    Attributes:
        number: Number of its caption within the PDF, which with the forum id identifies it in the release.
        label: Label of the caption in full, such as "Figure 3".
        page: Page number, from 1.
        sha256: Digest of the image.
        size_bytes: Size of the image.
    """

    number: int
    label: str
    page: int
    sha256: str
    size_bytes: int
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True)
class FigureChoice:
    """The images of one question, and the reasons why others of its paper are left out.

    Attributes:
        left_out: Number of figures that are not shown, by reason.
    """

    shown: tuple[ShownFigure, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)


class ReleaseFigures:
    """The figures of a release; only the positions of row groups are in memory.

    Raises:
        PeercorpusError: A file of the release cannot be read.
    """

    def __init__(self, release: Release) -> None:
        self._places: defaultdict[str, list[tuple[Path, int]]] = defaultdict(list)
        for shard in release.shards(CONFIG):
            try:
                self._add_places(shard.path)
            except (pa.ArrowException, OSError, KeyError) as error:
                raise _unreadable(shard.path, error) from None

    def _add_places(self, path: Path) -> None:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                forum_ids = file.read_row_group(group, ["forum_id"]).column("forum_id").to_pylist()
                for forum_id in dict.fromkeys(forum_ids):
                    self._places[forum_id].append((path, group))

    @property
    def forum_ids(self) -> frozenset[str]:
        """Papers that have figures."""
        return frozenset(self._places)

    def read(self, forum_id: str) -> list[Row]:
        """Return the rows of a paper with their images, in the order of its text; empty if it has none.

        Raises:
            PeercorpusError: A file of the release cannot be read.
        """
        rows: list[Row] = []
        for path, group in self._places.get(forum_id, ()):
            try:
                with pq.ParquetFile(path) as file:
                    rows += file.read_row_group(group).filter(pc.field("forum_id") == forum_id).to_pylist()
            except (pa.ArrowException, OSError) as error:
                raise _unreadable(path, error) from None
        return sorted(rows, key=lambda row: row["number"])


def _unreadable(path: Path, error: Exception) -> PeercorpusError:
    return PeercorpusError(f"'{path}' of the release cannot be read ({error}); take an intact copy.")


@lru_cache(maxsize=4)
def open_figures(folder: Path, sha256: str) -> ReleaseFigures:  # noqa: ARG001 -- a release published anew is read anew
    """Return the figures of a release, which is read once."""
    return ReleaseFigures(open_release(folder, is_whole=False))


def digest(text: str) -> bytes:
    """Return a digest of a text."""
    return hashlib.sha256(text.encode()).digest()


class FigureChooser:
    """Chooses the images of each question.

    Args:
        release: A release with figures.
        budget: The limits of a question.

    Raises:
        PeercorpusError: The release has no figures, or a file of it cannot be read.
    """

    def __init__(self, release: Release, budget: FigureBudget) -> None:
        if not release.shards(CONFIG):
            raise PeercorpusError(
                f"The release '{release.folder}' has no figures; extract them with 'peercorpus build --figures'"
                " and publish it with --figures, or omit --figures here."
            )
        self._budget = budget
        self._figures = open_figures(release.folder.absolute(), release.sha256)
        self._files: dict[str, tuple[str, bytes]] = dict(_read_texts(release, self._figures.forum_ids))
        self._latest: tuple[str, list[Row]] = "", []
        self._images = 0
        self._left_out = Counter[str]()

    def choose(self, paper: CasePaper, shown: ShownPaper) -> FigureChoice:
        """Return the images of a question.

        Args:
            paper: The paper.
            shown: The part of its text that the question shows.
        """
        choice: list[ShownFigure] = []
        left_out = Counter[str]()
        for row in self._read(paper.forum_id):
            why = self._refuse(paper, shown, row)
            figures = choice if why else [*choice, _describe(row)]
            why = why or self._exceeds(figures)
            if why is None:
                choice = figures
            else:
                left_out[why] += 1
        self._images += len(choice)
        self._left_out += left_out
        return FigureChoice(tuple(choice), dict(left_out))

    def check_any(self, task: BenchTask) -> None:
        """Check that some question shows a figure.

        Raises:
            PeercorpusError: No question shows one.
        """
        if not self._images:
            reasons = "; ".join(f"{why}: {count:,}" for why, count in self._left_out.most_common(3))
            raise PeercorpusError(
                f"No question of the task '{task}' has a figure to show ({reasons or 'its papers have none'});"
                " show more of a paper, choose another release, or omit --figures."
            )

    def _read(self, forum_id: str) -> list[Row]:
        """Return the figures of a paper, whose questions are consecutive."""
        if self._latest[0] != forum_id:
            self._latest = forum_id, self._figures.read(forum_id)
        return self._latest[1]

    def _refuse(self, paper: CasePaper, shown: ShownPaper, row: Row) -> str | None:
        """Return why a figure must not be shown with a text; None if it may be shown."""
        if (row["sha256"], digest(paper.markdown)) != self._files.get(paper.forum_id):
            return OTHER_TEXT
        if shown.blocks is not None and row["block"] is None:
            return NO_PLACE
        if shown.blocks is not None and row["block"] >= shown.blocks:
            return AFTER_CUT
        is_image = (row["image"] or {}).get("bytes") and row["width_px"] and row["height_px"]
        return None if is_image and row["format"] in FORMATS else NO_IMAGE

    def _exceeds(self, figures: list[ShownFigure]) -> str | None:
        size_bytes = sum(figure.size_bytes for figure in figures)
        pixels = sum(figure.width_px * figure.height_px for figure in figures)
        is_within = (
            len(figures) <= self._budget.figures
            and size_bytes <= self._budget.image_kb * BYTES_PER_KB
            and pixels <= self._budget.megapixels * PIXELS_PER_MEGAPIXEL
        )
        return None if is_within else OVER_LIMITS


def _describe(row: Row) -> ShownFigure:
    image: bytes = row["image"]["bytes"]
    names: dict[str, Any] = {name: row[name] for name in ("number", "label", "page", "width_px", "height_px")}
    return ShownFigure(**names, sha256=hashlib.sha256(image).hexdigest(), size_bytes=len(image))


def _read_texts(release: Release, forum_ids: frozenset[str]) -> Iterator[tuple[str, tuple[str, bytes]]]:
    """Yield the file from which the text of each paper was read, with a digest of the text."""
    for row in release.rows("papers_full", None, ["forum_id", "text_sha256", "markdown"]):
        if row["forum_id"] in forum_ids and row["text_sha256"] is not None:
            yield row["forum_id"], (row["text_sha256"], digest(row["markdown"] or ""))
