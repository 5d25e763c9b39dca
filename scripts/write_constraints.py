"""Writes constraints.txt: one exact version of every package that development and the extras need.

Usage: write_constraints.py UV. Versions are resolved for Python 3.11 and newer on every system, the newest that fit
together; PyTorch and what comes with its builds are left out, as each machine takes its own build.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "constraints.txt"
HEAD = """\
# Versions known to work together, for Python 3.11 and newer: `pip install -c constraints.txt -e '.[dev]'`.
# Written by `make constraints`; do not edit. PyTorch is not here: each machine takes its own build.
"""
OF_PYTORCH = re.compile(r"(torch|triton|cuda-\w+|nvidia-[\w-]+)==")
PINNED = re.compile(r"[\w.-]+==[\w.!+]+( ; .+)?")


def resolved(uv: str) -> list[str]:
    """Return one `name==version` per line, with a marker where systems or Python versions differ."""
    command = [uv, "pip", "compile", "--quiet", "--universal", "--upgrade", "--python-version", "3.11"]
    command += ["--extra", "extras", "--extra", "docs", "--no-header", "--no-annotate", "pyproject.toml"]
    return subprocess.run(
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ).stdout.splitlines()


def main(uv: str) -> int:
    """Write the file; return 1 if the resolver prints anything but exact versions."""
    lines = [line for line in resolved(uv) if not OF_PYTORCH.match(line)]
    unclear = [line for line in lines if not PINNED.fullmatch(line)]
    if unclear:
        print("Not an exact version:", *unclear, sep="\n  ", file=sys.stderr)
        return 1
    TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} versions written to {TARGET.name}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
