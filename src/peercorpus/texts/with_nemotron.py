"""nemotron-ocr: NVIDIA's recogniser; it gives boxes, not Markdown, so the layout is read by our own code."""

from io import BytesIO
from typing import Any, Self

import pypdfium2 as pdfium

from peercorpus.errors import EngineError
from peercorpus.texts.heavier import version_of
from peercorpus.texts.ocr import Recogniser, Seen
from peercorpus.texts.page_images import to_png
from peercorpus.texts.scans import EveryPage
from peercorpus.texts.settings import DEFAULT_SETTINGS, EngineSettings


class NemotronOcr:
    """Recognises words on a GPU of NVIDIA; Linux, CUDA 13 and Python 3.12."""

    def __init__(self, settings: EngineSettings = DEFAULT_SETTINGS) -> None:
        """Look whether it is installed; its models are loaded for the first page.

        Raises:
            MissingExtraError: It is not.
        """
        self.version = f"nemotron-ocr-{version_of('nemotron-ocr', 'nemotron')}"
        self._settings = settings
        self._model: Any = None

    def read(self, image: pdfium.PdfBitmap) -> list[Seen]:
        """The sentences of an image, which are lines or less.

        Raises:
            EngineError: There is no GPU that it can use, or its models are not there.
        """
        try:
            self._model = self._model or self._load()
        except (ImportError, OSError, RuntimeError) as error:
            raise EngineError(
                f"nemotron-ocr cannot be used here ({type(error).__name__}); it needs a GPU of NVIDIA with CUDA 13, "
                "and the models of nvidia/nemotron-ocr-v2 in the folder named as the engine's models."
            ) from None
        (found,) = self._model([BytesIO(to_png(image))], merge_level="sentence")
        # `lower` is the smaller distance from the upper edge, `upper` the larger one.
        return [
            Seen(str(one["text"]), float(one["left"]), float(one["lower"]), float(one["right"]), float(one["upper"]))
            for one in found
        ]

    def _load(self) -> Any:  # noqa: ANN401 -- a type of an extra that may be missing
        from nemotron_ocr.inference.pipeline_v2 import NemotronOCRV2

        folder = self._settings.models
        return NemotronOCRV2(model_dir=None if folder is None else str(folder), lang="english")


class Nemotron(EveryPage):
    """Every page read from its image by nemotron-ocr."""

    name = "nemotron"

    def __init__(self, recogniser: Recogniser | None = None) -> None:
        """Take what recognises words; None takes nemotron-ocr.

        Raises:
            MissingExtraError: It is not installed.
        """
        super().__init__(recogniser or NemotronOcr())

    @classmethod
    def with_settings(cls, settings: EngineSettings) -> Self:
        """The same, with its models in a folder."""
        return cls(NemotronOcr(settings))
