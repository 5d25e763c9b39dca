"""What each process of `accelerate` runs: `python -m peercorpus.finetune.worker RUN`."""

import os
import sys
from pathlib import Path

from peercorpus.errors import PeercorpusError
from peercorpus.finetune.launching import ERROR, PROGRESS
from peercorpus.finetune.training import train
from peercorpus.progress import Progress


def _tell(line: str) -> None:
    """Tell whoever launched the processes, once for all of them."""
    if os.environ.get("RANK", "0") == "0":
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _show(progress: Progress) -> None:
    _tell(f"{PROGRESS} {progress.done} {progress.total or 0} {progress.what}")


if __name__ == "__main__":
    try:
        train(Path(sys.argv[1]), _show)
    except PeercorpusError as error:
        _tell(f"{ERROR} {error}")
        sys.exit(2)
