"""Which language model is asked, where a command asks one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.errors import ModelError

if TYPE_CHECKING:
    from peercorpus.publish.titles import Titler


@contextmanager
def settle_titler(
    workspace: Path, url: str | None, model: str | None, most_questions: int, *, is_asked: bool
) -> "Iterator[Titler | None]":
    """What gives titles; None where no model is asked.

    Args:
        workspace: Its folder keeps the answers.
        url: Of the model's endpoint.
        model: Its name there.
        most_questions: That the run may ask.
        is_asked: Whether a model gives the titles.

    Raises:
        ModelError: Address or name is missing, or given though no model is asked.
    """
    from uuid import uuid4

    from peercorpus.models.endpoint import ModelSettings
    from peercorpus.publish.titles import KEY_VARIABLE, Titler

    if not is_asked:
        if url is not None or model is not None:
            raise ModelError("A model is named, but no titles are asked of it; add --titles model.")
        yield None
        return
    if not url or not model:
        raise ModelError("To have titles by a model, name its endpoint with --model-url and the model with --model.")
    settings = ModelSettings(url, model, KEY_VARIABLE)
    titler = Titler.of(settings, workspace / "answers.db", uuid4().hex, most_questions)
    try:
        yield titler
    finally:
        titler.close()
