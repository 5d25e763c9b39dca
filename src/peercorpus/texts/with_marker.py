"""marker: surya's models, which marker runs in server processes of its own."""

import re
import tempfile
from pathlib import Path
from typing import Any

from peercorpus.errors import EngineError
from peercorpus.texts.engine import Converted
from peercorpus.texts.heavier import as_converted, count_pages, version_of

OWN_VERSION = "1"
MARK = "peercorpus-page"
PAGE = re.compile(rf"^\{{(\d+)\}}{MARK}[ \t]*$", re.MULTILINE)
"""What marker writes before each page, counted from 0."""


class Marker:
    """marker in the mode it chooses for the device: "balanced" on a GPU, "fast" elsewhere."""

    name = "marker"

    def __init__(self) -> None:
        """Look whether it is installed; its servers are started for the first file.

        Raises:
            MissingExtraError: It is not.
        """
        self.version = f"{OWN_VERSION}+marker-{version_of('marker-pdf', 'marker')}"
        self._converter: Any = None

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: It is broken, encrypted, or no PDF.
            EngineError: The models are not there, or their server does not start.
        """
        pages = count_pages(pdf)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "paper.pdf"
            path.write_bytes(pdf)
            try:
                self._converter = self._converter or self.make_converter()
                rendered = self._converter(str(path))
            except OSError as error:
                # Models, fonts and servers; the file itself was opened by us before.
                raise EngineError(
                    f"marker's models or servers cannot be had ({type(error).__name__}); run 'marker_single' on one "
                    "file where there is a network, so that they are fetched."
                ) from None
        return as_converted(split_pages(rendered.markdown, pages))

    def make_converter(self) -> Any:  # noqa: ANN401 -- a type of an extra that may be missing
        """The converter of marker, as this engine uses it."""
        from marker.converters.pdf import PdfConverter
        from marker.models import create_model_dict

        config = {"paginate_output": True, "page_separator": MARK, "disable_image_extraction": True}
        return PdfConverter(artifact_dict=create_model_dict(), config=config)


def split_pages(markdown: str, pages: int) -> list[str]:
    r"""The pages of marker's Markdown; one that it left out is empty.

    >>> split_pages("\n\n{0}peercorpus-page\n\nOne\n\n{2}peercorpus-page\n\nThree", 3)
    ['One', '', 'Three']
    """
    _, *found = PAGE.split(markdown)
    texts = dict(zip(map(int, found[::2]), found[1::2], strict=True))
    return [texts.get(number, "").strip() for number in range(pages)]
