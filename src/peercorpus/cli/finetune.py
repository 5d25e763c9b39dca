"""`peercorpus finetune`: a LoRA adapter learnt from a release, and how much it changes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import AtLeastOne, Named, app
from peercorpus.cli.bench import Unset
from peercorpus.cli.console import ProgressLines, say
from peercorpus.errors import PeercorpusError
from peercorpus.kinds import Grade

if TYPE_CHECKING:
    from peercorpus.finetune.choosing import Chosen

ShareOf1 = Parameter(validator=Number(gte=0, lte=1))


@dataclass(frozen=True, slots=True)
class Data:
    """What is learnt from, of the papers to train on.

    Parameters
    ----------
    venue
        The id of a venue or the name of a conference; may be given several times.
    year
        Of the venue; may be given several times.
    grade
        The worst grade of text to take; all of these are initial versions.
    min_words
        Of a review, or of the review that a conversation is about.
    max_words
        The same.
    min_confidence
        Of the reviewer, from 0 (the lowest answer of the form) to 1 (the highest).
    max_spread
        Highest less lowest recommendation of a paper, from 0 (they agree) to 1 (lowest and highest of the form).
    every_try
        Take all submissions of one work, instead of the one whose text is known best.
    weight
        How often to tell the lessons of a venue or conference, as NAME=NUMBER; 0.5 tells half of them; may be given
        several times.
    """

    venue: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()
    year: Annotated[tuple[int, ...], Parameter(negative=(), show_default=False)] = ()
    grade: Literal["exact", "exact_attachment", "unrevised"] = "unrevised"
    min_words: Annotated[int | None, AtLeastOne, Unset] = None
    max_words: Annotated[int | None, AtLeastOne, Unset] = None
    min_confidence: Annotated[float | None, ShareOf1, Unset] = None
    max_spread: Annotated[float | None, ShareOf1, Unset] = None
    every_try: Annotated[bool, Parameter(negative=())] = False
    weight: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = ()


ALL_DATA = Data()


@app.command
def finetune(
    *,
    release: Annotated[Path, Named],
    task: Literal["acceptance", "scores", "review", "rebuttal", "mixed"],
    model: str,
    out: Annotated[Path, Named],
    recipe: Annotated[Path | None, Named, Unset] = None,
    data: Annotated[Data, Parameter(name="*")] = ALL_DATA,
    leave_out_long: Annotated[bool, Parameter(negative=())] = False,
    lengths: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Tune a model with LoRA on a release, in the benchmark's own words; the same command again goes on.

    Only the papers to train on are learnt from; a release that parts linked papers is refused. How long the lessons
    are is shown first: papers are cut to fit, answers never.

    Parameters
    ----------
    release
        The folder that `peercorpus publish` wrote, with sides.
    task
        What is learnt; mixed: all four.
    model
        The base model: a folder, or a name on the Hugging Face Hub.
    out
        The folder of the run.
    recipe
        A TOML file with other settings than Re²'s; docs/finetune.md lists them.
    leave_out_long
        Leave out lessons whose answers do not fit into the context, instead of refusing to start.
    lengths
        Show how long the lessons are, and stop.
    """
    from peercorpus import wording_finetune
    from peercorpus.finetune.launching import tune
    from peercorpus.finetune.lessons import Subject
    from peercorpus.finetune.recipe import read_recipe
    from peercorpus.finetune.run import Wanted, prepare_run
    from peercorpus.finetune.run_files import trained_of

    wanted = Wanted(release, Subject(task), model, out, read_recipe(recipe), _chosen(data), leave_out_long)
    with ProgressLines() as lines:
        made = prepare_run(wanted, say, lines.show)
        if lengths:
            return
        say(wording_finetune.lessons(made))
        tune(out, lines.show)
    say(wording_finetune.tuned(out, trained_of(out)))


def _chosen(data: Data) -> "Chosen":
    from peercorpus.finetune.choosing import Chosen

    return Chosen(
        frozenset(data.venue),
        frozenset(data.year),
        Grade(data.grade),
        data.min_words or 0,
        data.max_words,
        data.min_confidence,
        data.max_spread,
        data.every_try,
        dict(_weight(said) for said in data.weight),
    )


def _weight(said: str) -> tuple[str, float]:
    name, _, number = said.rpartition("=")
    try:
        return name or _refuse(said), float(number)
    except ValueError:
        _refuse(said)


def _refuse(said: str) -> NoReturn:
    raise PeercorpusError(f"'{said}' is no weight; name a venue or conference and a number, as --weight iclr=2.")
