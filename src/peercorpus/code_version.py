"""Which code this is: two copies of one version may differ while it is being worked on."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

DIGITS = 12


@cache
def code_version() -> str:
    """The version of peercorpus and a digest of its modules, such as `0.1.0+1a2b3c4d5e6f`."""
    folder, digest = Path(__file__).parent, hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{version('peercorpus')}+{digest.hexdigest()[:DIGITS]}"
