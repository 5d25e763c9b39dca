"""Read pages from their images with nemotron-ocr, on a GPU."""

from io import BytesIO
from typing import Any, Self

import pypdfium2 as pdfium

from peercorpus.errors import EngineError
from peercorpus.pdf.document import to_png
from peercorpus.texts.engine import DEFAULT_SETTINGS, EngineSettings
from peercorpus.texts.engines.rapidocr import OcrEngine
from peercorpus.texts.external_package import read_package_version
from peercorpus.texts.ocr import Recogniser, WordRow


class NemotronOcr:
    """Recognises words with nemotron-ocr; needs an NVIDIA GPU, Linux, CUDA 13 and Python 3.12."""

    def __init__(self, settings: EngineSettings = DEFAULT_SETTINGS) -> None:
        """Check that nemotron-ocr is installed; its models are loaded for the first page.

        Raises:
            MissingExtraError: nemotron-ocr is not installed.
        """
        self.version = f"nemotron-ocr-{read_package_version('nemotron-ocr')}"
        self._settings = settings
        self._model: Any = None

    def read(self, image: pdfium.PdfBitmap) -> list[WordRow]:
        """Return the sentences on an image, each a line or part of one.

        Raises:
            EngineError: There is no suitable GPU, or the models cannot be loaded.
        """
        try:
            if self._model is None:
                from nemotron_ocr.inference.pipeline_v2 import NemotronOCRV2

                folder = self._settings.models
                self._model = NemotronOCRV2(model_dir=None if folder is None else str(folder), lang="english")
        except (ImportError, OSError, RuntimeError) as error:
            raise EngineError(
                f"nemotron-ocr cannot be used here ({type(error).__name__}); it needs an NVIDIA GPU with CUDA 13, "
                "and the models of nvidia/nemotron-ocr-v2 in the folder named as the engine's models."
            ) from None
        (sentences,) = self._model([BytesIO(to_png(image))], merge_level="sentence")
        # `lower` is the smaller distance from the upper edge, `upper` the larger one.
        return [
            WordRow(str(sentence["text"]), *(float(sentence[edge]) for edge in ("left", "lower", "right", "upper")))
            for sentence in sentences
        ]


class Nemotron(OcrEngine):
    """Reads every page from its image with nemotron-ocr."""

    name = "nemotron"
    takes = frozenset({"models"})
    is_heavy = True

    def __init__(self, recogniser: Recogniser | None = None) -> None:
        """Store the recogniser; None means nemotron-ocr.

        Raises:
            MissingExtraError: nemotron-ocr is not installed.
        """
        super().__init__(recogniser or NemotronOcr())

    @classmethod
    def with_settings(cls, settings: EngineSettings) -> Self:
        """Create an engine that loads its models from the folder in the settings."""
        return cls(NemotronOcr(settings))


ENGINE = Nemotron
