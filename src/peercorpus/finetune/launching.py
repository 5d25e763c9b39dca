"""Tuning on one device here, or on several by `accelerate`, each of which runs `peercorpus.finetune.worker`."""

import subprocess
import sys
from pathlib import Path

from peercorpus.errors import MissingExtraError, PeercorpusError
from peercorpus.finetune.run_files import LAUNCH_LOG, TRAINED, check_data, recipe_of
from peercorpus.progress import Meter, Show

PROGRESS, ERROR = "progress", "error"
"""What a line of the worker begins with: how much of how much is done of what, or why it ends."""


def tune(folder: Path, show: Show) -> None:
    """Tune the model of a run, from its last checkpoint on; a run that is done stays as it is.

    Args:
        folder: Of the run, with its lessons.
        show: Told how many steps are done.

    Raises:
        MissingExtraError: A package is not installed.
        PeercorpusError: The model cannot be loaded or tuned so, the processes broke off, or a file of lessons is not as
            it was written.
    """
    if (folder / TRAINED).exists():
        return
    check_data(folder)
    recipe = recipe_of(folder)
    if recipe.accelerate is not None:
        _launch(folder, recipe.accelerate, show)
        return
    try:
        from peercorpus.finetune.training import train
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "trl", "finetune") from None
    train(folder, show)


def _launch(folder: Path, configuration: str, show: Show) -> None:
    command = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", configuration]
    command += ["-m", "peercorpus.finetune.worker", str(folder)]
    with (
        (folder / LAUNCH_LOG).open("wb") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, encoding="utf-8") as process,
    ):
        said = _listen(process, show)
    if process.returncode:
        raise PeercorpusError(
            said
            or f"The processes of accelerate broke off (exit code {process.returncode}): see '{folder / LAUNCH_LOG}',"
            " then run the same command again to go on."
        )


def _listen(process: "subprocess.Popen[str]", show: Show) -> str:
    """Show how far the worker is; the error that it ends with, or nothing."""
    said, meter = "", None
    for line in process.stdout or ():
        kind, _, rest = line.rstrip("\n").partition(" ")
        if kind == ERROR:
            said = rest
        elif kind == PROGRESS:
            done, total, what = rest.split(" ", 2)
            if meter is None or meter.what != what:
                meter = Meter("training", what, show, done=int(done))
            meter.report(int(done), int(total))
    return said
