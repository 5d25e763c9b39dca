"""Define the files of a fine-tuning run, from which it can resume."""

import dataclasses
from pathlib import Path
from typing import Any

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.request import TuneRequest
from peercorpus.workspace.object_store import file_digest

DATA = "data"
ADAPTER = "adapter"
CHECKPOINTS = "checkpoints"
MERGED = "merged"
RUN = f"{DATA}/run.json"
"""Exists once the training examples are complete."""
EXAMPLES = "examples.jsonl"
"""File in `data`: every training example, one per line."""
LENGTHS = "lengths.md"
"""File in `data`: the table of example lengths."""
LOSSES = "losses.jsonl"
"""Loss of each step, and validation losses if measured."""
TRAINED = "trained.json"
"""Exists once the adapter is complete."""


class RunRequest(msgspec.Struct, frozen=True):
    """What a run is made from; a run in a folder is only resumed if this is equal.

    Attributes:
        version: Version of peercorpus.
        release: SHA-256 of the release's manifest.
        prompts: Digest of the prompts.
        weights: SHA-256 over the files of a model in a folder; for a model on the Hub its commit, empty if unknown.
        tokenizer: SHA-256 of the tokenizer and its chat template.
        request: The request, without the path of its recipe; a model in a folder has an absolute path.
        recipe: The recipe's settings.
    """

    version: str
    release: str
    prompts: str
    weights: str
    tokenizer: str
    request: TuneRequest
    recipe: Recipe

    @property
    def revision(self) -> str | None:
        """The commit of a model on the Hub; None if it is in a folder, or the commit is unknown."""
        return None if Path(self.request.model).is_dir() else self.weights or None

    def list_parts(self) -> dict[str, object]:
        """Return each option of the request and each other part, by name."""
        return dataclasses.asdict(self.request) | msgspec.structs.asdict(self)


class RunFile(msgspec.Struct, frozen=True):
    """The content of `data/run.json`.

    Attributes:
        examples: Number of examples by split.
        papers: Number of papers with examples, by split.
        left_out: Number of papers, reviews and conversations that are not used, by split and reason.
        fitness: Results of the release's checks.
        licences: Number of training papers by licence; an empty name if none is stated.
        files: Files in `data` with their SHA-256.
    """

    asked: RunRequest
    examples: dict[str, int]
    papers: dict[str, int]
    left_out: dict[str, dict[str, int]]
    fitness: dict[str, Any]
    licences: dict[str, int]
    files: dict[str, str]


class TrainingResult(msgspec.Struct, frozen=True):
    """The content of `trained.json`.

    Attributes:
        steps: Number of training steps.
        first: Validation loss before the first step; None if there are no validation examples, or it is unknown.
        last: Validation loss after the last step; None if there are no validation examples.
        kept: Step of the resulting adapter: the one with the lowest validation loss, or otherwise the last.
        kept_loss: Validation loss after that step; None if there are no validation examples.
    """

    steps: int
    first: float | None
    last: float | None
    kept: int | None = None
    kept_loss: float | None = None


def read_run_file(folder: Path) -> RunFile | None:
    """Read the run in a folder, or return None if there is none yet.

    Raises:
        PeercorpusError: The file cannot be read.
    """
    path = folder / RUN
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunFile) if path.exists() else None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeercorpusError(f"The run '{path}' cannot be read ({error}); name a new folder.") from None


def check_same(folder: Path, asked: RunRequest) -> RunFile | None:
    """Return the run in a folder if it is the requested one, or None if there is none yet.

    Raises:
        PeercorpusError: The folder contains a different run, or other files.
    """
    run = read_run_file(folder)
    if run is None:
        if folder.exists() and (not folder.is_dir() or any(path.name[0] != "." for path in folder.iterdir())):
            raise PeercorpusError(f"'{folder}' contains files that do not belong to a run; name a new folder.")
        return None
    if run.asked != asked:
        there, wanted = run.asked.list_parts(), asked.list_parts()
        differing = next(name for name in there if there[name] != wanted[name])
        raise PeercorpusError(
            f"'{folder}' contains a run with a different {differing}; name a new folder, or delete that one."
        )
    return run


def load_run(folder: Path) -> RunFile:
    """Read the run in a folder.

    Raises:
        PeercorpusError: There is none, or it cannot be read.
    """
    run = read_run_file(folder)
    if run is None:
        raise PeercorpusError(f"'{folder}' contains no run of 'peercorpus finetune'; name the folder of one.")
    return run


def load_trained(folder: Path) -> TrainingResult:
    """Read the results of training in a folder.

    Raises:
        PeercorpusError: The file cannot be read.
    """
    path = folder / TRAINED
    try:
        return msgspec.json.decode(path.read_bytes(), type=TrainingResult)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PeercorpusError(f"'{path}' cannot be read ({error}); name a new folder.") from None


def check_data(folder: Path) -> None:
    """Check that the examples of a run have not changed since they were written.

    Raises:
        PeercorpusError: A file is missing or different.
    """
    for name, sha256 in load_run(folder).files.items():
        path = folder / DATA / name
        if not path.is_file() or file_digest(path) != sha256:
            raise PeercorpusError(
                f"'{path}' has changed since it was written; delete '{folder}' and run the same command again."
            )
