"""Read pages with a vision language model at an endpoint, and check its answers against the text layer.

Answers are cached by model, prompt and image, so an interrupted run continues without asking again.
"""

import base64
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Self

import httpx2

from peercorpus.errors import ModelUnavailableError, UnreadablePdfError
from peercorpus.models.endpoint import Endpoint, ModelSettings, ResponseCache, UnansweredError, response_key
from peercorpus.pdf.document import extract_pages, open_pdf, page_text, render_page, to_png
from peercorpus.texts.engine import DEFAULT_SETTINGS, KEY_VARIABLE, Converted, EngineSettings
from peercorpus.texts.external_package import join_markdown_pages
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout
from peercorpus.texts.page_quality import text_agreement, words

OWN_VERSION = "1"
DPI = 150
"""Resolution of page images: letters of 7 points are 15 pixels high; twice the resolution needs four times the
tokens."""

MIN_AGREEMENT = 0.8
"""Minimum agreement of an answer with the text layer; below, a fifth of the page is missing, invented or moved."""
MIN_LAYER_WORDS = 20
"""Minimum words of a text layer for an answer to be checked against it."""
MAX_ANCHOR_CHARACTERS = 8_000
"""Maximum characters of the text layer in the prompt; a dense page has 7,000."""
MAX_FAILED_PAGES = 3
"""Consecutive pages without an answer after which the endpoint, rather than the page, counts as failing."""

PROMPT = """Turn the image of this page of a scientific paper into Markdown.

- Keep every word as printed, in reading order; add nothing, leave nothing out, translate nothing.
- Headings begin with '#'; tables are Markdown tables; formulas are LaTeX between '$' or '$$'.
- Leave out running headers, page numbers, line numbers, and the text inside figures; keep captions.
- Answer with the Markdown alone.

The text layer of the page, without its layout and perhaps in another order, is:

"""
FENCED = re.compile(r"\s*```(?:markdown|md)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Page:
    """Result for one page.

    Attributes:
        problem: Reason why the model's text was not used, or not checked; None if it was used and checked.
        is_read: Whether the model's text was used.
    """

    markdown: str
    problem: str | None
    is_read: bool


class Vision:
    """Asks a model for each page; if its words differ from the text layer, the layout engine's text is used."""

    name = "vision"
    takes = frozenset({"engine_url", "engine_model", "max_pages"})

    def __init__(
        self, settings: EngineSettings = DEFAULT_SETTINGS, transport: httpx2.BaseTransport | None = None
    ) -> None:
        """Store the settings; no request is made before the first page.

        Args:
            settings: Endpoint, model, budget and file of answers.
            transport: HTTP transport, for tests.
        """
        self._settings = settings
        self._transport = transport
        digest = hashlib.sha256(f"{PROMPT} {PdfiumLayout.version} {settings.model}".encode()).hexdigest()[:12]
        model = re.sub(r"[^A-Za-z0-9._-]+", "-", settings.model or "no-model")[:60]
        self.version = f"{OWN_VERSION}+{model}+{digest}"

    @classmethod
    def with_settings(cls, settings: EngineSettings) -> Self:
        """Create an engine with a usable endpoint.

        Raises:
            ModelError: The address or the model is missing, or the key cannot be sent there.
        """
        Endpoint(_make_model_settings(settings)).close()
        return cls(settings)

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: The file is damaged, encrypted, or not a PDF.
            ModelError: The endpoint cannot be used, or the budget is spent; answers so far are kept.
        """
        settings = self._settings
        with (
            closing(Endpoint(_make_model_settings(settings), self._transport)) as endpoint,
            closing(ResponseCache(settings.answers, settings.run, settings.max_pages)) as answers,
        ):
            pages = list(self._read_pages(pdf, endpoint, answers))
        numbers: dict[str, list[str]] = defaultdict(list)
        for number, page in enumerate(pages, 1):
            if page.problem:
                numbers[page.problem].append(str(number))
        problems = [f"{problem}: page {', '.join(numbers[problem])}" for problem in sorted(numbers)]
        unchecked = tuple(number for number, page in enumerate(pages, 1) if page.is_read and page.problem)
        return replace(join_markdown_pages([page.markdown for page in pages], problems), ocr_pages=unchecked)

    def _read_pages(self, pdf: bytes, endpoint: Endpoint, answers: ResponseCache) -> Iterator[_Page]:
        failed = 0
        with open_pdf(pdf) as document:
            if len(document) == 0:
                raise UnreadablePdfError("The PDF has no page that can be read.")
            for index in range(len(document)):
                layer = page_text(document, index)
                if layer is None:
                    yield _Page("", "cannot be read", is_read=False)
                    continue
                try:
                    answer_text = _ask(endpoint, answers, layer, to_png(render_page(document[index], DPI)))
                except UnansweredError as error:
                    failed += 1
                    if failed >= min(MAX_FAILED_PAGES, len(document)):
                        unanswered = "the page" if failed == 1 else f"{failed} pages in a row"
                        raise ModelUnavailableError(
                            f"The vision endpoint did not answer {unanswered}: it {error}. Earlier answers are kept;"
                            " run the same command again later."
                        ) from None
                    yield _Page(_read_own_text(pdf, index), f"own text, as the endpoint {error}", is_read=False)
                    continue
                failed = 0
                yield _check(answer_text, layer, pdf, index)


def _make_model_settings(settings: EngineSettings) -> ModelSettings:
    return ModelSettings(
        url=settings.url or "",
        model=settings.model or "",
        key_variable=KEY_VARIABLE,
        attempts=settings.attempts,
        first_wait_s=settings.first_wait_s,
        timeout_s=settings.timeout_s,
    )


def _ask(endpoint: Endpoint, answers: ResponseCache, layer: str, png: bytes) -> str:
    """Return the model's text of a page; a page answered earlier is not sent again."""
    prompt = PROMPT + layer[:MAX_ANCHOR_CHARACTERS]
    key = response_key(endpoint.model, prompt, png)
    answer_text = answers.find(key)
    if answer_text is None:
        answers.reserve()
        image = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        answer = endpoint.ask([{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": image}}])
        answer_text = answer.text
        answers.keep(key, answer_text, answer.tokens)
    return without_fence(answer_text)


def without_fence(text: str) -> str:
    r"""Remove the code fence around an answer.

    >>> without_fence("```markdown\n# 1 Aims\n```")
    '# 1 Aims'
    """
    fenced = FENCED.fullmatch(text)
    return (fenced[1] if fenced else text).strip()


def _check(answer_text: str, layer: str, pdf: bytes, index: int) -> _Page:
    """Return the model's text if its words agree with the text layer, else that of the layout engine."""
    if len(words(layer)) < MIN_LAYER_WORDS:
        return _Page(answer_text, "not checked, as there is no text layer" if answer_text else None, is_read=True)
    if text_agreement(answer_text, layer) >= MIN_AGREEMENT:
        return _Page(answer_text, None, is_read=True)
    own = _read_own_text(pdf, index)
    # The layout engine reads column by column, the text layer possibly not.
    if text_agreement(answer_text, own) >= MIN_AGREEMENT:
        return _Page(answer_text, None, is_read=True)
    return _Page(own, "own text, as the model's words differ from the text layer", is_read=False)


def _read_own_text(pdf: bytes, index: int) -> str:
    """Return the layout engine's text of a single page, read without its neighbours."""
    return PdfiumLayout().convert(extract_pages(pdf, [index + 1])).markdown


ENGINE = Vision
