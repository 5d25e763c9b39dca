"""Open the model that gives titles to turns and labels points, while a release is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from peercorpus.errors import ModelError
from peercorpus.models.asked_model import MODEL_KEY_VARIABLE, AskedModel
from peercorpus.models.endpoint import ModelSettings
from peercorpus.release.by_model.annotator import Annotator
from peercorpus.release.by_model.turn_titles import Titler

MAX_QUESTIONS = 1_000
"""Maximum number of questions to a model in one run, unless the user sets another."""


@contextmanager
def choose_models(
    workspace: Path, url: str | None, model: str | None, max_questions: int | None, *, titles: bool, points: bool
) -> Iterator[tuple[Titler | None, Annotator | None]]:
    """Open the model that gives titles and labels points while a release is written; None for a part not chosen.

    Args:
        workspace: Folder of the workspace; its `answers.db` stores the model's answers.
        url: URL of the model's endpoint.
        model: Name of the model at the endpoint.
        max_questions: Maximum number of questions to ask in this run; None means `MAX_QUESTIONS`.
        titles: Whether the user chose titles by a model.
        points: Whether the user chose points by a model.

    Raises:
        ModelError: URL or name is missing, or was given although no model is used.
    """
    if not titles and not points:
        if (url, model, max_questions) != (None, None, None):
            raise ModelError(
                "--model, --model-url and --max-questions need --titles model or --points model; add one, or leave"
                " them out."
            )
        yield None, None
        return
    if not url or not model:
        raise ModelError(
            "--titles model and --points model need the model's endpoint (--model-url) and its name there (--model)."
        )
    settings = ModelSettings(url, model, MODEL_KEY_VARIABLE)
    asked = AskedModel.of(settings, workspace / "answers.db", uuid4().hex, max_questions or MAX_QUESTIONS)
    try:
        yield Titler(asked) if titles else None, Annotator(asked) if points else None
    finally:
        asked.close()
