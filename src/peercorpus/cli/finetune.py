"""`peercorpus finetune`: a LoRA adapter learnt from a release, and how much it changes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

from cyclopts import Parameter
from cyclopts.validators import Number

from peercorpus.cli.app import AtLeastOne, Named, app
from peercorpus.cli.bench import RESAMPLES, Unset, display, needs_extra, tell_missing
from peercorpus.cli.console import ProgressLines, say
from peercorpus.cli.spreading import HERE, Spreading
from peercorpus.errors import PeercorpusError
from peercorpus.kinds import Grade

if TYPE_CHECKING:
    from peercorpus.finetune.choosing import Chosen
    from peercorpus.finetune.run import Wanted
    from peercorpus.spread import Spread

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
    trainer: Annotated[Literal["llama-factory", "axolotl"] | None, Parameter(name="--for"), Unset] = None,
    merge: Annotated[bool, Parameter(negative=())] = False,
    evaluate: Annotated[bool, Parameter(negative=())] = False,
    limit: Annotated[int | None, AtLeastOne, Unset] = None,
    spreading: Spreading = HERE,
) -> int:
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
        A TOML file with other settings than Re²'s; docs/recipe.md lists them.
    leave_out_long
        Leave out lessons whose answers do not fit into the context, instead of refusing to start.
    lengths
        Show how long the lessons are, and stop.
    trainer
        Write the lessons and the settings for this trainer, to OUT/llama-factory or OUT/axolotl, and stop.
    merge
        Also write the model with the adapter merged into it, to OUT/merged.
    evaluate
        Ask the model before and after, on the papers to test on, and print both in one table; logs are in OUT/bench.
    limit
        Evaluate on the first so many cases of each task only: those of one venue, as a rule, so no fair sample.
    """
    from peercorpus.finetune.lessons import Subject
    from peercorpus.finetune.recipe import read_recipe
    from peercorpus.finetune.run import Wanted

    then = Then(lengths, trainer, merge, evaluate, limit)
    then.check()
    spread = spreading.settle()
    wanted = Wanted(release, Subject(task), model, out, read_recipe(recipe), _chosen(data), leave_out_long)
    with ProgressLines() as lines:
        if then.trainer is not None:
            return _for_trainer(wanted, then.trainer, lines, spread)
        return _tune(wanted, then, lines, spread)


@dataclass(frozen=True, slots=True)
class Then:
    """What becomes of the lessons."""

    lengths: bool
    trainer: str | None
    merge: bool
    evaluate: bool
    limit: int | None

    def check(self) -> None:
        """See that what is asked for goes together."""
        stops = "--lengths" if self.lengths else f"--for {self.trainer}" if self.trainer else None
        if stops and (self.merge or self.evaluate):
            raise PeercorpusError(f"{stops} trains nothing that could be merged or evaluated; leave one of them out.")
        if self.lengths and self.trainer:
            raise PeercorpusError("--for shows how long the lessons are as well; leave out --lengths.")
        if self.limit is not None and not self.evaluate:
            raise PeercorpusError("--limit is of --evaluate; add that, or leave --limit out.")


def _for_trainer(wanted: "Wanted", named: str, lines: ProgressLines, spread: "Spread") -> int:
    from peercorpus.finetune.for_trainers import write_for
    from peercorpus.finetune.trainer_settings import Trainer
    from peercorpus.wording_finetune import handed_over

    trainer = Trainer(named)
    folder = write_for(wanted, trainer, say, lines.show, spread)
    say(handed_over(folder, trainer))
    return 0


def _tune(wanted: "Wanted", then: Then, lines: ProgressLines, spread: "Spread") -> int:
    from peercorpus import wording_finetune
    from peercorpus.finetune.card import write_card
    from peercorpus.finetune.launching import tune
    from peercorpus.finetune.run import prepare_run
    from peercorpus.finetune.run_files import trained_of

    made = prepare_run(wanted, say, lines.show, spread=spread)
    if then.lengths:
        return 0
    say(wording_finetune.lessons(made))
    if then.evaluate:
        with needs_extra():
            from peercorpus.finetune.evaluating import check_evaluation
        check_evaluation(wanted.out, wanted.release, then.limit)
    tune(wanted.out, lines.show)
    write_card(wanted.out)
    say(wording_finetune.tuned(wanted.out, trained_of(wanted.out)))
    if then.merge:
        with needs_extra("finetune"):
            from peercorpus.finetune.merging import merge
        say(f"The merged model is {merge(wanted.out)}.")
    return _evaluate(wanted, then, lines) if then.evaluate else 0


def _evaluate(wanted: "Wanted", then: Then, lines: ProgressLines) -> int:
    from peercorpus.finetune.card import write_card
    from peercorpus.finetune.evaluating import evaluate

    found = evaluate(wanted.out, wanted.release, then.limit, RESAMPLES, display(), lines.show)
    write_card(wanted.out)
    say(found.markdown)
    tell_missing(found.notes, found.errors, is_whole=found.is_whole)
    return 0 if found.is_whole else 1


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
        _weights(data.weight),
    )


def _weights(said: tuple[str, ...]) -> dict[str, float]:
    weights = dict(_weight(one) for one in said)
    if len(weights) < len(said):
        raise PeercorpusError("One name has two weights; give each venue or conference one --weight.")
    return weights


def _weight(said: str) -> tuple[str, float]:
    name, _, number = said.rpartition("=")
    try:
        return name or _refuse(said), float(number)
    except ValueError:
        _refuse(said)


def _refuse(said: str) -> NoReturn:
    raise PeercorpusError(f"'{said}' is no weight; name a venue or conference and a number, as --weight iclr=2.")
