"""What a user may set for the PDF engines; small enough to send to another process, and free of secrets."""

from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from peercorpus.errors import EngineError
from peercorpus.stage import Options

KEY_VARIABLE = "PEERCORPUS_VISION_KEY"
"""The environment variable that holds the key of a vision endpoint; it is read nowhere else from."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What engines may be told.

    Attributes:
        ocr: "off", or "auto": pages without readable text are recognised from their image.
        heavier: The engine to which `auto` sends what the default engine reads badly; None takes OCR where it is
            installed.
        models: Folder of the models of a heavier engine; None leaves it to the library, which may download them.
        url: Of a vision endpoint, up to and with `/v1`.
        model: Its model.
        most_pages: Pages a run may send there.
        most_tokens: Tokens a run may use there, as the endpoint counts them; None means no limit.
        answers: File that keeps the endpoint's answers, and what was spent; None keeps them in memory.
        run: Which run it is: pages and tokens are counted for each.
        attempts: How often one page is asked for, the first time included.
        first_wait_s: Before the second time; it doubles from there.
        timeout_s: Seconds one answer may take.
    """

    ocr: str = "off"
    heavier: str | None = None
    models: Path | None = None
    url: str | None = None
    model: str | None = None
    most_pages: int = 1_000
    most_tokens: int | None = None
    answers: Path | None = None
    run: str = ""
    attempts: int = 5
    first_wait_s: float = 1.0
    timeout_s: float = 120.0


DEFAULT_SETTINGS = EngineSettings()


def settings_of(options: Options, answers: Path | None = None) -> EngineSettings:
    """What a build or a conversion tells its engine.

    Args:
        options: As the user set them.
        answers: File that keeps what a vision endpoint answered; asked for only where there is such an endpoint.

    Raises:
        EngineError: There should be an endpoint, and none is named.
    """
    if "vision" in {options.engine, options.heavier} and not (options.engine_url and options.engine_model):
        raise EngineError(
            "The vision engine needs --engine-url, the address of an endpoint up to '/v1', and --engine-model."
        )
    known = EngineSettings(options.ocr, options.heavier, options.models)
    if options.engine_url is None and options.engine_model is None:
        return known
    return replace(
        known,
        url=options.engine_url,
        model=options.engine_model,
        most_pages=known.most_pages if options.most_pages is None else options.most_pages,
        most_tokens=options.most_tokens,
        answers=answers,
        run=uuid4().hex,
    )
