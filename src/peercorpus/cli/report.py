"""`peercorpus report`: statistics and figures of a workspace or a release."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from peercorpus.cli.app import app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.cli.spreading import HERE, Spreading
from peercorpus.errors import PeercorpusError


@app.command
def report(
    *,
    workspace: Annotated[Path, Parameter(name=["--workspace", "-w"])],
    out: Path,
    where: Annotated[tuple[str, ...], Parameter(show_default=False, negative=())] = (),
    tokenizer: str | None = None,
    spreading: Spreading = HERE,
) -> None:
    """Draw the statistics of a corpus: one page, and each figure as PDF, SVG, PNG and CSV.

    Parameters
    ----------
    workspace
        A workspace, or the folder of a release.
    out
        The folder to write; one that holds an earlier report is replaced.
    where
        Only papers that meet a condition: year>=2023, conference=iclr, status=rejected, grade=exact, rating>=6,
        keyword="large models", has_rebuttal=yes, score_changed=no. Repeat it for more: all must hold, and any of
        several with one name and "=".
    tokenizer
        Count tokens with it: a file tokenizer.json, a folder with one, or a model on the Hugging Face Hub. Without,
        words and signs are counted.
    """
    from peercorpus.report.page import PAGE
    from peercorpus.report.run import write_report
    from peercorpus.wording import plural

    if spreading != HERE and tokenizer is None:
        raise PeercorpusError(
            "Only counting the tokens of a tokenizer is spread; name one with --tokenizer, or leave --executor,"
            " --address and --workers out."
        )
    # The tokenizers' own threads use all cores of this machine.
    spread = None if spreading == HERE else spreading.settle()
    with ProgressLines() as lines:
        made = write_report(workspace, out, where, tokenizer, lines.show, spread)
    chosen = f"{made.papers:,} of {plural(made.every, 'paper')}" if where else plural(made.papers, "paper")
    say(f"Drew {plural(made.figures, 'figure')} of {chosen}.")
    for title, why in made.empty:
        say(f"  nothing to draw in '{title}': {why}")
    say(f"Open {out / PAGE} in a browser; the figures and their numbers lie beside it.")
