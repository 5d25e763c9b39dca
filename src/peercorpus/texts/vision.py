"""A vision language model behind an endpoint: page images → Markdown, each page checked against the text layer."""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import httpx2

from peercorpus.errors import ModelError, UnreadablePdfError
from peercorpus.models.answers import Answers, key_of
from peercorpus.models.endpoint import Endpoint, ModelSettings, UnansweredError
from peercorpus.pdf import open_pdf, page_text
from peercorpus.texts.agreement import agreement, words
from peercorpus.texts.engine import Converted
from peercorpus.texts.heavier import as_converted
from peercorpus.texts.layout.reading import PdfiumLayout
from peercorpus.texts.page_images import render, some_pages, to_png
from peercorpus.texts.settings import DEFAULT_SETTINGS, KEY_VARIABLE, EngineSettings

OWN_VERSION = "1"
DPI = 150
"""Letters of 7 points are 15 pixels high; twice as many pixels make four times as many tokens."""

LEAST_AGREEMENT = 0.8
"""Of the answer with the text layer; below it the model has left out, made up or moved a fifth of the page."""
FEWEST_WORDS = 20
"""Words of a text layer against which an answer can be checked."""
MOST_ANCHOR = 8_000
"""Characters of the text layer in the prompt; a dense page has 7,000."""
MOST_FAILED = 3
"""Pages in a row without an answer, from which on it is the endpoint that fails and not the page."""

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
    """What became of one page.

    Attributes:
        problem: Why the model's text was not taken, or not checked; None where it was taken and checked.
        is_read: Whether the model's text was taken.
    """

    markdown: str
    problem: str | None
    is_read: bool


class Vision:
    """Asks a model for each page; where its words are not those of the text layer, our own text stands."""

    name = "vision"

    def __init__(
        self, settings: EngineSettings = DEFAULT_SETTINGS, transport: httpx2.BaseTransport | None = None
    ) -> None:
        """Take the endpoint's address and model; nothing is asked before the first page.

        Args:
            settings: Of the endpoint, its budget and its answers.
            transport: For tests.
        """
        self._settings, self._transport = settings, transport
        digest = hashlib.sha256(f"{PROMPT} {PdfiumLayout.version} {settings.model}".encode()).hexdigest()[:12]
        model = re.sub(r"[^A-Za-z0-9._-]+", "-", settings.model or "no-model")[:60]
        self.version = f"{OWN_VERSION}+{model}+{digest}"

    @classmethod
    def with_settings(cls, settings: EngineSettings) -> Self:
        """An engine that can be asked.

        Raises:
            ModelError: The address or the model is missing, or the key cannot be sent there.
        """
        Endpoint(_model(settings)).close()
        return cls(settings)

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: It is broken, encrypted, or no PDF.
            ModelError: The endpoint cannot be asked, or the budget is used up; all answers so far are kept.
        """
        settings = self._settings
        endpoint = Endpoint(_model(settings), self._transport)
        answers = Answers(settings.answers, settings.run, settings.most_pages, settings.most_tokens)
        try:
            pages = list(self._pages(pdf, endpoint, answers))
        finally:
            answers.close()
            endpoint.close()
        reasons = sorted({page.problem for page in pages if page.problem})
        told = [f"{reason}: page {', '.join(_numbers(pages, reason))}" for reason in reasons]
        unchecked = tuple(number for number, page in enumerate(pages, 1) if page.is_read and page.problem)
        return replace(as_converted([page.markdown for page in pages], told), ocr_pages=unchecked)

    def _pages(self, pdf: bytes, endpoint: Endpoint, answers: Answers) -> Iterator[_Page]:
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
                    said = _ask(endpoint, answers, layer, to_png(render(document[index], DPI)))
                except UnansweredError as error:
                    failed += 1
                    if failed >= min(MOST_FAILED, len(document)):
                        raise ModelError(
                            f"The vision endpoint did not answer {_in_a_row(failed)}, as it {error}; what it answered"
                            " before is kept: run the same command again later."
                        ) from None
                    yield _Page(_own(pdf, index), f"own text, as the endpoint {error}", is_read=False)
                    continue
                failed = 0
                yield _checked(said, layer, pdf, index)


def _model(settings: EngineSettings) -> ModelSettings:
    return ModelSettings(
        settings.url or "",
        settings.model or "",
        KEY_VARIABLE,
        settings.attempts,
        settings.first_wait_s,
        settings.timeout_s,
    )


def _in_a_row(pages: int) -> str:
    return "the page" if pages == 1 else f"{pages} pages in a row"


def _ask(endpoint: Endpoint, answers: Answers, layer: str, png: bytes) -> str:
    """What the model says of a page; a page that was answered once is not asked for again."""
    prompt = PROMPT + layer[:MOST_ANCHOR]
    key = key_of(endpoint.model, prompt, png)
    said = answers.find(key)
    if said is None:
        answers.reserve()
        image = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        answer = endpoint.ask([{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": image}}])
        said = answer.text
        answers.keep(key, said, answer.tokens)
    return without_fence(said)


def without_fence(text: str) -> str:
    r"""An answer without the code fence around it.

    >>> without_fence("```markdown\n# 1 Aims\n```")
    '# 1 Aims'
    """
    found = FENCED.fullmatch(text)
    return (found[1] if found else text).strip()


def _checked(said: str, layer: str, pdf: bytes, index: int) -> _Page:
    """The model's text where its words are those of the text layer, else our own."""
    if len(words(layer)) < FEWEST_WORDS:
        return _Page(said, "not checked, as there is no text layer" if said else None, is_read=True)
    if agreement(said, layer) >= LEAST_AGREEMENT:
        return _Page(said, None, is_read=True)
    own = _own(pdf, index)
    # Our own text has the order of the columns, which the text layer need not have.
    if agreement(said, own) >= LEAST_AGREEMENT:
        return _Page(said, None, is_read=True)
    return _Page(own, "own text, as the model's words differ from the text layer", is_read=False)


def _own(pdf: bytes, index: int) -> str:
    """Our own text of one page, read alone: in the whole file, a paragraph may stand on the page where it begins."""
    return PdfiumLayout().convert(some_pages(pdf, [index + 1])).markdown


def _numbers(pages: list[_Page], reason: str) -> list[str]:
    return [str(number) for number, page in enumerate(pages, 1) if page.problem == reason]
