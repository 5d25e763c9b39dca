"""Read PDFs with MinerU."""

import tempfile
from pathlib import Path

from peercorpus.errors import EngineError, UnreadablePdfError
from peercorpus.texts.engine import Converted
from peercorpus.texts.engines.external_package import count_pages, join_markdown_pages, read_package_version

OWN_VERSION = "1"
TIER = "standard"
"""MinerU's default tier; "flash" uses no model, "advanced" a vision language model."""


class Mineru:
    """Reads PDFs with MinerU's standard tier, which recognises pages without text by itself."""

    name = "mineru"
    tier = TIER

    def __init__(self) -> None:
        """Check that MinerU is installed; its models are loaded for the first file.

        Raises:
            MissingExtraError: MinerU is not installed.
        """
        self.version = f"{OWN_VERSION}+mineru-{read_package_version('mineru', 'mineru')}-{self.tier}"

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: The file is damaged, encrypted or not a PDF, or MinerU cannot open it.
            EngineError: The models cannot be loaded.
        """
        from mineru import parse
        from pypdfium2 import PdfiumError

        pages = count_pages(pdf)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "paper.pdf"
            path.write_bytes(pdf)
            try:
                result = parse(path, tier=self.tier, ocr_mode="auto")
            except PdfiumError as error:
                raise UnreadablePdfError(f"MinerU cannot read the file: {error}") from None
            except OSError as error:
                raise EngineError(
                    f"MinerU's models cannot be loaded ({type(error).__name__}); fetch them with"
                    " 'mineru-models-download'."
                ) from None
        texts: dict[int, str] = {}
        for page in result.pages:
            # MinerU renders whole documents, so each page is passed as a separate document.
            alone = result.middle_json.model_copy(update={"pages": [page], "is_full_document": False})
            texts[page.page_idx] = type(result)(middle_json=alone).markdown()
        return join_markdown_pages([texts.get(index, "") for index in range(pages)])
