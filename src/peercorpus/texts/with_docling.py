"""docling: layout, table and formula models, run by its own pipeline."""

from io import BytesIO
from typing import Any, Self

from peercorpus.errors import EngineError, UnreadablePdfError
from peercorpus.texts.engine import Converted
from peercorpus.texts.heavier import as_converted, count_pages, version_of
from peercorpus.texts.settings import DEFAULT_SETTINGS, EngineSettings

OWN_VERSION = "1"


class Docling:
    """docling's standard pipeline: its layout model, tables and formulas; text is taken from the text layer."""

    name = "docling"

    def __init__(self, settings: EngineSettings = DEFAULT_SETTINGS) -> None:
        """Look whether it is installed; its models are loaded for the first file.

        Raises:
            MissingExtraError: It is not.
        """
        self.version = f"{OWN_VERSION}+docling-{version_of('docling', 'docling')}"
        self._settings = settings
        self._converter: Any = None

    @classmethod
    def with_settings(cls, settings: EngineSettings) -> Self:
        """The same, with its models in a folder."""
        return cls(settings)

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: It is broken, encrypted, or no PDF; or docling cannot read it.
            EngineError: The models are not there.
        """
        from docling.datamodel.base_models import DocumentStream
        from docling.exceptions import ConversionError

        pages = count_pages(pdf)
        self._converter = self._converter or self.make_converter()
        try:
            result = self._converter.convert(DocumentStream(name="paper.pdf", stream=BytesIO(pdf)))
        except ConversionError as error:
            raise UnreadablePdfError(f"docling cannot read the file: {_first_line(error)}") from None
        except OSError as error:
            # Only models are read from disk or a hub: the file itself is in memory.
            raise EngineError(
                f"docling's models cannot be had ({type(error).__name__}); fetch them with 'docling-tools models "
                "download' and name their folder as the engine's models."
            ) from None
        texts = [_page(result.document, number) for number in range(1, pages + 1)]
        return as_converted(texts, [f"docling: {error.error_message}" for error in result.errors])

    def make_converter(self) -> Any:  # noqa: ANN401 -- a type of an extra that may be missing
        """The converter of docling, as this engine uses it."""
        from docling.datamodel.accelerator_options import AcceleratorDevice, AcceleratorOptions
        from docling.datamodel.base_models import InputFormat
        from docling.datamodel.pipeline_options import PdfPipelineOptions
        from docling.document_converter import DocumentConverter, PdfFormatOption

        options = PdfPipelineOptions(
            do_ocr=False,
            do_table_structure=True,
            do_formula_enrichment=True,
            artifacts_path=self._settings.models,
            accelerator_options=AcceleratorOptions(device=AcceleratorDevice.AUTO),
        )
        pdf = {InputFormat.PDF: PdfFormatOption(pipeline_options=options)}
        return DocumentConverter(allowed_formats=[InputFormat.PDF], format_options=pdf)


def _page(document: Any, number: int) -> str:  # noqa: ANN401 -- see above
    """The Markdown of one page; docling drops one without content, which so stays an empty page."""
    if number not in document.pages:
        return ""
    markdown: str = document.export_to_markdown(
        page_no=number, image_placeholder="", escape_html=False, escape_underscores=False
    )
    return markdown


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
