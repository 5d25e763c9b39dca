"""Read the first line of a PDF alone: the engine `title-line`."""

from peercorpus.texts.engine import Converted, join_pages
from peercorpus.texts.engines.pdfium_text import PdfiumText


class TitleLine:
    """Reads the first line of the text layer."""

    name = "title-line"
    version = "1"

    def convert(self, pdf: bytes) -> Converted:
        """Read one file."""
        return join_pages([PdfiumText().convert(pdf).markdown.partition("\n")[0]], [])
