"""`peercorpus export`: a release's tasks as the files of a trainer."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.app import AtLeastOne, app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.errors import PeercorpusError


@app.command
def export(
    release: Path,
    /,
    *,
    out: Path,
    layout: Annotated[Literal["jsonl", "trl", "llama-factory", "axolotl", "re2"], Parameter(name="--format")],
    task: Literal["review", "rebuttal"] | None = None,
    paper: Literal["text", "abstract"] | None = None,
    system: bool | None = None,
    max_characters: Annotated[int | None, AtLeastOne] = None,
) -> None:
    """Write what a release has to train, validate and test on, as files that a trainer opens as they stand.

    Parameters
    ----------
    release
        The folder that `peercorpus publish` wrote.
    out
        The folder to write; one that holds an earlier export is replaced.
    layout
        jsonl: the rows as they are; trl, llama-factory, axolotl: for these trainers; re2: Re²'s files and fields.
    task
        review: the paper, then a review; rebuttal: the exchange with a reviewer. Both, if none is named.
    paper
        What the user says first: the text that the reviewers read, or title and abstract (text).
    system
        Tell the model its part (--system).
    max_characters
        Cut a longer paper at the end of a paragraph; reviews and conversations stay whole.
    """
    from peercorpus import wording
    from peercorpus.publish.dialogues import Opening
    from peercorpus.publish.export import Layout, Wanted
    from peercorpus.publish.exporting import export as run_export
    from peercorpus.publish.splits import Task
    from peercorpus.publish.training_rows import Telling

    if layout == "jsonl" and (paper, system, max_characters) != (None, None, None):
        raise PeercorpusError(
            "--format jsonl writes the rows as they are; leave out --paper, --system and --max-characters."
        )
    telling = Telling(Opening(paper or "text"), system is not False, max_characters)
    wanted = Wanted(Layout(layout), (Task(task),) if task else (), telling)
    with ProgressLines() as lines:
        exported = run_export(release, out, wanted, lines.show)
    say(wording.exported(exported, out))
