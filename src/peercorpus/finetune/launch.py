"""Train in this process, or on several devices in processes started by accelerate.

Run as a module, this file is the worker that accelerate starts; it reports to its parent on standard output.
"""

import os
import subprocess
import sys
from pathlib import Path

from peercorpus.errors import MissingExtraError, PeercorpusError
from peercorpus.execution.progress import Meter, Show
from peercorpus.finetune.run_folder import LAUNCH_LOG, TRAINED, check_data, load_recipe

PROGRESS = "progress"
"""First word of a worker's progress line: done, total and unit."""
ERROR = "error"
"""First word of a worker's line with its final error message."""


def tune(folder: Path, show: Show) -> None:
    """Train the model of a run, resuming from its last checkpoint; a finished run is left unchanged.

    Args:
        folder: Folder of the run, with its examples.
        show: Receives the number of steps done.

    Raises:
        MissingExtraError: A package is not installed.
        PeercorpusError: The model cannot be loaded or trained with this recipe, the processes failed, or a file of
            examples has changed.
    """
    if (folder / TRAINED).exists():
        return
    check_data(folder)
    recipe = load_recipe(folder)
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
    command += ["-m", "peercorpus.finetune.launch", str(folder)]
    with (
        (folder / LAUNCH_LOG).open("wb") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, encoding="utf-8") as process,
    ):
        error = _listen(process, show)
    if process.returncode:
        raise PeercorpusError(
            error
            or f"The processes of accelerate failed (exit code {process.returncode}): see '{folder / LAUNCH_LOG}',"
            " then run the same command again to resume."
        )


def _listen(process: "subprocess.Popen[str]", show: Show) -> str:
    """Show the worker's progress and return the error that it reports, or an empty string."""
    error = ""
    meter = None
    for line in process.stdout or ():
        kind, _, rest = line.rstrip("\n").partition(" ")
        if kind == ERROR:
            error = rest
        elif kind == PROGRESS:
            done, total, what = rest.split(" ", 2)
            if meter is None or meter.what != what:
                meter = Meter("training", what, show, done=int(done))
            meter.report(int(done), int(total))
    return error


def _tell(line: str) -> None:
    """Send a line to the parent process, only from the first worker."""
    if os.environ.get("RANK", "0") == "0":
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    from peercorpus.finetune.training import train

    try:
        train(
            Path(sys.argv[1]),
            lambda progress: _tell(f"{PROGRESS} {progress.done} {progress.total or 0} {progress.what}"),
        )
    except PeercorpusError as error:
        _tell(f"{ERROR} {error}")
        sys.exit(2)
