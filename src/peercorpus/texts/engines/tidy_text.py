"""Read the text layer without spaces at the ends of lines: the engine `tidy-text`."""

from dataclasses import replace

from peercorpus.texts.engine import Converted
from peercorpus.texts.engines.pdfium_text import PdfiumText


class TidyText(PdfiumText):
    """Reads the text layer, and drops spaces at the ends of lines."""

    name = "tidy-text"
    version = f"1+{PdfiumText.version}"

    def convert(self, pdf: bytes) -> Converted:
        """Read one file."""
        plain = super().convert(pdf)
        return replace(plain, markdown="\n".join(line.rstrip(" ") for line in plain.markdown.split("\n")))


ENGINE = TidyText
