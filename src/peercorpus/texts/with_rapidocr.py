"""OCR by `rapidocr`: the models of PaddleOCR in ONNX, which its package holds."""

from collections.abc import Sequence
from typing import Any

import pypdfium2 as pdfium

from peercorpus.texts.heavier import version_of
from peercorpus.texts.ocr import Seen


class RapidOcr:
    """Recognises words on the processor, with Greek letters among them.

    Attributes:
        version: Of the package, which holds its models.
    """

    def __init__(self) -> None:
        """Look whether it is installed; its models are loaded for the first page.

        Raises:
            MissingExtraError: It is not.
        """
        self.version = f"rapidocr-{version_of('rapidocr', 'ocr')}"
        version_of("onnxruntime", "ocr")
        self._model: Any = None

    def read(self, image: pdfium.PdfBitmap) -> list[Seen]:
        """The lines of an image; by one thread, because other files are read at the same time."""
        if self._model is None:
            from rapidocr import RapidOCR

            threads = {"EngineConfig.onnxruntime.intra_op_num_threads": 1}
            self._model = RapidOCR(params=threads | {"Global.use_cls": False, "Global.log_level": "error"})
        found = self._model(image.to_numpy())
        if found.boxes is None:
            return []
        return [_seen(str(text), box, image) for box, text in zip(found.boxes, found.txts, strict=True)]


def _seen(text: str, box: Sequence[Sequence[float]], image: pdfium.PdfBitmap) -> Seen:
    """A box given by its corners, clockwise from the upper left one, as one that stands upright."""
    across, down = [float(x) for x, _ in box], [float(y) for _, y in box]
    middle, height = sum(down) / 4, (down[3] + down[2] - down[0] - down[1]) / 2
    top, bottom = middle - height / 2, middle + height / 2
    return Seen(text, min(across) / image.width, top / image.height, max(across) / image.width, bottom / image.height)
