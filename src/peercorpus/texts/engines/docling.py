"""Read PDFs with docling."""

from io import BytesIO
from typing import Any, Self

from peercorpus.errors import EngineError, UnreadablePdfError
from peercorpus.texts.engine import DEFAULT_SETTINGS, Converted, EngineSettings
from peercorpus.texts.external_package import count_pages, join_markdown_pages, read_package_version

OWN_VERSION = "1"


class Docling:
    """Reads PDFs with docling's standard pipeline (layout, tables, formulas); text comes from the text layer."""

    name = "docling"
    takes = frozenset({"models"})
    is_heavy = True

    def __init__(self, settings: EngineSettings = DEFAULT_SETTINGS) -> None:
        """Check that docling is installed; its models are loaded for the first file.

        Raises:
            MissingExtraError: docling is not installed.
        """
        self.version = f"{OWN_VERSION}+docling-{read_package_version('docling')}"
        self._settings = settings
        self._converter: Any = None

    @classmethod
    def with_settings(cls, settings: EngineSettings) -> Self:
        """Create an engine that loads its models from the folder in the settings."""
        return cls(settings)

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: The file is damaged, encrypted or not a PDF, or docling cannot read it.
            EngineError: The models cannot be loaded.
        """
        from docling.datamodel.base_models import DocumentStream
        from docling.exceptions import ConversionError

        pages = count_pages(pdf)
        self._converter = self._converter or self.make_converter()
        try:
            result = self._converter.convert(DocumentStream(name="paper.pdf", stream=BytesIO(pdf)))
        except ConversionError as error:
            first_line = (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
            raise UnreadablePdfError(f"docling cannot read the file: {first_line}") from None
        except OSError as error:
            # Only models are read from disk or a hub; the file itself is in memory.
            raise EngineError(
                f"docling's models cannot be loaded ({type(error).__name__}); fetch them with 'docling-tools models "
                "download' and name their folder as the engine's models."
            ) from None
        texts = [_write_page(result.document, number) for number in range(1, pages + 1)]
        return join_markdown_pages(texts, [f"docling: {error.error_message}" for error in result.errors])

    def make_converter(self) -> Any:  # noqa: ANN401 -- a type of an extra that may be missing
        """Create the docling converter with the options of this engine."""
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


def _write_page(document: Any, number: int) -> str:  # noqa: ANN401 -- see above
    """Return the Markdown of one page; empty for a page without content, which docling drops."""
    if number not in document.pages:
        return ""
    markdown: str = document.export_to_markdown(
        page_no=number, image_placeholder="", escape_html=False, escape_underscores=False
    )
    return markdown


ENGINE = Docling
