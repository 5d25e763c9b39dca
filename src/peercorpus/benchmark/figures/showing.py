"""Add the chosen images to the question of a sample when it is sent, so that neither memory nor log contains them."""

import asyncio
import base64
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from inspect_ai.model import ChatMessageUser, Content, ContentImage, ContentText, GenerateConfig, Model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from peercorpus.benchmark.figures.choice import FigureChoice, ShownFigure, open_figures
from peercorpus.benchmark.messages import BEFORE_IMAGE, INTRODUCTION
from peercorpus.errors import PeercorpusError
from peercorpus.models.chat_messages import escape_markers

FIGURES = "figures"
"""Key of a sample's metadata that names the images of its question."""
PAPER_MESSAGE = 1
"""Index of the message that shows the paper, after the system message."""
SIGHT_QUESTION = "Is there an image in this message? Answer with one word."
SIGHT_TOKENS = 64
"""Maximum tokens of the answer to that question, which is ignored."""


def read_choice(metadata: dict[str, Any]) -> FigureChoice | None:
    """Return the images of a sample's question; None if it was asked without."""
    return msgspec.convert(metadata[FIGURES], FigureChoice) if FIGURES in metadata else None


def _read_images(release: Path, sha256: str, forum_id: str, choice: FigureChoice) -> Iterator[tuple[str, str]]:
    """Yield the line before each image, and the image as a data URI.

    Raises:
        PeercorpusError: The release lacks the chosen image.
    """
    rows = {row["number"]: row for row in open_figures(release, sha256).read(forum_id)}
    for number, figure in enumerate(choice.shown, 1):
        row = rows.get(figure.number)
        if row is None or hashlib.sha256(row["image"]["bytes"]).hexdigest() != figure.sha256:
            raise PeercorpusError(
                f"The release '{release}' changed while '{figure.label}' of '{forum_id}' was in use; run the same"
                " command again."
            )
        caption = escape_markers(row["caption"] or figure.label)
        line = BEFORE_IMAGE.format(number=number, count=len(choice.shown), page=figure.page, caption=caption)
        yield line, f"data:image/{row['format']};base64,{base64.b64encode(row['image']['bytes']).decode()}"


@solver
def show_figures(release: str, sha256: str) -> Solver:
    """Add the chosen images to the message that shows the paper, each after its page and caption.

    Args:
        release: Folder of the release.
        sha256: Digest of its manifest.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 -- the protocol's own
        choice = read_choice(state.metadata)
        if choice is not None and choice.shown:
            asked = state.messages[PAPER_MESSAGE]
            content: list[Content] = [ContentText(text=f"{asked.text}\n\n{INTRODUCTION}")]
            for line, image in _read_images(Path(release), sha256, state.metadata["forum_id"], choice):
                content += [ContentText(text=line), ContentImage(image=image)]
            state.messages[PAPER_MESSAGE] = ChatMessageUser(content=content)
        return state

    return solve


def ask_about_image(model: Model, release: Path, sha256: str, samples: Iterable[Any]) -> None:
    """Ask one short question with the smallest image of some samples; raise whatever the provider raises.

    Args:
        model: The model, for this one question.
        release: Folder of the release.
        sha256: Digest of its manifest.
        samples: Samples of `inspect_ai`, at least one of which has images.

    Raises:
        RuntimeError: The model's service answered with an error.
    """
    forum_id, smallest = min(_list_images(samples), key=lambda found: found[1].size_bytes)
    ((_, image),) = _read_images(release, sha256, forum_id, FigureChoice((smallest,)))
    content: list[Content] = [ContentText(text=SIGHT_QUESTION), ContentImage(image=image)]
    config = GenerateConfig(max_tokens=SIGHT_TOKENS, max_retries=1)
    output = asyncio.run(model.generate([ChatMessageUser(content=content)], config=config))
    if output.error is not None:
        raise RuntimeError(output.error)


def _list_images(samples: Iterable[Any]) -> Iterator[tuple[str, ShownFigure]]:
    for sample in samples:
        choice = read_choice(sample.metadata)
        for figure in choice.shown if choice is not None else ():
            yield sample.metadata["forum_id"], figure
