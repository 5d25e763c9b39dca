"""`peercorpus dialogues`: conversations as training data."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.app import WorkspaceFolder, app
from peercorpus.cli.console import ProgressLines, say

if TYPE_CHECKING:
    from peercorpus.dialogues import View
    from peercorpus.publish.dialogues import Format


SAME_TEXTS = 64
"""Texts whose number of tokens is remembered."""


@app.command
def dialogues(
    venue_ids: Annotated[
        list[str] | None, Parameter(name="VENUE_ID", help="All venues built, if none is named.")
    ] = None,
    /,
    *,
    workspace: WorkspaceFolder,
    out: Path,
    rendering: Annotated[Literal["messages", "sharegpt", "axolotl", "re2"], Parameter(name="--format")] = "messages",
    assistant: Literal["reviewer", "author"] = "reviewer",
    paper: Literal["none", "abstract", "text"] = "abstract",
    others: Literal["context", "leave"] = "context",
    responses: bool = True,
    system: bool = True,
    unanswered: Annotated[bool, Parameter(negative=())] = False,
    tokenizer: str | None = None,
) -> None:
    """Write conversations as training data: user and assistant in strict alternation.

    Parameters
    ----------
    out
        The file to write: an array if its name ends with .json, else an object a line.
    rendering
        messages: OpenAI's and TRL's; sharegpt: LLaMA-Factory's; axolotl: its chat template; re2: Re²'s field names.
    assistant
        The side that the model takes; the other one is the user.
    paper
        What the user says first: nothing, title and abstract, or the text that the reviewers read.
    others
        What chairs, the public and other reviewers say: context in a marked block, or left out.
    responses
        Show responses to all reviewers in a marked block.
    system
        Tell the model its part.
    unanswered
        Keep what the user says last, though nobody answers it.
    tokenizer
        Count tokens with it: a file tokenizer.json, a folder with one, or a model on the Hugging Face Hub.
    """
    from peercorpus import wording
    from peercorpus.pipeline import require_built
    from peercorpus.publish.dialogues import write_dialogues
    from peercorpus.publish.run import choose_venues
    from peercorpus.workspace import open_workspace

    view = _view(assistant, paper, others, responses=responses, system=system, unanswered=unanswered)
    chosen = _format(view, rendering, paper, tokenizer)
    with ProgressLines() as lines, open_workspace(workspace, write=False) as opened:
        require_built(opened, venue_ids or ())
        venues = choose_venues(opened.tables, venue_ids or None)
        written = write_dialogues(opened, out, chosen, venues, lines.show)
    say(wording.dialogues(written, out))


def _view(assistant: str, paper: str, others: str, *, responses: bool, system: bool, unanswered: bool) -> "View":
    from peercorpus.dialogues import Others, View
    from peercorpus.errors import PeercorpusError
    from peercorpus.kinds import Role
    from peercorpus.publish.dialogues import SYSTEM

    side = Role(assistant)
    if side is Role.REVIEWER and paper == "none":
        raise PeercorpusError("A reviewer speaks first, so name an opening: --paper abstract or --paper text.")
    told = SYSTEM[side] if system else None
    return View(side, Others(others), with_responses=responses, ends_answered=not unanswered, system=told)


def _format(view: "View", rendering: str, paper: str, tokenizer: str | None) -> "Format":
    from peercorpus.publish.dialogues import Format, Opening
    from peercorpus.publish.renderings import Rendering
    from peercorpus.publish.tokens import load_counter

    # The conversations about a paper open with the same text, which is most of them.
    counter = lru_cache(maxsize=SAME_TEXTS)(load_counter(tokenizer)) if tokenizer is not None else None
    return Format(view, Rendering(rendering), Opening(paper), counter)
