"""The default engine for commands: its code is imported only when it reads a file, usually in a worker."""

from peercorpus.texts.engine import Converted
from peercorpus.texts.layout.version import ENGINE_VERSION, NAME


class DefaultLayout:
    """The engine `pdfium-layout`; see `PdfiumLayout`."""

    name = NAME
    version = ENGINE_VERSION

    def convert(self, pdf: bytes) -> Converted:
        """Convert one file; a page that cannot be read is left empty and named in the problems."""
        from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

        return PdfiumLayout().convert(pdf)
