"""MinerU: four tiers of models, from none to a vision language model."""

import tempfile
from pathlib import Path
from typing import Any

from peercorpus.errors import EngineError, UnreadablePdfError
from peercorpus.texts.engine import Converted
from peercorpus.texts.heavier import as_converted, count_pages, version_of

OWN_VERSION = "1"
TIER = "standard"
"""MinerU's own default; "flash" uses no model, "advanced" a vision language model."""


class Mineru:
    """MinerU's standard tier; recognises pages without text by itself."""

    name = "mineru"
    tier = TIER

    def __init__(self) -> None:
        """Look whether it is installed; its models are loaded for the first file.

        Raises:
            MissingExtraError: It is not.
        """
        self.version = f"{OWN_VERSION}+mineru-{version_of('mineru', 'mineru')}-{self.tier}"

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: It is broken, encrypted, or no PDF; or MinerU cannot open it.
            EngineError: The models are not there.
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
                    f"MinerU's models cannot be had ({type(error).__name__}); fetch them with 'mineru-models-download'."
                ) from None
        texts = {page.page_idx: _page(result, page) for page in result.pages}
        return as_converted([texts.get(index, "") for index in range(pages)])


def _page(result: Any, page: Any) -> str:  # noqa: ANN401 -- types of an extra that may be missing
    """The Markdown of one page: MinerU renders whole documents, so it is given a document of that page alone."""
    alone = result.middle_json.model_copy(update={"pages": [page], "is_full_document": False})
    markdown: str = type(result)(middle_json=alone).markdown()
    return markdown
