"""One run: see that the release is fit, choose and write the lessons, tune, and go on where it was broken off."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

import msgspec

from peercorpus import prompts
from peercorpus.benchmark.weights import TOKENIZER, find_weights
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.finetune.choosing import Chosen, choose
from peercorpus.finetune.encoding import load_encoder
from peercorpus.finetune.fitness import check_fit
from peercorpus.finetune.fitting import Fitting
from peercorpus.finetune.lengths import check_lengths, check_window
from peercorpus.finetune.lessons import Subject
from peercorpus.finetune.preparing import Prepared, Sink, drop, keep, prepare
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.run_files import DATA, LENGTHS, RUN, Asked, RunFile, check_same
from peercorpus.progress import Show, show_nothing
from peercorpus.publish.opened import Release, open_release
from peercorpus.publish.release import check_outside
from peercorpus.publish.splits import Side
from peercorpus.spread import Spread

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run shall do.

    Attributes:
        model: A folder, or a name on the Hugging Face Hub.
        out: The folder of the run.
        leaves_out_long: Whether lessons that do not fit into the context are left out, instead of refused.
    """

    release: Path
    subject: Subject
    model: str
    out: Path
    recipe: Recipe = field(default_factory=Recipe)
    chosen: Chosen = field(default_factory=Chosen)
    leaves_out_long: bool = False


def _model(named: str) -> str:
    """A folder by its whole path: the adapter is of it wherever it is loaded from."""
    return str(Path(named).resolve()) if Path(named).is_dir() else named


def _weights(named: str) -> str:
    found = find_weights(named)
    if found is not None and found.base is not None:
        raise ModelError(f"'{named}' is an adapter; name its base model, or a model with the adapter merged into it.")
    return _commit(named) if found is None else found.digest


def _commit(named: str) -> str:
    """The commit of a model of the Hub whose tokenizer has been loaded; empty where nothing tells it."""
    from huggingface_hub import try_to_load_from_cache

    held = try_to_load_from_cache(named, TOKENIZER)
    return Path(held).parent.name if isinstance(held, str) else ""


def _asked(wanted: Wanted, release: Release, tokenizer: str) -> Asked:
    return Asked(
        version("peercorpus"),
        release.sha256,
        prompts.DIGEST,
        wanted.subject.value,
        _model(wanted.model),
        _weights(wanted.model),
        tokenizer,
        msgspec.to_builtins(wanted.recipe),
        msgspec.to_builtins(wanted.chosen, order="sorted"),
        wanted.leaves_out_long,
    )


def prepare_run(
    wanted: Wanted, say: Say, show: Show = show_nothing, sink: Sink | None = None, spread: Spread | None = None
) -> RunFile:
    """Write the lessons of a run and say how long they are; what an earlier call wrote stands.

    Args:
        wanted: The run.
        say: Told the table of lengths.
        show: Told how many papers are read.
        sink: Gets every lesson as it is told; where one is given, lessons that stand already are made again for it.
        spread: Over which processes lessons are made to fit; None makes all here.

    Raises:
        PeercorpusError: The release may not be learnt from, nothing is left to learn, an answer would be cut, or the
            folder holds something else.
    """
    wanted.chosen.check(wanted.subject)
    release = open_release(wanted.release)
    check_outside(wanted.out, wanted.release)
    encoder = load_encoder(_model(wanted.model))
    asked = _asked(wanted, release, encoder.digest)
    fitting = Fitting(encoder, wanted.recipe, spread)
    found = check_same(wanted.out, asked)
    if found is not None:
        say((wanted.out / DATA / LENGTHS).read_text("utf-8").rstrip())
        if sink is not None:
            choice = choose(release, wanted.chosen)
            again = prepare(choice, wanted.subject.tasks, fitting, wanted.out, show, sink)
            drop(wanted.out)
            if again.files != found.files:
                raise PeercorpusError(
                    f"'{wanted.release}' has other lessons than '{wanted.out}' was made of: a file of it has changed,"
                    " which 'peercorpus verify' shows; publish it again."
                )
        return found
    fitness = check_fit(release)
    choice = choose(release, wanted.chosen)
    try:
        prepared = prepare(choice, wanted.subject.tasks, fitting, wanted.out, show, sink)
        _check(prepared, wanted, say)
        check_window(prepared.lengths, wanted.model, encoder.window)
    except PeercorpusError:
        drop(wanted.out)
        raise
    made = RunFile(
        asked,
        {side.value: prepared.lessons[side] for side in prepared.taken},
        {side.value: len(papers) for side, papers in prepared.papers.items()},
        {side.value: _most_first(taken.left_out) for side, taken in prepared.taken.items()},
        asdict(fitness),
        _licences(release, prepared.papers[Side.TRAIN]),
        prepared.files,
    )
    (wanted.out / f".{RUN}").write_bytes(msgspec.json.format(msgspec.json.encode(made), indent=1))
    keep(wanted.out)
    return made


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Reasons by how often they hold, then by name: which was met first depends on how the lessons were spread."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _check(prepared: Prepared, wanted: Wanted, say: Say) -> None:
    left_out = prepared.taken[Side.TRAIN].left_out
    if not prepared.lessons[Side.TRAIN] and not any(one.too_long for one in prepared.lengths.values()):
        why = "; ".join(f"{reason}: {count:,}" for reason, count in left_out.most_common(3)) or "it has no such paper"
        raise PeercorpusError(f"Nothing of '{wanted.release}' is left to learn from ({why}); choose less narrowly.")
    unmet = sorted({*wanted.chosen.venues, *wanted.chosen.weights} - prepared.venues)
    if unmet:
        raise PeercorpusError(
            f"Nothing to learn from is of '{unmet[0]}', which was named; look how the release names it."
        )
    say((wanted.out / f".{DATA}" / LENGTHS).read_text("utf-8").rstrip())
    if not wanted.leaves_out_long:
        check_lengths(prepared.lengths, wanted.recipe.context)


def _licences(release: Release, papers: set[str]) -> dict[str, int]:
    rows = release.rows("papers", None, ("forum_id", "licence"))
    return dict(Counter(row["licence"] or "" for row in rows if row["forum_id"] in papers).most_common())
