"""What stands in the folder of a run, so that a run goes on where it was and anyone sees what went in."""

from pathlib import Path
from typing import Any

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.finetune.recipe import Recipe
from peercorpus.publish.release import digest_of

DATA, ADAPTER, CHECKPOINTS, MERGED, BENCH = "data", "adapter", "checkpoints", "merged", "bench"
BEFORE_AFTER = f"{BENCH}/before-after.md"
"""What the benchmark says of the base model and of the adapter."""
RUN = f"{DATA}/run.json"
"""Is there once the lessons are."""
LESSONS = "lessons.jsonl"
"""In `data`: every lesson that went in, one a line."""
LENGTHS = "lengths.md"
LOSSES = "losses.jsonl"
"""The loss of each step, and that on the validation side where it was measured."""
TRAINED = "trained.json"
"""Is there once the adapter is."""
LAUNCH_LOG = "launch.log"
"""What the processes of `accelerate` say."""


class Asked(msgspec.Struct, frozen=True):
    """What makes a run the one it is.

    Attributes:
        version: Of peercorpus.
        release: The sha256 of its manifest.
        prompts: Their digest.
        model: A folder, or a name on the Hugging Face Hub.
        weights: The sha256 over the files of a model in a folder; the commit of one of the Hub, empty if not known.
        tokenizer: The sha256 of the tokenizer and its chat template.
        leaves_out_long: Whether lessons that do not fit are left out.
    """

    version: str
    release: str
    prompts: str
    subject: str
    model: str
    weights: str
    tokenizer: str
    recipe: dict[str, Any]
    chosen: dict[str, Any]
    leaves_out_long: bool

    @property
    def revision(self) -> str | None:
        """The commit of a model of the Hub; None where it is in a folder, or not known."""
        return None if Path(self.model).is_dir() else self.weights or None

    def differences(self, other: "Asked") -> list[str]:
        """What differs in another run."""
        return [name for name in self.__struct_fields__ if getattr(self, name) != getattr(other, name)]


class RunFile(msgspec.Struct, frozen=True):
    """The file `data/run.json`.

    Attributes:
        lessons: Told on each side, weights counted in.
        papers: From which they are, by side.
        left_out: Papers, reviews and conversations that are not learnt from, by side and reason.
        fitness: What was checked of the release.
        licences: Papers to learn from by their licence; an empty name where none is stated.
        files: Those in `data` with their sha256.
    """

    asked: Asked
    lessons: dict[str, int]
    papers: dict[str, int]
    left_out: dict[str, dict[str, int]]
    fitness: dict[str, Any]
    licences: dict[str, int]
    files: dict[str, str]


class Trained(msgspec.Struct, frozen=True):
    """The file `trained.json`.

    Attributes:
        first: Loss on the validation side before the first step; None where nothing is held to it.
        last: The same after the last step.
    """

    steps: int
    first: float | None
    last: float | None


def read_run_file(folder: Path) -> RunFile | None:
    """The run in a folder; None where there is none yet.

    Raises:
        PeercorpusError: It cannot be read.
    """
    path = folder / RUN
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunFile) if path.exists() else None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeercorpusError(f"The run '{path}' cannot be read ({error}); name a new folder.") from None


def check_same(folder: Path, asked: Asked) -> RunFile | None:
    """The run in a folder, if it is the one that is asked for; None where there is none yet.

    Raises:
        PeercorpusError: The folder holds another run, or other files.
    """
    found = read_run_file(folder)
    if found is None:
        if folder.exists() and (not folder.is_dir() or any(path.name[0] != "." for path in folder.iterdir())):
            raise PeercorpusError(f"'{folder}' holds other files than a run's; name a new folder.")
        return None
    differing = found.asked.differences(asked)
    if differing:
        raise PeercorpusError(
            f"'{folder}' holds a run with another {differing[0]}; name a new folder, or delete that one."
        )
    return found


def run_of(folder: Path) -> RunFile:
    """The run in a folder.

    Raises:
        PeercorpusError: There is none, or it cannot be read.
    """
    found = read_run_file(folder)
    if found is None:
        raise PeercorpusError(f"'{folder}' holds no run of 'peercorpus finetune'.")
    return found


def recipe_of(folder: Path) -> Recipe:
    """The recipe of the run in a folder; errors are those of `run_of`."""
    return msgspec.convert(run_of(folder).asked.recipe, Recipe)


def trained_of(folder: Path) -> Trained:
    """What became of the training in a folder.

    Raises:
        PeercorpusError: It cannot be read.
    """
    path = folder / TRAINED
    try:
        return msgspec.json.decode(path.read_bytes(), type=Trained)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeercorpusError(f"'{path}' cannot be read ({error}); name a new folder.") from None


def check_data(folder: Path) -> None:
    """See that the lessons of a run are as they were written.

    Raises:
        PeercorpusError: A file is missing or another.
    """
    for name, sha256 in run_of(folder).files.items():
        path = folder / DATA / name
        if not path.is_file() or digest_of(path) != sha256:
            raise PeercorpusError(f"'{path}' is not as it was written; delete '{folder}' and run the same again.")
