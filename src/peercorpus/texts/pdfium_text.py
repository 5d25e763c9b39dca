"""The plainest engine: the text layer as pdfium gives it, page by page, without layout."""

from pypdfium2.version import PYPDFIUM_INFO

from peercorpus.errors import UnreadablePdfError
from peercorpus.pdf import open_pdf, page_text
from peercorpus.texts.engine import Converted, join_pages

OWN_VERSION = "1"


class PdfiumText:
    """pdfium's own text: order of the content stream, nothing joined, nothing removed."""

    name = "pdfium-text"
    version = f"{OWN_VERSION}+pypdfium2-{PYPDFIUM_INFO.version}"

    def convert(self, pdf: bytes) -> Converted:
        """Read one file; a page that cannot be read is empty and named among the problems."""
        with open_pdf(pdf) as document:
            texts = [page_text(document, index) for index in range(len(document))]
        if not any(text is not None for text in texts):
            raise UnreadablePdfError("The PDF has no page that can be read.")
        return join_pages([text or "" for text in texts], _problems(texts))


def _problems(texts: list[str | None]) -> list[str]:
    unread = [number for number, text in enumerate(texts, 1) if text is None]
    empty = [number for number, text in enumerate(texts, 1) if text == ""]
    named = (("cannot be read", unread), ("without text", empty))
    return [f"{what}: page {', '.join(map(str, numbers))}" for what, numbers in named if numbers]
