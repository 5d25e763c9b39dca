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
from peercorpus.release.request import ReleaseRequest

MAX_QUESTIONS = 1_000
"""Maximum number of questions to a model in one run, unless the user sets another."""


@contextmanager
def choose_models(workspace: Path, request: ReleaseRequest) -> Iterator[tuple[Titler | None, Annotator | None]]:
    """Open the model that gives titles and labels points while a release is written; None for a part not chosen.

    Args:
        workspace: Folder of the workspace; its `answers.db` stores the model's answers.
        request: What the release shall contain.

    Raises:
        ModelError: The URL or the name of the model is missing.
    """
    if not request.asks_model:
        yield None, None
        return
    if not request.model_url or not request.model:
        raise ModelError(
            "--titles model and --points model need the model's endpoint (--model-url) and its name there (--model)."
        )
    settings = ModelSettings(request.model_url, request.model, MODEL_KEY_VARIABLE)
    asked = AskedModel.of(settings, workspace / "answers.db", uuid4().hex, request.max_questions or MAX_QUESTIONS)
    try:
        yield (
            Titler(asked) if request.titles == "model" else None,
            Annotator(asked) if request.points == "model" else None,
        )
    finally:
        asked.close()
