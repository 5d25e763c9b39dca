"""Read PDFs with marker."""

import re
import tempfile
from pathlib import Path
from typing import Any

from peercorpus.errors import EngineError
from peercorpus.texts.engine import Converted
from peercorpus.texts.engines.external_package import count_pages, join_markdown_pages, read_package_version

OWN_VERSION = "1"
MARK = "peercorpus-page"
PAGE = re.compile(rf"^\{{(\d+)\}}{MARK}[ \t]*$", re.MULTILINE)
"""The line that marker writes before each page, numbered from 0."""


class Marker:
    """Reads PDFs with marker, in the mode that it chooses for the device: "balanced" on a GPU, "fast" elsewhere."""

    name = "marker"

    def __init__(self) -> None:
        """Check that marker is installed; its servers are started for the first file.

        Raises:
            MissingExtraError: marker is not installed.
        """
        self.version = f"{OWN_VERSION}+marker-{read_package_version('marker-pdf', 'marker')}"
        self._converter: Any = None

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: The file is damaged, encrypted, or not a PDF.
            EngineError: The models cannot be loaded, or their server does not start.
        """
        pages = count_pages(pdf)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "paper.pdf"
            path.write_bytes(pdf)
            try:
                self._converter = self._converter or self.make_converter()
                rendered = self._converter(str(path))
            except OSError as error:
                # Errors of models, fonts or servers: `count_pages` has already opened the file itself.
                raise EngineError(
                    f"marker's models or servers are not available ({type(error).__name__}); run 'marker_single' on"
                    " one file with a network connection to fetch them."
                ) from None
        return join_markdown_pages(split_pages(rendered.markdown, pages))

    def make_converter(self) -> Any:  # noqa: ANN401 -- a type of an extra that may be missing
        """Create the marker converter with the options of this engine."""
        from marker.converters.pdf import PdfConverter
        from marker.models import create_model_dict

        config = {"paginate_output": True, "page_separator": MARK, "disable_image_extraction": True}
        return PdfConverter(artifact_dict=create_model_dict(), config=config)


def split_pages(markdown: str, pages: int) -> list[str]:
    r"""Split marker's Markdown into pages; a page that it left out is empty.

    >>> split_pages("\n\n{0}peercorpus-page\n\nOne\n\n{2}peercorpus-page\n\nThree", 3)
    ['One', '', 'Three']
    """
    _, *numbers_and_texts = PAGE.split(markdown)
    texts = dict(zip(map(int, numbers_and_texts[::2]), numbers_and_texts[1::2], strict=True))
    return [texts.get(number, "").strip() for number in range(pages)]
