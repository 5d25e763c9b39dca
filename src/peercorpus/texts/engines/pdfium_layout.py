"""The default engine for commands: its code is imported only when it reads a file, usually in a worker."""

from peercorpus.texts.engine import Converted, Engine, EngineSettings
from peercorpus.texts.layout.version import ENGINE_VERSION, NAME


class DefaultLayout:
    """The engine `pdfium-layout`; see `PdfiumLayout`."""

    name = NAME
    version = ENGINE_VERSION
    takes = frozenset({"ocr"})
    reads_hard = False

    @classmethod
    def with_settings(cls, settings: EngineSettings) -> Engine:
        """Create an engine with these settings: with `ocr`, one that recognises pages without readable text.

        Raises:
            MissingExtraError: OCR is not installed.
        """
        if settings.ocr != "auto":
            return cls()
        from peercorpus.texts.engines.rapidocr import LayoutWithOcr

        return LayoutWithOcr()

    def convert(self, pdf: bytes) -> Converted:
        """Convert one file; a page that cannot be read is left empty and named in the problems."""
        from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

        return PdfiumLayout().convert(pdf)


ENGINE = DefaultLayout
