"""PDFs whose pages are images of printed pages, and recognisers that need no model."""

import io

import pypdfium2 as pdfium

from peercorpus.pdf.document import open_pdf, render_page
from peercorpus.pdf.glyphs import Fonts, Glyphs
from peercorpus.texts.layout.blocks import read_lines
from peercorpus.texts.ocr import WordRow


def scanned(pdf: bytes, dpi: float = 200, *, leaving: tuple[int, ...] = ()) -> bytes:
    """The same pages as images, without a text layer; `kept` pages, counted from 1, stay unchanged."""
    written = io.BytesIO()
    with open_pdf(pdf) as document, pdfium.PdfDocument.new() as copy:
        for number, page in enumerate(document, 1):
            if number in leaving:
                copy.import_pages(document, [number - 1])
                continue
            width, height = page.get_size()
            image = pdfium.PdfImage.new(copy)
            image.set_bitmap(render_page(page, dpi))
            image.set_matrix(pdfium.PdfMatrix().scale(width, height))
            blank = copy.new_page(width, height)
            blank.insert_obj(image)
            blank.gen_content()
        copy.save(written)
    return written.getvalue()


class Reader:
    """Recognises the pages of one PDF in order from its text layer: a recogniser that never errs."""

    version = "reader-1"

    def __init__(self, pdf: bytes) -> None:
        """Set the PDF whose images will be shown."""
        self._pages = iter(_seen(pdf))

    def read(self, _image: pdfium.PdfBitmap | None) -> list[WordRow]:
        """The lines of the next page."""
        return next(self._pages)


def _seen(pdf: bytes) -> list[list[WordRow]]:
    pages = []
    with open_pdf(pdf) as document:
        for page in document:
            width, height = page.get_size()
            lines = read_lines(Glyphs(page.get_textpage(), Fonts()).runs, 0)
            boxes = [
                (line, height - line.base - 0.95 * line.size, height - line.base + 0.25 * line.size) for line in lines
            ]
            pages.append(
                [
                    WordRow(
                        line.text + "-" * line.is_cut,
                        line.left / width,
                        top / height,
                        line.right / width,
                        bottom / height,
                    )
                    for line, top, bottom in boxes
                ]
            )
    return pages
