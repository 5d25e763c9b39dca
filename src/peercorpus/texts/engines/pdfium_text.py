"""Read the plain text layer of a PDF, without layout: the engine `pdfium-text`."""

from pypdfium2.version import PYPDFIUM_INFO

from peercorpus.errors import UnreadablePdfError
from peercorpus.pdf.document import open_pdf, page_text
from peercorpus.texts.engine import Converted, join_pages

OWN_VERSION = "2"


class PdfiumText:
    """Reads the text as pdfium returns it, in the order of the content stream, with nothing joined or removed."""

    name = "pdfium-text"
    reads_hard = False
    version = f"{OWN_VERSION}+pypdfium2-{PYPDFIUM_INFO.version}"

    def convert(self, pdf: bytes) -> Converted:
        """Read one file; a page that cannot be read is left empty and named in the problems."""
        with open_pdf(pdf) as document:
            texts = [page_text(document, index) for index in range(len(document))]
        if not any(text is not None for text in texts):
            raise UnreadablePdfError("The PDF has no page that can be read.")
        unread = [str(number) for number, text in enumerate(texts, 1) if text is None]
        empty = [str(number) for number, text in enumerate(texts, 1) if text == ""]
        problems = [
            f"{what}: page {', '.join(numbers)}"
            for what, numbers in (("cannot be read", unread), ("without text", empty))
            if numbers
        ]
        return join_pages([text or "" for text in texts], problems)


ENGINE = PdfiumText
