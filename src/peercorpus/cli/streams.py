"""Prepare standard output and standard error for characters that they cannot show, and for a reader that is gone."""

import codecs
import json
import os
import sys
from io import TextIOWrapper
from typing import TextIO

_ESCAPING = "peercorpus.escape"


def _escape(error: UnicodeError) -> tuple[str, int]:
    r"""Return the replacement for characters that a terminal's encoding lacks: `\u00eb`, so that JSON stays JSON."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def prepare_streams() -> None:
    """Make standard output accept every character, and open the streams that were closed when the command began."""
    codecs.register_error(_ESCAPING, _escape)
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # Otherwise the next file that is opened, such as raw.db, would receive what libraries print.
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
            setattr(sys, name, open(descriptor, "w" if descriptor else "r", encoding="utf-8"))  # noqa: SIM115, PTH123
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors=_ESCAPING)


def print_notice(text: str, end: str = "\n") -> None:
    """Print on standard error; nothing if it cannot be written, which must not end the work that is reported there."""
    try:
        print(text, end=end, file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Discard everything that is printed from now on."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
